"""The list of matches: the newest, those that a reader searches for, and all of them where no server is.

A server searches whole prompts and answers. On a static site the browser filters rows that come in pieces, as
scripts, since a page in a plain folder may not fetch anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlencode

import msgspec

from peerage.game.blocks import Heading, Sentence
from peerage.ledger import Summary
from peerage.render.blocks import ChoiceForm, Link, Links, Section, ViewBlock
from peerage.render.html.writer import Html
from peerage.site.addresses import SHARD, first_of, number_in
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.texts import visible
from peerage.views.match.finder import (
    MOST_TEXT,
    NOTABLE,
    MatchFilter,
    MatchLine,
    find,
    headline,
    line_of,
    notable,
    outcome,
    table,
)

MATCHES = "matches.html"
FILTER = ("q", "game", "topic", "only")
"""The parts of a query that filter matches, which the address of a match keeps."""
EXPLAINED = tuple([f"{name.capitalize()}: {about}." for name, about in NOTABLE.items()])
WHOLE = "This search reads names, topics and how prompts begin; `peerage serve` searches whole texts."


def paths(site: Site) -> Iterator[str]:
    yield from map(shard_path, range(1, site.number + 1, SHARD))


def first_in(site: Site, path: str) -> int | None:
    """Return the first match of the piece at `path`; None where it is none."""
    first = number_in(path, "data/matches", ".js", "-")
    return first if first is not None and first == first_of(first, SHARD) and first <= site.number else None


def shard_path(first: int) -> str:
    """Return where a piece of the list is."""
    return f"data/matches-{first}.js"


def notables(site: Site, first: int) -> list[tuple[str, ...]]:
    """Return what is notable about each match of a piece, by its row."""
    chances = site.board().chances
    return [notable(row, chances) for row in site.moment.summaries(first, first + SHARD - 1)]


def shard(site: Site, first: int, writer: Html) -> bytes:
    """A piece of the list as a script: the rows of matches from `first` on, the newest first."""
    rows: list[Summary] = [*site.moment.summaries(first, first + SHARD - 1)]
    found = zip(site.matches(first, first + SHARD - 1), rows, notables(site, first), strict=True)
    return as_script(first, [line_of(match, row, plain) for match, row, plain in found], writer)


def as_script(first: int, lines: Sequence[MatchLine], writer: Html) -> bytes:
    """Return the lines of a piece of the list as a script."""
    _, _, body = writer.blocks([table(lines[::-1])]).partition("<tbody>\n")
    return b"peerageShard(%d,%b)\n" % (first, msgspec.json.encode(body.partition("</tbody>")[0]))


def _named(site: Site) -> list[dict[str, str]]:
    """Return games and topics by what they are called on a page."""
    return [
        {visible(name): name for name in names if name} for names in (site.tally.games, site.tally.topics)
    ]


def wanted_in(site: Site, query: Mapping[str, str]) -> MatchFilter:
    """Return the filter of a query: words `q`, a `game`, a `topic`, `only` what is notable."""
    games, topics = _named(site)
    before = query.get("before", "")
    return MatchFilter(
        text=query.get("q", ""),
        game=games.get(query.get("game", ""), query.get("game", "")),
        topic=topics.get(query.get("topic", ""), query.get("topic", "")),
        only=query.get("only", ""),
        before=int(before) if before.isascii() and before.isdecimal() and len(before) < 16 else 0,
    )


def index(site: Site, query: Mapping[str, str] = {}) -> PageView:
    """The newest matches that a query lets pass, which their addresses keep on a server."""
    query = {**query, "q": query.get("q", "")[:MOST_TEXT]}  # each row's address keeps it
    (games, topics), wanted = _named(site), wanted_in(site, query)
    kept = urlencode({name: query[name] for name in FILTER if query.get(name)})
    chances = site.board().chances
    found = find(site, site.summaries, chances, wanted)
    blocks: list[ViewBlock] = [Heading(headline(site.summaries, chances), 1, notes=EXPLAINED)]
    if site.number:
        fields = [("q", "Search", (), wanted.text), ("only", "Only", ("", *NOTABLE), wanted.only)]
        if len(games) > 1:
            fields.append(("game", "Game", ("", *games), visible(wanted.game)))
        if len(topics) > 1:
            fields.append(("topic", "Topic", ("", *topics), visible(wanted.topic)))
        blocks.append(ChoiceForm(("view", MATCHES) if site.menu else None, fields, "Search", chips=True))
    if said := outcome(found, wanted):
        blocks.append(Sentence(said))
    if found.lines:
        blocks.append(Section("matches", [table(found.lines, kept=f"?{kept}" if kept else "")]))
    if not site.menu:
        starts = [next(iter(site.moment.numbers(at, at))) for at in range(1, site.number + 1, SHARD)]
        older = [Link(f"from {first:,}", ("match", str(first))) for first in starts]
        blocks += [Links(older, "Older matches")] * bool(older)
        blocks += [Sentence(WHOLE, "quiet")] * bool(older)
        values = {"script": "matches.js", "matches": site.number, "shard": SHARD}
        return PageView("Matches", MATCHES, blocks, values=values)
    if found.older:
        stated = {**query, "before": str(found.older)}
        blocks.append(Links([Link("Older matches", ("view", f"{MATCHES}?{urlencode(stated)}"))]))
    return PageView("Matches", MATCHES, blocks)
