"""How well players' probabilities hold: their Brier score, and what came true of what they called how likely.

Games give them (`GameSpec.forecasts`), and they count to the percent. Of what a well-calibrated player calls
70% likely, seven in ten come true; the Brier score also rewards telling true from false.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from peerage.games import installed
from peerage.match import Fixture, Outcome

BINS = 10
"""Of equal width, over the probabilities from 0 to 1; the last holds 1 too."""

Forecasts = dict[str, dict[int, int]]
"""By player how often it gave each probability: 2 × percent, plus 1 where it came true."""


class Calibration(NamedTuple):
    """How well the probabilities of one player hold.

    `brier` is the mean of (probability - truth)², 0 at best (Brier, 1950). `error` is the mean distance
    between what was said and what came true, over `BINS` bins and weighed by their forecasts (the expected
    calibration error of Naeini, Cooper and Hauskrecht, 2015).
    """

    forecasts: int
    brier: float
    error: float


def forecasts(fixture: Fixture, outcome: Outcome) -> Forecasts:
    """What the contestants of a match forecast; empty where its game knows no probabilities."""
    spec = installed(fixture.game)
    found: Forecasts = {}
    if spec is not None and spec.rating.forecasts is not None:
        players = {seat.label: seat.player for seat in fixture.seats}
        for label, probability, came_true in spec.rating.forecasts(fixture, outcome):
            counts = found.setdefault(players[label], {})
            key = 2 * round(100 * probability) + came_true
            counts[key] = counts.get(key, 0) + 1
    return found


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
