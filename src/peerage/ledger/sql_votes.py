"""Votes in an SQL table: a `votes.VoteStore` for a file beside the ledger's, or beside a ledger's tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from peerage.ledger.sql_database import Connection, SqlStore
from peerage.ledger.sql_tables import SqlTable

_VOTES = SqlTable(
    "votes",
    ("sequence", "match", "voter", "chain", "at_ms", "body"),
    {"one_vote_per_item": ("voter", "match")},
)


class _Votes:
    """The table over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, after: int) -> Sequence[tuple[Any, ...]]:
        wanted = "SELECT sequence, body, chain, at_ms FROM votes WHERE sequence > ? ORDER BY sequence"
        return list(self._connection.execute(wanted, (after,)))

    def filed(self) -> Sequence[tuple[int, str, int]]:
        return list(self._connection.execute("SELECT sequence, voter, match FROM votes"))

    def given(self, voter: str, match: int) -> int | None:
        wanted = "SELECT sequence FROM votes WHERE voter = ? AND match = ?"
        row = self._connection.execute(wanted, (voter, match)).fetchone()
        return row[0] if row else None

    def judged_by(self, voter: str) -> set[int]:
        found = self._connection.execute("SELECT match FROM votes WHERE voter = ?", (voter,))
        return {match for (match,) in found}

    def count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM votes").fetchone()[0])

    def head(self) -> tuple[int, bytes] | None:
        newest = "SELECT sequence, chain FROM votes ORDER BY sequence DESC LIMIT 1"
        row = self._connection.execute(newest).fetchone()
        return (int(row[0]), bytes(row[1])) if row else None

    def write(self, sequence: int, body: bytes, chain: bytes, at_ms: int, match: int, voter: str) -> None:
        values = sequence, body, chain, at_ms, match, voter
        self._connection.execute(
            "INSERT INTO votes (sequence, body, chain, at_ms, match, voter) VALUES (?, ?, ?, ?, ?, ?)", values
        )


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
        with self._store.explained(), closing(self._store.reading()) as pool, pool.one() as connection:
            # Without the table the first vote is just being cast.
            yield _Votes(connection) if _VOTES.name in self._store.tables(connection) else None

    @contextmanager
    def writing(self) -> Iterator[_Votes]:
        with self._store.explained(), self._store.writing() as connection:
            self._store.make(connection, [_VOTES])
            yield _Votes(connection)

    def integrity(self) -> list[str]:
        with self._store.explained(), closing(self._store.reading()) as pool:
            return self._store.integrity(pool, [_VOTES])
