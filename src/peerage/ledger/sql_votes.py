"""Votes in an SQL table: a `votes.VoteStore` for a file beside the ledger's, or beside a ledger's tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    inspect,
    select,
)

from peerage.ledger.sql_database import SqlStore

_SCHEMA = MetaData()
_VOTES = Table(
    "votes",
    _SCHEMA,
    Column("sequence", Integer, primary_key=True, nullable=False, autoincrement=False),
    Column("match", BigInteger, nullable=False),
    Column("voter", Text, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("voter", "match", name="one_vote_per_item"),
)


class _Votes:
    """The table over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, after: int) -> Sequence[tuple[Any, ...]]:
        t = _VOTES.c
        wanted = select(t.sequence, t.body, t.chain, t.at_ms).where(t.sequence > after).order_by(t.sequence)
        return [tuple(row) for row in self._connection.execute(wanted)]

    def filed(self) -> Sequence[tuple[int, str, int]]:
        t = _VOTES.c
        return [
            (sequence, voter, match)
            for sequence, voter, match in self._connection.execute(select(t.sequence, t.voter, t.match))
        ]

    def given(self, voter: str, match: int) -> int | None:
        t = _VOTES.c
        wanted = select(t.sequence).where(t.voter == voter, t.match == match)
        return self._connection.execute(wanted).scalar()

    def judged_by(self, voter: str) -> set[int]:
        wanted = select(_VOTES.c.match).where(_VOTES.c.voter == voter)
        return {match for (match,) in self._connection.execute(wanted)}

    def count(self) -> int:
        return int(self._connection.execute(select(func.count()).select_from(_VOTES)).scalar() or 0)

    def head(self) -> tuple[int, bytes] | None:
        t = _VOTES.c
        newest = select(t.sequence, t.chain).order_by(t.sequence.desc()).limit(1)
        row = self._connection.execute(newest).one_or_none()
        return (int(row[0]), bytes(row[1])) if row else None

    def write(self, sequence: int, body: bytes, chain: bytes, at_ms: int, match: int, voter: str) -> None:
        values = {"sequence": sequence, "body": body, "chain": chain, "at_ms": at_ms}
        self._connection.execute(_VOTES.insert().values(**values, match=match, voter=voter))


class SqlVotes:
    """The votes in one SQL store."""

    def __init__(self, store: SqlStore) -> None:
        self.place = store.place
        self._store = store

    @contextmanager
    def reading(self) -> Iterator[_Votes | None]:
        if not self._store.exists():
            yield None
            return
        engine = self._store.reading()
        try:
            with self._store.explained(), engine.connect() as connection:
                # Without the table the first vote is just being cast.
                yield _Votes(connection) if inspect(connection).has_table(_VOTES.name) else None
        finally:
            engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[_Votes]:
        # Opened for one vote: once it is closed the file holds everything and can be copied alone.
        engine = self._store.writing(create=True)
        try:
            with self._store.explained(), engine.begin() as connection:
                _SCHEMA.create_all(connection)
                yield _Votes(connection)
        finally:
            engine.dispose()

    def integrity(self) -> list[str]:
        engine = self._store.reading()
        try:
            with self._store.explained():
                return self._store.integrity(engine, _SCHEMA)
        finally:
            engine.dispose()
