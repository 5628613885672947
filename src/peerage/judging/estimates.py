"""Estimates with the error that comes from which matches happened to be judged.

Ballots of one match hang together, so what is resampled is always whole matches (or questions): the rows of a
matrix of sums, from which a statistic is computed as a function of the column totals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.kernels import Floats
from peerage.ratings.student import quantile

Statistic: TypeAlias = Callable[[Floats], Floats]
"""From totals, one set a row, to one value each; not a number where it is undefined."""


class Estimate(NamedTuple):
    """A value with its bounds at 95%, from `units` matches or questions.

    The bounds are None where the sample cannot tell how far off the value may be: with fewer than two units,
    or when leaving any one of them out changes nothing.
    """

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
