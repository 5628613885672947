"""The ledger in an SQL database, through SQLAlchemy Core; `store.Ledger` states the contract.

What only one database needs lives beside it (`sqlite.py`).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import groupby, islice, starmap
from operator import itemgetter
from typing import Any, cast
from zlib import crc32

from sqlalchemy import ColumnElement, Connection, Select, Table, delete, exists, func, inspect, select
from sqlalchemy.exc import DBAPIError

from peerage.ledger import narrow, sql_log
from peerage.ledger.lineup import LineUp
from peerage.ledger.log import Attempt, Entry, Rolling
from peerage.ledger.sqlite import SqliteFile
from peerage.ledger.store import (
    SCHEMA_VERSION,
    Amendment,
    Batch,
    Exchange,
    FixtureRow,
    LedgerError,
    OldAmendment,
    RecordRow,
    Rows,
    Summary,
    Unanswered,
)
from peerage.ledger.tables import (
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
    migrate,
    refuse_newer,
    schema_version,
)

_FETCH = 500
_MOST = 10**15  # matches; what is beyond was not counted by us, and numbers after it do not fit a column

# Rows as `Batch` holds them → INSERT. A reply finds its intent by match, key and attempt; without one it
# is refused, since `intent` must not be null.
_INTO_INTENTS = "intents (match, key, attempt, player, body, worst_nano, checksum)"
_INTO_REPLIES = "replies (intent, body, cost_nano, at_ms, checksum)"
_INTO_FAILURES = "failures (intent, reason, cost_nano, at_ms)"
_INTENT = "(SELECT id FROM intents WHERE match = ? AND key = ? AND attempt = ?)"


class SqlLedger:
    """The `Ledger` protocol over one SQL database."""

    def __init__(self, file: SqliteFile) -> None:
        self.address = file.address
        self._file = file
        self._readers = file.reading()
        self._writer: Connection | None = None
        self._log = sql_log.LogWriter(file)
        self._writing = threading.Lock()
        self._lineup = LineUp()
        self._tables: Sequence[str] = ()

    def prepare(self, *, create: bool) -> None:
        """Check that this is a ledger we can use; make one (`create`), or migrate an older one.

        Raises LedgerError when there is none, when it is something else, or newer than this program.
        """
        if not self._file.exists() and not create:
            raise LedgerError(f"there is no ledger at {self._file.path} yet; `peerage run` makes it")
        version = self._version() if self._file.exists() else 0
        if version == 0 and not create:
            raise LedgerError(f"{self._file.path} is empty; `peerage run` makes a ledger of it")
        refuse_newer(self._file.path, version)
        if version < SCHEMA_VERSION:
            with (
                self._holding(create=create) as connection,
                self._explained(),
                connection.begin(),
            ):
                migrate(connection, schema_version(connection, self._file.path))

    def _version(self) -> int:
        with self._explained(), self._readers.connect() as connection:
            return schema_version(connection, self._file.path)

    # ------------------------------------------------------------------------------------------ writing

    @contextmanager
    def runner(self) -> Iterator[None]:
        with self._holding(create=False) as connection:
            self._writer = connection
            self._log = sql_log.LogWriter(self._file)
            try:
                yield
            finally:
                with self._writing:
                    # A full disk must not hide why the run ended; the log then ends as after a crash.
                    if self._log.written:
                        with suppress(LedgerError, DBAPIError), self._logged() as log:
                            log.end(connection)
                    self._writer = None

    @contextmanager
    def _holding(self, *, create: bool) -> Iterator[Connection]:
        with self._file.lock():
            engine = self._file.writing(create=create)
            with self._explained():
                connection = engine.connect()
            try:
                # An unwritable ledger is refused now, not after the first paid call.
                with self._explained(), connection.begin():
                    pass
                yield connection
            finally:
                self._file.settle(connection)
                connection.close()
                engine.dispose()

    def write(self, batch: Batch) -> None:
        if "schema" in batch.meta:
            raise LedgerError("the schema version is not for a runner to write")
        with self._writing, self._explained(), self._logged(copied=batch.log is not None) as log:
            assert self._writer is not None
            self._write(self._writer, batch)
            (log.note if batch.log is None else log.copy)(self._writer, batch)

    @contextmanager
    def _logged(self, *, copied: bool = False) -> Iterator[sql_log.LogWriter]:
        """One transaction, and who logs it: what is written and its entries become durable together."""
        if self._writer is None:
            raise LedgerError(f"{self.address} is written only inside `with ledger.runner():`")
        try:
            with self._writer.begin():
                if not copied:
                    self._log.prepare(self._writer)
                yield self._log
        except BaseException:
            self._log = sql_log.LogWriter(self._file)
            raise

    def _write(self, connection: Connection, batch: Batch) -> None:
        def insert(into: str, row: str, rows: Sequence[tuple[Any, ...]], conflict: str = "") -> None:
            if rows:
                self._file.insert(connection, into, row, rows, conflict)

        insert(
            "texts (digest, body)",
            _places(2),
            [(digest, text.encode()) for digest, text in batch.texts],
            "ON CONFLICT (digest) DO NOTHING",
        )
        insert(
            "fixtures (number, round, body, checksum)",
            _places(4),
            [(row.number, row.round, row.body, crc32(row.body)) for row in batch.fixtures],
        )
        insert(
            _INTO_INTENTS,
            _places(7),
            [
                (r.match, r.key, r.attempt, r.player, r.body, r.worst_nano, crc32(r.body))
                for r in batch.intents
            ],
        )
        insert(
            _INTO_REPLIES,
            f"({_INTENT}, ?, ?, ?, ?)",
            [(r.match, r.key, r.attempt, r.body, r.cost_nano, r.at_ms, crc32(r.body)) for r in batch.replies],
        )
        insert(
            _INTO_FAILURES,
            f"({_INTENT}, ?, ?, ?)",
            [(r.match, r.key, r.attempt, r.reason, r.cost_nano, r.at_ms) for r in batch.failures],
        )
        insert(
            "records (number, body, chain, at_ms)",
            _places(4),
            [(row.number, row.body, row.chain, row.at_ms) for row in batch.records],
        )
        insert(narrow.INTO, _places(12), [narrow.flat(summary) for summary in batch.summaries])
        insert(
            "snapshots (number, body, checksum)",
            _places(3),
            [(number, body, crc32(body)) for number, body in batch.snapshots],
            "ON CONFLICT (number) DO UPDATE SET body = excluded.body, checksum = excluded.checksum",
        )
        insert(
            "meta (key, value)",
            _places(2),
            list(batch.meta.items()),
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )

    def replace_summaries(self, summaries: Iterable[Summary]) -> None:
        with self._writing, self._explained(), self._logged() as log:
            assert self._writer is not None
            self._writer.execute(delete(SNAPSHOTS))
            self._writer.execute(delete(SUMMARIES))
            rows = map(narrow.flat, summaries)
            while part := list(islice(rows, _FETCH)):
                self._file.insert(self._writer, narrow.INTO, _places(12), part)
            log.rewritten(self._writer)

    # ------------------------------------------------------------------------------------------ reading

    def meta(self) -> Mapping[str, str]:
        return {row[0]: row[1] for row in self._read(select(META.c.key, META.c.value))}

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        columns = select(TEXTS.c.digest, TEXTS.c.body)
        if digests is None:
            rows = self._read(columns)
        else:
            rows = self._among(columns, iter(digests))
        # Damage stays visible: bytes that are no text become marks, which no longer fit the digest.
        return {bytes(digest): bytes(body).decode(errors="replace") for digest, body in rows}

    def _among(self, columns: Select[Any], digests: Iterator[bytes]) -> Iterator[tuple[Any, ...]]:
        while part := list(islice(digests, _FETCH)):
            yield from self._read(columns.where(TEXTS.c.digest.in_(part)))

    def fixtures(self, first: int = 1, last: int | None = None) -> Iterator[FixtureRow]:
        t = FIXTURES.c
        wanted = select(t.number, t.round, t.body).order_by(t.number)
        return starmap(FixtureRow, self._lined_up(wanted, first, last))

    def issued(self, first: int = 1, last: int | None = None) -> Iterator[tuple[int, int, int, bytes]]:
        t = FIXTURES.c
        wanted = select(t.number, t.round, t.checksum, t.body).order_by(t.number)
        yield from map(tuple, self._lined_up(wanted, first, last))

    def exchanges(self, first: int, last: int | None = None) -> Iterator[Exchange]:
        i, r = INTENTS.c, REPLIES.c
        wanted = (
            select(i.match, i.key, i.attempt, i.player, i.body, r.body, i.worst_nano, r.cost_nano, i.id)
            .select_from(INTENTS.outerjoin(REPLIES, r.intent == i.id))
            .order_by(i.match, i.key, i.attempt)
        )
        # In the order of the index; sorting here spares the database a copy of every body.
        for _, rows in groupby(self._lined_up(wanted, first, last), itemgetter(0)):
            yield from starmap(Exchange, map(itemgetter(slice(8)), sorted(rows, key=itemgetter(8))))

    def attempts(self, first: int, last: int | None = None) -> Iterator[Attempt]:
        return sql_log.attempts(self._read, lambda wanted: self._lined_up(wanted, first, last))

    def unanswered(self, first: int) -> Iterator[Unanswered]:
        i, f = INTENTS.c, FAILURES.c
        wanted = (
            select(i.match, i.key, i.attempt, i.player, i.worst_nano, f.id.is_not(None), f.cost_nano)
            .select_from(INTENTS.outerjoin(FAILURES, f.intent == i.id))
            .where(~exists().where(REPLIES.c.intent == i.id))
            # As a sum, so that SQLite sorts the few found rather than walk all intents in their order.
            .order_by(i.id + 0)
        )
        for match, key, attempt, player, worst, failed, cost in self._lined_up(wanted, first, None):
            yield Unanswered(match, key, attempt, player, worst, bool(failed), cost)

    def records(self, first: int = 1, last: int | None = None) -> Iterator[RecordRow]:
        t = RECORDS.c
        wanted = select(t.number, t.body, t.chain, t.at_ms).order_by(t.number)
        return starmap(RecordRow, self._lined_up(wanted, first, last))

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        for rows in self._line_up(select(SUMMARIES).order_by(SUMMARIES.c.number), first, last):
            yield from narrow.deep(rows)

    def narrow(self) -> Iterator[Summary]:
        due, logged = self._logged_narrow()
        seen, checked = Rolling(), not due
        for rows in self._line_up(select(SUMMARIES).order_by(SUMMARIES.c.number), 1, None):
            if not checked:
                covered = [tuple(row) for row in rows[: due - seen.rows]]
                seen.add(covered)
                checked = seen.rows == due
                if checked and seen.digest() != logged:
                    raise self._narrow_changed(due)
            yield from narrow.deep(rows)
        if not checked:
            raise self._narrow_changed(due)

    def _narrow_changed(self, due: int) -> LedgerError:
        return LedgerError(
            f"{self._file.path} is damaged: its narrow table is not what was logged of it after match {due}. "
            "`peerage verify` names the match, `peerage replay --mend` writes the table again"
        )

    def _logged_narrow(self) -> tuple[int, bytes]:
        """Up to which match the log holds the narrow table, 0 for none, and the digest of its rows."""
        about, logged = self._last_entry("narrow %") or ("narrow 0", b"")
        number = about.removeprefix("narrow ")
        if not number.isdecimal():
            raise LedgerError(
                f"{self._file.path} is damaged: its log is about {about!r}; restore it from a copy"
            )
        return int(number), logged

    def _last_entry(self, like: str) -> tuple[str, bytes] | None:
        if not self._has(LOG):
            return None
        t = LOG.c
        wanted = select(t.about, t.digest).where(t.about.like(like)).order_by(t.position.desc()).limit(1)
        return next(((about, bytes(logged)) for about, logged in self._read(wanted)), None)

    def _has(self, table: Table) -> bool:
        """Whether this is a form of ledger that has such a table."""
        if ENTRIES.name not in self._tables:  # from then on none is added
            with self._explained(), self._readers.connect() as connection:
                self._tables = inspect(connection).get_table_names()
        return table.name in self._tables

    def log(self) -> Iterator[Entry]:
        if self._has(LOG):
            t = LOG.c
            columns = select(t.position, t.about, t.digest, t.chain).order_by(t.position)
            yield from starmap(Entry, self._read(columns))

    def snapshot(self, at_most: int | None = None) -> tuple[int, bytes] | None:
        if not self._has(LOG):
            return None
        t = SNAPSHOTS.c
        wanted = select(t.number, t.body).where(_span(t.number, 0, at_most))
        for number, body in self._read(wanted.order_by(t.number.desc())):
            logged = self._last_entry(f"snapshot {number}")
            if logged is not None and logged[1] == sha256(body).digest():
                return number, body
        return None

    def snapshots(self) -> Iterator[tuple[int, bytes, bool]]:
        t = SNAPSHOTS.c
        for number, body, checksum in self._read(select(t.number, t.body, t.checksum).order_by(t.number)):
            yield number, body, crc32(body) == checksum

    def heads(self) -> tuple[int, int]:
        folded = self._folded()
        return self._newest(FIXTURES), self._newest(RECORDS) if folded is None else len(folded)

    def place(self, number: int) -> int:
        order = self._order()
        return number if order is None or number not in order else order.index(number) + 1

    def _folded(self) -> Sequence[int] | None:
        """Those of the matches on record, in the same way."""
        return self._lineup.folded(self._read) if self._has(ENTRIES) else None

    def _order(self) -> Sequence[int] | None:
        """The numbers of all matches in order, None where that is their own: in earlier forms none waited."""
        return self._lineup.whole(self._read) if self._has(ENTRIES) else None

    def numbers(self, first: int, last: int) -> Sequence[int]:
        order = self._order()
        return range(first, last + 1) if order is None else order[first - 1 : last]

    def _newest(self, table: Table) -> int:
        newest = int(next(self._read(select(func.coalesce(func.max(table.c.number), 0))))[0])
        if newest > _MOST:
            raise LedgerError(
                f"{self._file.path} is damaged: {table.name} holds a match {newest}. Restore it from a copy"
            )
        return newest

    def spent(self) -> tuple[int, int, int]:
        replied = next(self._read(select(func.coalesce(func.sum(REPLIES.c.cost_nano), 0))))[0]
        failed = next(self._read(select(func.coalesce(func.sum(FAILURES.c.cost_nano), 0))))[0]
        i = INTENTS.alias().c
        total = select(func.coalesce(func.sum(i.worst_nano), 0), func.count()).where(
            i.id.in_(_open_intents())
        )
        worst, count = next(self._read(total))
        return int(replied) + int(failed), int(worst), int(count)

    def spent_by(self, last: int | None = None) -> dict[str, int]:
        i = INTENTS.c
        spent: dict[str, int] = {}
        order = None if last is None else self._order()
        left_out = [] if order is None else order[last:]
        for wanted in (
            select(i.player, func.sum(REPLIES.c.cost_nano)).join(REPLIES, REPLIES.c.intent == i.id),
            select(i.player, func.sum(FAILURES.c.cost_nano)).join(FAILURES, FAILURES.c.intent == i.id),
            select(i.player, func.sum(i.worst_nano)).where(i.id.in_(_open_intents())),
        ):
            if order is not None:
                wanted = wanted.where(i.match <= len(order), i.match.not_in(left_out))
            elif last is not None:
                wanted = wanted.where(i.match <= last)
            for name, nano in self._read(wanted.group_by(i.player)):
                spent[name] = spent.get(name, 0) + int(nano or 0)
        return spent

    def amendments(self, topic: str = "") -> Iterator[Amendment]:
        for old in self.streams(topic):
            yield Amendment(old.stream, old.body, old.at_ms)
        if self._has(ENTRIES):
            t = ENTRIES.c
            wanted = select(t.topic, t.body, t.at_ms, t.position).order_by(t.position)
            yield from starmap(Amendment, self._read(wanted.where(t.topic == topic) if topic else wanted))

    def topics(self) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for table, topic in ((AMENDMENTS, AMENDMENTS.c.stream), (ENTRIES, ENTRIES.c.topic)):
            if self._has(table):
                found.update(dict(self._read(select(topic, func.count()).group_by(topic))))
        return found

    def streams(self, topic: str = "") -> Iterator[OldAmendment]:
        if self._has(AMENDMENTS):
            t = AMENDMENTS.c
            wanted = select(t.id, t.stream, t.sequence, t.chain, t.at_ms, t.body).order_by(t.id)
            if topic:
                wanted = wanted.where(t.stream == topic).order_by(None).order_by(t.sequence)
            yield from starmap(OldAmendment, self._read(wanted))

    def counts(self) -> tuple[Rows, Rows]:
        newest: list[int] = []
        there: list[int] = []
        for table in (INTENTS, REPLIES, FAILURES):
            last = next(iter(self._read(select(func.coalesce(func.max(table.c.id), 0)))))[0]
            newest.append(last)
            # As a sum, so that SQLite counts in the smallest index rather than in the table.
            there += next(
                iter(self._read(select(func.count()).select_from(table).where(table.c.id + 0 <= last)))
            )
        return Rows(*newest), Rows(*there)

    def integrity(self) -> Sequence[str]:
        with self._explained():
            problems = list(self._file.integrity(self._readers, SCHEMA))
        # Where matches wait, rows are found by the log: one that it does not know is never read.
        found = {
            table.name: next(self._read(select(func.count()).select_from(table)))[0]
            for table in (RECORDS, SUMMARIES)
        }
        folded = self._folded()
        return problems + [
            f"{self._file.path}: the table {name} holds {count - len(folded)} rows that the log does not know"
            for name, count in found.items()
            if folded is not None and count > len(folded)
        ]

    def close(self) -> None:
        self._readers.dispose()

    def _lined_up(self, wanted: Select[Any], first: int, last: int | None) -> Iterator[tuple[Any, ...]]:
        """Rows of the matches at places first..last; their first column is the match's number."""
        for rows in self._line_up(wanted, first, last):
            yield from rows

    def _line_up(
        self, wanted: Select[Any], first: int, last: int | None
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        number = wanted.selected_columns[0]
        order = self._order()
        if order is None or (last is not None and last < 1):
            yield from self._parts(wanted.where(_span(number, first, last)))
            return
        at, end = max(first, 1) - 1, len(order) if last is None else min(last, len(order))
        while at < end:
            block = order[at : min(at + _FETCH, end)]
            places = {number: place for place, number in enumerate(block)}
            if rows := list(self._read(wanted.where(number.in_(block)))):
                yield sorted(rows, key=lambda row: places[row[0]])
            at += _FETCH

    def _read(self, wanted: Select[Any]) -> Iterator[tuple[Any, ...]]:
        for rows in self._parts(wanted):
            yield from rows

    def _parts(self, wanted: Select[Any]) -> Iterator[Sequence[tuple[Any, ...]]]:
        with (
            self._explained(),
            self._readers.connect() as connection,
            connection.execute(wanted) as result,
        ):
            allowed = [{column.type.python_type, type(None)} for column in wanted.selected_columns]
            for part in result.partitions(_FETCH):
                # SQLite keeps whatever it is given; only a ledger that was tampered with holds another type.
                for column, types, values in zip(
                    wanted.selected_columns, allowed, zip(*part, strict=True), strict=True
                ):
                    if not types.issuperset(map(type, values)):
                        raise LedgerError(
                            f"{self._file.path} is damaged: a {column.name} holds what does not belong "
                            "there. Restore it from a copy; `peerage verify` says what still stands"
                        )
                yield cast("Sequence[tuple[Any, ...]]", part)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, OSError) as error:
            raise LedgerError(self._file.explain(error)) from error


def _open_intents() -> Select[Any]:
    # Read from indexes alone, so that what selects by it touches only the few rows found.
    i = INTENTS.alias().c.id
    return select(i).where(~exists().where(REPLIES.c.intent == i), ~exists().where(FAILURES.c.intent == i))


def _places(count: int) -> str:
    return f"({', '.join('?' * count)})"


def _span(column: ColumnElement[int], first: int, last: int | None) -> ColumnElement[bool]:
    return column >= first if last is None else column.between(first, last)
