"""Pairing for the first places: next come the matches that most sharpen who is best, second, and so on. Pure.

As `order`, but the order of a pair matters by the chance that a cut below one of the first places parts the
two: p_i(1 − p_j) + p_j(1 − p_i), where p is the chance that a player is above the cut, which lies halfway
between the two that seem nearest to it.
"""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np

from peerage.ratings.kernels import Floats, exp_array
from peerage.scheduling import order

_LOGISTIC = 1.702  # the logistic curve that is within 0.01 of the normal one


def loss(places: int) -> order.Loss:
    """The loss of wrong orders among those who may hold the first `places`."""

    def of_top(mean: Floats, covariance: Floats) -> Floats:
        return np.asarray(order.of_order(mean, covariance) * _parted(places, mean, covariance))

    return of_top


def _parted(places: int, mean: Floats, covariance: Floats) -> Floats:
    size = len(mean)
    row = covariance.sum(axis=0) / size
    against_all = np.diag(covariance) - 2 * row + sum(row.tolist()) / size
    doubt = np.sqrt(np.maximum(against_all, 1e-12))
    down = sorted(mean.tolist(), reverse=True)
    weight = np.zeros((size, size))
    for above, below in islice(pairwise(down), places):
        inside = 1 / (1 + exp_array(-_LOGISTIC * (mean - (above + below) / 2) / doubt))
        weight += inside[:, None] * (1 - inside) + (1 - inside)[:, None] * inside
    return weight
