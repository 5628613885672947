"""The audience's track: what people who judged blind in the browser say, beside what the peers say.

Votes are amendments (`ledger.votes`). Here they are folded into a table of their own; they move no rating of
the peers. A vote counts when it cites the record that stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import msgspec
from msgspec import Struct

from peerage.engine.driver import REPAIR
from peerage.ledger.store import Ledger
from peerage.ledger.votes import TIE, Vote
from peerage.ratings.bradley_terry import BradleyTerry
from peerage.ratings.history import duels
from peerage.ratings.rows import fit_clustered
from peerage.standings import DONE
from peerage.tables.transcript import transcript


class AudienceRow(Struct, frozen=True):
    """One player's line: a Bradley-Terry rating of the audience's votes, with its 95 % interval.

    `rank` is 1 for the best, shared by equal ratings; `rank_range` are the ranks (best, worst) left open at
    95 % for all players together. `wins`, `draws` and `losses` count votes.
    """

    rank: int
    rank_range: tuple[int, int]
    player: str
    rating: float
    lower: float
    upper: float
    votes: int
    wins: int
    draws: int
    losses: int


class Audience(Struct, frozen=True):
    """The audience's table, best first, and what it rests on.

    `votes` counted, from `voters` sessions, on `matches`; `uncounted` cite a record that does not stand.
    `agreement` is the share of votes that name the winner whom the peers named, among those where neither
    found a tie; None without one. `comparable` is False when the votes do not connect all players: the
    ratings then lean on a prior.
    """

    rows: tuple[AudienceRow, ...] = ()
    votes: int = 0
    voters: int = 0
    matches: int = 0
    uncounted: int = 0
    agreement: float | None = None
    comparable: bool = True


class Ballot(Struct, frozen=True):
    """What a voter is shown: the challenge by stage and the answers by label, without their authors."""

    match: int
    record: str
    topic: str
    challenge: dict[str, str]
    answers: dict[str, str]


class _Seat(Struct, gc=False):
    label: str
    player: str


class _Issued(Struct, gc=False):
    seats: tuple[_Seat, ...]


class _Outcome(Struct, gc=False):
    scores: dict[str, float] = {}


class _Record(Struct, gc=False):
    outcome: _Outcome


class _Judged(Struct, frozen=True):
    """A finished match as votes refer to it: players and the peers' scores by label."""

    record: str
    players: dict[str, str]
    scores: dict[str, float]


_read_issued = msgspec.json.Decoder(_Issued).decode
_read_record = msgspec.json.Decoder(_Record).decode


class Tally:
    """Votes counted one by one; matches are looked up in the ledger once each, since records never change."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[int, _Judged | None] = {}
        self._counted: list[tuple[Vote, _Judged]] = []
        self._uncounted = 0

    def add(self, votes: Iterable[Vote]) -> None:
        """Count further votes."""
        for vote in votes:
            judged = self._judged(vote.match)
            fits = (
                judged is not None
                and judged.record == vote.record
                and len(judged.players) == 2
                and set(vote.shown) == judged.players.keys()
                and vote.verdict in (*judged.players, TIE)
                and len(set(judged.players.values())) == 2
            )
            if judged is not None and fits:
                self._counted.append((vote, judged))
            else:
                self._uncounted += 1

    def _judged(self, number: int) -> _Judged | None:
        if number not in self._known:
            self._known[number] = self._look_up(number)
        return self._known[number]

    def _look_up(self, number: int) -> _Judged | None:
        issued = next(iter(self._ledger.fixtures(number, number)), None)
        row = next(iter(self._ledger.records(number, number)), None)
        if issued is None or row is None:
            return None
        return _Judged(
            sha256(row.body).hexdigest(),
            {seat.label: seat.player for seat in _read_issued(issued.body).seats},
            _read_record(row.body).outcome.scores,
        )

    def table(self) -> Audience:
        """The audience's table of the votes counted so far.

        Intervals allow votes on one match to hang together (`ratings.rows.fit_clustered`).
        """
        if not self._counted:
            return Audience(uncounted=self._uncounted)
        names = sorted({player for _, judged in self._counted for player in judged.players.values()})
        places = {name: place for place, name in enumerate(names)}
        pairs = [
            (*[places[judged.players[label]] for label in vote.shown], _points(vote, vote.shown[0]))
            for vote, judged in self._counted
        ]
        first, second, score = zip(*pairs, strict=True)
        fitted = fit_clustered(
            duels(len(names), first, second, score), [vote.match for vote, _ in self._counted]
        )
        return Audience(
            _rows(fitted, names, self._counted),
            len(self._counted),
            len({vote.voter for vote, _ in self._counted}),
            len({vote.match for vote, _ in self._counted}),
            self._uncounted,
            _agreement(self._counted),
            fitted.connected,
        )


def audience(ledger: Ledger, votes: Iterable[Vote]) -> Audience:
    """The audience's table. Raises LedgerError when the ledger cannot be read."""
    counted = Tally(ledger)
    counted.add(votes)
    return counted.table()


def _points(vote: Vote, label: str) -> float:
    return 0.5 if vote.verdict == TIE else float(vote.verdict == label)


def _rows(
    fitted: BradleyTerry, names: list[str], counted: list[tuple[Vote, _Judged]]
) -> tuple[AudienceRow, ...]:
    tallies = {name: [0, 0, 0] for name in names}
    for vote, judged in counted:
        for label, player in judged.players.items():
            tallies[player][int(2 - 2 * _points(vote, label))] += 1
    rows = [
        AudienceRow(
            row.rank,
            row.rank_range,
            name,
            row.rating,
            row.lower,
            row.upper,
            sum(tallies[name]),
            *tallies[name],
        )
        for name, row in zip(names, fitted.rows, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (row.rank, row.player)))


def _agreement(counted: list[tuple[Vote, _Judged]]) -> float | None:
    same = [
        judged.scores[vote.verdict] > 0.5
        for vote, judged in counted
        if vote.verdict != TIE and judged.scores.get(vote.verdict, 0.5) != 0.5
    ]
    return sum(same) / len(same) if same else None


def ballot(ledger: Ledger, number: int) -> Ballot | None:
    """Match `number` as a blind pair; None when there is nothing to compare.

    There is when the match counts, has two contestants, and each gave one answer to the same challenge.
    """
    found = transcript(ledger, number)
    labels = [seat.label for seat in found.seats if seat.role == "contestant"]
    answers = {
        one.label: one.reply
        for one in found.exchanges
        if one.key.removesuffix(REPAIR) == f"answer/{one.label}" and one.status == "ok"
    }
    if found.status != DONE or not found.challenge or len(labels) != 2 or set(answers) != set(labels):
        return None
    return Ballot(number, found.digests.record, found.topic, found.challenge, answers)
