"""What every ledger on a server does, tested on real ones: runs outlive them, one runner writes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pytest
from tests.engine.arenas import paced
from tests.ledger.on_servers import arena, fails, fixture

from peerage.arena import open_arena
from peerage.engine.run.runner import GRACE_S
from peerage.ledger import Batch, IntentRow, Ledger, LedgerBusy, LedgerError
from peerage.ledger.topics.votes import PeopleVotes, Vote, VotedAlready
from peerage.standings.verify import verify

MATCHES = 40


@pytest.fixture(scope="module")
def due(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """How many matches there are, and the play head, on SQLite."""
    with arena(tmp_path_factory.mktemp("file")) as here:
        here.run(MATCHES)
        found = here.verify()
        return found.matches, found.head


def test_the_same_arena_has_the_same_head_as_on_sqlite_even_where_the_server_dies_in_mid_run(
    store_server: Any, due: tuple[int, str], tmp_path: Path
) -> None:
    starter = Thread(target=store_server.start)

    def die(record: Any, _: object) -> None:
        if record.number == MATCHES // 2:
            store_server.kill()
            starter.start()

    with arena(tmp_path, store_server.address()) as there:
        report = there.run(MATCHES, observe=die)
        starter.join()
        found = verify(there.ledger, workers=2)
        assert (report.reason, report.possibly_paid_twice) == ("limit", 0)
        assert (found.problems, found.ended) == ((), True)
        assert (found.matches, found.head) == due
        assert {row.attempt for row in there.ledger.exchanges(1)} == {1}
        assert there.replay().ok
    assert not list(tmp_path.glob("*arena.db*"))


def test_votes_lie_beside_the_ledger_and_are_verified(store_server: Any, tmp_path: Path) -> None:
    with arena(tmp_path, store_server.address()) as opened:
        opened.run(3)
        votes = PeopleVotes(opened.ledger.address, tmp_path)
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


SLEEPER = """
import sys
from pathlib import Path
from peerage.ledger import LedgerError, open_ledger
from peerage.ledger.forms.rows import Batch, FixtureRow
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


