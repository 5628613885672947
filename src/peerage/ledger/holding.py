"""Rows of a ledger, compared with its log before they are used.

Every reader of a ledger reads through this, but for what checks or copies it (`Ledger.as_stored`). The log's
entry about a finished match is over its rows and its link in the chain of records, and the record is over
fixture and replies. Matches in play are compared where the last run came to its end. A difference raises
LedgerError, which names the match; `verify` lists all of them.

A run may write between any two reads. Most of what it wrote stays as it is; what it may still change or add
to (late failures of a finished match, facts, what is in play) is read at one moment with the log's entries
about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any

import msgspec

from peerage.ledger.forms.codec import RecordHeader, read_header
from peerage.ledger.forms.log import finished, of_amendment, of_record, root_of
from peerage.ledger.forms.merkle import GENESIS, link
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.forms.rows import (
    UNLOGGED,
    Amendment,
    Attempts,
    Entry,
    FixtureRow,
    LedgerError,
    RecordRow,
)
from peerage.ledger.lineup import LineUp, changed_in_play
from peerage.ledger.stores.contract import changed
from peerage.ledger.tables import StoredRows

AT_ONCE = 50
"""Matches whose rows are held at a time."""
FACTS_FROM_THE_START = 100
"""Entries of the log among which an arena's facts stand, but for those that changed later."""


Logged = Mapping[int, bytes]
"""The digests that the log holds of matches, as they were folded."""
Check = Callable[[RecordRow, Attempts, bytes, Logged, StoredRows], None]
"""Holds a record and its attempts, of the moment of the rows, against the link before it and the log."""


AtOneMoment = Callable[[Callable[[StoredRows], Any]], Any]
"""Does some work with all rows as they are at one moment."""


