"""The leaderboard, whole or of one topic or game, of each track: the first page and its sisters.

What others recorded, where some of it was imported, has a table of its own, marked as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from peerage.engine.registration import stated
from peerage.figures import spans
from peerage.games import installed
from peerage.ledger.outside import TOPIC
from peerage.reading.played import Scope
from peerage.settings import rules_of
from peerage.settings.weights import weights
from peerage.site.addresses import slug
from peerage.site.board_charts import charts, in_tenths, stops
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.tables.leaderboard import Board, Row, board
from peerage.tables.outside import listed
from peerage.tables.overall import Grid, grid
from peerage.tables.tracks import NAMES, Track

OUTSIDE = "leaderboard/outside.html"
WIDTH = 200
"""Of a drawn interval, in pixels."""


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


class Line(NamedTuple):
    """A row with its interval and the middle of that drawn, pixels from the left of `WIDTH`, the ranks of
    those whom it is proven above, and how many ranks it rose of late (None for a newcomer)."""

    row: Row
    at: float
    low: float | None
    high: float | None
    above: str
    rose: int | None
    weights: str = ""


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


def view(site: Site, path: str) -> View | None:
    if path != "index.html" and not path.startswith("leaderboard/"):
        return None
    if path == OUTSIDE:
        return _outside(site) if has_outside(site) else None
    of = wanted(site, path)
    return None if of is None else leaderboard(site, of)


def wanted(site: Site, path: str) -> Filter | None:
    """What the leaderboard at `path` is of; None where none is."""
    return next((one for one in filters(site) if address(site, one) == path), None)


def leaderboard(site: Site, wanted: Filter) -> View:
    """The page of a leaderboard."""
    found = site.board(*wanted)
    name = wanted.part[1]
    everything = not name
    moved = moves(site, wanted.track) if everything else {}
    since = last_time(site)
    title = " · ".join(
        filter(
            None,
            (
                "Leaderboard",
                name,
                "" if wanted.track == site.track else NAMES[wanted.track],
            ),
        )
    )
    others = [(one, address(site, one)) for one in filters(site)]
    return View(
        "leaderboard.html",
        title,
        {
            "found": found,
            "name": name,
            "lines": lines(found, moved, weights_of(site)),
            "since": since,
            "width": WIDTH,
            "tenths": in_tenths(wanted.track),
            "strengths": compared(site) if everything and wanted.track == site.track else [],
            "shade": shade,
            "boards": {one.part: at for one, at in others if one.part[1]},
            "tracks": [(one, NAMES[one.track], at) for one, at in others if not one.part[1]],
            "narrower": [(one, one.part[1], at) for one, at in others if one.part[1]],
            "kinds": list(dict.fromkeys([one.part[0] for one, _ in others if one.part[1]])),
            "wanted": wanted,
            "outside": OUTSIDE if has_outside(site) else "",
            "decided": (found.topics | found.games).get(name)
            if name and not wanted.side
            else sum(found.games.values()),
            "unknown": any(row.cost_usd is None for row in found.rows),
            "spent": sum(row.cost_usd or 0.0 for row in found.rows),
            "decided_on": site.verdict if everything and wanted.track == site.track else None,
            "shared": found.notes,
            "own": [
                (row.player, note) for row in found.rows for note in row.notes if note not in found.notes
            ],
            "outlook": site.outlook if everything else None,
            "charts": list(charts(site, wanted.track, found, everything=everything)),
            "data": f"data/leaderboard-{wanted.track}" if everything else "",
        },
        "index.html",
    )


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


def compared(site: Site) -> list[tuple[str, Grid]]:
    """Everybody's strengths by game and by topic, where there are several."""
    parts = [("game", site.profiles), ("topic", site.by_topic)]
    return [(by, grid(rows)) for by, rows in parts if rows]


def has_outside(site: Site) -> bool:
    """Whether results that others recorded were imported."""
    return TOPIC in site.moment.topics()


def outside(site: Site) -> Board:
    """The table of the imported results alone."""
    return board(site, "strength", Scope(source="outside"))


def _outside(site: Site) -> View:
    found = outside(site)
    values = {"lines": lines(found, {}), "since": "", "width": WIDTH, "sources": listed(site.moment)}
    return View(
        "outside.html",
        "Outside results",
        {**values, "verdict": found.verdict, "notes": found.notes},
        "index.html",
    )


def weights_of(site: Site) -> dict[str, str]:
    """Whose weights are open and whose proprietary, as settings say, or for who left the ledger."""
    cards = {**site.cards, **{one.name: stated(one) for one in site.settings.players}}
    return {name: weights(card) for name, card in cards.items()}


def lines(found: Board, rose: Mapping[str, int], open_or_not: Mapping[str, str] = {}) -> list[Line]:
    """The rows with their intervals drawn to one scale."""
    ranked = [row for row in found.rows if row.rank is not None]
    ends = [end for row in ranked for end in (row.lower, row.rating, row.upper) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    scale = (WIDTH - 8) / ((high - low) or 1.0)
    ranks = {row.player: row.rank for row in ranked}

    def place(value: float | None) -> float | None:
        return None if value is None else round(4 + (value - low) * scale, 1)

    return [
        Line(
            row,
            place(row.mu if row.track == "trueskill" else row.rating) or 0.0,
            place(row.lower),
            place(row.upper),
            spans([rank for name in row.above if (rank := ranks[name])]),
            rose.get(row.player),
            open_or_not.get(row.player, ""),
        )
        for row in found.rows
    ]


def shade(rate: float) -> str:
    """The colour of a cell, from w0 (always lost) to w6 (always won)."""
    return f"w{min(6, int(rate * 7))}"


def before(number: int) -> int:
    """The match after which "last time" was: a round one, at least a tenth of all matches ago."""
    return max([stop for stop in stops(number) if stop <= number * 9 // 10], default=0)


def last_time(site: Site) -> str:
    """Since when ranks moved, in words; empty in a young arena."""
    return f"since match {before(site.number):,}" if before(site.number) else ""


def moves(site: Site, track: Track) -> Mapping[str, int]:
    """How many ranks each player rose since match `before`, below zero: fell; newcomers have none."""
    then = site.earlier(track, before(site.number))
    return _risen(_ranks(then.players, then.rating), site.table(track))


def _risen(ranks: Mapping[str, int], rows: Sequence[Row]) -> Mapping[str, int]:
    return {
        row.player: ranks[row.player] - row.rank
        for row in rows
        if row.rank is not None and row.player in ranks
    }


def _ranks(players: Sequence[str], ratings: Sequence[float]) -> dict[str, int]:
    ordered = sorted(ratings, reverse=True)
    return {player: 1 + ordered.index(rating) for player, rating in zip(players, ratings, strict=True)}
