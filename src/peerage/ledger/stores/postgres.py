"""What only PostgreSQL needs: addresses, connections, the runner's lock and its fence, its errors in words.

Each arena has a schema of its own, by default `peerage`, with the tables of `ledger.forms.schema` and one
more, `runner`, of one row: `fence` counts on as a runner begins and as it ends, `written` with each of their
transactions, and `holder` says who the last one is. A runner holds an advisory lock as long as its connection
lives, and each of its transactions first counts `written` on, under its own fence. So one that slept, whose
connection was closed and whose place another took, cannot write; and one whose connection broke while it
committed finds out whether it did.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.forms.schema import BESIDE, KINDS, TABLES, StoredTable
from peerage.ledger.stores import sql
from peerage.ledger.stores.contract import Insert, Row, Select, shape
from peerage.ledger.stores.postgres_words import explained, is_lost, parts
from peerage.ledger.stores.server import (
    FIRST_TRY_S,
    READER_AWAY_S,
    ServerStore,
    Tenure,
    busy,
    is_alive,
    note,
    process_named,
    superseded,
)

_ALIVE = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""With these either side notices within a minute or so that the other is gone without a word."""

# It tells of a line that broke in its own words, beside the error that is handled here.
logging.getLogger("psycopg").setLevel(logging.ERROR)


