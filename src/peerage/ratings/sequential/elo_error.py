"""Uncertainty of sequential Elo ratings, in closed form.

Elo is a filter of fixed gain K. Let θ be the strengths, R the ratings, w = e_a - e_b the duel of a and b, and
ε its result less its expectation, of variance p(1-p). To first order one duel does

    R ← R + K p(1-p) (ln 10 / 400) M w wᵀ(θ - R) + K ε M w

where M spreads an update over similar players (propagation; the identity without it). Over a history in
which the duels of all pairs are mixed, the noise in R therefore has a covariance P with

    dP/dt = -(B P + P Bᵀ) + Q,   B = K (ln 10 / 400) M L,   Q = K² M L Mᵀ

where L is the Laplacian of the duels, each weighing p(1-p), and the part exp(-B) of the way from the start to
θ is still to go. It is the error of a Kalman filter whose gain is not its own (Jazwinski, "Stochastic
Processes and Filtering Theory", 1970, section 7.4). Only how often each pair met counts, not in which order:
P holds what the order could have changed. It never falls below a variance of K · 400 / (2 ln 10), at K = 16 a
standard error of 37 points. Ties are taken to be as noisy as wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.sequential.elo import EloSettings
from peerage.ratings.table import POINTS

_SHORT = 1e-3  # the part of the history that is stepped over at once, in units of the fastest forgetting


@dataclass(frozen=True)
class EloError:
    """Uncertainty of ratings: `covariance` and `togo`, both of shape (players, players), in points.
    `covariance` is that of the ratings against their mean, were the same duels played again. `togo` maps the
    gap between strengths and starting points to what the ratings still lack of it."""

    rating: Floats
    covariance: Floats
    togo: Floats

    @property
    def error(self) -> Floats:
        """Standard error of each rating, in points."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def settled(self) -> Floats:
        """Return how far each rating has come from where it started to where it belongs, from 0 to 1."""
        n = len(self.rating)
        # The mean of all never moves: what a player lacks is measured against the others.
        lacking = np.diag(self.togo) - self.togo.sum(axis=0) / max(n, 1)
        return np.asarray(np.clip(1 - lacking / (1 - 1 / max(n, 2)), 0.0, 1.0))


def elo_error(
    rating: Floats,
    met: Floats,
    settings: EloSettings,
    near: Floats | None = None,
    squares: Floats | None = None,
) -> EloError:
    """The error of ratings after duels that `met` counts by pair, a symmetric matrix; where they have
    weights, which scale K, it sums these, and `squares` their squares. `near` are the ratings by which
    propagation measures distance (cost Elo), `rating` itself by default."""
    n = len(rating)
    if met.shape != (n, n) or (met != met.T).any():
        raise ValueError(f"met has shape {met.shape}: expected a symmetric matrix of {n} players")
    chance = 1 / (1 + np.exp(np.clip(rating[None, :] - rating[:, None], -12_000, 12_000) / POINTS))
    laplacian, noisy = (
        _laplacian(each * chance * chance.T) for each in (met, met if squares is None else squares)
    )
    spreading = _spreading(rating if near is None else near, settings)
    drift = settings.k_factor / POINTS * spreading @ laplacian
    noise = settings.k_factor**2 * spreading @ noisy @ spreading.T
    togo, gathered = _after(drift, noise)
    centre = np.eye(n) - 1 / max(n, 1)
    return EloError(rating, np.asarray(centre @ gathered @ centre), togo)


def _laplacian(weight: Floats) -> Floats:
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _spreading(near: Floats, settings: EloSettings) -> Floats:
    """Return which part of each player's update reaches each player."""
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
    gathered = time * noise - time**2 / 2 * (drift @ noise + noise @ drift.T)
    for _ in range(doublings):
        gathered = gathered + left @ gathered @ left.T
        left = left @ left
    return left, gathered
