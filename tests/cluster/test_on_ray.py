"""A run on a real Ray cluster of this machine, as a user starts one."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from tests.cluster.kills import Nodes
from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.cluster.leases import working
from peerage.cluster.messages import Posting, WorkerLogged

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
PAID = house(6, price={"input": 1, "output": 4})
MATCHES = 16
ENV = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "peerage", "run", "--yes", "--dir", str(folder)]
    return subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENV
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Chains of the records of the same arena, as one process comes to them."""
    folder = write_arena(tmp_path_factory.mktemp("alone"), PAID)
    play(folder, MATCHES)
    return chains(folder)


def chains(folder: Path) -> list[bytes]:
    with open_arena(folder) as arena:
        return [one.chain for one in arena.ledger.records()]


def made(folder: Path, postgres: PostgresServer) -> Path:
    engine = {"kind": "ray", "workers": 2, "concurrency": 12}
    return write_arena(folder, PAID, ledger=postgres.address(), budget=50, engine=engine)


def busy(folder: Path, run: subprocess.Popen[str], matches: int = 2) -> int:
    """Wait until so many matches are on record and a worker is at others: its process."""
    with open_arena(folder) as arena:
        while run.poll() is None:
            leads = arena.ledger.holder().startswith(f"process {run.pid} ")
            if leads and arena.ledger.heads()[1] >= matches:
                for who, has in working(arena.ledger.address).values():
                    if has:
                        return int(who.split()[1])
            time.sleep(0.03)
    pytest.fail(run.communicate()[0])


def check(folder: Path, alone: list[bytes]) -> None:
    """All is on record, as one process has it, and nothing was replied to twice."""
    assert chains(folder) == alone
    with open_arena(folder) as arena:
        assert arena.verify().ok
        replied = [(one.match, one.key) for one in arena.ledger.exchanges(1) if one.reply is not None]
        assert len(replied) == len(set(replied))
        spent = sum(arena.ledger.spent_by().values())
        assert spent / 1e9 <= 50


def ended(run: subprocess.Popen[str]) -> str:
    output, _ = run.communicate()
    assert run.returncode == 0, output
    return output


async def test_a_worker_that_ray_ends_for_want_of_memory_is_lost_and_the_run_is_not() -> None:
    from ray.exceptions import OutOfMemoryError

    from peerage.cluster.messages import WorkerLost
    from peerage.cluster.on_ray import _answered

    async def ended() -> None:
        raise OutOfMemoryError("1 worker(s) were killed due to the node running low on memory")

    with pytest.raises(WorkerLost, match="running low on memory"):
        await _answered(ended)


async def test_a_worker_collects_garbage_rarely_and_tells_its_log_as_long_as_it_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from peerage.cluster import on_ray, worker
    from peerage.cluster.line import Line, dialled

    class Ready:
        def __init__(self, *_: object) -> None:
            self.tell = told.append
            self.order = print

        async def begin(self) -> int:
            return 1

        def left_alone(self) -> None:
            over.set()

    node = SimpleNamespace(get_node_id=lambda: "node")
    util = SimpleNamespace(get_node_ip_address=lambda: "127.0.0.1")
    monkeypatch.setattr(on_ray, "ray", SimpleNamespace(util=util, get_runtime_context=lambda: node))
    monkeypatch.setattr(worker, "Worker", Ready)
    before, over, hands = gc.get_threshold(), asyncio.Event(), on_ray._Hands()
    told: list[object] = []
    handlers = [*logging.getLogger("peerage").handlers]
    number, _, host, port = await hands.begin(cast(Posting, None), b"k" * 32)
    assert number == 1
    assert gc.get_threshold()[0] > before[0]
    logging.getLogger("peerage").warning("worth knowing")
    await asyncio.sleep(0)
    assert told == [WorkerLogged(logging.WARNING, "worth knowing")]
    hands._as_long_as_it_lives.close()
    assert gc.get_threshold() == before
    assert logging.getLogger("peerage").handlers == handlers
    line = Line(print, print)
    await dialled(host, port, b"k" * 32, line)
    line.close()
    await over.wait()


def test_a_worker_and_the_server_are_killed_and_the_table_is_that_of_one_process(
    tmp_path: Path, postgres: PostgresServer, alone: list[bytes]
) -> None:
    folder = made(tmp_path, postgres)
    run = started(folder, "--matches", str(MATCHES))
    try:
        worker = busy(folder, run)
        postgres.kill()
        os.kill(worker, signal.SIGKILL)
        postgres.start()
        said = ended(run)
        assert "was lost" in said
        assert "is away; waiting for it" in said
        check(folder, alone)
    finally:
        run.kill()


@pytest.mark.slow
def test_a_leader_is_killed_or_stopped_and_the_next_run_goes_on(
    tmp_path: Path, postgres: PostgresServer, alone: list[bytes]
) -> None:
    folder = made(tmp_path, postgres)
    for at, number in ((1, signal.SIGKILL), (5, signal.SIGINT)):
        run = started(folder, "--matches", str(MATCHES))
        busy(folder, run, at)
        run.send_signal(number)
        run.communicate()
        assert run.returncode == (-9 if number is signal.SIGKILL else 130)
    ended(started(folder, "--matches", str(MATCHES)))
    check(folder, alone)


@pytest.mark.slow
def test_a_node_of_two_is_killed_and_its_matches_go_on_on_the_other(
    tmp_path: Path, postgres: PostgresServer, alone: list[bytes]
) -> None:
    nodes = Nodes()
    folder = made(tmp_path, postgres)
    try:
        run = started(folder, "--matches", str(MATCHES), "--address", nodes.address)
        busy(folder, run)
        nodes.do("kill")
        assert "was lost" in ended(run)
        check(folder, alone)
    finally:
        nodes.close()
