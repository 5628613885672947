"""Errors of ratings where results hang together: by question, by judge, by match, or by two of these.

A cluster's influence on the ratings is found by leaving it out, one Newton step from the top:
the cluster jackknife (CV3 of MacKinnon, Nielsen and Webb, Journal of Applied Econometrics 2023). How many
clusters a difference of two ratings rests on is Satterthwaite's effective number (Bell and McCaffrey, Survey
Methodology 2002): forty questions, of which one player answered six, are six for that player. Clusters that
all end alike leave something open (`table.floored`). Two ways of clustering add up, less what they share
(Cameron, Gelbach and Miller, JBES 2011). `bench/clusters.py` measures how often all this claims too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.merging import coded
from peerage.ratings.table import floored

FEWEST = 10
"""Clusters from which on anything is claimed."""
_HEAVY = 0.03  # leverage; a lighter cluster's influence is off by less than that share of itself
_AT_ONCE = 2_000_000  # numbers held at a time


Sums = tuple[Floats, Floats, Floats]
"""Of a quadratic form over rows x = (unit of first - unit of second, covariates): by pair of players, by
player and covariate, and by two covariates."""


class Curves(NamedTuple):
    """Parts of each row in a log-likelihood's slope, by the difference of its two strengths (`d`) and by the
    further parameters (`e`, shape (rows, parameters)), and in its information: `dd`, `de`, and in two further
    parameters the products of `ee`, a pair of arrays shaped as `e`."""

    d: Floats
    e: Floats
    dd: Floats
    de: Floats
    ee: tuple[Floats, Floats]

    def of(self, rows: Ints | NDArray[np.bool_] | slice) -> Curves:
        """The contributions of some rows, in their order."""
        first, other = self.ee
        ee = first[rows], other[rows]
        return Curves(self.d[rows], self.e[rows], self.dd[rows], self.de[rows], ee)


class Clustered(NamedTuple):
    """The covariance of strengths and further parameters, and the degrees of freedom of each difference of
    two strengths, and on the diagonal of each strength against the mean and each further parameter; below 1
    where nothing can be claimed. `counts` are the clusters, way by way."""

    covariance: Floats
    freedom: Floats
    counts: tuple[int, ...]


def clustered(
    history: Duels,
    rows: Curves,
    ways: Sequence[ArrayLike],
    information: Floats,
    posterior: Floats,
    prior: bool,
) -> Clustered:
    """The errors that allow rows with one label to hang together, for each of one or two columns of labels.
    `information` is the data's; `posterior` has the `prior` besides, or the mean of the strengths held. Under
    a prior a player's error is at least that of the posterior, however alike its clusters are."""
    codes = [_codes(history, labels) for labels in ways]
    counts = tuple([int(code.max(initial=-1)) + 1 for code in codes])
    if len(codes) > 2 or not codes:
        raise ValueError(f"there are {len(codes)} ways of clustering: expected one or two")
    n, size = history.players, len(information)
    inverse = _differences(np.asarray(np.linalg.inv(posterior), np.float64), n)
    covariance, freedom = _jackknife(history, rows, codes[0], information, posterior, inverse)
    if len(codes) == 2:
        other, free = _jackknife(history, rows, codes[1], information, posterior, inverse)
        both = _codes(history, codes[0] * counts[1] + codes[1])
        shared, _ = _jackknife(history, rows, both, information, posterior, inverse)
        covariance = covariance + _above_nothing(other - shared)
        freedom = np.minimum(freedom, free)
    model = np.diag(inverse @ information @ inverse)
    covariance = floored(covariance, model, np.diag(freedom) + 1, n)
    if prior:
        covariance = inverse + _above_nothing(covariance - inverse @ information @ inverse)
    if min(counts) < FEWEST:
        freedom = np.zeros((size, size))
    return Clustered(covariance, freedom, counts)


def _codes(history: Duels, labels: ArrayLike) -> Ints:
    column = np.asarray(labels)
    if len(column) != len(history):
        raise ValueError(f"there are {len(column)} cluster labels and {len(history)} rows")
    return coded(column)[1]


