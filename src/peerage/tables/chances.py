"""How often a player of a table beats another one, by the ratings of one track."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS
from peerage.ratings.trueskill import TrueSkillSettings
from peerage.tables.row import Row

_NO_CHANCES = ("points", "cost", "raw")
"""Tracks whose ratings are no chances to win: points, cost too, or Elo on its way to where it settles."""


def chances(rows: Sequence[Row], against: str) -> list[float]:
    """Each ranked player's chance to beat `against` in a match, a tie being half a win: by the logistic curve
    on which ratings in points rest; on the TrueSkill track by the normal of its performances (Herbrich, Minka
    and Graepel, NIPS 2006); overall by the strengths of one game whose shares of wins would be the same.
    Empty on tracks whose ratings are no chances."""
    if not rows or rows[0].track in _NO_CHANCES:
        return []
    place = next(at for at, row in enumerate(rows) if row.player == against)
    if rows[0].track == "trueskill":
        beta = TrueSkillSettings().beta
        normal = NormalDist().cdf
        other = rows[place]
        return [
            normal(
                ((row.mu or 0.0) - (other.mu or 0.0))
                / (2 * beta**2 + (row.sigma or 0.0) ** 2 + (other.sigma or 0.0) ** 2) ** 0.5
            )
            for row in rows
        ]
    strength = strengths(rows)
    found: list[float] = (1 / (1 + np.exp(strength[place] - strength))).tolist()
    return found


def strengths(rows: Sequence[Row]) -> Floats:
    """Each ranked player's strength in log-odds, on tracks in points and overall."""
    ratings = np.array([row.rating for row in rows], np.float64)
    return _of_shares(ratings / 100) if rows[0].track == "overall" else ratings / POINTS


def _of_shares(shares: Floats) -> Floats:
    """The log-strengths of Bradley and Terry by which players win these shares, 0 to 1, against all others:
    Zermelo's iteration (1929), damped, where everybody met everybody alike."""
    n = len(shares)
    if n < 2:
        return np.zeros(n)
    wins = np.clip(shares, 0.003, 0.997) * (n - 1)
    strength = np.ones(n)
    for _ in range(500):
        pairs = 1 / (strength[:, None] + strength[None, :])
        np.fill_diagonal(pairs, 0.0)
        strength = wins / pairs.sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return np.asarray(np.log(strength))
