"""Votes in a collection of a ledger's database: a `votes.VoteStore`. Each is cast in a transaction; of two at
once one waits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.database import Database as Base
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference

from peerage.ledger.mongo import Mongo
from peerage.ledger.mongo_rows import Document
from peerage.ledger.mongo_words import parts
from peerage.ledger.mongo_writer import DURABLE

PATIENCE_S = 10.0
"""How long to wait for others who cast votes."""


class _Votes:
    """The collection in one session, or without."""

    def __init__(self, votes: Collection[Document], session: ClientSession | None = None) -> None:
        self._votes = votes
        self._session = session

    def rows(self, after: int) -> Sequence[tuple[Any, ...]]:
        found = self._votes.find({"_id": {"$gt": after}}, sort=[("_id", 1)], session=self._session)
        return [(row["_id"], row["body"], row["chain"], int(row["at_ms"])) for row in found]

    def filed(self) -> Sequence[tuple[int, str, int]]:
        return [
            (row["_id"], row["voter"], row["match"]) for row in self._votes.find({}, {"voter": 1, "match": 1})
        ]

    def given(self, voter: str, match: int) -> int | None:
        row = self._votes.find_one({"voter": voter, "match": match}, {"_id": 1}, session=self._session)
        return int(row["_id"]) if row else None

    def judged_by(self, voter: str) -> set[int]:
        return {row["match"] for row in self._votes.find({"voter": voter}, {"match": 1})}

    def count(self) -> int:
        return self._votes.count_documents({}, session=self._session)

    def head(self) -> tuple[int, bytes] | None:
        row = self._votes.find_one({}, {"chain": 1}, sort=[("_id", -1)], session=self._session)
        return (int(row["_id"]), bytes(row["chain"])) if row else None

    def write(self, sequence: int, body: bytes, chain: bytes, at_ms: int, match: int, voter: str) -> None:
        row = {"_id": sequence, "match": match, "voter": voter, "chain": chain, "at_ms": at_ms, "body": body}
        self._votes.insert_one(row, session=self._session)


class MongoVotes:
    """The votes in the database at an address."""

    def __init__(self, address: str) -> None:
        self.place = parts(address)[0]
        self._address = address

    @contextmanager
    def reading(self) -> Iterator[_Votes | None]:
        with closing(Mongo(self._address)) as database, database.explained():
            yield _Votes(database.base["votes"])

    @contextmanager
    def writing(self) -> Iterator[_Votes]:
        with closing(Mongo(self._address)) as database, database.explained():
            base = database.base
            with base.client.start_session() as session:
                _alone(base, session)
                yield _Votes(base["votes"], session)
                session.commit_transaction()

    def integrity(self) -> list[str]:
        return []  # the ledger's own looks at all collections


def _alone(base: Base[Document], session: ClientSession) -> None:
    """Begin a transaction beside which nobody casts a vote."""
    until = time.monotonic() + PATIENCE_S
    while True:
        session.start_transaction(ReadConcern("snapshot"), DURABLE, ReadPreference.PRIMARY)
        try:
            base["runner"].update_one({"_id": "votes"}, {"$inc": {"cast": 1}}, upsert=True, session=session)
            return
        except PyMongoError as error:
            session.abort_transaction()
            if not error.has_error_label("TransientTransactionError") or time.monotonic() > until:
                raise
        time.sleep(0.01)
