"""A store of rows in MongoDB. Each arena has a database of its own on a replica set.

One more document than the rows, in the collection `runner`, is the lease of the one that runs: `fence` counts
the runners there were, `written` their transactions, `holder` says who the last one is, and `until` how long
it holds unless it renews, by the server's clock. Each transaction first counts `written` on, under its own
fence. So a runner that slept, and whose place another took, cannot write; and one whose connection broke
while it committed finds out whether it did.

Readers hold no transaction: each reading pins a moment of the server's, for as long as that is kept, and goes
on behind the last row it saw where the moment or the connection is gone.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bson.binary import UUID_SUBTYPE, Binary
from bson.max_key import MaxKey
from bson.min_key import MinKey
from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import CollectionInvalid, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.forms.schema import META, Table
from peerage.ledger.stores._mongo_rows import (
    COLLECTIONS,
    DURABLE,
    LEASE_S,
    OURS,
    RUNNER,
    UNTIL,
    Document,
    MongoReads,
    MongoWrites,
    fields,
    indexes,
    reading,
    sweep,
)
from peerage.ledger.stores._mongo_words import PASSWORD, explained, is_lost, parts, reads_only
from peerage.ledger.stores.contract import Found, Insert, Reads, Row, Select, Writes
from peerage.ledger.stores.server import Patience, busy, is_alive, known_password, note, process_named

RENEWED_S = 5.0
"""How often a runner's lease is renewed."""
_HELD: set[str] = set()
"""The sessions of runs of this process that go on."""
VOTING_S = 10.0
"""The time to wait for others who cast votes."""

logging.getLogger("pymongo").setLevel(logging.CRITICAL)


class _Run(NamedTuple):
    """The run that holds the ledger: its fence, and how many transactions there were before it."""

    fence: int
    written: int


