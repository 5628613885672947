"""Pairing for the first places: next come the matches that most sharpen who is best, second, and so on. Pure.

As `order`, but the order of a pair matters by the chance that a cut below one of the first places parts the
two: p_i(1 − p_j) + p_j(1 − p_i), where p is the chance that a player is above the cut, which lies halfway
between the two that seem nearest to it.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.kernels import Floats, exp_array
from peerage.scheduling import order
from peerage.scheduling.strengths import total

_LOGISTIC = 1.702  # the logistic curve that is within 0.01 of the normal one


def loss(places: int) -> order.Loss:
    """The loss of wrong orders among those who may hold the first `places`."""

    def of_top(mean: Floats, covariance: Floats) -> Floats:
        return np.asarray(order.of_order(mean, covariance) * _parted(places, mean, covariance))

    return of_top


def _parted(places: int, mean: Floats, covariance: Floats) -> Floats:
    size = mean.shape[-1]
    row = covariance.sum(axis=-2) / size
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    doubt = np.sqrt(np.maximum(own - 2 * row + (total(row) / size)[..., None], 1e-12))
    down = np.sort(mean)[..., ::-1]
    weight = np.zeros_like(covariance)
    for at in range(min(places, size - 1)):
        cut = (down[..., at] + down[..., at + 1]) / 2
        inside = 1 / (1 + exp_array(-_LOGISTIC * (mean - cut[..., None]) / doubt))
        over, under = inside[..., :, None], inside[..., None, :]
        weight += over * (1 - under) + (1 - over) * under
    return weight
