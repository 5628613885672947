"""How far sequential Elo may be from the strengths it is after: the covariance of its error, in closed form.

Elo is a filter of fixed gain K. Let e be the ratings less the strengths, w = e_a - e_b the duel of a and b,
and ε its result less its expectation, of variance p(1-p). To first order one duel does

    e ← e - K p(1-p) (ln 10 / 400) M w wᵀe + K ε M w

where M spreads an update over similar players (propagation; the identity without it). Over a history in which
the duels of all pairs are mixed, the covariance of e therefore follows dP/dt = -(B P + P Bᵀ) + Q with
B = K (ln 10 / 400) M L, Q = K² M L Mᵀ and L the Laplacian of the duels, each weighing p(1-p). It is that of a
Kalman filter whose gain is not its own (Jazwinski, "Stochastic Processes and Filtering Theory", 1970, section
7.4), and depends on how often each pair met, not on the order: it holds what the order could have changed.

Two parts add up: what is left of not knowing the strengths when everybody started equal, which fades with
each match, and the noise of the latest results, which never falls below a variance of K · 400 / (2 ln 10), at
K = 16 a standard error of 37 points. Ties are noisier here than they are.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.elo import EloSettings
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS

SPREAD = 350.0
"""Standard deviation of strengths before any match, in points: that of a newcomer to Glicko."""

_SHORT = 1e-3  # the part of the history that is stepped over at once, in units of the fastest forgetting


def error_covariance(
    rating: Floats, met: Floats, settings: EloSettings, near: Floats | None = None, spread: float = SPREAD
) -> Floats:
    """Covariance of ratings less strengths, both against their means, in points; shape (players, players).

    `met` counts the duels of each pair, a symmetric matrix. `near` are the ratings by which propagation
    measures distance (cost Elo), `rating` itself by default. A player without duels is `spread` uncertain.
    """
    n = len(rating)
    if met.shape != (n, n) or (met != met.T).any():
        raise ValueError(f"met has shape {met.shape}: expected a symmetric matrix of {n} players")
    chance = 1 / (1 + np.exp(np.clip(rating[None, :] - rating[:, None], -12_000, 12_000) / POINTS))
    weight = met * chance * chance.T
    laplacian = np.diag(weight.sum(axis=1)) - weight
    spreading = _spreading(rating if near is None else near, settings)
    drift = settings.k_factor / POINTS * spreading @ laplacian
    noise = settings.k_factor**2 * spreading @ laplacian @ spreading.T
    left, added = _after(drift, noise)
    centre = np.eye(n) - 1 / max(n, 1)
    return np.asarray(centre @ (spread**2 * left @ left.T + added) @ centre)


def _spreading(near: Floats, settings: EloSettings) -> Floats:
    """Which part of each player's update reaches each player."""
    width, share = settings.propagation_width, settings.propagation_share
    if width is None:
        return np.eye(len(near))
    gap = np.clip((near[:, None] - near[None, :]) / width, -38, 38)
    kernel = np.exp(-(gap**2) / 2)
    return np.asarray((1 - share) * np.eye(len(near)) + share * kernel / kernel.sum(axis=1, keepdims=True))


def _after(drift: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """exp(-drift), and the noise that has gathered at time 1: a short stretch of time, doubled."""
    fastest = float(np.abs(drift).sum(axis=1).max(initial=0.0))
    doublings = max(0, int(np.ceil(np.log2(fastest / _SHORT)))) if fastest else 0
    time = 2.0**-doublings
    left = np.eye(len(drift)) - time * drift + time**2 / 2 * drift @ drift
    added = time * noise - time**2 / 2 * (drift @ noise + noise @ drift.T)
    for _ in range(doublings):
        added = added + left @ added @ left.T
        left = left @ left
    return left, added
