"""Glicko-2: ratings with a deviation and a volatility, updated once a rating period.

    >>> start = Glicko2Table([1500, 1400, 1550, 1700], [200, 30, 100, 300], [0.06] * 4)
    >>> after = rate(duels(4, [0, 0, 0], [1, 2, 3], [1, 0, 0]), start=start)
    >>> round(after.rating[0], 4), round(after.deviation[0], 4), round(after.volatility[0], 8)
    (1464.0507, 151.5165, 0.05999598)

Glickman, "Example of the Glicko-2 system" (2022), whose example this is, before its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Ints
from peerage.ratings.columns.compiled import kernel, ready
from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.sequential import glicko2_kernels
from peerage.ratings.table import Z95, RatingRow, rows_of

__all__ = ["Glicko2Settings", "Glicko2Table", "duels", "even_periods", "rate"]

_SCALE = 173.7178  # the paper's rounding of 400 / ln 10
_LONG = 100_000


@dataclass(frozen=True, slots=True)
class Glicko2Settings:
    """A newcomer's `rating`, `deviation` and `volatility`; `tau` restrains the volatility (0.3 to 1.2)."""

    rating: float = 1500.0
    deviation: float = 350.0
    volatility: float = 0.06
    tau: float = 0.5
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("deviation", "volatility", "tau", "epsilon"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value}: expected a number above 0")


@dataclass(frozen=True)
class Glicko2Table:
    """Rating, rating deviation and volatility of each player, and games played."""

    rating: Sequence[float]
    deviation: Sequence[float]
    volatility: Sequence[float]
    games: Sequence[float] = field(default=())

    @cached_property
    def rows(self) -> tuple[RatingRow, ...]:
        """A line for each player: rating ± 1.96 deviations."""
        rating, deviation = np.array(self.rating, float), np.array(self.deviation, float)
        wide = Z95 * deviation
        games = np.array(self.games or (0.0,) * len(rating), float)
        return rows_of(rating, rating - wide, rating + wide, games, rating, deviation)


def even_periods(history: Duels, games: int = 15) -> Ints:
    """Bounds of periods in which a player has about `games` games: Glickman advises 10 to 15."""
    rows = max(1, games * history.players // 2)
    return np.concatenate([[0], np.arange(rows, len(history), rows), [len(history)]]).astype(np.int64)


def rate(
    history: Duels,
    settings: Glicko2Settings | None = None,
    *,
    bounds: ArrayLike | None = None,
    start: Glicko2Table | None = None,
) -> Glicko2Table:
    """Ratings after a history; rows `bounds[p]:bounds[p + 1]` are one period, all of them by default. A
    weight w counts as w games. A player who does not play in a period grows less certain, up to a newcomer's
    deviation."""
    settings = settings or Glicko2Settings()
    n = history.players
    edges = np.array([0, len(history)]) if bounds is None else np.asarray(bounds)
    edges = np.ascontiguousarray(edges, np.int64)
    if len(edges) < 2 or edges[0] != 0 or edges[-1] != len(history) or (np.diff(edges) < 0).any():
        raise ValueError(f"bounds must rise from 0 to {len(history)}, the number of rows")
    rating, deviation = np.full(n, settings.rating), np.full(n, settings.deviation)
    sigma, games = np.full(n, settings.volatility), np.zeros(n)
    if start is not None:
        known = len(start.rating)
        if known > n:
            raise ValueError(f"the start holds {known} players, the history {n}")
        rating[:known], deviation[:known], sigma[:known] = start.rating, start.deviation, start.volatility
        games[:known] = start.games or 0.0
    mu, phi = (rating - 1500) / _SCALE, deviation / _SCALE
    long = len(history) >= _LONG or ready(glicko2_kernels)
    kernel(glicko2_kernels.periods, long=long)(
        mu=mu,
        phi=phi,
        sigma=sigma,
        first=history.first,
        second=history.second,
        score=history.score,
        weight=history.weight,
        bounds=edges,
        tau=settings.tau,
        epsilon=settings.epsilon,
        widest=settings.deviation / _SCALE,
    )
    games += history.games()
    return Glicko2Table(
        tuple((1500 + mu * _SCALE).tolist()),
        tuple((phi * _SCALE).tolist()),
        tuple(sigma.tolist()),
        tuple(games.tolist()),
    )
