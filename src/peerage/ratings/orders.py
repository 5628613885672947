"""Elo as the field computes it, in one order and averaged over many.

Sequential Elo depends on the order of the games: on 8,931 real judgements the leader under K = 4 changes
between four models. Averaging over random orders takes that away, and the spread says how much of it there
was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from peerage.ratings import kernels
from peerage.ratings.compiled import kernel
from peerage.ratings.elo import EloSettings
from peerage.ratings.elo_error import EloError, elo_error
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats
from peerage.ratings.table import Z95, Row, rows_of

_LONG = 200_000


@dataclass(frozen=True)
class OrderedElo:
    """Elo ratings: `in_order` as the history stands, and `draws` in random orders, shape (orders, players).

    `met` and `squares` sum the weights, and their squares, of each pair's games. The rows' intervals are
    where ratings would stand, were the same games played again (`ratings.elo_error`); `spread` and
    `leaders` are about the order alone, which is a small part of that.
    """

    in_order: Floats
    draws: Floats
    games: Floats
    met: Floats
    squares: Floats
    k_factor: float

    @property
    def rating(self) -> Floats:
        """The mean over the orders; the history's own order if none was drawn."""
        return np.asarray(self.draws.mean(axis=0)) if len(self.draws) else self.in_order

    @property
    def spread(self) -> Floats:
        """Standard deviation of each rating over the orders, in points."""
        return (
            np.asarray(self.draws.std(axis=0, ddof=1))
            if len(self.draws) > 1
            else np.zeros(len(self.in_order))
        )

    @property
    def leaders(self) -> dict[int, float]:
        """In which part of the orders each player led; who never led is left out."""
        first, times = (
            np.unique(self.draws.argmax(axis=1), return_counts=True) if self.draws.size else ((), ())
        )
        return {
            int(player): float(count) / len(self.draws) for player, count in zip(first, times, strict=True)
        }

    @cached_property
    def error(self) -> EloError:
        """What is uncertain about the ratings in the history's order."""
        return self._error(self.in_order)

    @cached_property
    def averaged_error(self) -> EloError:
        """What is uncertain about the mean over the orders: what the order does to ratings, their covariance
        over the orders, is taken out."""
        found, count = self._error(self.rating), len(self.draws)
        if count < 2 or not len(self.rating):
            return found
        by_order = np.atleast_2d(np.cov(self.draws, rowvar=False)) * (1 - 1 / count)
        values, vectors = np.linalg.eigh(found.covariance - by_order)
        return replace(found, covariance=(vectors * np.maximum(values, 0)) @ vectors.T)

    def _error(self, rating: Floats) -> EloError:
        settings = EloSettings(k_factor=self.k_factor, propagation_width=None)
        return elo_error(rating, self.met, settings, squares=self.squares)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A line for each player, at its mean."""
        return _rows(self.averaged_error, self.games)

    @cached_property
    def rows_in_order(self) -> tuple[Row, ...]:
        """As `rows`, at the ratings in the history's own order."""
        return _rows(self.error, self.games)


def _rows(found: EloError, games: Floats) -> tuple[Row, ...]:
    rating, wide = found.rating, Z95 * found.error
    return rows_of(rating, rating - wide, rating + wide, found.above(), games)


def met_by_pair(history: Duels, weight: Floats) -> Floats:
    """The weights of the games of each two players, a symmetric matrix."""
    n = history.players
    counts = np.bincount(history.first * n + history.second, weight, n * n).reshape(n, n)
    return np.asarray(counts + counts.T, np.float64)


def elo(
    history: Duels, *, k_factor: float = 16.0, initial: float = 1500.0, orders: int = 100, seed: int = 0
) -> OrderedElo:
    """Elo in the history's order and in `orders` seeded random ones; a result's weight scales its K."""
    if not 0 < k_factor < float("inf"):
        raise ValueError(f"k_factor is {k_factor}: expected a number above 0")
    if orders < 0:
        raise ValueError(f"orders is {orders}: expected 0 or more")
    long = len(history) * (orders + 1) >= _LONG
    play, play_in = kernel(kernels.elo_pass, long=long), kernel(kernels.elo_pass_in, long=long)
    columns = (history.first, history.second, history.score, history.weight)
    rng = np.random.default_rng(seed)
    in_order = np.full(history.players, float(initial))
    play(in_order, *columns, k_factor)
    draws = np.full((orders, history.players), float(initial))
    for draw in draws:
        play_in(rng.permutation(len(history)), draw, *columns, k_factor)
    met = np.bincount(history.first, minlength=history.players) + np.bincount(
        history.second, minlength=history.players
    )
    pairs = met_by_pair(history, history.weight), met_by_pair(history, history.weight**2)
    return OrderedElo(in_order, draws, met.astype(np.float64), *pairs, k_factor)
