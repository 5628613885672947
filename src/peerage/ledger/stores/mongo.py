"""A store of rows in MongoDB. Each arena has a database of its own on a replica set.

One more document than the rows, in the collection `runner`, is the lease of the one that runs: `fence` counts
the runners there were, `written` their transactions, `holder` says who the last one is, and `until` how long
it holds unless it renews, by the server's clock. Each transaction first counts `written` on, under its own
fence. So a runner that slept, and whose place another took, cannot write; and one whose connection broke
while it committed finds out whether it did.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from bson.binary import UUID_SUBTYPE, Binary
from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import CollectionInvalid, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from peerage.ledger.forms.schema import META, StoredTable
from peerage.ledger.stores._mongo_rows import (
    COLLECTIONS,
    DURABLE,
    LEASE_S,
    OURS,
    RUNNER,
    UNTIL,
    Document,
    MongoReads,
    MongoTransaction,
    indexes,
)
from peerage.ledger.stores._mongo_words import explained, is_lost, parts, reads_only
from peerage.ledger.stores.contract import Found, Insert, Reads, Row, Select, Transaction, shape
from peerage.ledger.stores.server import (
    MONGODB_PASSWORD,
    ServerStore,
    Tenure,
    busy,
    is_alive,
    note,
    process_named,
)

RENEWED_S = 5.0
"""How often a runner's lease is renewed."""
_HELD: set[str] = set()
"""The sessions of runs of this process that go on."""
VOTING_S = 10.0
"""The time to wait for others who cast votes."""

logging.getLogger("pymongo").setLevel(logging.CRITICAL)


