"""How far judges of the same thing agree, beyond chance, and how many of them their votes are worth.

    votes = spelt([["A", "A", "tie"], ["B", "B", "B"], ["A", "B"]])  # a list a match: the valid votes on it
    alpha(votes)                                                     # Krippendorff's α, nominal
    alpha(Votes(np.array([0, 0, 1, 1]), np.array([7.0, 8.0, 2.0, 4.0])), "interval")

1 is perfect agreement and 0 what chance alone would bring; below 0 judges disagree more than that. Panels may
be of unequal size; a unit with fewer than two votes says nothing about agreement and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from peerage.judging.estimates import Estimate, jackknife
from peerage.ratings.kernels import Floats, Ints

Metric: TypeAlias = Literal["nominal", "interval"]


class ChoicesByUnit(NamedTuple):
    """Votes as columns: what each is on (`unit`, a number from 0), and the number of the choice, from 0, or
    the rating (`value`)."""

    unit: Ints
    value: Ints | Floats

    def paired(self) -> ChoicesByUnit:
        """Those on units with two votes or more, numbered again without gaps."""
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
    """How many independent votes of the median judge say as much as those on each unit.

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
