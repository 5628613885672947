"""How well players' probabilities hold: their Brier score, and what came true of what they called how likely.

Games give them (`GameSpec.forecasts`), and they count to the percent. Of what a well-calibrated player calls
70% likely, seven in ten come true; the Brier score also rewards telling true from false.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

BINS = 10
"""Of equal width, over the probabilities from 0 to 1; the last holds 1 too."""


class Calibration(NamedTuple):
    """How well the probabilities of one player hold.

    `brier` is the mean of (probability - truth)², 0 at best (Brier, 1950). `error` is the mean distance
    between what was said and what came true, over `BINS` bins and weighed by their forecasts (the expected
    calibration error of Naeini, Cooper and Hauskrecht, 2015).
    """

    forecasts: int
    brier: float
    error: float


def calibration(counts: Mapping[int, int]) -> Calibration | None:
    """The figures of one player's forecasts; None for none."""
    total = sum(counts.values())
    if not total:
        return None
    squares, gaps = 0.0, [0.0] * BINS
    for key, count in counts.items():
        percent, came_true = divmod(key, 2)
        squares += count * (percent / 100 - came_true) ** 2
        gaps[min(percent * BINS // 100, BINS - 1)] += count * (percent / 100 - came_true)
    return Calibration(total, squares / total, sum(map(abs, gaps)) / total)
