"""The finished matches that a table counts: all of a ledger, or those of one game or topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
from msgspec import Struct

from peerage.accounts import Account, count
from peerage.ledger.store import Ledger, LedgerError, Summary
from peerage.match import Totals
from peerage.ratings.history import Duels, Game, Games, duels, games, pairings
from peerage.settings import suggest
from peerage.standings import DONE, moves_elo


class Scope(Struct, frozen=True):
    """What a table is about; empty: every game, every topic.

    `weights` say how much a match of a game counts, 1 where nothing is said.
    """

    game: str = ""
    topic: str = ""
    weights: Mapping[str, float] = {}

    def holds(self, summary: Summary) -> bool:
        return self.game in ("", summary.game) and self.topic in ("", summary.topic)


class Played:
    """Finished matches of a scope, in number order.

    `games` and `topics` count the decided matches of the whole ledger. `whole` says that the scope leaves no
    match out. Raises ValueError for a game or a topic without a match, LedgerError when the ledger cannot
    be read.
    """

    def __init__(self, ledger: Ledger, scope: Scope) -> None:
        self.scope = scope
        everything = list(ledger.summaries())
        decided = [summary for summary in everything if summary.status == DONE]
        self.games = dict(sorted(Counter(summary.game for summary in decided).items()))
        self.topics = dict(sorted(Counter(summary.topic for summary in decided).items()))
        _known("game", scope.game, {summary.game for summary in everything})
        _known("topic", scope.topic, {summary.topic for summary in everything})
        for game, weight in scope.weights.items():
            _known("game", game, {summary.game for summary in everything})
            if not 0 <= weight < float("inf"):
                raise ValueError(f"the weight of {game} is {weight}: expected 0 or more")
        self.finished = [summary for summary in everything if scope.holds(summary)]
        self.decided = [summary for summary in decided if scope.holds(summary)]
        self.whole = len(self.finished) == len(everything)
        places: dict[str, int] = {}
        for summary in self.decided:
            if len(set(summary.players)) < len(summary.players) or len(summary.players) != len(
                summary.scores
            ):
                raise LedgerError(
                    f"{ledger.address}: match {summary.number} seats {', '.join(summary.players)} with "
                    f"{len(summary.scores)} scores; `peerage verify` says more"
                )
            for player in summary.players:
                places.setdefault(player, len(places))
        self.places: Mapping[str, int] = places

    @property
    def players(self) -> tuple[str, ...]:
        """Everybody with a decided match, in the order of the first one."""
        return tuple(self.places)

    @cached_property
    def duels_alone(self) -> bool:
        """Whether every decided match is between two."""
        return all(len(summary.players) == 2 for summary in self.decided)

    @cached_property
    def rated_by_elo(self) -> list[Summary]:
        """The decided matches that move Elo ratings."""
        return [summary for summary in self.decided if moves_elo(summary.game, summary.scores)]

    @cached_property
    def history(self) -> Duels:
        """Every decided match as duels: one of many as all its pairs, which together make one match for each
        player."""
        return self._duels() if self.duels_alone else self._pairs[0]

    @property
    def sources(self) -> np.ndarray | None:
        """The match that each duel of `history` is of; None where every match is one duel."""
        return None if self.duels_alone else self._pairs[1]

    @cached_property
    def _pairs(self) -> tuple[Duels, np.ndarray]:
        return pairings(self.tables)

    @cached_property
    def tables(self) -> Games:
        """Every decided match with its ranking, whatever its size."""
        return games(
            len(self.places),
            [
                Game(
                    tuple([(self.places[player],) for player in summary.players]),
                    tuple([-score for score in summary.scores]),
                    None,
                    self._weight(summary),
                )
                for summary in self.decided
            ],
        )

    def _duels(self) -> Duels:
        return duels(
            len(self.places),
            [self.places[summary.players[0]] for summary in self.decided],
            [self.places[summary.players[1]] for summary in self.decided],
            [(1.0 + (s[0] > s[1]) - (s[0] < s[1])) / 2 for s in (one.scores for one in self.decided)],
            [self._weight(summary) for summary in self.decided],
        )

    def _weight(self, summary: Summary) -> float:
        return float(self.scope.weights.get(summary.game, 1.0))


class _Light(Struct):
    """The little of a record that sums need."""

    totals: dict[str, Totals]


def sums(ledger: Ledger, finished: Sequence[Summary]) -> dict[str, Account]:
    """What everybody did and cost in some finished matches, in number order, from their records.

    Raises LedgerError when a record is missing.
    """
    accounts: dict[str, Account] = {}
    if finished:
        wanted = {summary.number: summary for summary in finished}
        read = msgspec.json.Decoder(_Light).decode
        for record in ledger.records(finished[0].number, finished[-1].number):
            summary = wanted.pop(record.number, None)
            if summary is not None:
                count(accounts, summary, read(record.body).totals)
        if wanted:
            raise LedgerError(
                f"{ledger.address} lacks the record of match {min(wanted)}; `peerage verify` says more"
            )
    return accounts


def _known(what: str, asked: str, there: Iterable[str]) -> None:
    there = sorted(there)
    if asked and asked not in there:
        known = suggest(asked, there) if there else "; nothing was played yet"
        raise ValueError(f"no match is of the {what} {asked!r}{known}")
