"""Ratings through time: every player's strength as a path, smoothed over the whole history at once.

Sequential Elo knows only the past; here a later result also corrects what was thought of an earlier moment,
as in TrueSkill Through Time (Dangauthier, Herbrich, Minka, Graepel, NIPS 2007). The model is Bradley-Terry
with a Wiener process for each player, fitted by Newton's method over whole paths: Whole-History Rating
(Coulom, Computers and Games 2008). A tie is half a win each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings import through_time_kernels
from peerage.ratings.compiled import kernel
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.table import POINTS, Z95

_LONG = 20_000
_BLOCKS = 400


@dataclass(frozen=True)
class Paths:
    """Strengths at the moments at which players met: element m is `player[m]` at `time[m]`, sorted by both.

    `rating` has 400 points a decade around 1500, `error` is its standard error given the opponents' ratings
    (as in the paper). `settled` is False if the sweeps ran out before the ratings stood still.
    """

    player: Ints
    time: Floats
    rating: Floats
    error: Floats
    settled: bool

    def of(self, player: int) -> tuple[Floats, Floats, Floats, Floats]:
        """One player's path: times, ratings, and the 95% bounds."""
        mine = self.player == player
        rating, wide = self.rating[mine], Z95 * self.error[mine]
        return self.time[mine], rating, rating - wide, rating + wide


def fit(
    history: Duels, time: ArrayLike, *, drift: float = 20.0, spread: float = 350.0, sweeps: int = 1000
) -> Paths:
    """Paths from a history and the time of each row, in any unit and order.

    `drift`: the standard deviation, in rating points, by which a strength moves in one unit of time.
    `spread`: that of a newcomer around 1500. Rows of equal time are of one moment.
    """
    at = np.asarray(time, np.float64)
    if len(at) != len(history) or not np.isfinite(at).all():
        raise ValueError(f"expected {len(history)} finite times, one a row")
    if not (drift > 0 and spread > 0):
        raise ValueError(f"drift is {drift} and spread {spread}: expected numbers above 0")
    times, moment = np.unique(at, return_inverse=True)
    count = max(len(times), 1)
    keys, index = np.unique(
        np.concatenate([history.first * count + moment, history.second * count + moment]), return_inverse=True
    )
    nodes = len(keys)
    player, when = keys // count, times[keys % count] if nodes else np.empty(0)
    rows = len(history)
    own = index
    other = np.concatenate([index[rows:], index[:rows]])
    score = np.concatenate([history.score, 1 - history.score])
    weight = np.concatenate([history.weight, history.weight])
    order = np.argsort(own, kind="stable")
    same = np.diff(player, prepend=-1) == 0
    link = np.zeros(nodes)
    link[same] = 1 / ((drift / POINTS) ** 2 * np.diff(when, prepend=0.0)[same])
    step = kernel(through_time_kernels.sweep, long=rows >= _LONG)
    strength, variance = np.zeros(nodes), np.zeros(nodes)
    settled = nodes == 0
    columns = (
        np.append(np.flatnonzero(~same), nodes).astype(np.int64),
        link,
        np.searchsorted(own[order], np.arange(nodes + 1)).astype(np.int64),
        other[order].astype(np.int64),
        score[order],
        weight[order],
        1 / (spread / POINTS) ** 2,
    )
    common = _Common(link, keys % count, columns[-1])
    for _ in range(sweeps if nodes else 0):
        if max(step(strength, variance, *columns), common.step(strength)) < 1e-7:
            settled = True
            break
    return Paths(player, when, 1500 + strength * POINTS, np.sqrt(variance) * POINTS, settled)


class _Common:
    """Moves everybody up or down together, from one stretch of moments to the next.

    No result says anything about that: it is held by the drifts alone, and player by player it would settle
    only after thousands of sweeps. `link` is the precision between a node and the one before it (0 at a
    player's first), `moment` each node's place in time, `prior` the precision of a first node.
    """

    def __init__(self, link: Floats, moment: Ints, prior: float) -> None:
        first = link == 0
        self._own = np.where(first, prior, link)
        self._before = np.where(first, 0.0, link)
        places = np.unique(moment)
        blocks = min(len(places), _BLOCKS)
        self._block = (np.searchsorted(places, moment) * blocks // max(len(places), 1)).astype(np.int64)
        before = np.roll(self._block, 1)
        matrix = np.zeros((blocks, blocks))
        np.add.at(matrix, (self._block, self._block), self._own)
        np.add.at(matrix, (before, before), self._before)
        np.add.at(matrix, (self._block, before), -self._before)
        np.add.at(matrix, (before, self._block), -self._before)
        self._inverse = np.linalg.inv(matrix)

    def step(self, strength: Floats) -> float:
        """Take the best such step, in place; returns the largest change."""
        pull = self._before * np.roll(strength, 1) - self._own * strength
        slope = np.bincount(self._block, pull, len(self._inverse))
        back = self._before * (strength - np.roll(strength, 1))
        slope += np.bincount(np.roll(self._block, 1), back, len(self._inverse))
        change = self._inverse @ slope
        strength += change[self._block]
        return float(np.abs(change).max())
