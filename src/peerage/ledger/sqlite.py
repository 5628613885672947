"""What only SQLite needs: addresses, connections, the runner's lock, the bulk insert, its errors in words.

The file is in WAL mode with full sync and pages of 16 KB. A runner writes through one connection;
readers have read-only connections of their own.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Engine, MetaData, Select, Table, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, Pool, QueuePool

from peerage.ledger.database import BLOCK, Row, damaged
from peerage.ledger.sql_database import Insert
from peerage.ledger.store import LedgerBusy, LedgerError
from peerage.outputs import replacing

PAGE_BYTES = 16_384
CHECKPOINT_PAGES = 1_000
READ_CACHE_KB = 65_536
PATIENCE_S = 10.0
"""How long to wait for another program that holds the file for a moment."""
_LEFT_HALF = "SQLITE_READONLY_ROLLBACK", "SQLITE_READONLY_RECOVERY"
LOOKED_AT_S = 0.1
"""How long to wait for the runner's lock: one that looks whether it is held holds it for an instant."""


class SqliteFile:
    """One ledger file: how to reach it, lock it, fill it, and speak of its faults: an `SqlStore`."""

    def __init__(self, address: str, folder: Path) -> None:
        """`address` is `sqlite:///FILE`, FILE relative to the arena's folder or absolute."""
        name = address.removeprefix("sqlite://").removeprefix("/")
        if not name or name == ":memory:":
            raise LedgerError(f"{address!r} names no file; write for example sqlite:///arena.db")
        self.path = (folder / name).resolve()
        if self.path.is_dir() or not self.path.parent.is_dir():
            what = (
                f"{self.path} is a folder" if self.path.is_dir() else f"there is no folder {self.path.parent}"
            )
            raise LedgerError(f"ledger {address!r}: {what}; a file in an existing folder was expected")
        self.address = f"sqlite:///{self.path.as_posix()}"
        self.place = str(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def reading(self) -> Engine:
        """Read-only connections, for any thread."""
        path = self.path

        def connect() -> sqlite3.Connection:
            # On a medium that cannot be written WAL's index cannot be made; without a WAL the file is all.
            frozen = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
            mode, larger = "ro&immutable=1" if frozen else "ro", f"PRAGMA cache_size=-{READ_CACHE_KB}"
            connection = _connect(path, mode)
            try:
                connection.execute(larger)
            except sqlite3.OperationalError as error:
                connection.close()
                if error.sqlite_errorname not in _LEFT_HALF:
                    raise
                # Who was killed while making the file left what only one who may write takes back.
                with closing(_connect(path, "rw")) as writer:
                    writer.execute("SELECT count(*) FROM sqlite_master")
                connection = _connect(path, mode)
                connection.execute(larger)
            return connection

        return _engine(QueuePool, connect, pool_size=2, max_overflow=-1)

    def writing(self, *, create: bool) -> Engine:
        """The runner's connection: durable at every commit, also through a power failure."""
        path = self.path

        def connect() -> sqlite3.Connection:
            connection = _connect(path, "rwc" if create else "rw")
            for pragma in (
                f"page_size={PAGE_BYTES}",
                "journal_mode=WAL",
                "synchronous=FULL",
                "fullfsync=ON",
                f"wal_autocheckpoint={CHECKPOINT_PAGES}",
            ):
                connection.execute(f"PRAGMA {pragma}")
            return connection

        engine = _engine(NullPool, connect)
        event.listen(engine, "begin", _begin)
        return engine

    @contextmanager
    def holding(self, *, create: bool) -> Iterator[Connection]:
        with self._lock():
            engine = self.writing(create=create)
            with self.explained():
                connection = engine.connect()
            try:
                # An unwritable ledger is refused now, not after the first paid call.
                with self.explained(), connection.begin():
                    pass
                yield connection
            finally:
                self._settle(connection)
                connection.close()
                engine.dispose()

    def listening(self) -> AbstractContextManager[None]:
        return nullcontext()

    def stop_waiting(self, *, writes: bool = True) -> None:
        """A file is never away."""

    def commit(self, connection: Connection, work: Callable[[], None], *, again: bool) -> None:
        with connection.begin():
            work()

    @contextmanager
    def moment(self, engine: Engine) -> Iterator[Connection]:
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")  # ended when the connection is given back
            yield connection

    def rows(self, connection: Connection, wanted: Select[Any]) -> Iterator[Row]:
        with connection.execute(wanted) as result:
            allowed = [{column.type.python_type, type(None)} for column in wanted.selected_columns]
            for part in result.partitions(BLOCK):
                # SQLite keeps whatever it is given; only a ledger that was tampered with holds another type.
                for column, types, values in zip(
                    wanted.selected_columns, allowed, zip(*part, strict=True), strict=True
                ):
                    if not types.issuperset(map(type, values)):
                        raise damaged(
                            self.place, f"the column {column.name} holds what does not belong there"
                        )
                yield from cast("Sequence[Row]", part)

    def read(self, engine: Engine, wanted: Select[Any]) -> Iterator[Row]:
        with engine.connect() as connection:
            yield from self.rows(connection, wanted)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold `FILE.lock`, which the system frees when the process dies; `FILE.runner` says who holds it."""
        from filelock import FileLock, Timeout  # readers take no lock

        path = self.path
        lock = FileLock(f"{path}.lock", timeout=LOOKED_AT_S, thread_local=False)
        note = path.with_name(path.name + ".runner")
        try:
            lock.acquire(poll_interval=LOOKED_AT_S / 10)
        except Timeout:
            held = _holder(note)
            raise LedgerBusy(
                f"another runner holds {path}{f' ({held})' if held else ''}; wait for it or stop it. "
                "Reading commands work meanwhile"
            ) from None
        except OSError as error:
            raise LedgerError(
                f"cannot lock {path}: {error.strerror or error}; its folder must exist and be writable by you"
            ) from error
        try:
            # Only a hint for people: a full disk must not stop a runner here.
            with suppress(OSError), replacing(note) as part:
                part.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
            yield
        finally:
            with suppress(OSError):
                note.unlink()
            lock.release()

    def holder(self) -> str:
        """Who runs the arena now, as "process NUMBER on HOST"; empty: nobody does."""
        from filelock import FileLock, Timeout

        path = Path(f"{self.path}.lock")
        if not path.exists():
            return ""
        try:
            with FileLock(path, timeout=0, thread_local=False):
                return ""
        except (Timeout, OSError):  # not ours to open: the note is all there is
            return _holder(self.path.with_name(self.path.name + ".runner"))

    def _settle(self, connection: Connection) -> None:
        """Move the WAL into the main file, as far as readers allow, so that the file can be copied alone."""
        # Past SQLAlchemy, which would begin a transaction: none may be open. A full disk may stop it; the
        # WAL then keeps what it holds.
        connection.rollback()
        cursor = connection.connection.cursor()
        with suppress(sqlite3.Error):
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.close()

    def integrity(self, engine: Engine, tables: MetaData) -> list[str]:
        """What SQLite itself finds wrong with the file, and what is in it beside the `tables` of a ledger or
        missing there: a trigger would write what nobody recorded, a missing index let in what contradicts."""
        with engine.connect() as connection, create_engine("sqlite://").connect() as new:
            tables.create_all(new)
            found = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
            there, due = ({tuple(row) for row in each.exec_driver_sql(_SHAPE)} for each in (connection, new))
        problems = [] if found == ["ok"] else [f"{self.path} is damaged: {one}" for one in found]
        problems += [
            f"{self.path} holds a {kind} {name}, which is none of a ledger's"
            for kind, _, name in sorted(there - due)
        ]
        return problems + [
            f"{self.path}: the table {table} lacks its {kind} {name}"
            for kind, table, name in sorted(due - there)
            if kind != "table" and ("table", table, table) in there
        ]

    def insert(self, connection: Connection, inserts: Iterable[Insert]) -> None:
        # The driver hands over the interpreter lock at every statement, which against a busy event loop may
        # cost milliseconds; so many rows go in one INSERT, of few enough sizes that all stay prepared.
        for table, rows, conflict, whole in inserts:
            for at in range(0, len(rows), _MOST_ROWS):
                part = rows[at : at + _MOST_ROWS]
                values = tuple(chain.from_iterable(part))
                connection.exec_driver_sql(_bulk_sql(table, conflict, len(part), whole), values)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise LedgerError, which says what went wrong, where, and how to fix it."""
        try:
            yield
        except (DBAPIError, OSError) as error:
            raise LedgerError(_explain(error, self.path)) from error


_COMPILED: dict[Any, Any] = {}
"""Statements as SQL, for all ledgers of this process: there are some dozens, and each takes a millisecond."""


@cache
def _model() -> Engine:
    """An engine that knows its SQLite."""
    engine = create_engine("sqlite://")
    engine.connect().close()
    return engine


def _engine(kind: type[Pool], connect: Callable[[], Any], **how: Any) -> Engine:
    model = _model()
    pool = kind(connect, dialect=model.dialect, **how)
    return Engine(pool, model.dialect, model.url, execution_options={"compiled_cache": _COMPILED})


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=PATIENCE_S,
        cached_statements=512,
    )


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _holder(note: Path) -> str:
    try:
        held = json.loads(note.read_text())
        return f"process {held['pid']} on {held['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


