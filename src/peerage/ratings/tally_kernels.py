"""Passes over the rows of a history, plain Python that Numba compiles for long ones (see `compiled.py`)."""

from __future__ import annotations

import numpy as np

from peerage.ratings.kernels import Floats, Ints


def count(first: Ints, second: Ints, score: Floats, weight: Floats, players: int) -> tuple[Floats, int, bool]:
    """Sums over rows by cell (first, second, twice the score): of weights, of their squares, and of ones.

    Shape (3, players * players * 3). Also the first row whose score is none of 0, ½ and 1, or -1, and
    whether all weights are 1; the sums of squares and ones are then not filled in, being the same.
    """
    twice = score + score
    code = twice.astype(np.int64)
    odd = np.flatnonzero(twice != code)
    if len(odd):
        return np.zeros((3, 0)), int(odd[0]), True
    size = players * players * 3
    cell = (first * players + second) * 3 + code
    sums = np.zeros((3, size))
    if np.all(weight == 1.0):
        sums[0] = np.bincount(cell, minlength=size)
        return sums, -1, True
    sums[0] = np.bincount(cell, weight, size)
    sums[1] = np.bincount(cell, weight * weight, size)
    sums[2] = np.bincount(cell, minlength=size)
    return sums, -1, False


def count_loops(
    first: Ints, second: Ints, score: Floats, weight: Floats, players: int
) -> tuple[Floats, int, bool]:
    """`count` in one pass."""
    ones = np.zeros(players * players * 3, np.int32)  # half the memory of a float: it stays in the cache
    alike = True
    for i in range(len(first)):
        twice = score[i] + score[i]
        code = int(twice)
        if twice != code:
            return np.zeros((3, 0)), i, True
        alike = alike and weight[i] == 1.0
        ones[(first[i] * players + second[i]) * 3 + code] += 1
    sums = np.zeros((3, len(ones)))
    if alike:
        sums[0] = ones
        return sums, -1, True
    sums[2] = ones
    for i in range(len(first)):
        w = weight[i]
        cell = (first[i] * players + second[i]) * 3 + int(score[i] + score[i])
        sums[0, cell] += w
        sums[1, cell] += w * w
    return sums, -1, False


def gram(first: Ints, second: Ints, covariates: Floats, weight: Floats, players: int) -> Floats:
    """Sum of weight * x xᵀ over rows x = (unit of first - unit of second, covariates); a square matrix."""
    n, m = players, covariates.shape[1]
    total = np.zeros((n + m, n + m))
    pair = np.bincount(first * n + second, weight, n * n).reshape(n, n)
    pair = pair + pair.T
    total[:n, :n] = np.diag(pair.sum(axis=1)) - pair
    for k in range(m):
        weighted = weight * covariates[:, k]
        total[:n, n + k] = np.bincount(first, weighted, n) - np.bincount(second, weighted, n)
        total[n + k, :n] = total[:n, n + k]
    total[n:, n:] = covariates.T @ (covariates * weight[:, None])
    return total


def gram_loops(first: Ints, second: Ints, covariates: Floats, weight: Floats, players: int) -> Floats:
    """`gram` in one pass."""
    n, m = players, covariates.shape[1]
    pair, cross, own = np.zeros((n, n)), np.zeros((n, m)), np.zeros((m, m))
    for i in range(len(first)):
        a, b, w = first[i], second[i], weight[i]
        pair[a, b] += w
        for k in range(m):
            wz = w * covariates[i, k]
            cross[a, k] += wz
            cross[b, k] -= wz
            for j in range(k + 1):
                own[k, j] += wz * covariates[i, j]
    total = np.zeros((n + m, n + m))
    for i in range(n):
        for j in range(n):
            both = pair[i, j] + pair[j, i]
            total[i, j] -= both
            total[i, i] += both
        for k in range(m):
            total[i, n + k] = total[n + k, i] = cross[i, k]
    for k in range(m):
        for j in range(k + 1):
            total[n + j, n + k] = total[n + k, n + j] = own[k, j]
    return total


def logistic(first: Ints, second: Ints, covariates: Floats, strength: Floats, effect: Floats) -> Floats:
    """The first player's chance in each row."""
    gap = strength[first] - strength[second] + covariates @ effect
    return np.asarray(1.0 / (1.0 + np.exp(-np.minimum(np.maximum(gap, -700.0), 700.0))))


def logistic_loops(first: Ints, second: Ints, covariates: Floats, strength: Floats, effect: Floats) -> Floats:
    """`logistic` in one pass."""
    chance = np.empty(len(first))
    for i in range(len(first)):
        gap = strength[first[i]] - strength[second[i]]
        for k in range(len(effect)):
            gap += covariates[i, k] * effect[k]
        chance[i] = 1.0 / (1.0 + np.exp(-min(max(gap, -700.0), 700.0)))
    return chance


def slope(a: Ints, b: Ints, points: Floats, met: Floats, strength: Floats) -> Floats:
    """Slope of the likelihood in each strength: points of `a` in `met` games with `b`, less expected."""
    n = len(strength)
    pull = points - met / (1.0 + np.exp(strength[b] - strength[a]))
    return np.asarray(np.bincount(a, pull, n) - np.bincount(b, pull, n))


def slope_loops(a: Ints, b: Ints, points: Floats, met: Floats, strength: Floats) -> Floats:
    """`slope` in one pass."""
    total = np.zeros(len(strength))
    for i in range(len(a)):
        pull = points[i] - met[i] / (1.0 + np.exp(strength[b[i]] - strength[a[i]]))
        total[a[i]] += pull
        total[b[i]] -= pull
    return total


def leverage(first: Ints, second: Ints, covariates: Floats, weight: Floats, inverse: Floats) -> Floats:
    """weight * xᵀ inverse x of each row x = (unit of first - unit of second, covariates)."""
    n = len(inverse) - covariates.shape[1]
    spread = np.diag(inverse)[:n]
    part = spread[first] + spread[second] - 2.0 * inverse[first, second]
    for k in range(covariates.shape[1]):
        cross = 2.0 * (inverse[first, n + k] - inverse[second, n + k]) + covariates @ inverse[n:, n + k]
        part = part + covariates[:, k] * cross
    return weight * part


def leverage_loops(first: Ints, second: Ints, covariates: Floats, weight: Floats, inverse: Floats) -> Floats:
    """`leverage` in one pass."""
    m = covariates.shape[1]
    n = len(inverse) - m
    lever = np.empty(len(first))
    for i in range(len(first)):
        a, b = first[i], second[i]
        part = inverse[a, a] + inverse[b, b] - 2.0 * inverse[a, b]
        for k in range(m):
            cross = 2.0 * (inverse[n + k, a] - inverse[n + k, b])
            for j in range(m):
                cross += covariates[i, j] * inverse[n + k, n + j]
            part += covariates[i, k] * cross
        lever[i] = weight[i] * part
    return lever
