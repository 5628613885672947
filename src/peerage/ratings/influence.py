"""How little a Bradley-Terry table hangs on: the fewest results without which another is first.

    >>> from peerage.ratings.history import duels
    >>> found = fewest_to_flip(duels(2, [0] * 5, [1] * 5, [1, 1, 1, 0, 0]))
    >>> found.leader, found.rival, len(found.rows)
    (0, 1, 2)

What leaving out a result does to the gap between two players is, to first order, its pull on that gap: its
residual times its leverage (Pregibon 1981). The results that hold the gap up most are left out together, the
table is fitted again, and their number is narrowed down until one fewer no longer does it: the approximate
maximum influence perturbation of Broderick, Giordano and Meager (2020), which for leaderboards of language
models Huang, Shen, Wei and Broderick (2025) found to be a handful of votes. What is returned does flip the
table; a smaller set may exist, as results that matter together are not searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from peerage.ratings.bradley_terry import PRIOR_GAMES, Solution, solve
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.table import POINTS
from peerage.ratings.tally import from_cells

_RIVALS = 5
"""The players next to the first that are tried as another first."""
_ALL, _PAIRS = 20, 2
"""Where there are no more pieces than that, all choices of one and of two are tried."""


class Flip(NamedTuple):
    """Without the results at `rows` of a history, or without those that hang on these of its pieces, `rival`
    is ahead of `leader`, players by number."""

    leader: int
    rival: int
    rows: Ints


class _Counted:
    """A history counted by players and outcome, so that leaving out results costs as much as there are of
    them."""

    def __init__(self, history: Duels) -> None:
        self.history = history
        outcome = np.rint(2 * history.score).astype(np.int64)
        self._cell = (history.first * history.players + history.second) * 3 + outcome
        self._weight, self._count = self._sums(slice(None))
        self.whole = self.without(np.zeros(0, np.int64))

    def without(self, rows: Ints) -> Solution | None:
        """The ratings without the results at `rows`; None where the rest does not compare everybody."""
        weight, count = self._sums(rows)
        left = self._count - count
        rest = np.where(left > 0, np.maximum(self._weight - weight, 0.0), 0.0)
        counted = from_cells(self.history.players, rest, rest, left)
        return _compared(solve(counted, "half", PRIOR_GAMES))

    def _sums(self, rows: Ints | slice) -> tuple[Floats, Floats]:
        cell, size = self._cell[rows], 3 * self.history.players**2
        weight, count = np.bincount(cell, self.history.weight[rows], size), np.bincount(cell, minlength=size)
        return weight.astype(np.float64), count.astype(np.float64)


def fewest_to_flip(history: Duels, pieces: Sequence[Ints] = ()) -> Flip | None:
    """The fewest results found without which another is first; empty rows where two are first together. None
    where the results do not compare everybody, or no choice of them makes another first.

    With `pieces`, columns of numbers that say on what each result hangs (its judge; the two scores that it is
    the order of), whole pieces are left out, each with all the results that hang on it. Of 20 pieces or fewer
    one or two that suffice are found for certain.
    """
    counted = _Counted(history)
    size = max([int(column.max(initial=-1)) + 1 for column in pieces], default=len(history))

    def hanging(chosen: Ints) -> Ints:
        gone = np.zeros(size, np.bool_)
        gone[chosen] = True
        return np.flatnonzero(np.logical_or.reduce([gone[column] for column in pieces]))

    solved = counted.whole
    if solved is None or history.players < 2:
        return None
    order = np.argsort(-solved.strength, kind="stable")
    leader, rivals = int(order[0]), order[1 : 1 + _RIVALS].tolist()
    best: Flip | None = None
    for rival in rivals:
        gap = float(solved.strength[leader] - solved.strength[rival])
        if gap < 1e-9:
            return Flip(leader, rival, np.zeros(0, np.int64))
        pull = _pull(solved, history, leader, rival)
        if pieces:
            pull = np.sum([np.bincount(column, pull, size) for column in pieces], axis=0)
        ranked = np.argsort(-pull, kind="stable")
        ranked = ranked[pull[ranked] > 0]
        short = int(np.searchsorted(np.cumsum(pull[ranked]), gap)) + 1
        most = len(ranked) if best is None else min(len(ranked), len(best.rows) - 1)
        rest = partial(_rest, counted, ranked, hanging if pieces else None)
        enough = _enough(rest, leader, rival, min(short, most), most)
        if enough:
            best = Flip(leader, rival, np.sort(ranked[:enough]))
    known = _PAIRS + 1 if best is None else len(best.rows)
    for count in range(1, min(known, _PAIRS + 1) if pieces and size <= _ALL else 0):
        for chosen in combinations(range(size), count):
            left = counted.without(hanging(np.array(chosen)))
            if left is not None and int(np.argmax(left.strength)) != leader:
                return Flip(leader, int(np.argmax(left.strength)), np.array(chosen))
    return best


def ratings_without(history: Duels, groups: Ints, count: int) -> tuple[Floats | None, list[Floats | None]]:
    """Everybody's rating, with mean 1500, by all results, and without those of each of `count` groups
    (`groups` numbers each result's); None where the results left do not compare everybody."""
    counted = _Counted(history)
    rows = np.argsort(groups, kind="stable")
    bounds = np.searchsorted(groups[rows], np.arange(count + 1))
    spans = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    rests = [None if counted.whole is None else counted.without(rows[start:stop]) for start, stop in spans]
    return _rating(counted.whole), [_rating(rest) for rest in rests]


def _rating(solved: Solution | None) -> Floats | None:
    return None if solved is None else 1500 + (solved.strength - solved.strength.mean()) * POINTS


def _compared(solved: Solution) -> Solution | None:
    return solved if len(solved.components) == 1 else None


def _pull(solved: Solution, history: Duels, leader: int, rival: int) -> Floats:
    """By how much the gap between two players shrinks without each result, to first order."""
    a, b = history.first, history.second
    chance = 1 / (1 + np.exp(solved.strength[b] - solved.strength[a]))
    across = solved.inverse[leader] - solved.inverse[rival]
    variance = np.diag(solved.inverse)
    leverage = history.weight * chance * (1 - chance) * (variance[a] + variance[b] - 2 * solved.inverse[a, b])
    held = history.weight * (history.score - chance) * (across[a] - across[b])
    return np.asarray(held / np.maximum(1 - leverage, 0.05))


def _rest(
    counted: _Counted, ranked: Ints, hanging: Callable[[Ints], Ints] | None, count: int
) -> Solution | None:
    """The ratings without the first so many of the `ranked`."""
    chosen = ranked[:count]
    return counted.without(hanging(chosen) if hanging else chosen)


def _enough(rest: Callable[[int], Solution | None], leader: int, rival: int, start: int, most: int) -> int:
    """The fewest left out, as `rest` ranks them, without which the rival is ahead; 0 if more than `most` are
    needed."""

    def flips(count: int) -> bool:
        solved = rest(count)
        return solved is not None and bool(solved.strength[rival] > solved.strength[leader])

    low, high, step = 0, max(start, 1), 1
    while high <= most and not flips(high):
        low, high, step = high, high + step, 2 * step
    if high > most:
        high = most
        if low >= most or not flips(most):
            return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if flips(middle) else (middle, high)
    return high
