"""Fixtures and records of finished matches, read in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from peerage.ledger.codec import by_hex, read_fixture, read_record
from peerage.ledger.store import FixtureRow, Ledger, LedgerError, RecordRow
from peerage.match import Fixture, Outcome


def _span(ledger: Ledger, wanted: dict[int, Any]) -> tuple[int, int]:
    """The places of the first and the last of these matches."""
    return ledger.place(next(iter(wanted))), ledger.place(next(reversed(wanted)))


def records_of(ledger: Ledger, wanted: dict[int, Any]) -> Iterator[RecordRow]:
    """Give the record of each finished match whose number is `wanted`, which has them as they were folded."""
    for record in ledger.records(*_span(ledger, wanted)) if wanted else ():
        if record.number in wanted:
            yield record


def rows_of(ledger: Ledger, wanted: dict[int, Any]) -> Iterator[tuple[FixtureRow, RecordRow]]:
    """Give fixture and record of each of these matches. Raises LedgerError where rows are missing."""
    if not wanted:
        return
    span = _span(ledger, wanted)
    for issued, record in zip(ledger.fixtures(*span), ledger.records(*span), strict=False):
        if issued.number != record.number:
            raise LedgerError(f"{ledger.address} lacks rows; `peerage verify` says which")
        if record.number in wanted:
            yield issued, record


def whole_of(
    ledger: Ledger, wanted: dict[int, Any], marks: Collection[bytes] = (b"",)
) -> Iterator[tuple[Fixture, Outcome]]:
    """The same, parsed whole, of those matches whose records have one of the `marks` in their bytes."""
    texts = by_hex(ledger.texts()) if wanted else None
    for issued, record in rows_of(ledger, wanted):
        if texts is not None and any(mark in record.body for mark in marks):
            yield read_fixture(issued.body, texts), read_record(record.body).outcome
