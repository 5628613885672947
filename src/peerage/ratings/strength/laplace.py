"""The posterior of very many players: normal around its top (Laplace), by sparse means.

The spread is the most likely one (expectation and maximisation, MacKay 1992). A draw from the normal solves
H x = η with η of covariance H, which needs no matrix (Papandreou and Yuille, "Gaussian sampling by local
perturbations", NIPS 2010): thousands of players take no more memory than their results do. Rankings enter
their part of the information by its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.ratings.strength import prior
from peerage.ratings.strength.chain import Draws
from peerage.ratings.strength.conditional import Normals
from peerage.ratings.strength.likelihood import Counts

DRAWS = 256
_CLIMBS = 40
_AT_ONCE = 4_000_000  # numbers held at a time


def draws(counts: Counts, rng: np.random.Generator) -> tuple[Draws, Normals]:
    """DRAWS draws from the normal at the posterior's top, and each player's distribution given the others."""
    n = counts.players
    strength, spread, share = np.zeros(n), 1.0, prior.SHARE_MEAN
    tie = prior.TIE[0] if counts.tied else -np.inf
    in_tie = 1.0
    for climb in range(_CLIMBS):
        edge, ranked, tied = _weights(counts, strength, tie)
        pull = prior.precision(strength, spread, share)
        slope, tie_slope = counts.slope(strength[:, None], np.array([tie]))
        toward = slope - (pull * strength)[:, None]
        step = _solved(counts, edge, ranked + pull, toward)[:, 0]
        in_tie = float((counts.met * tied * (1 - tied)).sum()) + prior.TIE[1] ** -2
        tie_step = 0.0
        if counts.tied:
            tie_step = float(tie_slope[0] - (tie - prior.TIE[0]) / prior.TIE[1] ** 2) / in_tie
        far = max(float(np.abs(step).max(initial=0.0)), abs(tie_step))
        strength, tie = strength + step / max(1.0, far), tie + tie_step / max(1.0, far)
        before, spread, share = (spread, *_refitted(counts, strength, spread, share, edge, ranked))
        if far < 1e-2 and abs(np.log(spread / before)) < 0.02 and climb > 3:
            break
    edge, ranked, _ = _weights(counts, strength, tie)
    pull = ranked + prior.precision(strength, spread, share)
    drawn = np.empty((n, DRAWS))
    for part in np.array_split(np.arange(DRAWS), -(-DRAWS * max(len(edge), n) // _AT_ONCE)):
        luck = np.sqrt(edge)[:, None] * rng.standard_normal((len(edge), len(part)))
        pushed = np.sqrt(pull)[:, None] * rng.standard_normal((n, len(part)))
        counts.by_a.add(pushed, luck)
        counts.by_b.add(pushed, luck, -1.0)
        drawn[:, part] = strength[:, None] + _solved(counts, edge, pull, pushed)
    ties = tie + in_tie**-0.5 * rng.standard_normal(DRAWS) if counts.tied else np.full(DRAWS, -np.inf)
    precision = _diagonal(counts, edge, pull)
    apart = drawn - strength[:, None]
    mean = drawn - _times(counts, edge, pull, apart) / precision[:, None]
    drawn_all = Draws(drawn, ties, np.full(DRAWS, spread), np.full(DRAWS, share))
    return drawn_all, Normals(drawn, mean, precision[:, None] ** -0.5)


def _weights(counts: Counts, strength: Floats, tie: float) -> tuple[Floats, Floats, Floats]:
    """The information of each pair, that of rankings on each player, and each pair's chance of a tie."""
    edge, tied = counts.edge_information(strength, tie)
    return edge, counts.ranked_information(strength), tied


def _refitted(
    counts: Counts, strength: Floats, spread: float, share: float, edge: Floats, ranked: Floats
) -> tuple[float, float]:
    """Spread and share that go best with the strengths, whose variance is taken player by player."""
    far = prior.far(strength, spread, share)
    own = np.bincount(counts.a, edge, counts.players) + np.bincount(counts.b, edge, counts.players) + ranked
    squares = strength**2 + 1 / (own + prior.precision(strength, spread, share))
    near = 1 - far
    log = -0.5 * (near.sum() * 2 * np.log(prior.SPREADS) + (near * squares).sum() / prior.SPREADS**2)
    weight = np.exp(log + prior.LOG_SPREADS - (log + prior.LOG_SPREADS).max())
    fitted = float(np.exp(weight @ np.log(prior.SPREADS) / weight.sum()))
    return fitted, float((prior.SHARE[0] + far.sum()) / (sum(prior.SHARE) + len(far)))


def _solved(counts: Counts, edge: Floats, own: Floats, right: Floats) -> Floats:
    """H⁻¹ · right for H the Laplacian of the pairs by `edge` and `own` on its diagonal, by conjugate
    gradients (Hestenes and Stiefel 1952), the diagonal as preconditioner."""
    diagonal = _diagonal(counts, edge, own)
    return _conjugate(partial(_times, counts, edge, own), diagonal[:, None], right)


def _diagonal(counts: Counts, edge: Floats, own: Floats) -> Floats:
    return np.asarray(own + np.bincount(counts.a, edge, len(own)) + np.bincount(counts.b, edge, len(own)))


def _times(counts: Counts, edge: Floats, own: Floats, columns: Floats) -> Floats:
    """H by columns."""
    found = own[:, None] * columns
    flow = edge[:, None] * (columns[counts.a] - columns[counts.b])
    counts.by_a.add(found, flow)
    counts.by_b.add(found, flow, -1.0)
    return found


def _conjugate(times: Callable[[Floats], Floats], diagonal: Floats, right: Floats) -> Floats:
    found = np.zeros_like(right)
    left = right.copy()
    ahead = left / diagonal
    toward, size = ahead, (left * ahead).sum(axis=0)
    enough = 1e-8 * np.maximum(size, 1e-300)
    for _ in range(4 * len(right)):
        if (size <= enough).all():
            break
        moved = times(toward)
        pace = size / np.maximum((toward * moved).sum(axis=0), 1e-300)
        found += pace * toward
        left -= pace * moved
        ahead = left / diagonal
        before, size = size, (left * ahead).sum(axis=0)
        toward = ahead + size / np.maximum(before, 1e-300) * toward
    return found
