"""A ledger written once more, into another store, whole: every row as it is, ids, times and log included.

A runner may write to the source meanwhile. The copy holds what was there at one moment, the **pin**: a
position of the log, and the newest row of each kind that grows beside it. What was written later is left out,
row by row, so no transaction is held open. The log comes last: a copy that was broken off has none, and no
run goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from zlib import crc32

from msgspec.structs import replace

from peerage.ledger.audit import settings_text, texts_of
from peerage.ledger.log import finished
from peerage.ledger.store import UNLOGGED, Batch, Entry, Exchange, FixtureRow, Ledger, LedgerError, Pin
from peerage.ledger.votes import Votes

BLOCK = 50
"""Matches written at a time."""
ROWS = 5_000
"""Rows of the log written at a time."""


def copy(
    source: Ledger,
    target: Ledger,
    votes: tuple[Votes, Votes],
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Pin:
    """Write all of `source` into the empty ledger `target`, and its votes (of the one, of the other) too.
    `progress` is told of each part of the matches.

    Raises LedgerError: a target that is not empty, a source that is damaged or of an earlier form.
    """
    if target.heads() != (0, 0) or next(target.log(), None) or votes[1].exists():
        raise LedgerError(
            f"{target.address} holds an arena already, or a copy that was broken off; name an empty place, "
            "or remove what is there first"
        )
    pin = source.pin()
    log = [entry for entry in source.log() if entry.position <= pin.log]
    if next(source.streams(), None) is not None or (not log and pin.issued):
        raise LedgerError(f"{source.address} is of an earlier form, which only SQLite holds; copy its file")
    newest = {entry.about: entry.digest for entry in log}
    facts = {name: value for name, value in source.meta().items() if name != "schema"}
    for name, value in facts.items():
        if name not in UNLOGGED and newest.get(f"fact {name}") != sha256(value.encode()).digest():
            raise LedgerError(f"the fact {name!r} of {source.address} is not as it was logged; copy it again")
    with target.runner():
        folded = list(dict.fromkeys([number for entry in log if (number := finished(entry.about))]))
        written = 0
        for batch in _matches(source, pin, folded):
            target.write(batch)
            written += len(batch.fixtures)
            progress(written, pin.issued)
        for number, body, whole in source.snapshots():
            if whole and newest.get(f"snapshot {number}") == sha256(body).digest():
                target.write(Batch(snapshots=[(number, body)], log=()))
        votes[1].take_over(votes[0].rows())
        said = {row.position: row for row in source.amendments() if row.position <= pin.log}
        for part in _parts(log):
            rows = [said[entry.position] for entry in part if entry.position in said]
            target.write(Batch(amendments=rows, log=part))
        target.write(Batch(meta=facts, log=()))
    return pin


def _parts(log: Iterable[Entry]) -> Iterator[list[Entry]]:
    rows = list(log)
    return (rows[at : at + ROWS] for at in range(0, len(rows), ROWS))


def _matches(source: Ledger, pin: Pin, folded: list[int]) -> Iterator[Batch]:
    """All matches at the pin, those on record in the order in which they were folded."""
    known: set[bytes] = set()
    done = len(folded)
    for first in range(1, done + 1, BLOCK):
        last = min(first + BLOCK - 1, done)
        batch = Batch(
            fixtures=[_whole(row, source) for row in source.fixtures(first, last)],
            attempts=list(_cut(source.exchanges(first, last), pin, source)),
            records=list(source.records(first, last)),
            summaries=list(source.summaries(first, last)),
            log=(),
        )
        if {row.number for row in batch.records} != set(folded[first - 1 : last]):
            raise LedgerError(f"{source.address} lacks records; `peerage verify` says which")
        yield _with_texts(source, batch, known)
    open_ = sorted(set(range(1, pin.issued + 1)) - set(folded))
    for at in range(0, len(open_), BLOCK):
        batch = Batch(log=())
        for number in open_[at : at + BLOCK]:
            rows = source.match(number)
            if rows is None:
                raise LedgerError(f"{source.address} lacks match {number}; `peerage verify` says more")
            batch.fixtures.append(_whole(rows.fixture, source))
            batch.attempts += _cut(rows.exchanges, pin, source)
        yield _with_texts(source, batch, known)


def _with_texts(source: Ledger, batch: Batch, known: set[bytes]) -> Batch:
    named = {settings_text(row.body) for row in batch.fixtures}
    for row in batch.attempts:
        named |= texts_of(row.request)
    due = {bytes.fromhex(one.decode()) for one in named if len(one) == 64} - known
    known |= due
    batch.texts += sorted(source.texts(sorted(due)).items())
    return batch


def _whole(row: FixtureRow, source: Ledger) -> FixtureRow:
    if crc32(row.body) != row.checksum:
        raise _damaged(source, row.number)
    return row


def _cut(rows: Iterable[Exchange], pin: Pin, source: Ledger) -> Iterator[Exchange]:
    """Attempts as they were at the pin."""
    for row in rows:
        replied = row.reply is not None
        if crc32(row.request) != row.checksum or (replied and crc32(row.reply or b"") != row.reply_checksum):
            raise _damaged(source, row.match)
        if row.reply_id is not None and row.reply_id > pin.replies:
            row = replace(row, reply=None, cost_nano=None, reply_id=None, reply_checksum=None, at_ms=None)
        if row.failure is not None and row.failure.id > pin.failures:
            row = replace(row, failure=None)
        if row.id <= pin.intents:
            yield row


def _damaged(source: Ledger, match: int) -> LedgerError:
    return LedgerError(f"{source.address}: match {match} is damaged; `peerage verify` says more")
