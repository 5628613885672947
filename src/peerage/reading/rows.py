"""Fixtures and records of finished matches, read in one pass.

Matches are `wanted` by number, in the order in which they were folded; None are all of them. LedgerError is
raised where rows are missing, or are not as they were logged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from peerage.game.match import Fixture, Outcome
from peerage.ledger import FixtureRow, Ledger, LedgerError, RecordRow
from peerage.ledger.forms.codec import by_hex, read_fixture, read_record

Wanted: TypeAlias = dict[int, Any] | None


def _span(ledger: Ledger, wanted: Wanted) -> tuple[int, int]:
    """The places of the first and the last of these matches."""
    if wanted is None:
        return 1, ledger.heads()[1]
    return (ledger.place(next(iter(wanted))), ledger.place(next(reversed(wanted)))) if wanted else (1, 0)


def records_of(ledger: Ledger, wanted: Wanted = None) -> Iterator[RecordRow]:
    """Give the records of these matches."""
    for record in ledger.records(*_span(ledger, wanted)):
        if wanted is None or record.number in wanted:
            yield record


def rows_of(ledger: Ledger, wanted: Wanted = None) -> Iterator[tuple[FixtureRow, RecordRow]]:
    """Give the fixtures and records of these matches."""
    span = _span(ledger, wanted)
    for issued, record in zip(ledger.fixtures(*span), ledger.records(*span), strict=False):
        if issued.number != record.number:
            raise LedgerError(f"{ledger.address} lacks rows; `peerage verify` says which")
        if wanted is None or record.number in wanted:
            yield issued, record


def whole_of(
    ledger: Ledger, wanted: Wanted = None, marks: Collection[bytes] = (b"",)
) -> Iterator[tuple[Fixture, Outcome]]:
    """Give the fixtures and outcomes of these matches, of those whose records have one of the `marks`."""
    texts = by_hex(ledger.texts()) if wanted is None or wanted else None
    for issued, record in rows_of(ledger, wanted):
        if texts is not None and any(mark in record.body for mark in marks):
            yield read_fixture(issued.body, texts), read_record(record.body).outcome
