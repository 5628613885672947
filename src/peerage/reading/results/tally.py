"""Sums over finished matches that pages show, folded from the narrow table; further matches add to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec
from msgspec import Struct

from peerage.game.match import DONE
from peerage.ledger import LedgerError, Summary

RECENT = 20


class Record(Struct):
    """Decided matches of a player, or against another: in a match of many, whose score was better counts."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def matches(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float | None:
        """The share of the points, a draw being half of one."""
        return (self.wins + self.draws / 2) / self.matches if self.matches else None

    def __add__(self, more: Record) -> Record:
        return Record(self.wins + more.wins, self.draws + more.draws, self.losses + more.losses)

    def add(self, own: float, other: float) -> None:
        """Count one more match."""
        if own > other:
            self.wins += 1
        elif own == other:
            self.draws += 1
        else:
            self.losses += 1


class Field(Struct):
    """One player's decided matches of one game or topic: in a match of many, the best score wins. `cost`
    sums, in the arena's cost unit, what its own play cost in the `priced` ones: where that is known, and its
    answer was not given before."""

    record: Record = msgspec.field(default_factory=Record)
    cost: float = 0.0
    priced: int = 0

    @property
    def cost_per_match(self) -> float | None:
        return self.cost / self.priced if self.priced else None


class PlayerSums(Struct):
    """One player's matches: by opponent, game and topic; the last `RECENT`, void ones too, newest last."""

    against: dict[str, Record] = {}
    games: dict[str, Field] = {}
    topics: dict[str, Field] = {}
    recent: list[Summary] = []

    def count(self, place: int, row: Summary, *, new: bool) -> None:
        """Count a decided match, in which it sits at `place` and gave a `new` answer or one of before."""
        own, cost, best = row.scores[place], row.costs[place], float("-inf")
        for other, score in zip(row.players, row.scores, strict=True):
            if other != row.players[place]:
                self.against.setdefault(other, Record()).add(own, score)
                best = max(best, score)
        for fields, name in ((self.games, row.game), (self.topics, row.topic)):
            field = fields.setdefault(name, Field())
            field.record.add(own, best)
            if cost is not None and new:
                field.cost += cost
                field.priced += 1


class MatchSums(Struct):
    """The sums after match `number`. `players`, `topics` and `statuses` are in the order of the first match
    that has them: places that further matches never move. `statuses` and `topics` count matches, `games` does
    by status, `days` sums the cost of each day (UTC, days since 1970-01-01) by game in 1e-9 dollars. `began`
    is when the first match ended."""

    number: int = 0
    began: int = 0
    duels: int = 0
    players: dict[str, PlayerSums] = {}
    topics: dict[str, int] = {}
    statuses: dict[str, int] = {}
    games: dict[str, dict[str, int]] = {}
    days: dict[int, dict[str, int]] = {}

    @property
    def decided(self) -> int:
        return self.statuses.get(DONE, 0)

    @property
    def spent_nano(self) -> int:
        """Return what all matches cost, in 1e-9 dollars."""
        return sum([nano for games in self.days.values() for nano in games.values()])

    def after(self, rows: Iterable[Summary], given: Mapping[int, Collection[str]] = {}) -> MatchSums:
        """The sums after further matches; this one stays as it is. `given` are, by match, the players who
        gave their answer before. Raises LedgerError for a damaged row."""
        copied = msgspec.msgpack.decode(msgspec.msgpack.encode(self), type=MatchSums)
        for row in rows:
            if row.status == DONE and not len(row.players) == len(row.scores) == len(row.costs):
                raise LedgerError(
                    f"the narrow table has {len(row.players)} players and {len(row.scores)} scores for match "
                    f"{row.number}; `peerage verify` says more"
                )
            copied._count(row, given.get(row.number, ()))
        return copied

    def _count(self, row: Summary, given: Collection[str]) -> None:
        if not self.number:
            self.began = row.at_ms
        self.number += 1
        self.duels += len(row.players) == 2
        self.topics[row.topic] = self.topics.get(row.topic, 0) + 1
        self.statuses[row.status] = self.statuses.get(row.status, 0) + 1
        game = self.games.setdefault(row.game, {})
        game[row.status] = game.get(row.status, 0) + 1
        day = self.days.setdefault(row.at_ms // 86_400_000, {})
        day[row.game] = day.get(row.game, 0) + row.spent_nano
        for place, player in enumerate(row.players):
            own = self.players.get(player)
            if own is None:
                own = self.players[player] = PlayerSums()
            own.recent.append(row)
            del own.recent[:-RECENT]
            if row.status == DONE:
                own.count(place, row, new=player not in given)
