"""Leases of matches and the fence of workers, on a real PostgreSQL: what is done twice, late, unanswered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests.ledger.on_servers import fixture

from peerage.cluster.leases import Claimed, GivenUp, Leases, WorkersLedger, working
from peerage.engine.record.shelf import Shelf
from peerage.game.media import Media
from peerage.ledger import Batch, IntentRow, Ledger, LedgerError, ReplyRow, open_ledger, writer
from peerage.ledger.lineup import in_play
from peerage.ledger.stores.contract import Insert
from peerage.ledger.stores.postgres import PostgresStore, Reconnecting
from peerage.ledger.stores.sql import DatabaseConnection

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")


@pytest.fixture
def ledger(postgres: PostgresServer) -> Iterator[Ledger]:
    """One that a leader holds, with two matches."""
    with closing(open_ledger(postgres.address(), Path(), create=True)) as opened, opened.runner():
        for number in (1, 2):
            opened.write(fixture(number))
        yield opened


@pytest.fixture
def leases(ledger: Ledger) -> Iterator[Leases]:
    with closing(Leases(ledger.address)) as made:
        yield made


@pytest.fixture
def hire(ledger: Ledger, leases: Leases) -> Iterator[Callable[[], WorkersLedger]]:
    """Hires workers."""
    hired: list[WorkersLedger] = []

    def one() -> WorkersLedger:
        hired.append(WorkersLedger(ledger.address, leases.run))
        return hired[-1]

    yield one
    for worker in hired:
        worker.close()


def claimed(worker: WorkersLedger) -> list[int]:
    return [one.number for one in worker.claim(8)]


def wait_for_locks(postgres: PostgresServer, number: int) -> None:
    """Return when so many connections wait for others."""
    while len(postgres.sql("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) < number:
        pass


def intent(attempt: int) -> Batch:
    return Batch(intents=[IntentRow(1, "k", attempt, "p", b"{}", 0)])


def test_a_match_offered_again_is_free_and_each_offer_counts_once(
    leases: Leases, hire: Callable[[], WorkersLedger], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = hire(), hire(), hire()
    leases.offer([(1, 1), (2, 2)], [])
    assert claimed(first) == [1, 2]
    done, taken = leases._line.do, list[int]()

    def unanswered(work: Callable[[Any], Any]) -> Any:
        done(work)
        taken.extend(claimed(second))  # before it is done once more, as no answer came
        return done(work)

    monkeypatch.setattr(leases._line, "do", unanswered)
    leases.offer([(1, 3)], [(1, 1)])
    monkeypatch.undo()
    assert taken == [1]
    assert claimed(third) == []
    assert leases.revoke(first.number) == [(2, 2)]
    leases.offer([], [(1, 1), (2, 2)])  # late
    assert leases.revoke(second.number) == [(1, 3)]


def test_no_offer_of_a_leader_that_was_followed_hides_one_of_the_next(
    ledger: Ledger, leases: Leases, hire: Callable[[], WorkersLedger], postgres: PostgresServer
) -> None:
    schema = ledger.address.rpartition("schema=")[2]
    leases.offer([(1, 7)], [])
    postgres.sql(f"UPDATE {schema}.leases SET run = run - 1")  # written as it was being followed
    leases.offer([(1, 1)], [])
    assert claimed(hire()) == [1]
    leases.run -= 1
    leases.offer([(1, 8)], [(1, 1)])
    assert [has for _, has in working(ledger.address).values()] == [[1]]


def test_a_commit_without_an_answer_is_waited_for_before_it_is_done_again(
    ledger: Ledger,
    hire: Callable[[], WorkersLedger],
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker, late = hire(), list[Thread]()
    with worker.writing():
        writes: Any = worker._writes
        insert = writes._insert

        def unanswered(connection: DatabaseConnection, inserts: Sequence[Insert]) -> None:
            """The server is about to commit as the line to it breaks."""
            writes._insert = insert
            old = Reconnecting(worker._store.connect)
            insert(old, inserts)

            def commits() -> None:
                wait_for_locks(postgres, 1)
                old.commit()
                old.close()

            late.append(Thread(target=commits))
            late[0].start()
            connection.close()
            raise psycopg.OperationalError("the connection is lost")

        worker.write(intent(1))
        writes._insert = unanswered
        worker.write(intent(2))
        worker.write(intent(3))
    late[0].join()
    assert [one.attempt for one in ledger.exchanges(1)] == [1, 2, 3]


def test_a_claim_without_an_answer_is_waited_for_before_it_is_made_again(
    ledger: Ledger, leases: Leases, hire: Callable[[], WorkersLedger], postgres: PostgresServer
) -> None:
    worker, schema = hire(), ledger.address.rpartition("schema=")[2]
    leases.offer([(1, 1), (2, 2)], [])
    writes, old = (
        PostgresStore(ledger.address).connect(),
        PostgresStore(ledger.address).connect(autocommit=True),
    )
    writes.execute(f"UPDATE {schema}.workers SET written = written")
    threads = list[Thread]()

    class Breaks:
        """A line that breaks while the server is at a claim."""

        def execute(self, sql: str, values: dict[str, int]) -> None:
            threads.append(Thread(target=old.execute, args=(sql, values)))
            threads[0].start()
            wait_for_locks(postgres, 1)
            threads.append(Thread(target=lambda: (wait_for_locks(postgres, 2), writes.commit())))
            threads[1].start()
            raise psycopg.OperationalError("the connection is lost")

        def close(self) -> None:
            """It is not heard of any more."""

    worker._line._hang_up()
    worker._line._connection._raw = Breaks()  # type: ignore[assignment]
    assert [one.number for one in worker.claim(1)] == [1]
    assert leases.revoke(worker.number) == [(1, 1)]
    for thread in threads:
        thread.join()
    writes.close()
    old.close()


def test_a_line_that_is_closed_while_it_connects_keeps_no_connection(
    hire: Callable[[], WorkersLedger],
) -> None:
    line = hire()._line
    line._hang_up()
    connect = line._connection._connect

    def left_meanwhile() -> Any:
        line.close()
        return connect()

    line._connection._connect = left_meanwhile
    assert line.do(lambda connection: connection.execute("SELECT 1").fetchone()) == (1,)
    assert not line._connection.is_open


def test_who_claims_a_match_knows_all_of_it_however_long_the_claim_took(
    ledger: Ledger, leases: Leases, hire: Callable[[], WorkersLedger], postgres: PostgresServer
) -> None:
    first, second = hire(), hire()
    schema = ledger.address.rpartition("schema=")[2]
    leases.offer([(1, 1)], [])
    writes = PostgresStore(ledger.address).connect()
    writes.execute(f"UPDATE {schema}.workers SET written = written WHERE number = {second.number}")
    found = list[Claimed]()
    claim = Thread(target=lambda: found.extend(second.claim(8)))
    claim.start()  # it sees the first offer, and waits for what its worker just writes
    wait_for_locks(postgres, 1)
    assert claimed(first) == [1]
    with first.writing():
        first.write(intent(1))
    leases.offer([(1, 2)], [])
    writes.commit()
    writes.close()
    claim.join()
    found += second.claim(8)
    assert [(one.number, len(one.recorded)) for one in found] == [(1, 1)]


def test_a_batch_of_a_worker_is_written_whole_or_not_at_all(
    ledger: Ledger, hire: Callable[[], WorkersLedger]
) -> None:
    worker = hire()
    replied = [ReplyRow(1, "k", 1, b"{}", 0, 0)]
    with worker.writing():
        for attempt in range(1, 9):  # so that statements are prepared
            worker.write(intent(attempt))
        with pytest.raises(LedgerError, match="contradicts"):
            worker.write(Batch(intents=[IntentRow(1, "k", 9, "p", b"{}", 0)], replies=replied * 2))
        worker.write(Batch(replies=replied))
    assert [one.attempt for one in ledger.exchanges(1)] == [*range(1, 9)]


def test_a_worker_reads_and_writes_pictures(ledger: Ledger, hire: Callable[[], WorkersLedger]) -> None:
    (cat, cats), (dog, dogs) = [(sha256(body).hexdigest(), body) for body in (b"cat" * 99, b"dog" * 99)]
    ledger.write(Batch(media=[(bytes.fromhex(cat), cats)]))
    worker = hire()
    shelf = Shelf({cat: cats, dog: dogs}, worker)
    asking = intent(1)
    asking.intents[0] = replace(asking.intents[0], body=f"{mark(cat)} {mark(dog)}".encode())
    assert Shelf({}, worker).get(cat) == cats
    with worker.writing():
        asking.media += shelf.due(asking)
        worker.write(asking)
    assert ledger.media([cat, dog]) == {cat: cats, dog: dogs} == worker.media([cat, dog])


def mark(digest: str) -> str:
    return Media(digest, "image/png", 297, 9, 9).mark


def test_a_worker_that_was_given_up_neither_claims_nor_writes(
    ledger: Ledger, leases: Leases, hire: Callable[[], WorkersLedger]
) -> None:
    lost, other = hire(), hire()
    leases.offer([(1, 1)], [])
    with lost.writing(), other.writing():
        lost.write(intent(1))
        assert leases.revoke(lost.number) == []
        assert claimed(other) == [1]
        other.write(intent(2))
        with pytest.raises(GivenUp):
            claimed(lost)
        with pytest.raises(GivenUp):  # not that this attempt is there already
            lost.write(intent(2))
    assert [one.attempt for one in ledger.exchanges(1)] == [1, 2]


def test_no_worker_writes_once_its_leader_has_ended(ledger: Ledger) -> None:
    leases = Leases(ledger.address)
    with closing(WorkersLedger(ledger.address, leases.run)) as worker, worker.writing():
        worker.write(intent(1))
        leases.close()
        with pytest.raises(GivenUp):
            worker.write(intent(2))
    assert [one.attempt for one in ledger.exchanges(1)] == [1]
    assert working(ledger.address) == {}


def test_a_leader_whose_line_broke_gives_its_workers_up_on_another(ledger: Ledger) -> None:
    leases = Leases(ledger.address)
    with closing(WorkersLedger(ledger.address, leases.run)) as worker, worker.writing():
        leases._line.close()
        leases.close()
        with pytest.raises(GivenUp):
            worker.write(intent(1))


@pytest.mark.parametrize("late", [True, False])
def test_a_worker_that_could_not_be_given_up_writes_nothing_after_the_log_says_what_is_in_play(
    late: bool, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = list[Exception]()

    def write() -> None:
        try:
            worker.write(intent(2))
        except GivenUp as error:
            refused.append(error)

    def read(*of: Any) -> Any:
        """Read what is in play, and let the worker write before that is logged."""
        found = in_play(*of)
        if not late:
            thread.start()
            thread.join(0.2)
        return found

    monkeypatch.setattr(writer, "in_play", read)
    thread = Thread(target=write)
    with closing(open_ledger(postgres.address(), Path(), create=True)) as ledger:
        with ledger.runner():
            ledger.write(fixture(1))
            leases = Leases(ledger.address)
            worker = WorkersLedger(ledger.address, leases.run)
            writing = worker.writing()
            writing.__enter__()
            worker.write(intent(1))
            leases._line.close()
        if late:
            thread.start()
        thread.join()
        assert len(refused) == 1
        with pytest.raises(GivenUp):
            WorkersLedger(ledger.address, leases.run)
        rows = ledger.match(1)
        assert rows is not None
        assert [one.attempt for one in rows.exchanges] == [1]
        writing.__exit__(None, None, None)
        worker.close()
