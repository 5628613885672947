"""What the runner writes into MongoDB: `database.Transaction`, in one session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from zlib import crc32

from pymongo import ReplaceOne
from pymongo.client_session import ClientSession
from pymongo.database import Database as Base
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from peerage.ledger.database import BLOCK, END
from peerage.ledger.mongo_rows import CHUNK, SUMMARY, Document, MongoRows, chunk_id, reading
from peerage.ledger.narrow import flat
from peerage.ledger.server import superseded
from peerage.ledger.store import Amendment, Batch, Exchange, FailureRow, LedgerError, ReplyRow

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
        self._texts(batch.texts)
        self._put(
            "fixtures",
            [
                {"_id": row.number, "round": row.round, "checksum": crc32(row.body), "body": row.body}
                for row in batch.fixtures
            ],
        )
        self._ask(batch)
        self._follow(batch)
        self._as_they_are(batch.attempts)
        self._put(
            "records",
            [
                {"_id": row.number, "chain": row.chain, "at_ms": row.at_ms, "body": row.body}
                for row in batch.records
            ],
        )
        rows = map(flat, batch.summaries)
        self._put("summaries", [{"_id": row[0], **dict(zip(SUMMARY, row[1:], strict=True))} for row in rows])
        self._replace(
            "snapshots",
            [{"_id": number, "checksum": crc32(body), "body": body} for number, body in batch.snapshots],
        )
        self._replace("meta", [{"_id": key, "value": value} for key, value in batch.meta.items()])

    def enter(
        self, rows: Sequence[tuple[int, str, bytes, bytes]], said: Sequence[tuple[int, Amendment]]
    ) -> None:
        self._put(
            "log",
            [
                {"_id": position, "about": about, "digest": digest, "chain": chain}
                for position, about, digest, chain in rows
            ],
        )
        self._put(
            "entries",
            [{"_id": at, "topic": one.topic, "at_ms": one.at_ms, "body": one.body} for at, one in said],
        )

    def clear(self) -> None:
        for table in ("snapshots", "summaries"):
            self._base[table].delete_many({}, session=self._in)

    def _texts(self, texts: Iterable[tuple[bytes, str]]) -> None:
        rows = {digest: text.encode() for digest, text in texts}
        if rows:
            known = self._base["texts"].find({"_id": {"$in": list(rows)}}, {"_id": 1}, session=self._in)
            for row in known:
                del rows[bytes(row["_id"])]
        self._put("texts", [{"_id": digest, "body": body} for digest, body in rows.items()])

    def _ask(self, batch: Batch) -> None:
        documents = list[Document]()
        for at, row in enumerate(batch.intents, self._next("intents", len(batch.intents))):
            self._open[row.match, row.key, row.attempt] = at, row.player
            documents.append(
                {
                    "_id": at,
                    "match": row.match,
                    "key": row.key,
                    "attempt": row.attempt,
                    "player": row.player,
                    "worst_nano": row.worst_nano,
                    "checksum": crc32(row.body),
                    "body": row.body,
                }
            )
        self._put("intents", documents)

    def _follow(self, batch: Batch) -> None:
        """Write replies and failures."""
        self._look_up(batch.replies)
        self._look_up(batch.failures)
        documents = list[Document]()
        for at, reply in enumerate(batch.replies, self._next("replies", len(batch.replies))):
            of = self._of_request(reply.match, reply.key, reply.attempt)
            more: Document = {
                "cost_nano": reply.cost_nano,
                "at_ms": reply.at_ms,
                "latency_ms": reply.latency_ms,
                "checksum": crc32(reply.body),
            }
            documents.append({"_id": at, **of, **more, "body": reply.body})
        self._put("replies", documents)
        documents = []
        for at, failure in enumerate(batch.failures, self._next("failures", len(batch.failures))):
            of = self._of_request(failure.match, failure.key, failure.attempt)
            more = {"reason": failure.reason, "cost_nano": failure.cost_nano, "at_ms": failure.at_ms}
            documents.append({"_id": at, **of, **more})
        self._put("failures", documents)

    def _look_up(self, rows: Sequence[ReplyRow | FailureRow]) -> None:
        """Find requests that were written before this process, or this transaction, began."""
        asked = [(row.match, row.key, row.attempt) for row in rows]
        unknown = [each for each in asked if each not in self._open]
        fields = {"match": 1, "key": 1, "attempt": 1, "player": 1}
        for at in range(0, len(unknown), BLOCK):
            wanted = [
                {"match": match, "key": key, "attempt": attempt}
                for match, key, attempt in unknown[at : at + BLOCK]
            ]
            for row in self._find("intents", {"$or": wanted}, fields, loose=True):
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
        asked, replied, failed = list[Document](), list[Document](), list[Document]()
        for row in attempts:
            asked.append(
                {
                    "_id": row.id,
                    "match": row.match,
                    "key": row.key,
                    "attempt": row.attempt,
                    "player": row.player,
                    "worst_nano": row.worst_nano,
                    "checksum": row.checksum,
                    "body": row.request,
                }
            )
            of = {"intent": row.id, "match": row.match, "player": row.player}
            if row.reply is not None:
                more: Document = {
                    "cost_nano": row.cost_nano,
                    "at_ms": row.at_ms,
                    "latency_ms": row.latency_ms,
                    "checksum": row.reply_checksum,
                }
                replied.append({"_id": row.reply_id, **of, **more, "body": row.reply})
            if (one := row.failure) is not None:
                more = {"reason": one.reason, "cost_nano": one.cost_nano, "at_ms": one.at_ms}
                failed.append({"_id": one.id, **of, **more})
        if attempts:
            self._newest = {}
        for table, rows in (("intents", asked), ("replies", replied), ("failures", failed)):
            self._put(table, rows)

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

    def _replace(self, table: str, rows: Sequence[Document]) -> None:
        if rows:
            puts = [ReplaceOne({"_id": row["_id"]}, row, upsert=True) for row in self._cut(rows)]
            self._base[table].bulk_write(puts, session=self._in)

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


def sweep(base: Base[Document]) -> None:
    """Remove pieces of bodies that no row came to hold: a run ended, or was overtaken, before its transaction
    did. For the one runner."""
    for mark in base["runner"].find({"_id": {"$regex": f"^{PIECES}"}}):
        digest = bytes.fromhex(mark["_id"].removeprefix(PIECES))
        # One that was overtaken may have marked those of a row that another wrote, so all rows are asked.
        if not any(base[table].find_one({"digest": digest}, {"_id": 1}) for table in _WITH_BODIES):
            base["chunks"].delete_many({"_id": {"$gte": chunk_id(digest, 0), "$lt": chunk_id(digest, END)}})
        base["runner"].delete_one({"_id": mark["_id"]})
