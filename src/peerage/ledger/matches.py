"""Rows of finished matches, each match with all that is stored of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from peerage.ledger.forms.rows import Exchange, FixtureRow, RecordRow
from peerage.ledger.ledger import Ledger

BLOCK = 256
"""Matches that are read at a time."""


class FinishedRows(NamedTuple):
    """The stored rows of a finished match; `fixture` is None where the ledger lacks it."""

    record: RecordRow
    fixture: FixtureRow | None
    exchanges: tuple[Exchange, ...]


def finished(ledger: Ledger, first: int, last: int) -> Iterator[FinishedRows]:
    """Yield the finished matches at places first..last. Raises LedgerError."""
    for start in range(first, last + 1, BLOCK):
        span = start, min(start + BLOCK - 1, last)
        fixtures = {row.number: row for row in ledger.fixtures(*span)}
        grouped = groupby(ledger.exchanges(*span), attrgetter("match"))
        exchanges = {number: tuple(rows) for number, rows in grouped}
        for record in ledger.records(*span):
            number = record.number
            yield FinishedRows(record, fixtures.get(number), exchanges.get(number, ()))
