"""The ledger in an SQL database, through SQLAlchemy Core; `store.Ledger` states the contract.

What only one database needs lives beside it (`sqlite.py`).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from itertools import islice, starmap
from typing import Any
from zlib import crc32

from sqlalchemy import Select, Table, exists, func, inspect, or_, select
from sqlalchemy.exc import DBAPIError

from peerage.ledger import narrow
from peerage.ledger.log import Rolling
from peerage.ledger.sql_database import Database
from peerage.ledger.sql_rows import BLOCK, LineUp, Read, Row, attempts, span
from peerage.ledger.sql_tables import (
    AMENDMENTS,
    ENTRIES,
    FAILURES,
    FIXTURES,
    INTENTS,
    LOG,
    META,
    RECORDS,
    REPLIES,
    SCHEMA,
    SNAPSHOTS,
    SUMMARIES,
    TEXTS,
    damaged,
    make_tables,
    schema_version,
)
from peerage.ledger.sql_writer import SqlWriter
from peerage.ledger.store import (
    Amendment,
    Batch,
    Entry,
    Exchange,
    FixtureRow,
    LedgerError,
    LedgerMissing,
    MatchRows,
    OldAmendment,
    Pin,
    RecordRow,
    Summary,
)

_MOST = 10**15  # matches; what is beyond was not counted by us, and numbers after it do not fit a column

_FIXTURE = select(FIXTURES.c.number, FIXTURES.c.round, FIXTURES.c.body, FIXTURES.c.checksum)
_RECORD = select(RECORDS.c.number, RECORDS.c.body, RECORDS.c.chain, RECORDS.c.at_ms)
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


class SqlLedger:
    """The `Ledger` protocol over one SQL database."""

    def __init__(self, file: Database) -> None:
        self.address = file.address
        self._file = file
        self._readers = file.reading()
        self._writer: SqlWriter | None = None
        self._writing = threading.Lock()
        self._lineup = LineUp(self._read)
        self._tables: Sequence[str] = ()

    def prepare(self, *, create: bool) -> None:
        """Check that this is a ledger we can use; make one (`create`) where there is none.

        Raises LedgerError when there is none, when it is something else, or newer than this program.
        """
        place, version = self._file.place, 0
        if self._file.exists():
            with self._file.explained(), self._readers.connect() as connection:
                version = schema_version(connection, place)
        elif not create:
            raise LedgerMissing(f"there is no ledger at {place} yet; `peerage run` makes it")
        if version == 0 and not create:
            raise LedgerMissing(f"{place} is empty; `peerage run` makes a ledger of it")
        if version == 0:
            with self._file.holding(create=True) as connection, self._file.explained(), connection.begin():
                if not schema_version(connection, place):
                    make_tables(connection)

    # ------------------------------------------------------------------------------------------ writing

    @contextmanager
    def runner(self) -> Iterator[None]:
        with self._file.holding(create=False) as connection:
            self._writer = SqlWriter(self._file, connection)
            try:
                yield
            finally:
                # A full disk must not hide why the run ended; the log then ends as after a crash.
                if self._writer.written:
                    with suppress(LedgerError, DBAPIError):
                        self._commit(SqlWriter.end)
                with self._writing:
                    self._writer = None

    def write(self, batch: Batch) -> None:
        if "schema" in batch.meta:
            raise LedgerError("the schema version is not for a runner to write")
        self._commit(lambda writer: writer.write(batch))

    def replace_summaries(self, summaries: Iterable[Summary]) -> None:
        self._commit(lambda writer: writer.rewrite(summaries), again=False)

    def _commit(self, work: Callable[[SqlWriter], None], *, again: bool = True) -> None:
        """One transaction: what is written and its entries in the log become durable together. What cannot be
        done `again` is not, where the connection is lost."""
        with self._writing, self._file.explained():
            if self._writer is None:
                raise LedgerError(f"{self.address} is written only inside `with ledger.runner():`")
            connection, writers = self._writer.connection, [self._writer]

            def done() -> None:
                # What a writer knows of a transaction that failed is of no use for the next.
                writer = writers.pop() if writers else SqlWriter(self._file, connection)
                self._writer = SqlWriter(self._file, connection)
                work(writer)
                known.append(writer)

            known: list[SqlWriter] = []
            self._file.commit(connection, done, again=again)
            self._writer = known[-1]

    # ------------------------------------------------------------------------------------------ reading

    def meta(self) -> Mapping[str, str]:
        return dict(self._read(select(META.c.key, META.c.value)))

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        wanted, rows = select(TEXTS.c.digest, TEXTS.c.body), list[Row]()
        if digests is None:
            rows += self._read(wanted)
        else:
            left = iter(digests)
            while part := list(islice(left, BLOCK)):
                rows += self._read(wanted.where(TEXTS.c.digest.in_(part)))
        # Damage stays visible: bytes that are no text become marks, which no longer fit the digest.
        return {bytes(digest): bytes(body).decode(errors="replace") for digest, body in rows}

    def match(self, number: int, *, exchanges: bool = True) -> MatchRows | None:
        if not 0 < number <= _MOST:
            return None
        with self._at_once() as read:

            def its(wanted: Select[Any]) -> Iterable[Row]:
                return read(wanted.where(wanted.selected_columns[0] == number))

            fixture = next(starmap(FixtureRow, its(_FIXTURE)), None)
            if fixture is None:
                return None
            record = next(starmap(RecordRow, its(_RECORD)), None)
            return MatchRows(fixture, record, list(attempts(read, its)) if exchanges else [])

    def fixtures(self, first: int = 1, last: int | None = None) -> Iterator[FixtureRow]:
        return starmap(FixtureRow, self._rows(_FIXTURE.order_by(FIXTURES.c.number), first, last))

    def exchanges(
        self, first: int, last: int | None = None, *, unanswered: bool = False
    ) -> Iterator[Exchange]:
        return attempts(self._read, partial(self._rows, first=first, last=last), unanswered=unanswered)

    def records(self, first: int = 1, last: int | None = None) -> Iterator[RecordRow]:
        return starmap(RecordRow, self._rows(_RECORD.order_by(RECORDS.c.number), first, last))

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        rows = self._rows(select(SUMMARIES).order_by(SUMMARIES.c.number), first, last)
        while part := list(islice(rows, BLOCK)):
            yield from narrow.deep(part)

    def narrow(self) -> Iterator[Summary]:
        about, logged = self._last_entry("narrow %") or ("narrow 0", b"")
        number = about.removeprefix("narrow ")
        if not number.isdecimal():
            raise damaged(self._file.place, f"its log is about {about!r}")
        due, seen = int(number), Rolling()
        rows = self._rows(select(SUMMARIES).order_by(SUMMARIES.c.number), 1, None)
        while part := list(islice(rows, BLOCK)):
            if seen.rows < due:
                seen.add([tuple(row) for row in part[: due - seen.rows]])
                if seen.rows == due and seen.digest() != logged:
                    break
            yield from narrow.deep(part)
        else:
            if seen.rows == due:
                return
        raise LedgerError(
            f"{self._file.place} is damaged: its narrow table is not what was logged of it after match "
            f"{due}. `peerage verify` names the match, `peerage replay --mend` writes the table again"
        )

    def _last_entry(self, like: str) -> tuple[str, bytes] | None:
        t = LOG.c
        wanted = select(t.about, t.digest).where(t.about.like(like)).order_by(t.position.desc()).limit(1)
        return next(((about, bytes(logged)) for about, logged in self._read(wanted)), None)

    def log(self) -> Iterator[Entry]:
        t = LOG.c
        return starmap(Entry, self._read(select(t.position, t.about, t.digest, t.chain).order_by(t.position)))

    def snapshot(self, at_most: int | None = None) -> tuple[int, bytes] | None:
        t = SNAPSHOTS.c
        newest = select(t.number, t.body).order_by(t.number.desc()).limit(1)
        while found := next(self._read(newest.where(span(t.number, 0, at_most))), None):
            number, body = found
            logged = self._last_entry(f"snapshot {number}")
            if logged is not None and logged[1] == sha256(body).digest():
                return number, body
            at_most = number - 1
        return None

    def snapshots(self) -> Iterator[tuple[int, bytes, bool]]:
        t = SNAPSHOTS.c
        for number, body, checksum in self._read(select(t.number, t.body, t.checksum).order_by(t.number)):
            yield number, body, crc32(body) == checksum

    def pin(self) -> Pin:
        columns = [FIXTURES.c.number, INTENTS.c.id, REPLIES.c.id, FAILURES.c.id]
        columns = columns if self._lacks(select(LOG.c.position)) else [LOG.c.position, *columns]
        newest = [select(func.coalesce(func.max(column), 0)).scalar_subquery() for column in columns]
        with self._at_once() as read:
            found = next(iter(read(select(*newest))))
        return Pin(*found) if len(found) == len(Pin._fields) else Pin(0, *found)

    def heads(self) -> tuple[int, int]:
        order = self._lineup.order()
        return self._newest(FIXTURES), self._newest(RECORDS) if order is None else order.folded

    def place(self, number: int) -> int:
        order = self._lineup.order()
        return number if order is None else order.places.get(number, number)

    def numbers(self, first: int, last: int) -> Sequence[int]:
        order = self._lineup.order()
        return range(first, last + 1) if order is None else order.numbers[first - 1 : last]

    def _newest(self, table: Table) -> int:
        newest = int(self._one(select(func.coalesce(func.max(table.c.number), 0))))
        if newest > _MOST:
            raise damaged(self._file.place, f"{table.name} holds a match {newest}")
        return newest

    def spent_by(self, last: int | None = None) -> dict[str, int]:
        i, left_out = INTENTS.c, list[int]()
        if last is not None and (order := self._lineup.order()) is not None:
            last, left_out = len(order.numbers), [*order.numbers[last:]]
        # Read from indexes alone, so that what selects by it touches only the few rows found.
        of = INTENTS.alias().c.id
        unanswered = select(of).where(
            ~exists().where(REPLIES.c.intent == of), ~exists().where(FAILURES.c.intent == of)
        )
        spent: dict[str, int] = {}
        for wanted in (
            select(i.player, func.sum(REPLIES.c.cost_nano)).join(REPLIES, REPLIES.c.intent == i.id),
            select(i.player, func.sum(FAILURES.c.cost_nano)).join(FAILURES, FAILURES.c.intent == i.id),
            select(i.player, func.sum(i.worst_nano)).where(i.id.in_(unanswered)),
        ):
            if last is not None:
                wanted = wanted.where(i.match <= last, i.match.not_in(left_out))
            for name, nano in self._read(wanted.group_by(i.player)):
                spent[name] = spent.get(name, 0) + int(nano or 0)
        return spent

    def amendments(self, topic: str = "") -> Iterator[Amendment]:
        for old in self.streams(topic):
            yield Amendment(old.stream, old.body, old.at_ms)
        t = ENTRIES.c
        wanted = select(t.topic, t.body, t.at_ms, t.position).order_by(t.position)
        yield from starmap(Amendment, self._read(wanted.where(t.topic == topic) if topic else wanted))

    def topics(self) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for topic in (AMENDMENTS.c.stream, ENTRIES.c.topic):
            found.update(dict(self._read(select(topic, func.count()).group_by(topic))))
        return found

    def streams(self, topic: str = "") -> Iterator[OldAmendment]:
        t = AMENDMENTS.c
        wanted = select(t.id, t.stream, t.sequence, t.chain, t.at_ms, t.body).order_by(t.id)
        if topic:
            wanted = wanted.where(t.stream == topic).order_by(None).order_by(t.sequence)
        return starmap(OldAmendment, self._read(wanted))

    def integrity(self) -> Sequence[str]:
        with self._file.explained():
            problems = list(self._file.integrity(self._readers, SCHEMA))
        for column, stray in _STRAYS:
            wanted = select(func.count(), func.coalesce(func.min(column), 0)).select_from(column.table)
            count, first = next(self._read(wanted.where(stray)))
            if count:
                problems.append(
                    f"the table {column.table.name} holds {count} rows that belong to no match or request, "
                    f"the first with {column.name} {first}"
                )
        # Where matches wait, rows are found by the log: one that it does not know is never read.
        if (order := self._lineup.order()) is not None:
            problems += [
                f"the table {table.name} holds {count} rows that the log does not know"
                for table in (RECORDS, SUMMARIES)
                if (count := self._one(select(func.count()).select_from(table)) - order.folded) > 0
            ]
        return problems

    def close(self) -> None:
        self._readers.dispose()

    def _rows(self, wanted: Select[Any], first: int, last: int | None) -> Iterator[Row]:
        return self._lineup.rows(wanted, first, last)

    def _one(self, wanted: Select[Any]) -> Any:
        return next(self._read(wanted))[0]

    def _read(self, wanted: Select[Any]) -> Iterator[Row]:
        if not self._lacks(wanted):
            with self._file.explained():
                yield from self._file.read(self._readers, wanted)

    @contextmanager
    def _at_once(self) -> Iterator[Read]:
        """Reads tables that every form of ledger has, all as they are at one moment."""
        with self._file.explained(), self._file.moment(self._readers) as connection:
            yield partial(self._file.rows, connection)

    def _lacks(self, wanted: Select[Any]) -> bool:
        """Whether this is an earlier, or for old amendments a later, form of ledger without what is read."""
        if ENTRIES.name not in self._tables:  # from then on none is added
            with self._file.explained(), self._file.moment(self._readers) as connection:
                self._tables = inspect(connection).get_table_names()
        tables = [each.name for each in wanted.columns_clause_froms if isinstance(each, Table)]
        return not set(tables).issubset(self._tables)
