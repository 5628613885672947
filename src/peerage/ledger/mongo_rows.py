"""How a ledger's rows are kept in MongoDB, and read: a collection for each table of `sql_tables`.

`_id` is a row's number, position, id, digest or key. A reply and a failure name the match and the player of
their request, so that sums and ranges are read from indexes. A body beyond `CHUNK` bytes lies in pieces in
the collection `chunks`, under its digest, written before the transaction, whose size is limited too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Protocol, TypeVar

from bson.int64 import Int64
from pymongo.client_session import ClientSession
from pymongo.database import Database as Base

from peerage.ledger.database import BLOCK, END, Row, still_open
from peerage.ledger.store import Amendment, Entry, Exchange, Failure, FixtureRow, Pin, RecordRow, Summary

CHUNK = 8_000_000
"""Bytes of a body that one document holds; MongoDB's limit is 16 MB."""
MATCHES, ATTEMPTS = 500, 3_000
"""Matches whose attempts are read at once, at most; fewer where these are more than so many attempts."""

Document = dict[str, Any]
Find = Callable[..., Iterator[Document]]
Found = TypeVar("Found")

INDEXES: Mapping[str, Sequence[tuple[str, Sequence[str], bool]]] = {
    "meta": (),
    "texts": (),
    "fixtures": (),
    "intents": (("intents_once", ("match", "key", "attempt"), True),),
    "replies": (
        ("replies_once", ("intent",), True),
        ("replies_cost", ("match", "player", "cost_nano"), False),
    ),
    "failures": (
        ("failures_once", ("intent",), True),
        ("failures_cost", ("match", "player", "cost_nano"), False),
    ),
    "records": (),
    "summaries": (),
    "snapshots": (),
    "entries": (("entries_topic", ("topic", "_id"), False),),
    "log": (),
    "chunks": (),
    "runner": (),
    "votes": (("one_vote_per_item", ("voter", "match"), True),),
}
"""The collections, and of each the indexes beside that on `_id`: name, fields, whether unique."""

SUMMARY = Summary.__struct_fields__[1:]
_SUMMARY = itemgetter("_id", *SUMMARY)


class Patiently(Protocol):
    def __call__(self, ask: Callable[[], Found], /) -> Found: ...


