"""A ledger's rows in an SQL database, through SQLAlchemy Core: a `database.Database`.

What only one database needs lives in its own module (`sqlite`, `postgres`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import starmap
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, Select, Table, delete, exists, func, inspect, or_, select

from peerage.ledger.database import BLOCK, Row, Rows, Transaction, still_open
from peerage.ledger.narrow import flat
from peerage.ledger.sql_database import Insert, SqlStore
from peerage.ledger.sql_rows import Read, attempts, picked, span
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
    make_tables,
    schema_version,
)
from peerage.ledger.store import (
    Amendment,
    Batch,
    Entry,
    Exchange,
    FixtureRow,
    LedgerMissing,
    OldAmendment,
    Pin,
    RecordRow,
)

NEAR = 1_000
"""Entries at the end of the log in which an entry is looked for first: some ten snapshots."""
_NEWEST = select(func.coalesce(func.max(FIXTURES.c.number), 0)).scalar_subquery()
_STRAYS = (
    (FIXTURES.c.number, FIXTURES.c.number < 1),
    (RECORDS.c.number, RECORDS.c.number < 1),
    (SUMMARIES.c.number, ~exists().where(RECORDS.c.number == SUMMARIES.c.number)),
    (INTENTS.c.match, or_(INTENTS.c.match < 1, INTENTS.c.match > _NEWEST)),
    (REPLIES.c.intent, ~exists().where(INTENTS.c.id == REPLIES.c.intent)),
    (FAILURES.c.intent, ~exists().where(INTENTS.c.id == FAILURES.c.intent)),
)
"""Which rows belong to nothing, by the column that says to what: nobody reads them match by match."""


class SqlRows:
    """Rows as `read` reads them; `lacks` says whether this form of ledger lacks a table that is read."""

    def __init__(self, read: Read, lacks: Callable[[Select[Any]], bool] = lambda _: False) -> None:
        self._read = read
        self._lacks = lacks

    def facts(self) -> dict[str, str]:
        return dict(self._read(select(META.c.key, META.c.value)))

    def texts(self, digests: Sequence[bytes] | None) -> Iterator[tuple[bytes, bytes]]:
        wanted = select(TEXTS.c.digest, TEXTS.c.body)
        if digests is None:
            yield from self._read(wanted)
            return
        for at in range(0, len(digests), BLOCK):
            yield from self._read(wanted.where(TEXTS.c.digest.in_(digests[at : at + BLOCK])))

    def fixtures(self, matches: Sequence[int]) -> Iterator[FixtureRow]:
        t = FIXTURES.c
        wanted = select(t.number, t.round, t.body, t.checksum).order_by(t.number)
        return starmap(FixtureRow, picked(self._read, wanted, matches))

    def exchanges(
        self, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
    ) -> Iterator[Exchange]:
        return attempts(self._read, matches, unanswered=unanswered, bodies=bodies)

    def records(self, matches: Sequence[int]) -> Iterator[RecordRow]:
        t = RECORDS.c
        wanted = select(t.number, t.body, t.chain, t.at_ms).order_by(t.number)
        return starmap(RecordRow, picked(self._read, wanted, matches))

    def links(self, matches: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        t = RECORDS.c
        for number, at_ms, chain in picked(self._read, select(t.number, t.at_ms, t.chain), matches):
            yield number, at_ms, bytes(chain)

    def summaries(self, matches: Sequence[int]) -> Iterator[Row]:
        return picked(self._read, select(SUMMARIES).order_by(SUMMARIES.c.number), matches)

    def newest(self) -> tuple[int, int]:
        highest = [
            select(func.coalesce(func.max(column), 0)).scalar_subquery()
            for column in (FIXTURES.c.number, RECORDS.c.number)
        ]
        issued, recorded = next(iter(self._read(select(*highest))))
        return issued, recorded

    def last_snapshot(self, at_most: int | None) -> tuple[int, bytes] | None:
        t = SNAPSHOTS.c
        newest = select(t.number, t.body).order_by(t.number.desc()).limit(1)
        newest = newest.where(t.number >= 0 if at_most is None else t.number.between(0, at_most))
        return next(((number, body) for number, body in self._read(newest)), None)

    def snapshots(self) -> Iterator[tuple[int, bytes, int]]:
        t = SNAPSHOTS.c
        yield from self._read(select(t.number, t.body, t.checksum).order_by(t.number))

    def log(self, after: int = 0) -> Iterator[Entry]:
        wanted = select(LOG).order_by(LOG.c.position)
        return starmap(Entry, self._read(wanted.where(LOG.c.position > after) if after else wanted))

    def last_entry(self, about: str = "") -> Entry | None:
        t, newest = LOG.c, select(LOG).order_by(LOG.c.position.desc()).limit(1)
        found = next(iter(self._read(newest)), None)
        if about and found is not None:
            wanted = newest.where(t.about.like(f"{about}%") if about[-1] == " " else t.about == about)
            # Seldom far from the end, where PostgreSQL would not begin: it would read the whole log.
            near = wanted.where(t.position > found[0] - NEAR)
            found = next(iter(self._read(near)), None) or next(iter(self._read(wanted)), None)
        return None if found is None else Entry(*found[:2], *map(bytes, found[2:]))

    def pin(self) -> Pin:
        columns = [FIXTURES.c.number, INTENTS.c.id, REPLIES.c.id, FAILURES.c.id]
        columns = columns if self._lacks(select(LOG.c.position)) else [LOG.c.position, *columns]
        newest = [select(func.coalesce(func.max(column), 0)).scalar_subquery() for column in columns]
        found = next(iter(self._read(select(*newest))))
        return Pin(*found) if len(found) == len(Pin._fields) else Pin(0, *found)

    def spent_by(
        self, last: int | None, but_for: Sequence[int], replies_of: Collection[str] | None
    ) -> dict[str, int]:
        i, spent = INTENTS.c, Counter[str]()

        def within(wanted: Select[Any]) -> Select[Any]:
            return wanted if last is None else wanted.where(i.match <= last, i.match.not_in(but_for))

        replied = select(i.player, func.sum(REPLIES.c.cost_nano)).join(REPLIES, REPLIES.c.intent == i.id)
        failed = select(i.player, func.sum(FAILURES.c.cost_nano)).join(FAILURES, FAILURES.c.intent == i.id)
        sums = [failed]
        if replies_of is None:
            sums.append(replied)
        elif replies_of:
            sums.append(replied.where(i.player.in_(replies_of)))
        for wanted in sums:
            rows = self._read(within(wanted).group_by(i.player))
            spent.update({name: int(nano or 0) for name, nano in rows})
        for _, player, match, worst in still_open(self, self._unanswered):
            if last is None or (match <= last and match not in but_for):
                spent[player] += worst or 0
        return dict(spent)

    def _unanswered(self, ids: range) -> Sequence[Row]:
        i = INTENTS.c
        # Ranges of both sides: no planner reads the whole of one for a part of the other.
        neither = [
            ~exists().where(table.c.intent == i.id, span(table.c.intent, ids))
            for table in (REPLIES, FAILURES)
        ]
        wanted = select(i.id, i.player, i.match, i.worst_nano).where(span(i.id, ids), *neither)
        return list(self._read(wanted.order_by(i.id)))

    def said(self, topic: str) -> Iterator[Amendment]:
        t = ENTRIES.c
        wanted = select(t.topic, t.body, t.at_ms, t.position).order_by(t.position)
        return starmap(Amendment, self._read(wanted.where(t.topic == topic) if topic else wanted))

    def any_said(self, topic: str) -> bool:
        t = ENTRIES.c
        return any(True for _ in self._read(select(t.position).where(t.topic == topic).limit(1)))

    def topics(self) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for topic in (AMENDMENTS.c.stream, ENTRIES.c.topic):
            found.update(dict(self._read(select(topic, func.count()).group_by(topic))))
        return found

    def streams(self, topic: str) -> Iterator[OldAmendment]:
        t = AMENDMENTS.c
        wanted = select(t.id, t.stream, t.sequence, t.chain, t.at_ms, t.body).order_by(t.id)
        if topic:
            wanted = wanted.where(t.stream == topic).order_by(None).order_by(t.sequence)
        return starmap(OldAmendment, self._read(wanted))


class SqlTransaction(SqlRows):
    """What the runner writes through its one connection."""

    def __init__(self, store: SqlStore, connection: Connection) -> None:
        super().__init__(lambda wanted: map(tuple, connection.execute(wanted)))
        self.connection = connection
        self._store = store

    def insert(self, batch: Batch) -> None:
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
        self._store.insert(self.connection, inserts)

    def enter(
        self, rows: Sequence[tuple[int, str, bytes, bytes]], said: Sequence[tuple[int, Amendment]]
    ) -> None:
        bodies = [(at, one.topic, one.at_ms, one.body) for at, one in said]
        self._store.insert(self.connection, [Insert(LOG, rows), Insert(ENTRIES, bodies)])

    def clear(self) -> None:
        self.connection.execute(delete(SNAPSHOTS))
        self.connection.execute(delete(SUMMARIES))

    def modernize(self) -> bool:
        there = inspect(self.connection).get_table_names()
        SCHEMA.create_all(self.connection, LATER)
        return ENTRIES.name not in there


class SqlDatabase:
    """A `database.Database` over an SQL store."""

    def __init__(self, store: SqlStore) -> None:
        self.address = store.address
        self.place = store.place
        self.rows: Rows = SqlRows(self._read, self._lacks)
        self._store = store
        self._readers = store.reading()
        self._writer: Connection | None = None
        self._tables: Sequence[str] = ()

    def prepare(self, *, create: bool) -> None:
        place, version = self.place, 0
        if self._store.exists():
            with self._store.explained(), self._readers.connect() as connection:
                version = schema_version(connection, place)
        elif not create:
            raise LedgerMissing(f"there is no ledger at {place} yet; `peerage run` makes it")
        if version == 0 and not create:
            raise LedgerMissing(f"{place} is empty; `peerage run` makes a ledger of it")
        if version == 0:
            with self._store.holding(create=True) as connection, self._store.explained(), connection.begin():
                if not schema_version(connection, place):
                    make_tables(connection)

    @contextmanager
    def moment(self) -> Iterator[Rows]:
        with self._store.explained(), self._store.moment(self._readers) as connection:
            yield SqlRows(partial(self._store.rows, connection), self._lacks)

    @contextmanager
    def holding(self) -> Iterator[Transaction]:
        with self._store.holding(create=False) as connection:
            self._writer = connection
            try:
                yield SqlTransaction(self._store, connection)
            finally:
                self._writer = None

    def holder(self) -> str:
        return self._store.holder()

    def listening(self) -> AbstractContextManager[Callable[[], bool] | None]:
        return self._store.listening()

    def stop_waiting(self, *, writes: bool = True) -> None:
        self._store.stop_waiting(writes=writes)

    def commit(self, work: Callable[[], None], *, again: bool) -> None:
        assert self._writer is not None
        with self._store.explained():
            self._store.commit(self._writer, work, again=again)

    def integrity(self) -> Sequence[str]:
        with self._store.explained():
            problems = list(self._store.integrity(self._readers, SCHEMA))
        for column, stray in _STRAYS:
            wanted = select(func.count(), func.coalesce(func.min(column), 0)).select_from(column.table)
            count, first = next(self._read(wanted.where(stray)))
            if count:
                problems.append(
                    f"the table {column.table.name} holds {count} rows that belong to no match or request, "
                    f"the first with {column.name} {first}"
                )
        return problems

    def counts(self) -> Mapping[str, int]:
        return {
            table.name: next(self._read(select(func.count()).select_from(table)))[0]
            for table in (RECORDS, SUMMARIES)
        }

    def close(self) -> None:
        self._readers.dispose()

    def _read(self, wanted: Select[Any]) -> Iterator[Row]:
        if not self._lacks(wanted):
            with self._store.explained():
                yield from self._store.read(self._readers, wanted)

    def _lacks(self, wanted: Select[Any]) -> bool:
        """Whether this is an earlier, or for old amendments a later, form of ledger without what is read."""
        if ENTRIES.name not in self._tables:  # from then on none is added
            with self._store.explained(), self._store.moment(self._readers) as connection:
                self._tables = inspect(connection).get_table_names()
        tables = [each.name for each in wanted.columns_clause_froms if isinstance(each, Table)]
        return not set(tables).issubset(self._tables)


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
