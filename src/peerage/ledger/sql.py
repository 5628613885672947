"""A ledger's rows in an SQL database: a `database.Database`.

What only one database needs lives in its own module (`sqlite`, `postgres`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, groupby, starmap
from operator import itemgetter
from typing import Any

from peerage.ledger.database import BLOCK, END, Row, Rows, Transaction, check_schema, damaged, still_open
from peerage.ledger.sql_database import Connection, Found, Insert, Query, SqlStore, among
from peerage.ledger.sql_tables import (
    BESIDE,
    ENTRIES,
    LOG,
    META,
    RECORDS,
    SNAPSHOTS,
    SUMMARIES,
    TABLES,
    TEXTS,
    rows_as_they_are,
    rows_of,
)
from peerage.ledger.store import (
    SCHEMA,
    Amendment,
    Batch,
    Entry,
    Exchange,
    Failure,
    FixtureRow,
    LedgerMissing,
    Pin,
    RecordRow,
)

Parts = Callable[[Query], Iterator[Sequence[Row]]]
"""Gives the rows of a query in parts."""
NEAR = 1_000
"""Entries at the end of the log in which an entry is looked for first: some ten snapshots."""
_LOG = Query(LOG.columns, "log")
Read = Callable[[Query], Iterable[Any]]
"""Gives the rows of a query."""

_ATTEMPTS = Query(
    (
        *("i.match", "i.key", "i.attempt", "i.player", "i.body", "r.body", "i.worst_nano", "r.cost_nano"),
        *("i.id", "i.checksum", "r.id", "r.checksum", "r.at_ms", "r.latency_ms"),
    ),
    "intents AS i LEFT JOIN replies AS r ON r.intent = i.id",
    order=("i.match", "i.key", "i.attempt"),
)
_WITHOUT_BODIES = _ATTEMPTS._replace(
    columns=(
        *_ATTEMPTS.columns[:4],
        "CASE WHEN r.id IS NULL THEN i.body ELSE ? END AS request",
        "CASE WHEN r.id IS NOT NULL THEN ? END AS reply",
        *_ATTEMPTS.columns[6:],
    ),
    values=(b"", b""),
)
_FAILED = Query(("intent", "id", "reason", "cost_nano", "at_ms"), "failures")
_CONFLICTS = {TEXTS: "OR IGNORE", SNAPSHOTS: "OR REPLACE", META: "OR REPLACE"}
_STRAYS = (
    ("fixtures", "number", "number < 1"),
    ("records", "number", "number < 1"),
    ("summaries", "number", "NOT EXISTS (SELECT 1 FROM records AS r WHERE r.number = summaries.number)"),
    ("intents", "match", "(match < 1 OR match > (SELECT coalesce(max(number), 0) FROM fixtures))"),
    ("replies", "intent", "NOT EXISTS (SELECT 1 FROM intents AS i WHERE i.id = intent)"),
    ("failures", "intent", "NOT EXISTS (SELECT 1 FROM intents AS i WHERE i.id = intent)"),
)
"""Which rows belong to nothing, by the column that says to what: nobody reads them match by match."""


class SqlRows:
    """Rows as `read` reads them, in parts."""

    def __init__(self, read: Parts) -> None:
        self._parts = read

    def _read(self, wanted: Query) -> Iterator[Any]:
        return chain.from_iterable(self._parts(wanted))

    def facts(self) -> dict[str, str]:
        return dict(self._read(Query(("key", "value"), "meta")))

    def texts(self, digests: Sequence[bytes] | None) -> Iterator[tuple[bytes, bytes]]:
        wanted = Query(("digest", "body"), "texts")
        if digests is None:
            yield from self._read(wanted)
            return
        for at in range(0, len(digests), BLOCK):
            block = digests[at : at + BLOCK]
            yield from self._read(wanted.where(among("digest", block), *block))

    def fixtures(self, matches: Sequence[int]) -> Iterator[FixtureRow]:
        wanted = Query(("number", "round", "body", "checksum"), "fixtures", order=("number",))
        return starmap(FixtureRow, picked(self._read, wanted, matches))

    def exchanges(
        self, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
    ) -> Iterator[Exchange]:
        return attempts(self._read, matches, unanswered=unanswered, bodies=bodies)

    def records(self, matches: Sequence[int]) -> Iterator[RecordRow]:
        wanted = Query(("number", "body", "chain", "at_ms"), "records", order=("number",))
        return starmap(RecordRow, picked(self._read, wanted, matches))

    def links(self, matches: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        return iter(picked(self._read, Query(("number", "at_ms", "chain"), "records"), matches))

    def summaries(self, matches: Sequence[int]) -> Iterator[Row]:
        wanted = Query(SUMMARIES.columns, "summaries", order=("number",))
        return iter(picked(self._read, wanted, matches))

    def newest(self) -> tuple[int, int]:
        ((issued, recorded),) = self._read(_highest(("fixtures", "number"), ("records", "number")))
        return issued, recorded

    def last_snapshot(self, at_most: int | None) -> tuple[int, bytes] | None:
        newest = Query(("number", "body"), "snapshots", end="ORDER BY number DESC LIMIT 1")
        newest = newest.where("number >= 0")
        if at_most is not None:
            newest = newest.where("number <= ?", at_most)
        return next(((number, body) for number, body in self._read(newest)), None)

    def snapshots(self) -> Iterator[tuple[int, bytes, int]]:
        wanted = Query(("number", "body", "checksum"), "snapshots", order=("number",))
        yield from self._read(wanted)

    def log(self, after: int = 0, last: int = END) -> Iterator[Entry]:
        wanted = _LOG._replace(order=("position",))
        if after or last < END:
            wanted = within(wanted, "position", range(after + 1, min(last + 1, END)))
        return starmap(Entry, self._read(wanted))

    def last_entry(self, about: str = "") -> Entry | None:
        newest = _LOG._replace(end="ORDER BY position DESC LIMIT 1")
        found = next(self._read(newest), None)
        if about and found is not None:
            begins = about[-1] == " "
            wanted = newest.where("about LIKE ?", f"{about}%") if begins else newest.where("about = ?", about)
            # Seldom far from the end, where PostgreSQL would not begin: it would read the whole log.
            near = wanted.where("position > ?", found[0] - NEAR)
            found = next(self._read(near), None) or next(self._read(wanted), None)
        return None if found is None else Entry(*found)

    def pin(self) -> Pin:
        ids = [("intents", "id"), ("replies", "id"), ("failures", "id")]
        (found,) = self._read(_highest(("log", "position"), ("fixtures", "number"), *ids))
        return Pin(*found)

    def spent_by(
        self, last: int | None, but_for: Sequence[int], replies_of: Collection[str] | None
    ) -> dict[str, int]:
        spent = Counter[str]()
        summed = ("i.player", "sum(x.cost_nano) AS cost_nano")
        replied = Query(summed, "replies AS x JOIN intents AS i ON x.intent = i.id", end="GROUP BY i.player")
        # The plus keeps SQLite from going through all requests: failures are few.
        failed = replied._replace(source="failures AS x JOIN intents AS i ON +x.intent = i.id")
        sums = [failed]
        if replies_of is None:
            sums.append(replied)
        elif replies_of:
            sums.append(replied.where(among("i.player", [*replies_of]), *replies_of))
        for wanted in sums:
            if last is not None:
                wanted = wanted.where("i.match <= ?", last)
                if but_for:
                    wanted = wanted.where(f"NOT {among('i.match', but_for)}", *but_for)
            spent.update({name: int(nano or 0) for name, nano in self._read(wanted)})
        for _, player, match, worst in still_open(self, self._unanswered):
            if last is None or (match <= last and match not in but_for):
                spent[player] += worst or 0
        return dict(spent)

    def _unanswered(self, ids: range) -> Sequence[Row]:
        wanted = within(Query(("id", "player", "match", "worst_nano"), "intents", order=("id",)), "id", ids)
        # Ranges of both sides: no planner reads the whole of one for a part of the other.
        first, last = ids.start, ids.stop - 1
        for table in ("replies", "failures"):
            answered = f"SELECT 1 FROM {table} AS x WHERE x.intent = intents.id AND x.intent BETWEEN ? AND ?"
            wanted = wanted.where(f"NOT EXISTS ({answered})", first, last)
        return list(self._read(wanted))

    def said(self, topic: str) -> Iterator[Amendment]:
        wanted = Query(("topic", "body", "at_ms", "position"), "entries", order=("position",))
        return starmap(Amendment, self._read(wanted.where("topic = ?", topic) if topic else wanted))

    def any_said(self, topic: str) -> bool:
        wanted = Query(("position",), "entries", end="LIMIT 1").where("topic = ?", topic)
        return any(True for _ in self._read(wanted))

    def topics(self) -> Mapping[str, int]:
        return dict(self._read(Query(("topic", "count(*) AS number"), "entries", end="GROUP BY topic")))


class SqlTransaction(SqlRows):
    """What the runner writes through its one connection."""

    def __init__(self, store: SqlStore, connection: Connection) -> None:
        super().__init__(partial(store.rows, connection))
        self.connection = connection
        self._store = store

    def insert(self, batch: Batch) -> None:
        rows = rows_of(batch).items()
        inserts = [Insert(table, own, _CONFLICTS.get(table, "")) for table, own in rows]
        whole = rows_as_they_are(batch.attempts).items()
        self._store.insert(
            self.connection, [*inserts, *[Insert(table, own, whole=True) for table, own in whole]]
        )

    def enter(
        self, rows: Sequence[tuple[int, str, bytes, bytes]], said: Sequence[tuple[int, Amendment]]
    ) -> None:
        bodies = [(at, one.topic, one.at_ms, one.body) for at, one in said]
        self._store.insert(self.connection, [Insert(LOG, rows), Insert(ENTRIES, bodies)])

    def clear(self) -> None:
        for table in (SNAPSHOTS, SUMMARIES):
            self.connection.execute(f"DELETE FROM {table.name}")


class SqlDatabase:
    """A `database.Database` over an SQL store."""

    def __init__(self, store: SqlStore) -> None:
        self.address = store.address
        self.place = store.place
        self.rows: Rows = SqlRows(self._parts)
        self._store = store
        self._readers = store.reading()
        self._writer: Connection | None = None

    def prepare(self, *, create: bool) -> None:
        there = False
        if self._store.exists():
            with self._store.explained(), self._readers.one() as connection:
                there = self._is_ledger(connection)
        elif not create:
            raise LedgerMissing(f"there is no ledger at {self.place} yet; `peerage run` makes it")
        if not there and not create:
            raise LedgerMissing(f"{self.place} is empty; `peerage run` makes a ledger of it")
        if not there:
            with self._store.holding(create=True) as connection, self._store.explained():
                self._store.commit(connection, partial(self._make, connection), again=False)

    def _make(self, connection: Connection) -> None:
        """Make a ledger in an empty store."""
        if not self._is_ledger(connection):
            self._store.make(connection, TABLES)
            connection.execute("INSERT INTO meta (key, value) VALUES ('schema', ?)", (SCHEMA,))

    def _is_ledger(self, connection: Connection) -> bool:
        """Return whether there is a ledger that we can read; false where there is nothing at all. Raises
        LedgerError where there is something else."""
        names = [name for name in self._store.tables(connection) if name not in BESIDE]
        if not names:
            return False
        found = None
        if META.name in names:
            found = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        check_schema(self.place, found and found[0], names)
        if lost := [table.name for table in TABLES if table.name not in names]:
            raise damaged(
                self.place, f"it lacks the {'table' if len(lost) == 1 else 'tables'} {', '.join(lost)}"
            )
        return True

    def moment(self, work: Callable[[Rows], Found]) -> Found:
        def at(connection: Connection) -> Found:
            return work(SqlRows(partial(self._store.rows, connection)))

        with self._store.explained():
            return self._store.moment(self._readers, at)

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

    def stop_waiting(self, *, writes: bool = True) -> None:
        self._store.stop_waiting(writes=writes)

    def commit(self, work: Callable[[], None], *, again: bool) -> None:
        assert self._writer is not None
        with self._store.explained():
            self._store.commit(self._writer, work, again=again)

    def integrity(self) -> Sequence[str]:
        with self._store.explained():
            problems = list(self._store.integrity(self._readers, TABLES))
        for table, column, stray in _STRAYS:
            counted = "count(*) AS number", f"coalesce(min({column}), 0) AS {column}"
            ((count, first),) = next(self._parts(Query(counted, table, (stray,))))
            if count:
                problems.append(
                    f"the table {table} holds {count:,} {'row' if count == 1 else 'rows'} of no match or "
                    f"request, the first with {column} {first}"
                )
        return problems

    def counts(self) -> Mapping[str, int]:
        return {
            table.name: next(self._parts(Query(("count(*) AS number",), table.name)))[0][0]
            for table in (RECORDS, SUMMARIES)
        }

    def close(self) -> None:
        self._readers.close()

    def _parts(self, wanted: Query) -> Iterator[Sequence[Row]]:
        with self._store.explained():
            yield from self._store.read(self._readers, wanted)


def within(wanted: Query, column: str, numbers: range) -> Query:
    """The rows whose numbers are in a range, or one without an end."""
    if numbers.stop == END:
        return wanted.where(f"{column} >= ?", numbers.start)
    return wanted.where(f"{column} BETWEEN ? AND ?", numbers.start, numbers.stop - 1)


def picked(read: Read, wanted: Query, matches: Sequence[int]) -> Iterable[Row]:
    """The rows of these matches, in their order; their first column is the match's number."""
    if isinstance(matches, range):
        return read(within(wanted, wanted.columns[0], matches))
    return _one_by_one(read, wanted, matches)


