"""A ledger's rows in MongoDB: a `database.Database`. Each arena has a database of its own on a replica set.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from bson.binary import UUID_SUBTYPE, Binary
from bson.max_key import MaxKey
from bson.min_key import MinKey
from pymongo import MongoClient
from pymongo.client_session import ClientSession
from pymongo.errors import CollectionInvalid, OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from peerage.figures import counted
from peerage.ledger.database import Rows, Transaction, check_schema
from peerage.ledger.mongo_rows import INDEXES, Document, MongoRows, reading
from peerage.ledger.mongo_words import explained, is_lost, known_password, parts, reads_only
from peerage.ledger.mongo_writer import DURABLE, LEASE_S, RUNNER, UNTIL, MongoTransaction, sweep
from peerage.ledger.server import Patience, busy, is_alive, note, process_named
from peerage.ledger.store import SCHEMA, LedgerError, LedgerMissing

Found = TypeVar("Found")

RENEWED_S = 5.0
"""How often a runner's lease is renewed."""
_HELD: set[str] = set()
"""The sessions of runs of this process that go on."""
_BELONG = (
    ("summaries", "_id", "records"),
    ("replies", "intent", "intents"),
    ("failures", "intent", "intents"),
)
"""Collections of which each row belongs to one of another, and by which field."""

logging.getLogger("pymongo").setLevel(logging.CRITICAL)


class _Run(NamedTuple):
    """The run that holds the ledger: its fence, and how many transactions there were before it."""

    fence: int
    written: int


