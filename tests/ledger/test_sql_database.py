"""Queries as text, and connections that are lent out."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack

import pytest

from peerage.ledger.sql_database import KEPT, Query, ReadPool, among


class Broken(sqlite3.Connection):
    """A connection that breaks when it is used."""

    closed = False

    def rollback(self) -> None:
        raise sqlite3.OperationalError("gone")

    def close(self) -> None:
        self.closed = True
        super().close()


def connection(factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, factory=factory)


def test_a_query_names_its_columns_and_binds_its_values_in_their_order() -> None:
    wanted = Query(
        ("i.number", "CASE WHEN r.id IS NULL THEN ? END AS body"),
        "intents AS i LEFT JOIN replies AS r ON r.intent = i.id",
        values=(b"",),
        order=("i.number",),
    )
    some = wanted.where("i.number > ?", 3).where(among("i.player", ["a", "b"]), "a", "b")
    assert some.names == ["number", "body"]
    assert some.values == (b"", 3, "a", "b")
    assert some.text.count("?") == len(some.values)
    assert some.text.split(" WHERE ")[1] == "i.number > ? AND i.player IN (?, ?) ORDER BY i.number "
    assert wanted.values == (b"",)


def test_a_connection_is_given_back_outside_any_transaction_and_lent_again() -> None:
    made: list[sqlite3.Connection] = []
    pool = ReadPool(lambda: made.append(connection()) or made[-1])  # type: ignore[func-returns-value]
    with pool.one() as first:
        first.execute("CREATE TABLE t (x)")
        first.execute("BEGIN")
        first.execute("INSERT INTO t VALUES (1)")
    with pool.one() as again:
        assert again is first
        assert list(again.execute("SELECT * FROM t")) == []
    with ExitStack() as borrowed:
        lent = [borrowed.enter_context(pool.one()) for _ in range(KEPT + 1)]
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lent[0].execute("SELECT 1")
    pool.close()
    for one in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            one.execute("SELECT 1")


def test_one_that_broke_takes_those_with_it_that_are_as_old() -> None:
    old, broken, new = connection(), connection(Broken), connection()
    makes = iter([broken, old, new])
    pool = ReadPool(lambda: next(makes))
    with pool.one(), pool.one():
        pass
    assert isinstance(broken, Broken)
    assert broken.closed
    with pool.one() as lent:
        assert lent is new
    pool.close()


def test_what_is_given_back_after_the_end_is_closed() -> None:
    pool = ReadPool(connection)
    with pool.one() as lent:
        pool.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lent.execute("SELECT 1")
