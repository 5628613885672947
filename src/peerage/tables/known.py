"""Judges of an arena held against checks, from records alone: see `judging.known`."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from peerage.judging.known import KnownVotes, held, known_votes
from peerage.judging.panel import Ballot
from peerage.ledger.store import Ledger, Summary
from peerage.match import Seat


class _Detail(Struct):
    """The little of a record that tells how a judge voted, and who was right."""

    task: str = ""
    checks: dict[str, float] = {}
    ballots: tuple[Ballot, ...] = ()
    control_ballots: tuple[Ballot, ...] = ()


class _Outcome(Struct):
    detail: _Detail = msgspec.field(default_factory=_Detail)


class _Record(Struct):
    outcome: _Outcome


class _Officials(Struct):
    """The little of a fixture that tells who judged."""

    officials: dict[str, tuple[Seat, ...]] = {}


_read_record = msgspec.json.Decoder(_Record).decode
_read_fixture = msgspec.json.Decoder(_Officials).decode


def known_of(ledger: Ledger, finished: Iterable[Summary], games: Iterable[str]) -> list[KnownVotes]:
    """Return what the judges' votes come to in these finished matches, of those of `games`, which are about
    tasks. Raises LedgerError."""
    names = frozenset(games)
    numbers = {one.number for one in finished if one.game in names}
    if not numbers:
        return []
    span = ledger.place(min(numbers)), ledger.place(max(numbers))
    votes: list[tuple[str, str, int]] = []
    for issued, row in zip(ledger.fixtures(*span), ledger.records(*span), strict=False):
        if row.number not in numbers or issued.number != row.number:
            continue
        detail = _read_record(row.body).outcome.detail
        ballots = (*detail.ballots, *detail.control_ballots)
        if not ballots or not detail.checks:
            continue
        seats = _read_fixture(issued.body).officials.get("judge", ())
        judges = {seat.label: seat.player for seat in seats}
        votes += [
            (judge, detail.task, points) for judge, points in known_votes(detail.checks, ballots, judges)
        ]
    return held(votes)
