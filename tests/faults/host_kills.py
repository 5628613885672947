"""Kills runs with SIGKILL in every phase of a real host, then lets one play to the end.

    python -m tests.faults.host_kills FOLDER

The host is a process that serves two models, and marks what it is asked for. Each run is a fork of this
process, which has imported what runs need. Prints one JSON object: what came of the uptimes and the replies.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.engine.arenas import house, ledger_of, write_arena
from tests.faults.kill9 import unsound

import peerage.players.models.wire
import peerage.players.session
import peerage.playing.run
import peerage.playing.start  # noqa: F401
from peerage.arena import open_arena
from peerage.ledger.topics.uptimes import hosts_up, uptimes

MATCHES = 14
PATIENCE_S = 60.0
PHASES = ("starting", "warming", "call", "stopping")
SERVER = Path(__file__).with_name("host_server.py")
HANDS = Path(__file__).parents[1] / "engine" / "hands.py"


def arena(folder: Path) -> None:
    """Two hosted models among house players."""
    ports = []
    for _ in range(2):
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            ports.append(probe.getsockname()[1])
    words = [sys.executable, "-S", "-E", str(SERVER)]
    marks = str(folder / "marks")
    rig = {
        "start": [*words, "serve", marks, *map(str, ports)],
        "stop": [*words, "stop", marks],
        "matches": 100,
        "usd_per_hour": 3.6,
    }
    hosted = [
        {
            "name": f"h{at}",
            "model": "openai:m",
            "key_env": "",
            "base_url": f"http://127.0.0.1:{port}/v1",
            "host": "rig",
        }
        for at, port in enumerate(ports)
    ]
    write_arena(
        folder,
        [*house(2), *hosted],
        game="./hands.py",
        rules={},
        hosts={"rig": rig},
        engine={"concurrency": 3},
    )
    (folder / "hands.py").write_text(HANDS.read_text("utf-8"), "utf-8")
    (folder / "marks").touch()


def marks(folder: Path) -> list[str]:
    return (folder / "marks").read_text().split()


def replies(folder: Path) -> dict[str, bytes]:
    if not (folder / "arena.db").exists():
        return {}
    with closing(ledger_of(folder)) as ledger:
        return {f"{row.match} {row.key}": row.reply for row in ledger.exchanges(1) if row.reply is not None}


def killed(folder: Path, phase: str) -> bool:
    """Play until the host marks this phase, empty: to the end; whether the run was killed."""
    seen = len(marks(folder))
    child = os.fork()
    if not child:
        status = 1
        try:
            with open_arena(folder) as opened:
                report = opened.run(MATCHES)
            status = 0 if report.reason == "limit" else 2
        finally:
            os._exit(status)
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if status:
                raise SystemExit(f"a run ended with {os.waitstatus_to_exitcode(status)}")
            return False
        if phase and phase in marks(folder)[seen:]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    raise SystemExit(f"no {phase!r} in {marks(folder)[seen:]}")


def gone(folder: Path) -> bool:
    """Whether the guard stops the host that a killed run has left up: all that was started has ended."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        seen = marks(folder)
        serves = [one.split(":")[1] for one in seen if one.startswith("pid:")]
        stopped = all(one.stopped_ms is not None for one in hosts_up(folder).values())
        if stopped and not any(Path(f"/proc/{pid}").exists() for pid in serves):
            return True
        time.sleep(0.01)
    return False


def main() -> None:
    folder = Path(sys.argv[1])
    arena(folder)
    before: dict[str, bytes] = {}
    found: dict[str, Any] = {"killed": [], "left_up": [], "lost": []}
    for phase in (*PHASES, ""):
        if killed(folder, phase):
            found["killed"].append(phase)
        if not gone(folder):
            found["left_up"].append(phase)
        now = replies(folder)
        found["lost"] += [key for key, reply in before.items() if now.get(key) != reply]
        before = now
    with closing(ledger_of(folder)) as ledger:
        found["uptimes"] = [one.why for one in uptimes(ledger)]
        found["priced"] = all(sum(one.unused.values()) <= one.held_nano > 0 for one in uptimes(ledger))
        found["left_open"] = sum(
            row.failure is not None and row.failure.reason.startswith("left open")
            for row in ledger.exchanges(1, unanswered=True)
        )
        hosted = {row.player for row in ledger.exchanges(1)} & {"h0", "h1"}
        found["answered"] = sum(row.reply is not None and row.player in hosted for row in ledger.exchanges(1))
    found["received"] = marks(folder).count("call")
    found["unsound"] = unsound(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
