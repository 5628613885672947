"""Errors of ratings where results hang together: by question, by judge, by match, or by two of these.

A cluster's influence on the ratings is found by leaving it out, one Newton step from the top:
the cluster jackknife (CV3 of MacKinnon, Nielsen and Webb, Journal of Applied Econometrics 2023). How many
clusters a difference of two ratings rests on is Satterthwaite's effective number (Bell and McCaffrey, Survey
Methodology 2002): forty questions, of which one player answered six, are six for that player. Two ways of
clustering add up, less what they share (Cameron, Gelbach and Miller, JBES 2011). `bench/clusters.py` measures
how often all this claims too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints

FEWEST = 10
"""Clusters from which on anything is claimed."""
_HEAVY = 0.03  # leverage; a lighter cluster's influence is off by less than that share of itself
_AT_ONCE = 2_000_000  # numbers held at a time


class Curves(NamedTuple):
    """What each row adds to a log-likelihood's slope in the difference of its two strengths (`d`) and in the
    further parameters (`e`, shape (rows, parameters)), and to its information (`dd`, `de`, `ee`)."""

    d: Floats
    e: Floats
    dd: Floats
    de: Floats
    ee: Floats


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
    a prior a player's error is at least that of the posterior, however alike its clusters are.
    """
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
    if prior:
        covariance = inverse + _above_nothing(covariance - inverse @ information @ inverse)
    if min(counts) < FEWEST:
        freedom = np.zeros((size, size))
    return Clustered(covariance, freedom, counts)


def _codes(history: Duels, labels: ArrayLike) -> Ints:
    column = np.asarray(labels)
    if len(column) != len(history):
        raise ValueError(f"there are {len(column)} cluster labels and {len(history)} rows")
    return np.asarray(np.unique(column, return_inverse=True)[1], np.int64)


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
    """The covariance from leaving out each cluster, and the effective degrees of freedom."""
    n, size, clusters = history.players, len(information), int(codes.max(initial=-1)) + 1
    order = np.argsort(codes, kind="stable")
    first, second = history.first[order], history.second[order]
    rows, codes = Curves(*[column[order] for column in rows]), codes[order]
    leverage = np.bincount(codes, _leverage(first, second, rows, inverse, n), clusters)
    covariance, squares = np.zeros((size, size)), np.zeros((size, size))
    whole = _contrasts(_differences(inverse @ information @ inverse, n))
    light = whole.copy()
    at_once = max(1, _AT_ONCE // max(size, 1))
    for start in range(0, clusters, at_once):
        stop = min(start + at_once, clusters)
        part = slice(*np.searchsorted(codes, [start, stop]))
        here = (first[part], second[part], Curves(*[column[part] for column in rows]), codes[part] - start)
        slope = _slopes(*here, stop - start, n)
        influence = slope @ inverse
        heavy = np.flatnonzero(leverage[start:stop] > _HEAVY)
        for some in np.array_split(heavy, -(-len(heavy) * size * size // _AT_ONCE) or 1):
            own = _informations(*here, some, n)
            left = np.linalg.solve(posterior - (1 - 1e-6) * own, slope[some, :, None])[:, :, 0]
            left[:, :n] -= left[:, :n].mean(axis=1, keepdims=True)
            influence[some] = left
            for one in inverse @ own @ inverse:
                share = _contrasts(one)
                light -= share
                squares += share**2
        covariance += influence.T @ influence
    squares += np.maximum(light, 0) ** 2 / max(clusters - int((leverage > _HEAVY).sum()), 1)
    freedom = np.divide(whole**2, squares, out=np.zeros_like(whole), where=squares > 0) - 1
    return covariance * (clusters - 1) / max(clusters, 1), freedom


def _contrasts(covariance: Floats) -> Floats:
    """The variance of each difference; on the diagonal of each parameter itself."""
    own = np.diag(covariance)
    found = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(found, own)
    return np.asarray(found)


def _leverage(first: Ints, second: Ints, rows: Curves, inverse: Floats, n: int) -> Floats:
    """Each row's share in its own estimate."""
    own = np.diag(inverse)
    between = own[first] + own[second] - 2 * inverse[first, second]
    cross = ((inverse[first, n:] - inverse[second, n:]) * rows.de).sum(axis=1)
    return np.asarray(rows.dd * between + 2 * cross + (rows.ee * inverse[n:, n:]).sum(axis=(1, 2)))


def _slopes(first: Ints, second: Ints, rows: Curves, code: Ints, clusters: int, n: int) -> Floats:
    """The slope of each cluster's log-likelihood."""
    sums = np.bincount(code * n + first, rows.d, clusters * n)
    sums -= np.bincount(code * n + second, rows.d, clusters * n)
    rest = [np.bincount(code, column, clusters) for column in rows.e.T]
    return np.column_stack([sums.reshape(clusters, n), *rest])


def _informations(first: Ints, second: Ints, rows: Curves, code: Ints, some: Ints, n: int) -> Floats:
    """The information of each of `some` clusters."""
    place = np.full(int(code.max(initial=-1)) + 1, -1)
    place[some] = np.arange(len(some))
    mine = place[code] >= 0
    first, second, code = first[mine], second[mine], place[code[mine]]
    dd, de, ee = rows.dd[mine], rows.de[mine], rows.ee[mine]
    m, count = de.shape[1], len(some)
    found = np.zeros((count, n + m, n + m))
    pair = np.bincount((code * n + first) * n + second, dd, count * n * n).reshape(count, n, n)
    pair = pair + pair.transpose(0, 2, 1)
    found[:, :n, :n] = -pair
    found[:, range(n), range(n)] += pair.sum(axis=2)
    for k in range(m):
        cross = np.bincount(code * n + first, de[:, k], count * n)
        cross = (cross - np.bincount(code * n + second, de[:, k], count * n)).reshape(count, n)
        found[:, :n, n + k] = found[:, n + k, :n] = cross
        for other in range(m):
            found[:, n + k, n + other] = np.bincount(code, ee[:, k, other], count)
    return found
