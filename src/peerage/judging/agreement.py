"""How far judges of the same thing agree, beyond chance, and how many of them their votes are worth.

    units = [["A", "A", "tie"], ["B", "B", "B"], ["A", "B"]]      # one list a match: the valid votes on it
    alpha(units)                                                # Krippendorff's α, nominal
    fleiss_kappa(units)                                         # Fleiss' κ
    alpha([[7.0, 8.0], [2.0, 4.0]], "interval")                 # ratings from 0 to 10

1 is perfect agreement and 0 what chance alone would bring; below 0 judges disagree more than that. Panels may
be of unequal size; a unit with fewer than two votes says nothing about agreement and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from peerage.judging.estimates import Estimate, jackknife
from peerage.ratings.kernels import Floats

Metric: TypeAlias = Literal["nominal", "interval"]


def alpha(units: Iterable[Sequence[str | float]], metric: Metric = "nominal") -> Estimate | None:
    """Krippendorff's α = 1 - D_o / D_e; None without two votes that differ, where it is not defined.

    D_o is the mean difference between two votes on the same unit, D_e that between any two votes; two votes
    differ by 0 or 1 (`nominal`) or by (x - y)² (`interval`, for numbers). With m_u votes on unit u, n_uc of
    them c, n_c of all n votes, the nominal form is 1 - (n - 1) Σ_u (m_u² - Σ_c n_uc²)/(m_u - 1) / (n² - Σ_c
    n_c²). Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011.
    """
    paired = [unit for unit in units if len(unit) > 1]
    if metric == "nominal":
        counts = _counts(paired)
        size = counts.sum(axis=1)
        differ = (size**2 - (counts**2).sum(axis=1)) / (size - 1)
        return jackknife(np.column_stack([size, differ, counts]), _nominal, highest=1.0)
    columns = [
        (len(unit), *_moments([float(value) for value in unit])) for unit in paired
    ]  # size, difference, Σx, Σx²
    return jackknife(np.array(columns, np.float64).reshape(-1, 4), _interval, highest=1.0)


def _nominal(total: Floats) -> Floats:
    size, differ, counts = total[:, 0], total[:, 1], total[:, 2:]
    chance = size**2 - (counts**2).sum(axis=1)
    return np.asarray(1 - (size - 1) * differ / np.where(chance > 0, chance, np.nan))


def _interval(total: Floats) -> Floats:
    size, differ, linear, square = total.T
    chance = 2 * (size * square - linear**2)
    return np.asarray(1 - (size - 1) * differ / np.where(chance > 1e-12 * size * square, chance, np.nan))


def _moments(values: Sequence[float]) -> tuple[float, float, float]:
    """Σ over ordered pairs of (x - y)² / (m - 1); Σx; Σx²."""
    linear, square = math.fsum(values), math.fsum(value * value for value in values)
    m, mean = len(values), linear / len(values)
    return 2 * m * math.fsum((value - mean) ** 2 for value in values) / (m - 1), linear, square


def fleiss_kappa(units: Iterable[Sequence[str]]) -> Estimate | None:
    """Fleiss' κ = (P - P_e) / (1 - P_e); None when every vote is the same, where it is not defined.

    P is the mean over units of the share of pairs of votes that agree, P_e = Σ_c p_c², with p_c the mean over
    units of the share of votes that are c. For panels of one size this is Fleiss, "Measuring Nominal Scale
    Agreement Among Many Raters", Psychological Bulletin 1971; for others its extension by Gwet, "Handbook of
    Inter-Rater Reliability", 2014.
    """
    counts = _counts([unit for unit in units if len(unit) > 1])
    size = counts.sum(axis=1)
    agree = ((counts**2).sum(axis=1) - size) / (size * (size - 1))
    shares = counts / size[:, None]

    def kappa(total: Floats) -> Floats:
        units, agreeing, by_choice = total[:, 0], total[:, 1], total[:, 2:]
        chance = ((by_choice / units[:, None]) ** 2).sum(axis=1)
        return np.asarray((agreeing / units - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan))

    return jackknife(np.column_stack([np.ones(len(counts)), agree, shares]), kappa, highest=1.0)


def _counts(units: Sequence[Sequence[str | float]]) -> Floats:
    """Votes on each unit, by choice."""
    choices = {choice: place for place, choice in enumerate(sorted({str(v) for unit in units for v in unit}))}
    counts = np.zeros((len(units), len(choices)))
    for at, unit in enumerate(units):
        for vote in unit:
            counts[at, choices[str(vote)]] += 1
    return counts


def effective_votes(weights: Sequence[float], correlation: float) -> float:
    """How many independent votes of equal weight say as much as these, from 1 to their number.

    1 / (ρ + (1 - ρ) Σ w²) with weights that sum to 1: the variance of a weighted mean of votes that correlate
    by ρ pair by pair, against that of one vote (Kish, "Survey Sampling", 1965). ρ is cut to 0 … 1; α of the
    interval metric estimates it. Where the truth is plain judges agree for good reason: then one of them is
    enough, which is what the number says. Raises ValueError without a positive weight.
    """
    total = math.fsum(weights)
    if not total > 0 or min(weights) < 0:
        raise ValueError(f"found the weights {list(weights)}: expected numbers from 0 upwards, not all 0")
    concentration = math.fsum((weight / total) ** 2 for weight in weights)
    shared = min(max(correlation, 0.0), 1.0)
    return 1 / (shared + (1 - shared) * concentration)
