"""The quantiles of Student's t, without NumPy."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_EXACT = 60  # degrees of freedom; beyond, the expansion is exact to nine digits


@cache
def quantile(confidence: float, freedom: int) -> float:
    """The two-sided quantile at `confidence`, between 0 and 1, of Student's t with `freedom` degrees from 1.

    Up to 60 degrees from the distribution itself (Abramowitz and Stegun 26.7.3 and 26.7.4), beyond by Cornish
    and Fisher's expansion (26.7.5).
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if freedom > _EXACT:
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + math.fsum([term / math.pow(freedom, power) for power, term in enumerate(terms, 1)])
    low, high = 0.0, math.pi / 2  # of the angle whose tangent is t / sqrt(freedom)
    for _ in range(80):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """The chance of a t between -sqrt(freedom) tan(angle) and its opposite."""
    odd = freedom % 2
    term = math.sin(angle) * (math.cos(angle) if odd else 1.0)
    parts = [term] if freedom > 1 else []
    for power in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (power - 1) / power
        parts.append(term)
    total = math.fsum(parts)
    return (angle + total) * 2 / math.pi if odd else total
