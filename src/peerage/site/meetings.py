"""Who met whom, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from peerage.ledger.store import Summary
from peerage.standings import DONE


class Record(NamedTuple):
    """Decided matches of one player, or of one player against another: in a match of many, whose score was
    better counts."""

    matches: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def rate(self) -> float | None:
        """The share of the points, a draw being half of one."""
        return (self.wins + self.draws / 2) / self.matches if self.matches else None

    def plus(self, own: float, other: float) -> Record:
        """With one more match."""
        return Record(
            self.matches + 1,
            self.wins + (own > other),
            self.draws + (own == other),
            self.losses + (own < other),
        )


NONE = Record()


def meetings(rows: Sequence[Summary]) -> dict[str, dict[str, Record]]:
    """Every player's record against every other."""
    found: dict[str, dict[str, Record]] = {}
    for row in rows:
        if row.status != DONE:
            continue
        for player, own in zip(row.players, row.scores, strict=True):
            against = found.setdefault(player, {})
            for other, score in zip(row.players, row.scores, strict=True):
                if other != player:
                    against[other] = against.get(other, NONE).plus(own, score)
    return found
