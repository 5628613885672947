"""The needs of SQLite alone: the file, the runner's lock, the bulk insert, its errors in words.

The file is in WAL mode with full sync and pages of 16 KB. A runner writes through one connection;
readers have read-only connections of their own.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from errno import EROFS
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.forms.schema import KINDS, StoredTable
from peerage.ledger.stores import sql
from peerage.ledger.stores.contract import BLOCK, Insert, Row, damaged, shape
from peerage.ledger.stores.server import busy, note, process_named
from peerage.values.inputs import InputRefused, check, read_bytes, real
from peerage.values.outputs import replacing
from peerage.values.system_errors import REMEDIES, is_read_only, reason, why_not_opened

PAGE_BYTES = 16_384
CHECKPOINT_PAGES = 1_000
SYNCHRONOUS = "FULL"
READ_CACHE_KB = 8_192
"""Of each connection: room for the inner pages of indexes. To read a table through needs no more."""
PATIENCE_S = 10.0
"""How long to wait for another program that holds the file for a moment."""
_OURS = "NOT LIKE 'sqlite~_%' ESCAPE '~'"
_LEFT_HALF = "SQLITE_READONLY_ROLLBACK", "SQLITE_READONLY_RECOVERY"
LOOKED_AT_S = 0.1
"""How long to wait for the runner's lock: one that looks whether it is held holds it for an instant."""


