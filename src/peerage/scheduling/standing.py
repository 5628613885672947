"""What scheduling knows of the players: where each stands, and who has met whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Standing(NamedTuple):
    """A player as the scheduler sees it: its kin and its ratings in the snapshot a round is paired by.

    `mu` is the mean of its TrueSkill skill, which games of more than two group by; `slots` are the seats that
    it may hold in one match.
    """

    player: str
    family: str
    raw: float
    cost: float
    mu: float = 25.0
    slots: int = 1


class History:
    """How often each player was issued a match, and each pair met: all that pairing remembers of a game.

    A fold over *issued* fixtures, also those still under way or void, so that timing cannot enter.
    """

    __slots__ = ("_met", "_played", "seats")

    def __init__(self) -> None:
        self.seats = 0
        self._met: dict[tuple[str, str], int] = {}
        self._played: dict[str, int] = {}

    def remember(self, contestants: Sequence[str]) -> None:
        """Count one issued match between these players; `seats` counts theirs over all matches."""
        self.seats += len(contestants)
        contestants = list(dict.fromkeys(contestants))
        for at, player in enumerate(contestants):
            self._played[player] = self._played.get(player, 0) + 1
            for other in contestants[at + 1 :]:
                pair = (player, other) if player < other else (other, player)
                self._met[pair] = self._met.get(pair, 0) + 1

    def met(self, a: str, b: str) -> int:
        """Matches issued between two players."""
        return self._met.get((a, b) if a < b else (b, a), 0)

    def played(self, player: str) -> int:
        """Matches issued to a player."""
        return self._played.get(player, 0)
