"""Duels counted by pair: what Bradley-Terry needs of a history, however long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels, in_outcomes
from peerage.ratings.columns.merging import numbered

WIN, LOSS, TIE = 0, 1, 2


@dataclass(frozen=True, eq=False)
class PairTally:
    """Results of each pair that met: `a` < `b`, and per outcome for `a` (WIN, LOSS, TIE) the sum of weights,
    the sum of their squares and the number of games; the last three have shape (3, pairs)."""

    players: int
    a: Ints
    b: Ints
    weight: Floats
    square: Floats
    count: Floats

    def games(self) -> Floats:
        """Games of each player."""
        met = self.count.sum(axis=0)
        return np.asarray(np.bincount(self.a, met, self.players) + np.bincount(self.b, met, self.players))

    def beats(self, ties_count: bool) -> np.ndarray:
        """Boolean matrix: [i, j] when i beat j with some weight, or tied it if `ties_count`."""
        edges = np.zeros((self.players, self.players), bool)
        won, lost, tied = self.weight > 0
        edges[self.a, self.b] = won | (tied & ties_count)
        edges[self.b, self.a] = lost | (tied & ties_count)
        return edges


def tally(history: Duels) -> PairTally:
    """Count a history, a score between two outcomes as a part of each, which never understates spread."""
    history, _, part = in_outcomes(history)
    n, turned = history.players, history.first > history.second
    pair, place = numbered(
        np.minimum(history.first, history.second) * n + np.maximum(history.first, history.second)
    )
    score = np.where(turned, 1 - history.score, history.score)
    cell = np.array([LOSS, TIE, WIN])[(2 * score).astype(np.int64)] * len(pair) + place
    size, weight = 3 * len(pair), history.weight
    count = np.asarray(np.bincount(cell, part, size).reshape(3, -1), np.float64)
    sums, squares = count, count
    if not (weight == 1).all():
        sums, squares = (
            np.asarray(np.bincount(cell, each * part, size).reshape(3, -1), np.float64)
            for each in (weight, weight**2)
        )
    return PairTally(n, *np.divmod(pair, max(n, 1)), sums, squares, count)
