"""How much faster workers play a sandboxed game on two cores than one does on one.

House players write programs, code golf runs them in the sandbox of the worker that drives the match. All that
takes part is held to one core, or to two: leader, workers, sandboxes and PostgreSQL. Both are played in turn.
Where others use the machine too, see how many cores were had, and the leader's part of a match: nothing else
is done by one process alone. Usage: python -m bench.two_cores [MATCHES] [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import yaml

from bench.cluster import below, spent
from peerage.arena import open_arena
from peerage.engine.runner import Runner

WARM = 8
CONCURRENCY = 16


def one(cores: int, ledger: str, server: int, matches: int) -> dict[str, float]:
    """Matches a second, and cores that were had and CPU milliseconds that a match took."""
    for process in (0, server, *[pid for pid, _ in below(server)]):
        os.sched_setaffinity(process, range(cores))
    settings = {
        "seed": 1,
        "game": "code-golf",
        "players": [{"name": f"p{at}", "model": f"house:0.{at + 3}"} for at in range(6)],
        "engine": {"kind": "ray", "workers": cores, "concurrency": CONCURRENCY, "probe": False},
        "ledger": ledger,
    }
    found: dict[str, float] = {}

    def cpu() -> float:
        return sum(
            [spent(pid) for root in (os.getpid(), server) for pid in (root, *[p for p, _ in below(root)])]
        )

    async def watch(runner: Runner) -> None:
        async def after(count: int) -> tuple[int, float, float, float]:
            while (done := runner.progress().settled) < count:
                await asyncio.sleep(0.02)
            return done, time.monotonic(), cpu(), spent(os.getpid())

        first, last = await after(WARM), await after(WARM + matches)
        count, wall, ms, leader = (b - a for a, b in zip(first, last, strict=True))
        found.update({"matches/s": count / wall, "cores had": ms / wall / 1e3})
        found.update({"ms/match": ms / count, "by the leader": leader / count})

    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        with open_arena(Path(name)) as arena:
            arena.run(WARM + matches + CONCURRENCY, beside=watch)
    return found


def main(matches: int = 60, rounds: int = 3) -> None:
    from tests.servers.postgres import PostgresServer

    root = str(Path(__file__).parents[1])
    env = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    postgres = PostgresServer()
    assert postgres._server is not None
    rates: dict[int, list[float]] = {1: [], 2: []}
    try:
        for cores in (*rates,) * rounds:
            words = ["one", str(cores), postgres.address(), str(postgres._server.pid), str(matches)]
            command = [sys.executable, "-m", "bench.two_cores", *words]
            done = subprocess.run(command, cwd=root, env=env, stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            rates[cores].append(found["matches/s"])
            print(
                f"  {cores} of 2 cores: " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()),
                flush=True,
            )
    finally:
        postgres.stop()
    ratios = [two / one for one, two in zip(rates[1], rates[2], strict=True)]
    print(
        f"two cores play {median(ratios):.2f} times as many as one ({min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        cores, ledger, server, matches = sys.argv[2:]
        print(json.dumps(one(int(cores), ledger, int(server), int(matches))))
    else:
        main(*map(int, sys.argv[1:3]))
