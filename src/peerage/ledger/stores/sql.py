"""Shared by SQL databases: a `Select` as a statement, making tables, connections that are lent out.

Statements are written once, as both SQLite and PostgreSQL understand them, with `?` where a value goes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple, Protocol

from peerage.ledger.forms.schema import INTENTS, NULLABLE, StoredTable
from peerage.ledger.stores.contract import END, Begins, Found, Insert, Reads, Row, Select, Transaction, Wanted

KEPT = 2
"""Connections that a pool keeps open while nobody reads."""


class Query(NamedTuple):
    """A SELECT: the names of its columns, as `schema.KINDS` has them, its text, and the values in that."""

    names: Sequence[str]
    text: str
    values: tuple[Any, ...] = ()


Among = Callable[[str, tuple[Any, ...]], tuple[Any, ...]]
"""Gives the condition that a column holds one of some values, and what stands for these."""


def listed(column: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the condition with one place for each value."""
    return f"{column} IN ({', '.join(['?'] * len(values))})", *values


def query(wanted: Select, among: Among = listed) -> Query:
    """Return the query of rows."""
    name = _namer(wanted)
    where, values = _where(wanted, name, among)
    source = _source(wanted, (*wanted.names, *wanted.where))
    text = f"SELECT {', '.join(map(name, wanted.names))} FROM {source}{where}"
    if wanted.order:
        order = [f"{name(column)}{' DESC' if wanted.down else ''}" for column in wanted.order]
        text += f" ORDER BY {', '.join(order)}"
    return Query(wanted.names, f"{text} LIMIT {wanted.limit}" if wanted.limit else text, values)


def _total(wanted: Select, by: str, of: str, among: Among) -> Query:
    name = _namer(wanted)
    # The plus keeps SQLite from going through all requests where few rows belong to one.
    source = _source(wanted, (*wanted.where, by, of)).replace(" ON x.", " ON +x.")
    where, values = _where(wanted, name, among)
    number = f"sum({name(of)})" if of else "count(*)"
    names = (by, of or "number") if by else (of or "number",)
    text = f"SELECT {f'{name(by)}, ' if by else ''}{number} FROM {source}{where}"
    return Query(names, f"{text} GROUP BY {name(by)}" if by else text, values)


def _namer(wanted: Select) -> Callable[[str], str]:
    """Return what says a column's name in a statement that may join the table to which rows belong."""
    if not wanted.table.inherits:
        return str
    return lambda name: f"o.{name}" if name in wanted.table.inherits else f"x.{name}"


def _source(wanted: Select, names: Iterable[str]) -> str:
    table = wanted.table
    if not table.inherits or table.of is None:
        return table.name
    column, other = table.of
    joined = f" JOIN {other.name} AS o ON x.{column} = o.{other.key}"
    return f"{table.name} AS x{joined if {*names} & {*table.inherits} else ''}"


def _where(wanted: Select, name: Callable[[str], str], among: Among) -> tuple[str, tuple[Any, ...]]:
    """Return the conditions, and the values in them."""
    parts = [_condition(name(column), value, among) for column, value in wanted.where.items()]
    if wanted.behind:
        columns, places = ", ".join(map(name, wanted.order)), ", ".join("?" * len(wanted.order))
        parts.append((f"({columns}) > ({places})", *wanted.behind))
    conditions = " AND ".join([condition for condition, *_ in parts])
    return f" WHERE {conditions}" if parts else "", tuple([value for _, *values in parts for value in values])


def _condition(column: str, wanted: Wanted, among: Among) -> tuple[Any, ...]:
    """Return the condition that a column holds what is wanted, and its values."""
    if isinstance(wanted, range):
        if wanted.stop == END:
            return f"{column} >= ?", wanted.start
        return f"{column} BETWEEN ? AND ?", wanted.start, wanted.stop - 1
    if isinstance(wanted, Begins):
        return f"{column} >= ? AND {column} < ?", wanted.text, wanted.end
    if isinstance(wanted, tuple):
        return among(column, wanted)
    return f"{column} = ?", wanted


Read = Callable[[Query], Iterator[Sequence[Row]]]
"""Gives the rows of a query in parts."""


class SqlReads:
    """`contract.Reads` over `read`, which gives the rows of a query in parts."""

    def __init__(self, read: Read, among: Among = listed) -> None:
        self._read, self._among = read, among

    def rows(self, wanted: Select) -> Iterator[Sequence[Row]]:
        return self._read(query(wanted, self._among))

    def totals(self, wanted: Select, by: str = "", of: str = "") -> Mapping[Any, int]:
        rows = chain.from_iterable(self._read(_total(wanted, by, of, self._among)))
        return {row[0] if by else "": int(row[-1] or 0) for row in rows}

    def heads(self, *tables: StoredTable) -> tuple[int, ...]:
        highest = [f"(SELECT coalesce(max({table.key}), 0) FROM {table.name})" for table in tables]
        ((row,),) = self._read(Query([table.key for table in tables], f"SELECT {', '.join(highest)}"))
        return tuple(row)


class SqlTransaction(SqlReads):
    """`contract.Transaction` through one connection, with what `insert`s into it."""

    def __init__(
        self,
        read: Read,
        insert: Callable[[DatabaseConnection, Sequence[Insert]], None],
        connection: DatabaseConnection,
        among: Among = listed,
    ) -> None:
        super().__init__(read, among)
        self.connection = connection
        self._insert = insert

    def append(self, inserts: Sequence[Insert]) -> None:
        self._insert(self.connection, inserts)

    def clear(self, table: StoredTable) -> None:
        self.connection.execute(f"DELETE FROM {table.name}")


