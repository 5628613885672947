"""What only a ledger on MongoDB does: leases, lost lines, long bodies, rights, votes; on a real server."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any

import pytest

from peerage.arena import Arena, open_arena
from peerage.ledger import Ledger, LedgerBusy, LedgerError, open_ledger
from peerage.ledger.databases import access
from peerage.ledger.store import Batch, FixtureRow, IntentRow, RecordRow, ReplyRow
from peerage.ledger.verify import verify
from peerage.ledger.votes import Vote, VotedAlready, Votes

if TYPE_CHECKING:
    from tests.servers.mongo import MongoServer

PLAYERS = "players: [house:0.9, house:0.7, house:0.5, house:0.3]\n"
MATCHES = 20


@pytest.fixture
def address(mongo: MongoServer) -> str:
    return mongo.address()


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


def test_the_same_arena_has_the_same_head_as_on_sqlite_even_where_the_server_dies_in_mid_run(
    address: str, mongo: MongoServer, tmp_path: Path
) -> None:
    with arena(tmp_path / "file") as here:
        here.run(MATCHES)
        due = here.verify()
    starter = Thread(target=mongo.start)

    def die(record: Any, _: object) -> None:
        if record.number == MATCHES // 2:
            mongo.kill()
            starter.start()

    with arena(tmp_path / "server", address) as there:
        report = there.run(MATCHES, observe=die)
        starter.join()
        found = verify(there.ledger, workers=1)
        assert (report.reason, report.possibly_paid_twice) == ("limit", 0)
        assert (found.problems, found.ended) == ((), True)
        assert (found.matches, found.head) == (due.matches, due.head)
        assert {row.attempt for row in there.ledger.exchanges(1)} == {1}
        assert there.replay().ok


def test_votes_lie_in_the_same_database_and_are_verified(address: str, tmp_path: Path) -> None:
    with arena(tmp_path, address) as opened:
        opened.run(3)
        votes = Votes(opened.ledger.address, tmp_path)
        assert (votes.exists(), votes.count(), list(votes.rows())) == (False, 0, [])
        casting = [Thread(target=votes.cast, args=(Vote(1, "00", ("A", "B"), "tie", v), 7)) for v in "vw"]
        for each in casting:
            each.start()
        for each in casting:
            each.join()
        with pytest.raises(VotedAlready):
            votes.cast(Vote(1, "00", ("A", "B"), "tie", "v"), 7)
        assert (votes.exists(), votes.count(), votes.judged_by("v")) == (True, 2, {1})
        assert {problem.what for problem in opened.verify().problems} == {
            "votes were given on a record that is not this one"
        }
    assert not list(tmp_path.glob("*.db"))


def test_a_body_beyond_the_limit_of_a_document(ledger: Ledger) -> None:
    body, reply = b"r" * 40_000_000, bytes(range(256)) * 80_000
    with ledger.runner():
        ledger.write(Batch(fixtures=[FixtureRow(1, 1, b"{}")], intents=[IntentRow(1, "k", 1, "p", b"{}", 1)]))
        ledger.write(Batch(replies=[ReplyRow(1, "k", 1, reply, 1, 1)]))
        ledger.write(Batch(records=[RecordRow(1, body, b"c" * 32, 4)]))
    assert next(ledger.records()).body == body
    found = ledger.match(1)
    assert found is not None
    assert found.record is not None
    assert (found.record.body, found.exchanges[0].reply) == (body, reply)


SLEEPER = """
import sys
import time
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


