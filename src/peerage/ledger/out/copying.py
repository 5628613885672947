"""A ledger written once more, into another store, whole: every row as it is, ids, times and log included.

A runner may write to the source meanwhile. The copy holds what was there at one moment, the **pin**: a
position of the log, and the newest row of each kind that grows next to it. Rows written later are left out,
row by row, so no transaction is held open. The log comes last: a copy that was broken off has none, and no
run goes on with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import chain, islice, takewhile

from msgspec.structs import replace

from peerage.ledger.check.audit import altered, texts_of
from peerage.ledger.forms.codec import fixture_texts
from peerage.ledger.forms.log import finished
from peerage.ledger.forms.merkle import checksum
from peerage.ledger.forms.rows import UNLOGGED, Batch, Entry, Exchange, FixtureRow, LedgerError, Pin
from peerage.ledger.ledger import Ledger
from peerage.ledger.topics.votes import PeopleVotes

MATCHES = 50
"""Matches written at a time at first; then as many as come to some `BYTES`, `MOST_MATCHES` at most."""
BYTES, MOST_MATCHES = 4_000_000, 500
ROWS = 5_000
"""Rows of the log written at a time."""
MOST_TEXTS = 100_000
"""Texts remembered as written."""


def copy(
    source: Ledger,
    target: Ledger,
    votes: tuple[PeopleVotes, PeopleVotes],
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Pin:
    """Write all of `source` into the empty ledger `target`, and its votes (of the one, of the other) too.
    `progress` is called for each part of the matches. Raises LedgerError: a target that is not empty, a
    source that is damaged."""
    source = source.as_stored()
    if target.heads() != (0, 0) or next(target.log(), None) or votes[1].exists():
        raise LedgerError(
            f"{target.address} holds an arena already, or a copy that was broken off; name an empty place, "
            "or remove what is there first"
        )
    given = votes[0].count()  # before the pin, so that what they cite is there
    pin, facts = source.moment(lambda rows: (rows.pin(), rows.facts()))
    newest = _Newest(_log(source, pin))
    del facts["schema"]
    for name, value in facts.items():
        if name not in UNLOGGED and newest.digests.get(f"fact {name}") != sha256(value.encode()).digest():
            raise LedgerError(f"the fact {name!r} of {source.address} is not as it was logged")
    with target.runner():
        written = 0
        for batch in _matches(source, pin, newest):
            target.write(batch)
            written += len(batch.fixtures)
            progress(written, pin.issued)
        for batch in chain(_media(source), _snapshots(source, newest)):
            target.write(batch)
        given = max(given, newest.votes)
        votes[1].take_over(takewhile(lambda row: row.sequence <= given, votes[0].rows()))
        for batch in _amendments(source, pin):
            target.write(batch)
        target.write(Batch(meta=facts, log=()))
    return pin


def _log(source: Ledger, pin: Pin) -> Iterator[Entry]:
    """The log up to the pin."""
    return takewhile(lambda entry: entry.position <= pin.log, source.log())


class _Newest:
    """Totals of a log: newest digests of facts and snapshots, the matches `folded`, in order, and how many
    `votes` it binds."""

    def __init__(self, log: Iterable[Entry]) -> None:
        self.votes = 0
        self.digests: dict[str, bytes] = {}
        self.folded = array("q")
        self._due, self._ahead = 1, set[int]()
        for entry in log:
            if number := finished(entry.about):
                self._fold(number)
            elif entry.about.startswith(("fact ", "snapshot ")):
                self.digests[entry.about] = entry.digest
            elif entry.about.startswith("votes "):
                self.votes = int(entry.about.removeprefix("votes "))

    def _fold(self, number: int) -> None:
        if number < self._due or number in self._ahead:
            return
        self.folded.append(number)
        self._ahead.add(number)
        while self._due in self._ahead:  # so that where no match waits none is kept twice
            self._ahead.remove(self._due)
            self._due += 1

    def open(self, issued: int) -> Iterator[int]:
        """The others, of so many issued."""
        return (number for number in range(self._due, issued + 1) if number not in self._ahead)


def _matches(source: Ledger, pin: Pin, newest: _Newest) -> Iterator[Batch]:
    """All matches at the pin, those on record in the order in which they were folded."""
    known: set[bytes] = set()
    done, first, size = len(newest.folded), 1, MATCHES
    while first <= done:
        last = min(first + size - 1, done)
        batch = Batch(
            fixtures=[_whole(row, source) for row in source.fixtures(first, last)],
            attempts=list(_cut(source.exchanges(first, last), pin, source)),
            records=list(source.records(first, last)),
            summaries=list(source.summaries(first, last)),
            log=(),
        )
        if {row.number for row in batch.records} != set(newest.folded[first - 1 : last]):
            raise LedgerError(f"{source.address} lacks records; `peerage verify` says which")
        yield _with_texts(source, batch, known)
        held = sum([len(row.request) + len(row.reply or b"") for row in batch.attempts])
        first, size = last + 1, max(1, min(MOST_MATCHES, size * BYTES // max(held, 1)))
    others = newest.open(pin.issued)
    while numbers := list(islice(others, MATCHES)):
        batch = Batch(log=())
        for number in numbers:
            rows = source.match(number)
            if rows is None:
                raise LedgerError(f"{source.address} lacks match {number}; `peerage verify` says more")
            batch.fixtures.append(_whole(rows.fixture, source))
            batch.attempts += _cut(rows.exchanges, pin, source)
        yield _with_texts(source, batch, known)


def _media(source: Ledger) -> Iterator[Batch]:
    """All pictures and sounds, each in a batch of its own; one that comes in later is of use to nobody."""
    for digest in source.media_digests():
        for body in source.media([digest]).values():
            if sha256(body).hexdigest() != digest:
                raise LedgerError(
                    f"{source.address}: the picture or sound {digest} is damaged; restore a copy"
                )
            yield Batch(media=[(bytes.fromhex(digest), body)], log=())


def _snapshots(source: Ledger, newest: _Newest) -> Iterator[Batch]:
    """The snapshots that are as they were logged."""
    batch, held = Batch(log=()), 0
    for number, body, whole in source.snapshots():
        if whole and newest.digests.get(f"snapshot {number}") == sha256(body).digest():
            batch.snapshots.append((number, body))
            held += len(body)
        if held > BYTES:
            yield batch
            batch, held = Batch(log=()), 0
    yield batch


def _amendments(source: Ledger, pin: Pin) -> Iterator[Batch]:
    """Yield the log up to the pin, with its amendments."""
    log, amendments = _log(source, pin), source.amendments()
    amendment = next(amendments, None)
    while entries := list(islice(log, ROWS)):
        batch = Batch(log=entries)
        while amendment is not None and amendment.position <= entries[-1].position:
            batch.amendments.append(amendment)
            amendment = next(amendments, None)
        yield batch


def _with_texts(source: Ledger, batch: Batch, known: set[bytes]) -> Batch:
    named = {digest for row in batch.fixtures for digest in fixture_texts(row.body)}
    for row in batch.attempts:
        named |= texts_of(row.request)
    due = {bytes.fromhex(digest.decode()) for digest in named if len(digest) == 64} - known
    if len(known) > MOST_TEXTS:  # which are written again, in vain
        known.clear()
    known |= due
    batch.texts += sorted(source.texts(sorted(due)).items())
    return batch


def _whole(row: FixtureRow, source: Ledger) -> FixtureRow:
    if checksum(row.body) != row.checksum:
        raise _damaged(source, row.number)
    return row


def _cut(rows: Iterable[Exchange], pin: Pin, source: Ledger) -> Iterator[Exchange]:
    for row in rows:
        if any(altered(row)):
            raise _damaged(source, row.match)
        yield from at_pin([row], pin)


def at_pin(rows: Iterable[Exchange], pin: Pin) -> Iterator[Exchange]:
    """Yield attempts as they were at the pin."""
    for row in rows:
        if row.reply_id is not None and row.reply_id > pin.replies:
            row = replace(row, **_UNANSWERED)
        if row.failure is not None and row.failure.id > pin.failures:
            row = replace(row, failure=None)
        if row.id <= pin.intents:
            yield row


_UNANSWERED = dict.fromkeys(("reply", "cost_nano", "reply_id", "reply_checksum", "at_ms", "latency_ms"))


def _damaged(source: Ledger, match: int) -> LedgerError:
    return LedgerError(f"{source.address}: match {match} is damaged; `peerage verify` says more")
