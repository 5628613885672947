"""Pairing for certainty: next come the matches that soonest tell one more pair apart for good. Pure.

As `order`, but in place of the loss of a wrong order stands how far each pair is from what its gap needs to
be claimed at every look (`ratings.claims`): with d the gap, v its variance and b what it needs, a pair counts
by p = (d² + v)/b², which falls with v at the rate p/v; one that can be claimed already counts nothing. So
pairs near their bound come before hopeless ones, and those that are told apart rest.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.scheduling import order


def loss(mean: Floats, covariance: Floats) -> Floats:
    """By how much pairs come nearer to a claim; see `order.Loss`."""
    variance = order.between(covariance)
    gap = mean[..., :, None] - mean[..., None, :]
    # Rounded: eigenvalues and logarithms differ in their last bits between machines.
    needed = np.round(gap_needed(covariance, unit=1.0), 6)
    near = np.minimum((gap * gap + variance) / (needed * needed), 1.0)
    return np.asarray(np.where(np.abs(gap) < needed, near / variance, 0.0))
