"""Hosts on nodes of a real Ray cluster: started where their resources are, and stopped whatever happens."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cluster.kills import Nodes
from tests.cluster.test_hosts import SERVER, free_port
from tests.cluster.test_on_ray import ended, started
from tests.engine.arenas import house, write_arena
from tests.engine.run.test_hosts import HANDS, uptimes_of

from peerage.arena import open_arena
from peerage.ledger.topics.uptimes import hosts_up

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
THERE = "127.0.0.2"
MATCHES = 8


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    nodes = Nodes("rig")
    yield nodes.address
    nodes.close()


def made(folder: Path, postgres: PostgresServer, port: int, **rig: Any) -> Path:
    """An arena with a player whose server is at the port of the node that has the resource `rig`."""
    served = {"name": "tiny", "model": "openai:tiny", "base_url": f"http://127.0.0.1:{port}/v1"}
    start = [sys.executable, str(SERVER), "--delay", "0.01", "--port", str(port), "--at", THERE]
    usual = {"start": start, "usd_per_hour": 3.6, "matches": 2, "ready_s": 60, "resources": {"rig": 1}}
    write_arena(
        folder,
        [*house(3), {**served, "host": "rig"}],
        game="./hands.py",
        rules={},
        hosts={"rig": usual | rig},
        ledger=postgres.address(),
        engine={"workers": 2, "concurrency": 6},
    )
    (folder / "hands.py").write_text(HANDS, "utf-8")
    return folder


def serves(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex((THERE, port)) == 0


def until(holds: Any, run: subprocess.Popen[str] | None = None) -> None:
    gives_up = time.monotonic() + 120
    while not holds():
        if run is not None and run.poll() is not None:
            pytest.fail(run.communicate()[0])
        assert time.monotonic() < gives_up
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cluster import test_on_ray

    monkeypatch.setitem(test_on_ray.ENV, "OPENAI_API_KEY", "none-needed")


def test_a_host_is_started_and_asked_on_the_node_that_has_its_resources_and_stopped(
    tmp_path: Path, postgres: PostgresServer, cluster: str
) -> None:
    port = free_port()
    folder = made(tmp_path, postgres, port)
    ended(started(folder, "--matches", str(MATCHES), "--address", cluster))
    assert not serves(port)
    assert {one.why for one in uptimes_of(folder)} == {"done"}
    with open_arena(folder) as arena:
        assert arena.verify().ok
        replied = [one for one in arena.ledger.exchanges(1) if one.player == "tiny" and one.reply is not None]
    assert sum(one.used["tiny"].calls for one in uptimes_of(folder)) == len(replied) > 0
    assert not hosts_up(folder)


def test_a_leader_is_killed_and_its_host_is_stopped_and_written_down(
    tmp_path: Path, postgres: PostgresServer, cluster: str
) -> None:
    port = free_port()
    folder = made(tmp_path, postgres, port)
    run = started(folder, "--matches", str(MATCHES), "--address", cluster)
    until(lambda: serves(port), run)
    (record,) = hosts_up(folder)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    until(lambda: not serves(port))  # by itself: no command has run since
    until(lambda: "stopped_ms" in json.loads(record.read_text()))
    ended(started(folder, "--matches", str(MATCHES), "--address", cluster))
    found = uptimes_of(folder)
    assert [one.why for one in found[:1]] == ["crashed"]
    assert {one.why for one in found[1:]} == {"done"}
    assert not serves(port)


def test_a_run_goes_on_without_a_host_whose_resources_no_node_has(
    tmp_path: Path, postgres: PostgresServer, cluster: str
) -> None:
    folder = made(tmp_path, postgres, free_port(), resources={"rig": 2}, ready_s=2)
    said = ended(started(folder, "--matches", str(MATCHES), "--address", cluster))
    assert "no node of the Ray cluster had rig: 2 free within 2 s" in " ".join(said.split())
    (uptime,) = uptimes_of(folder)
    assert uptime.why.startswith("failed: no node")
