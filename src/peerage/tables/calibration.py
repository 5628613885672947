"""How well players' probabilities hold: their Brier score, and what came true of what they called how likely.

Games give them (`GameSpec.forecasts`), and they count to the percent. Of what a well-calibrated player calls
70% likely, seven in ten come true; the Brier score also rewards telling true from false.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from peerage.games import installed
from peerage.match import Fixture, Outcome

BINS = 10
"""Of equal width, over the probabilities from 0 to 1; the last holds 1 too."""

Forecasts = dict[str, dict[int, int]]
"""By player how often it gave each probability, by `_key`."""


class CalibrationBin(Struct, frozen=True):
    """The forecasts from `low` up to `high`: how many, their mean probability, the share that came true."""

    low: float
    high: float
    forecasts: int
    said: float
    came_true: float


class CalibrationRow(Struct, frozen=True):
    """One player's probabilities. `brier` is the mean of (probability - truth)², 0 at best (Brier, 1950).
    `calibration_error` is the mean distance between what was said and what came true, over `bins` and weighed
    by their forecasts (the expected calibration error of Naeini, Cooper and Hauskrecht, 2015). `said` and
    `came_true` are the means over all."""

    player: str
    forecasts: int
    brier: float
    calibration_error: float
    said: float
    came_true: float
    bins: tuple[CalibrationBin, ...]


def forecasts(fixture: Fixture, outcome: Outcome) -> Forecasts:
    """What the contestants of a match forecast; empty where its game knows no probabilities."""
    spec = installed(fixture.game)
    found: Forecasts = {}
    if spec is not None and spec.forecasts is not None:
        players = {seat.label: seat.player for seat in fixture.seats}
        for label, probability, came_true in spec.forecasts(fixture, outcome):
            counts = found.setdefault(players[label], {})
            key = _key(round(100 * probability), came_true)
            counts[key] = counts.get(key, 0) + 1
    return found


def _key(percent: int, came_true: bool) -> int:
    return 2 * percent + came_true


def calibration(found: Forecasts) -> tuple[CalibrationRow, ...]:
    """Everybody's figures, the lowest Brier score first; equals by name."""
    rows = [_row(player, counts) for player, counts in found.items() if counts]
    return tuple(sorted(rows, key=lambda row: (row.brier, row.player)))


def _row(player: str, counts: Mapping[int, int]) -> CalibrationRow:
    binned: dict[int, Counter[int]] = {}
    for key, count in counts.items():
        binned.setdefault(min(key // 2 * BINS // 100, BINS - 1), Counter())[key] += count
    bins = tuple([_bin(at, binned[at]) for at in sorted(binned)])
    whole = _bin(0, counts)
    squares = sum([count * (key // 2 / 100 - key % 2) ** 2 for key, count in counts.items()])
    error = sum([one.forecasts * abs(one.said - one.came_true) for one in bins])
    total = whole.forecasts
    return CalibrationRow(player, total, squares / total, error / total, whole.said, whole.came_true, bins)


def _bin(at: int, counts: Mapping[int, int]) -> CalibrationBin:
    total = sum(counts.values())
    said = sum([count * (key // 2) for key, count in counts.items()]) / 100
    came_true = sum([count * (key % 2) for key, count in counts.items()])
    return CalibrationBin(at / BINS, (at + 1) / BINS, total, said / total, came_true / total)