class Holding:
    """Reads the `rows` of the ledger at a `place`, now or at one `moment`, of matches in the order of their
    places."""

    def __init__(self, rows: StoredRows, moment: AtOneMoment, place: str, lineup: LineUp) -> None:
        self._rows = rows
        self._moment = moment
        self._place = place
        self._lineup = lineup

    def records(self, numbers: Sequence[int]) -> Iterator[RecordRow]:
        """Records of finished matches, by the chain between them and the log's entry about the last."""
        before, row = self._link_before(numbers), None
        for row in self._rows.records(numbers):
            if link(before, row.body) != row.chain:
                raise self._differs(row.number, "its record or the one before it changed")
            before = row.chain
            yield row
        if row is not None:
            logged = self._logged([row.number])
            self._moment(partial(self._rows_of, row, None, logged))

    def fixtures(self, numbers: Sequence[int]) -> Iterator[FixtureRow]:
        """Fixtures of finished matches, by their records."""
        records = self.records(numbers)
        for issued in self._rows.fixtures(numbers):
            record = next(records, None)
            if record is None or record.number != issued.number:
                raise self._differs(issued.number, "its fixture or its record is missing")
            self._fixture(issued, record)
            yield issued
        for record in records:
            raise self._differs(record.number, "its fixture is missing")

    def attempts(self, numbers: Sequence[int]) -> Iterator[Attempts]:
        """Every attempt in finished matches."""
        return self._blocks(numbers, self._match, bodies=True)

    def costs(self, numbers: Sequence[int]) -> None:
        """Raise LedgerError where attempts in finished matches, or their costs, differ from the log."""
        for _ in self._blocks(numbers, self._record, bodies=False):
            pass

    def _blocks(self, numbers: Sequence[int], check: Check, *, bodies: bool) -> Iterator[Attempts]:
        entries = self._entries(numbers)
        logged: dict[int, bytes] = {}
        before = self._link_before(numbers)

        def read(block: Sequence[int], before: bytes, rows: StoredRows) -> tuple[Sequence[Attempts], bytes]:
            parts = list(rows.attempts(block, bodies=bodies))
            attempts = dict(chain.from_iterable(part.by_match() for part in parts))
            for record in rows.records(block):
                while record.number not in logged and (entry := next(entries, None)):
                    logged[finished(entry.about)] = entry.digest
                check(record, attempts.pop(record.number, Attempts()), before, logged, rows)
                before = record.chain
            for number in attempts:
                raise self._differs(number, "its record is missing")
            return parts, before

        for at in range(0, len(numbers), AT_ONCE):
            parts, before = self._moment(partial(read, numbers[at : at + AT_ONCE], before))
            yield from parts

    def match(
        self, rows: StoredRows, issued: FixtureRow, record: RecordRow, attempts: Attempts | None
    ) -> None:
        """Raise LedgerError where a finished match, or all but the bodies of its `attempts` where these were
        not read, is not as it was logged. All of it is of the moment of `rows`."""
        before, logged = self._link_before([record.number]), self._logged([record.number])
        if attempts is not None:
            self._match(record, attempts, before, logged, rows)
        else:
            self._record(record, None, before, logged, rows)
        self._fixture(issued, record)

    def in_play(self, rows: StoredRows) -> None:
        """Raise LedgerError where what is in play at the moment of `rows` is not as it was when the last run
        ended."""
        newest, last = rows.last_entry(), rows.last_entry("record ")
        order, (_, recorded) = self._lineup.order(), rows.newest()
        if order is not None:
            if newest is None or order.position != newest.position:
                return  # somebody has written since this moment, or a server lags behind
            recorded = order.folded
        if last is not None and self._lineup.place(finished(last.about)) > recorded:
            raise self._differs(finished(last.about), "it is in the log, and its record is missing")
        if changed_in_play(rows, order, recorded):
            raise changed(self._place, f"what is in play after match {recorded} changed")

    def texts(self, texts: Mapping[bytes, str]) -> None:
        """Raise LedgerError where one of these texts is not that of its digest."""
        for digest, text in texts.items():
            if sha256(text.encode()).digest() != digest:
                raise changed(self._place, f"the text {digest.hex()} changed")

    def media(self, media: Mapping[str, bytes]) -> None:
        """Raise LedgerError where one of these pictures and sounds is not that of its digest (hex)."""
        for digest, body in media.items():
            if sha256(body).hexdigest() != digest:
                raise changed(self._place, f"the picture or sound {digest} changed")

    def facts(self) -> Mapping[str, str]:
        """The facts of the arena."""
        facts: Mapping[str, str] = self._moment(self._facts)
        return facts

    def _facts(self, rows: StoredRows) -> Mapping[str, str]:
        facts = rows.facts()
        left = {f"fact {key}": sha256(value.encode()).digest() for key, value in facts.items()}
        for key in UNLOGGED:
            left.pop(f"fact {key}", None)
        for entry in rows.log(0, FACTS_FROM_THE_START) if left else ():
            if left.get(entry.about) == entry.digest:
                del left[entry.about]
        for about, digest in left.items():
            newest = rows.last_entry(about)
            if newest is None or newest.digest != digest:
                raise changed(self._place, f"the {about!r} in the table meta is not as it was logged")
        return facts

    def amendments(self, topic: str) -> Iterator[Amendment]:
        """Yield the amendments of a topic, or of all."""
        entries: Iterator[Entry] = iter(())
        entry: Entry | None = None
        for row in self._rows.amendments(topic):
            if entry is None or row.position > entry.position + FACTS_FROM_THE_START:
                entries = self._rows.log(row.position - 1)
            entry = next((candidate for candidate in entries if candidate.position >= row.position), None)
            if entry is None:  # written since these entries were read
                entries = self._rows.log(row.position - 1)
                entry = next(entries, None)
            due = row.topic, of_amendment(row.at_ms, row.body)
            if entry is None or (entry.position, entry.about, entry.digest) != (row.position, *due):
                raise changed(self._place, f"entry {row.position} of its log, about {row.topic}, changed")
            yield row

    # ---------------------------------------------------------------------------------------- one match

    def _match(
        self, record: RecordRow, attempts: Attempts, before: bytes, logged: Logged, rows: StoredRows
    ) -> None:
        self._record(record, attempts, before, logged, rows)
        if root_of(attempts.answered()) != self._header(record).root:
            raise self._differs(record.number, "a request or a reply changed")

    def _record(
        self, record: RecordRow, attempts: Attempts | None, before: bytes, logged: Logged, rows: StoredRows
    ) -> None:
        if link(before, record.body) != record.chain:
            raise self._differs(record.number, "its record or the one before it changed")
        self._rows_of(record, attempts, logged, rows)

    def _rows_of(
        self, record: RecordRow, attempts: Attempts | None, logged: Logged, rows: StoredRows
    ) -> None:
        if attempts is None:
            attempts = next(rows.attempts([record.number], bodies=False), Attempts())
        digest = of_record(record.at_ms, record.chain, attempts)
        if logged.get(record.number) == digest:
            return
        # What became known of it after it was folded, such as a late failure, was logged again.
        newest = rows.last_entry(f"record {record.number}")
        if newest is None or newest.digest != digest:
            raise self._differs(record.number, "attempts, costs, times or failures changed")

    def _fixture(self, issued: FixtureRow, record: RecordRow) -> None:
        if digest_of(issued.body) != self._header(record).fixture:
            raise self._differs(record.number, "its fixture changed")

    def _header(self, record: RecordRow) -> RecordHeader:
        try:
            return read_header(record.body)
        except msgspec.MsgspecError as error:
            raise self._differs(record.number, f"its record cannot be read ({error})") from error

    def _differs(self, number: int, what: str) -> LedgerError:
        return changed(self._place, f"match {number}: {what}")

    # ------------------------------------------------------------------------------------------- the log

    def _link_before(self, numbers: Sequence[int]) -> bytes:
        """The chain value of the record before the first of these."""
        place = self._lineup.place(numbers[0]) if numbers else 1
        if place == 1:
            return GENESIS
        earlier = self._rows.links(self._lineup.numbers(place - 1, place - 1))
        return next((chain for _, _, chain in earlier), b"")

    def _logged(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """The digests that the log holds of these matches, which follow each other."""
        digests: dict[int, bytes] = {}
        for entry in self._entries(numbers):
            digests[finished(entry.about)] = entry.digest
            if finished(entry.about) == numbers[-1]:
                break
        return digests

    def _entries(self, numbers: Sequence[int]) -> Iterator[Entry]:
        """The log's entries about matches, from the first of these on."""
        return self._from_place(self._lineup.place(numbers[0])) if numbers else iter(())

    def _from_place(self, place: int) -> Iterator[Entry]:
        """The log's entries about matches from that place on. Matches enter the log in the order of their
        places, so the first is searched by halves."""
        newest = self._rows.last_entry()
        low, high = place - 1, newest.position if newest else 0
        while high - low > AT_ONCE:
            half = (low + high) // 2
            entry = next(filter(_about_a_match, self._rows.log(half)), None)
            if entry is not None and self._lineup.place(finished(entry.about)) <= place:
                low = entry.position - 1
                if self._lineup.place(finished(entry.about)) == place:
                    break
            else:
                high = half
        begun = False
        for entry in filter(_about_a_match, self._rows.log(max(low, 0))):
            begun = begun or self._lineup.place(finished(entry.about)) >= place
            if begun:
                yield entry


def _about_a_match(entry: Entry) -> bool:
    return finished(entry.about) > 0