class SqlStore(SqlReads, ABC):
    """A `contract.Store`, but for what each database does in its way: connections, locks, inserts, words."""

    place: str
    begin_moment = "BEGIN"
    """Begins a transaction that sees one moment."""
    tables_there: str
    """Selects the names of the tables there are."""

    def __init__(self, connect: Callable[[], DatabaseConnection], among: Among = listed) -> None:
        """Read through connections made by `connect`."""
        self._pool = ReadPool(connect)
        super().__init__(self._read_apart, among)

    @abstractmethod
    def explained(self) -> AbstractContextManager[None]:
        """Raise LedgerError, which says what went wrong, where, and how to fix it."""

    @abstractmethod
    def _kind(self, column: str) -> str:
        """Return the type of a column in SQL."""

    @abstractmethod
    def _read_apart(self, wanted: Query) -> Iterator[Sequence[Row]]:
        """Read rows in no transaction."""

    @abstractmethod
    def read(self, connection: DatabaseConnection, wanted: Query) -> Iterator[Sequence[Row]]:
        """Read rows through one connection."""

    @abstractmethod
    def _insert(self, connection: DatabaseConnection, inserts: Sequence[Insert]) -> None:
        """Write rows through one connection."""

    @abstractmethod
    def _held(self, *, create: bool) -> AbstractContextManager[DatabaseConnection]:
        """Hold the runner's lock and the connection that writes; `create` makes what that needs."""

    @abstractmethod
    def _apart(self) -> AbstractContextManager[DatabaseConnection]:
        """Begin a transaction, durable at its end, while which nobody else begins one."""

    @abstractmethod
    def commit(self, work: Callable[[], None], *, again: bool, last: bool = False) -> None:
        """Implement `contract.Store.commit`."""

    def _patiently(self, act: Callable[[], Found]) -> Found:
        with self.explained():
            return act()

    def moment(self, work: Callable[[Reads], Found]) -> Found:
        def done() -> Found:
            with self._pool.connection() as connection:
                connection.execute(self.begin_moment)  # ended when the connection is given back
                return work(SqlReads(partial(self.read, connection), self._among))

        return self._patiently(done)

    def names(self) -> list[str] | None:
        with self.explained(), self._pool.connection() as connection:
            return sorted([name for (name,) in connection.execute(self.tables_there)])

    def make(self, tables: Sequence[StoredTable], first: Sequence[Insert]) -> None:
        with self._held(create=True) as connection:

            def work() -> None:
                there = {name for (name,) in connection.execute(self.tables_there)}
                if there.isdisjoint([table.name for table in tables]):
                    self._make(connection, tables)
                    self._insert(connection, first)

            self.commit(work, again=False)

    def _make(self, connection: DatabaseConnection, tables: Sequence[StoredTable]) -> None:
        for table in tables:
            for statement in making(table, self._kind):
                connection.execute(statement)

    @contextmanager
    def lock(self) -> Iterator[Transaction]:
        with self._held(create=False) as connection:
            yield self._writes(connection)

    @contextmanager
    def alone(self, table: StoredTable) -> Iterator[Transaction]:
        with self.explained(), self._apart() as connection:
            self._make(connection, [table])
            yield self._writes(connection)

    def _writes(self, connection: DatabaseConnection) -> Transaction:
        return SqlTransaction(partial(self.read, connection), self._insert, connection, self._among)

    def close(self) -> None:
        self._pool.close()


# ---------------------------------------------------------------------------------------------------- tables


def making(table: StoredTable, kind: Callable[[str], str]) -> Iterator[str]:
    """Yield the statements that make a table where there is none. `kind` is a column's type in SQL."""
    parts = [
        f"{name} {kind(name)}{'' if name in NULLABLE else ' NOT NULL'}"
        f"{' PRIMARY KEY' if name == table.key else ''}"
        for name in table.columns
    ]
    parts += [f"CONSTRAINT {name} UNIQUE ({', '.join(those)})" for name, those in table.unique.items()]
    yield f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join(parts)})"
    for name, those in indexes(table).items():
        yield f"CREATE INDEX IF NOT EXISTS {name} ON {table.name} ({', '.join(those)})"


def indexes(table: StoredTable) -> Mapping[str, Sequence[str]]:
    """Return the indexes of a table besides its key and what is unique."""
    every = dict(table.indexes)
    if table.summed and table.of:  # the sum of all costs must not read every page of bodies
        every[f"{table.name}_{table.summed}"] = (table.of[0], table.summed)
    return every


def inserted(insert: Insert) -> list[str]:
    """Return the columns that rows fill, of which an `intent` may be stated as match, key and attempt."""
    return [name for name in insert.table.columns if insert.whole or name != "id"]


def is_asked_for(insert: Insert, column: str) -> bool:
    """Return whether rows name a request in place of its id."""
    return not insert.whole and insert.table.of is not None and insert.table.of == (column, INTENTS)


# ----------------------------------------------------------------------------------------------- connections


class DatabaseConnection(Protocol):
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

    def __init__(self, connect: Callable[[], DatabaseConnection]) -> None:
        self._connect = connect
        self._idle: list[DatabaseConnection] = []
        self._lock = Lock()
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[DatabaseConnection]:
        """Lend a connection to the caller alone, outside any transaction, until the end."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        connection = idle or self._connect()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _give_back(self, connection: DatabaseConnection) -> None:
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

    def _drop(self, *connections: DatabaseConnection) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in (*connections, *idle):
            connection.close()

    def close(self) -> None:
        """Release what is held; safe to call twice."""
        self._closed = True
        self._drop()
