"""What it takes to be sure: further matches until two players are told apart and until the best is known,
with the range in which that lies, and the match that says most about the order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor, inf, isinf, log10
from typing import TYPE_CHECKING, Protocol

import numpy as np
from msgspec import Struct

from peerage.engine.policy import policy_of
from peerage.figures import counted, estimated, percent
from peerage.ratings.claims import SHARE_UNIT, gap_needed
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS, Z95
from peerage.scheduling.aim import BEST, Aim
from peerage.scheduling.further import HOPELESS, RatingEstimates, Span, expected, ranges
from peerage.scheduling.order import gain, of_order
from peerage.scheduling.place import only
from peerage.scheduling.policies import SWISS, Policy
from peerage.scheduling.standing import Goal
from peerage.tables import Sentences
from peerage.tables.chances import strengths
from peerage.tables.row import Pairwise, Row

if TYPE_CHECKING:
    from peerage.settings import ArenaSettings

SURE = 0.95
"""The chance of being better from which on it is said what known means beyond it."""
UNDER = " under `until: best known`"
SHOWN = 8
"""So many pairs are said in sentences."""

SHRINKING = ("bt", "overall", "judge-aware")
"""Tracks whose intervals shrink with the square root of the matches."""


BY_PAIRS = "What it takes to be sure, by Bradley-Terry:"
"""Stands over an outlook where the arena's own table is by another method."""


class Further(Struct, frozen=True):
    """About so many further `matches` of the arena, paired by its policy: as many as not, 0 where it is known
    and None beyond 50 times those played; with 80% between `at_least` and `at_most`, None where that is open.
    `usd` is their price at the mean of the matches so far, None where unknown."""

    matches: int | None
    at_least: int
    at_most: int | None
    usd: float | None

    def __str__(self) -> str:
        if self.matches == 0:
            return "known"
        if self.matches is None:
            return f"{self.at_least:,} more matches at least" if self.at_least > 1 else "nobody can say yet"
        most = "or more" if self.at_most is None else f"to {self.at_most:,}"
        span = f" ({self.at_least:,} {most})"
        price = f", {estimated(self.usd)}" if self.usd else ""
        return f"about {self.matches:,} more matches{price}{span}"


class Pair(Struct, frozen=True):
    """Two players, the better rated first: the chance, 0 to 1, that it is the `better` one, the share of
    matches that it `wins` by the ratings, a tie being half a win, and what it takes to be sure. Where it has
    few matches, the other one may be more likely to be better."""

    one: str
    other: str
    better: float
    wins: float
    further: Further

    def __str__(self) -> str:
        return f"To tell {self.one} from {self.other}: {self.further}; {_likely(self)}."


class Outlook(Sentences, frozen=True):
    """What it takes to be sure of the best player and of `pairs`; `next` are the players whose match says
    most about the order of all, None where fewer than two play. `until` is what it takes to know what a run
    was asked for, None where nothing was. `under` says that runs must have `until: best
    known` for what is said of `best`, and have not. `lines` say it in sentences, of the first `SHOWN`
    pairs."""

    lines: tuple[str, ...]
    matches: int
    best: Further
    pairs: tuple[Pair, ...]
    next: tuple[str, str] | None
    until: Further | None = None
    under: bool = False


def table_of(
    ranked: Sequence[Row],
    covariance: Pairwise | None = None,
    met: Pairwise | None = None,
    needed: Pairwise | None = None,
    policy: Policy = SWISS,
) -> RatingEstimates | None:
    """Ratings of the ranked rows, how they vary together, and how the active ones are paired; None where
    errors are unknown, or do not shrink with matches. Without a `covariance` strengths are independent; `met`
    is how often each two have, `needed` how far apart a claim needs them."""
    bounds = [row.upper - row.lower for row in ranked if row.upper is not None and row.lower is not None]
    if len(ranked) < 2 or len(bounds) < len(ranked) or ranked[0].track not in SHRINKING:
        return None
    unit = 100 * SHARE_UNIT if ranked[0].track == "overall" else POINTS
    squares = (np.array(bounds) / (2 * Z95)) ** 2
    if covariance is None:  # each error is against the mean of which the strength is a part
        together = np.diag(squares * len(ranked) / (len(ranked) - 1))
    else:  # what errors allow for beyond it
        found = np.array(covariance, np.float64)
        together = found * squares.sum() / np.trace(found)
    active = np.array([row.status == "active" for row in ranked])
    may, names = active[:, None] & active & ~np.eye(len(ranked), dtype=bool), [row.player for row in ranked]
    if policy.player in names:
        may = only(may, names.index(policy.player))
    rating = np.array([row.rating for row in ranked])
    return RatingEstimates(rating, together, unit, policy.loss(names), may, _matrix(met), _matrix(needed))


