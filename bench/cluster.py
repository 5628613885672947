"""CPU milliseconds of a duel through Ray, beside one process alone on the same PostgreSQL.

House players that reply at once, without and with a budget, and the same players as models are asked: each
reply takes a while, so that every call needs its place and its money from the leader. CPU is that between
two moments in the middle of a run: no start, no end. Usage: python -m bench.cluster [DUELS] [ROUNDS] [CASE…]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import yaml

from peerage.arena import open_arena
from peerage.engine.runner import Runner
from peerage.ledger.leases import working
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings

CONCURRENCY = 32
WARM = 48
"""Duels before the first moment: imports, caches, connections."""
CASES = {"at once": {}, "at once, budget": {"budget": 50}, "asked": {}, "asked, budget": {"budget": 50}}
RULES = {"committee": 2, "judges": 3, "topics": ["bridges", "tides", "bees"]}
_TICK = os.sysconf("SC_CLK_TCK")


def seconds(call: Call, answer: Answer) -> float:
    """A reply as a quick model gives it."""
    return answer.latency_s / 20


def asked(settings: PlayerSettings) -> Client:
    """A house player that takes its time."""
    return PacedClient(HouseClient(settings), seconds)


def spent(process: int) -> float:
    """CPU milliseconds of a process, and of those it started that have ended."""
    stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, stat[11:15])) / _TICK * 1e3


def children(process: int) -> list[tuple[int, str]]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        if rest.split()[1] == str(process):
            found.append((int(stat.parent.name), name.partition("(")[2]))
    return found


def below(process: int) -> list[tuple[int, str]]:
    return [one for child in children(process) for one in (child, *below(child[0]))]


class Watch:
    """CPU of all that takes part, between two moments of a run."""

    def __init__(self, ledger: str, server: int, duels: int) -> None:
        self._ledger, self._server, self._duels = ledger, server, duels
        self.found: dict[str, float] = {}

    def _now(self, workers: list[int]) -> dict[str, float]:
        mine = os.getpid()
        ray = [pid for pid, name in below(mine) if name in ("raylet", "gcs_server")]
        server = [pid for pid, _ in below(self._server)]
        parts = {"leader": [mine], "workers": workers, "Ray": ray, "PostgreSQL": server}
        return {name: sum(map(spent, pids)) for name, pids in parts.items()}

    async def __call__(self, runner: Runner) -> None:
        async def after(matches: int) -> int:
            while (done := runner.progress().settled) < matches:
                await asyncio.sleep(0.02)
            return done

        first = await after(WARM)
        told = await asyncio.to_thread(working, self._ledger) if self._ledger else {}
        workers = [int(who.split()[1]) for who, _ in told.values()]
        before, calls = self._now(workers), runner.progress().calls_answered
        last = await after(WARM + self._duels)
        after_it = self._now(workers)
        self.found = {name: (after_it[name] - before[name]) / (last - first) for name in before}
        self.found["calls"] = (runner.progress().calls_answered - calls) / (last - first)


def one(case: str, kind: str, ledger: str, server: int, duels: int) -> dict[str, float]:
    """CPU milliseconds of a duel, by part."""
    priced = {"price": {"input": 1, "output": 4}} if "budget" in case else {}
    settings = {
        "seed": 1,
        "players": [{"name": f"p{at}", "model": f"house:0.{at + 2}", **priced} for at in range(6)],
        "rules": RULES,
        "pairing": {"window": 6 * CONCURRENCY},
        "engine": {"kind": kind, "workers": 2, "concurrency": CONCURRENCY, "calls": 256, "probe": False},
        "ledger": ledger,
        **CASES[case],
    }
    watch = Watch(ledger if kind == "ray" else "", server, duels)
    clients = asked if case.startswith("asked") else None
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        with open_arena(Path(name)) as arena:
            arena.run(WARM + duels + CONCURRENCY, clients=clients, beside=watch)
    return watch.found


def main(duels: int = 300, rounds: int = 3, cases: tuple[str, ...] = tuple(CASES)) -> None:
    from tests.servers.postgres import PostgresServer

    root = str(Path(__file__).parents[1])
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    env["PYTHONPATH"] = root
    postgres = PostgresServer()
    server = postgres._server
    assert server is not None
    try:
        for case in cases:
            found: dict[str, list[Mapping[str, float]]] = {"local": [], "ray": []}
            for kind in (*found,) * rounds:
                words = ["one", case, kind, postgres.address(), str(server.pid), str(duels)]
                command = [sys.executable, "-m", "bench.cluster", *words]
                done = subprocess.run(command, cwd=root, env=env, stdout=subprocess.PIPE, check=True)
                found[kind].append(json.loads(done.stdout.splitlines()[-1]))
            show(case, found)
    finally:
        postgres.stop()


def show(case: str, found: Mapping[str, list[Mapping[str, float]]]) -> None:
    middle = {
        kind: {part: median([one[part] for one in runs]) for part in runs[0]} for kind, runs in found.items()
    }
    alone = middle["local"]
    both = [one["leader"] + one["workers"] - alone["leader"] for one in found["ray"]]
    print(f"{case}: {alone['calls']:.1f} calls a duel, {CONCURRENCY} under way, ms of CPU a duel")
    for kind, parts in middle.items():
        told = ", ".join(f"{part} {ms:.2f}" for part, ms in parts.items() if part != "calls" and ms)
        print(f"  {kind:6} {told}")
    print(f"  leader and workers beyond one process: {median(both):.2f} ({min(both):.2f} to {max(both):.2f})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        case, kind, ledger, server, duels = sys.argv[2:]
        print(json.dumps(one(case, kind, ledger, int(server), int(duels))))
    else:
        main(*map(int, sys.argv[1:3]), *([tuple(sys.argv[3:])] if sys.argv[3:] else []))
