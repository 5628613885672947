"""Agreement of judges of the same thing, beyond chance, and how many of them their votes are worth.

    votes = spelt([["A", "A", "tie"], ["B", "B", "B"], ["A", "B"]])  # a list a match: the valid votes on it
    alpha(votes)                                                     # Krippendorff's α, nominal
    alpha(Votes(np.array([0, 0, 1, 1]), np.array([7.0, 8.0, 2.0, 4.0])), "interval")

1 is perfect agreement and 0 what chance alone would bring; below 0 judges disagree more than that. Panels may
be of unequal size; a unit with fewer than two votes says nothing about agreement and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.table import quantile

Statistic: TypeAlias = Callable[[Floats], Floats]
"""From totals, one set a row, to one value each; not a number where it is undefined."""


class Estimate(NamedTuple):
    """A value with its bounds at 95%, from `units` matches or questions. The bounds are None where the sample
    cannot tell how far off the value may be: with fewer than two units, or when leaving any one of them out
    changes nothing."""

    value: float
    lower: float | None
    upper: float | None
    units: int


def jackknife(
    sums: ArrayLike, statistic: Statistic, lowest: float = -np.inf, highest: float = np.inf
) -> Estimate | None:
    """`statistic` of the column totals of `sums` (units × columns); None where it is undefined.

    The delete-one jackknife over units (Tukey 1958; Efron and Stein, Annals of Statistics 1981): with n units
    and the values θ_i found without unit i, the variance is (n - 1)/n · Σ (θ_i - mean θ)², and the interval
    that of Student's t with n - 1 degrees, cut to what the statistic can be. An approximation that holds
    from some twenty units upwards.
    """
    table = np.atleast_2d(np.asarray(sums, np.float64))
    units = len(table) if table.size else 0
    if not units:
        return None
    total = table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(total[None, :])[0])
        without = statistic(total[None, :] - table)
    if not np.isfinite(value):
        return None
    without = without[np.isfinite(without)]  # one unit may hold all there is of something
    left = len(without)
    spread = float(np.sqrt((left - 1) / left * ((without - without.mean()) ** 2).sum())) if left > 1 else 0.0
    if spread <= 1e-12:
        return Estimate(value, None, None, units)
    wide = quantile(0.95, left - 1) * spread
    return Estimate(value, max(lowest, value - wide), min(highest, value + wide), units)


def ratio(sums: ArrayLike, lowest: float = -np.inf, highest: float = np.inf) -> Estimate | None:
    """Column 0 over column 1, in total: a share, a mean, a slope."""
    return jackknife(sums, lambda total: total[:, 0] / total[:, 1], lowest, highest)


Metric: TypeAlias = Literal["nominal", "interval"]


class ChoicesByUnit(NamedTuple):
    """Votes as columns: what each is on (`unit`, from 0), and the choice, from 0, or the rating (`value`)."""

    unit: Ints
    value: Ints | Floats

    def paired(self) -> ChoicesByUnit:
        """The votes on units with two or more, numbered again without gaps."""
        size = np.bincount(self.unit)
        number = np.cumsum(size > 1) - 1
        kept = size[self.unit] > 1
        return ChoicesByUnit(number[self.unit[kept]], self.value[kept])


def spelt(units: Iterable[Sequence[str]]) -> ChoicesByUnit:
    """Votes on units, one list each, as columns."""
    listed = [(at, vote) for at, unit in enumerate(units) for vote in unit]
    choices = {choice: at for at, choice in enumerate(sorted({vote for _, vote in listed}))}
    coded = [(at, choices[vote]) for at, vote in listed]
    return ChoicesByUnit(*np.array(coded, np.int64).reshape(-1, 2).T)


def alpha(votes: ChoicesByUnit, metric: Metric = "nominal") -> Estimate | None:
    """Krippendorff's α = 1 - D_o / D_e; None without two votes that differ, where it is not defined.

    D_o is the mean difference between two votes on the same unit, D_e that between any two votes; two votes
    differ by 0 or 1 (`nominal`) or by (x - y)² (`interval`, for ratings). With m_u votes on unit u, n_uc of
    them c, n_c of all n votes, the nominal form is 1 - (n - 1) Σ_u (m_u² - Σ_c n_uc²)/(m_u - 1) / (n² - Σ_c
    n_c²). Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
    """
    unit, value = votes.paired()
    size = np.bincount(unit)
    if metric == "nominal":
        counts = _counts(ChoicesByUnit(unit, value))
        differ = (size**2 - (counts**2).sum(axis=1)) / (size - 1)
        return jackknife(np.column_stack([size, differ, counts]), _nominal, highest=1.0)
    linear, square = np.bincount(unit, value), np.bincount(unit, value**2)
    # Σ over ordered pairs of (x - y)² / (m - 1)
    differ = 2 * size * np.bincount(unit, (value - (linear / size)[unit]) ** 2) / (size - 1)
    return jackknife(np.column_stack([size, differ, linear, square]), _interval, highest=1.0)


def _nominal(total: Floats) -> Floats:
    size, differ, counts = total[:, 0], total[:, 1], total[:, 2:]
    chance = size**2 - (counts**2).sum(axis=1)
    return np.asarray(1 - (size - 1) * differ / np.where(chance > 0, chance, np.nan))


def _interval(total: Floats) -> Floats:
    size, differ, linear, square = total.T
    chance = 2 * (size * square - linear**2)
    return np.asarray(1 - (size - 1) * differ / np.where(chance > 1e-12 * size * square, chance, np.nan))


def _counts(votes: ChoicesByUnit) -> Floats:
    """Votes on each unit, by choice."""
    units, choices = (int(column.max(initial=-1)) + 1 for column in votes)
    counts = np.bincount(votes.unit * choices + votes.value, minlength=units * choices)
    return counts.reshape(units, choices).astype(np.float64)


def effective_votes(unit: Ints, weight: Floats, discernment: Floats, correlation: float) -> Floats:
    """Return how many independent votes of the median judge say as much as those on each unit.

    `unit` numbers from 0, without gaps, what each vote is on. (Σ w g)² / (ρ (Σ w g)² + Σ w² (1 - ρ g²)), with
    weights in proportion to w: the precision of a weighted mean of votes of `discernment` g (how far they
    follow strength, for what they scatter) against that of one vote. Errors of two judges correlate by ρ
    times both their g: what misleads one moves another by as much as strength moves it. For equals that is
    n / (1 + (n - 1) ρ) (Kish, "Survey Sampling", 1965). ρ is cut to 0 … 1. That judges agree because the
    truth is plain makes no vote redundant; a vote for the worse cancels one for the better. Raises
    ValueError where a unit has no positive weight, or any weight is below 0.
    """
    total = np.bincount(unit, weight)
    if not (total > 0).all() or weight.min(initial=0.0) < 0:
        raise ValueError("found weights below 0, or all 0: expected numbers from 0 upwards, not all 0")
    share = weight / total[unit]
    shared = min(max(correlation, 0.0), 1.0)
    signal = np.maximum(np.bincount(unit, share * discernment), 0.0) ** 2
    alone = np.bincount(unit, share**2 * np.maximum(1 - shared * discernment**2, 0.0))
    noise = shared * signal + alone
    return np.asarray(np.divide(signal, noise, out=np.zeros(len(signal)), where=noise > 0))


# -------------------------------------------------------------------------------------------- with people


FEWEST = 20
"""Duels judged by both from which on anything is said."""


class ScoredPair(NamedTuple):
    """Two sides' scores of the first answer on one duel (1, ½, 0), and what the duel weighs."""

    duel: int
    first: float
    other: float
    weight: float