def _matrix(pairwise: Pairwise | None) -> Floats | None:
    if pairwise is None:
        return None
    return np.array([[np.inf if one is None else one for one in row] for row in pairwise], np.float64)


def until_best(
    rows: Sequence[Row],
    matches: int,
    covariance: Pairwise | None = None,
    met: Pairwise | None = None,
    needed: Pairwise | None = None,
    policy: Policy = SWISS,
    *,
    rough: bool = False,
) -> Further | None:
    """What it takes until the first of the rows that still play is told apart from all others, at every look,
    if they are played for that; None where errors are unknown or do not shrink with matches. The same as an
    `outlook` says; `rough` is much quicker: luck plays no part, and there is no range."""
    rows, (covariance, met, needed) = still_playing(rows, (covariance, met, needed))
    ranked = [row for row in rows if row.rank is not None]
    table = table_of(ranked, covariance, met, needed, for_best(policy))
    if table is None:
        return None
    if rough:
        many = expected(table)
        span = Span(many, many, many)
    else:
        (span,) = ranges(table, [BEST], [])
    return _further(span, matches, per_match(rows, matches), known=not _may_be_best(ranked))


def still_playing(
    rows: Sequence[Row], pairwise: Iterable[Pairwise | None]
) -> tuple[list[Row], list[Pairwise | None]]:
    """The rows of players that still play, all where none does, and what holds for each two ranked ones of
    them."""
    some = [row for row in rows if row.status != "left"] or [*rows]
    names = {row.player for row in some}
    at = [at for at, row in enumerate([row for row in rows if row.rank is not None]) if row.player in names]
    return some, [each and tuple([tuple([each[a][b] for b in at]) for a in at]) for each in pairwise]


def for_best(policy: Policy) -> Policy:
    """The policy, playing to know the best where it can play for something."""
    return policy if policy.player or not policy.learns else policy._replace(goal=Goal("top"))


def _may_be_best(ranked: Sequence[Row]) -> bool:
    """Whether anyone below the first may be the best."""
    return any(row.rank_range and row.rank_range[0] == 1 for row in ranked[1:])


def per_match(rows: Sequence[Row], matches: int) -> float | None:
    """Mean dollars of a match so far, None where unknown or nothing."""
    spent = [row.cost_usd for row in rows]
    return sum(filter(None, spent)) / matches or None if matches and None not in spent else None


class _Decided(Protocol):
    @property
    def matches(self) -> int: ...


class _Board(Protocol):
    """What is read of a `leaderboard.Board`, whose own verdict rests on what is here."""

    @property
    def rows(self) -> Sequence[Row]: ...
    @property
    def verdict(self) -> _Decided: ...
    @property
    def covariance(self) -> Pairwise | None: ...
    @property
    def met(self) -> Pairwise | None: ...
    @property
    def needed(self) -> Pairwise | None: ...


def of_board(
    board: _Board, settings: ArenaSettings, names: tuple[str, str] | None = None, goal: Goal | None = None
) -> Outlook | None:
    """The outlook of a table of the arena's own matches: of the players of its settings, as runs are, unless
    `names` has another one. Without a `goal` that of the settings, where whom it names is in the table."""
    goal = goal or settings.goal
    if goal is not None and goal.player and all(row.player != goal.player for row in board.rows):
        goal = None
    policy = policy_of(settings)
    policy = policy if policy.player else policy._replace(goal=goal)
    rows: Sequence[Row] = board.rows
    covariance, met, needed = board.covariance, board.met, board.needed
    if not any(row.status == "left" and row.player in names for row in rows if names):
        rows, (covariance, met, needed) = still_playing(rows, (covariance, met, needed))
    return outlook(
        rows=rows,
        matches=board.verdict.matches,
        names=names,
        goal=goal,
        covariance=covariance,
        met=met,
        needed=needed,
        policy=policy,
    )


