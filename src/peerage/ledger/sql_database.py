"""What an SQL database offers, over which `sql.SqlDatabase` reads and writes: `sqlite.SqliteFile`,
`postgres.Postgres`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Connection, Engine, MetaData, Select, Table

from peerage.ledger.database import Row


class Insert(NamedTuple):
    """Rows for a table: their values in the order of its columns, but for an `id`, and match, key and attempt
    in place of an `intent`; with `whole` of all columns. `conflict` is "", "OR IGNORE" or "OR REPLACE"."""

    table: Table
    rows: Sequence[tuple[Any, ...]]
    conflict: str = ""
    whole: bool = False


class SqlStore(Protocol):
    """One database. `address` opens it from any folder, `place` names it for people; neither holds a
    password."""

    address: str
    place: str

    def exists(self) -> bool:
        """Whether there is anything to open."""

    def reading(self) -> Engine:
        """Connections that read, for any thread."""

    def writing(self, *, create: bool) -> Engine:
        """Connections of which one at a time writes, durably at every commit; for what no runner writes."""

    def holding(self, *, create: bool) -> AbstractContextManager[Connection]:
        """The one runner's connection and lock; `create` where there may be nothing yet.

        Raises LedgerBusy, naming who holds it, and LedgerError where nothing can be written.
        """

    def holder(self) -> str:
        """Who runs the arena now, as "process NUMBER on HOST"; empty: nobody does."""

    def listening(self) -> AbstractContextManager[Callable[[], bool] | None]:
        """As `store.Ledger` has it."""

    def stop_waiting(self, *, writes: bool = True) -> None:
        """Wait no more for a server that is away: what waits now fails, but for what is to be written where
        `writes` is false. Callable from any thread."""

    def commit(self, connection: Connection, work: Callable[[], None], *, again: bool) -> None:
        """Do `work` in one transaction of the runner's, on the connection from `holding`.

        Where the connection is lost it is waited for, and the work is done `again` unless it became durable.
        """

    def moment(self, engine: Engine) -> AbstractContextManager[Connection]:
        """A connection that sees all tables as they are at one moment; to be given back soon."""

    def rows(self, connection: Connection, wanted: Select[Any]) -> Iterator[Row]:
        """What is wanted, read in the caller's transaction."""

    def read(self, engine: Engine, wanted: Select[Any]) -> Iterator[Row]:
        """What is wanted, on a connection of its own."""

    def insert(self, connection: Connection, inserts: Iterable[Insert]) -> None:
        """Insert rows of several tables in order, in few statements."""

    def integrity(self, engine: Engine, tables: MetaData) -> list[str]:
        """What the database itself finds wrong, and what is in it beside the `tables` or missing there: a
        trigger would write what nobody recorded, a missing index let in what contradicts."""

    def explained(self) -> AbstractContextManager[None]:
        """Raise LedgerError, which says what went wrong, where, and how to fix it."""