class MongoStore:
    """One database on a server, `base`: a `contract.Store`."""

    def __init__(self, address: str) -> None:
        """`address` is `mongodb://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE`, or `mongodb+srv://`, with whatever
        options MongoDB takes there."""
        self.address, password, name = parts(address)
        self.place = self.address
        self._password = known_password(self.address, password or os.environ.get(PASSWORD, ""))
        self._user = self.address.partition("://")[2].rpartition("@")[0] or "this user"
        self._direct = "directconnection=true" in self.address.lower()
        self._patience = Patience(self.place, self._lost)
        self._run: _Run | None = None
        self._writes: MongoWrites | None = None
        with self.explained():
            self._client: MongoClient[Document] = self._connected()
            self.base = self._client.get_database(
                name,
                read_preference=ReadPreference.PRIMARY_PREFERRED,
                read_concern=ReadConcern("majority"),
                write_concern=DURABLE,
            )
        self._reads = MongoReads(self.base, self._found, patiently=self._patiently)

    def _connected(self) -> MongoClient[Document]:
        known: dict[str, Any] = {"password": self._password} if self._password else {}
        return MongoClient(
            self.address,
            appname=f"peerage {os.getpid()}",
            tz_aware=False,
            retryWrites=False,
            connectTimeoutMS=10_000,
            serverSelectionTimeoutMS=1_000,
            **known,
        )

    # ------------------------------------------------------------------------------------------ reading

    def rows(self, wanted: Select) -> Iterator[Sequence[Row]]:
        return self._reads.rows(wanted)

    def totals(self, wanted: Select, by: str = "", of: str = "") -> Mapping[Any, int]:
        return self._reads.totals(wanted, by, of)

    def heads(self, *tables: Table) -> tuple[int, ...]:
        return self._reads.heads(*tables)

    def moment(self, work: Callable[[Reads], Found]) -> Found:
        def done() -> Found:
            with self._client.start_session(snapshot=True) as session:
                find = partial(reading, self.base, session)
                return work(MongoReads(self.base, lambda wanted: iter(list(find(wanted))), session))

        return self._patiently(done)

    def _found(self, wanted: Select) -> Iterator[Document]:
        """Documents as they are at one moment, and where that is gone those behind the last at a later
        one."""
        order = fields(wanted.table, wanted.order)
        last: Document | None = None

        def begun() -> tuple[ClientSession, Iterator[Document], Document | None]:
            session = self._client.start_session(snapshot=True)
            try:
                cursor = reading(self.base, session, wanted, _behind(order, last))
                if not order:
                    cursor = iter(list(cursor))
                return session, cursor, next(cursor, None)
            except BaseException:
                session.end_session()
                raise

        with self.explained():
            while True:
                session, cursor, row = self._patience.wait(begun)
                with session:
                    try:
                        while row is not None:
                            yield row
                            last = row
                            row = next(cursor, None)
                        return
                    except PyMongoError as error:
                        if not self._lost(error):
                            raise

    def names(self) -> list[str] | None:
        with self.explained():
            self._patience.wait(self._is_replica_set)
            names = self.base.list_collection_names()
            if not {*names} - OURS:
                # Without a fact it holds nothing, or what somebody is just making.
                return names if META.name in names and self.base[META.name].find_one({}) else None
            return names

    def _is_replica_set(self) -> None:
        if not self._client.admin.command("hello").get("setName"):
            raise OperationFailure("it is no replica set", 20)

    # ------------------------------------------------------------------------------------------ writing

    def make(self, tables: Sequence[Table], first: Sequence[Insert]) -> None:
        """Make what is lacking; another that does so at the same time makes the same."""
        with self.explained():
            there = set(self.base.list_collection_names())
            for name in sorted(OURS - there):
                with suppress(CollectionInvalid):
                    self.base.create_collection(name)
            for table in COLLECTIONS.values():
                for name, names, unique in indexes(table):
                    self.base[table.name].create_index([(f, 1) for f in names], name=name, unique=unique)
            self.base["runner"].update_one(
                RUNNER, {"$setOnInsert": {"fence": 0, "written": 0, "holder": "{}"}}, upsert=True
            )
            with self._client.start_session() as session:
                MongoWrites(self.base, session, self.place).append(first)

    @contextmanager
    def alone(self, table: Table) -> Iterator[Writes]:
        with self.explained(), self._client.start_session() as session:
            writes, until = MongoWrites(self.base, session, self.place), time.monotonic() + VOTING_S
            while True:
                writes.begin()
                try:
                    self.base["runner"].update_one(
                        {"_id": table.name}, {"$inc": {"begun": 1}}, upsert=True, session=session
                    )
                    break
                except PyMongoError as error:
                    writes.abort()
                    if not error.has_error_label("TransientTransactionError") or time.monotonic() > until:
                        raise
                time.sleep(0.01)
            yield writes
            writes.commit()

    @contextmanager
    def lock(self) -> Iterator[Writes]:
        self._patience.begin()
        with self.explained():
            session = self._client.start_session()
            session_id = session.session_id["id"]
            self._run = run = self._patience.wait(partial(self._taken, session))
        self._patience.runs = True
        ended = threading.Event()
        renewer = threading.Thread(target=self._renew, args=(run, ended), daemon=True)
        renewer.start()
        try:
            with session:
                with self.explained():
                    self._patience.wait(partial(sweep, self.base))
                self._writes = MongoWrites(self.base, session, self.place)
                yield self._writes
        finally:
            ended.set()
            _HELD.discard(bytes(session_id).hex())
            with suppress(PyMongoError):
                self.base["runner"].update_one(
                    {**RUNNER, "fence": run.fence}, {"$set": {"holder": "{}"}, "$unset": {"until": 1}}
                )
            self._run, self._patience.runs = None, False

    def _taken(self, session: ClientSession) -> _Run:
        """Take the lease where it is free: nobody's, run out, or of a process of this machine that died."""
        runner = self.base["runner"]
        known = runner.find_one(RUNNER) or {}
        held = json.loads(known.get("holder", "{}"))
        free: list[Document] = [{"$expr": {"$lt": [{"$ifNull": ["$until", 0]}, "$$NOW"]}}]
        if held.get("machine") == _machine() and self._is_over(held):
            free.append({"holder": known["holder"]})
        mine = bytes(session.session_id["id"]).hex()
        if held and runner.find_one({**RUNNER, "$or": free}, {"_id": 1}):
            # What it left under way would hold the lease for a minute.
            theirs = {"id": Binary(bytes.fromhex(held["session"]), UUID_SUBTYPE)}
            self._client.admin.command("killSessions", [theirs])
        found = runner.find_one_and_update(
            {**RUNNER, "fence": known.get("fence"), "$or": free},
            [
                {
                    "$set": {
                        "fence": {"$add": ["$fence", 1]},
                        "holder": {"$literal": note(machine=_machine(), session=mine)},
                        "until": UNTIL,
                    }
                }
            ],
            return_document=True,
        )
        if found is None:
            raise busy(
                self.place, held, f"; of one that died on another machine the lease ends within {LEASE_S} s"
            )
        _HELD.add(mine)
        return _Run(found["fence"], found["written"])

    def _is_over(self, held: Document) -> bool:
        """Whether a run of this machine has ended, where it could not give its lease back."""
        pid = int(held["pid"])
        return held["session"] not in _HELD if pid == os.getpid() else not is_alive(pid)

    def _renew(self, run: _Run, ended: threading.Event) -> None:
        while not ended.wait(RENEWED_S):
            # A server that is away is waited for by who writes; a write of its own renews the lease too.
            with suppress(PyMongoError):
                self.base["runner"].update_one({**RUNNER, "fence": run.fence}, [{"$set": {"until": UNTIL}}])

    def holder(self) -> str:
        with self.explained():
            row = self._patience.wait(
                lambda: self.base["runner"].find_one({**RUNNER, "$expr": {"$gt": ["$until", "$$NOW"]}})
            )
        held = json.loads(row["holder"]) if row else {}
        if held.get("machine") == _machine() and not is_alive(int(held["pid"])):
            return ""
        return process_named(held)

    def commit(self, work: Callable[[], None], *, again: bool) -> None:
        writes, run = self._writes, self._run
        assert writes is not None
        assert run is not None

        def attempt() -> None:
            try:
                writes.count_on(run.fence, run.written)
                work()
                writes.commit()
            except BaseException:
                writes.abort()
                raise

        with self.explained():
            self._patience.commit(attempt, partial(writes.is_durable, *run), again=again)
            self._run = run._replace(written=run.written + 1)

    # ------------------------------------------------------------------------------------------ the rest

    def integrity(self, tables: Sequence[Table]) -> list[str]:
        with self.explained():
            there = set(self.base.list_collection_names())
            problems = [
                f"{self.place} holds a collection {name}, which is none of a ledger's"
                for name in sorted(there - OURS)
                if not name.startswith("system.")
            ]
            return problems + [
                f"{self.place}: the collection {table.name} lacks its index {name}"
                for table in tables
                for name in sorted(self._lacking(table))
            ]

    def _lacking(self, table: Table) -> set[str]:
        return {name for name, *_ in indexes(table)} - set(self.base[table.name].index_information())

    def strays(self, table: Table) -> tuple[int, Any]:
        """Count them by two walks along indexes, but not where keys count on without a gap."""
        assert table.of is not None
        column, other = table.of
        name = fields(table, [column])[0]
        with self.explained():
            if self._lacking(table):
                return 0, 0  # which `integrity` tells
            (top,) = self.heads(other)
            spans: list[tuple[Any, Any]] = [(MinKey(), MaxKey())]
            if self.base[other.name].count_documents({"_id": {"$gte": 1, "$lte": top}}) == top:
                spans = [(MinKey(), 1), (top + 1, MaxKey())]
            found = [key for span in spans for key in self._apart(table.name, name, other.name, *span)]
            return len(found), found[0] if found else 0

    def _apart(self, table: str, name: str, of: str, first: Any, stop: Any) -> Iterator[Any]:
        """Yield the keys that rows name and that are not there."""
        ours = (row[name] for row in self._walk(table, name, first, stop))
        theirs = (row["_id"] for row in self._walk(of, "_id", first, stop))
        other = next(theirs, None)
        for each in ours:
            while other is not None and other < each:
                other = next(theirs, None)
            if other != each:
                yield each

    def _walk(self, table: str, name: str, first: Any, stop: Any) -> Iterator[Document]:
        only = {name: 1, **({} if name == "_id" else {"_id": 0})}
        found = self.base[table].find({}, only, sort=[(name, 1)], hint=[(name, 1)])
        return found.min([(name, first)]).max([(name, stop)])

    def stop_waiting(self, *, writes: bool = True) -> None:
        self._patience.stop(writes=writes)

    def close(self) -> None:
        self._client.close()

    def _lost(self, error: Exception) -> bool:
        """Whether it is worth to wait: a server that is asked directly does not pass a request on."""
        if not isinstance(error, PyMongoError):
            return False
        passes = error.has_error_label("TransientTransactionError")
        return passes or (is_lost(error) and not (self._direct and reads_only(error)))

    def _patiently(self, ask: Callable[[], Found]) -> Found:
        with self.explained():
            return self._patience.wait(ask)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise LedgerError, which says what went wrong, where, and how to fix it."""
        try:
            yield
        except PyMongoError as error:
            why = explained(error, self.place, self._user)
            if self._password:
                why = why.replace(self._password, "***")
            raise LedgerError(why) from None


def _behind(order: Sequence[str], last: Document | None) -> list[Document]:
    """Filters of which one holds for what comes behind the last document."""
    if last is None:
        return []
    return [
        {**{name: last[name] for name in order[:place]}, order[place]: {"$gt": last[order[place]]}}
        for place in range(len(order))
    ]


def _machine() -> str:
    """What tells this machine, since its start, from every other; processes of one know of each other."""
    found = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            at = Path(path)
            found.append(str(at.readlink()) if at.is_symlink() else at.read_text().strip())
    return " ".join(found)
