"""CPU milliseconds of a duel through Ray, beside one process alone on the same PostgreSQL.

House players that reply at once, without and with a budget, and the same players as models are asked: each
reply takes a while, so that replies come one by one. Compared are, with the same players, matches under way
and PostgreSQL (which does not wait for its disk): one process; one process that gathers what it writes for as
long as leader and workers do; and leader and two workers on Ray. CPU is user and system time of all threads
between two moments in the middle of a run: no start, no end. A part of it is a cost of each second and not of
a duel (Ray's threads in leader and workers, their ticks): it is measured with all calls in flight and none
that returns, and what a duel costs is told with and without it.

Usage: python -m bench.cluster [DUELS] [ROUNDS] [CASE…]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import yaml

from peerage.arena import open_arena
from peerage.cluster.leases import working
from peerage.cluster.worker import PATIENT_S
from peerage.engine.run.runner import Runner
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings

CONCURRENCY = 32
WARM = 48
"""Duels before the first moment: imports, caches, connections."""
CASES = {"at once": {}, "at once, budget": {"budget": 50}, "asked": {}, "asked, budget": {"budget": 50}}
RULES = {"committee": 2, "judges": 3, "topics": ["bridges", "tides", "bees"]}
KINDS = "one process", "the same, gathering", "Ray"
IDLE_S = 20.0
_TICK = os.sysconf("SC_CLK_TCK")


def seconds(call: Call, answer: Answer) -> float:
    """A reply as a quick model gives it."""
    return answer.latency_s / 20


def asked(settings: PlayerSettings) -> Client:
    """A house player that takes its time."""
    return PacedClient(HouseClient(settings), seconds)


def asleep(settings: PlayerSettings) -> Client:
    """One that never replies."""
    return PacedClient(HouseClient(settings), lambda call, answer: 3600.0)


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

    def __init__(self, kind: str, ledger: str, server: int, duels: int) -> None:
        self._kind, self._ledger, self._server, self._duels = kind, ledger, server, duels
        self.found: dict[str, float] = {}
        self.seen = range(0)

    def _now(self, workers: list[int]) -> dict[str, float]:
        mine = os.getpid()
        ray = [pid for pid, name in below(mine) if name in ("raylet", "gcs_server")]
        server = [pid for pid, _ in below(self._server)]
        parts = {"leader": [mine], "workers": workers, "Ray": ray, "PostgreSQL": server}
        return {name: sum(map(spent, pids)) for name, pids in parts.items()}

    async def _workers(self) -> list[int]:
        told = await asyncio.to_thread(working, self._ledger) if self._kind == "Ray" else {}
        return [int(who.split()[1]) for who, _ in told.values()]

    async def __call__(self, runner: Runner) -> None:
        async def after(matches: int) -> int:
            while (done := runner.progress().settled) < matches:
                await asyncio.sleep(0.05)
            return done

        if self._kind == KINDS[1]:
            runner._journal.gather_s = PATIENT_S
        first = await after(WARM)
        workers = await self._workers()
        began = time.monotonic()
        before = self._now(workers)
        last = await after(WARM + self._duels)
        after_it, took = self._now(workers), time.monotonic() - began
        self.found = {name: (after_it[name] - before[name]) / (last - first) for name in before}
        self.seen = range(first + 1, last + 1)
        self.found["seconds"] = took / (last - first)


class Idle(Watch):
    """The same of each second in which nothing comes."""

    async def __call__(self, runner: Runner) -> None:
        while runner.progress().calls_in_flight < CONCURRENCY:
            await asyncio.sleep(0.02)
        await asyncio.sleep(IDLE_S / 4)
        workers = await self._workers()
        began, before = time.monotonic(), self._now(workers)
        await asyncio.sleep(IDLE_S)
        after_it, took = self._now(workers), time.monotonic() - began
        self.found = {name: (after_it[name] - before[name]) / took for name in before}
        runner.stop()
        runner.stop()


def one(case: str, kind: str, ledger: str, server: int, duels: int) -> dict[str, float]:
    """CPU milliseconds of a duel, or of an idle second, by part."""
    priced = {"price": {"input": 1, "output": 4}} if "budget" in case else {}
    engine = "ray" if kind == "Ray" else "local"
    settings = {
        "seed": 1,
        "players": [{"name": f"p{at}", "model": f"house:0.{at + 2}", **priced} for at in range(6)],
        "rules": RULES,
        "pairing": {"window": 6 * CONCURRENCY},
        "engine": {"kind": engine, "workers": 2, "concurrency": CONCURRENCY, "calls": 256, "probe": False},
        "ledger": ledger,
        **CASES.get(case, {}),
    }
    watch = (Idle if case == "idle" else Watch)(kind, ledger, server, duels)
    clients = {"asked": asked, "idle": asleep}.get(case.partition(",")[0])
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        with open_arena(Path(name)) as arena:
            arena.run(WARM + duels + 4 * CONCURRENCY, clients=clients, beside=watch)
            if seen := watch.seen:
                answered = sum(row.reply is not None for row in arena.ledger.exchanges(seen[0], seen[-1]))
                watch.found["calls"] = answered / len(seen)
    return watch.found


def main(duels: int = 300, rounds: int = 3, cases: tuple[str, ...] = tuple(CASES)) -> None:
    from tests.servers.postgres import PostgresServer

    root = str(Path(__file__).parents[1])
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    env["PYTHONPATH"] = root
    postgres = PostgresServer()
    server = postgres._server
    assert server is not None

    def run(case: str, kind: str) -> dict[str, float]:
        words = ["one", case, kind, postgres.address(), str(server.pid), str(duels)]
        command = [sys.executable, "-m", "bench.cluster", *words]
        done = subprocess.run(command, cwd=root, env=env, stdout=subprocess.PIPE, check=True)
        return dict(json.loads(done.stdout.splitlines()[-1]))

    try:
        idle = {kind: run("idle", kind) for kind in (KINDS[0], KINDS[2])}
        print(f"idle, {CONCURRENCY} duels with calls in flight, ms of CPU a second")
        for kind, parts in idle.items():
            print(f"  {kind:20} {told(parts)}")
        for case in cases:
            kinds = [kind for kind in KINDS if kind != KINDS[1] or case.startswith("asked")]
            found: dict[str, list[Mapping[str, float]]] = {kind: [] for kind in kinds}
            for kind in kinds * rounds:
                found[kind].append(run(case, kind))
            show(case, found, {kind: of_run(parts) for kind, parts in idle.items()})
    finally:
        postgres.stop()


def of_run(parts: Mapping[str, float]) -> float:
    """What of it the run's own processes took."""
    return parts["leader"] + parts["workers"]