def _differences(covariance: Floats, n: int) -> Floats:
    """A covariance with the strengths taken against their mean."""
    centre = np.eye(len(covariance))
    centre[:n, :n] -= 1 / max(n, 1)
    return np.asarray(centre @ covariance @ centre)


def _above_nothing(matrix: Floats) -> Floats:
    """The part of a symmetric matrix that is a covariance."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def _jackknife(
    history: Duels, rows: Curves, codes: Ints, information: Floats, posterior: Floats, inverse: Floats
) -> tuple[Floats, Floats]:
    """The covariance from leaving out each cluster, and the effective degrees of freedom. Of a light cluster
    the influence is linear in its slope, so that the sum of all their squares is enough; a heavy one is left
    out by itself."""
    n, size, clusters = history.players, len(information), int(codes.max(initial=-1)) + 1
    first, second = history.first, history.second
    if not (codes[1:] >= codes[:-1]).all():
        order = np.argsort(codes, kind="stable")
        first, second, rows, codes = first[order], second[order], rows.of(order), codes[order]
    is_heavy = np.bincount(codes, _at_most(first, second, rows, inverse, n), clusters) > _HEAVY
    near = is_heavy[codes]
    leverage = _leverage(first[near], second[near], rows.of(near), inverse, n)
    is_heavy &= np.bincount(codes[near], leverage, clusters) > _HEAVY
    squares = np.zeros((size, size))
    whole = _contrasts(_differences(inverse @ information @ inverse, n))
    light = whole.copy()
    covariance = np.asarray(inverse @ _squared(first, second, rows, codes, ~is_heavy, n) @ inverse)
    heavy = np.flatnonzero(is_heavy)
    for some in np.array_split(heavy, -(-len(heavy) * size * size // _AT_ONCE) or 1):
        if not len(some):
            continue
        place = np.full(clusters, -1)
        place[some] = np.arange(len(some))
        inside = place[codes] >= 0
        here = first[inside], second[inside], rows.of(inside), place[codes[inside]], len(some), n
        own = _informations(*here)
        left = np.linalg.solve(posterior - (1 - 1e-6) * own, _slopes(*here)[:, :, None])[:, :, 0]
        left[:, :n] -= left[:, :n].mean(axis=1, keepdims=True)
        covariance += left.T @ left
        for left_out in inverse @ own @ inverse:
            share = _contrasts(left_out)
            light -= share
            squares += share**2
    squares += np.maximum(light, 0) ** 2 / max(clusters - len(heavy), 1)
    freedom = np.divide(whole**2, squares, out=np.zeros_like(whole), where=squares > 0) - 1
    return covariance * (clusters - 1) / max(clusters, 1), freedom


def _squared(first: Ints, second: Ints, rows: Curves, codes: Ints, wanted: np.ndarray, n: int) -> Floats:
    """The sum over the `wanted` clusters of their slope by itself; `codes` are sorted."""
    clusters, m = len(wanted), rows.e.shape[1]
    same = codes[1:] == codes[:-1]
    if not (same & ((first[1:] != first[:-1]) | (second[1:] != second[:-1]))).any():
        # all of a cluster is about one pair of players, as the votes of a duel are
        return quadratic(*squares_of_pairs(first, second, rows.d, rows.e, codes, wanted, n))
    squares = np.zeros((n + m, n + m))
    at_once = max(1, _AT_ONCE // max(n + m, 1))
    for start in range(0, clusters, at_once):
        stop = min(start + at_once, clusters)
        part = slice(*np.searchsorted(codes, [start, stop]))
        slope = _slopes(first[part], second[part], rows.of(part), codes[part] - start, stop - start, n)
        squares += slope[wanted[start:stop]].T @ slope[wanted[start:stop]]
    return squares


def squares_of_pairs(
    first: Ints, second: Ints, d: Floats, e: Floats, codes: Ints, wanted: NDArray[np.bool_], players: int
) -> Sums:
    """The sums of the squares of the `wanted` clusters' slopes, in strengths and by further parameters, `d`
    and `e` being each row's. `codes` are sorted, and all rows of a cluster about the same players."""
    n, m = players, e.shape[1]
    starts = np.searchsorted(codes, np.arange(len(wanted)))
    total = np.add.reduceat(d, starts) * wanted
    more = np.stack([np.add.reduceat(column, starts) * wanted for column in e.T], 1) if m else e[starts]
    cell = first[starts] * n + second[starts]
    cross = np.zeros((n, m))
    for k in range(m):
        part = np.bincount(cell, total * more[:, k], n * n).reshape(n, n)
        cross[:, k] = part.sum(axis=1) - part.sum(axis=0)
    pair = np.bincount(cell, total * total, n * n).reshape(n, n)
    own: Floats = more.T @ more
    return pair.astype(np.float64), cross, own


