"""Passes over the rows of a history, plain Python that Numba compiles for long ones (see `compiled.py`)."""

from __future__ import annotations

import numpy as np

from peerage.ratings.arrays import Floats, Ints


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


Sums = tuple[Floats, Floats, Floats]
"""Of a quadratic form over rows x = (unit of first - unit of second, covariates): by pair of players, by
player and covariate, and by two covariates."""


def climb(
    first: Ints,
    second: Ints,
    covariates: Floats,
    score: Floats,
    weight: Floats,
    strength: Floats,
    effect: Floats,
) -> tuple[Floats, Floats, Sums]:
    """The first player's chance in each row, the slope of the log-likelihood, and the sums of its curvature.

    The slope is by strength, then by effect.
    """
    n = len(strength)
    gap = strength[first] - strength[second] + covariates @ effect
    chance = 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(gap, -700.0), 700.0)))
    residual = weight * (score - chance)
    pull = np.bincount(first, residual, n) - np.bincount(second, residual, n)
    slope = np.concatenate((pull, covariates.T @ residual))
    return chance, slope, _summed(first, second, covariates, weight * chance * (1.0 - chance), n)


def climb_loops(
    first: Ints,
    second: Ints,
    covariates: Floats,
    score: Floats,
    weight: Floats,
    strength: Floats,
    effect: Floats,
) -> tuple[Floats, Floats, Sums]:
    """`climb` in one pass."""
    n, m = len(strength), len(effect)
    chance, slope = np.empty(len(first)), np.zeros(n + m)
    pair, cross, own = np.zeros((n, n)), np.zeros((n, m)), np.zeros((m, m))
    there, value = np.empty(m, np.int64), np.empty(m)
    for i in range(len(first)):
        a, b = first[i], second[i]
        gap = strength[a] - strength[b]
        count = 0  # of families, most covariates are 0 in most rows
        for k in range(m):
            z = covariates[i, k]
            there[count], value[count] = k, z
            count += z != 0.0
            gap += z * effect[k]
        p = 1.0 / (1.0 + np.exp(-min(max(gap, -700.0), 700.0)))
        chance[i] = p
        residual = weight[i] * (score[i] - p)
        slope[a] += residual
        slope[b] -= residual
        curve = weight[i] * p * (1.0 - p)
        pair[a, b] += curve
        for at in range(count):
            k, z = there[at], value[at]
            slope[n + k] += residual * z
            part = curve * z
            cross[a, k] += part
            cross[b, k] -= part
            for other in range(at + 1):
                own[k, there[other]] += part * value[other]
    for k in range(m):
        for j in range(k):
            own[j, k] = own[k, j]
    return chance, slope, (pair, cross, own)


def scatter(
    first: Ints,
    second: Ints,
    covariates: Floats,
    score: Floats,
    weight: Floats,
    chance: Floats,
    inverse: Floats,
) -> Sums:
    """The sums of each row's squared residual, enlarged by what its leverage hides (see `bradley_terry`)."""
    n = len(inverse) - covariates.shape[1]
    spread = np.diag(inverse)[:n]
    lever = spread[first] + spread[second] - 2.0 * inverse[first, second]
    for k in range(covariates.shape[1]):
        cross = 2.0 * (inverse[first, n + k] - inverse[second, n + k]) + covariates @ inverse[n:, n + k]
        lever = lever + covariates[:, k] * cross
    curve = weight * chance * (1.0 - chance)
    hidden = weight * curve * np.minimum(curve * lever, 1.0)
    return _summed(first, second, covariates, (weight * (score - chance)) ** 2 + hidden, n)


def scatter_loops(
    first: Ints,
    second: Ints,
    covariates: Floats,
    score: Floats,
    weight: Floats,
    chance: Floats,
    inverse: Floats,
) -> Sums:
    """`scatter` in one pass."""
    m = covariates.shape[1]
    n = len(inverse) - m
    spread = np.diag(inverse).copy()
    pair, cross, own = np.zeros((n, n)), np.zeros((n, m)), np.zeros((m, m))
    for i in range(len(first)):
        a, b = first[i], second[i]
        lever = spread[a] + spread[b] - 2.0 * inverse[a, b]
        for k in range(m):
            far = 2.0 * (inverse[n + k, a] - inverse[n + k, b])
            for j in range(m):
                far += covariates[i, j] * inverse[n + k, n + j]
            lever += covariates[i, k] * far
        residual = weight[i] * (score[i] - chance[i])
        curve = weight[i] * chance[i] * (1.0 - chance[i])
        total = residual * residual + weight[i] * curve * min(curve * lever, 1.0)
        pair[a, b] += total
        for k in range(m):
            part = total * covariates[i, k]
            cross[a, k] += part
            cross[b, k] -= part
            for j in range(m):  # both triangles: whole rows go through the processor at once
                own[k, j] += part * covariates[i, j]
    return pair, cross, own


def _summed(first: Ints, second: Ints, covariates: Floats, weight: Floats, n: int) -> Sums:
    m = covariates.shape[1]
    cross = np.zeros((n, m))
    for k in range(m):
        part = weight * covariates[:, k]
        cross[:, k] = np.bincount(first, part, n) - np.bincount(second, part, n)
    pair = np.bincount(first * n + second, weight, n * n).reshape(n, n)
    own: Floats = covariates.T @ (covariates * weight.reshape(-1, 1))
    return pair.astype(np.float64), cross, own
