"""Starts of chains for very many players, found without a matrix.

The posterior's top is climbed by conjugate gradients, and chains start at draws from the normal there: x
solves H x = η with η of covariance H (Papandreou and Yuille, "Gaussian sampling by local perturbations", NIPS
2010). Thousands of players take no more memory than their results do. Rankings enter H by its diagonal.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.strength import prior
from peerage.ratings.strength.chain import Normal, Start
from peerage.ratings.strength.likelihood import Counts

CHAINS = 16
_CLIMBS = 20
_SPREAD = 0.8  # at which the top is climbed; chains find their own


def start(counts: Counts, rng: np.random.Generator) -> Start:
    """CHAINS draws from the normal at the posterior's top, for a middling spread."""
    normal, edge, own = _climbed(counts)
    pushed = np.sqrt(own)[:, None] * rng.standard_normal((counts.players, CHAINS))
    luck = np.sqrt(edge)[:, None] * rng.standard_normal((len(edge), CHAINS))
    counts.by_a.add(pushed, luck)
    counts.by_b.add(pushed, luck, -1.0)
    drawn = normal.strength[:, None] + _solved(counts, edge, own, pushed)
    return Start(strength=drawn, spread=np.full(CHAINS, _SPREAD), normals=(normal,))


def top(counts: Counts) -> Normal:
    """The posterior's top for a middling spread, with each player's own information."""
    return _climbed(counts)[0]


def _climbed(counts: Counts) -> tuple[Normal, Floats, Floats]:
    """The top, and the information of each pair and of each player alone there."""
    n, share = counts.players, prior.SHARE_MEAN
    strength, tie = np.zeros(n), prior.TIE[0] if counts.tied else -np.inf
    for _ in range(_CLIMBS):
        edge, tied = counts.edge_information(strength, tie)
        own = counts.ranked_information(strength[:, None])[:, 0] + prior.precision(strength, _SPREAD, share)
        slope, tie_slope = counts.slope(strength[:, None], np.array([tie]))
        pull = prior.precision(strength, _SPREAD, share) * strength
        step = _solved(counts, edge, own, slope - pull[:, None])[:, 0]
        in_tie = float((counts.met * tied * (1 - tied)).sum()) + prior.TIE[1] ** -2
        tie_step = 0.0
        if counts.tied:
            tie_step = float(tie_slope[0] - (tie - prior.TIE[0]) / prior.TIE[1] ** 2) / in_tie
        far = max(float(np.abs(step).max(initial=0.0)), abs(tie_step))
        strength, tie = strength + step / max(1.0, far), tie + tie_step / max(1.0, far)
        if far < 1e-2:
            break
    root = _diagonal(counts, edge, own) ** -0.5
    return Normal(_SPREAD, strength, root, tie, in_tie**-0.5, 0.0), edge, own


def _diagonal(counts: Counts, edge: Floats, own: Floats) -> Floats:
    return np.asarray(own + np.bincount(counts.a, edge, len(own)) + np.bincount(counts.b, edge, len(own)))


def _times(counts: Counts, edge: Floats, own: Floats, columns: Floats) -> Floats:
    """The Laplacian of the pairs by `edge`, with `own` on its diagonal, by columns."""
    product = own[:, None] * columns
    flow = edge[:, None] * (columns[counts.a] - columns[counts.b])
    counts.by_a.add(product, flow)
    counts.by_b.add(product, flow, -1.0)
    return product


def _solved(counts: Counts, edge: Floats, own: Floats, right: Floats) -> Floats:
    """H⁻¹ · right by conjugate gradients (Hestenes and Stiefel 1952), the diagonal as preconditioner."""
    diagonal = _diagonal(counts, edge, own)[:, None]
    solution, left = np.zeros_like(right), right.copy()
    toward = left / diagonal
    size = (left * toward).sum(axis=0)
    enough = 1e-8 * np.maximum(size, 1e-300)
    for _ in range(4 * len(right)):
        if (size <= enough).all():
            break
        moved = _times(counts, edge, own, toward)
        pace = size / np.maximum((toward * moved).sum(axis=0), 1e-300)
        solution += pace * toward
        left -= pace * moved
        ahead = left / diagonal
        before, size = size, (left * ahead).sum(axis=0)
        toward = ahead + size / np.maximum(before, 1e-300) * toward
    return solution
