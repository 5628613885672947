"""Prove that one player is not worse than another by more than a margin, or that it is: at every look. Pure.

    >>> alike = [Lead(task=str(number), value=0.5) for number in range(400)]
    >>> found = bets(alike, bound=0.47)
    >>> found.shown >= PROVEN, found.worse >= PROVEN
    (True, False)

Two players do the same tasks. A difference is a number from 0 (the first one did worst) to 1, ½ where both
did alike: the result of a match, or half of 1 plus the difference of two credits. A margin is a `bound` of
the mean.

"The mean is at most the bound" is bet against: a share c of the capital grows by value / bound, so the
capital does not grow on average while that is true, and ever reaches 20 times its start with a chance of 5%
at most (Ville 1939; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
JRSS B 2024). The capital is the mean over shares c from |½ - bound| to 0.98, evenly by their logarithm: the
best one is the margin over the variance; the largest, best for two who hardly ever differ, gets 15% more.
"The mean is at least the bound" is bet against likewise, with (1 - value) / (1 - bound).

**Tasks.** Answers to one task hang together, so they are one bet, on their mean. A mean that is looked at
while answers still come is no fair bet. So part of the 5% is for bets on each task's first answer, part for
bets on the mean of its first two, four, eight and sixteen (`ANSWERS`); a task counts in each when it has so
many. Each is a fair bet, in the order in which tasks come to it, and together they err in 5% at most. Where
these tasks alone are in question each answer is a bet (`single`): tasks are drawn at random, or each once in
a block. A product of means of such a draw is the smaller the more tasks differ (Maclaurin's inequality), so
that errs on the safe side.

The greatest capital so far counts, so what was shown once is shown ever after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, lgamma, log
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.values.figures import two_digits

PROVEN = 20.0
"""The capital at which a claim is proven."""
ANSWERS: Mapping[int, float] = {1: 0.5, 2: 0.2, 4: 0.15, 8: 0.1, 16: 0.05}
"""So many first answers to a task are one bet, with this part of the capital."""
INSIDE = 0.8
"""The share of courses that the range of a forecast holds."""
HOPELESS = 50
"""So many times what was played is no advice."""
_ONCE: Mapping[int, float] = {1: 1.0}
_FINEST, _COARSEST, _MOST_STAKED = 0.005, 0.25, 0.98
_APART = 1.3  # between a share of the capital and the next
_BOLD = 0.15  # of the capital is on the largest stake: of two that hardly differ it shows most
_COURSES, _LOOKS, _FEWEST = 400, 200, 40
_ALIKE = np.array([20.0, 1.0])  # of those who do better, and as many who do worse, lent to those seen: many,
_BELIEVED = np.array([0.85, 0.15])  # or hardly any; with these chances before any are seen
_STEPS = 200  # to which differences are rounded in a forecast
_LITTLE = 1e-300


class Lead(NamedTuple):
    """The lead of the first of two players over the second on a `task`, as a `value` from 0 to 1.
    `weight` is that of the task, relative to others."""

    task: str
    value: float
    weight: float = 1.0


class Bets(NamedTuple):
    """The capital of the bets that the mean is above the bound (`shown`) and below it (`worse`), the greatest
    of any moment; from `PROVEN` on that is proven."""

    shown: float
    worse: float


class More(NamedTuple):
    """About so many more bets (tasks, or answers) until a decision: as many as not, None beyond `HOPELESS`
    times those made. With 80% they are between `at_least` and `at_most`, None where that is open."""

    about: int | None
    at_least: int
    at_most: int | None


def bets(differences: Iterable[Lead], bound: float, *, single: bool = False) -> Bets:
    """Return the capital of both bets on the mean of `differences`, in the order in which they came. `bound`
    is above 0 and below 1. With `single` each difference is a bet by itself: about these tasks alone, or
    where no task is ever done twice."""
    columns = _columns(differences, single=single)
    return Bets(_highest(columns, bound), _highest(_turned(columns), 1 - bound))


def interval(differences: Sequence[Lead], bound: float, *, single: bool = False) -> tuple[float, float]:
    """Return the 95% confidence sequence of the mean: the bounds that no bet refutes, 2.5% on each side. It
    holds at every look; `bound` is where its bets are best."""
    columns = _columns(differences, single=single)
    staked = abs(bound - 0.5)
    ends = []
    for side in (columns, _turned(columns)):
        low, high = 0.0, 1.0
        for _ in range(14):
            middle = (low + high) / 2
            refuted = _highest(side, middle, staked) >= 2 * PROVEN
            low, high = (middle, high) if refuted else (low, middle)
        ends.append(low)
    return ends[0], 1 - ends[1]


def further(
    differences: Sequence[Lead],
    bound: float,
    *,
    needed: tuple[float, float] = (PROVEN, PROVEN),
    single: bool = False,
    seed: int = 0,
) -> More:
    """Return how many more tasks, each with as many answers as those so far, a decision takes; with `single`
    how many more differences. `needed` is the capital that proves each of both claims. Simulated: what is
    true is drawn from a posterior of the differences, then differences from that, until either bet is won.
    The same arguments give the same numbers."""
    rng = np.random.default_rng(seed)
    columns = _columns(differences, single=single)
    many = [column for column in columns if 2 * len(column.values) >= len(columns[0].values)]
    # What it takes grows with the variance and with the logarithm of what proves it.
    part, values, weights = min(many, key=lambda column: _spread(column) * log(PROVEN / column.part))
    made = len(values)
    kinds, chances = _truths(values, rng)
    looks = np.unique(np.geomspace(1, HOPELESS * max(made, _FEWEST), _LOOKS).astype(np.int64))
    new = rng.multinomial(np.diff(looks, prepend=0), chances[:, None]).cumsum(axis=1)
    best, staked = np.full(new.shape[:2], -inf), abs(bound - 0.5)
    sides = ((values, kinds, bound, needed[0]), (1 - values, 1 - kinds, 1 - bound, needed[1]))
    for now, later, limit, enough in sides:
        start = _grown(now, weights, limit, staked).sum(axis=0)
        growth = _grown(later, np.ones(len(kinds)), limit, staked)
        best = np.maximum(best, _mean(start + new @ growth) - log(enough / part))
    won = best >= 0
    times = np.where(won.any(axis=1), looks[won.argmax(axis=1)], inf)
    ends = ((1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2)
    least, about, most = np.quantile(times, ends, method="inverted_cdf").tolist()
    return More(
        None if about == inf else two_digits(about),
        two_digits(min(least, float(looks[-1])), up=False),
        None if most == inf else two_digits(most),
    )


def _spread(column: _Column) -> float:
    """Return the variance of a column's differences, of which two are lent, far apart."""
    return float(np.var([*column.values, 0.0, 1.0]))


