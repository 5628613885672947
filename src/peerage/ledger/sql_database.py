"""What an SQL database offers, over which `sql.SqlDatabase` reads and writes: `sqlite.SqliteFile`,
`postgres.Postgres`.

Statements are written once, as both understand them, with `?` where a value goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

from peerage.ledger.database import Row
from peerage.ledger.sql_tables import SqlTable

Found = TypeVar("Found")
KEPT = 2
"""Connections that a pool keeps open while nobody reads."""


class Query(NamedTuple):
    """A SELECT. `values` are those of columns, source and conditions, in this order. No two rows agree in all
    columns that an `order` names; `end` follows in place of one."""

    columns: tuple[str, ...]
    source: str = ""
    conditions: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    order: tuple[str, ...] = ()
    end: str = ""

    def where(self, condition: str, *values: Any) -> Query:
        """The rows among these for which a condition holds."""
        return self._replace(conditions=(*self.conditions, condition), values=(*self.values, *values))

    @property
    def names(self) -> list[str]:
        """The columns' names, as `sql_tables.KINDS` has them."""
        return [column.rpartition(" AS ")[2].rpartition(".")[2] for column in self.columns]

    @property
    def text(self) -> str:
        """The statement."""
        return " ".join(
            [
                f"SELECT {', '.join(self.columns)}",
                *([f"FROM {self.source}"] if self.source else ()),
                *([f"WHERE {' AND '.join(self.conditions)}"] if self.conditions else ()),
                *([f"ORDER BY {', '.join(self.order)}"] if self.order else ()),
                self.end,
            ]
        )


def among(column: str, values: Sequence[Any]) -> str:
    """The condition that a column holds one of the values, of which there is one."""
    return f"{column} IN ({', '.join(['?'] * len(values))})"


class Insert(NamedTuple):
    """Rows for a table: their values in the order of its columns, but for an `id`, and match, key and attempt
    in place of an `intent`; with `whole` of all columns. `conflict` is "", "OR IGNORE" or "OR REPLACE"."""

    table: SqlTable
    rows: Sequence[tuple[Any, ...]]
    conflict: str = ""
    whole: bool = False


class Connection(Protocol):
    """A connection to a database."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Any:
        """Do a statement: its rows, as an iterable with `fetchone`."""

    def commit(self) -> None:
        """Make durable what was written."""

    def rollback(self) -> None:
        """End the transaction, if there is one, as if nothing had been written."""

    def close(self) -> None:
        """Release it."""


class ReadPool:
    """Connections that read, for any thread; made when they are needed."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: list[Connection] = []
        self._lock = Lock()
        self._closed = False

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """A connection for the caller alone, outside any transaction, until the end."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        connection = idle or self._connect()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _give_back(self, connection: Connection) -> None:
        """Let others have a connection. A transaction in it ends."""
        try:
            connection.rollback()
        except Exception:  # it broke, and so may have those that are as old
            self._drop(connection)
            return
        with self._lock:
            if kept := not self._closed and len(self._idle) < KEPT:
                self._idle.append(connection)
        if not kept:
            connection.close()

    def _drop(self, *connections: Connection) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in (*connections, *idle):
            connection.close()

    def close(self) -> None:
        """Release what is held; safe to call twice."""
        self._closed = True
        self._drop()


class SqlStore(Protocol):
    """One database. `address` opens it from any folder, `place` names it for people; neither holds a
    password."""

    address: str
    place: str

    def exists(self) -> bool:
        """Whether there is anything to open."""

    def reading(self) -> ReadPool:
        """Connections that read."""

    def writing(self) -> AbstractContextManager[Connection]:
        """One transaction, durable at its end, beside which nobody else writes; for what no runner writes."""

    def holding(self, *, create: bool) -> AbstractContextManager[Connection]:
        """The one runner's connection and lock; `create` where there may be nothing yet.

        Raises LedgerBusy, naming who holds it, and LedgerError where nothing can be written.
        """

    def holder(self) -> str:
        """Who runs the arena now, as "process NUMBER on HOST"; empty: nobody does."""

    def stop_waiting(self, *, writes: bool = True) -> None:
        """Wait no more for a server that is away: what waits now fails, but for what is to be written where
        `writes` is false. Callable from any thread."""

    def commit(self, connection: Connection, work: Callable[[], None], *, again: bool) -> None:
        """Do `work` in one transaction of the runner's, on the connection from `holding`.

        Where the connection is lost it is waited for, and the work is done `again` unless it became durable.
        """

    def moment(self, pool: ReadPool, work: Callable[[Connection], Found]) -> Found:
        """Do `work`, which is soon done, on a connection that sees all tables as they are at one moment;
        again at a later one where the server was away meanwhile."""

    def rows(self, connection: Connection, wanted: Query) -> Iterator[Sequence[Row]]:
        """What is wanted, in parts, read in the caller's transaction."""

    def read(self, pool: ReadPool, wanted: Query) -> Iterator[Sequence[Row]]:
        """The same on a connection of its own."""

    def tables(self, connection: Connection) -> list[str]:
        """The names of the tables there are, in order."""

    def make(self, connection: Connection, tables: Iterable[SqlTable]) -> None:
        """Make those of the tables that are not there."""

    def insert(self, connection: Connection, inserts: Iterable[Insert]) -> None:
        """Insert rows of several tables in order, in few statements."""

    def integrity(self, pool: ReadPool, tables: Iterable[SqlTable]) -> list[str]:
        """What the database itself finds wrong, and what is in it beside the `tables` or missing there: a
        trigger would write what nobody recorded, a missing index let in what contradicts."""

    def explained(self) -> AbstractContextManager[None]:
        """Raise LedgerError, which says what went wrong, where, and how to fix it."""