def test_a_runner_that_slept_cannot_write_after_another_took_over(stored: Ledger, store_server: Any) -> None:
    command = [sys.executable, "-c", SLEEPER, stored.address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sleeper:
        assert sleeper.stdout is not None
        assert sleeper.stdout.readline() == "holds\n"
        sleeper.send_signal(signal.SIGSTOP)
        try:
            assert stored.holder().startswith(f"process {sleeper.pid} on ")
            with pytest.raises(LedgerBusy, match=f"process {sleeper.pid}"), stored.runner():
                pass
            store_server.give_up(stored.address, sleeper.pid)
            with stored.runner():
                stored.write(fixture(2))
        finally:
            sleeper.send_signal(signal.SIGCONT)
        said, _ = sleeper.communicate("\n")
    assert "another runner took" in said
    assert "wrote" not in said.splitlines()
    assert [row.number for row in stored.fixtures()] == [1, 2]
    assert stored.holder() == ""


def _breaking(store: str) -> tuple[Any, str, Exception]:
    """What commits, and the error where the line breaks meanwhile."""
    if store == "mongo":
        from pymongo.client_session import ClientSession
        from pymongo.errors import AutoReconnect

        return ClientSession, "commit_transaction", AutoReconnect("connection closed")
    import psycopg

    lost = psycopg.OperationalError("server closed the connection unexpectedly")
    return psycopg.Connection, "commit", lost


@pytest.mark.parametrize("durable", [False, True])
def test_what_was_under_way_when_the_line_broke_is_written_once(
    durable: bool, store: str, stored: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name, lost = _breaking(store)
    commit, breaks = getattr(owner, name), [True]

    def broken(self: Any) -> None:
        if breaks.pop() if breaks else False:
            if durable:
                commit(self)
            if store == "postgres":
                self.close()
            raise lost
        commit(self)

    with stored.runner():
        stored.write(fixture(1))
        monkeypatch.setattr(owner, name, broken)
        stored.write(Batch(fixtures=fixture(2).fixtures, intents=[IntentRow(2, "k", 1, "p", b"{}", 1)]))
        assert not breaks
        stored.write(fixture(3))
    assert [row.number for row in stored.fixtures()] == [1, 2, 3]
    assert len(list(stored.exchanges(1))) == 1


@pytest.mark.parametrize(
    ("store", "address"),
    [
        ("postgres", "postgresql://me:hunter2@/db?host=/nowhere"),
        ("mongo", "mongodb://me:hunter2@127.0.0.1:1/x"),
    ],
)
def test_a_server_that_is_away(
    store: str, store_server: Any, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.ledger.stores.server.READER_AWAY_S", 0.0)
    message = fails(address, create=True)
    assert f"{address.replace(':hunter2', '')} cannot be reached" in message
    assert "Check that the server runs" in message
    assert "hunter2" not in message


def test_there_is_no_ledger_yet(store_server: Any) -> None:
    assert "`peerage run` makes" in fails(store_server.address())


POSTGRES_ELSE_SLOW = pytest.mark.parametrize(
    "store", ["postgres", pytest.param("mongo", marks=pytest.mark.slow)]
)
"""A server takes seconds to come back; what a run does meanwhile does not depend on which it is."""


@POSTGRES_ELSE_SLOW
def test_a_run_that_is_stopped_twice_while_its_server_is_away_ends_at_once(
    store_server: Any, tmp_path: Path
) -> None:
    began = time.monotonic()
    try:
        with arena(tmp_path, store_server.address()) as opened:
            with suppress(LedgerError):
                opened.run(500, observe=_dies(store_server, 0.5, 1.0))
            assert time.monotonic() - began < GRACE_S
    finally:
        store_server.start()
    with open_arena(tmp_path) as opened:
        before = opened.ledger.heads()[1]
        in_flight = _unanswered(opened.ledger)
        # What came back too late to be written counts as possibly billed, as after a crash.
        assert opened.run(before + 3).possibly_paid_twice == in_flight
        found = verify(opened.ledger, workers=1)
        assert (found.matches, found.problems) == (before + 3, ())


@POSTGRES_ELSE_SLOW
def test_a_run_that_is_stopped_while_its_server_is_away_writes_what_calls_bring_when_it_is_back(
    store_server: Any, tmp_path: Path
) -> None:
    seen: list[Any] = []
    starter = Timer(2.5, store_server.start)

    async def watch(runner: Any) -> None:
        while not runner.progress().stopping:
            await asyncio.sleep(0.01)
        seen.append(runner.progress())

    with arena(tmp_path, store_server.address()) as opened:
        dies = _dies(store_server, 0.2, then=starter.start)
        report = opened.run(500, observe=dies, beside=watch, clients=paced(scale=0.8))
        starter.join()
        assert report.reason == "interrupted"
        assert seen[0].calls_in_flight, "or this test shows nothing"
        assert _unanswered(opened.ledger) == 0
    with open_arena(tmp_path) as opened:
        assert opened.run(report.settled + 3).possibly_paid_twice == 0
        assert verify(opened.ledger, workers=1).problems == ()


@POSTGRES_ELSE_SLOW
def test_a_run_that_is_stopped_gives_up_a_server_that_stays_away(
    store_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.engine.run.runner.GRACE_S", 1.0)
    try:
        with arena(tmp_path, store_server.address()) as opened, pytest.raises(LedgerError):
            opened.run(500, observe=_dies(store_server, 0.2))
    finally:
        store_server.start()
    with open_arena(tmp_path) as opened:
        assert verify(opened.ledger, workers=1).problems == ()


def _dies(server: Any, *interrupts: float, then: Callable[[], None] = lambda: None) -> Any:
    """Kills the server after the third match, and interrupts the run so many seconds later."""

    def die(record: Any, _: object) -> None:
        if record.number == 3:
            server.kill()
            for after in interrupts:
                Timer(after, signal.raise_signal, [signal.SIGINT]).start()
            then()

    return die


def _unanswered(ledger: Ledger) -> int:
    return sum(row.failure is None for row in ledger.exchanges(1, unanswered=True))
