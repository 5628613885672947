"""The finished matches that a table counts: all of a ledger, or those of one game or topic."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cache, cached_property, partial
from itertools import islice
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct

from peerage.accounts import Account, count, totals_of
from peerage.judging.votes import Votes
from peerage.ledger.series import SERIES, InSeries, in_series
from peerage.ledger.store import Ledger, LedgerError, Summary
from peerage.ledger.votes import Votes as PeoplesVotes
from peerage.ratings.history import Duels, Game, Games, duels, games, pairings
from peerage.ratings.kernels import Ints
from peerage.ratings.overall import GameHistory
from peerage.settings import suggest
from peerage.standings import DONE, moves_elo, unrated
from peerage.tables.challenges import amended, match_points, withdrawn
from peerage.tables.in_series import Hanging, hanging
from peerage.tables.people_votes import Annotated, annotated, said
from peerage.tables.votes import flips, votes


class ScopeError(ValueError):
    """A table was asked for that there cannot be; the message says why and what there is."""


class Scope(Struct, frozen=True):
    """What a table is about; empty: every game, every topic, players on any side.

    `weights` say how much a match of a game counts, and `games` how much a whole game does on the track
    `overall`, 1 where nothing is said. `source` says whose results
    count: those `played` here, the `outside` ones that were imported, or `all`.
    """

    game: str = ""
    topic: str = ""
    weights: Mapping[str, float] = {}
    source: Literal["played", "outside", "all"] = "played"
    side: str = ""
    games: Mapping[str, float] = {}

    def holds(self, summary: Summary) -> bool:
        return self.game in ("", summary.game) and self.topic in ("", summary.topic)


EVERYTHING = Scope()
Field: TypeAlias = Literal["game", "topic", ""]
"""What matches are told apart by; empty: nothing."""
TIED = "a tie"
"""The status of a tied match where ties do not count."""


class Played:
    """Finished matches of a scope, in order.

    `finished` are all of them, `decided` those with a result; `players` maps everybody with a decided match
    to a number, in the order of the first one. `games` and `topics` count the decided matches of the whole
    ledger, and `whole` says that the scope leaves no match out. Raises ScopeError for a game or topic without
    a match, LedgerError when the ledger cannot be read.
    """

    def __init__(self, ledger: Ledger, scope: Scope, people: PeoplesVotes | None = None) -> None:
        """`people` are the votes of people on the ledger, which the track `anchored` reads."""
        self.scope = scope
        self._people = people
        self.finished: list[Summary] = []
        self.decided: list[Summary] = []
        self.players: dict[str, int] = {}
        self.whole = not withdrawn(ledger)  # the sums of an arena still hold what was withdrawn since
        self._silenced: Set[str] = frozenset()
        self._sizes: set[int] = set()
        self._places: dict[int, int] = {}
        kinds: dict[tuple[str, str, str], int] = {}
        everything = scope.game == scope.topic == ""
        self._ledger = ledger
        self._points = cache(partial(match_points, ledger))
        newest, last = ledger.heads()[1], 0
        for last, summary in enumerate(amended(ledger), 1):
            self._places[summary.number] = last
            kind = summary.game, summary.topic, summary.status
            kinds[kind] = kinds.get(kind, 0) + 1
            if not everything and not scope.holds(summary):
                self.whole = False
                continue
            self.finished.append(summary)
            if summary.status != DONE or not (summary.players or summary.scores):
                continue  # nobody plays where recorded answers are judged
            players, seated = summary.players, len(summary.scores)
            if len({*players}) < 2 or len(players) != seated:
                raise LedgerError(
                    f"{ledger.address}: match {summary.number} is between {', '.join(players) or 'nobody'} "
                    f"and has {seated} scores; `peerage verify` says more"
                )
            self.decided.append(summary)
            self._sizes.add(seated)
            for player in players:
                if player not in self.players:
                    self.players[player] = len(self.players)
        if last < newest:
            raise LedgerError(
                f"{ledger.address} lacks rows of its narrow table from match {last + 1} on; "
                "`peerage replay --repair` writes it again"
            )
        self.games, self.topics = _counts(kinds, 0), _counts(kinds, 1)
        for what, asked, place in (("game", scope.game, 0), ("topic", scope.topic, 1)):
            known(what, asked, {kind[place] for kind in kinds})
        for game, weight in scope.weights.items():
            known("game", game, {kind[0] for kind in kinds})
            if not 0 < weight < float("inf"):
                raise ScopeError(f"the weight of {game} is {weight}: expected a number above 0")

    def place(self, number: int) -> int:
        """How many matches of the arena were finished up to match `number`."""
        return self._places[number]

    def until(self, number: int) -> Played:
        """The same after `number` matches of the arena; what was computed for all of them is cut."""
        _ = self._series  # read once for all moments
        found = copy(self)
        for name in ("history", "tables", "hanging", "flips", "_pairs"):
            found.__dict__.pop(name, None)
        found.finished = self._until(self.finished, number)
        found.decided = self._until(self.decided, number)
        found._sizes = {len(one.scores) for one in found.decided}
        there = {player for one in found.decided for player in one.players}
        found.players = dict(islice(self.players.items(), len(there)))  # numbered as they come
        if not self._sizes - {2}:
            whole, size = self.history, len(found.decided)
            columns = (whole.first, whole.second, whole.score, whole.weight)
            found.__dict__["history"] = duels(len(there), *[column[:size] for column in columns])
        return found

    def weighed(self, games: Mapping[str, float]) -> Played:
        """The same, where whole games count so much on the track `overall`."""
        found = copy(self)
        found.scope = msgspec.structs.replace(self.scope, games=games)
        return found

    def instead(self, again: Mapping[int, Summary], silenced: Set[str]) -> Played:
        """The same with the matches `again`, by number, in place of those on record, and without the votes
        of the judges `silenced`."""
        found = copy(self)
        for name in ("history", "tables", "hanging", "flips", "_pairs"):
            found.__dict__.pop(name, None)
        found.finished = [again.get(one.number, one) for one in self.finished]
        found.decided = [one for one in found.finished if one.status == DONE and (one.players or one.scores)]
        found._sizes = {len(one.scores) for one in found.decided}
        there = dict.fromkeys([player for one in found.decided for player in one.players])
        found.players = {player: place for place, player in enumerate(there)}
        found.whole = False
        found._silenced = silenced
        return found

    def without_ties(self) -> Played:
        """The same without matches that all their players tied. Raises ScopeError where there are none."""
        tied = [one for one in self.decided if len({*one.scores}) == 1]
        if not tied:
            raise ScopeError("no match on record is tied: there is nothing to leave out")
        again = {one.number: msgspec.structs.replace(one, status=TIED, scores=()) for one in tied}
        return self.instead(again, self._silenced)

    @property
    def sources(self) -> Ints | None:
        """The match that each duel of `history` is of; None where every match is one duel."""
        return self._pairs[1] if self._sizes - {2} else None

    @cached_property
    def _series(self) -> dict[int, InSeries]:
        return {one.number: one for one in in_series(self._ledger)}

    def cluster(self, number: int) -> int:
        """The first match of the series that a match is in; the match itself where it is in none."""
        found = self._series.get(number)
        return found.series if found else number

    @cached_property
    def hanging(self) -> Hanging | None:
        """What of `history` hangs together in series; None in an arena without."""
        if not self._series:
            return None
        shared = self._ledger.meta()[SERIES] == "tasks"
        return hanging(self.history, self.sources, self.decided, self._series, shared)

    @cached_property
    def history(self) -> Duels:
        """Every decided match as duels: one of many as all its pairs, which together make one match for each
        player."""
        return self._pairs[0]

    @cached_property
    def tables(self) -> Games:
        """Every decided match with its ranking, whatever its size."""
        return self._ranked(self.decided, self.scope.weights)

    def _ranked(self, matches: Sequence[Summary], weights: Mapping[str, float]) -> Games:
        return games(
            len(self.players),
            [
                Game(
                    tuple([(self.players[player],) for player in summary.players]),
                    tuple([-score for score in summary.scores]),
                    None,
                    weights.get(summary.game, 1.0),
                )
                for summary in matches
            ],
        )

    def apart(self, by: Field = "game") -> Iterator[tuple[str, list[Summary], Duels, Ints]]:
        """The decided matches of each game or topic, in order of names, or all under an empty name, and
        these as duels, which number the same players as `history`, with the place of each one's match."""
        found: dict[str, list[Summary]] = {}
        for one in self.decided:
            found.setdefault(getattr(one, by) if by else "", []).append(one)
        for name in sorted(found):
            yield name, found[name], *self._duels(found[name], {})

    def histories(self, by: Field = "game") -> dict[str, GameHistory]:
        """The duels of `apart`, by name. The matches of one series hang together like the duels of one
        match."""
        found = {}
        for name, matches, history, sources in self.apart(by):
            labels = np.array([self.cluster(one.number) for one in matches], np.int64)[sources]
            alone = len(np.unique(labels)) == len(labels)
            found[name] = GameHistory(history, None if alone else labels)
        return found

    def points(self) -> list[tuple[Summary, tuple[float, ...]]]:
        """The decided matches, each with its points in seat order; scores where a game has no points."""
        known = self._points()
        return [(one, known.get(one.number, one.scores)) for one in self.decided]

    def votes(self) -> Votes:
        """The votes of judges on the decided matches."""
        return votes(self._ledger, self.decided, self.scope.weights, self._silenced)

    @cached_property
    def flips(self) -> tuple[int, int]:
        """As `votes.flips` of the decided matches, read once for all their tables."""
        return flips(self._ledger, self.decided)

    def annotated(self) -> tuple[Votes, Annotated, int]:
        """The votes of judges, the duels that they are on with what people said of them, and how many of
        people's votes that is."""
        cast = self.votes()
        verdicts = said(self._ledger, self._people.votes()) if self._people is not None else []
        there = set(cast.matches.tolist())
        counted = [one for one in verdicts if one.match in there and one.take == 1]
        return cast, annotated(cast, counted), len(counted)

    def _until(self, matches: list[Summary], number: int) -> list[Summary]:
        return matches[: bisect_right(matches, number, key=lambda one: self._places[one.number])]

    @cached_property
    def _pairs(self) -> tuple[Duels, Ints]:
        if self._sizes - {2}:
            return pairings(self.tables)
        return self._duels(self.decided, self.scope.weights)

    def _duels(self, matches: Sequence[Summary], weights: Mapping[str, float]) -> tuple[Duels, Ints]:
        """As `pairings`, of these matches."""
        if any(len(one.scores) != 2 for one in matches):
            return pairings(self._ranked(matches, weights))
        seats = [self.players[player] for one in matches for player in one.players]
        first, second = np.array(seats, np.int64).reshape(-1, 2).T
        score = [one.scores[0] - one.scores[1] for one in matches]
        weight = [weights.get(one.game, 1.0) for one in matches] if weights else None
        made = duels(len(self.players), first, second, (np.sign(score) + 1) / 2, weight)
        return made, np.arange(len(matches), dtype=np.int64)

    @cached_property
    def unrated(self) -> frozenset[str]:
        """The games that move no Elo ratings, by the ledger."""
        return unrated(self._ledger.meta())

    def rated_by_elo(self, *, priced: bool) -> list[Summary]:
        """The decided matches that move Elo ratings; `priced` only those that the cost track counts."""
        moving = {game for game in self.games if moves_elo(game, (1.0, 0.0), self.unrated)}
        return [
            one
            for one in self.decided
            if one.game in moving and len(one.players) == 2 and not (priced and None in one.costs)
        ]