def _truths(values: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return differences, and their chances in each course. How large differences are is a Bayesian bootstrap
    (Rubin 1981), to which one is lent that is none and one that is whole, half each. Who does better is drawn
    as if players were alike, or anything, by how well either agrees with what was seen (`_ALIKE`)."""
    apart = np.rint(2 * np.abs(values - 0.5) * _STEPS) / _STEPS
    sizes, counts = np.unique([*apart, 0.0, 1.0], return_counts=True)
    ours = np.where((sizes == 0) | (sizes == 1), 0.5, 0.0)
    size = rng.dirichlet(counts - ours, _COURSES)
    first, second = float((values > 0.5).sum()), float((values < 0.5).sum())
    agrees = np.array([_log_beta(first + lent, second + lent) - _log_beta(lent, lent) for lent in _ALIKE])
    chance = _BELIEVED * np.exp(agrees - agrees.max())
    lent = rng.choice(_ALIKE, (_COURSES, 1), p=chance / chance.sum())
    better = rng.beta(first + lent, second + lent)
    kinds = np.concatenate([0.5 + sizes / 2, 0.5 - sizes / 2])
    return kinds, np.concatenate([size * better, size * (1 - better)], axis=1)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def fewest(bound: float, needed: float = PROVEN, *, single: bool = False) -> int:
    """Return how many tasks (or differences) it takes to show that the mean is above `bound` where no two
    answers differ: with fewer it cannot be shown."""
    part = (_ONCE if single else ANSWERS)[1]
    gain = _grown(np.array([0.5]), np.ones(1), bound, abs(bound - 0.5))[0]
    low, high = 0, 1
    while _mean(high * gain) < log(needed / part):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _mean(middle * gain) >= log(needed / part) else (middle, high)
    return high


class _Column(NamedTuple):
    """Bets of one kind, in order, which have this `part` of the capital."""

    part: float
    values: Floats
    weights: Floats


def _columns(differences: Iterable[Lead], *, single: bool) -> list[_Column]:
    """Return the bets of each kind."""
    kinds = _ONCE if single else ANSWERS
    made: dict[int, list[tuple[float, float]]] = {many: [] for many in kinds}
    answers: dict[str, list[float]] = {}
    for difference in differences:
        if single:  # weights show in how often a task is drawn
            made[1].append((difference.value, 1.0))
            continue
        values = answers.setdefault(difference.task, [])
        values.append(difference.value)
        if len(values) in kinds:
            made[len(values)].append((sum(values) / len(values), difference.weight))
    heaviest = max([weight for bet in made.values() for _, weight in bet], default=1.0)
    columns = []
    for many, part in kinds.items():
        value, weight = np.array(made[many], float).reshape(-1, 2).T
        columns.append(_Column(part, value, weight / heaviest))
    return columns


def _turned(columns: Sequence[_Column]) -> list[_Column]:
    return [column._replace(values=1 - column.values) for column in columns]


def _highest(columns: Sequence[_Column], bound: float, staked: float | None = None) -> float:
    """Return the greatest capital of any kind of bets at any moment, each times its part."""
    finest = abs(bound - 0.5) if staked is None else staked
    best = 1.0
    for part, values, weights in columns:
        if len(values):
            capital = _mean(_grown(values, weights, bound, finest).cumsum(axis=0))
            best = max(best, part * float(np.exp(min(capital.max(), 700.0))))
    return best


def _grown(values: Floats, weights: Floats, bound: float, finest: float) -> Floats:
    """Return by what logarithm each bet changes the capital, for each share of it that is staked, of which
    `finest` is the least; shape (bets, shares)."""
    finest = min(max(finest, _FINEST), _COARSEST)
    count = int(np.ceil(log(_MOST_STAKED / finest) / log(_APART))) + 1
    shares = np.geomspace(finest, _MOST_STAKED, count)
    gain = weights * (values / max(bound, _LITTLE) - 1)
    return np.log1p(gain[:, None] * shares)


def _mean(grown: Floats) -> Floats:
    """Return the logarithm of the mean over the shares, the last axis."""
    part = np.full(grown.shape[-1], log((1 - _BOLD) / grown.shape[-1]))
    part[-1] = np.logaddexp(part[-1], log(_BOLD))
    return np.asarray(np.logaddexp.reduce(grown + part, axis=-1))
