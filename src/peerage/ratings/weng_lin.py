"""Plackett-Luce and Bradley-Terry online updates for many players: quick, in closed form, as OpenSkill has
them.

    >>> table = rate(games(3, [Game(((0,), (1,), (2,)), (1, 2, 2))]))
    >>> [round(value, 4) for value in table.mu.tolist()]
    [27.869, 23.5655, 23.5655]

Weng and Lin, "A Bayesian Approximation Method for Online Ranking", JMLR 2011: algorithm 4 (`plackett-luce`)
and algorithm 1 (`bradley-terry`, full pairing), with gamma = sigma/c. A weight scales both steps of a game,
a share the step of a player (up by it, down by its inverse).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from peerage.ratings import weng_lin_kernels
from peerage.ratings.compiled import columns, kernel
from peerage.ratings.history import Game, Games, games
from peerage.ratings.trueskill import TrueSkillSettings, TrueSkillTable

__all__ = ["Game", "WengLinSettings", "games", "rate"]

_LONG = 5_000
_MODELS = {
    "plackett-luce": weng_lin_kernels.PLACKETT_LUCE,
    "bradley-terry": weng_lin_kernels.BRADLEY_TERRY,
}


@dataclass(frozen=True, slots=True)
class WengLinSettings:
    """Constants by the field's names; `kappa` is the least part of a variance that a game may leave."""

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    kappa: float = 1e-4
    k: float = 3.0
    model: Literal["plackett-luce", "bradley-terry"] = "plackett-luce"

    def __post_init__(self) -> None:
        if self.model not in _MODELS:
            raise ValueError(f"model is {self.model!r}: expected one of {', '.join(_MODELS)}")
        for name in ("sigma", "beta", "kappa"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value}: expected a number above 0")
        if not (math.isfinite(self.tau) and self.tau >= 0):
            raise ValueError(f"tau is {self.tau}: expected a number from 0")


def rate(
    played: Games, settings: WengLinSettings | None = None, start: TrueSkillTable | None = None
) -> TrueSkillTable:
    """Skills after games, as TrueSkill's table: mu, sigma, sorted by mu - k·sigma."""
    settings = settings or WengLinSettings()
    n = played.players
    mu, variance, met = np.full(n, settings.mu), np.full(n, settings.sigma**2), np.zeros(n)
    if start is not None:
        known = len(start.mu)
        if known > n:
            raise ValueError(f"the start holds {known} players, the history {n}")
        mu[:known], variance[:known], met[:known] = start.mu, start.sigma**2, start.games
    long, teams = len(played) >= _LONG, played.widest[0]
    play: Callable[..., None] = kernel(weng_lin_kernels.games, long=long)
    play(
        *columns(
            mu,
            variance,
            played.game,
            played.team,
            played.rank,
            played.seat,
            played.share,
            played.weight,
            *np.empty((5, teams)),
            long=long,
        ),
        settings.beta,
        settings.tau,
        settings.kappa,
        _MODELS[settings.model],
    )
    scale = TrueSkillSettings(
        mu=settings.mu, sigma=settings.sigma, beta=settings.beta, tau=settings.tau, k=settings.k
    )
    return TrueSkillTable(scale, mu, np.sqrt(variance), met + played.played())
