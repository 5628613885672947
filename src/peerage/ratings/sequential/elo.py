"""Sequential Elo on two tracks, raw and cost-adjusted, with propagation: stages 6 and 7 of UNER.

    >>> settings = EloSettings(propagation_width=None)
    >>> state = update(fold(2, (), settings), DuelResult(0, 1, 1.0, cost_a=0.002, cost_b=0.006), settings)
    >>> [round(rating, 3) for rating in state.raw], [round(rating, 3) for rating in state.cost]
    ([1508.0, 1492.0], [1507.2, 1489.6])

Ratings are on the familiar scale: 400 points are odds of ten to one. Every function is pure, and a history
folded in one call, in batches or duel by duel gives the same bits, with and without Numba.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.compiled import kernel, ready
from peerage.ratings.columns.history import Duels
from peerage.ratings.sequential import elo_kernels as kernels

_LONG_ALONE = 200_000  # duels without propagation from which loading Numba's cached code is repaid


@dataclass(frozen=True, slots=True)
class EloSettings:
    """The constants of both tracks.

    `cost_sensitivity` is UNER's τ_c. At 0.2 a pair's cost decides at most a fifth of a point: enough to part
    equals by price (a model 9 times as expensive needs 57% of the points to hold level with the other), never
    enough to turn a win into a loss.

    `propagation_width` is the standard deviation, in cost-Elo points, of the kernel that spreads each update;
    None switches propagation off. `propagation_share` is the part of an update that is spread, the rest stays
    with the contestant who earned it. UNER's formula to the letter is a share of 1, but with it nothing ever
    moves in a new arena: contestants of equal rating are at the same place of the kernel, so each receives
    half the winner's gain and half the loser's loss, which is nothing.

    `unrated` names games of two whose matches are no duels, as far as they are not installed here.
    """

    k_factor: float = 16.0
    initial: float = 1500.0
    cost_sensitivity: float = 0.2
    propagation_width: float | None = 50.0
    propagation_share: float = 0.5
    unrated: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k_factor) and self.k_factor > 0):
            raise ValueError(f"k_factor is {self.k_factor}: expected a number above 0")
        if not math.isfinite(self.initial):
            raise ValueError(f"initial is {self.initial}: expected a finite rating")
        if not (math.isfinite(self.cost_sensitivity) and self.cost_sensitivity >= 0):
            raise ValueError(f"cost_sensitivity is {self.cost_sensitivity}: expected a number from 0")
        width = self.propagation_width
        if width is not None and not (math.isfinite(width) and width >= 0.001):
            raise ValueError(
                f"propagation_width is {width}: expected Elo points from 0.001, or None to switch it off"
            )
        if not 0 <= self.propagation_share <= 1:
            raise ValueError(f"propagation_share is {self.propagation_share}: expected 0 to 1")


@dataclass(frozen=True, slots=True)
class DuelResult:
    """One decided duel: who met whom, A's score S (1 win, ½ tie, 0 loss) and what each answer cost. Costs
    share one unit (dollars, as a rule). A cost of None is unknown, and leaves the duel out of the cost track;
    the raw track counts it all the same."""

    a: int
    b: int
    score: float
    cost_a: float | None
    cost_b: float | None

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise ValueError(f"player {self.a} meets itself: a duel has two different players")
        if not 0 <= self.score <= 1:
            raise ValueError(f"score is {self.score}: expected 0 to 1")
        for name, cost in (("cost_a", self.cost_a), ("cost_b", self.cost_b)):
            if cost is not None and not 0 <= cost <= 1e300:
                raise ValueError(f"{name} is {cost}: expected a finite cost from 0, or None if unknown")


@dataclass(frozen=True, slots=True)
class EloState:
    """The ratings of players 0 … n-1 on both tracks."""

    raw: tuple[float, ...]
    cost: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.raw)


def repays_compiling(duels: int, players: int) -> bool:
    """Return whether so many duels with propagation repay the half second that loading Numba's cached code
    takes: 15,000 of 60 players, 2,100 of 200."""
    return duels * (players**2 + 2_500) >= 9e7


def extend(state: EloState, players: int, settings: EloSettings) -> EloState:
    """`state` with newcomers at `settings.initial`, up to `players` in all."""
    missing = players - len(state)
    if missing < 0:
        raise ValueError(f"the state holds {len(state)} players: it cannot be extended to {players}")
    new = (settings.initial,) * missing
    return EloState(state.raw + new, state.cost + new)


def update(state: EloState, result: DuelResult, settings: EloSettings) -> EloState:
    """The ratings after one more duel."""
    return fold(len(state), (result,), settings, state)


def fold(
    players: int,
    results: Sequence[DuelResult],
    settings: EloSettings,
    start: EloState | None = None,
    *,
    before: int = 0,
) -> EloState:
    """The ratings after a history, from `start` or from everybody at the initial rating. Exactly repeated
    `update`. O(n) a duel without propagation, O(n²) with it. `before` are duels that the same work has folded
    so far, which may repay compiling too."""
    state = extend(start or EloState((), ()), players, settings)
    raw, cost = np.array(state.raw), np.array(state.cost)
    first = np.array([r.a for r in results], np.int64)
    second = np.array([r.b for r in results], np.int64)
    for column in (first, second):
        if len(column) and not 0 <= column.min() <= column.max() < players:
            at = int(np.flatnonzero((column < 0) | (column >= players))[0])
            raise ValueError(f"duel {at} names player {column[at]}: there are {players}, counted from 0")
    long = ready(kernels) or repays_compiling(before + len(results), players)
    fold_duels = kernel(kernels.elo_fold, long=long)
    fold_duels(
        raw=raw,
        cost=cost,
        first=first,
        second=second,
        score=np.array([r.score for r in results], np.float64),
        cost_first=np.array([math.nan if r.cost_a is None else r.cost_a for r in results], np.float64),
        cost_second=np.array([math.nan if r.cost_b is None else r.cost_b for r in results], np.float64),
        k_factor=settings.k_factor,
        tau=settings.cost_sensitivity,
        width=settings.propagation_width or 0.0,
        share=settings.propagation_share,
    )
    return EloState(tuple(raw.tolist()), tuple(cost.tolist()))


def in_order(history: Duels, settings: EloSettings) -> Floats:
    """Raw ratings after a history, without propagation; a result's weight scales its K."""
    rating = np.full(history.players, float(settings.initial))
    play = kernel(kernels.elo_pass, long=len(history) >= _LONG_ALONE)
    columns = history.first, history.second, history.score, history.weight
    play(rating, *columns, settings.k_factor)
    return rating
