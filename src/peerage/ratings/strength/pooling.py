"""Strengths by topic or by game, each drawn towards those over all parts.

A player's strength in part t is s + d_t: s has the prior of strengths, each d_t ~ N(0, ω²), and ω, how much
parts differ, a half-normal prior of SD 1 log-odds (174 Elo). A part with few matches so borrows from the
others, the more the more alike parts are. The posterior is normal (Laplace) for each τ and ω of a grid,
weighted by evidence; d is eliminated part by part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.strength import prior
from peerage.ratings.strength.canonical import canonical
from peerage.ratings.strength.clustering import thinned
from peerage.ratings.strength.conditional import Normals
from peerage.ratings.strength.evidence import Evidence
from peerage.ratings.strength.likelihood import Counts, counted, paired
from peerage.ratings.strength.posterior import Strengths, strengths

DIFFER = 1.0
"""SD of the half-normal prior of ω, in log-odds."""
DRAWS = 512
_DIFFERENCES = np.geomspace(0.05, 3.2, 7)
_SPREADS = np.geomspace(0.1, 3.2, 6)


class _PooledTop(NamedTuple):
    """The top at one τ and ω: `common` strengths s, `own` differences d of each part, a root of the
    covariance of s, the covariances of d given s (`given`), the information of each part, and the log
    evidence."""

    common: Floats
    own: Floats
    tie: float
    root: Floats
    given: Floats
    information: Floats
    log_weight: float


class _Parts(NamedTuple):
    players: int
    evidence: Sequence[Evidence]


def pooled(parts: Sequence[Evidence], *, seed: int | np.random.Generator) -> tuple[Strengths, ...]:
    """The posterior of each part's strengths, from the evidence of every part about the same players. Raises
    ValueError where parts are about different numbers of players."""
    if len({part.players for part in parts}) > 1:
        raise ValueError(f"parts are about {[part.players for part in parts]} players: expected the same")
    if len(parts) == 1:
        return (strengths(parts[0], seed=seed),)
    return _pooled(_Parts(parts[0].players, parts), np.random.default_rng(seed)) if parts else ()


@one_thread
def _pooled(of: _Parts, rng: np.random.Generator) -> tuple[Strengths, ...]:
    n, parts = of
    pairs = [paired(part) for part in parts]
    order = canonical(*zip(pairs, [part.rankings for part in parts], strict=True))
    counts = [
        thinned(part, counted(pair, part.rankings, order.number), order.number)
        for part, pair in zip(parts, pairs, strict=True)
    ]
    grid, near = [(differ, spread) for differ in _DIFFERENCES.tolist() for spread in _SPREADS.tolist()], None
    tops: list[_PooledTop] = []
    for differ, spread in grid:
        near = _climbed(counts, differ, spread, near)
        tops.append(near)
    weight = np.array([top.log_weight for top in tops])
    weight = np.exp(weight - weight.max())
    cells = np.sort(rng.choice(len(tops), DRAWS, p=weight / weight.sum()))
    common = np.empty((n, DRAWS))
    for cell in np.unique(cells):
        inside, top = cells == cell, tops[cell]
        common[:, inside] = top.common[:, None] + top.root @ rng.standard_normal((n, int(inside.sum())))
    nu = np.exp([tops[cell].tie for cell in cells.tolist()])
    pooled = []
    for part, pair in enumerate(pairs):
        strength, mean, width = _part(tops, cells, part, common, rng)
        moved = strength[order.number]
        pooled.append(
            Strengths(
                draws=np.ascontiguousarray((moved - moved.sum(axis=0) / max(n, 1)).T),
                tie_draws=nu,
                _conditionals=Normals(strength, mean, width),
                _order=order,
                _pairs=pair,
            )
        )
    return tuple(pooled)


def _part(
    tops: Sequence[_PooledTop], cells: Ints, part: int, common: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Draws of a part's strengths given the common ones; each player's mean and width given the others."""
    n = len(common)
    strength, mean, width = np.empty_like(common), np.empty_like(common), np.empty_like(common)
    for cell in np.unique(cells):
        inside, top = cells == cell, tops[cell]
        kept = np.eye(n) - top.given[part] @ top.information[part]
        top_here = top.common + top.own[part]
        luck = np.linalg.cholesky(top.given[part]) @ rng.standard_normal((n, int(inside.sum())))
        apart = kept @ (common[:, inside] - top.common[:, None]) + luck
        spread = kept @ top.root
        precision = np.linalg.inv(spread @ spread.T + top.given[part])
        own = np.diag(precision)[:, None]
        strength[:, inside] = top_here[:, None] + apart
        mean[:, inside] = strength[:, inside] - precision @ apart / own
        width[:, inside] = own**-0.5
    return strength, mean, width


def _climbed(counts: Sequence[Counts], differ: float, spread: float, near: _PooledTop | None) -> _PooledTop:
    """Newton's method from a top nearby."""
    n, tied = counts[0].players, sum(part.tied for part in counts)
    common, own = np.zeros(n), np.zeros((len(counts), n))
    tie = prior.TIE[0] if tied else -np.inf
    if near is not None:
        common, own, tie = near.common, near.own, near.tie
    narrow, share = differ**-2, prior.SHARE_MEAN
    for _ in range(30):
        places = common + own
        parts = [part.information(place, tie) for part, place in zip(counts, places, strict=True)]
        information = np.stack([matrix for matrix, _ in parts])
        slopes = [
            part.slope(place[:, None], np.array([tie])) for part, place in zip(counts, places, strict=True)
        ]
        slope = np.stack([each[:, 0] for each, _ in slopes])
        pull = prior.precision(common, spread, share)
        given = np.linalg.inv(information + narrow * np.eye(n))
        whole = np.diag(pull) + narrow * (np.eye(n) - narrow * given).sum(axis=0)
        in_own = slope - narrow * own
        answered = (given @ in_own[:, :, None])[:, :, 0]
        left = slope.sum(axis=0) - pull * common - (information @ answered[:, :, None]).sum(axis=0)[:, 0]
        step = np.linalg.solve(whole, left)
        own_step = answered - (given @ (information @ step)[:, :, None])[:, :, 0]
        tie_step = 0.0
        if tied:
            in_tie = sum(each for _, each in parts) + prior.TIE[1] ** -2
            tie_step = float(sum(float(each[0]) for _, each in slopes))
            tie_step = (tie_step - (tie - prior.TIE[0]) / prior.TIE[1] ** 2) / in_tie
        far = max(
            float(np.abs(step).max(initial=0.0)), float(np.abs(own_step).max(initial=0.0)), abs(tie_step)
        )
        pace = 1 / max(1.0, far)
        common, own, tie = common + pace * step, own + pace * own_step, tie + pace * tie_step
        if far < 1e-2:
            break
    log = sum(
        float(part.log_likelihood(place[:, None], np.array([tie]))[0])
        for part, place in zip(counts, common + own, strict=True)
    )
    log += float(prior.log_prior(common, spread, share).sum())
    log -= own.size * float(np.log(differ)) + narrow * float((own**2).sum()) / 2
    log += (float(np.linalg.slogdet(given)[1].sum()) - float(np.linalg.slogdet(whole)[1])) / 2
    log += float(prior.log_spread(spread, max(part.spread_shape for part in counts)))
    log += float(np.log(differ) - (differ / DIFFER) ** 2 / 2)
    root = np.linalg.inv(np.linalg.cholesky(whole)).T
    return _PooledTop(common, own, tie, np.asarray(root), np.asarray(given), information, log)
