"""Judges of an arena held against checks, from records alone: see `judging.known`."""

from __future__ import annotations

from collections.abc import Iterable

from peerage.judging.ballots import read_ballots
from peerage.judging.known import KnownVotes, held, known_votes, read_task_detail
from peerage.ledger.codec import read_header, read_issued
from peerage.ledger.store import Ledger, Summary


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
        detail = read_header(row.body).outcome.detail
        cast, task = read_ballots(detail), read_task_detail(detail)
        ballots = (*cast.ballots, *cast.control_ballots)
        if not ballots or not task.checks:
            continue
        seats = read_issued(issued.body).officials.get("judge", ())
        judges = {seat.label: seat.player for seat in seats}
        votes += [(judge, task.task, points) for judge, points in known_votes(task.checks, ballots, judges)]
    return held(votes)
