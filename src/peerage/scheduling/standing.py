"""The players as scheduling sees them: their standings, and who has met whom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

PolicyName: TypeAlias = Literal["swiss", "adaptive", "random", "round-robin"]
"""How matches are paired: see `policies`."""


class Standing(NamedTuple):
    """A player as the scheduler sees it: its family and its ratings in the snapshot a round is paired by.

    `mu` is the mean of its TrueSkill skill, which games of more than two group by. `met` are the players with
    whom it has nothing left to meet on.
    """

    player: str
    family: str
    raw: float
    cost: float
    mu: float = 25.0
    met: frozenset[str] = frozenset()


def may_meet(a: Standing, b: Standing, same_family: bool) -> bool:
    """Return whether two players may: without `same_family` not those of one family, nor who have `met`."""
    return b.player not in a.met and (same_family or a.family != b.family)


class History:
    """Counts of how often each player was issued a match, and one on each topic, and how often each pair met:
    all that pairing remembers of a game.

    A fold over *issued* fixtures, also those still under way or void, so that timing cannot enter.
    """

    __slots__ = ("_met", "_on", "_played", "seats")

    def __init__(self) -> None:
        self.seats = 0
        self._met: dict[tuple[str, str], int] = {}
        self._played: dict[str, int] = {}
        self._on: dict[tuple[str, str], int] = {}

    def remember(self, contestants: Sequence[str], topic: str = "") -> None:
        """Count one issued match between these players on `topic`; `seats` counts theirs over all matches."""
        self.seats += len(contestants)
        contestants = list(dict.fromkeys(contestants))
        for at, player in enumerate(contestants):
            self._played[player] = self._played.get(player, 0) + 1
            self._on[topic, player] = self._on.get((topic, player), 0) + 1
            for other in contestants[at + 1 :]:
                pair = (player, other) if player < other else (other, player)
                self._met[pair] = self._met.get(pair, 0) + 1

    def met(self, a: str, b: str) -> int:
        """Matches issued between two players."""
        return self._met.get((a, b) if a < b else (b, a), 0)

    def played(self, player: str) -> int:
        """Matches issued to a player."""
        return self._played.get(player, 0)

    def met_on(self, topic: str, player: str) -> int:
        """Matches on a topic issued to a player."""
        return self._on.get((topic, player), 0)


class Goal(NamedTuple):
    """The question that matches are to settle. `top`: who the first `places` are. `order`: everybody's.
    `placed`: where `player` is among the others. A wrong order by less than `within` Elo does not matter.
    Pairing may go on to everybody's order, `then_order`, once that is clear or out of sight."""

    kind: Literal["top", "order", "placed"]
    places: int = 1
    player: str = ""
    within: float = 0.0
    then_order: bool = False

    def __str__(self) -> str:
        what = {"top": f"first {self.places}" if self.places > 1 else "best", "order": "order"}
        to = f" to {self.within:g}" if self.within else ""
        return f"{self.player} placed{to}" if self.kind == "placed" else f"{what[self.kind]} known{to}"


BEST = Goal("top")
BEST_FIRST = Goal("top", then_order=True)


class EndedMatch(NamedTuple):
    """A match as pairing learns of it: the contestants and their scores, none where it had no result;
    `series` is the first match of the series that it is in, 0 for none; `costs` are those of the contestants,
    None where unknown, and `spent` what the whole match cost."""

    game: str
    players: tuple[str, ...]
    scores: tuple[float, ...]
    series: int = 0
    costs: tuple[float | None, ...] = ()
    spent: float = 0.0


class Results:
    """Results of the matches that pairing knows of, pair by pair, in one game, and what they cost: a fold
    over those on record."""

    __slots__ = ("_ended", "_paid", "_rest", "_seats")

    def __init__(self) -> None:
        self._ended: dict[tuple[str, str], list[int]] = {}
        self._paid: dict[str, tuple[float, int]] = {}
        self._rest, self._seats = 0.0, 0

    def paid(self, players: Sequence[str], costs: Sequence[float | None], spent: float) -> None:
        """Take in what a match cost, `spent` with its judges; a contestant's cost is None where unknown."""
        for player, cost in zip(players, costs, strict=True):
            if cost is not None:
                before, seats = self._paid.get(player, (0.0, 0))
                self._paid[player] = before + cost, seats + 1
        self._rest += max(spent - sum(filter(None, costs)), 0.0)
        self._seats += len(players)

    def prices(self, players: Sequence[str]) -> dict[str, float]:
        """Return what a seat of each player is expected to cost, with its part of the judging, in the arena's
        unit of cost: the mean so far, of all where a player's own is unknown, and no less than a hundredth of
        that of all. Empty where nothing has cost anything."""
        rest = self._rest / max(self._seats, 1)
        means = {player: cost / seats + rest for player, (cost, seats) in self._paid.items()}
        usual = sum(means.values()) / len(means) if means else 0.0
        if not usual > 0:
            return {}
        return {player: max(means.get(player, usual), usual / 100) for player in players}

    def note(self, players: Sequence[str], scores: Sequence[float]) -> None:
        """Take in a match; without scores it had no result."""
        seats = sorted(zip(players, scores or [0.0] * len(players), strict=True))
        for (a, own), (b, other) in combinations(seats, 2):
            counts = self._ended.setdefault((a, b), [0, 0, 0, 0])
            counts[3 if not scores else 0 if own > other else 2 if own < other else 1] += 1

    def between(self, a: str, b: str) -> tuple[int, int, int, int]:
        """Of the matches of two players those that the first won, that were tied, that the second won, and
        that had no result."""
        won, tied, lost, void = self._ended.get((a, b) if a < b else (b, a), (0, 0, 0, 0))
        return (won, tied, lost, void) if a < b else (lost, tied, won, void)
