"""How many times the matches so far it takes to tell players apart, from ratings and their errors. Pure.

    >>> few = Table(np.array([60.0, -60.0]), np.array([40.0, 40.0]))
    >>> round(times(few, 0, [1]) or 0, 1)
    5.5

The squares of errors fall with the number of matches, paired as so far. A claim needs the gap that
`ratings.claims` says, so that it comes when the estimate first crosses a bound that closes in on it. If
estimates stayed as they are, that would be at `times`. They do not: the range is that of drawn courses. The
true strengths are drawn from what the ratings leave open, with a normal prior of one log-odds on each, and
further results from those; after t times the matches an estimate r with error s has come to
(r + (t - 1)·truth + s·W(t - 1)) / t, where W is a Brownian motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS

HOPELESS = 50
"""So many times the matches played so far are no advice."""
INSIDE = 0.8
"""The share of courses that a range holds."""
COURSES = 400
_STEPS = np.geomspace(0.01, HOPELESS - 1, 80)


class Table(NamedTuple):
    """Ratings, their standard errors against the mean of all, and the points in one unit of log-odds."""

    rating: Floats
    error: Floats
    unit: float = POINTS

    @property
    def covariance(self) -> Floats:
        """Errors of independent strengths, each larger than that against the mean of which it is a part."""
        size = len(self.error)
        return np.diag(self.error**2 * size / max(size - 1, 1))

    @property
    def truth(self) -> tuple[Floats, Floats]:
        """Mean and variance of what each strength may be."""
        variance = np.diag(self.covariance)
        sure = self.unit**2 / (self.unit**2 + variance)
        middle = self.rating.mean()
        return middle + sure * (self.rating - middle), sure * variance


class Aim(NamedTuple):
    """An order to know: of the first `places` before all others, of everybody, or (`placed`) of `player` with
    everybody, by index. A pair in the wrong order by less than `within` points does not matter."""

    kind: Literal["top", "order", "placed"]
    places: int = 1
    player: int = 0
    within: float = 0.0

    def reached(self, rating: Floats, needed: Floats) -> np.ndarray:
        """Whether it is known from ratings of shape (..., players) and the gaps that claims need."""
        order = np.argsort(-rating, axis=-1)
        if self.kind == "top":  # of sixty players a tenth of the time that all pairs take
            ranked = np.take_along_axis(rating, order, axis=-1)
            ahead = ranked[..., : self.places, None] - ranked[..., None, self.places :]
            gaps = needed[order[..., : self.places, None], order[..., None, self.places :]]
            return np.asarray((ahead - gaps > -self.within).all(axis=(-2, -1)))
        rank = np.argsort(order, axis=-1)
        of = rank[..., :, None] < rank[..., None, :]
        if self.kind == "placed":
            own = np.arange(rating.shape[-1]) == self.player
            of &= own[:, None] | own
        gap = rating[..., :, None] - rating[..., None, :]
        return np.asarray((~of | (gap - needed > -self.within)).all(axis=(-2, -1)))


BEST = Aim("top")


def times_of(table: Table, aim: Aim) -> float | None:
    """So many times the matches so far until an aim is reached, if the ratings hold; as `times`."""
    return _when(lambda many: bool(aim.reached(table.rating, _needed(table, many))))


def times(table: Table, one: int, others: Sequence[int]) -> float | None:
    """So many times the matches so far until `one` can be claimed to be above `others`, if the ratings hold;
    1 if it can be now, None when `HOPELESS` or not ahead."""
    gaps = table.rating[one] - table.rating[others]
    if not len(gaps) or gaps.min() <= 0:
        return None

    return _when(lambda many: bool((gaps > _needed(table, many)[one, others]).all()))


def _needed(table: Table, many: float) -> Floats:
    """The gaps that claims need after so many times the matches."""
    return gap_needed(table.covariance / many, unit=table.unit)


def _when(told: Callable[[float], bool]) -> float | None:
    """The least number from which on something is told, to a hundredth; None beyond `HOPELESS`."""
    if not told(HOPELESS):
        return None
    few, many = 1.0, float(HOPELESS)
    while many - few > 0.01 * few:
        middle = (few + many) / 2
        few, many = (few, middle) if told(middle) else (middle, many)
    return many


def ranges(
    table: Table, pairs: Sequence[tuple[int, int]], seed: int = 0, aim: Aim = BEST
) -> tuple[tuple[float, float], ...]:
    """Between how many times the matches so far an aim is reached, by default to know who is best, and then
    who of each pair is better; infinite where that may take more than `HOPELESS`."""
    rng = np.random.default_rng(seed)
    size = len(table.rating)
    mean, variance = table.truth
    error = np.sqrt(np.diag(table.covariance))
    truth = mean + np.sqrt(variance) * rng.standard_normal((COURSES, size))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    at = np.full((1 + len(pairs), COURSES), np.inf)
    walk, before = np.zeros((COURSES, size)), 0.0
    for step in _STEPS:
        walk += np.sqrt(step - before) * rng.standard_normal((COURSES, size))
        before = step
        rating = (table.rating + step * truth + error * walk) / (1 + step)
        needed = _needed(table, 1 + step)
        told = np.abs(rating[:, first] - rating[:, second]) > needed[first, second]
        now = np.vstack([aim.reached(rating, needed), told.T])
        at = np.where(now & np.isinf(at), 1 + step, at)
    ends = np.quantile(at, [(1 - INSIDE) / 2, (1 + INSIDE) / 2], axis=1, method="inverted_cdf")
    return tuple([(float(low), float(high)) for low, high in ends.T])