def _counts(kinds: Mapping[tuple[str, str, str], int], place: int) -> dict[str, int]:
    """Decided matches by game (`place` 0) or topic (1)."""
    counts: Counter[str] = Counter()
    for kind, matches in kinds.items():
        if kind[2] == DONE:
            counts[kind[place]] += matches
    return dict(sorted(counts.items()))


def sums(ledger: Ledger, finished: Sequence[Summary], *, seated: bool = False) -> dict[str, Account]:
    """What everybody did and cost in some finished matches, in order, from their records; `seated`: those
    alone whom a match's row names.

    Raises LedgerError when a record is missing.
    """
    accounts: dict[str, Account] = {}
    if finished:
        wanted = {summary.number: summary for summary in finished}
        first, last = (ledger.place(finished[at].number) for at in (0, -1))
        for record in ledger.records(first, last):
            summary = wanted.pop(record.number, None)
            if summary is not None:
                totals = totals_of(record)
                if seated:
                    totals = {name: total for name, total in totals.items() if name in summary.players}
                count(accounts, summary, totals)
        if wanted:
            raise LedgerError(
                f"{ledger.address} lacks the record of match {min(wanted)}; `peerage verify` says more"
            )
    return accounts


def known(what: str, asked: str, there: Iterable[str]) -> None:
    """Refuse what was asked for where it is not there. Raises ScopeError."""
    there = sorted(there)
    if asked and asked not in there:
        close = suggest(asked, there) if there else "; nothing was played yet"
        raise ScopeError(f"no match is of the {what} {asked!r}{close}")
