"""Rows in MongoDB, kept, read and written: a collection for each table of `ledger.forms.schema`.

`_id` is a row's key. A row that belongs to another has the columns that it inherits, so that sums and ranges
are read from indexes. A body beyond `CHUNK` bytes lies in pieces in the collection `chunks`, under its
digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any

from bson.int64 import Int64
from pymongo import ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database as Base
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.forms.schema import BESIDE, INTENTS, TABLES, VOTES, StoredTable
from peerage.ledger.stores.contract import BLOCK, END, Begins, Found, Insert, Row, Select, Wanted
from peerage.ledger.stores.server import Tenure, superseded

CHUNK = 8_000_000
"""Bytes of a body that one document holds; MongoDB's limit is 16 MB."""
DURABLE = WriteConcern("majority", j=True)
LEASE_S = 30
"""The time that a runner's lease holds unless it is renewed."""
UNTIL = {"$add": ["$$NOW", LEASE_S * 1000]}
RUNNER = {"_id": "runner"}
COLLECTIONS = {table.name: table for table in (*TABLES, VOTES)}
OURS = {*COLLECTIONS, *BESIDE, "chunks"}

Document = dict[str, Any]
Index = tuple[str, tuple[str, ...], bool]
"""Name, fields, and whether unique."""


def indexes(table: StoredTable) -> list[Index]:
    """Return the indexes of a table besides that of its key."""
    every: list[Index] = [(name, tuple(those), True) for name, those in table.unique.items()]
    every += [(name, fields(table, those), False) for name, those in table.indexes.items()]
    if table.summed:
        every.append((f"{table.name}_{table.summed}", (*table.inherits, table.summed), False))
    return every


