"""What only a ledger on PostgreSQL does: fences, lost connections, rights, votes; on a real server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from peerage.arena import Arena, open_arena
from peerage.ledger import Ledger, LedgerBusy, LedgerError, open_ledger
from peerage.ledger.databases import access
from peerage.ledger.store import Batch, FailureRow, FixtureRow, IntentRow
from peerage.ledger.verify import verify
from peerage.ledger.votes import Vote, Votes

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

PLAYERS = "players: [house:0.9, house:0.7, house:0.5, house:0.3]\n"
MATCHES = 70


@pytest.fixture
def address(postgres: PostgresServer) -> str:
    return postgres.address()


@pytest.fixture
def ledger(address: str) -> Iterator[Ledger]:
    with closing(open_ledger(address, Path(), create=True)) as opened:
        yield opened


def arena(folder: Path, address: str = "") -> Arena:
    folder.mkdir(exist_ok=True)
    stated = f"ledger: {address}\n" if address else ""
    (folder / "arena.yaml").write_text(f"name: a\nseed: 5\ngame: allocation\n{PLAYERS}{stated}")
    return open_arena(folder)


def fixture(number: int) -> Batch:
    return Batch(fixtures=[FixtureRow(number, 1, b"{}")])


def fails(address: str, create: bool = False, folder: Path = Path()) -> str:
    with pytest.raises(LedgerError) as caught:
        open_ledger(address, folder, create=create).close()
    return str(caught.value)


# ----------------------------------------------------------------------------------------------- whole arenas


def test_the_same_arena_has_the_same_head_as_on_sqlite_even_where_the_server_dies_in_mid_run(
    address: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    with arena(tmp_path / "file") as here:
        here.run(MATCHES)
        due = here.verify()
    starter = Thread(target=postgres.start)

    def die(record: Any, _: object) -> None:
        if record.number == MATCHES // 2:
            postgres.kill()
            starter.start()

    with arena(tmp_path / "server", address) as there:
        report = there.run(MATCHES, observe=die)
        starter.join()
        found = verify(there.ledger, workers=2)
        assert (report.reason, report.possibly_paid_twice) == ("limit", 0)
        assert (found.problems, found.ended) == ((), True)
        assert (found.matches, found.head) == (due.matches, due.head)
        assert {row.attempt for row in there.ledger.exchanges(1)} == {1}
        assert there.replay().ok
    assert not [path.name for path in (tmp_path / "server").iterdir() if "arena.db" in path.name]


def test_votes_lie_in_the_same_schema_and_are_verified(address: str, tmp_path: Path) -> None:
    with arena(tmp_path, address) as opened:
        opened.run(3)
        votes = Votes(opened.ledger.address, tmp_path)
        assert (votes.exists(), votes.count(), list(votes.rows())) == (False, 0, [])
        votes.cast(Vote(1, "00", ("A", "B"), "tie", "v"), 7)
        assert (votes.exists(), votes.count(), votes.judged_by("v")) == (True, 1, {1})
        assert [problem.what for problem in opened.verify().problems] == [
            "votes were given on a record that is not this one"
        ]
    assert not list(tmp_path.glob("*.db"))


# ------------------------------------------------------------------------------------------ one runner writes

SLEEPER = """
import sys
from pathlib import Path
from peerage.ledger import LedgerError, open_ledger
from peerage.ledger.store import Batch, FixtureRow
ledger = open_ledger(sys.argv[1], Path(), create=False)
try:
    with ledger.runner():
        ledger.write(Batch(fixtures=[FixtureRow(1, 1, b"{}")]))
        print("holds", flush=True)
        sys.stdin.readline()
        ledger.write(Batch(fixtures=[FixtureRow(9, 1, b"{}")]))
        print("wrote")
except LedgerError as error:
    print(error)
"""


def test_a_runner_that_slept_cannot_write_after_another_took_over(
    ledger: Ledger, postgres: PostgresServer
) -> None:
    command = [sys.executable, "-c", SLEEPER, ledger.address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sleeper:
        assert sleeper.stdout is not None
        assert sleeper.stdout.readline() == "holds\n"
        sleeper.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(LedgerBusy, match=f"process {sleeper.pid}"), ledger.runner():
                pass
            # What the server does to a line on which nobody answers any more.
            postgres.sql(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                f"WHERE application_name = 'peerage {sleeper.pid}'"
            )
            with ledger.runner():
                ledger.write(fixture(2))
        finally:
            sleeper.send_signal(signal.SIGCONT)
        said, _ = sleeper.communicate("\n")
    assert "another runner took" in said
    assert "wrote" not in said.splitlines()
    assert [row.number for row in ledger.fixtures()] == [1, 2]


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_under_way_when_the_line_broke_is_written_once(
    durable: bool, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    commit, breaks = psycopg.Connection.commit, [True]

    def broken(self: Any) -> None:
        if breaks.pop() if breaks else False:
            if durable:
                commit(self)
            self.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        commit(self)

    with ledger.runner():
        ledger.write(fixture(1))
        monkeypatch.setattr(psycopg.Connection, "commit", broken)
        ledger.write(Batch(fixtures=[FixtureRow(2, 1, b"{}")], intents=[IntentRow(2, "k", 1, "p", b"{}", 1)]))
        assert not breaks
        ledger.write(fixture(3))
    assert [row.number for row in ledger.fixtures()] == [1, 2, 3]
    assert len(list(ledger.exchanges(1))) == 1


def test_a_reader_outlives_its_server(ledger: Ledger, postgres: PostgresServer) -> None:
    with ledger.runner():
        ledger.write(fixture(1))
    rows = ledger.fixtures()
    postgres.sql(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        f"WHERE application_name = 'peerage {os.getpid()}'"
    )
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


def test_there_is_no_ledger_yet(address: str) -> None:
    assert "`peerage run` makes" in fails(address)


def test_a_server_that_is_away() -> None:
    message = fails("postgresql://me@/db?host=/nowhere", create=True)
    assert "postgresql://me@/db?host=/nowhere cannot be reached" in message
    assert "Check that the server runs" in message


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
    postgres.sql(f"UPDATE {schema}.meta SET value = '99' WHERE key = 'schema'")
    assert "schema version 99" in fails(ledger.address)
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
