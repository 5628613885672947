"""Players asked in batches, which the leader sends and collects for its workers."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.links import HerePlaces, here
from tests.engine.arenas import asked_again, ledger_of
from tests.engine.test_batches import EACH, RUN, arena_of, names_of, play, server
from tests.servers.anthropic_batches import BatchServer

from peerage.arena import open_arena
from peerage.engine.report import Progress
from peerage.engine.runner import Runner
from peerage.ledger.verify import verify
from peerage.players.batches import BatchClient

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
__all__ = ["server"]


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch) -> list[HerePlaces]:
    return here(monkeypatch)


def made(folder: Path, server: BatchServer, postgres: PostgresServer, budget: float = 5.0) -> Path:
    engine = {"kind": "ray", "workers": 2, "concurrency": 12}
    return arena_of(folder, server, ledger=postgres.address(), engine=engine, budget={"arena": budget})


async def test_matches_of_workers_wait_for_a_batch_and_its_replies_cost_their_price(
    tmp_path: Path, server: BatchServer, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    report = await play(made(tmp_path, server, postgres))
    assert (report.settled, report.possibly_nano) == (4, 0)
    assert server.batches
    assert not server.calls
    assert report.billed_nano == EACH * len(server.answered) > 0
    assert sorted(names_of(tmp_path)) == sorted(server.answered)
    assert set(Counter(server.answered).values()) == {1}
    assert not asked_again(tmp_path)
    with closing(ledger_of(tmp_path)) as ledger:
        assert not verify(ledger).problems


async def test_what_a_batch_may_cost_stays_reserved_while_matches_of_workers_wait(
    tmp_path: Path, server: BatchServer, postgres: PostgresServer, placed: list[HerePlaces]
) -> None:
    server.ended = False
    seen: list[Progress] = []
    runners: list[Runner] = []

    async def look(runner: Runner) -> None:
        runners.append(runner)
        while not (now := runner.progress()).waiting or now.calls_in_flight:
            await asyncio.sleep(0.01)
        seen.append(now)
        server.ended = True

    with open_arena(made(tmp_path, server, postgres, 0.08)) as arena:
        report = await arena.play(12, beside=look)
    assert seen[0].held_nano > 0
    assert 0 < report.billed_nano <= 80_000_000
    assert report.billed_nano == EACH * len(server.answered)
    assert report.possibly_nano == 0
    assert runners[0].progress().held_nano == 0


async def test_what_a_batch_brought_is_asked_for_again_where_a_worker_is_lost_with_it(
    tmp_path: Path,
    server: BatchServer,
    postgres: PostgresServer,
    placed: list[HerePlaces],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, cut = BatchClient._read, list[Any]()

    def reads(client: BatchClient, *result: Any) -> Any:
        if not cut:
            cut.extend(link for link in placed[0].links if link.busy)
            for link in cut:
                link.cut = True
        return read(client, *result)

    monkeypatch.setattr(BatchClient, "_read", reads)
    report = await play(made(tmp_path, server, postgres))
    assert report.settled == 4
    assert cut
    assert sorted(names_of(tmp_path)) == sorted(server.answered)
    assert set(Counter(server.answered).values()) == {1}
    assert report.billed_nano == EACH * len(server.answered)
    with closing(ledger_of(tmp_path)) as ledger:
        assert sum(ledger.spent_by().values()) == report.billed_nano + report.possibly_nano
        assert not verify(ledger).problems


async def test_a_killed_leader_of_a_cluster_is_followed_by_a_run_that_collects(
    tmp_path: Path, server: BatchServer, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.ended = False
    made(tmp_path, server, postgres)
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", RUN, str(tmp_path), env=env)
    await server.looked.wait()
    run.kill()
    await run.wait()
    sent = names_of(tmp_path)
    assert sent  # on record before anything waited for it
    server.ended = True
    here(monkeypatch)
    report = await play(tmp_path)
    assert report.decided == 4
    assert set(sent) <= set(server.answered)
    assert set(Counter(server.answered).values()) == {1}
    assert not asked_again(tmp_path)
    assert report.billed_nano == EACH * len(server.answered)