class SqliteStore(sql.SqlStore):
    """One file."""

    tables_there = f"SELECT name FROM sqlite_master WHERE type = 'table' AND name {_OURS}"

    def __init__(self, address: str, folder: Path, *, durable: bool = True) -> None:
        """`address` is `sqlite:///FILE`, FILE relative to the arena's folder or absolute. Of one that is not
        `durable` the caller sees to it, once, that the disk has it."""
        self._synchronous = SYNCHRONOUS if durable else "OFF"
        name = address.removeprefix("sqlite://").removeprefix("/")
        if not name or name == ":memory:":
            raise LedgerError(f"{address!r} names no file; write for example sqlite:///arena.db")
        try:
            self.path = real(folder / name)
            if not self.path.parent.is_dir():
                raise LedgerError(
                    f"ledger {address!r}: there is no folder {self.path.parent}; a file in an existing "
                    "folder was expected"
                )
            for part in ("", "-wal", "-shm", "-journal", ".lock"):
                with suppress(FileNotFoundError, PermissionError):  # told where it is opened
                    check(self.path.with_name(self.path.name + part))
        except (InputRefused, OSError) as error:
            why = reason(error) if isinstance(error, OSError) else error
            raise LedgerError(f"ledger {address!r}: {why}") from None
        self.address = f"sqlite:///{self.path.as_posix()}"
        self.place = str(self.path)
        self._writing: sql.DatabaseConnection | None = None
        super().__init__(self._reader)

    # ------------------------------------------------------------------------------------------ reading

    def _read_apart(self, wanted: sql.Query) -> Iterator[Sequence[Row]]:
        with self.explained(), self._pool.connection() as connection:
            yield from self.read(connection, wanted)

    def read(self, connection: sql.DatabaseConnection, wanted: sql.Query) -> Iterator[Sequence[Row]]:
        allowed = [{KINDS[name], type(None)} for name in wanted.names]
        with closing(connection.execute(wanted.text, wanted.values)) as cursor:
            while part := cursor.fetchmany(BLOCK):
                # SQLite keeps whatever it is given; only a ledger that was tampered with holds another type.
                for name, types, values in zip(wanted.names, allowed, zip(*part, strict=True), strict=True):
                    if not types.issuperset(map(type, values)):
                        raise damaged(self.place, f"the column {name} holds what does not belong there")
                yield part

    def names(self) -> list[str] | None:
        return super().names() if self.path.exists() else None

    def _reader(self) -> sqlite3.Connection:
        path = self.path
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

    # ------------------------------------------------------------------------------------------ writing

    @contextmanager
    def _held(self, *, create: bool) -> Iterator[sql.DatabaseConnection]:
        with self._lock():
            with self.explained():
                connection = self._writer(create=create)
            with closing(connection):
                try:
                    # An unwritable ledger is refused now, not after the first paid call.
                    with self.explained(), _transaction(connection):
                        pass
                    self._writing = connection
                    yield connection
                finally:
                    self._settle(connection)

    def _settle(self, connection: sql.DatabaseConnection) -> None:
        """Move the WAL into the main file, as far as readers allow, so that the file can be copied alone."""
        # A full disk may stop it; the WAL then keeps what it holds.
        with suppress(sqlite3.Error):
            connection.rollback()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def commit(self, work: Callable[[], None], *, again: bool, last: bool = False) -> None:
        assert self._writing is not None
        with self.explained(), _transaction(self._writing):
            work()

    @contextmanager
    def _apart(self) -> Iterator[sql.DatabaseConnection]:
        # Opened for one transaction: once it is closed the file holds everything and can be copied alone.
        with closing(self._writer(create=True)) as connection, _transaction(connection):
            yield connection

    def stop_waiting(self, *, writes: bool = True) -> None:
        """A file is never away."""

    def _writer(self, *, create: bool) -> sqlite3.Connection:
        """A connection; that of a durable file is so at every commit, also through a power failure."""
        connection = _connect(self.path, "rwc" if create else "rw")
        try:
            for pragma in (
                f"page_size={PAGE_BYTES}",
                "journal_mode=WAL",
                f"synchronous={self._synchronous}",
                "fullfsync=ON",
                f"wal_autocheckpoint={CHECKPOINT_PAGES}",
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold `FILE.lock`, which the system frees when the process dies; `FILE.runner` says who holds it."""
        from filelock import FileLock, Timeout  # readers take no lock

        path = self.path
        lock = FileLock(f"{path}.lock", timeout=LOOKED_AT_S, thread_local=False)
        beside = path.with_name(path.name + ".runner")
        try:
            lock.acquire(poll_interval=LOOKED_AT_S / 10)
        except Timeout:
            raise busy(self.place, _noted(beside)) from None
        except OSError as error:
            raise LedgerError(f"cannot lock {path}: {reason(error)}") from error
        try:
            # Only a hint for people: a full disk must not stop a runner here.
            with suppress(OSError), replacing(beside) as part:
                part.write_text(note())
            yield
        finally:
            with suppress(OSError):
                beside.unlink()
            lock.release()

    def holder(self) -> str:
        """Return who runs the arena now, as "process NUMBER on HOST"; empty: nobody does."""
        from filelock import FileLock, Timeout

        path = Path(f"{self.path}.lock")
        if not path.exists():
            return ""
        try:
            with FileLock(path, timeout=0, thread_local=False):
                return ""
        except (Timeout, OSError):  # not ours to open: the note is all there is
            return process_named(_noted(self.path.with_name(self.path.name + ".runner")))

    def integrity(self, tables: Sequence[StoredTable]) -> list[str]:
        with (
            self.explained(),
            self._pool.connection() as connection,
            closing(sqlite3.connect(":memory:")) as new,
        ):
            self._make(new, tables)
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            there, due = (set(each.execute(_SHAPE)) for each in (connection, new))
        return [f"{self.path} is damaged: {problem}" for problem in problems] + shape(self.place, there, due)

    def _insert(self, connection: sql.DatabaseConnection, inserts: Sequence[Insert]) -> None:
        # The driver hands over the interpreter lock at every statement, which against a busy event loop may
        # cost milliseconds; so many rows go in one INSERT, of few enough sizes that all stay prepared.
        for insert in inserts:
            for at in range(0, len(insert.rows), _MOST_ROWS):
                part = insert.rows[at : at + _MOST_ROWS]
                values = tuple(chain.from_iterable(part))
                connection.execute(_bulk_sql(insert.table, insert.whole, len(part)), values)

    def _kind(self, column: str) -> str:
        return _TYPES[KINDS[column]]

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(_explain(error, self.path)) from error


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=PATIENCE_S,
        cached_statements=512,
    )


@contextmanager
def _transaction(connection: sql.DatabaseConnection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def _noted(beside: Path) -> dict[str, Any]:
    """Return the note of who holds the lock; empty where it makes no sense."""
    try:
        held = json.loads(read_bytes(beside, PAGE_BYTES))
        return {name: held[name] for name in ("pid", "host")}
    except (OSError, InputRefused, ValueError, KeyError, TypeError):
        return {}


_SHAPE = f"""
SELECT type, tbl_name, name FROM sqlite_master WHERE name {_OURS}
UNION SELECT 'rule', m.name, (SELECT group_concat(name, ', ') FROM pragma_index_info(i.name))
FROM sqlite_master AS m, pragma_index_list(m.name) AS i WHERE m.type = 'table' AND i."unique"
"""
"""Kind, table and name of all that a file holds, unique columns ("rule") by their names."""

_MOST_ROWS = 128
_TYPES = {int: "INTEGER", str: "TEXT", bytes: "BLOB"}


# Without an intent a reply is refused, since its column must not be null.
_INTENT = "(SELECT id FROM intents WHERE match = ? AND key = ? AND attempt = ?)"


_CONFLICTS = {"refused": "", "kept": " OR IGNORE", "replaced": " OR REPLACE"}


@lru_cache(maxsize=2048)
def _bulk_sql(table: StoredTable, whole: bool, rows: int) -> str:
    shape = Insert(table, (), whole)
    names = sql.inserted(shape)
    row = f"({', '.join([_INTENT if sql.is_asked_for(shape, name) else '?' for name in names])})"
    return (
        f"INSERT{_CONFLICTS[table.again]} INTO {table.name} ({', '.join(names)}) "
        f"VALUES {', '.join([row] * rows)}"
    )


def _explain(error: Exception, path: Path) -> str:
    """Return what went wrong, where, and how to fix it."""
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL":
        return f"the disk (or quota) is full at {path}; what was recorded is safe. Free some space, run again"
    if name.startswith("SQLITE_READONLY"):
        if is_read_only(path):
            return f"{path}: {REMEDIES[EROFS]}, as with --dir"
        return f"{path} or its folder cannot be written; give yourself write permission, or use --dir"
    if name.startswith("SQLITE_CANTOPEN"):
        if why := why_not_opened(path):
            return f"cannot open {path}: {why}"
        why = "there is no such file" if not path.exists() else "it or its folder cannot be opened by you"
        return f"cannot open {path}: {why}; check the path and its permissions"
    if name == "SQLITE_NOTADB":
        return f"{path} is no database, but a ledger was expected; name another file in arena.yaml"
    if name.startswith("SQLITE_CORRUPT") or "decode to UTF-8" in str(error):
        return f"{path} is damaged ({error}); restore it from a copy. `peerage verify` says what still stands"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"another program is writing to {path}; close it and run again"
    if name.startswith("SQLITE_IOERR"):
        return f"the disk failed under {path} ({name}); what was recorded before is safe. Check the disk"
    if name.startswith("SQLITE_CONSTRAINT"):
        return f"a row contradicts what {path} holds: {error}; nothing of this batch was written"
    return f"{path}: {reason(error) if isinstance(error, OSError) else error}"
