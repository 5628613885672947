"""An order to find out: whether it is known, and which matches bring that about. Pure.

    >>> best = Aim("top")
    >>> bool(best.reached(np.array([1600.0, 1500.0]), np.array([[0.0, 80.0], [80.0, 0.0]])))
    True

A pair of players is told apart once the variance of its gap is small against the gap's square
(`ratings.claims`). So while an aim is not reached, the loss to pair by (`scheduling.order`) is the sum of
variance over squared gap, of those pairs alone that the aim still needs: it falls with a pair's variance at
the rate 1 / d², where d² is no less than a quarter of the variance, and a tolerance is added to d.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS
from peerage.scheduling.order import between


class Aim(NamedTuple):
    """An order to know: of the first `places` before all others, of everybody, or (`placed`) of `player` with
    everybody, by index. A pair in the wrong order by less than `within` points does not matter."""

    kind: Literal["top", "order", "placed"]
    places: int = 1
    player: int = 0
    within: float = 0.0

    def _pairs(self, rating: Floats) -> np.ndarray:
        """Who must be before whom, shape (..., players, players), as long as ratings of shape (..., players)
        say so."""
        rank = np.argsort(np.argsort(-rating, axis=-1, kind="stable"), axis=-1)
        pairs = rank[..., :, None] < rank[..., None, :]
        if self.kind == "placed":
            own = np.arange(rating.shape[-1]) == self.player
            return np.asarray(pairs & (own[:, None] | own))
        if self.kind == "top":
            first = rank < self.places
            return np.asarray(pairs & first[..., :, None] & ~first[..., None, :])
        return np.asarray(pairs)

    def reached(self, rating: Floats, needed: Floats) -> np.ndarray:
        """Whether it is known from ratings of shape (..., players) and the gaps that claims need."""
        gap = rating[..., :, None] - rating[..., None, :]
        return np.asarray((~self._pairs(rating) | (gap - needed > -self.within)).all(axis=(-2, -1)))

    def loss(self, mean: Floats, covariance: Floats) -> Floats:
        """By how much pairs come nearer to what is needed; see `order.Loss`. Strengths are in log-odds."""
        variance, slack = between(covariance), self.within / POINTS
        gap = mean[..., :, None] - mean[..., None, :]
        # Rounded: eigenvalues and logarithms differ in their last bits between machines.
        lacking = gap - np.round(gap_needed(covariance, unit=1.0), 6) <= -slack
        weight = 1 / (np.maximum(np.abs(gap), np.sqrt(variance) / 2) + slack) ** 2
        pairs = self._pairs(mean)
        lacking &= pairs
        # Claims rest on another fit: where nothing seems to lack, something may, so all of the aim counts.
        lacking = np.where(lacking.any(axis=(-2, -1), keepdims=True), lacking, pairs)
        return np.asarray(np.where(lacking | np.swapaxes(lacking, -1, -2), weight, 0.0))


BEST = Aim("top")
