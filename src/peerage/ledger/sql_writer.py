"""Writes into an SQL ledger: rows, and within the same transaction the log's entries about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby, islice
from operator import attrgetter
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, Select, delete, func, inspect, select

from peerage.ledger.log import GENESIS, Rolling, extended, of_amendment, of_play, of_record
from peerage.ledger.log import digest as digest_of
from peerage.ledger.narrow import flat
from peerage.ledger.sql_database import Database, Insert
from peerage.ledger.sql_rows import BLOCK, LineUp, Row, attempts, in_order
from peerage.ledger.sql_tables import (
    AMENDMENTS,
    ENTRIES,
    FAILURES,
    FIXTURES,
    INTENTS,
    LATER,
    LOG,
    META,
    RECORDS,
    REPLIES,
    SCHEMA,
    SNAPSHOTS,
    SUMMARIES,
    TEXTS,
)
from peerage.ledger.store import UNLOGGED, Amendment, Batch, Exchange, FixtureRow, Summary

Said = tuple[str, bytes] | Amendment
"""An entry to come: what it is about with its digest, or an amendment."""

_NOTHING = sha256(b"").digest()


class SqlWriter:
    """Writes through one connection, inside its caller's transactions. After one that failed a new writer
    must be made."""

    def __init__(self, file: Database, connection: Connection) -> None:
        self.connection = connection
        self._file = file
        self._head: tuple[int, bytes] | None = None
        self._folded: list[int] = []
        self._newest = 0
        self._narrow: Rolling | None = None
        self._narrow_logged = 0
        self.written = False

    def write(self, batch: Batch) -> None:
        """Write a batch and log it, or for a copy the entries that come along."""
        if batch.log is None:
            self._prepare()
        self._insert(batch)
        if batch.log is None:
            self._note(batch)
        else:
            rows = [(row.position, row.about, row.digest, row.chain) for row in batch.log]
            self._enter(rows, [(row.position, row) for row in batch.amendments])

    def rewrite(self, summaries: Iterable[Summary]) -> None:
        """Write the narrow table again, log that, and drop what was made of it."""
        self._prepare()
        self.connection.execute(delete(SNAPSHOTS))
        self.connection.execute(delete(SUMMARIES))
        rows = map(flat, summaries)
        while part := list(islice(rows, BLOCK)):
            self._file.insert(self.connection, [Insert(SUMMARIES, part)])
        self._narrow = None
        self._append(self._narrow_entry())

    def end(self) -> None:
        """Log everything that is in play when a run ends."""
        c, match, recorded = FIXTURES.c, INTENTS.c.match, len(self._folded)
        order = LineUp(self._read).order()
        if order is None:
            here, asked = c.number > recorded, match > recorded
        else:
            here, asked = (column.in_(order.numbers[recorded:]) for column in (c.number, match))
        issued = select(c.number, c.round, c.body, c.checksum).where(here).order_by(c.number)
        played = attempts(self._read, lambda wanted: self._read(wanted.where(asked)))
        in_play = of_play([FixtureRow(*row) for row in self._read(issued)], played)
        self._append([*self._narrow_entry(), (f"in play {recorded}", in_play)])

    def _read(self, wanted: Select[Any]) -> Iterator[Row]:
        return map(tuple, self.connection.execute(wanted))

    def _insert(self, batch: Batch) -> None:
        inserts = [
            Insert(TEXTS, [(digest, text.encode()) for digest, text in batch.texts], "OR IGNORE"),
            Insert(FIXTURES, [(r.number, r.round, crc32(r.body), r.body) for r in batch.fixtures]),
            Insert(
                INTENTS,
                [
                    (r.match, r.key, r.attempt, r.player, r.worst_nano, crc32(r.body), r.body)
                    for r in batch.intents
                ],
            ),
            Insert(
                REPLIES,
                [
                    (r.match, r.key, r.attempt, r.cost_nano, r.at_ms, crc32(r.body), r.body)
                    for r in batch.replies
                ],
            ),
            Insert(
                FAILURES,
                [(r.match, r.key, r.attempt, r.reason, r.cost_nano, r.at_ms) for r in batch.failures],
            ),
            *_as_they_are(batch.attempts),
            Insert(RECORDS, [(r.number, r.chain, r.at_ms, r.body) for r in batch.records]),
            Insert(SUMMARIES, [flat(summary) for summary in batch.summaries]),
            Insert(
                SNAPSHOTS, [(number, crc32(body), body) for number, body in batch.snapshots], "OR REPLACE"
            ),
            Insert(META, list(batch.meta.items()), "OR REPLACE"),
        ]
        self._file.insert(self.connection, inserts)

    def _prepare(self) -> None:
        """Find the end of the log before anything else is written; begin one where there is none."""
        if self._head is not None:
            return
        there = inspect(self.connection).get_table_names()
        SCHEMA.create_all(self.connection, LATER)
        c, number = LOG.c, RECORDS.c.number
        last = next(self._read(select(c.position, c.chain).order_by(c.position.desc()).limit(1)), None)
        self._head = (last[0], bytes(last[1])) if last else (0, GENESIS)
        order = LineUp(self._read).order()
        self._newest = next(self._read(select(func.coalesce(func.max(number), 0))))[0]
        self._folded = [*range(1, self._newest + 1)] if order is None else [*order.numbers[: order.folded]]
        if ENTRIES.name not in there:
            self._upgrade(logged=last is not None)
        self._append([(f"run {len(self._folded)}", _NOTHING)])

    def _note(self, batch: Batch) -> None:
        """Log what a batch has just written."""
        facts = {key: value for key, value in batch.meta.items() if key not in UNLOGGED}
        said: list[Said] = [*_facts(facts)]
        recorded = [row.number for row in batch.records]
        late = [row.match for rows in (batch.intents, batch.replies, batch.failures) for row in rows]
        again = {match for match in late if match <= self._newest}.difference(recorded)
        known = select(RECORDS.c.number).where(RECORDS.c.number.in_(sorted(again)))
        again = {number for (number,) in self._read(known)} if again else again
        matches = self._records([*again, *recorded])
        before = len(self._folded)
        self._folded += recorded
        self._newest = max(self._newest, *recorded, 0)
        said += [matches[number] for number in sorted(again)]
        snapshots = dict(batch.snapshots)
        places = [*batch.places, *[0] * (len(batch.amendments) - len(batch.places))]
        # What rests on a record stands after it and before the next, however many a batch holds.
        for place, number in enumerate([0, *recorded]):
            if place:
                said.append(matches[number])
            said += [row for row, at in zip(batch.amendments, places, strict=True) if at == place]
            if before + place in snapshots:
                said += self._snapshot(before + place, snapshots.pop(before + place))
        for number, body in snapshots.items():
            said += self._snapshot(number, body)
        if batch.votes is not None:
            said.append((f"votes {batch.votes[0]}", batch.votes[1]))
        self._append(said)

    def _snapshot(self, number: int, body: bytes) -> list[Said]:
        return [*self._narrow_entry(number), (f"snapshot {number}", sha256(body).digest())]

    def _upgrade(self, *, logged: bool) -> None:
        """Mark that a ledger of an earlier form goes on; what no log held yet is logged as it is."""
        self._append([(f"upgrade {len(self._folded)}", _NOTHING)])
        c = AMENDMENTS.c
        chains = self._read(select(c.stream, c.chain).order_by(c.stream, c.sequence))
        heads = {name: bytes(chain) for name, chain in chains}
        self._append([(f"stream {name}", chain) for name, chain in heads.items()])
        if logged:
            return
        meta: dict[str, str] = dict(self._read(select(META.c.key, META.c.value)))
        self._append(_facts({key: value for key, value in meta.items() if key not in UNLOGGED}))
        filed = self._read(select(c.id, c.stream, c.sequence, c.at_ms).order_by(c.id))
        self._append([(f"amendment {row[0]}", digest_of(row)) for row in filed])
        for at in range(0, len(self._folded), BLOCK):
            self._append(self._records(self._folded[at : at + BLOCK]).values())

    def _records(self, numbers: Sequence[int]) -> dict[int, tuple[str, bytes]]:
        """The entries about finished matches."""
        if not numbers:
            return {}
        r, match = RECORDS.c, INTENTS.c.match
        ended = self._read(select(r.number, r.at_ms, r.chain).where(r.number.in_(numbers)))
        links = {number: (at_ms, bytes(chain)) for number, at_ms, chain in ended}
        played = attempts(self._read, lambda wanted: self._read(wanted.where(match.in_(numbers))))
        asked = {match: list(rows) for match, rows in groupby(played, attrgetter("match"))}
        return {
            number: (f"record {number}", of_record(*links.get(number, (0, GENESIS)), asked.get(number, ())))
            for number in numbers
        }

    def _narrow_entry(self, last: int | None = None) -> list[Said]:
        """The entry about the narrow table up to match `last`, or further where that was logged; none where
        it was."""
        if self._narrow is None:
            self._narrow, self._narrow_logged = Rolling(), 0
        wanted = select(SUMMARIES).order_by(SUMMARIES.c.number)
        rows = in_order(self._read, wanted, self._folded[self._narrow.rows : last])
        while part := list(islice(rows, BLOCK)):
            self._narrow.add(part)
        if self._narrow_logged == self._narrow.rows:
            return []
        self._narrow_logged = self._narrow.rows
        return [(f"narrow {self._narrow.rows}", self._narrow.digest())]

    def _append(self, said: Iterable[Said]) -> None:
        assert self._head is not None
        entries = list(said)
        abouts = [
            (one.topic, of_amendment(one.at_ms, one.body)) if isinstance(one, Amendment) else one
            for one in entries
        ]
        rows = list(extended(*self._head, abouts))
        if rows:
            filed = zip([row[0] for row in rows], entries, strict=True)
            self._enter(rows, [(at, one) for at, one in filed if isinstance(one, Amendment)])
            self._head = rows[-1][0], rows[-1][3]
            self.written = True

    def _enter(
        self, rows: Sequence[tuple[int, str, bytes, bytes]], said: Sequence[tuple[int, Amendment]]
    ) -> None:
        bodies = [(at, one.topic, one.at_ms, one.body) for at, one in said]
        self._file.insert(self.connection, [Insert(LOG, rows), Insert(ENTRIES, bodies)])


def _as_they_are(attempts: Sequence[Exchange]) -> Iterator[Insert]:
    """The rows of attempts, every column of them."""
    if not attempts:
        return
    asked, replied, failed = list[Row](), list[Row](), list[Row]()
    for row in attempts:
        of = row.match, row.key, row.attempt, row.player, row.worst_nano
        asked.append((row.id, *of, row.checksum, row.request))
        if row.reply is not None:
            said = row.cost_nano, row.at_ms, row.reply_checksum, row.reply
            replied.append((row.reply_id, row.id, *said))
        if row.failure is not None:
            failed.append((row.failure.id, row.id, *row.failure[1:]))
    for table, rows in ((INTENTS, asked), (REPLIES, replied), (FAILURES, failed)):
        yield Insert(table, rows, whole=True)


def _facts(meta: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    return ((f"fact {key}", sha256(value.encode()).digest()) for key, value in meta.items())