class MongoRows:
    """Rows as `find` reads them: (collection, filter, fields or None) to documents in the order of `_id`;
    `loose` in any order, `down` from the last.

    `session` is that of what is counted and summed: of a transaction, or None. `patiently` asks a server
    again that was away.
    """

    def __init__(
        self,
        base: Base[Document],
        find: Find,
        session: ClientSession | None = None,
        patiently: Patiently = lambda ask: ask(),
    ) -> None:
        self._patiently = patiently
        self._base = base
        self._find = find
        self._session = session

    def facts(self) -> dict[str, str]:
        return {row["_id"]: row["value"] for row in self._find("meta", {})}

    def texts(self, digests: Sequence[bytes] | None) -> Iterator[tuple[bytes, bytes]]:
        wanted = [{}] if digests is None else [{"_id": {"$in": part}} for part in _parts(digests, BLOCK)]
        for where in wanted:
            yield from [(row["_id"], self._body(row)) for row in self._find("texts", where)]

    def fixtures(self, matches: Sequence[int]) -> Iterator[FixtureRow]:
        for row in self._of("fixtures", matches):
            yield FixtureRow(row["_id"], row["round"], self._body(row), row["checksum"])

    def records(self, matches: Sequence[int]) -> Iterator[RecordRow]:
        for row in self._of("records", matches):
            yield RecordRow(row["_id"], self._body(row), row["chain"], row["at_ms"])

    def links(self, matches: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        for row in self._of("records", matches, {"at_ms": 1, "chain": 1}):
            yield row["_id"], row["at_ms"], row["chain"]

    def summaries(self, matches: Sequence[int]) -> Iterator[Row]:
        return map(_SUMMARY, self._of("summaries", matches))

    def exchanges(
        self, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
    ) -> Iterator[Exchange]:
        if isinstance(matches, range):  # as far as there are attempts in any
            last = min(matches.stop - 1, self._top("intents", "match"))
            matches = range(max(matches.start, 0), last + 1)
        at, size = 0, MATCHES // 10
        while part := matches[at : at + size]:
            found = list(self._attempts(part, unanswered, bodies))
            yield from found
            at, size = at + size, max(1, min(MATCHES, size * ATTEMPTS // max(len(found), 1)))

    def _attempts(self, matches: Sequence[int], unanswered: bool, bodies: bool) -> Iterator[Exchange]:
        where = _where("match", matches)
        fields = {"intent": 1} if unanswered else None if bodies else {"body": 0}
        replies = {row["intent"]: row for row in self._find("replies", where, fields, loose=True)}
        failed = {row["intent"]: row for row in self._find("failures", where, loose=True)}
        if unanswered:
            ids = [row["_id"] for row in self._find("intents", where, {"_id": 1}, loose=True)]
            where = {"_id": {"$in": [each for each in ids if each not in replies]}}
            replies = {}
        # Requests are read after their replies: what was answered in between has none here.
        asked = self._find("intents", where, loose=True)
        places = {number: place for place, number in enumerate(matches)}
        for row in sorted(asked, key=lambda row: (places[row["match"]], row["_id"])):
            reply, failure = replies.get(row["_id"]), failed.get(row["_id"])
            yield Exchange(
                match=row["match"],
                key=row["key"],
                attempt=row["attempt"],
                player=row["player"],
                request=self._body(row),
                reply=None if reply is None else self._body(reply) if bodies else b"",
                worst_nano=row["worst_nano"],
                cost_nano=None if reply is None else reply["cost_nano"],
                id=row["_id"],
                checksum=row["checksum"],
                reply_id=None if reply is None else reply["_id"],
                reply_checksum=None if reply is None else reply["checksum"],
                at_ms=None if reply is None else reply["at_ms"],
                latency_ms=None if reply is None else reply["latency_ms"],
                failure=None
                if failure is None
                else Failure(failure["_id"], failure["reason"], failure["cost_nano"], failure["at_ms"]),
            )

    def newest(self) -> tuple[int, int]:
        return self._top("fixtures"), self._top("records")

    def last_snapshot(self, at_most: int | None) -> tuple[int, bytes] | None:
        where = {"_id": {"$gte": 0} if at_most is None else {"$gte": 0, "$lte": at_most}}
        row = next(self._find("snapshots", where, None, down=True, limit=1), None)
        return None if row is None else (row["_id"], self._body(row))

    def snapshots(self) -> Iterator[tuple[int, bytes, int]]:
        for row in self._find("snapshots", {}):
            yield row["_id"], self._body(row), row["checksum"]

    def log(self, after: int = 0, last: int = END) -> Iterator[Entry]:
        part = _where("_id", range(after + 1, min(last + 1, END))) if after or last < END else {}
        for row in self._find("log", part):
            yield Entry(row["_id"], row["about"], row["digest"], row["chain"])

    def last_entry(self, about: str = "") -> Entry | None:
        where: Document = {"about": about} if about else {}
        if about.endswith(" "):
            where = {"about": {"$gte": about, "$lt": f"{about[:-1]}!"}}
        row = next(self._find("log", where, None, down=True, limit=1), None)
        return None if row is None else Entry(row["_id"], row["about"], row["digest"], row["chain"])

    def pin(self) -> Pin:
        return Pin(*[self._top(name) for name in ("log", "fixtures", "intents", "replies", "failures")])

    def spent_by(
        self, last: int | None, but_for: Sequence[int], replies_of: Collection[str] | None
    ) -> dict[str, int]:
        match: Document = {"match": {"$gte": 0} if last is None else {"$lte": last, "$nin": list(but_for)}}
        named: Document = {} if replies_of is None else {"player": {"$in": list(replies_of)}}
        spent: Counter[str] = Counter()
        for table, whose in (("replies", named), ("failures", {})):
            if table == "replies" and replies_of is not None and not replies_of:
                continue
            # From the index alone: bodies are not read.
            steps: list[Document] = [
                {"$match": match | whose},
                {"$group": {"_id": "$player", "nano": {"$sum": "$cost_nano"}}},
            ]
            for row in self._patiently(partial(self._summed, table, steps, hint=f"{table}_cost")):
                spent[row["_id"]] += int(row["nano"])
        for row in still_open(self, self._unanswered):
            if last is None or (row["match"] <= last and row["match"] not in but_for):
                spent[row["player"]] += row["worst_nano"] or 0
        return dict(spent)

    def _unanswered(self, ids: range) -> Sequence[Document]:
        where = {"intent": {"$gte": ids.start, "$lt": ids.stop}}
        if sum(self._count(table, where) for table in ("replies", "failures")) == len(ids):
            return ()
        followed = {
            row["intent"]
            for table in ("replies", "failures")
            for row in self._find(table, where, {"intent": 1, "_id": 1})
        }
        fields = {"match": 1, "player": 1, "worst_nano": 1}
        parts = _parts([each for each in ids if each not in followed], BLOCK)
        return [row for part in parts for row in self._find("intents", {"_id": {"$in": part}}, fields)]

    def said(self, topic: str) -> Iterator[Amendment]:
        for row in self._find("entries", {"topic": topic} if topic else {}):
            yield Amendment(row["topic"], self._body(row), row["at_ms"], row["_id"])

    def any_said(self, topic: str) -> bool:
        return any(True for _ in self._find("entries", {"topic": topic}, {"_id": 1}, limit=1))

    def topics(self) -> Mapping[str, int]:
        steps: list[Document] = [{"$sort": {"topic": 1}}, {"$group": {"_id": "$topic", "rows": {"$sum": 1}}}]
        return {row["_id"]: row["rows"] for row in self._patiently(partial(self._summed, "entries", steps))}

    def _summed(self, table: str, steps: Sequence[Document], **how: Any) -> list[Document]:
        return list(self._base[table].aggregate(steps, session=self._session, **how))

    def _of(
        self, table: str, matches: Sequence[int], fields: Mapping[str, int] | None = None
    ) -> Iterator[Document]:
        if isinstance(matches, range):
            yield from self._find(table, _where("_id", matches), fields)
            return
        for part in _parts(matches, BLOCK):
            places = {number: place for place, number in enumerate(part)}
            yield from sorted(
                self._find(table, _where("_id", part), fields, loose=True), key=lambda row: places[row["_id"]]
            )

    def _body(self, row: Document) -> bytes:
        if not row.get("parts"):
            return bytes(row["body"])
        # Outside of any moment: they were there before the row was, and stay as they are.
        ids = [chunk_id(row["digest"], piece) for piece in range(row["parts"])]

        def read() -> list[Document]:
            return list(self._base["chunks"].find({"_id": {"$in": ids}}, sort=[("_id", 1)]))

        return b"".join([piece["body"] for piece in self._patiently(read)])

    def _top(self, table: str, field: str = "_id") -> int:
        """The highest value of a field, 0 where there is none."""
        newest = partial(self._base[table].find_one, sort=[(field, -1)], session=self._session)
        row = self._patiently(partial(newest, {}, {field: 1}))
        return int(row[field]) if row else 0

    def _count(self, table: str, where: Document) -> int:
        return self._patiently(partial(self._base[table].count_documents, where, session=self._session))


def reading(
    base: Base[Document],
    session: ClientSession,
    table: str,
    where: Document,
    fields: Mapping[str, int] | None = None,
    *,
    loose: bool = False,
    down: bool = False,
    limit: int = 0,
) -> Iterator[Document]:
    """Documents of a collection in the order of `_id`, or `loose` in any, `down` from the last."""
    order = None if loose else [("_id", -1 if down else 1)]
    return map(_plain, base[table].find(where, fields, sort=order, limit=limit, session=session))


def _plain(row: Document) -> Document:
    """Numbers of 64 bits as they were written. A type of the codec's for that takes four times as long."""
    for name, value in row.items():
        if value.__class__ is Int64:
            row[name] = int(value)
    return row


def chunk_id(digest: bytes, piece: int) -> Document:
    """The `_id` of a piece of a body, of which `digest` is the SHA-256."""
    return {"digest": digest, "piece": piece}


def _where(field: str, matches: Sequence[int]) -> Document:
    if not isinstance(matches, range):
        return {field: {"$in": list(matches)}}
    ends = {"$gte": matches.start} if matches.stop == END else {"$gte": matches.start, "$lt": matches.stop}
    return {field: ends}


def _parts(rows: Sequence[Any], size: int) -> Iterator[Any]:
    return (rows[at : at + size] for at in range(0, len(rows), size))
