"""Accuracy: the mean credit of a player's answers over tasks with a check, with a 95% interval.

Answers to one task are averaged first, and tasks are averaged by their weights. Tasks, not answers, are the
sample: an interval is about tasks like these, and twenty answers to one task are little more than one.

The interval of an accuracy p is Clopper and Pearson's (1934) of as many independent tasks as hold the same
information, K/r of K tasks (after Korn and Graubard, Survey Methodology 1998), where

    r = min(1, ((K - 1) s² + 4 v₀) / ((K - 1) p (1 - p) + 4 v₀)),    v₀ = h (1 - h),    h = 1 / (2 (K + 1))

and s² is the variance of the tasks' means. With one answer of 0 or 1 to each task it is Clopper and Pearson's
itself. The 4 pseudo-tasks hold r near 1 while few answers are wrong, when s² says little: at 0% and 100% of K
tasks the interval is that of K answers. The difference of two players is taken task by task, with Student's t
after three pseudo-tasks that split evenly (after Agresti and Min, Statistics in Medicine 2005: two).
`python -m bench.accuracy` measures how often both hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats
from peerage.ratings.table import quantile

CONFIDENCE = 0.95
PSEUDO_TASKS = 4.0
"""Tasks that speak for the answers to one task being alike, until the data say otherwise."""
PSEUDO_PAIRS = 3.0
"""Tasks added to a difference, on half of which the players differ, as often one way as the other."""
_STEPS = 100  # at most; as a rule ten
_TERMS = 2_000  # of a continued fraction at most; it takes about the root of its larger parameter


class OnTask(Struct):
    """The credits of one player's answers to one task: their sum `total`, from 0 to `answers`; tasks count by
    their `weight`, above 0."""

    total: float = 0.0
    answers: int = 0
    weight: float = 1.0

    @property
    def mean(self) -> float:
        return self.total / self.answers


class Accuracy(Struct, frozen=True):
    """A player's `accuracy`, its mean credit from 0 to 1, with 95% interval, over `answers` and `tasks`."""

    accuracy: float
    lower: float
    upper: float
    tasks: int
    answers: int


class AccuracyDifference(Struct, frozen=True):
    """By how much one player's accuracy is above another's on the `tasks` that both answered, from -1 to 1,
    with its 95% interval."""

    difference: float
    lower: float
    upper: float
    tasks: int


def accuracies(credits: Sequence[Iterable[OnTask]]) -> list[Accuracy | None]:
    """Return the accuracy of each player by the credits on each task; None for one without an answer."""
    answered = [[task for task in tasks if task.answers] for tasks in credits]
    means, spreads, sizes = [], [], []
    for tasks in filter(None, answered):
        shares = _shares(tasks)
        each = np.array([task.mean for task in tasks])
        means.append(min(1.0, max(0.0, math.fsum((shares * each).tolist()))))
        spreads.append(float(shares @ (each - means[-1]) ** 2))
        sizes.append(1 / float(shares @ shares))
    lower, upper = bounds(means, spreads, sizes)
    intervals = zip(means, lower.tolist(), upper.tolist(), strict=True)
    return [
        Accuracy(*next(intervals), len(tasks), sum([task.answers for task in tasks])) if tasks else None
        for tasks in answered
    ]


def _shares(tasks: Iterable[OnTask]) -> Floats:
    weights = np.array([task.weight for task in tasks], np.float64)
    return np.asarray(weights / weights.sum())


def difference(first: Mapping[str, OnTask], other: Mapping[str, OnTask]) -> AccuracyDifference | None:
    """Return by how much `first` is more accurate than `other`, whose credits are by task, on the tasks that
    both answered; None where there is no such task."""
    both = [(own, theirs) for task, own in first.items() if (theirs := other.get(task)) is not None]
    both = [(own, theirs) for own, theirs in both if own.answers and theirs.answers]
    if not both:
        return None
    gaps = np.array([own.mean - theirs.mean for own, theirs in both])
    shares = _shares([own for own, _ in both])
    middle = math.fsum((shares * gaps).tolist())
    lower, upper = gap_bounds(middle, float(shares @ gaps**2), 1 / float(shares @ shares))
    return AccuracyDifference(middle, float(lower), float(upper), len(both))