class Agreement(NamedTuple):
    """The share of equal verdicts, and κ; None below `FEWEST` duels. `duels` are those both sides judged."""

    duels: int
    share: Estimate | None
    kappa: Estimate | None


def agreement(pairs: Iterable[ScoredPair]) -> Agreement:
    """Return how far two sides agree; each duel counts once, as the mean of the pairs on it.

    Two verdicts agree when they are the same of A, B and tie. Which answer is called A is chance, so the
    agreement that chance alone would bring follows from how often each side ties: with shares t and u of ties
    it is t u + (1 - t)(1 - u)/2, and κ = (agreement - chance)/(1 - chance) (Cohen 1960, with A and B alike).
    Duels are what is resampled, and each weighs by one over the share of its sort that people judged.
    """
    sums: dict[int, list[float]] = {}
    for duel, first, other, weight in pairs:
        row = sums.setdefault(duel, [weight, 0.0, 0.0, 0.0, 0.0])
        row[1] += first == other
        row[2] += first == 0.5
        row[3] += other == 0.5
        row[4] += 1
    if len(sums) < FEWEST:
        return Agreement(len(sums), None, None)
    table = np.array(list(sums.values()), np.float64)
    rows = np.column_stack([table[:, :1], table[:, 1:4] * (table[:, :1] / table[:, 4:])])
    return Agreement(len(sums), ratio(rows[:, [1, 0]], 0.0, 1.0), jackknife(rows, _kappa, highest=1.0))


def _kappa(total: Floats) -> Floats:
    whole, agreed, ties, tied = total.T
    chance = ties / whole * tied / whole + (1 - ties / whole) * (1 - tied / whole) / 2
    return np.asarray((agreed / whole - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan))


def among(duel: int, scores: Sequence[float], weight: float) -> list[ScoredPair]:
    """Every two of several people's scores of a duel, both ways round."""
    return [
        ScoredPair(duel, first, other, weight)
        for at, first in enumerate(scores)
        for place, other in enumerate(scores)
        if at != place
    ]
