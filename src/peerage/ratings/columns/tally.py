"""Duels counted by pair: what Bradley-Terry needs of a history, however long."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns import tally_kernels
from peerage.ratings.columns.compiled import kernel
from peerage.ratings.columns.history import Duels

WIN, LOSS, TIE = 0, 1, 2
_LONG = 200_000
_CELLS = 1_000_000  # a table of that many cells is quicker than sorting


@dataclass(frozen=True, eq=False)
class PairTally:
    """Results of each pair that met: `a` < `b`, and per outcome for `a` (WIN, LOSS, TIE) the sum of weights,
    the sum of their squares and the number of games; the last three have shape (3, pairs).
    """

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
    """Count a history. Raises ValueError at a score other than 1, ½ and 0."""
    if 3 * history.players**2 > max(_CELLS, len(history)):
        return _sparse(history)
    (weight, square, count), odd, alike = kernel(tally_kernels.count, long=len(history) >= _LONG)(
        history.first, history.second, history.score, history.weight, history.players
    )
    if odd >= 0:
        raise _odd(history, odd)
    if alike:
        square = count = weight
    return from_cells(history.players, weight, square, count)


def _odd(history: Duels, row: int) -> ValueError:
    found = history.score[row]
    return ValueError(f"row {row}: score is {found}; Bradley-Terry counts wins (1), ties (½) and losses (0)")


def _sparse(history: Duels) -> PairTally:
    """`tally` where only few of all pairs met."""
    odd = np.flatnonzero(~np.isin(history.score, (0.0, 0.5, 1.0)))
    if len(odd):
        raise _odd(history, int(odd[0]))
    n, turned = history.players, history.first > history.second
    a, b = np.where(turned, history.second, history.first), np.where(turned, history.first, history.second)
    pair, place = np.unique(a * n + b, return_inverse=True)
    score = np.where(turned, 1 - history.score, history.score)
    cell = np.select([score == 1, score == 0], [WIN, LOSS], TIE) * len(pair) + place
    weight, square, count = (
        np.bincount(cell, column, 3 * len(pair)).reshape(3, -1).astype(np.float64)
        for column in (history.weight, history.weight**2, np.ones(len(cell)))
    )
    return PairTally(n, pair // n, pair % n, weight, square, count)


def from_cells(players: int, weight: Floats, square: Floats, count: Floats) -> PairTally:
    """A tally from sums by cell (first * players + second) * 3 + outcome, outcome 0 loss, 1 tie, 2 win."""
    flat = count.reshape(-1, 3)
    met = (flat[:, 0] + flat[:, 1] + flat[:, 2]).reshape(players, players)
    a, b = np.nonzero(np.triu(met + met.T, 1))
    columns: list[Floats] = []
    for cells in (weight, square, count):
        if columns and cells is weight:
            columns.append(columns[0])
            continue
        by = cells.reshape(-1, 3)
        forth, back = by[a * players + b], by[b * players + a]
        columns.append(
            np.stack([forth[:, 2] + back[:, 0], forth[:, 0] + back[:, 2], forth[:, 1] + back[:, 1]])
        )
    return PairTally(players, a.astype(np.int64), b.astype(np.int64), *columns)


def inverse_frequency(history: Duels) -> Duels:
    """The history with each pair of players counting alike, however often it met; weights average as before.

    For arenas that pair by rating or by novelty: Chiang et al., "Chatbot Arena" (2024), section 5.
    """
    key = np.minimum(history.first, history.second) * history.players + np.maximum(
        history.first, history.second
    )
    per_pair = np.bincount(key, history.weight)
    weight = history.weight / np.where(per_pair[key] > 0, per_pair[key], 1.0)
    total = weight.sum()
    return replace(history, weight=weight * (history.weight.sum() / total if total else 1.0))
