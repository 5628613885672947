"""What the true strengths may be, from ratings and how these vary together. Pure.

    >>> unsure = posterior(np.array([0.3, -0.3]), np.array([[0.0, 16.0], [16.0, 0.0]]))
    >>> 0.8 < unsure.better(0, 1) < 0.85
    True

From ratings and their information follow the matches of each pair and who won how many of them, and from
these all else: of a player that never lost the rating is least sure, and yet it is good. Before any match,
strengths are normal around their mean; how far apart they are is unknown, with a half-normal prior of one
log-odds (174 Elo). For each width on a grid the top of the posterior is climbed by Newton's method, and the
normal there (Laplace) gives the width its weight, as in MacKay, Neural Computation 1992. The most likely
width alone would do badly where matches are few: it may be near nothing, and nobody better than anybody.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.scheduling.strengths import laplacian, turned

WIDTHS = np.geomspace(0.1, 4.0, 30)
"""In log-odds."""
LEAST = 0.02
"""What a match is taken to tell at least, p(1 - p): a pair of very unequal players."""
_STEPS = 30


class Posterior(NamedTuple):
    """A mixture of normals, a part for each width: its `weight`, shape (parts,), its `mean`, shape (parts,
    players), and its `covariance`, in log-odds. Only differences between players mean anything."""

    weight: Floats
    mean: Floats
    covariance: Floats

    def better(self, one: int, other: int) -> float:
        """The chance that one player is stronger than the other."""
        apart = self.mean[:, one] - self.mean[:, other]
        both = self.covariance[:, one, one] + self.covariance[:, other, other]
        score = apart / np.sqrt(both - 2 * self.covariance[:, one, other])
        return float(self.weight @ [NormalDist().cdf(float(part)) for part in score])

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Strengths of `count` cases, shape (count, players)."""
        parts = rng.choice(len(self.weight), count, p=self.weight)
        luck = rng.standard_normal((count, self.mean.shape[1], 1))
        return self.mean[parts] + (np.linalg.cholesky(self.covariance)[parts] @ luck)[..., 0]


def matches_of(strength: Floats, covariance: Floats, met: Floats | None = None) -> Floats:
    """How many matches of each pair say as much as is known by these strengths and their covariance, in
    log-odds: shape (players, players), 0 on the diagonal.

    Where it is known how often players `met`, only how much a match says is taken from the covariance, for
    with few matches its parts are far off.
    """
    size = len(strength)
    centre = np.eye(size) - 1 / size
    unsure = centre @ covariance @ centre
    chance = chances(strength)
    if met is not None:
        by_model = laplacian(met * chance * (1 - chance))
        return np.asarray(met * (size - 1) / max(np.trace(unsure @ by_model), 1e-300))
    pairs = np.maximum(-np.linalg.pinv(unsure, hermitian=True, rcond=1e-9), 0.0)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(pairs / match_information(strength))


def match_information(strength: Floats) -> Floats:
    """What a match of each pair tells, p(1 - p), of strengths of shape (..., players)."""
    chance = chances(strength)
    return np.maximum(chance * (1 - chance), LEAST)


def chances(strength: Floats) -> Floats:
    """The chance of each player to win against each other, from strengths of shape (..., players)."""
    return np.asarray(1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None])))


def posterior(strength: Floats, met: Floats) -> Posterior:
    """What strengths may be that were estimated as these, in log-odds, shape (players,), from so many matches
    of each pair, shape (players, players)."""
    size = len(strength)
    won = met * chances(strength)
    narrow = np.asarray(1 / WIDTHS**2)[:, None]
    mean = np.zeros((len(WIDTHS), size))
    for _ in range(_STEPS):
        chance = chances(mean)
        slope = (won - met * chance).sum(axis=2) - narrow * mean
        inverse = np.linalg.inv(laplacian(met * chance * (1 - chance)) + narrow[..., None] * np.eye(size))
        step = (inverse @ slope[..., None])[..., 0]
        mean = mean + step / np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))
        if np.abs(step).max() < 1e-6:
            break
    likely = np.triu(won * np.log(chance) + turned(won) * np.log(1 - chance), 1).sum(axis=(1, 2))
    likely -= (narrow * mean**2).sum(axis=1) / 2 + size * np.log(WIDTHS)
    likely += np.linalg.slogdet(inverse)[1] / 2 + np.log(WIDTHS) - WIDTHS**2 / 2
    weight = np.exp(likely - likely.max())
    return Posterior(weight / weight.sum(), mean, np.asarray(inverse))
