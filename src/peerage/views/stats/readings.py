"""One history read in more than one way: who stands where under each reading that a game's rules allow.

A game states the readings of a match as `Outcome.detail["readings"]`: reading → label → score. Matches that
count under the arena's own rules and those that its rules void (but not another's) are in the same list, so
the tables are comparable.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from peerage.ratings.sequential.elo import DuelResult, EloSettings, fold, start
from peerage.ratings.table import ranks


class ReadingStats(Struct, frozen=True):
    """One player under one reading: decided matches, and sequential raw Elo by the arena's constants.

    `rank` is 1 for the best, shared by equal ratings.
    """

    reading: str
    rank: int
    player: str
    matches: int
    wins: int
    draws: int
    losses: int
    rating: float


class Readings:
    """Collects the readings of matches of two, in their order."""

    def __init__(self) -> None:
        self._results: dict[str, list[DuelResult]] = {}
        self._players: dict[str, int] = {}

    def count(self, first: str, second: str, scores: Mapping[str, float]) -> None:
        """Count one match; `scores` are those of its `first` player, by reading."""
        a, b = (self._players.setdefault(player, len(self._players)) for player in (first, second))
        for reading, score in scores.items():
            self._results.setdefault(reading, []).append(DuelResult(a, b, score, None, None))

    def rows(self, elo: EloSettings) -> tuple[ReadingStats, ...]:
        """A table for each reading, best first; equals by name."""
        return tuple([row for reading in self._results for row in self._table(reading, elo)])

    def _table(self, reading: str, elo: EloSettings) -> list[ReadingStats]:
        results, size = self._results[reading], len(self._players)
        state = fold(size, results, elo, start(size, elo))
        tally = [[0, 0, 0] for _ in range(size)]
        for result in results:
            for player, score in ((result.a, result.score), (result.b, 1 - result.score)):
                tally[player][0 if score > 0.5 else 1 if score == 0.5 else 2] += 1
        order = sorted(self._players, key=lambda name: (-state.raw[self._players[name]], name))
        rows: list[ReadingStats] = []
        rank = ranks(np.array(state.raw))
        for name in order:
            at = self._players[name]
            wins, draws, losses = tally[at]
            rows.append(
                ReadingStats(
                    reading=reading,
                    rank=rank[at],
                    player=name,
                    matches=wins + draws + losses,
                    wins=wins,
                    draws=draws,
                    losses=losses,
                    rating=state.raw[at],
                )
            )
        return rows