def test_a_runner_that_slept_cannot_write_after_another_took_over(ledger: Ledger, mongo: MongoServer) -> None:
    command = [sys.executable, "-c", SLEEPER, ledger.address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sleeper:
        assert sleeper.stdout is not None
        assert sleeper.stdout.readline() == "holds\n"
        sleeper.send_signal(signal.SIGSTOP)
        try:
            assert ledger.holder().startswith(f"process {sleeper.pid} on ")
            with pytest.raises(LedgerBusy, match=f"process {sleeper.pid}"), ledger.runner():
                pass
            with mongo.client() as client:  # as if its lease had run out
                base = client[ledger.address.rpartition("/")[2]]
                base["runner"].update_one({"_id": "runner"}, [{"$set": {"until": "$$NOW"}}])
            with ledger.runner():
                ledger.write(fixture(2))
        finally:
            sleeper.send_signal(signal.SIGCONT)
        said, _ = sleeper.communicate("\n")
    assert "another runner took" in said
    assert "wrote" not in said.splitlines()
    assert [row.number for row in ledger.fixtures()] == [1, 2]
    assert ledger.holder() == ""


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_under_way_when_the_line_broke_is_written_once(
    durable: bool, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pymongo.client_session import ClientSession
    from pymongo.errors import AutoReconnect

    commit, breaks = ClientSession.commit_transaction, [True]

    def broken(self: Any) -> None:
        if breaks.pop() if breaks else False:
            if durable:
                commit(self)
            raise AutoReconnect("connection closed")
        commit(self)

    with ledger.runner():
        ledger.write(fixture(1))
        monkeypatch.setattr(ClientSession, "commit_transaction", broken)
        ledger.write(Batch(fixtures=[FixtureRow(2, 1, b"{}")], intents=[IntentRow(2, "k", 1, "p", b"{}", 1)]))
        assert not breaks
        ledger.write(fixture(3))
    assert [row.number for row in ledger.fixtures()] == [1, 2, 3]
    assert len(list(ledger.exchanges(1))) == 1


def test_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.ledger.mongo.READER_AWAY_S", 0.0)
    message = fails("mongodb://me:hunter2@127.0.0.1:1/x", create=True)
    assert "mongodb://me@127.0.0.1:1/x cannot be reached" in message
    assert "Check that the server runs" in message
    assert "hunter2" not in message
    assert "is no name of a database" in fails("mongodb://127.0.0.1:1/")


def test_a_secondary_is_read_and_not_written(ledger: Ledger, mongo: MongoServer) -> None:
    with ledger.runner():
        ledger.write(fixture(1))
    with (
        closing(open_ledger(f"{ledger.address}?directConnection=true", Path(), create=False)) as there,
        mongo.client() as client,
    ):
        client.admin.command("replSetStepDown", 60, force=True)
        assert there.heads() == (1, 0)
        with pytest.raises(LedgerError, match="only reads, as a secondary does"), there.runner():
            pass
        client.admin.command("replSetFreeze", 0)
        while not client.admin.command("hello")["isWritablePrimary"]:
            pass
    with ledger.runner():
        ledger.write(fixture(2))


def test_a_newer_ledger_and_no_ledger_at_all(ledger: Ledger, mongo: MongoServer) -> None:
    assert "`peerage run` makes" in fails(mongo.address())
    assert list(ledger.integrity()) == []
    with mongo.client() as client:
        base = client[ledger.address.rpartition("/")[2]]
        base["meta"].update_one({"_id": "schema"}, {"$set": {"value": "99"}})
        assert "schema version 99" in fails(ledger.address)
        base["meta"].drop()
        base["replies"].drop_index("replies_once")
        base["more"].insert_one({})
        assert "not a ledger of Peerage" in fails(ledger.address)
    told = "\n".join(ledger.integrity())
    assert "a collection more, which" in told
    assert "replies lacks its index replies_once" in told


def test_passwords_and_rights(tmp_path: Path) -> None:
    pytest.importorskip("pymongo")
    from tests.servers.mongo import Missing, MongoServer

    try:
        server = MongoServer(login=True)
    except Missing as why:
        pytest.skip(str(why))
    try:
        with server.client() as client:
            client.admin.command("createUser", "boss", pwd="right", roles=["root"])
        boss = server.address("boss:right", "x", "?authSource=admin")
        wrong = fails(boss.replace(":right", ":hunter2"), create=True)
        assert "refused the password of boss" in wrong
        assert "hunter2" not in wrong
        (tmp_path / ".env").write_text(f"MONGODB_URI={boss}\n")
        with closing(open_ledger("$MONGODB_URI", tmp_path, create=True)) as opened:
            assert "right" not in opened.address
            assert access(opened.address) == {"PEERAGE_MONGODB_PASSWORD": "right"}
            with opened.runner():
                opened.write(fixture(1))
            base = opened._database.base  # type: ignore[attr-defined]
            base.command("createUser", "guest", pwd="guests", roles=["read"])
        guest = server.address("guest:guests", "x")
        with closing(open_ledger(guest, tmp_path, create=True)) as theirs:
            assert theirs.heads() == (1, 0)
            with pytest.raises(LedgerError, match="guest lacks a right"), theirs.runner():
                pass
    finally:
        server.stop()


@pytest.mark.parametrize("kind", ["mongo", "postgres"])
def test_a_run_that_is_stopped_while_its_server_is_away_ends_at_once(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue(kind)

    def die(record: Any, _: object) -> None:
        if record.number == 3:
            server.kill()
            Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()

    began = time.monotonic()
    try:
        with arena(tmp_path, server.address()) as opened:
            with suppress(LedgerError):
                opened.run(500, observe=die)
            assert time.monotonic() - began < 60
    finally:
        server.start()
    with open_arena(tmp_path) as opened:
        before = opened.ledger.heads()[1]
        in_flight = sum(1 for row in opened.ledger.exchanges(1, unanswered=True) if row.failure is None)
        # What came back too late to be written counts as possibly billed, as after a crash.
        assert opened.run(before + 3).possibly_paid_twice == in_flight
        found = verify(opened.ledger, workers=1)
        assert (found.matches, found.problems) == (before + 3, ())