def bounds(mean: ArrayLike, spread: ArrayLike, tasks: ArrayLike) -> tuple[Floats, Floats]:
    """Return the 95% intervals of accuracies: `mean` from 0 to 1, `spread` the mean squared distance of the
    tasks' means from it, `tasks` their number (by unlike weights an effective one), all of one shape."""
    p, variance, k = (np.asarray(column, np.float64) for column in np.broadcast_arrays(mean, spread, tasks))
    half = 0.5 / (k + 1)
    pseudo = PSEUDO_TASKS * half * (1 - half)
    alike = (k * variance + pseudo) / ((k - 1) * p * (1 - p) + pseudo)
    size = k / np.minimum(alike, 1.0)
    right = p * size
    tail = (1 - CONFIDENCE) / 2
    lower = np.where(p > 0, beta_quantile(tail, right, size - right + 1), 0.0)
    upper = np.where(p < 1, beta_quantile(1 - tail, right + 1, size - right), 1.0)
    return np.minimum(lower, p), np.maximum(upper, p)


def gap_bounds(gap: ArrayLike, square: ArrayLike, tasks: ArrayLike) -> tuple[Floats, Floats]:
    """Return the 95% intervals of differences: the mean `gap` of the tasks, from -1 to 1, and the mean of its
    `square`, over so many `tasks`. A single task leaves everything open."""
    d, squared, k = (np.asarray(column, np.float64) for column in np.broadcast_arrays(gap, square, tasks))
    n = k + PSEUDO_PAIRS
    middle = k * d / n
    variance = (k * squared + PSEUDO_PAIRS / 2) / n - middle**2
    freedom = np.floor(k + 1e-9).astype(np.int64) - 1
    known, place = np.unique(freedom, return_inverse=True)
    t = np.array([quantile(CONFIDENCE, freedom) if freedom >= 1 else np.inf for freedom in known.tolist()])
    half = t[place].reshape(k.shape) * np.sqrt(variance / (n - 1))
    return np.minimum(np.maximum(middle - half, -1.0), d), np.maximum(np.minimum(middle + half, 1.0), d)


def beta_quantile(chance: float, a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the quantiles at `chance`, between 0 and 1, of Beta(a, b), by Newton's method between bounds."""
    first, second = (np.asarray(column, np.float64) for column in np.broadcast_arrays(a, b))
    alpha, beta = np.maximum(first, 1e-9), np.maximum(second, 1e-9)
    log_beta = _log_beta(alpha, beta)
    low, high = np.zeros(alpha.shape), np.ones(alpha.shape)
    x = alpha / (alpha + beta)
    for _ in range(_STEPS):
        reached = _beta(x, alpha, beta, log_beta) - chance
        low, high = np.where(reached < 0, x, low), np.where(reached < 0, high, x)
        with np.errstate(all="ignore"):
            density = np.exp((alpha - 1) * np.log(x) + (beta - 1) * np.log1p(-x) - log_beta)
            newton = x - reached / density
        inside = (newton > low) & (newton < high)
        before, x = x, np.where(inside, newton, (low + high) / 2)
        if (np.abs(x - before) < 1e-13).all():
            break
    return np.asarray(x, np.float64)


def _beta(x: Floats, a: Floats, b: Floats, log_beta: Floats) -> Floats:
    """The regularized incomplete beta function by its continued fraction (Press and others, Numerical
    Recipes, 6.4)."""
    swapped = x > (a + 1) / (a + b + 2)
    x, a, b = np.where(swapped, 1 - x, x), np.where(swapped, b, a), np.where(swapped, a, b)
    with np.errstate(divide="ignore"):
        front = np.exp(a * np.log(x) + b * np.log1p(-x) - log_beta) / a
    value = np.where(x > 0, front * _fraction(x, a, b), 0.0)
    return np.asarray(np.where(swapped, 1 - value, value), np.float64)


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    tiny = 1e-300

    def inverse(value: Floats) -> Floats:
        return np.asarray(1 / np.where(np.abs(value) < tiny, tiny, value))

    c, d = np.ones(x.shape), inverse(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = inverse(1 + even * d), 1 + even / np.where(np.abs(c) < tiny, tiny, c)
        fraction = fraction * d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = inverse(1 + odd * d), 1 + odd / np.where(np.abs(c) < tiny, tiny, c)
        step = d * c
        fraction = fraction * step
        if (np.abs(step - 1) < 1e-13).all():
            break
    return fraction


def _log_beta(a: Floats, b: Floats) -> Floats:
    pairs = [
        math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q) for p, q in zip(a.flat, b.flat, strict=True)
    ]
    return np.array(pairs).reshape(a.shape)