class Mongo:
    """One database on a server, `base`."""

    def __init__(self, address: str) -> None:
        """`address` is `mongodb://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE`, or `mongodb+srv://`, with whatever
        options MongoDB takes there."""
        self.address, password, name = parts(address)
        self.place = self.address
        self._password = known_password(self.address, password)
        self._user = self.address.partition("://")[2].rpartition("@")[0] or "this user"
        self._direct = "directconnection=true" in self.address.lower()
        self._patience = Patience(self.place, self._lost)
        self._run: _Run | None = None
        self._transaction: MongoTransaction | None = None
        with self.explained():
            self._client: MongoClient[Document] = self._connected()
            self.base = self._client.get_database(
                name,
                read_preference=ReadPreference.PRIMARY_PREFERRED,
                read_concern=ReadConcern("majority"),
                write_concern=DURABLE,
            )
        self.rows: Rows = MongoRows(self.base, self._found, patiently=self._patiently)

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

    def prepare(self, *, create: bool) -> None:
        with self.explained():
            self._patience.wait(self._is_replica_set)
            there = self._is_ledger()
            if not there and not create:
                raise LedgerMissing(f"there is no ledger at {self.place} yet; `peerage run` makes it")
            if not there:
                self._make()

    def _is_replica_set(self) -> None:
        if not self._client.admin.command("hello").get("setName"):
            raise OperationFailure("it is no replica set", 20)

    def _is_ledger(self) -> bool:
        """Return whether there is a ledger that we can read; false where there is nothing of one, or
        a part that somebody is making. Raises LedgerError where there is something else."""
        names = self.base.list_collection_names()
        found = self.base["meta"].find_one({"_id": "schema"}) if "meta" in names else None
        if found is None and not set(names) - set(INDEXES):
            return False
        check_schema(self.place, found and found.get("value"), names)
        return True

    def _make(self) -> None:
        """Make what is lacking of a ledger; another that does so at the same time makes the same."""
        there = set(self.base.list_collection_names())
        for table, indexes in INDEXES.items():
            if table not in there:
                with suppress(CollectionInvalid):
                    self.base.create_collection(table)
            for name, fields, unique in indexes:
                self.base[table].create_index([(field, 1) for field in fields], name=name, unique=unique)
        self.base["runner"].update_one(
            RUNNER, {"$setOnInsert": {"fence": 0, "written": 0, "holder": "{}"}}, upsert=True
        )
        version = {"_id": "schema", "value": SCHEMA}
        self.base["meta"].replace_one({"_id": "schema"}, version, upsert=True)

    # ------------------------------------------------------------------------------------------ reading

    def moment(self, work: Callable[[Rows], Found]) -> Found:
        def done() -> Found:
            with self._client.start_session(snapshot=True) as session:

                def find(table: str, where: Document, fields: Any = None, **how: Any) -> Iterator[Document]:
                    return iter(list(reading(self.base, session, table, where, fields, **how)))

                return work(MongoRows(self.base, find, session))

        return self._patiently(done)

    def _found(
        self,
        table: str,
        where: Document,
        fields: Mapping[str, int] | None = None,
        *,
        loose: bool = False,
        **how: Any,
    ) -> Iterator[Document]:
        """Documents as they are at one moment, and where that is gone those behind the last at a later
        one."""
        last: Any = None

        def begun() -> tuple[ClientSession, Iterator[Document], Document | None]:
            session = self._client.start_session(snapshot=True)
            try:
                rest = where if last is None else {"$and": [where, {"_id": {"$gt": last}}]}
                cursor = reading(self.base, session, table, rest, fields, loose=loose, **how)
                if loose:
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
                            last = row["_id"]
                            row = next(cursor, None)
                        return
                    except PyMongoError as error:
                        if not self._lost(error):
                            raise

    # ------------------------------------------------------------------------------------------ writing

    @contextmanager
    def holding(self) -> Iterator[Transaction]:
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
                self._transaction = MongoTransaction(self.base, session, self.place)
                yield self._transaction
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
        transaction, run = self._transaction, self._run
        assert transaction is not None
        assert run is not None

        def attempt() -> None:
            try:
                transaction.begin(run.fence, run.written)
                work()
                transaction.commit()
            except BaseException:
                transaction.abort()
                raise

        with self.explained():
            self._patience.commit(attempt, partial(transaction.is_durable, *run), again=again)
            self._run = run._replace(written=run.written + 1)

    # ------------------------------------------------------------------------------------------ the rest

    def integrity(self) -> Sequence[str]:
        with self.explained():
            there = set(self.base.list_collection_names())
            problems = [
                f"{self.place} holds a collection {name}, which is none of a ledger's"
                for name in sorted(there - set(INDEXES))
                if not name.startswith("system.")
            ]
            lacks = {
                table: {name for name, _, _ in indexes} - set(self.base[table].index_information())
                for table, indexes in INDEXES.items()
            }
            problems += [
                f"{self.place}: the collection {table} lacks its index {name}"
                for table, names in lacks.items()
                for name in sorted(names)
            ]
            issued = self._top("fixtures")
            strays: dict[str, Document] = {
                "fixtures": {"_id": {"$lt": 1}},
                "records": {"_id": {"$lt": 1}},
                "intents": {"$or": [{"match": {"$lt": 1}}, {"match": {"$gt": issued}}]},
            }
            for table, where in strays.items():
                if count := self.base[table].count_documents(where):
                    problems.append(f"the collection {table} holds {counted(count, 'row')} of no match")
            beyond = {of: self._beyond(of) for of in ("records", "intents")}
            for table, column, of in [one for one in _BELONG if not lacks[one[0]]]:
                if count := sum([self._apart(table, column, of, *ids) for ids in beyond[of]]):
                    problems.append(
                        f"the collection {table} holds {counted(count, 'row')} of no match or request"
                    )
        return problems

    def _beyond(self, table: str) -> Sequence[tuple[Any, Any]]:
        """From which id to before which any may be missing: where they count on without a gap none but those
        before the first and after the last."""
        top = self._top(table)
        if self.base[table].count_documents({"_id": {"$gte": 1, "$lte": top}}) == top:
            return (MinKey(), 1), (top + 1, MaxKey())
        return ((MinKey(), MaxKey()),)

    def _apart(self, table: str, column: str, of: str, first: Any, stop: Any) -> int:
        """How many rows name one of these ids that is not there, found by two walks along indexes."""
        ours = (row[column] for row in self._found_by(table, column, first, stop))
        theirs = (row["_id"] for row in self._found_by(of, "_id", first, stop))
        apart, other = 0, next(theirs, None)
        for each in ours:
            while other is not None and other < each:
                other = next(theirs, None)
            apart += other != each
        return apart

    def _found_by(self, table: str, column: str, first: Any, stop: Any) -> Iterator[Document]:
        fields = {column: 1, **({} if column == "_id" else {"_id": 0})}
        found = self.base[table].find({}, fields, sort=[(column, 1)], hint=[(column, 1)])
        return found.min([(column, first)]).max([(column, stop)])

    def _top(self, table: str) -> int:
        row = self.base[table].find_one({}, {"_id": 1}, sort=[("_id", -1)])
        return int(row["_id"]) if row else 0

    def counts(self) -> Mapping[str, int]:
        with self.explained():
            return {table: self.base[table].count_documents({}) for table in ("records", "summaries")}

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


def _machine() -> str:
    """What tells this machine, since its start, from every other; processes of one know of each other."""
    found = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            at = Path(path)
            found.append(str(at.readlink()) if at.is_symlink() else at.read_text().strip())
    return " ".join(found)
