"""The process that stops a host after a crash, what the next command finds, and how the hour is split."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.engine.run.left_up import stop_left_up
from peerage.ledger.topics.uptimes import hosts_up, record_of, uptimes
from peerage.players.hosted.on_host import Meter, Power, reached

PATIENCE_S = 120.0
SERVER = "import time; open({!r}, 'w').close(); time.sleep(1000)"
OPENER = """
import asyncio, json, sys
from pathlib import Path
from peerage.players.hosted.on_host import Power

async def main(start, stop, record):
    power = Power(start, stop, Path(record))
    up = {"host": "rig", "started_ms": 1_700_000_000_000, "nano_per_hour": 10**9, "players": ["p0"]}
    await power.on(up)
    print("on", flush=True)
    await asyncio.sleep(1000)

asyncio.run(main(*json.loads(sys.argv[1])))
"""


def wait_for(holds: Callable[[], object]) -> None:
    gives_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < gives_up
        time.sleep(0.02)


def processes(word: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if word in line and "OPENER" not in line]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    hands = Path(__file__).parents[2] / "engine" / "hands.py"
    (tmp_path / "hands.py").write_text(hands.read_text("utf-8"), "utf-8")
    write_arena(tmp_path, house(4), game="./hands.py", rules={})
    play(tmp_path, 2)
    return tmp_path


def opener(folder: Path, keeps_running: bool) -> tuple[subprocess.Popen[bytes], Path, Path]:
    """A process with a host that is up, the file that its host makes, and the one of its stop command."""
    up, down = folder / "up", folder / "down"
    code = SERVER.format(str(up)) if keeps_running else f"open({str(up)!r}, 'w').close()"
    start = [sys.executable, "-c", code]
    stop = [sys.executable, "-c", f"open({str(down)!r}, 'w').close()"]
    told = json.dumps([start, stop, str(record_of(folder, "rig"))])
    process = subprocess.Popen([sys.executable, "-c", OPENER, told], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    process.stdout.close()
    wait_for(up.exists)
    return process, up, down


@pytest.mark.skipif(os.name == "nt", reason="processes are killed otherwise there")
@pytest.mark.parametrize("keeps_running", [True, False])
def test_a_killed_run_leaves_no_host_up_and_the_next_command_writes_its_hours_down(
    arena: Path, keeps_running: bool
) -> None:
    process, up, down = opener(arena, keeps_running)
    assert hosts_up(arena)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_for(down.exists)
    with open_arena(arena) as opened, opened.ledger.runner():
        (uptime,) = stop_left_up(arena, opened.ledger, lambda: 1)
        assert stop_left_up(arena, opened.ledger, lambda: 1) == []
        assert [*uptimes(opened.ledger)] == [uptime]
    assert (uptime.host, uptime.why) == ("rig", "crashed")
    assert uptime.stopped_ms > uptime.started_ms
    assert sum(uptime.unused.values()) == uptime.held_nano > 0
    assert not hosts_up(arena)
    wait_for(lambda: not processes(str(up)))


@pytest.mark.skipif(os.name == "nt", reason="processes are killed otherwise there")
def test_where_the_guard_is_gone_too_the_next_command_stops_the_host(arena: Path) -> None:
    """As when the machine lost its power: the stop command of the record is run."""
    process, _, down = opener(arena, keeps_running=False)
    (left,) = hosts_up(arena).values()
    assert left.guard is not None
    os.kill(left.guard, signal.SIGKILL)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not down.exists()
    with open_arena(arena) as opened, opened.ledger.runner():
        (uptime,) = stop_left_up(arena, opened.ledger, lambda: left.started_ms + 3_600_000)
    assert down.exists()
    assert uptime.held_nano == 10**9
    assert record_of(arena, "rig").with_suffix(".log").exists()


async def test_what_a_start_command_says_is_told(tmp_path: Path) -> None:
    power = Power([sys.executable, "-c", "print('no such GPU'); exit(3)"], [], record_of(tmp_path, "rig"))
    await power.on({"host": "rig", "started_ms": 1})
    async with asyncio.timeout(PATIENCE_S):
        while not await power.failed():
            await asyncio.sleep(0.01)
    assert await power.failed() == "its start command ended with exit code 3: no such GPU (see host-rig.log)"
    await power.off()


@pytest.mark.parametrize(
    ("address", "at", "there"),
    [
        ("http://localhost:8000/v1", "10.0.0.7", "http://10.0.0.7:8000/v1"),
        ("http://127.0.0.1/v1", "10.0.0.7", "http://10.0.0.7/v1"),
        ("http://[::1]:8000/v1", "fd00::7", "http://[fd00::7]:8000/v1"),
        ("http://gpu-box:8000/v1", "10.0.0.7", "http://gpu-box:8000/v1"),
        ("http://localhost:8000/v1", "", "http://localhost:8000/v1"),
        ("", "10.0.0.7", ""),
    ],
)
def test_what_is_local_to_another_machine_is_reached_there(address: str, at: str, there: str) -> None:
    assert reached(address, at) == there


def test_the_hour_is_split_by_who_is_on_its_way() -> None:
    now = [0.0]
    meter = Meter(3600, lambda: now[0])  # one a second
    with meter.call("a", "1") as first:
        now[0] = 10.0
        with meter.call("b", "2") as second:
            now[0] = 20.0
            assert second() == 5
        now[0] = 25.0
        assert first() == 10 + 5 + 5
    now[0] = 100.0
    assert (meter.billed.total(), meter.seconds) == (25, {"a": 25.0, "b": 10.0})
    assert meter.matches == {"1", "2"}
