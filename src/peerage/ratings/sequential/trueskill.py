"""TrueSkill: skills as normal distributions, for teams of any size and number, with ties.

    >>> settings = TrueSkillSettings()
    >>> table = rate(games(3, [Game(((0,), (1,), (2,)), (1, 2, 2))]), settings)
    >>> [(round(mu, 3), round(sigma, 3)) for mu, sigma in zip(table.mu.tolist(), table.sigma.tolist())]
    [(30.109, 6.735), (22.445, 5.973), (22.445, 5.973)]

Herbrich, Minka, Graepel, "TrueSkill: A Bayesian Skill Rating System" (NIPS 2006). Players pass messages, and
those of them who tied do so in no order (see `trueskill_kernels`). A tie
where the draw probability is 0 takes the exact limit: all of them performed equally well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.compiled import columns, kernel
from peerage.ratings.columns.history import Game, GameColumns, games
from peerage.ratings.sequential import trueskill_kernels
from peerage.ratings.sequential.trueskill_kernels import GameNoise, TeamGames
from peerage.ratings.table import Z95, RatingRow, rows_of

__all__ = ["Game", "TrueSkillSettings", "TrueSkillTable", "games", "rate"]

_LONG_GAMES = 5_000


@dataclass(frozen=True, slots=True)
class TrueSkillSettings:
    """The field's constants, by the field's names.

    `mu`, `sigma`: a newcomer's skill. `beta`: noise of one performance (a skill gap of beta wins about 76%).
    `tau`: how much a skill may drift between games. `draw_probability`: of two equal players, from 0 to
    below 1. `tolerance`: message passing stops when nothing moves more. `k`: tables are sorted by mu -
    k·sigma.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    draw_probability: float = 0.1
    tolerance: float = 1e-4
    k: float = 3.0

    def __post_init__(self) -> None:
        for name, least in (
            ("sigma", True),
            ("beta", True),
            ("tolerance", True),
            ("tau", False),
            ("k", False),
        ):
            value = getattr(self, name)
            if not (math.isfinite(value) and (value > 0 if least else value >= 0)):
                raise ValueError(f"{name} is {value}: expected a number {'above 0' if least else 'from 0'}")
        if not math.isfinite(self.mu):
            raise ValueError(f"mu is {self.mu}: expected a finite number")
        if not 0 <= self.draw_probability < 1:
            raise ValueError(f"draw_probability is {self.draw_probability}: expected from 0 to below 1")

    def draw_margin(self, seats: int) -> float:
        """The gap in performance below which two sides of `seats` players in all tie."""
        quantile = NormalDist().inv_cdf((self.draw_probability + 1) / 2) if self.draw_probability else 0.0
        return quantile * math.sqrt(seats) * self.beta


@dataclass(frozen=True)
class TrueSkillTable:
    """Everybody's skill after a history: `mu` and `sigma`, shape (players,), and games played."""

    settings: TrueSkillSettings
    mu: Floats
    sigma: Floats
    games: Floats

    @property
    def rating(self) -> Floats:
        """mu - k·sigma: what the table is sorted by."""
        return self.mu - self.settings.k * self.sigma

    @cached_property
    def rows(self) -> tuple[RatingRow, ...]:
        """A line for each player, by number; `lower` and `upper` bound the *skill*, mu ± 1.96 sigma."""
        lower, upper = self.mu - Z95 * self.sigma, self.mu + Z95 * self.sigma
        return rows_of(self.rating, lower, upper, self.games, self.mu, self.sigma)


def rate(
    history: GameColumns, settings: TrueSkillSettings, start: TrueSkillTable | None = None
) -> TrueSkillTable:
    """Skills after games, from `start` or from nothing known."""
    players = history.players
    known = 0 if start is None else len(start.mu)
    if known > players:
        raise ValueError(f"the start holds {known} players, the history {players}")
    mu, variance = np.full(players, settings.mu), np.full(players, settings.sigma**2)
    played = history.played()
    if start is not None:
        mu[:known], variance[:known] = start.mu, start.sigma**2
        played[:known] += start.games
    long = len(history) >= _LONG_GAMES
    skills = {"mu": mu, "variance": variance}
    chain = np.zeros((max(history.widest) + 1, trueskill_kernels.COLUMNS))
    of_games = {name: getattr(history, name) for name in TeamGames._fields if name not in skills}
    play: Callable[..., None] = kernel(trueskill_kernels.games, long=long)
    play(
        TeamGames(**columns(long=long, **skills, **of_games)),
        GameNoise(settings.beta**2, settings.tau**2, settings.draw_margin(1), settings.tolerance),
        **columns(long=long, chain=chain),
    )
    return TrueSkillTable(settings, mu, np.sqrt(variance), played)
