"""The finished matches that a table counts: all of a ledger, or those of one game or topic."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cache, cached_property, partial
from itertools import compress, islice
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from peerage.game.match import DONE
from peerage.judging.marks.marks import Votes
from peerage.judging.measures.known import KnownVotes
from peerage.ledger import Columns, Ledger, LedgerError, Summary
from peerage.ledger.check.audit import totals_of
from peerage.ledger.topics.series import clusters_of
from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.claims.proven import Claims
from peerage.ratings.columns.history import Duels, Game, GameColumns, duels, games, pairings
from peerage.ratings.overall import Shares, shares_of
from peerage.ratings.strength.evidence import Evidence
from peerage.ratings.strength.pooling import pooled
from peerage.ratings.strength.posterior import Strengths
from peerage.reading.results.evidence import SEED, MatchEvidence, evidence_of
from peerage.reading.rows import records_of
from peerage.reading.scope import Scope, ScopeError
from peerage.reading.verdicts.credits import Credits, about_tasks, credits_of, known_of
from peerage.reading.verdicts.votes import LOOKED_AT, flips, votes
from peerage.reading.verdicts.withdrawn import amended, amended_columns, match_points, withdrawn
from peerage.settings import suggest
from peerage.standings.accounts import Account, count
from peerage.standings.fold import moves_elo, unrated
from peerage.standings.looks import looks
from peerage.values import grouped

Field: TypeAlias = Literal["game", "topic", ""]
"""The field that groups matches; empty: none."""


class PlayedMatches(MatchEvidence):
    """Finished matches of a scope, in order.

    `finished` are all of them, `decided` those with a result; `players` maps everybody with a decided match
    to a number, in the order of the first one. `games` and `topics` count the decided matches of the whole
    ledger, and `whole` says that the scope leaves no match out. Raises ScopeError for a game or topic without
    a match, LedgerError when the ledger cannot be read.
    """

    def __init__(self, ledger: Ledger, scope: Scope) -> None:
        self.scope = scope
        self.players: dict[str, int] = {}
        self.whole = not withdrawn(ledger)  # the sums of an arena still hold what was withdrawn since
        self._silenced: Set[str] = frozenset()
        self.ledger = ledger
        self._points = cache(partial(match_points, ledger))
        newest = ledger.heads()[1]
        columns = amended_columns(ledger)
        self._columns: Columns | None = columns
        self._numbers = columns.number
        within = np.array([scope.holds(*kind[:2]) for kind in columns.kinds], bool)
        self.whole &= bool(within.all())
        self._within = within[columns.kind]
        done = np.array([kind[2] == DONE for kind in columns.kinds], bool)[columns.kind]
        seats = np.array([len(players) for players in columns.tables], np.int64)[columns.table]
        apart = np.array([len({*players}) for players in columns.tables], np.int64)[columns.table]
        seated = np.array([len(scores) for scores in columns.results], np.int64)[columns.result]
        # Nobody plays where recorded answers are judged.
        self._decided = self._within & done & ((seats > 0) | (seated > 0))
        wrong = self._decided & ((apart < 2) | (seats != seated))
        if wrong.any():
            at = int(wrong.argmax())
            raise LedgerError(
                f"{ledger.address}: match {columns.number[at]} is between "
                f"{', '.join(columns.tables[columns.table[at]]) or 'nobody'} and has {seated[at]} scores; "
                "`peerage verify` says more"
            )
        if len(columns.number) < newest:
            raise LedgerError(
                f"{ledger.address} lacks rows of its narrow table from match {len(columns.number) + 1} on; "
                "`peerage replay --repair` writes it again"
            )
        self._sizes = {*np.unique(seated[self._decided]).tolist()}
        there, first = np.unique(columns.table[self._decided], return_index=True)
        for table in there[np.argsort(first)].tolist():
            for player in columns.tables[table]:
                self.players.setdefault(player, len(self.players))
        matches = np.bincount(columns.kind, minlength=len(columns.kinds)).tolist()
        kinds = dict(zip(columns.kinds, matches, strict=True))
        self.games, self.topics = _counts(kinds, 0), _counts(kinds, 1)
        for what, asked, place in (("game", scope.game, 0), ("topic", scope.topic, 1)):
            known(what, asked, {kind[place] for kind in kinds})
        for game, weight in scope.weights.items():
            known("game", game, {kind[0] for kind in kinds})
            if not 0 < weight < float("inf"):
                raise ScopeError(f"the weight of {game} is {weight}: expected a number above 0")

    @cached_property
    def finished(self) -> list[Summary]:
        return [*compress(islice(amended(self.ledger), len(self._numbers)), self._within.tolist())]

    @cached_property
    def decided(self) -> list[Summary]:
        return [*compress(self.finished, self._decided[self._within].tolist())]

    @property
    def count(self) -> int:
        """Return how many are decided."""
        return len(self.decided) if self._columns is None else int(self._decided.sum())

    @property
    def of_many(self) -> bool:
        """Return whether more than two met in any decided match."""
        return max(self._sizes, default=0) > 2

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._numbers.tolist(), 1)}

    def place(self, number: int) -> int:
        """Return how many matches of the arena were finished up to match `number`."""
        return self._places[number]

    def until(self, number: int) -> PlayedMatches:
        """The same after `number` matches of the arena; what was computed for all of them is cut."""
        _ = self._series  # read once for all moments
        part = copy(self)
        part._forget()
        part.finished = self._until(self.finished, number)
        part.decided = self._until(self.decided, number)
        if self._sizes - {2}:
            part._sizes = {len(match.scores) for match in part.decided}
            there = len({player for match in part.decided for player in match.players})
        else:
            whole, size = self.history, len(part.decided)
            first, second, score, weight = (
                column[:size] for column in (whole.first, whole.second, whole.score, whole.weight)
            )
            there = 1 + max(int(first.max(initial=-1)), int(second.max(initial=-1)))
            part._sizes = {2} if size else set()
            part.__dict__["history"] = duels(there, first, second, score, weight)
        part.players = dict(islice(self.players.items(), there))  # numbered as they come
        return part

    def _forget(self) -> None:
        """Let go of what was computed from other matches."""
        for name in _COMPUTED:
            self.__dict__.pop(name, None)
        self._columns = None

    def instead(self, again: Mapping[int, Summary], silenced: Set[str]) -> PlayedMatches:
        """These matches with `again`, by number, in place of others, without votes of `silenced` judges."""
        other = copy(self)
        other._forget()
        other.finished = [again.get(match.number, match) for match in self.finished]
        other.decided = [
            match for match in other.finished if match.status == DONE and (match.players or match.scores)
        ]
        other._sizes = {len(match.scores) for match in other.decided}
        there = dict.fromkeys([player for match in other.decided for player in match.players])
        other.players = {player: place for place, player in enumerate(there)}
        other.whole = False
        other._silenced = silenced
        return other

    @cached_property
    def claims(self) -> Claims:
        """The claims that these matches prove; of all matches of an arena also those on record."""
        proven = super().claims
        if not self.whole or self.scope.weights:
            return proven
        place, matches = self.players, len(self.finished)
        earlier = [
            (place[better], place[worse])
            for look in looks(self.ledger)
            if look.matches <= matches
            for better, worse in look.claims
            if better in place and worse in place
        ]
        return proven.kept(earlier) if earlier else proven

    @property
    def sources(self) -> Ints | None:
        """The match that each duel of `history` is of; None where every match is one duel."""
        return self._pairs[1] if self._sizes - {2} else None

    @cached_property
    def _series(self) -> dict[int, int]:
        return clusters_of(self.ledger)

    def cluster(self, number: int) -> int:
        """The first match of the series that a match is in; the match itself where it is in none."""
        return self._series.get(number, number)

    @cached_property
    def history(self) -> Duels:
        """Every decided match as duels: one of many as all its pairs, together one match for each player."""
        return self._pairs[0]

    @cached_property
    def tables(self) -> GameColumns:
        """Every decided match with its ranking, whatever its size."""
        return self._ranked(self.decided, self.scope.weights)

    def _ranked(self, matches: Sequence[Summary], weights: Mapping[str, float]) -> GameColumns:
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
        groups = grouped((getattr(match, by) if by else "", match) for match in self.decided)
        for name in sorted(groups):
            yield name, groups[name], *self._duels(groups[name], {})

    @property
    def clusters(self) -> Ints | None:
        """The series of each match by the number of its first one, where it is in one; else its own number.
        None in an arena without series."""
        return self._clusters(self.decided)

    @property
    def tasks(self) -> Sequence[str]:
        """The topic of each match, where there are several."""
        topics = [match.topic for match in self.decided] if len(self.topics) > 1 else []
        return topics if len({*topics}) > 1 else ()

    def _clusters(self, matches: Sequence[Summary]) -> Ints | None:
        return np.array([self.cluster(match.number) for match in matches], np.int64) if self._series else None

    def _evidence(self, matches: Sequence[Summary]) -> Evidence:
        return evidence_of(
            self._duels(matches, {})[0] if all(len(match.scores) == 2 for match in matches) else None,
            lambda: self._ranked(matches, {}),
            self._clusters(matches),
        )

    @cached_property
    def rest(self) -> Evidence | None:
        """Of a table of one game or topic: the other decided matches among its players."""
        if self._columns is None or not (self.scope.game or self.scope.topic):
            return None
        others = [
            match
            for match in compress(islice(amended(self.ledger), len(self._numbers)), (~self._within).tolist())
            if match.status == DONE and len(match.scores) > 1 and self.players.keys() >= {*match.players}
        ]
        return self._evidence(others) if others else None

    def _strengths_by(self, by: Field, most: int | None = None) -> dict[str, Strengths]:
        """The posterior of strengths in each game, or on each of the topics with the `most` matches, each
        borrowing from the others; of the players of all, in order of names."""
        groups = grouped((getattr(match, by), match) for match in self.decided)
        names = sorted(sorted(groups, key=lambda name: (-len(groups[name]), name))[:most])
        drawn = pooled([self._evidence(groups[name]) for name in names], seed=SEED)
        return dict(zip(names, drawn, strict=True))

    @cached_property
    def strengths_by_game(self) -> dict[str, Strengths]:
        return self._strengths_by("game")

    @cached_property
    def shares_by_game(self) -> dict[str, Shares]:
        """The shares of wins in each game, likewise."""
        return {game: shares_of(strengths.draws) for game, strengths in self.strengths_by_game.items()}

    def strengths_by_topic(self, most: int) -> dict[str, Strengths]:
        """Likewise on each topic."""
        return {topic: strengths for topic, strengths in self._strengths_by("topic", most).items() if topic}

    def points(self) -> list[tuple[Summary, tuple[float, ...]]]:
        """The decided matches, each with its points in seat order; scores where a game has no points."""
        known = self._points()
        return [(match, known.get(match.number, match.scores)) for match in self.decided]

    def votes(self) -> Votes:
        """The votes of judges on the decided matches."""
        return votes(self.ledger, self.decided, self.scope.weights, self._silenced)

    def newest(self, most: int) -> dict[str, list[Summary]]:
        """Return the last decided matches by game, `most` of each in the mean. Raises LedgerError."""
        return grouped((row.game, row) for row in self._last(most * len(self.games)))

    def _last(self, most: int) -> list[Summary]:
        """The last decided matches, so many at most, without reading all."""
        if self._columns is None:
            return self.decided[-most:]
        at = np.flatnonzero(self._decided)[-most:]
        span = (int(at[0]) + 1, int(at[-1]) + 1) if len(at) else (1, 0)
        rows = {row.number: row for row in self.ledger.summaries(*span)}
        return [rows[number] for number in self._numbers[at].tolist()]

    @cached_property
    def flips(self) -> tuple[int, int]:
        """As `votes.flips` of the decided matches, read once for all their tables."""
        return flips(self.ledger, self.decided if self._columns is None else self._last(LOOKED_AT))

    @cached_property
    def credits(self) -> Credits:
        """Credits by checks of answers in matches about the owner's tasks, void ones too; else nothing."""
        games = [game for game in self.games if about_tasks(game)]
        return credits_of(self.ledger, self.finished, games) if games else Credits()

    def known_votes(self) -> list[KnownVotes]:
        """Return what the judges' votes come to where checks tell answers apart; see `credits.known_of`."""
        return known_of(self.ledger, self.finished, filter(about_tasks, self.games))

    @cached_property
    def accounts(self) -> dict[str, Account]:
        """Return what everybody did and cost in these matches, by their records."""
        return self.sums()

    def sums(self, *, seated: bool = False) -> dict[str, Account]:
        """Return what everybody did and cost in these matches, by their records; `seated`: those alone whom a
        match's row names. Raises LedgerError when a record is missing."""
        accounts: dict[str, Account] = {}
        wanted = {summary.number: summary for summary in self.finished}
        for record in records_of(self.ledger, wanted):
            summary = wanted.pop(record.number)
            totals = totals_of(record)
            if seated:
                totals = {name: total for name, total in totals.items() if name in summary.players}
            count(accounts, summary, totals)
        if wanted:
            raise LedgerError(
                f"{self.ledger.address} lacks the record of match {min(wanted)}; `peerage verify` says more"
            )
        return accounts

    def _until(self, matches: list[Summary], number: int) -> list[Summary]:
        return matches[: bisect_right(matches, number, key=lambda match: self._places[match.number])]

    @cached_property
    def _pairs(self) -> tuple[Duels, Ints]:
        if self._sizes - {2}:
            return pairings(self.tables)
        columns, weights = self._columns, self.scope.weights
        if columns is None:
            return self._duels(self.decided, weights)
        of = self.players.get
        tables = [[of(cell, 0) for cell in two] if len(two) == 2 else [0, 0] for two in columns.tables]
        leads = [scores[0] - scores[1] if len(scores) == 2 else 0.0 for scores in columns.results]
        weight = np.array([weights.get(game, 1.0) for game, *_ in columns.kinds])[columns.kind]
        here = self._decided
        return self._made(
            np.array(tables, np.int64).reshape(-1, 2)[columns.table[here]],
            np.array(leads)[columns.result[here]],
            weight[here] if weights else None,
        )

    def _duels(self, matches: Sequence[Summary], weights: Mapping[str, float]) -> tuple[Duels, Ints]:
        """As `pairings`, of these matches."""
        if any(len(match.scores) != 2 for match in matches):
            return pairings(self._ranked(matches, weights))
        seats = [self.players[player] for match in matches for player in match.players]
        leads = [match.scores[0] - match.scores[1] for match in matches]
        weight = [weights.get(match.game, 1.0) for match in matches] if weights else None
        return self._made(np.array(seats, np.int64).reshape(-1, 2), np.array(leads), weight)

    def _made(self, seats: Ints, leads: Floats, weight: ArrayLike | None) -> tuple[Duels, Ints]:
        """Duels between players by their numbers, shape (duels, 2), of which the first leads by so much."""
        made = duels(len(self.players), seats[:, 0], seats[:, 1], (np.sign(leads) + 1) / 2, weight)
        return made, np.arange(len(seats), dtype=np.int64)

    @cached_property
    def unrated(self) -> frozenset[str]:
        """The games that move no Elo ratings, by the ledger."""
        return unrated(self.ledger.meta())

    def rated_by_elo(self, *, priced: bool) -> list[Summary]:
        """The decided matches that move Elo ratings; `priced` only those that the cost track counts."""
        moving = {game for game in self.games if moves_elo(game, (1.0, 0.0), self.unrated)}
        return [
            match
            for match in self.decided
            if match.game in moving and len(match.players) == 2 and not (priced and None in match.costs)
        ]


_COMPUTED = (
    *("history", "tables", "hanging", "flips", "credits", "accounts", "_pairs"),
    *("evidence", "rest", "alone", "strengths", "claims", "strengths_by_game", "shares_by_game"),
)
"""Fields in which `PlayedMatches` keeps what it computed from its matches."""


def _counts(kinds: Mapping[tuple[str, str, str], int], place: int) -> dict[str, int]:
    """Decided matches by game (`place` 0) or topic (1)."""
    counts: Counter[str] = Counter()
    for kind, matches in kinds.items():
        if kind[2] == DONE:
            counts[kind[place]] += matches
    return dict(sorted(counts.items()))


def known(what: str, asked: str, there: Iterable[str]) -> None:
    """Refuse what was asked for where it is not there. Raises ScopeError."""
    there = sorted(there)
    if asked and asked not in there:
        close = suggest(asked, there) if there else "; nothing was played yet"
        raise ScopeError(f"no match is of the {what} {asked!r}{close}")