def quadratic(pair: Floats, cross: Floats, own: Floats) -> Floats:
    """The matrix of a quadratic form over rows (unit of first - unit of second, further parameters), from its
    sums by pair of players, by player and parameter, and by two parameters."""
    n = len(pair)
    both = pair + pair.T
    matrix = np.empty((n + len(own), n + len(own)))
    matrix[:n, :n] = np.diag(both.sum(axis=1)) - both
    matrix[:n, n:], matrix[n:, :n] = cross, cross.T
    matrix[n:, n:] = own
    return matrix


def _contrasts(covariance: Floats) -> Floats:
    """The variance of each difference; on the diagonal of each parameter itself."""
    own = np.diag(covariance)
    contrasts = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(contrasts, own)
    return np.asarray(contrasts)


def _at_most(first: Ints, second: Ints, rows: Curves, inverse: Floats, n: int) -> Floats:
    """A bound of each row's leverage that is quickly computed."""
    own, pair = np.diag(inverse)[:n], np.zeros((n, n))
    pair += own[:, None] + own - 2 * inverse[:n, :n]
    bound = np.abs(rows.dd) * pair[first, second]
    if inverse.shape[0] > n:
        left, right = (np.sqrt(np.einsum("ij,ij->i", part, part)) for part in rows.ee)
        cross = np.sqrt(np.einsum("ij,ij->i", rows.de, rows.de))
        across = inverse[:n, None, n:] - inverse[None, :n, n:]
        bound += 2 * cross * float(np.sqrt((across**2).sum(axis=2).max(initial=0.0)))
        bound += left * right * float(np.abs(np.linalg.eigvalsh(inverse[n:, n:])).max())
    return np.asarray(bound)


def _leverage(first: Ints, second: Ints, rows: Curves, inverse: Floats, n: int) -> Floats:
    """Each row's share in its own estimate."""
    own = np.diag(inverse)
    between = own[first] + own[second] - 2 * inverse[first, second]
    cross = ((inverse[first, n:] - inverse[second, n:]) * rows.de).sum(axis=1)
    left, other = rows.ee
    return np.asarray(rows.dd * between + 2 * cross + ((left @ inverse[n:, n:]) * other).sum(axis=1))


def _slopes(first: Ints, second: Ints, rows: Curves, code: Ints, clusters: int, n: int) -> Floats:
    """The slope of each cluster's log-likelihood."""
    sums = np.bincount(code * n + first, rows.d, clusters * n)
    sums -= np.bincount(code * n + second, rows.d, clusters * n)
    rest = [np.bincount(code, column, clusters) for column in rows.e.T]
    return np.column_stack([sums.reshape(clusters, n), *rest])


def _informations(first: Ints, second: Ints, rows: Curves, code: Ints, clusters: int, n: int) -> Floats:
    """The information of each cluster."""
    m = rows.de.shape[1]
    informations = np.zeros((clusters, n + m, n + m))
    pair = np.bincount((code * n + first) * n + second, rows.dd, clusters * n * n).reshape(clusters, n, n)
    pair = pair + pair.transpose(0, 2, 1)
    informations[:, :n, :n] = -pair
    informations[:, range(n), range(n)] += pair.sum(axis=2)
    left, other = rows.ee
    for k in range(m):
        cross = np.bincount(code * n + first, rows.de[:, k], clusters * n)
        cross = (cross - np.bincount(code * n + second, rows.de[:, k], clusters * n)).reshape(clusters, n)
        informations[:, :n, n + k] = informations[:, n + k, :n] = cross
        for by in range(m):
            informations[:, n + k, n + by] = np.bincount(code, left[:, k] * other[:, by], clusters)
    return informations
