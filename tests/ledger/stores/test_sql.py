"""Queries as text, and connections that are lent out."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack

import pytest

from peerage.ledger.forms.schema import REPLIES
from peerage.ledger.stores.contract import END, Begins, Select
from peerage.ledger.stores.sql import KEPT, ReadPool, query


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
    where = {"match": range(3, 8), "player": ("a", "b"), "id": range(9, END), "reason": Begins("so ")}
    wanted = query(Select(REPLIES, ("id", "player"), where, ("id",)))
    assert wanted.names == ("id", "player")
    assert wanted.values == (3, 7, "a", "b", 9, "so ", "so!")
    assert wanted.text.count("?") == len(wanted.values)
    assert wanted.text.startswith(
        "SELECT x.id, o.player FROM replies AS x JOIN intents AS o ON x.intent = o.id WHERE "
        "o.match BETWEEN ? AND ? AND o.player IN (?, ?) AND "
    )
    assert query(Select(REPLIES, ("id",), {"id": 5})).text == "SELECT x.id FROM replies AS x WHERE x.id = ?"
    last = query(Select(REPLIES, ("id",), {}, ("id",), down=True, limit=2))
    assert last.text == "SELECT x.id FROM replies AS x ORDER BY x.id DESC LIMIT 2"
    behind = query(Select(REPLIES, ("id",), {"intent": 4}, ("id", "intent"), behind=(7, 4)))
    assert behind.text.endswith(" WHERE x.intent = ? AND (x.id, x.intent) > (?, ?) ORDER BY x.id, x.intent")
    assert behind.values == (4, 7, 4)


def test_a_connection_is_given_back_outside_any_transaction_and_lent_again() -> None:
    made: list[sqlite3.Connection] = []
    pool = ReadPool(lambda: made.append(connection()) or made[-1])  # type: ignore[func-returns-value]
    with pool.connection() as first:
        first.execute("CREATE TABLE t (x)")
        first.execute("BEGIN")
        first.execute("INSERT INTO t VALUES (1)")
    with pool.connection() as again:
        assert again is first
        assert list(again.execute("SELECT * FROM t")) == []
    with ExitStack() as borrowed:
        lent = [borrowed.enter_context(pool.connection()) for _ in range(KEPT + 1)]
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
    with pool.connection(), pool.connection():
        pass
    assert isinstance(broken, Broken)
    assert broken.closed
    with pool.connection() as lent:
        assert lent is new
    pool.close()


def test_what_is_given_back_after_the_end_is_closed() -> None:
    pool = ReadPool(connection)
    with pool.connection() as lent:
        pool.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lent.execute("SELECT 1")
