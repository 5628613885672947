"""Elo as the field computes it, in one order and averaged over many.

Sequential Elo depends on the order of the games: on 8,931 real judgements the leader under K = 4 changes
between four models. Averaging over random orders takes that away, and the spread says how much of it there
was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from peerage.ratings import kernels
from peerage.ratings.compiled import kernel
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats
from peerage.ratings.table import Row, ranks

_LONG = 200_000


@dataclass(frozen=True)
class OrderedElo:
    """Elo ratings: `in_order` as the history stands, and `draws` in random orders, shape (orders, players).

    `lower` and `upper` hold 95% of the orders. They are about order alone: with few games the ratings are
    far less certain than they say, and Bradley-Terry intervals tell by how much.
    """

    in_order: Floats
    draws: Floats
    games: Floats

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
    def rows(self) -> tuple[Row, ...]:
        """A line for each player, at its mean; the rank range holds its ranks in 95% of the orders."""
        return self._rows(self.rating)

    @cached_property
    def rows_in_order(self) -> tuple[Row, ...]:
        """As `rows`, at the ratings in the history's own order."""
        return self._rows(self.in_order)

    def _rows(self, rating: Floats) -> tuple[Row, ...]:
        drawn = self.draws if len(self.draws) else rating[None, :]
        lower, upper = np.percentile(drawn, [2.5, 97.5], axis=0)
        placed = np.array([ranks(draw) for draw in drawn]).reshape(len(drawn), -1)
        best, worst = np.percentile(placed, [2.5, 97.5], axis=0, method="nearest")
        return tuple(
            Row(
                i,
                float(value),
                min(float(lower[i]), float(value)),
                max(float(upper[i]), float(value)),
                rank,
                (min(int(best[i]), rank), max(int(worst[i]), rank)),
                float(self.games[i]),
            )
            for i, (value, rank) in enumerate(zip(rating, ranks(rating), strict=True))
        )


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
    return OrderedElo(in_order, draws, met.astype(np.float64))
