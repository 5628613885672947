"""What it takes to be sure: further matches until two players are told apart and until the best is known,
with the range in which that lies, and the match that says most about the order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, inf, isinf, log10
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from peerage.figures import dollars, percent
from peerage.ratings.claims import SHARE_UNIT, gap_needed
from peerage.ratings.further import HOPELESS, Aim, Table, ranges, times, times_of
from peerage.ratings.table import POINTS, Z95
from peerage.scheduling.order import gain, of_order
from peerage.scheduling.standing import LEARNING, Goal
from peerage.tables import Sentences
from peerage.tables.row import Row

if TYPE_CHECKING:
    from peerage.settings import ArenaSettings

SHRINKING = ("bt", "overall", "judge-aware", "anchored", "duplicate")
"""Tracks whose intervals shrink with the square root of the matches."""


LEARNS = "Pairing learns from results: numbers are for matches spread as so far, and no range is stated."


class Further(Struct, frozen=True):
    """About so many further `matches` of the arena, paired as so far, 0 where it is known and None beyond 50
    times those played; with 80% between `at_least` and `at_most`: the one None where no range is stated, the
    other where it is open. `usd` is their price at the mean of the matches so far, None where unknown."""

    matches: int | None
    at_least: int | None
    at_most: int | None
    usd: float | None

    def __str__(self) -> str:
        if self.matches == 0:
            return "known"
        if self.at_least is None:
            span = ""
        elif self.at_most is None:
            span = f" ({self.at_least:,} or more)"
        else:
            span = f" ({self.at_least:,} to {self.at_most:,})"
        if self.matches is None:
            return f"no number of matches in sight{span}"
        price = f", {dollars(self.usd)}" if self.usd else ""
        return f"about {self.matches:,} more matches{price}{span}"


class Pair(Struct, frozen=True):
    """Two players, the better rated first: the chance, 0 to 1, that it is the `better` one, the share of
    matches that it `wins` by the ratings, a tie being half a win, and what it takes to be sure."""

    one: str
    other: str
    better: float
    wins: float
    further: Further


class Outlook(Sentences, frozen=True):
    """What it takes to be sure of the best player and of `pairs`; `next` are the players whose match says
    most about the order of all, None where fewer than two play. `until` is what it takes to know what a run
    was asked for, None where nothing was. `lines` say it in sentences."""

    lines: tuple[str, ...]
    matches: int
    best: Further
    pairs: tuple[Pair, ...]
    next: tuple[str, str] | None
    until: Further | None = None


def table_of(ranked: Sequence[Row]) -> Table | None:
    """Ratings and errors of the ranked rows; None where errors are unknown, or do not shrink with matches."""
    bounds = [row.upper - row.lower for row in ranked if row.upper is not None and row.lower is not None]
    if not ranked or len(bounds) < len(ranked) or ranked[0].track not in SHRINKING:
        return None
    unit = 100 * SHARE_UNIT if ranked[0].track == "overall" else POINTS
    return Table(np.array([row.rating for row in ranked]), np.array(bounds) / (2 * Z95), unit)


def until_best(ranked: Sequence[Row], matches: int) -> int | None:
    """Further matches until the first of the ranked rows is told apart from all who may be best, at every
    look; 0 when it is, None when nobody can say."""
    table = table_of(ranked)
    others = [at for at, row in enumerate(ranked) if at and row.rank_range and row.rank_range[0] == 1]
    if not others or table is None:
        return 0 if table and len(ranked) > 1 else None
    many = times(table, 0, others)
    return None if many is None else _rounded(max(1.0, matches * (many - 1)))


def per_match(rows: Sequence[Row], matches: int) -> float | None:
    """Mean dollars of a match so far, None where unknown or nothing."""
    spent = [row.cost_usd for row in rows]
    return sum(filter(None, spent)) / matches or None if matches and None not in spent else None


def of_board(
    rows: Sequence[Row],
    matches: int,
    settings: ArenaSettings,
    names: tuple[str, str] | None = None,
    goal: Goal | None = None,
) -> Outlook | None:
    """The outlook of a table of so many decided matches of the arena's own; without a `goal` that of the
    settings, where whom it names has played."""
    goal = goal or settings.goal
    if goal is not None and goal.player and all(row.player != goal.player for row in rows if row.rank):
        goal = None
    learns = settings.pairing.policy in LEARNING
    return outlook(rows, matches, names, learns=learns, goal=goal)


def outlook(
    rows: Sequence[Row],
    matches: int,
    names: tuple[str, str] | None = None,
    *,
    learns: bool = False,
    goal: Goal | None = None,
) -> Outlook | None:
    """What it takes after so many decided `matches`, of two players by name, else of neighbours in the table,
    and to reach a `goal`.

    Where pairing `learns` from results, it gives each pair fewer or more matches later on than so far, and no
    range is stated. None where the rows of this track have no errors that shrink with the matches.
    """
    ranked = [row for row in rows if row.rank is not None]
    table = table_of(ranked)
    if table is None or len(ranked) < 2:
        return None
    place = {row.player: at for at, row in enumerate(ranked)}
    first, second = sorted(place[name] for name in names) if names else (0, 0)
    pairs = [(first, second)] if names else [*pairwise(range(len(ranked)))]
    each = per_match(rows, matches)
    of_best, *of_pairs = [(1.0, inf)] * (1 + len(pairs)) if learns else ranges(table, pairs)
    best = _further(until_best(ranked, matches), of_best, matches, each)
    mean, variance = table.truth
    found = []
    for (a, b), span in zip(pairs, of_pairs, strict=True):
        gap = (table.rating[a] - table.rating[b]) / table.unit
        many = times(table, a, [b])
        more = None if many is None else _rounded(max(1.0, matches * (many - 1)))
        known = ranked[b].player in ranked[a].above
        found.append(
            Pair(
                ranked[a].player,
                ranked[b].player,
                NormalDist().cdf(float((mean[a] - mean[b]) / (variance[a] + variance[b]) ** 0.5)),
                float(1 / (1 + np.exp(-gap))),
                _further(0 if known else more, span, matches, each),
            )
        )
    following = _next(ranked, table)
    until = None
    if goal is not None:
        aim = Aim(goal.kind, goal.places, place.get(goal.player, 0), goal.within * table.unit / POINTS)
        many, (span, *_) = times_of(table, aim), ranges(table, [], aim=aim)
        if any(row.rank is None and row.status == "active" for row in rows):
            many, span = None, (1.0, inf)  # who has not played yet is not known
        if many is not None and aim.reached(table.rating, gap_needed(table.covariance, unit=table.unit)):
            many = 1.0
        more = None if many is None else _rounded(matches * (many - 1)) if many > 1 else 0
        until = _further(more, (1.0, inf) if learns else span, matches, each)
    lines = (*_lines(best, found, following, goal, until), *([LEARNS] if learns else ()))
    return Outlook(lines, matches, best, tuple(found), following, until)


def _further(more: int | None, span: tuple[float, float], matches: int, each: float | None) -> Further:
    if more == 0:
        return Further(0, 0, 0, 0.0 if each else None)
    low, high = [inf if isinf(many) else matches * (many - 1) for many in span]
    at_least = _rounded(matches * (HOPELESS - 1) if isinf(low) else low, down=True) if low else None
    at_most = None if isinf(high) else _rounded(high)
    if more is not None and at_least is not None:
        at_least, at_most = min(at_least, more), at_most and max(at_most, more)
    return Further(more, at_least, at_most, None if more is None or each is None else more * each)


def _rounded(matches: float, *, down: bool = False) -> int:
    """To two digits, up or down."""
    whole = max(1, ceil(matches))
    digits: int = 10 ** max(0, int(log10(whole)) - 1)
    return (floor if down else ceil)(whole / digits) * digits


def _next(ranked: Sequence[Row], table: Table) -> tuple[str, str] | None:
    """The match of two active players that takes most from the loss of wrong orders (`scheduling.order`)."""
    rating = table.rating / table.unit
    chance = 1 / (1 + np.exp(rating[:, None] - rating))
    gains = gain(rating, table.covariance / table.unit**2, chance * (1 - chance), of_order)
    out = np.array([row.status != "active" for row in ranked])
    gains = np.where(out[:, None] | out | np.tri(len(ranked), dtype=bool), -1.0, gains)
    one, other = divmod(int(gains.argmax()), len(ranked))
    return (ranked[one].player, ranked[other].player) if gains[one, other] >= 0 else None


def _lines(
    best: Further,
    pairs: Sequence[Pair],
    following: tuple[str, str] | None,
    goal: Goal | None,
    until: Further | None,
) -> Iterator[str]:
    if goal is not None and until is not None:
        yield f"Until {goal}: {until}."
    yield f"To know the best: {best}."
    for pair in pairs:
        sure = percent(pair.better) if pair.better < 0.99 else "over 99%"
        yield (
            f"To tell {pair.one} from {pair.other}: {pair.further}; {pair.one} is better with "
            f"{sure} and wins {percent(pair.wins)} of their matches by the ratings."
        )
    if following:
        yield f"The match that says most about the order: {following[0]} against {following[1]}."
