"""What the runner writes into MongoDB: `database.Transaction`, in one session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256

from pymongo import ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database as Base
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from peerage.ledger.database import BLOCK, END, Row
from peerage.ledger.mongo_rows import CHUNK, Document, MongoRows, chunk_id, reading
from peerage.ledger.server import superseded
from peerage.ledger.sql_tables import (
    ENTRIES,
    FAILURES,
    INTENTS,
    LOG,
    META,
    REPLIES,
    SNAPSHOTS,
    TEXTS,
    SqlTable,
    rows_as_they_are,
    rows_of,
)
from peerage.ledger.store import Amendment, Batch, Exchange, LedgerError

DURABLE = WriteConcern("majority", j=True)
LEASE_S = 30
"""How long a runner's lease holds unless it is renewed."""
UNTIL = {"$add": ["$$NOW", LEASE_S * 1000]}
RUNNER = {"_id": "runner"}
PIECES = "pieces "
"""Begins the ids of the marks, beside the lease, of bodies in pieces that no row holds yet."""
_WITH_BODIES = ("texts", "fixtures", "intents", "replies", "records", "snapshots", "entries")
_Asked = tuple[int, str, int]
"""Match, key and attempt of a request."""


class MongoTransaction(MongoRows):
    """Reads and writes of one runner. `begin`, then whatever is written, then `commit` or `abort`."""

    def __init__(self, base: Base[Document], session: ClientSession, place: str) -> None:
        super().__init__(base, partial(reading, base, session), session)
        self._in = session
        self._place = place
        self._open: dict[_Asked, tuple[int, str]] = {}
        self._newest: dict[str, int] = {}
        self._aside = set[bytes]()

    def begin(self, fence: int, written: int) -> None:
        """Begin a transaction of the runner with this fence, which has `written` so many before. Raises
        LedgerError where another took over."""
        self._aside = set()
        self._in.start_transaction(ReadConcern("snapshot"), DURABLE, ReadPreference.PRIMARY)
        counted = self._base["runner"].update_one(
            {**RUNNER, "fence": fence, "written": written},
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

    def is_durable(self, fence: int, written: int) -> bool:
        """Whether a transaction became durable whose end was not heard of. Outside of any."""
        # One that is under way there would hold the lease for a minute, and might end in that.
        self._base.client.admin.command("killSessions", [self._in.session_id])
        row = self._base["runner"].find_one_and_update(
            {**RUNNER, "fence": fence}, [{"$set": {"until": UNTIL}}], return_document=True
        )
        return row is not None and row["written"] > written

    # ------------------------------------------------------------------------------------------ writing

    def insert(self, batch: Batch) -> None:
        for table, rows in rows_of(batch).items():
            if table is TEXTS:
                rows = self._unknown(rows)
            if table is INTENTS:
                self._ask(rows)
            elif table in (REPLIES, FAILURES):
                self._follow(table, rows)
            elif table in (SNAPSHOTS, META):
                self._replace(table, rows)
            else:
                self._put(table.name, _documents(table, rows))
        self._as_they_are(batch.attempts)

    def enter(
        self, rows: Sequence[tuple[int, str, bytes, bytes]], said: Sequence[tuple[int, Amendment]]
    ) -> None:
        self._put(LOG.name, _documents(LOG, rows))
        bodies = [(at, one.topic, one.at_ms, one.body) for at, one in said]
        self._put(ENTRIES.name, _documents(ENTRIES, bodies))

    def clear(self) -> None:
        for table in ("snapshots", "summaries"):
            self._base[table].delete_many({}, session=self._in)

    def _unknown(self, texts: Sequence[Row]) -> Sequence[Row]:
        """Those of the texts that are not there."""
        rows = {row[0]: row for row in texts}
        if rows:
            known = self._base["texts"].find({"_id": {"$in": list(rows)}}, {"_id": 1}, session=self._in)
            for row in known:
                del rows[bytes(row["_id"])]
        return list(rows.values())

    def _ask(self, rows: Sequence[Row]) -> None:
        asked = [(at, *row) for at, row in enumerate(rows, self._next("intents", len(rows)))]
        self._open |= {(match, key, attempt): (at, player) for at, match, key, attempt, player, *_ in asked}
        self._put("intents", _documents(INTENTS, asked))

    def _follow(self, table: SqlTable, rows: Sequence[Row]) -> None:
        """Write replies, or failures."""
        self._look_up([row[:3] for row in rows])
        documents = list[Document]()
        for at, row in enumerate(rows, self._next(table.name, len(rows))):
            of = self._of_request(*row[:3])
            documents.append({"_id": at, **of, **dict(zip(table.columns[2:], row[3:], strict=True))})
        self._put(table.name, documents)

    def _look_up(self, asked: Sequence[Row]) -> None:
        """Find requests that were written before this process, or this transaction, began."""
        unknown = [each for each in asked if each not in self._open]
        names = "match", "key", "attempt"
        for at in range(0, len(unknown), BLOCK):
            wanted = [dict(zip(names, each, strict=True)) for each in unknown[at : at + BLOCK]]
            for row in self._find(
                "intents", {"$or": wanted}, dict.fromkeys((*names, "player"), 1), loose=True
            ):
                self._open[row["match"], row["key"], row["attempt"]] = row["_id"], row["player"]

    def _of_request(self, match: int, key: str, attempt: int) -> Document:
        found = self._open.pop((match, key, attempt), None)
        if found is None:
            raise LedgerError(
                f"a row contradicts what {self._place} holds: {key!r} of match {match} was never asked, or "
                "was answered; nothing of this batch was written"
            )
        return {"intent": found[0], "match": match, "player": found[1]}

    def _as_they_are(self, attempts: Sequence[Exchange]) -> None:
        """Write attempts, ids included."""
        owners = {row.id: {"match": row.match, "player": row.player} for row in attempts}
        if attempts:
            self._newest = {}
        for table, rows in rows_as_they_are(attempts).items():
            documents = _documents(table, rows)
            if table is not INTENTS:
                documents = [row | owners[row["intent"]] for row in documents]
            self._put(table.name, documents)

    def _next(self, table: str, rows: int) -> int:
        """The id of the next of so many rows to come; ids count on, without a gap."""
        if rows and table not in self._newest:
            self._newest[table] = self._top(table)
        first = self._newest.get(table, 0) + 1
        if rows:
            self._newest[table] += rows
        return first

    def _put(self, table: str, rows: Sequence[Document]) -> None:
        if rows:
            self._base[table].insert_many(self._cut(rows), session=self._in)

    def _replace(self, table: SqlTable, rows: Sequence[Row]) -> None:
        if rows:
            documents = self._cut(_documents(table, rows))
            puts = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in documents]
            self._base[table.name].bulk_write(puts, session=self._in)

    def _cut(self, rows: Sequence[Document]) -> Sequence[Document]:
        """The rows, of which long bodies were put aside in pieces."""
        for row in rows:
            body = row.get("body", b"")
            if len(body) > CHUNK:
                digest = sha256(body).digest()
                row |= {"body": b"", "parts": -(-len(body) // CHUNK), "digest": digest}
                self._put_aside(digest, body)
        return rows

    def _put_aside(self, digest: bytes, body: bytes) -> None:
        """Write a body in pieces, outside of the transaction; inside it they cease to be ones to `sweep`."""
        if digest in self._aside:
            return
        self._aside.add(digest)
        runner, mark = self._base["runner"], {"_id": f"{PIECES}{digest.hex()}"}
        runner.replace_one(mark, mark, upsert=True)
        for piece, at in enumerate(range(0, len(body), CHUNK)):
            one = {"_id": chunk_id(digest, piece), "body": body[at : at + CHUNK]}
            self._base["chunks"].replace_one({"_id": one["_id"]}, one, upsert=True)
        runner.delete_one(mark, session=self._in)


def _documents(table: SqlTable, rows: Iterable[Row]) -> list[Document]:
    """Rows of a table, all its columns, as they are stored: under the first."""
    names = "_id", *table.columns[1:]
    return [dict(zip(names, row, strict=True)) for row in rows]


def sweep(base: Base[Document]) -> None:
    """Remove pieces of bodies that no row came to hold: a run ended, or was overtaken, before its transaction
    did. For the one runner."""
    for mark in base["runner"].find({"_id": {"$regex": f"^{PIECES}"}}):
        digest = bytes.fromhex(mark["_id"].removeprefix(PIECES))
        # One that was overtaken may have marked those of a row that another wrote, so all rows are asked.
        if not any(base[table].find_one({"digest": digest}, {"_id": 1}) for table in _WITH_BODIES):
            base["chunks"].delete_many({"_id": {"$gte": chunk_id(digest, 0), "$lt": chunk_id(digest, END)}})
        base["runner"].delete_one({"_id": mark["_id"]})
