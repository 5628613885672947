"""The contract of a store of rows: `Store`, implemented for SQLite, PostgreSQL and MongoDB.

A store knows tables (`ledger.forms.schema`), not matches. The meaning of a ledger is written once, above it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.forms.schema import StoredTable

BLOCK = 500
"""Rows that are read at once."""
END = 2**63 - 1
"""Beyond every number."""

Row: TypeAlias = tuple[Any, ...]
Found = TypeVar("Found")


class Begins(NamedTuple):
    """Texts that begin so; `end` is the first text behind them."""

    text: str

    @property
    def end(self) -> str:
        return self.text[:-1] + chr(ord(self.text[-1]) + 1)


Wanted: TypeAlias = "range | tuple[Any, ...] | Begins | int | str"
"""The values that a column may hold: a number in a range (to END: without an end), one of some values, a text
that begins so, or one value."""


class Select(NamedTuple):
    """Rows of a table: some `columns` (all where none are named) of those for which every column in `where`
    holds what is wanted. Inherited columns may stand in both. They come in the order of the columns `order`,
    in which no two rows agree and of which a `limit` takes the first so many, or in any order; `down`: from
    the last; `behind`: of those behind a row with these values."""

    table: StoredTable
    columns: tuple[str, ...] = ()
    where: Mapping[str, Wanted] = {}
    order: tuple[str, ...] = ()
    down: bool = False
    limit: int = 0
    behind: Row = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.columns or self.table.columns


class Insert(NamedTuple):
    """Rows for a table: values in the order of its columns, but without an `id`, and with match, key and
    attempt in place of an `intent`; `whole` rows have all columns as they are."""

    table: StoredTable
    rows: Sequence[Row]
    whole: bool = False


class Reads(Protocol):
    """Rows as they are stored: now, at one moment, or in a transaction."""

    def rows(self, wanted: Select) -> Iterator[Sequence[Row]]:
        """Return the rows wanted, in parts."""

    def totals(self, wanted: Select, by: str = "", of: str = "") -> Mapping[Any, int]:
        """Return sums of the column `of`, or how many rows there are, for each value of the column `by`, or
        for all under an empty text."""

    def heads(self, *tables: StoredTable) -> tuple[int, ...]:
        """Return the highest key of each table, 0 where it is empty; all at one moment."""


class Transaction(Reads, Protocol):
    """A transaction. It reads what it has written."""

    def append(self, inserts: Sequence[Insert]) -> None:
        """Write rows, table by table."""

    def clear(self, table: StoredTable) -> None:
        """Remove all rows of a table of derived data."""


class Store(Reads, Protocol):
    """One database. `address` opens it from any folder, `place` names it for people; neither holds a
    password. Any thread may read. Methods raise LedgerError, in words for people."""

    address: str
    place: str

    def names(self) -> list[str] | None:
        """Return the names of the tables there are, None where there is nothing to open."""

    def make(self, tables: Sequence[StoredTable], first: Sequence[Insert]) -> None:
        """Make tables with their first rows, all or none; nothing where one of them is there."""

    def moment(self, work: Callable[[Reads], Found]) -> Found:
        """Do `work`, which is soon done, with all rows as they are at one moment; again at a later one where
        the server was away meanwhile."""

    def lock(self) -> AbstractContextManager[Transaction]:
        """Hold the one runner's lock, which is freed when the process dies. Raises LedgerBusy, naming who
        holds it, and LedgerError where nothing can be written."""

    def holder(self) -> str:
        """Return who holds the lock now, as "process NUMBER on HOST"; empty: nobody does."""

    def commit(self, work: Callable[[], None], *, again: bool, last: bool = False) -> None:
        """Do `work` with what `lock` gave, and make all of it durable or nothing. Where the connection is
        lost it is waited for, and the work is done `again` unless it became durable. From the `last` on
        nobody else writes who did in this run, and it reads all that they wrote."""

    def alone(self, table: StoredTable) -> AbstractContextManager[Transaction]:
        """Begin a transaction, durable at its end, while which nobody else begins one; for a table that no
        runner writes, which is made where it is not there."""

    def stop_waiting(self, *, writes: bool = True) -> None:
        """Wait no more for a server that is away: what waits now fails, but for what is to be written where
        `writes` is false. Callable from any thread."""

    def integrity(self, tables: Sequence[StoredTable]) -> list[str]:
        """Return what the database itself finds wrong, and in which `shape` it is not."""

    def close(self) -> None:
        """Release what is held; safe to call twice."""


def damaged(place: str, what: str) -> LedgerError:
    """Return the error for a damaged ledger at `place`."""
    return LedgerError(
        f"{place} is damaged: {what}. Restore it from a copy; `peerage verify` says what is whole"
    )


def changed(place: str, what: str) -> LedgerError:
    """Return the error for a ledger at `place` that is not as its log has it."""
    return LedgerError(f"{place} is not as it was written: {what}. `peerage verify` lists everything")


Member: TypeAlias = tuple[str, str, str]
"""A part of a database: kind, the table that it belongs to, name."""


def shape(place: str, there: Collection[Member], due: Collection[Member]) -> list[str]:
    """Return what parts a database, at `place`, has besides those that are due, and what its tables lack: a
    trigger would write what nobody recorded, a missing index let in what contradicts."""
    tables = {table for kind, table, _ in there if kind == "table"}
    problems = [
        f"{place} holds a {kind} {name}, which is none of a ledger's"
        for kind, _, name in sorted({*there} - {*due})
    ]
    return problems + [
        f"{place}: the table {table} lacks its {kind} {name}"
        for kind, table, name in sorted({*due} - {*there})
        if kind != "table" and table in tables
    ]
