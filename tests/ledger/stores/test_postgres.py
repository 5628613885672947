"""What only a ledger on PostgreSQL does: transactions, rights, passwords; on a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.ledger.on_servers import NEWER, fails, fixture

from peerage.ledger import Batch, FailureRow, IntentRow, Ledger, LedgerError, open_ledger
from peerage.ledger.stores import access

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer


@pytest.fixture
def ledger(postgres: PostgresServer) -> Iterator[Ledger]:
    with closing(open_ledger(postgres.address(), Path(), create=True)) as opened:
        yield opened


def test_a_reader_outlives_its_server(ledger: Ledger, postgres: PostgresServer) -> None:
    with ledger.runner():
        ledger.write(fixture(1))
    rows = ledger.fixtures()
    postgres.give_up(ledger.address, os.getpid())
    assert [row.number for row in rows] == [1]
    assert ledger.heads() == (1, 0)


def test_readers_hold_no_transaction(ledger: Ledger, postgres: PostgresServer) -> None:
    with ledger.runner():
        ledger.write(
            Batch(intents=[IntentRow(1, f"k{number:05}", 1, "p", b"{}", 1) for number in range(2_500)])
        )
    rows = ledger.exchanges(1)
    assert next(rows).key == "k00000"
    assert postgres.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL") == [(1,)]
    assert len(list(rows)) == 2_499


def test_what_no_text_of_postgres_holds_is_marked(ledger: Ledger) -> None:
    with ledger.runner():
        ledger.write(
            Batch(
                intents=[IntentRow(1, "k", 1, "p", b"\0", None)],
                failures=[FailureRow(1, "k", 1, "was \0 there", None, 3)],
            )
        )
    (row,) = ledger.exchanges(1)
    assert row.request == b"\0"
    assert row.failure is not None
    assert row.failure.reason == "was \ufffd there"


# -------------------------------------------------------------------------------------------- what goes wrong


def test_a_wrong_password_is_told_and_never_printed(postgres: PostgresServer, tmp_path: Path) -> None:
    postgres.sql(
        "DROP DATABASE IF EXISTS secret", "CREATE DATABASE secret", "ALTER ROLE tester PASSWORD 'right'"
    )
    for password, word in (("hunter2", "refused the password of tester"), ("right", "makes a ledger")):
        address = postgres.address(password=password).replace("/postgres?", "/secret?")
        message = fails(address, folder=tmp_path)
        assert word in message
        assert password not in message.replace("the right one", "")
    (tmp_path / ".env").write_text(f"DATABASE_URL={address}\n")
    with closing(open_ledger("$DATABASE_URL", tmp_path, create=True)) as opened:
        assert "right" not in opened.address
        assert access(opened.address) == {"PGPASSWORD": "right"}
        with closing(open_ledger(opened.address, Path("/"), create=False)) as again, again.runner():
            again.write(fixture(1))
        assert opened.heads() == (1, 0)
    assert "NOWHERE is set neither" in fails("$NOWHERE", folder=tmp_path)


def test_a_run_whose_connection_breaks_as_it_ends_is_logged_whole(
    ledger: Ledger, postgres: PostgresServer
) -> None:
    with ledger.runner():
        ledger.write(fixture(1))
        postgres.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE application_name = 'peerage {os.getpid()}' AND query !~ 'pg_stat_activity'"
        )
    abouts = [entry.about for entry in ledger.log()]
    assert abouts[-1] == "in play 0"
    with ledger.runner():
        ledger.write(fixture(2))
    assert ledger.heads() == (2, 0)


def test_no_statement_of_a_run_is_compiled(ledger: Ledger) -> None:
    from peerage.ledger.stores.postgres import PostgresStore

    with closing(PostgresStore(ledger.address)._locked(False)) as connection:
        plan = connection.execute("EXPLAIN ANALYZE UPDATE runner SET written = written WHERE fence = 1")
        assert "JIT" not in str(plan.fetchall())


def test_no_block_of_rows_is_read_by_several_processes(ledger: Ledger) -> None:
    from peerage.ledger.stores.postgres import PostgresStore

    with closing(PostgresStore(ledger.address)) as store, store._pool.connection() as line:
        plans = "SELECT current_setting('max_parallel_workers_per_gather'), current_setting('jit')"
        assert line.execute(plans).fetchone() == ("0", "off")


def test_rights_and_replicas(ledger: Ledger, postgres: PostgresServer) -> None:
    schema = ledger.address.rpartition("schema=")[2]
    with ledger.runner():
        ledger.write(fixture(1))
    postgres.sql(
        "DROP ROLE IF EXISTS guest",
        "CREATE ROLE guest LOGIN",
        "REVOKE CREATE ON DATABASE postgres FROM PUBLIC",
    )
    try:
        message = fails(postgres.address(user="guest"), create=True)
        assert "guest lacks a right" in message
        assert "GRANT CREATE ON DATABASE" in message
        postgres.sql(
            f"GRANT USAGE ON SCHEMA {schema} TO guest",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest",
        )
        with closing(open_ledger(postgres.address(schema, "guest"), Path(), create=True)) as theirs:
            assert theirs.heads() == (1, 0)
            with pytest.raises(LedgerError, match="guest lacks a right"), theirs.runner():
                pass
        postgres.sql("ALTER ROLE tester SET default_transaction_read_only = on")
        with pytest.raises(LedgerError, match="only reads, as a replica does"), ledger.runner():
            pass
        assert ledger.heads() == (1, 0)
    finally:
        postgres.sql(
            "SET default_transaction_read_only = off",
            "ALTER ROLE tester RESET default_transaction_read_only",
            "DROP OWNED BY guest",
            "DROP ROLE guest",
        )


def test_a_newer_ledger_and_no_ledger_at_all(ledger: Ledger, postgres: PostgresServer) -> None:
    schema = ledger.address.rpartition("schema=")[2]
    postgres.sql(f"UPDATE {schema}.meta SET value = '7 9.1' WHERE key = 'schema'")
    assert NEWER in fails(ledger.address)
    postgres.sql(f"DROP TABLE {schema}.meta")
    assert "not a ledger of Peerage" in fails(ledger.address)


def test_what_is_foreign_or_missing_is_told(ledger: Ledger, postgres: PostgresServer) -> None:
    assert list(ledger.integrity()) == []
    schema = ledger.address.rpartition("schema=")[2]
    postgres.sql(
        f"SET search_path = {schema}; CREATE VIEW spy AS SELECT * FROM replies; CREATE TABLE more (n int);"
        "ALTER TABLE replies DROP CONSTRAINT replies_once;"
        "CREATE FUNCTION forge() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER forger BEFORE INSERT ON replies FOR EACH ROW EXECUTE FUNCTION forge()"
    )
    told = "\n".join(ledger.integrity())
    assert "a table more, which" in told
    assert "a trigger forger" in told
    assert "a view spy" in told
    assert "replies lacks its index replies_once" in told


@pytest.mark.parametrize("name", ["Big", "a-b", "x;drop", ""])
def test_a_schema_has_a_plain_name(name: str) -> None:
    assert "is no name of a schema" in fails(f"postgresql:///db?schema={name}")


def test_a_pooler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    def refused(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("FATAL: unsupported startup parameter: options")

    monkeypatch.setattr(psycopg, "connect", refused)
    assert "address of a pooler" in fails("postgresql://host/db")