def _one_by_one(read: Read, wanted: Query, matches: Sequence[int]) -> Iterator[Row]:
    match = wanted.columns[0]
    for at in range(0, len(matches), BLOCK):
        block = matches[at : at + BLOCK]
        places = {number: place for place, number in enumerate(block)}
        yield from sorted(read(wanted.where(among(match, block), *block)), key=lambda row: places[row[0]])


def attempts(
    read: Read, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
) -> Iterator[Exchange]:
    """Every attempt in the matches, by match and in order of writing; without `bodies` those of what was
    answered are empty."""
    wanted = _ATTEMPTS if bodies else _WITHOUT_BODIES
    if unanswered:
        wanted = wanted.where("r.id IS NULL")
    found = groupby(picked(read, wanted, matches), itemgetter(0))
    return chain.from_iterable(_of_match(read, rows) for _, rows in found)


def _of_match(read: Read, found: Iterable[Row]) -> Iterable[Exchange]:
    # They come in the order of the index; sorting here spares the database a copy of every body.
    rows = sorted(found, key=itemgetter(8))
    if None not in map(itemgetter(5), rows):
        return starmap(Exchange, rows)
    failed = within(_FAILED, "intent", range(rows[0][8], rows[-1][8] + 1))
    failures = {row[0]: Failure(*row[1:]) for row in read(failed)}
    return [Exchange(*row, failures.get(row[8])) for row in rows]  # type: ignore[call-arg]


def _highest(*columns: tuple[str, str]) -> Query:
    """The highest values of columns of tables, 0 where there is none."""
    return Query(
        tuple([f"(SELECT coalesce(max({column}), 0) FROM {table}) AS {column}" for table, column in columns])
    )
