"""Transcripts: twenty matches to a page, each with an address of its own, `matches/21.html#m37`.

With an address to one match the page shows that match alone (`:target` in the style sheet), so it reads like
a page of its own, without a script; an arena of 100,000 matches stays 5,000 files. The index that the browser
searches comes in pieces, as scripts, since a page in a plain folder may not fetch anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from peerage.game.blocks import Sentence
from peerage.ledger.topics.series import matches_of
from peerage.reading.match import Match, in_words
from peerage.render.blocks import Transcript, ViewBlock
from peerage.site.addresses import BUNDLE, SHARD, first_of, number_in, slug
from peerage.site.reading import Site
from peerage.site.rendering import PageView, embedded
from peerage.values.figures import places_of
from peerage.values.texts import visible
from peerage.views.arena.leaderboard import judged
from peerage.views.match.match import transcript, view_of
from peerage.views.player import recent

NEWEST = 100
"""Matches listed where no script runs."""


def paths(site: Site) -> Iterator[str]:
    yield from (f"matches/{first}.html" for first in range(1, site.number + 1, BUNDLE))
    yield from (f"data/matches-{first}.js" for first in range(1, site.number + 1, SHARD))


def view(site: Site, path: str) -> PageView | bytes | None:
    first = number_in(path, "matches", ".html")
    if first is not None and first == first_of(first, BUNDLE) and first <= site.number:
        return _bundle(site, first)
    first = number_in(path, "data/matches", ".js", "-")
    if first is not None and first == first_of(first, SHARD) and first <= site.number:
        return shard(site, first)
    return None


def _bundle(site: Site, first: int) -> PageView:
    last = min(first + BUNDLE - 1, site.number)
    unit = site.settings.rating.cost_unit.name

    def told(match: Match) -> Transcript:
        series = tuple(matches_of(site.moment, match.fixture.series)) if match.fixture.series else ()
        view = view_of(match, match.verdict, match.blocks, series, requests=False)
        proven = any(entry.position <= site.signed_to for entry in site.entries.get(match.number, ()))
        proof = f"proofs/{first}.jsonl" if proven else ""
        return transcript(view, unit, asked=match.asked, proof=proof)

    title = f"Matches {first} to {last}" if last > first else f"Match {first}"
    values = {"first": first, "last": last, "size": BUNDLE, "judged": judged(site)}
    shown = map(told, site.matches(first, last))
    return PageView(title, "matches.html", shown, template="match.html", values=values)


def index(site: Site) -> PageView:
    tally = site.tally
    newest = list(site.moment.summaries(max(1, site.number - NEWEST + 1), site.number))
    blocks: list[ViewBlock] = [recent(newest[::-1])]
    if not newest:
        blocks.append(Sentence("No match has been played yet."))
    catalogue = {
        "players": [visible(site.names.short(name)) for name in tally.players],
        "pages": [slug(name) for name in tally.players],
        "topics": [visible(topic) for topic in tally.topics],
        "statuses": [visible(in_words(status)) for status in tally.statuses],
        "matches": site.number,
        "shard": SHARD,
        "bundle": BUNDLE,
        "places": places_of([row.cost_usd for row in newest]),
        "epoch": tally.began,
    }
    values = {
        "catalogue": embedded(catalogue),
        "thousands": list(range(1, site.number + 1, 1000)) if site.number > 1000 else [],
    }
    return PageView("Matches", "matches.html", blocks, template="matches.html", values=values)


def shard(site: Site, first: int) -> bytes:
    """A piece of the index as a script: columns of the matches from `first` on.

    `p` are the contestants' places in the catalogue, match by match, `s` their scores (none for a void
    match), `t` and `v` the places of topic and status, `c` the cost in millionths of a dollar; `e` is when
    the first one ended, in seconds since the first of all, `d` the seconds since the match before. `n` are
    the numbers of the matches, where they are not one after the other.
    """
    tally = site.tally
    names, topics, statuses = (
        {name: place for place, name in enumerate(words)}
        for words in (tally.players, tally.topics, tally.statuses)
    )
    rows = list(site.moment.summaries(first, first + SHARD - 1))
    times = [row.at_ms // 1000 for row in rows]
    numbers = [row.number for row in rows]
    in_order = numbers == list(range(first, first + len(rows)))
    columns: Mapping[str, Any] = {
        "p": [[names[player] for player in row.players] for row in rows],
        "s": [list(row.scores) for row in rows],
        "t": [topics[row.topic] for row in rows],
        "v": [statuses[row.status] for row in rows],
        "c": [-1 if row.cost_usd is None else row.spent_nano // 1000 for row in rows],
        "e": times[0] - tally.began // 1000,
        "d": [after - before for before, after in pairwise([times[0], *times])],
        **({} if in_order else {"n": numbers}),
    }
    return b"peerageShard(%d,%b)\n" % (first, msgspec.json.encode(columns))
