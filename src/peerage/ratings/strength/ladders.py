"""Rankings without ties, as columns: each is one observation of Plackett and Luce's model. Pure.

The stages of a ranking are nested, from each seat down to the last, so their sums are sums of running sums:
a ranking of m seats takes m exponentials and as many steps, not m² / 2. `likelihood.Stages` has all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import GameColumns

_AT_ONCE = 65_536  # numbers worked on at a time, which a processor's cache holds
_MULTIPLIED = 3  # sums whose logarithms are taken in one
_FACTORS = 6  # likewise of ratios, which are smaller


class Ladders(NamedTuple):
    """Rankings of so many seats each: `player` from best to worst, shape (seats, rankings), and `weight`.
    With strengths s of one ranking's players, from best to worst, stage r adds -weight · ln Σ e^(s_i) over i
    ≥ r; the last has one player, and adds nothing."""

    player: Ints
    weight: Floats

    def scaled(self, factor: float) -> Ladders:
        """The same, each counting `factor` times."""
        return self._replace(weight=self.weight * factor)

    def added(self, players: int) -> Floats:
        """The linear part of the log-likelihood of rankings, by player."""
        first = self.player[:-1]
        return np.bincount(first.ravel(), np.tile(self.weight, len(first)), players).astype(np.float64)

    def log_totals(self, strength: Floats) -> Floats:
        """The part subtracted from the log-likelihood of each chain; strengths: (players, chains)."""
        totals = np.zeros(strength.shape[1])
        for weight, _, _, total in self._parts(strength):
            log = np.zeros(total[:, 0].shape)
            for first in range(0, total.shape[1] - 1, _MULTIPLIED):
                product = total[:, first]
                for seat in range(first + 1, min(first + _MULTIPLIED, total.shape[1] - 1)):
                    product = product * total[:, seat]
                log += np.log(product)
            totals += log @ weight
        return totals

    def shares(self, strength: Floats) -> Floats:
        """Their players' parts in the sums of their stages, weighted, by player; shape (players, chains)."""
        sums = np.zeros(strength.T.shape)
        for weight, player, own, total in self._parts(strength):
            _add(sums, player, own * _running(weight / total))
        return sums.T

    def known(self, strength: Floats) -> Floats:
        """Their information on each strength, the others held, chain by chain."""
        sums = np.zeros(strength.T.shape)
        for weight, player, own, total in self._parts(strength):
            each = own * _running(weight / total)
            each -= own * own * _running(weight / (total * total))
            _add(sums, player, each)
        return sums.T

    def information(self, strength: Floats) -> Floats:
        """The matrix of their information on the strengths, of shape (players,)."""
        n, seats = len(strength), np.arange(len(self.player))
        matrix = np.zeros(n * n)
        for weight, player, own, total in self._parts(strength[:, None]):
            once, twice = _running(weight / total)[0], _running(weight / (total * total))[0]
            value = own[0]
            each = -value[:, None] * value * twice[np.minimum(seats[:, None], seats)]
            each[seats, seats] += value * once
            matrix += np.bincount((player[:, None] * n + player).ravel(), each.ravel(), n * n)
        return matrix.reshape(n, n)

    def moved(self, strength: Floats, place: Floats) -> Floats:
        """The part subtracted from each player's log density at its `place`, the others at their `strength`,
        but for a constant; both have shape (players, chains)."""
        sums, there = np.zeros(strength.T.shape), np.ascontiguousarray(np.exp(place.T))
        for weight, player, own, total in self._parts(strength):
            step = np.take(there, player, axis=1)
            step -= own
            inverse, log = 1 / total, np.zeros_like(step)
            for seat in range(step.shape[1]):
                stages = min(seat + 1, step.shape[1] - 1)
                for first in range(0, stages, _FACTORS):
                    product = 1 + step[:, seat] * inverse[:, first]
                    for stage in range(first + 1, min(first + _FACTORS, stages)):
                        product *= 1 + step[:, seat] * inverse[:, stage]
                    log[:, seat] += np.log(product)
            log *= weight
            _add(sums, player, log)
        return sums.T

    def _parts(self, strength: Floats) -> Iterator[tuple[Floats, Ints, Floats, Floats]]:
        """Some rankings at a time: weight and players, of each seat e^s and the sum from it down, both of
        shape (chains, seats, rankings)."""
        up = np.ascontiguousarray(np.exp(strength.T))
        size = max(1, _AT_ONCE // (len(up) * len(self.player)))
        for at in range(0, len(self.weight), size):
            player = self.player[:, at : at + size]
            own = np.take(up, player, axis=1)
            total = own.copy()
            for seat in range(len(player) - 2, -1, -1):
                total[:, seat] += total[:, seat + 1]
            yield self.weight[at : at + size], player, own, total


def _running(each: Floats) -> Floats:
    """Sums over the stages down to each seat's, in place; the last seat has no stage of its own."""
    each[:, -1] = 0.0
    for seat in range(1, each.shape[1]):
        each[:, seat] += each[:, seat - 1]
    return each


def _add(into: Floats, player: Ints, each: Floats) -> None:
    """Add each seat's number to its player's, chain by chain."""
    chains, n = into.shape
    place = player + n * np.arange(chains)[:, None, None]
    into += np.bincount(place.ravel(), each.ravel(), chains * n).reshape(chains, n)


def ladders(rankings: GameColumns, number: Ints, digits: int) -> tuple[tuple[Ladders, ...], Ints]:
    """Return the rankings without ties of different players, each a team of its own, by their seats, and
    which games are none of these. Player i is `number[i]`. Equal ones are one, in an order that does not
    depend on the games'; weights are rounded to so many `digits`."""
    if not (np.diff(rankings.team) == 1).all():
        return (), np.arange(len(rankings))
    size, listed, left = np.diff(rankings.game), list[Ladders](), np.zeros(len(rankings), bool)
    for seats in np.unique(size).tolist():
        these = np.flatnonzero(size == seats)
        team = rankings.game[these][:, None] + np.arange(seats)
        player, rank = number[rankings.seat[rankings.team[team]]], rankings.rank[team]
        apart = (np.diff(np.sort(player, axis=1), axis=1) > 0).all(axis=1)
        strict = apart & (np.diff(rank, axis=1) > 0).all(axis=1)
        left[these[~strict]] = True
        if seats > 1 and strict.any():
            rows, same = np.unique(player[strict], axis=0, return_inverse=True)
            weight = np.bincount(same.reshape(-1), rankings.weight[these[strict]])
            listed.append(Ladders(np.ascontiguousarray(rows.T), np.round(weight, digits)))
    return tuple(listed), np.flatnonzero(left)
