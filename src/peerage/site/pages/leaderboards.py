"""The leaderboard, whole or of one topic or game, of each track: the first page and its sisters.

What others recorded, where some of it was imported, has a table of its own, marked as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from peerage.engine.record.registration import stated
from peerage.game.blocks import Heading, Sentence, Target
from peerage.games import installed
from peerage.ledger.topics.outside import TOPIC
from peerage.ratings.table import ranks
from peerage.reading.scope import Scope
from peerage.render.blocks import Answer, Fold, Link, Links, Notes, ViewBlock
from peerage.settings import rules_of
from peerage.settings.players.weights import weights
from peerage.site.addresses import slug
from peerage.site.pages import preview
from peerage.site.reading import Site
from peerage.site.rendering import PageView
from peerage.values.figures import counted, dollars, listed, whole
from peerage.views.arena.charts import charts, stops
from peerage.views.decision.decision import below
from peerage.views.leaderboard.board import Board, board
from peerage.views.leaderboard.columns import STAYED, Moved, table
from peerage.views.leaderboard.strengths import strengths
from peerage.views.leaderboard.tracks import METHODS, Track
from peerage.views.leaderboard.verdict import Verdict
from peerage.views.stats import outside as imported

OUTSIDE = "leaderboard/outside.html"


class Filter(NamedTuple):
    """What a leaderboard is of: a track, over one game, topic or side, or everything."""

    track: Track
    game: str = ""
    topic: str = ""
    side: str = ""

    @property
    def part(self) -> tuple[str, str]:
        """What of everything it is over, and its name; two empty texts for everything."""
        parts = (("game", self.game), ("topic", self.topic), ("side", self.side))
        return next((part for part in parts if part[1]), ("", ""))


def address(site: Site, wanted: Filter) -> str:
    """Where a leaderboard stands."""
    kind, name = wanted.part
    if name:
        return f"leaderboard/{wanted.track}/{kind}-{slug(name)}.html"
    return "index.html" if wanted.track == site.track else f"leaderboard/{wanted.track}.html"


def filters(site: Site) -> Iterator[Filter]:
    """Every leaderboard there is: each track over everything; the first track by game, by topic and by side,
    where each game shows its own first."""
    yield from (Filter(track) for track in site.tracks)
    everything = site.board()
    if len(everything.games) > 1:
        yield from (Filter(site.first_track(game), game) for game in everything.games)
    if len(everything.topics) > 1:
        yield from (Filter(site.track, topic=topic) for topic in everything.topics if topic)
    yield from (Filter(site.first_track(side=side), side=side) for side in everything.sides)


def paths(site: Site) -> Iterator[str]:
    yield from (address(site, wanted) for wanted in filters(site))
    if has_outside(site):
        yield OUTSIDE


def view(site: Site, path: str) -> PageView | None:
    if path != "index.html" and not path.startswith("leaderboard/"):
        return None
    if path == OUTSIDE:
        return _outside(site) if has_outside(site) else None
    of = wanted(site, path)
    return None if of is None else leaderboard(site, of)


def wanted(site: Site, path: str) -> Filter | None:
    """What the leaderboard at `path` is of; None where none is."""
    return next((one for one in filters(site) if address(site, one) == path), None)


def of_part(site: Site, kind: str, name: str, root: str) -> str | None:
    """The address of the leaderboard of one game or topic, where there is one."""
    return next((f"{root}{address(site, one)}" for one in filters(site) if one.part == (kind, name)), None)


def leaderboard(site: Site, wanted: Filter) -> PageView:
    """The page of a leaderboard."""
    found = site.board(*wanted)
    name = wanted.part[1]
    everything = not name
    track = "" if wanted.track == site.track else METHODS[wanted.track].name
    verdict = site.verdict if everything and wanted.track == site.track else found.verdict
    title = " · ".join(filter(None, ("Leaderboard", name, track)))
    blocks = _blocks(site, wanted, found, verdict)
    return PageView(title, "index.html", blocks, heads=not name, says=found.verdict.lines)


def _blocks(site: Site, wanted: Filter, found: Board, verdict: Verdict) -> Iterator[ViewBlock]:
    name = wanted.part[1]
    everything, first = not name, wanted.track == site.track
    if name:
        yield Heading(name, 1)
    yield Answer(verdict.lines)
    if verdict.by_task:
        yield below(verdict)
        yield Heading("Ratings")
    if not site.number:
        if has_outside(site):
            yield Links([Link("The table of outside results", ("view", OUTSIDE))])
        else:
            yield Sentence("This page fills as matches end; `peerage run` plays them.")
    if found.rows:
        yield Sentence(_counted(found, wanted, site), "quiet")
    others: list[tuple[Filter, Target]] = [(one, ("view", address(site, one))) for one in filters(site)]
    if name:
        yield Links([Link("All matches", ("view", "index.html"))])
    else:
        outside = [Link("Outside results", ("view", OUTSIDE))] if has_outside(site) and site.number else []
        tracks = [Link(METHODS[one.track].name, at, one == wanted) for one, at in others if not one.part[1]]
        yield Links([*tracks, *outside])
    parts = [(one, at) for one, at in others if one.part[1]]
    if parts:
        kinds = " or ".join(dict.fromkeys([one.part[0] for one, _ in parts]))
        yield Links(
            [
                Link(
                    one.part[1],
                    at,
                    one == wanted,
                    whole(found.topics.get(one.topic) or found.games.get(one.game)) if not one.side else "",
                )
                for one, at in parts
            ],
            f"By {kinds}{f': {name}' if name else ''}",
        )
    moved = Moved(moves(site, wanted.track), last_time(site)) if everything else STAYED
    if found.rows:
        yield table(found, moved=moved, weights=weights_of(site))
    if everything:
        data = f"data/leaderboard-{wanted.track}"
        picture = (
            [Link("a picture to share", ("view", preview.PATH))] if (site.url or site.menu) and first else []
        )
        yield Links(
            [
                Link("Head-to-head", ("view", "head-to-head.html")),
                Link("CSV", ("file", f"{data}.csv")),
                Link("JSON", ("file", f"{data}.json")),
                *picture,
                Link("How every number is made", ("view", "method.html")),
            ]
        )
        if site.outlook:
            yield Fold("What it takes to be sure", [Notes(site.outlook.lines)])
        if first:
            yield from strengths("game", site.profiles) if site.profiles else ()
            yield from strengths("topic", site.by_topic) if site.by_topic else ()
    yield from charts(site, wanted.track, found, everything=everything)


def _counted(found: Board, wanted: Filter, site: Site) -> str:
    """Return how many matches a table counts, among how many players, and what they cost."""
    name, rows = wanted.part[1], found.rows
    of_part = (found.topics | found.games).get(name) if name and not wanted.side else None
    decided = sum(found.games.values()) if of_part is None else of_part
    unknown, spent = any(row.cost_usd is None for row in rows), sum(row.cost_usd or 0.0 for row in rows)
    billed = f"; {dollars(spent)} billed" if spent else ", at an unknown cost" if unknown else ""
    if spent and unknown:
        billed += ", and calls of unknown cost"
    of = found.game or listed(list(found.games)) or site.settings.game
    match = counted(decided, "decided match")
    return f"{match} of {of} among {counted(len(rows), 'player')}{billed}."


def judged(site: Site) -> bool:
    """Return whether judges decide in one of the games that were played here: roles of their own, or
    contestants whose scores can be counted without some of them."""
    specs = [(installed(game), game) for game in site.tally.games if game in site.settings.lineup]
    return any(
        spec.judging.recounted
        or any(bench.role == "judge" for bench in spec.officials(rules_of(site.settings, game)))
        for spec, game in specs
        if spec
    )


def has_outside(site: Site) -> bool:
    """Whether results that others recorded were imported."""
    return TOPIC in site.moment.topics()


def outside(site: Site) -> Board:
    """The table of the imported results alone."""
    return board(site, "strength", Scope(source="outside"))


def _outside(site: Site) -> PageView:
    found = outside(site)
    about = (
        "Results that others recorded and this arena imported. They were not played here, nobody can replay "
        "them from this ledger, and no other table counts them."
    )
    blocks: list[ViewBlock] = [
        Heading("Outside results", 1),
        Answer(found.verdict.lines),
        Sentence(about),
        Links(
            [
                Link("The arena's own leaderboard", ("view", "index.html")),
                Link("CSV", ("file", "data/outside.csv")),
            ]
        ),
        replace(table(found), columns=[replace(one, link=None) for one in table(found).columns]),
        Heading("Where they come from"),
        imported.table(imported.listed(site.moment)),
    ]
    return PageView("Outside results", "index.html", blocks)


def weights_of(site: Site) -> dict[str, str]:
    """Whose weights are open and whose proprietary, as settings say, or for who left the ledger."""
    cards = {**site.cards, **{one.name: stated(one) for one in site.settings.players}}
    return {name: weights(card) for name, card in cards.items()}


def before(number: int) -> int:
    """The match after which "last time" was: a round one, at least a tenth of all matches ago."""
    return max([stop for stop in stops(number) if stop <= number * 9 // 10], default=0)


def last_time(site: Site) -> str:
    """Since when ranks moved, in words; empty in a young arena."""
    return f"since match {before(site.number):,}" if before(site.number) else ""


def moves(site: Site, track: Track) -> Mapping[str, int]:
    """How many ranks each player rose since match `before`, below zero: fell; newcomers have none."""
    then = site.earlier(track, before(site.number))
    had = dict(zip(then.players, ranks(then.rating), strict=True))
    return {
        row.player: had[row.player] - row.rank
        for row in site.table(track)
        if row.rank is not None and row.player in had
    }