class Reconnecting:
    """A connection to the server, a `sql.DatabaseConnection`; made on first use, and again once closed."""

    def __init__(self, connect: Callable[[], Connected]) -> None:
        self._connect = connect
        self._raw: Connected | None = None

    @property
    def raw(self) -> Connected:
        if self._raw is None:
            self._raw = self._connect()
        return self._raw

    @property
    def is_open(self) -> bool:
        return self._raw is not None

    def execute(self, text: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        return self.raw.execute(text.replace("?", "%s"), values or None)

    def commit(self) -> None:
        self.raw.commit()

    def rollback(self) -> None:
        if self._raw is not None:
            self._raw.rollback()

    def close(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()


class _Lingers(psycopg.OperationalError):
    """A connection of ours that broke holds the lock until the server notices."""


class PostgresStore(ServerStore, sql.SqlStore):
    """One schema of one database on a server."""

    errors = psycopg.Error, OSError
    begin_moment = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    tables_there = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"
    _written = "SELECT written FROM runner WHERE fence = %s"
    _count = "UPDATE runner SET written = written + 1 WHERE fence = %s AND written = %s"

    def __init__(self, address: str) -> None:
        """`address` is `postgresql://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE`, with `?schema=NAME` where a
        database holds several arenas, and with whatever else libpq takes there."""
        place, password, self._schema, plain = parts(address)
        ServerStore.__init__(self, place, password)
        self._stated: dict[str, Any] = {}
        with self.explained():
            self._stated = conninfo_to_dict(plain)
        self._key = int.from_bytes(sha256(f"peerage {self._schema}".encode()).digest()[:8], signed=True)
        # Where nothing can be counted on the statement fails, and with it all that goes with it.
        self._counting = f"WITH mine AS ({self._count} RETURNING 1) SELECT 1 / count(*) FROM mine"
        self._counted = False
        self._line: Reconnecting | None = None
        sql.SqlStore.__init__(self, lambda: Reconnecting(partial(self.connect, autocommit=True)), _among)

    def _lost(self, error: Exception) -> bool:
        return is_lost(error)

    def _words(self, error: Any) -> str:
        return explained(error, self.place, str(self._stated.get("user") or "this user"), self._schema)

    @property
    def _fences(self) -> tuple[int, ...]:
        """Return what tells who writes, in `_written` and `_count`."""
        return (self._run.fence,) if self._run is not None else ()

    # ------------------------------------------------------------------------------------------ reading

    def _read_apart(self, wanted: sql.Query) -> Iterator[Sequence[Row]]:
        yield self._patiently(partial(self._at_once, wanted))

    def _block(self, wanted: Select) -> Sequence[Row]:
        return self._at_once(sql.query(wanted, _among))

    def _at_once(self, wanted: sql.Query) -> Sequence[Row]:
        with self._pool.connection() as connection:
            return connection.execute(wanted.text, wanted.values).fetchall()  # type: ignore[no-any-return]

    def _kind(self, column: str) -> str:
        # Texts are in the order of their bytes, in every database.
        return 'text COLLATE "C"' if KINDS[column] is str else _TYPES[KINDS[column]]

    def read(self, connection: sql.DatabaseConnection, wanted: sql.Query) -> Iterator[Sequence[Row]]:
        yield connection.execute(wanted.text, wanted.values).fetchall()

    # ------------------------------------------------------------------------------------------ writing

    @contextmanager
    def _apart(self) -> Iterator[Reconnecting]:
        with closing(Reconnecting(self.connect)) as line:
            line.execute("SELECT pg_advisory_xact_lock(?)", (self._key ^ 1,))
            yield line
            line.commit()

    @contextmanager
    def _held(self, *, create: bool) -> Iterator[Reconnecting]:
        self._patience.begin()
        line = Reconnecting(partial(self._locked, create))
        try:
            with self.explained():
                self._patience.wait(lambda: line.raw)
            self._patience.runs, self._line = True, line
            try:
                yield line
            finally:
                with suppress(psycopg.Error):
                    if line.is_open and not self._patience.stopped.is_set():
                        # Or who comes next may find it locked: the server notices later that we are gone.
                        line.rollback()
                        line.execute("SELECT pg_advisory_unlock_all()")
                line.close()
        finally:
            self._run, self._line, self._patience.runs = None, None, False

    def commit(self, work: Callable[[], None], *, again: bool, last: bool = False) -> None:
        run, line = self._run, self._line
        assert run is not None
        assert line is not None

        def attempt() -> None:
            self._counted = False
            try:
                if last:
                    if line.execute(_LAST, (run.fence, run.written)).rowcount != 1:
                        raise self._superseded()
                    self._counted = True
                work()
                line.commit()
            except BaseException as error:
                _undo(line, error)
                raise

        def durable() -> bool:
            (written,) = line.execute(self._written, self._fences).fetchone() or (0,)
            line.rollback()
            return bool(written > run.written)

        with self.explained():
            self._patience.commit(attempt, durable, again=again)
        run.written += self._counted

    def _insert(self, connection: sql.DatabaseConnection, inserts: Sequence[Insert]) -> None:
        # All go to the server at once, which answers when all are done.
        assert isinstance(connection, Reconnecting)
        raw = connection.raw
        first = bool(inserts) and self._run is not None and not self._counted
        try:
            with raw.pipeline():
                if first and self._run is not None:
                    raw.execute(self._counting, (*self._fences, self._run.written))
                for insert in inserts:
                    text = _insert_sql(insert.table, insert.whole)
                    raw.execute(text, _columns_of(insert.table, insert.rows))
        except psycopg.errors.DivisionByZero:
            raise self._superseded() from None
        self._counted |= first

    def holder(self) -> str:
        with self.explained(), closing(self.connect(autocommit=True)) as connection:
            held = _value(connection, _HOLDER, *divmod(self._key % 2**64, 2**32))
        return process_named(json.loads(held or "{}"))

    def integrity(self, tables: Sequence[StoredTable]) -> list[str]:
        due = {("table", name, name) for name in (*[table.name for table in TABLES], *BESIDE)}
        due |= {
            ("index", table.name, name)
            for table in tables
            for name in (f"{table.name}_pkey", *table.unique, *sql.indexes(table))
        }
        with self.explained(), self._pool.connection() as connection:
            there = set(connection.execute(_SHAPE))
        # An index more changes nothing.
        return shape(self.place, {part for part in there if part[0] != "index" or part in due}, due)

    def connect(self, *, autocommit: bool = False) -> Connected:
        # PgBouncer in transaction mode refuses `options`: a runner's lock would not outlive one transaction.
        options = f"{self._stated.get('options') or ''} -c search_path={self._schema} {_SESSION}"
        wanted: dict[str, Any] = {
            "connect_timeout": 10,
            "application_name": f"peerage {os.getpid()}",
            **_ALIVE,
        }
        wanted |= {**self._stated, "options": options.strip()}
        if self._password:
            wanted["password"] = self._password
        return psycopg.connect(autocommit=autocommit, **wanted)

    def _locked(self, create: bool) -> Connected:
        """A connection that holds the runner's lock: a new run's, or again that of the one that goes on."""
        connection = self.connect()
        try:
            until = time.monotonic() + READER_AWAY_S
            while not _value(connection, "SELECT pg_try_advisory_lock(%s)", self._key):
                self._refused(connection, until)
            if create:
                self._prepare(connection)
            if self._run is None:
                row = connection.execute(_BEGIN, (note(),)).fetchone()
                self._run = Tenure(*row) if row else None
            elif _value(connection, "SELECT fence FROM runner") != self._run.fence:
                raise self._superseded()
            self._durably(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _durably(self, connection: Connected) -> None:
        """Let every commit of a connection be durable."""
        connection.execute(_WRITER)
        connection.commit()

    def _refused(self, connection: Connected, until: float) -> None:
        """Somebody holds the lock: raise LedgerBusy, unless the server will soon see that nobody does."""
        holder = _value(connection, "SELECT holder FROM runner") or "{}"
        fence = _value(connection, "SELECT fence FROM runner")
        connection.rollback()
        if self._run is not None:
            if fence != self._run.fence:
                raise self._superseded()
            raise _Lingers(f"{self.place} has not noticed yet that the connection is gone")
        held = json.loads(holder)
        if held.get("host") != socket.gethostname() or is_alive(held["pid"]) or time.monotonic() > until:
            raise busy(self.place, held)
        time.sleep(FIRST_TRY_S)

    def _prepare(self, connection: Connected) -> None:
        """Make the schema and the runner's row where there are none, under the runner's lock."""
        if _value(connection, "SELECT to_regnamespace(%s)::text", f'"{self._schema}"') is None:
            connection.execute(f'CREATE SCHEMA "{self._schema}"')
        if _value(connection, "SELECT to_regclass('runner')::text") is None:
            connection.execute(
                "CREATE TABLE runner (fence bigint NOT NULL, written bigint NOT NULL, holder text NOT NULL)"
            )
            connection.execute("INSERT INTO runner VALUES (0, 0, '{}')")

    def _superseded(self) -> LedgerError:
        return superseded(self.place)


Connected = psycopg.Connection[Any]


def _undo(connection: Reconnecting, error: BaseException) -> None:
    """End a transaction that failed; where it is the connection that did, let there be another next time."""
    with suppress(psycopg.Error):
        if not (isinstance(error, psycopg.Error) and is_lost(error)):
            connection.rollback()
            return
    connection.close()


def _value(connection: Connected, text: str, *values: Any) -> Any:
    row = connection.execute(text, values).fetchone()
    return row[0] if row else None


_SESSION = """
-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3
-c max_parallel_workers_per_gather=0 -c jit=off
"""
"""A block of rows is read along an index; to start processes for it, or to compile its plan, takes longer."""
_BEGIN = "UPDATE runner SET fence = fence + 1, holder = %s RETURNING fence, written"
_HOLDER = """
SELECT holder FROM runner WHERE EXISTS (SELECT FROM pg_locks
    JOIN pg_database ON pg_database.oid = database AND datname = current_database()
    WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint, objid::bigint) = (%s, %s))
"""
_LAST = "UPDATE runner SET fence = fence + 1, written = written + 1 WHERE fence = ? AND written = ?"
"""Under the next fence nobody writes who did under this one; those who do now are waited for."""
PLANS = "SELECT set_config('enable_seqscan', 'off', false)"
_WRITER = f"""
{PLANS},
    CASE current_setting('synchronous_commit') WHEN 'off'
        THEN set_config('synchronous_commit', 'on', false) END
"""
"""Durable at every commit, and no plan that was made for a small table reads the whole of one that grew."""
_SHAPE = """
SELECT CASE c.relkind WHEN 'i' THEN 'index' WHEN 'v' THEN 'view' WHEN 'm' THEN 'view' WHEN 'S' THEN 'sequence'
    ELSE 'table' END, coalesce(o.relname, c.relname)::text, c.relname::text FROM pg_class AS c
LEFT JOIN pg_index ON indexrelid = c.oid LEFT JOIN pg_class AS o ON o.oid = indrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind NOT IN ('t', 'c')
UNION ALL SELECT 'trigger', relname::text, tgname::text FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal
UNION ALL SELECT 'rule', relname::text, rulename::text FROM pg_rewrite JOIN pg_class AS c ON c.oid = ev_class
WHERE relnamespace = current_schema()::regnamespace AND rulename <> '_RETURN'
"""
"""Kind, table and name of all that a schema holds."""


_INTENT = "(SELECT id FROM intents WHERE match = r.match AND key = r.key AND attempt = r.attempt)"
_TYPES = {int: "bigint", str: "text", bytes: "bytea"}


def _among(column: str, values: Row) -> Row:
    """Return the condition that a column holds one of the values: one text for any number of them."""
    return f"{column} = ANY(?)", list(values)


def _columns_of(table: StoredTable, rows: Sequence[Row]) -> list[list[Any]]:
    """Return rows as one array a column, as `_insert_sql` takes them; PostgreSQL's texts hold no NUL."""
    if table.again == "replaced":  # no statement may replace what it has just inserted
        rows = list({row[0]: row for row in rows}.values())
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        if isinstance(column[0], str) and any("\0" in text for text in column):
            column[:] = [text.replace("\0", "\ufffd") for text in column]
    return columns


@lru_cache
def _insert_sql(table: StoredTable, whole: bool) -> str:
    """Return the statement that inserts rows given as one array a column, so that each table has one whatever
    the number of rows. Ids count on from the newest, without a gap; there is one writer."""
    shape = Insert(table, (), whole)
    into, given, values = list[str](), list[tuple[str, str]](), list[str]()
    for column in sql.inserted(shape):
        into.append(column)
        if sql.is_asked_for(shape, column):
            given += [("match", "bigint"), ("key", "text"), ("attempt", "bigint")]
            values.append(_INTENT)
        else:
            given.append((column, _TYPES[KINDS[column]]))
            values.append(f"r.{column}")
    if "id" in table.columns and not whole:
        into.insert(0, "id")
        values.insert(0, f"(SELECT coalesce(max(id), 0) FROM {table.name}) + r.at")
    arrays = ", ".join([f"%b::{kind}[]" for _, kind in given])
    names = ", ".join([name for name, _ in given])
    text = (
        f"INSERT INTO {table.name} ({', '.join(into)}) SELECT {', '.join(values)} "
        f"FROM unnest({arrays}) WITH ORDINALITY AS r({names}, at)"
    )
    if table.again == "refused":
        return text
    replaced = ", ".join([f"{column} = EXCLUDED.{column}" for column in table.columns[1:]])
    does = f"UPDATE SET {replaced}" if table.again == "replaced" else "NOTHING"
    return f"{text} ON CONFLICT ({table.key}) DO {does}"