def fields(table: StoredTable, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names that columns have in a document."""
    return tuple(["_id" if column == table.key else column for column in columns])


def _reading(base: Base[Document], session: ClientSession | None, wanted: Select) -> Iterator[Document]:
    """Find documents as rows are wanted."""
    names = fields(wanted.table, wanted.names)
    only = {**dict.fromkeys(names, 1), **({} if "_id" in names else {"_id": 0})}
    if "body" in names:
        only |= {"parts": 1, "digest": 1}
    order = [(name, -1 if wanted.down else 1) for name in fields(wanted.table, wanted.order)]
    cursor = base[wanted.table.name].find(
        _where(wanted), only, sort=order or None, limit=wanted.limit, session=session
    )
    return map(_plain, cursor)


def _plain(row: Document) -> Document:
    """Numbers of 64 bits as they were written. A type of the codec's for that takes four times as long."""
    for name, value in row.items():
        if value.__class__ is Int64:
            row[name] = int(value)
    return row


def _where(wanted: Select) -> Document:
    names = fields(wanted.table, [*wanted.where])
    where = {name: _held(value) for name, value in zip(names, wanted.where.values(), strict=True)}
    if not wanted.behind:
        return where
    last = dict(zip(fields(wanted.table, wanted.order), wanted.behind, strict=True))
    (first, value), *_ = last.items()
    behind = [{**dict([*last.items()][:place]), name: {"$gt": last[name]}} for place, name in enumerate(last)]
    # The first bound is for the index: without it each block would begin to look at the start.
    return {"$and": [where, {first: {"$gte": value}}, {"$or": behind}]}


def _held(wanted: Wanted) -> Any:
    if isinstance(wanted, range):
        return {"$gte": wanted.start, **({} if wanted.stop == END else {"$lt": wanted.stop})}
    if isinstance(wanted, Begins):
        return {"$gte": wanted.text, "$lt": wanted.end}
    return {"$in": list(wanted)} if isinstance(wanted, tuple) else wanted


class MongoReads:
    """`contract.Reads` in one session: of a transaction or a moment, or in none."""

    def __init__(self, base: Base[Document], session: ClientSession | None = None) -> None:
        self.base = base
        self._session = session

    def _patiently(self, act: Callable[[], Found]) -> Found:
        return act()

    def rows(self, wanted: Select) -> Iterator[Sequence[Row]]:
        rows = self._rows(wanted)
        while part := list(islice(rows, BLOCK)):
            yield part

    def _rows(self, wanted: Select) -> Iterator[Row]:
        names = fields(wanted.table, wanted.names)
        for row in _reading(self.base, self._session, wanted):
            yield tuple([self._value(row, name) for name in names])

    def _value(self, row: Document, name: str) -> Any:
        if name != "body" or not row.get("parts"):
            return row[name]
        # Outside of any moment: they were there before the row was, and stay as they are.
        where = {"_id": {"$in": [_piece_id(row["digest"], piece) for piece in range(row["parts"])]}}
        pieces = self._patiently(lambda: list(self.base["chunks"].find(where, sort=[("_id", 1)])))
        return b"".join([piece["body"] for piece in pieces])

    def totals(self, wanted: Select, by: str = "", of: str = "") -> Mapping[Any, int]:
        table = wanted.table
        steps: list[Document] = [
            {"$match": _where(wanted)},
            {"$group": {"_id": f"${by}" if by else None, "sum": {"$sum": f"${of}" if of else 1}}},
        ]
        how: Document = {"session": self._session}
        if of:  # from the index alone: bodies are not read
            how["hint"] = f"{table.name}_{table.summed}"
            steps[0]["$match"].setdefault(table.inherits[0], {"$gte": 0})
        rows = self._patiently(lambda: list(self.base[table.name].aggregate(steps, **how)))
        return {row["_id"] or "": int(row["sum"]) for row in rows}

    def heads(self, *tables: StoredTable) -> tuple[int, ...]:
        return tuple([self._patiently(partial(self._top, table.name)) for table in tables])

    def _top(self, table: str) -> int:
        row = self.base[table].find_one({}, {"_id": 1}, sort=[("_id", -1)], session=self._session)
        return int(row["_id"]) if row else 0


class MongoTransaction(MongoReads):
    """`contract.Transaction` in one session: `begin`, then whatever is written, then `commit` or `abort`."""

    def __init__(self, base: Base[Document], session: ClientSession, place: str) -> None:
        super().__init__(base, session)
        self._in, self._place = session, place
        self._open: dict[Row, Row] = {}
        self._newest: dict[str, int] = {}

    def begin(self) -> None:
        """Begin a transaction."""
        self._in.start_transaction(ReadConcern("snapshot"), DURABLE, ReadPreference.PRIMARY)

    def count_on(self, run: Tenure) -> None:
        """Begin one of a run. Raises LedgerError where another took over."""
        self.begin()
        counted = self.base["runner"].update_one(
            {**RUNNER, "fence": run.fence, "written": run.written},
            [{"$set": {"written": {"$add": ["$written", 1]}, "until": UNTIL}}],
            session=self._in,
        )
        if counted.matched_count != 1:
            raise superseded(self._place)

    def commit(self) -> None:
        self._in.commit_transaction()

    def abort(self) -> None:
        """Undo what was not committed, and forget what was known of it."""
        self._open, self._newest = {}, {}
        if self._in.in_transaction:
            with suppress(PyMongoError):  # the server ends it by itself
                self._in.abort_transaction()

    def is_durable(self, run: Tenure) -> bool:
        """Return whether a transaction of a run became durable whose end was not heard of. Outside of any."""
        # One that is under way there would hold the lease for a minute, and might end in that.
        self.base.client.admin.command("killSessions", [self._in.session_id])
        row = self.base["runner"].find_one_and_update(
            {**RUNNER, "fence": run.fence}, [{"$set": {"until": UNTIL}}], return_document=True
        )
        return row is not None and row["written"] > run.written

    def clear(self, table: StoredTable) -> None:
        self.base[table.name].delete_many({}, session=self._in)

    def append(self, inserts: Sequence[Insert]) -> None:
        for table, rows, whole in inserts:
            if table.inherits:
                rows, names = self._following(table, rows, whole)
            else:
                rows, names = self._numbered(table, rows, whole), table.columns
            if table.again == "kept":
                rows = self._unknown(table, rows)
            stored = fields(table, names)
            documents = [self._cut(dict(zip(stored, row, strict=True))) for row in rows]
            if not documents:
                continue
            if table.again == "replaced":
                puts = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in documents]
                self.base[table.name].bulk_write(puts, session=self._in)
            else:
                self.base[table.name].insert_many(documents, session=self._in)

    def _numbered(self, table: StoredTable, rows: Sequence[Row], whole: bool) -> Sequence[Row]:
        """Return rows with their ids. Requests are remembered, since replies will name them."""
        if table.key != "id":
            return rows
        if whole:
            self._newest.pop(table.name, None)
        else:
            rows = [(at, *row) for at, row in enumerate(rows, self._next(table.name, len(rows)))]
        if table is INTENTS:
            asked = {row[1:4]: (row[0], row[1], row[4]) for row in rows}
            self._open = asked if whole else self._open | asked
        return rows

    def _following(
        self, table: StoredTable, rows: Sequence[Row], whole: bool
    ) -> tuple[Sequence[Row], tuple[str, ...]]:
        """Return rows that belong to requests with what they inherit, and the names of all."""
        names = *table.columns, *table.inherits
        if whole:
            self._newest.pop(table.name, None)
            owners = {owner[0]: owner[1:] for owner in self._open.values()}
            return [(*row, *owners[row[1]]) for row in rows], names
        self._look_up([row[:3] for row in rows])
        first = self._next(table.name, len(rows))
        pairs = [(row, self._request(row[:3])) for row in rows]
        return [(at, owner[0], *row[3:], *owner[1:]) for at, (row, owner) in enumerate(pairs, first)], names

    def _look_up(self, asked: Sequence[Row]) -> None:
        """Find requests that were written before this process, or this transaction, began."""
        unknown = [each for each in asked if each not in self._open]
        names = "match", "key", "attempt"
        for at in range(0, len(unknown), BLOCK):
            wanted = [dict(zip(names, each, strict=True)) for each in unknown[at : at + BLOCK]]
            only = dict.fromkeys((*names, "player"), 1)
            for row in map(_plain, self.base[INTENTS.name].find({"$or": wanted}, only, session=self._in)):
                key = row["match"], row["key"], row["attempt"]
                self._open[key] = row["_id"], row["match"], row["player"]

    def _request(self, asked: Row) -> Row:
        """Return id, match and player of a request, which is followed once."""
        request = self._open.pop(asked, None)
        if request is None:
            raise LedgerError(
                f"a row contradicts what {self._place} holds: {asked[1]!r} of match {asked[0]} was never "
                "asked, or was answered; nothing of this batch was written"
            )
        return request

    def _next(self, table: str, rows: int) -> int:
        """Return the id of the next of so many rows to come; ids count on, without a gap."""
        if table not in self._newest:
            self._newest[table] = self._top(table)
        first = self._newest[table] + 1
        self._newest[table] += rows
        return first

    def _unknown(self, table: StoredTable, rows: Sequence[Row]) -> Sequence[Row]:
        """Return those of the rows that are not there, each once."""
        due = {row[0]: row for row in rows}
        known = self.base[table.name].find({"_id": {"$in": list(due)}}, {"_id": 1}, session=self._in)
        for row in known:
            del due[row["_id"]]
        return list(due.values())

    def _cut(self, row: Document) -> Document:
        """Return the row, whose long body is written in pieces: outside of the transaction, whose size is
        limited by the server's memory. Pieces of one that failed are found again, or lie there unused."""
        body = row.get("body", b"")
        if len(body) > CHUNK:
            digest = sha256(body).digest()
            row |= {"body": b"", "parts": -(-len(body) // CHUNK), "digest": digest}
            for piece, at in enumerate(range(0, len(body), CHUNK)):
                mark = {"_id": _piece_id(digest, piece)}
                part = {**mark, "body": body[at : at + CHUNK]}
                self.base["chunks"].replace_one(mark, part, upsert=True)
        return row


def _piece_id(digest: bytes, piece: int) -> Document:
    """Return the `_id` of a piece of a body, of which `digest` is the SHA-256."""
    return {"digest": digest, "piece": piece}
