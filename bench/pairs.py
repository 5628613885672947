"""Bradley-Terry from results counted by pair, as papers state them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from peerage.ratings.columns.tally import PairTally
from peerage.ratings.fits.bradley_terry import BradleyTerry, fit_tally
from peerage.ratings.fits.tie_models import Ties


@dataclass(frozen=True, slots=True)
class Pair:
    """How often `a` beat `b`, `b` beat `a`, and they tied; parts of a game are allowed."""

    a: int
    b: int
    wins_a: float
    wins_b: float
    ties: float = 0.0

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise ValueError(f"player {self.a} meets itself: a pair has two different players")
        for name in ("wins_a", "wins_b", "ties"):
            count = getattr(self, name)
            if not 0 <= count < float("inf"):
                raise ValueError(f"{name} of players {self.a} and {self.b} is {count}: expected 0 or more")


def fit(pairs: Sequence[Pair], players: int, *, ties: Ties = "half") -> BradleyTerry:
    """Ratings of players 0 … `players`-1 from counted results."""
    sums: dict[tuple[int, int], np.ndarray] = {}
    for p in pairs:
        if not (0 <= p.a < players and 0 <= p.b < players):
            raise ValueError(f"a pair names players {p.a} and {p.b}: there are {players}, counted from 0")
        low, high = sorted([(p.a, p.wins_a), (p.b, p.wins_b)])
        pair = sums.setdefault((low[0], high[0]), np.zeros(3))
        pair += (low[1], high[1], p.ties)
    met = sorted([pair for pair in sums if sums[pair].any()])
    a, b = np.array(met, np.int64).reshape(-1, 2).T
    counts = np.array([sums[pair] for pair in met]).reshape(-1, 3).T
    return fit_tally(PairTally(players, a, b, counts, counts, counts), ties=ties)