def told(parts: Mapping[str, float]) -> str:
    return ", ".join(
        f"{part} {ms:.2f}" for part, ms in parts.items() if part not in ("calls", "seconds") and ms
    )


def show(case: str, found: Mapping[str, list[Mapping[str, float]]], idle: Mapping[str, float]) -> None:
    middle = {
        kind: {part: median([one[part] for one in runs]) for part in runs[0]} for kind, runs in found.items()
    }
    calls = middle[KINDS[0]]["calls"]
    print(f"{case}: {calls:.1f} calls a duel, {CONCURRENCY} under way, ms of CPU a duel")
    for kind, parts in middle.items():
        print(f"  {kind:20} {told(parts)} ({1 / parts['seconds']:.0f} duels a second)")
    for kind in [kind for kind in found if kind != "Ray"]:
        alone, each = of_run(middle[kind]), idle[KINDS[0]]
        more = [of_run(one) - alone for one in found["Ray"]]
        own = [
            of_run(one) - one["seconds"] * idle["Ray"] - (alone - middle[kind]["seconds"] * each)
            for one in found["Ray"]
        ]
        for what, ms in (("", more), (", without what each second costs", own)):
            print(f"  beyond {kind}{what}: {median(ms):.2f} ({min(ms):.2f} to {max(ms):.2f})", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        case, kind, ledger, server, duels = sys.argv[2:]
        print(json.dumps(one(case, kind, ledger, int(server), int(duels))))
    else:
        main(*map(int, sys.argv[1:3]), *([tuple(sys.argv[3:])] if sys.argv[3:] else []))