class MongoStore(ServerStore, MongoReads):
    """One database on a server, `base`: a `contract.Store`."""

    errors = (PyMongoError,)

    def __init__(self, address: str) -> None:
        """`address` is `mongodb://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE`, or `mongodb+srv://`, with whatever
        options MongoDB takes there."""
        place, password, name = parts(address)
        ServerStore.__init__(self, place, password or os.environ.get(MONGODB_PASSWORD, ""))
        self._direct = "directconnection=true" in place.lower()
        self._writes: MongoTransaction | None = None
        known: dict[str, Any] = {"password": self._password} if self._password else {}
        with self.explained():
            self._client: MongoClient[Document] = MongoClient(
                place,
                appname=f"peerage {os.getpid()}",
                tz_aware=False,
                retryWrites=False,
                connectTimeoutMS=10_000,
                serverSelectionTimeoutMS=1_000,
                **known,
            )
            base = self._client.get_database(
                name,
                read_preference=ReadPreference.PRIMARY_PREFERRED,
                read_concern=ReadConcern("majority"),
                write_concern=DURABLE,
            )
        MongoReads.__init__(self, base)

    def _lost(self, error: Exception) -> bool:
        """Return whether it is worth to wait: a server that is asked directly does not pass a request on."""
        if not isinstance(error, PyMongoError):
            return False
        passes = error.has_error_label("TransientTransactionError")
        return passes or (is_lost(error) and not (self._direct and reads_only(error)))

    def _words(self, error: Any) -> str:
        return explained(error, self.place, self.place.partition("://")[2].rpartition("@")[0] or "this user")

    # ------------------------------------------------------------------------------------------ reading

    def _block(self, wanted: Select) -> Sequence[Row]:
        return list(self._rows(wanted))

    def moment(self, work: Callable[[Reads], Found]) -> Found:
        def done() -> Found:
            with self._client.start_session(snapshot=True) as session:
                return work(MongoReads(self.base, session))

        return self._patiently(done)

    def heads(self, *tables: StoredTable) -> tuple[int, ...]:
        return self.moment(lambda then: then.heads(*tables))

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

    def make(self, tables: Sequence[StoredTable], first: Sequence[Insert]) -> None:
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
                MongoTransaction(self.base, session, self.place).append(first)

    @contextmanager
    def alone(self, table: StoredTable) -> Iterator[Transaction]:
        with self.explained(), self._client.start_session() as session:
            writes, until = MongoTransaction(self.base, session, self.place), time.monotonic() + VOTING_S
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
    def lock(self) -> Iterator[Transaction]:
        self._patience.begin()
        with self.explained():
            session = self._client.start_session()
            session_id = session.session_id["id"]
            self._run = run = self._patience.wait(partial(self._taken, session))
        self._patience.runs = True
        ended = threading.Event()
        threading.Thread(target=self._renew, args=(run, ended), daemon=True).start()
        try:
            with session:
                self._writes = MongoTransaction(self.base, session, self.place)
                yield self._writes
        finally:
            ended.set()
            _HELD.discard(bytes(session_id).hex())
            with suppress(PyMongoError):
                self.base["runner"].update_one(
                    {**RUNNER, "fence": run.fence}, {"$set": {"holder": "{}"}, "$unset": {"until": 1}}
                )
            self._run, self._patience.runs = None, False

    def _taken(self, session: ClientSession) -> Tenure:
        """Take the lease where it is free: nobody's, run out, or of a process of this machine that died."""
        runner = self.base["runner"]
        known = runner.find_one(RUNNER) or {}
        held = json.loads(known.get("holder", "{}"))
        free: list[Document] = [{"$expr": {"$lt": [{"$ifNull": ["$until", 0]}, "$$NOW"]}}]
        if held.get("machine") == _machine() and self._is_over(held):
            free.append({"holder": known["holder"]})
        session_id = bytes(session.session_id["id"]).hex()
        if held and runner.find_one({**RUNNER, "$or": free}, {"_id": 1}):
            # What it left under way would hold the lease for a minute.
            theirs = {"id": Binary(bytes.fromhex(held["session"]), UUID_SUBTYPE)}
            self._client.admin.command("killSessions", [theirs])
        lease = runner.find_one_and_update(
            {**RUNNER, "fence": known.get("fence"), "$or": free},
            [
                {
                    "$set": {
                        "fence": {"$add": ["$fence", 1]},
                        "holder": {"$literal": note(machine=_machine(), session=session_id)},
                        "until": UNTIL,
                    }
                }
            ],
            return_document=True,
        )
        if lease is None:
            raise busy(
                self.place, held, f"; of one that died on another machine the lease ends within {LEASE_S} s"
            )
        _HELD.add(session_id)
        return Tenure(lease["fence"], lease["written"])

    def _is_over(self, held: Document) -> bool:
        """Return whether a run of this machine has ended, where it could not give its lease back."""
        pid = int(held["pid"])
        return held["session"] not in _HELD if pid == os.getpid() else not is_alive(pid)

    def _renew(self, run: Tenure, ended: threading.Event) -> None:
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

    def commit(self, work: Callable[[], None], *, again: bool, last: bool = False) -> None:
        writes, run = self._writes, self._run
        assert writes is not None
        assert run is not None

        def attempt() -> None:
            try:
                writes.count_on(run)
                work()
                writes.commit()
            except BaseException:
                writes.abort()
                raise

        with self.explained():
            self._patience.commit(attempt, partial(writes.is_durable, run), again=again)
        run.written += 1

    # ------------------------------------------------------------------------------------------ the rest

    def integrity(self, tables: Sequence[StoredTable]) -> list[str]:
        due = {("table", name, name) for name in OURS}
        due |= {("index", table.name, name) for table in tables for name, *_ in indexes(table)}
        with self.explained():
            names = [name for name in self.base.list_collection_names() if not name.startswith("system.")]
            there = {("table", name, name) for name in names}
            for name in OURS.intersection(names):
                there |= {("index", name, index) for index in self.base[name].index_information()}
        # An index more changes nothing.
        return shape(self.place, {part for part in there if part[0] != "index" or part in due}, due)

    def close(self) -> None:
        self._client.close()


def _machine() -> str:
    """Return what tells this machine, since its start, from others; processes of one know each other."""
    marks = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            at = Path(path)
            marks.append(str(at.readlink()) if at.is_symlink() else at.read_text().strip())
    return " ".join(marks)
