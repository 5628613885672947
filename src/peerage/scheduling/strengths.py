"""How strong players seem and how unsure that is: the fit that pairing learns from. Pure.

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

from peerage.ratings.kernels import Floats, exp_array
from peerage.scheduling.standing import History, Results

_PRECISION = 1.0  # of the prior, in squared log-odds
_NU = 0.5  # ties before any match: a fifth of those between equals


class Strengths(NamedTuple):
    """Of each player the `mean` strength in log-odds, everybody's `covariance`, and of each pair the
    `information` on their difference that one match brings, which is the variance of its score."""

    mean: Floats
    covariance: Floats
    information: Floats


def known(players: Sequence[str], history: History, results: Results) -> Strengths:
    """What the results among these players say; matches issued and without a known result are in flight."""
    size = len(players)
    wins, ties, flying = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    for i, one in enumerate(players):
        for j in range(i):
            wins[i, j], tied, wins[j, i], void = results.between(one, players[j])
            ties[i, j] = ties[j, i] = tied
            ended = wins[i, j] + tied + wins[j, i] + void
            flying[i, j] = flying[j, i] = max(history.met(one, players[j]) - ended, 0)
    return fit(wins, ties, flying)


def fit(wins: Floats, ties: Floats, flying: Floats) -> Strengths:
    """The strengths at the top of the posterior: `wins[i, j]` of i over j, `ties` and matches in flight of
    each pair, both ways round."""
    size = len(wins)
    games, points = wins + wins.T + ties, wins + ties / 2
    tied = float(ties.sum()) / 2
    mean, nu = np.zeros(size), _NU
    for _ in range(50):
        score, information, tie = _match(mean, nu)
        slope = (games * score - points).sum(axis=0) - _PRECISION * mean
        step = (inverse(_posterior(games * information)) * slope[:, None]).sum(axis=0)
        expected = sum((games * tie).sum(axis=0).tolist()) / 2
        before, nu = nu, min(max(nu * (tied + 0.5) / (expected + 0.5), 1e-3), 1e3)
        far = float(np.abs(step).max(initial=0.0))
        mean = mean + step / max(1.0, far)
        if far < 1e-4 and abs(nu / before - 1) < 1e-2:
            break
    _, information, _ = _match(mean, nu)
    return Strengths(mean, inverse(_posterior((games + flying) * information)), information)


def _match(mean: Floats, nu: float) -> tuple[Floats, Floats, Floats]:
    """For each pair the expected score of the first, the variance of a score, and the chance of a tie."""
    up = exp_array((mean[:, None] - mean) / 2)
    every = up + up.T + nu
    win, tie = up / every, nu / every
    score = win + tie / 2
    return score, win + tie / 4 - score * score, tie


def _posterior(information: Floats) -> Floats:
    matrix = -information
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, _PRECISION - matrix.sum(axis=0))
    return matrix


def inverse(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, by sweeping out one row after another."""
    found = matrix.copy()
    for at in range(len(found)):
        pivot = found[at, at]
        row, column = found[at] / pivot, found[:, at].copy()
        found -= column[:, None] * row
        found[at] = row
        found[:, at] = -column / pivot
        found[at, at] = 1 / pivot
    return found


def product(first: Floats, second: Floats) -> Floats:
    """The product of two matrices, summed in one order everywhere."""
    found = np.zeros((len(first), second.shape[1]))
    for at in range(len(second)):
        found += first[:, at, None] * second[at]
    return found