_SHAPE = """
SELECT type, tbl_name, name FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'
UNION SELECT 'rule', m.name, (SELECT group_concat(name, ', ') FROM pragma_index_info(i.name))
FROM sqlite_master AS m, pragma_index_list(m.name) AS i WHERE m.type = 'table' AND i."unique"
"""
"""Kind, table and name of all that a file holds, unique columns ("rule") by their names."""

_MOST_ROWS = 128


# Without an intent a reply is refused, since its column must not be null.
_INTENT = "(SELECT id FROM intents WHERE match = ? AND key = ? AND attempt = ?)"


@lru_cache(maxsize=2048)
def _bulk_sql(table: Table, conflict: str, rows: int, whole: bool) -> str:
    names = [column.name for column in table.columns if whole or column.name != "id"]
    row = f"({', '.join([_INTENT if name == 'intent' and not whole else '?' for name in names])})"
    return f"INSERT {conflict} INTO {table.name} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"


def _explain(error: Exception, path: Path) -> str:
    """What went wrong, where, and how to fix it."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = getattr(cause, "sqlite_errorname", "")
    if name == "SQLITE_FULL":
        return f"the disk (or quota) is full at {path}; what was recorded is safe. Free some space, run again"
    if name.startswith("SQLITE_READONLY"):
        return f"{path} or its folder cannot be written; give yourself write permission, or use --dir"
    if name.startswith("SQLITE_CANTOPEN"):
        why = "there is no such file" if not path.exists() else "it or its folder cannot be opened by you"
        return f"cannot open {path}: {why}; check the path and its permissions"
    if name == "SQLITE_NOTADB":
        return f"{path} is no database, but a ledger was expected; name another file in arena.yaml"
    if name.startswith("SQLITE_CORRUPT") or "decode to UTF-8" in str(cause):
        return f"{path} is damaged ({cause}); restore it from a copy. `peerage verify` says what still stands"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"another program is writing to {path}; close it and run again"
    if name.startswith("SQLITE_IOERR"):
        return f"the disk failed under {path} ({name}); what was recorded before is safe. Check the disk"
    if name.startswith("SQLITE_CONSTRAINT"):
        return f"a row contradicts what {path} holds: {cause}; nothing of this batch was written"
    return f"{path}: {cause}"