def outlook(
    rows: Sequence[Row],
    matches: int,
    names: tuple[str, str] | None = None,
    goal: Goal | None = None,
    covariance: Pairwise | None = None,
    met: Pairwise | None = None,
    needed: Pairwise | None = None,
    policy: Policy = SWISS,
) -> Outlook | None:
    """What it takes after so many decided `matches`, paired by a policy, of two players by name, else of
    neighbours in the table, and to reach a `goal`.

    None where the rows of this track have no errors that shrink with the matches.
    """
    ranked = [row for row in rows if row.rank is not None]
    table = table_of(ranked, covariance, met, needed, policy)
    if table is None:
        return None
    place = {row.player: at for at, row in enumerate(ranked)}
    first, second = sorted(place[name] for name in names) if names else (0, 0)
    pairs = [(first, second)] if names else [*pairwise(range(len(ranked)))]
    each = per_match(rows, matches)
    absent = [row.player for row in rows if row.rank is None and row.status == "active"]
    within = goal.within * table.unit / POINTS if goal else 0.0
    aims = [Aim(goal.kind, goal.places, place.get(goal.player, 0), within)] if goal else []
    if for_best(policy) == policy:
        to_best, *spans = ranges(table, [BEST, *aims], pairs)
    else:
        spans = [*ranges(table, aims, pairs)]
        (to_best,) = ranges(replace(table, loss=for_best(policy).loss([*place])), [BEST], [])
    if absent:  # it is not known how good they are
        to_best = Span(1.0, inf, inf)
        spans = [*[to_best] * len(aims), *spans[len(aims) :]]
    best = _further(to_best, matches, each, known=not (absent or _may_be_best(ranked)))
    unsure, strength = table.truth, strengths(ranked)
    found = []
    for (a, b), span in zip(pairs, spans[len(aims) :], strict=True):
        found.append(
            Pair(
                ranked[a].player,
                ranked[b].player,
                unsure.better(a, b),
                float(1 / (1 + np.exp(strength[b] - strength[a]))),
                _further(span, matches, each, known=ranked[b].player in ranked[a].above),
            )
        )
    following = _next(ranked, table)
    until = None
    if goal is not None:
        reached = aims[0].reached(table.rating, gap_needed(table.covariance, unit=table.unit))
        until = _further(spans[0], matches, each, known=bool(reached) and not absent)
    under = bool(best.matches) and for_best(policy) != policy
    lines = *_lines(best, under, found, following, goal, until), *_not_yet(absent)
    return Outlook(lines, matches, best, tuple(found), following, until, under)


def _further(span: Span, matches: int, each: float | None, *, known: bool) -> Further:
    if known:
        return Further(0, 0, 0, 0.0 if each else None)
    least, about, most = [matches * (min(many, HOPELESS) - 1) for many in span]
    more = None if isinf(span.about) else _rounded(about)
    return Further(
        more,
        _rounded(least, down=True),
        None if isinf(span.most) else _rounded(most),
        None if more is None or each is None else more * each,
    )


def _rounded(matches: float, *, down: bool = False) -> int:
    """To two digits, up or down."""
    whole = max(1, ceil(matches))
    digits: int = 10 ** max(0, int(log10(whole)) - 1)
    return (floor if down else ceil)(whole / digits) * digits


def _next(ranked: Sequence[Row], table: RatingEstimates) -> tuple[str, str] | None:
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
    under: bool,
    pairs: Sequence[Pair],
    following: tuple[str, str] | None,
    goal: Goal | None,
    until: Further | None,
) -> Iterator[str]:
    if goal is not None and until is not None:
        yield f"Until {goal}: {until}."
    yield f"To know the best{UNDER * under}: {best}."
    yield from map(str, pairs[:SHOWN])
    yield from unsaid(pairs)
    if following:
        yield f"The match that says most about the order: {following[0]} against {following[1]}."
    if any(pair.further.matches != 0 and max(pair.better, 1 - pair.better) >= SURE for pair in pairs):
        yield (
            "The chance of being better is that of this one look. Known holds with 95% however often you "
            "look, for all players at once, and so takes more matches."
        )


def unsaid(pairs: Sequence[Pair]) -> Iterator[str]:
    """The sentence in place of those on the pairs that are not said; none where all are."""
    if len(pairs) > SHOWN:
        left = counted(len(pairs) - SHOWN, "more pair")
        yield f"`peerage plan --all` has {left} of neighbours, further down in the table."


def _likely(pair: Pair) -> str:
    """Who of a pair is better, and wins how often."""
    sure = max(pair.better, 1 - pair.better)
    chance, wins = [percent(one) if one < 0.99 else "over 99%" for one in (sure, pair.wins)]
    if chance == percent(0.5):
        return "either may be better"
    if pair.better < 0.5:
        return f"{pair.other} is better with {chance}, though {pair.one} is rated higher on few matches"
    return f"{pair.one} is better with {chance} and wins {wins} of their matches by the ratings"


def _not_yet(absent: Sequence[str]) -> Iterator[str]:
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        who = f"{', '.join(absent[:3])}{more}"
        has = "has" if len(absent) == 1 else "have"
        yield f"{who} {has} no decided match yet: before that, nobody can say what it takes to know the best."
