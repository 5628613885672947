"""Strengths of players and their uncertainty: the fit that pairing learns from. Pure.

Davidson's model (1970): a match of two whose strengths differ by d, in log-odds, is won, lost and tied in
proportion to e^(d/2), e^(-d/2) and nu. A normal prior of standard deviation 1 on each strength keeps the fit
finite before everybody has met. Matches in flight count as if their results were known and changed no
estimate: only the doubt is less.

Who meets whom follows from this, so it must come to the same bits on every machine: there is no BLAS and no
exponential of the C library, sums are taken row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.sequential.elo_kernels import exp_array
from peerage.scheduling.standing import History, Results

_PRECISION = 1.0  # of the prior, in squared log-odds
_NU = 0.5  # ties before any match: a fifth of those between equals


class PairingStrengths(NamedTuple):
    """Of each player the `mean` strength in log-odds, everybody's `covariance`, and of each pair the
    `information` on their difference that one match brings, which is the variance of its score."""

    mean: Floats
    covariance: Floats
    information: Floats


def known(players: Sequence[str], history: History, results: Results, seats: int = 2) -> PairingStrengths:
    """Return what the results among these players say, of matches of so many seats; matches issued and
    without a known result are in flight."""
    share, flying = table_share(seats), np.zeros((len(players), len(players)))
    wins, ties = won_and_tied(players, results)
    for i, player in enumerate(players):
        for j in range(i):
            ended = sum(results.between(player, players[j]))
            flying[i, j] = flying[j, i] = max(history.met(player, players[j]) - ended, 0)
    posterior = fit(share * wins, share * ties, share * flying)
    return posterior._replace(information=share * posterior.information)


def won_and_tied(players: Sequence[str], results: Results) -> tuple[Floats, Floats]:
    """Return the wins of each of these players against each other one, [i, j] for i, and their ties."""
    wins, ties = np.zeros((2, len(players), len(players)))
    for i, player in enumerate(players):
        for j in range(i):
            wins[i, j], tied, wins[j, i], _ = results.between(player, players[j])
            ties[i, j] = ties[j, i] = tied
    return wins, ties


def table_share(seats: int) -> float:
    """Return how much of a match of two each pair at a table of so many is worth: 4(k - H_k) / (k(k - 1)),
    where H_k is the sum of 1/1 to 1/k. A ranking drawn as by Plackett and Luce (1975) says that much of each
    pair where all are equals, by its Fisher information: 0.64 at four seats, 0.47 at six."""
    return 4 * (seats - sum(1 / place for place in range(1, seats + 1))) / (seats * (seats - 1))


def fit(wins: Floats, ties: Floats, flying: Floats, precision: float = _PRECISION) -> PairingStrengths:
    """The strengths at the top of the posterior: `wins[i, j]` of i over j, `ties` and matches in flight of
    each pair, both ways round. Leading axes are of several arenas, each fitted for itself. The prior on each
    strength has that `precision`, 1 by its variance in squared log-odds."""
    games, points = wins + turned(wins) + ties, wins + ties / 2
    tied = total(ties.sum(axis=-2)) / 2
    mean, nu = np.zeros(wins.shape[:-1]), np.full(wins.shape[:-2], _NU)
    for _ in range(50):
        score, information, tie = _match(mean, nu)
        slope = (games * score - points).sum(axis=-2) - precision * mean
        step = (inverse(laplacian(games * information, precision)) * slope[..., None]).sum(axis=-2)
        expected = total((games * tie).sum(axis=-2)) / 2
        before, nu = nu, np.clip(nu * (tied + 0.5) / (expected + 0.5), 1e-3, 1e3)
        far = np.abs(step).max(axis=-1)
        mean = mean + step / np.maximum(1.0, far)[..., None]
        if (far < 1e-4).all() and (np.abs(nu / before - 1) < 1e-2).all():
            break
    _, information, _ = _match(mean, nu)
    return PairingStrengths(mean, inverse(laplacian((games + flying) * information, precision)), information)


def _match(mean: Floats, nu: Floats) -> tuple[Floats, Floats, Floats]:
    """For each pair the expected score of the first, the variance of a score, and the chance of a tie."""
    nu = nu[..., None, None]
    up = exp_array((mean[..., :, None] - mean[..., None, :]) / 2)
    every = up + turned(up) + nu
    win, tie = up / every, nu / every
    score = win + tie / 2
    return score, win + tie / 4 - score * score, tie


def laplacian(weights: Floats, more: float = 0.0) -> Floats:
    """The Laplacian of a graph by its weights, and `more` along the diagonal."""
    matrix, own = -weights, np.arange(weights.shape[-1])
    matrix[..., own, own] = 0.0
    matrix[..., own, own] = more - matrix.sum(axis=-2)
    return matrix


def inverse(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, by sweeping out one row after another."""
    result = matrix.copy()
    for at in range(matrix.shape[-1]):
        pivot = result[..., at, at, None].copy()
        row, column = result[..., at, :] / pivot, result[..., at].copy()
        result -= column[..., :, None] * row[..., None, :]
        result[..., at, :] = row
        result[..., at] = -column / pivot
        result[..., at, at] = 1 / pivot[..., 0]
    return result


def product(first: Floats, second: Floats) -> Floats:
    """The product of two matrices, summed in one order everywhere."""
    result = np.zeros((*first.shape[:-1], second.shape[-1]))
    for at in range(second.shape[-2]):
        result += first[..., :, at, None] * second[..., at, None, :]
    return result


def turned(matrix: Floats) -> Floats:
    """Rows for columns."""
    return np.swapaxes(matrix, -1, -2)


def total(row: Floats) -> Floats:
    """The sum along the last axis, in one order everywhere."""
    return np.asarray(np.cumsum(row, axis=-1)[..., -1])
