"""Votes of people on recorded answers, next to those of judges: what agreement rests on.

People vote blind in a browser or a terminal (`ledger.topics.votes`). A vote counts when it cites the record
that stands. What an expert picked by number is no sample and does not count; what is drawn is drawn
more often where judges split, so each duel weighs by one over the share of its sort that people judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from peerage.ledger import FixtureRow, Ledger, RecordRow
from peerage.ledger.forms.codec import read_header, read_issued
from peerage.ledger.forms.merkle import digest
from peerage.ledger.topics.votes import BOTH_BAD, SKIPPED, TIE, Vote
from peerage.reading.rows import rows_of


class Finished(Struct, frozen=True):
    """A finished match as votes refer to it: players and the peers' scores by label."""

    record: str
    players: dict[str, str]
    scores: dict[str, float]

    def fits(self, vote: Vote) -> bool:
        """Return whether a vote is on this record, and about its two players."""
        return (
            self.record == vote.record
            and set(vote.shown) == self.players.keys()
            and vote.verdict in (*vote.shown, TIE, BOTH_BAD, SKIPPED)
            and len(set(self.players.values())) == 2
        )

    def agrees(self, vote: Vote) -> bool | None:
        """Return whether a vote names the winner whom the peers named; None where either found a tie."""
        score = self.scores.get(vote.verdict, 0.5)
        return None if score == 0.5 else score > 0.5


def finished(ledger: Ledger, number: int) -> Finished | None:
    """Match `number` as it is on record; None when it is not."""
    rows = ledger.match(number, exchanges=False)
    if rows is None or rows.record is None:
        return None
    return _finished(rows.fixture, rows.record)


_FEW = 100
"""Matches up to which each is read by itself; of more the ledger is read through."""


def cited(ledger: Ledger, votes: Iterable[Vote]) -> dict[int, Finished]:
    """The matches that votes are on, by number; without those not on record. Raises LedgerError."""
    wanted = {vote.match for vote in votes}
    if len(wanted) <= _FEW:
        each = {number: finished(ledger, number) for number in wanted}
        return {number: verdicts for number, verdicts in each.items() if verdicts is not None}
    rows = rows_of(ledger)
    return {issued.number: _finished(issued, record) for issued, record in rows if issued.number in wanted}


def _finished(issued: FixtureRow, record: RecordRow) -> Finished:
    scores = read_header(record.body).outcome.scores
    return Finished(digest(record.body), read_issued(issued.body).authors, scores)


class PersonVerdict(NamedTuple):
    """A person's verdict: `score` is the first seat's, `person` tells people apart, `take` 2 judges again."""

    match: int
    person: str
    take: int
    score: float


def verdicts_of(ledger: Ledger, votes: Iterable[Vote]) -> list[PersonVerdict]:
    """The verdicts that count, in order; "both bad" is a tie. Raises LedgerError."""
    counted = [vote for vote in votes if vote.verdict != SKIPPED]
    known = cited(ledger, counted)
    verdicts: list[PersonVerdict] = []
    for vote in counted:
        match = known.get(vote.match)
        if match is not None and match.fits(vote):
            first = next(iter(match.players))
            score = 0.5 if vote.verdict in (TIE, BOTH_BAD) else float(vote.verdict == first)
            person = f"expert {vote.expert}" if vote.expert else vote.voter
            verdicts.append(PersonVerdict(vote.match, person, vote.take, score))
    return verdicts
