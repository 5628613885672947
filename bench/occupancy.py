"""How busy the wanted concurrency is kept although pairing waits for results: in virtual time.

512 matches at once; every reply takes log-normal time (median 2 s, sigma 0.8), and one in ten thousand stalls
for 120 s. A round is paired from the ratings `pairing.window` = 6 × 512 matches earlier, so a stalled match
holds up what comes that much later. The busy share is the mean number of matches under way over 512, from
the first moment on.

A window covers a stall while its matches, at full speed, take longer than 120 s and one match more. Here a
duel takes some 21 s and 6 × 512 duels 126 s, so a stall may starve it for seconds; 8 × 512 covers it.

Usage: python -m bench.occupancy [DUELS] [CONCURRENCY] [WINDOWS]
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
import tempfile
import time
from pathlib import Path

from tests import virtual

from bench.local_model import SlowTalker
from peerage.arena import open_arena
from peerage.engine.run.runner import Runner
from peerage.ledger.stores import sqlite
from peerage.players.client import Call
from peerage.settings import PlayerSettings

MEDIAN_S, SIGMA = 2.0, 0.8
STALL_SHARE, STALL_S = 1e-4, 120.0
TICK_S = 0.1
"""Latencies are whole ticks, so that one commit takes in what returns at one moment."""
ENOUGH = 0.95


def busy_share(folder: Path, duels: int, concurrency: int, windows: int) -> tuple[float, float]:
    """Play so many duels; (mean share of the concurrency that is under way, virtual seconds it took)."""
    rng = random.Random(1)
    samples: list[int] = []

    def seconds(_: Call) -> float:
        drawn = STALL_S if rng.random() < STALL_SHARE else MEDIAN_S * rng.lognormvariate(0.0, SIGMA)
        return math.ceil(drawn / TICK_S) * TICK_S

    def client(settings: PlayerSettings) -> SlowTalker:
        return SlowTalker(settings.name, seconds)

    async def look(runner: Runner) -> None:
        while (seen := runner.progress()).settled < duels:
            samples.append(seen.matches_in_flight)
            await asyncio.sleep(0.25)
        runner.stop()
        runner.stop()

    folder.mkdir()
    players = "".join(f"  - {{model: 'house:0.5', name: p{place}}}\n" for place in range(40))
    (folder / "arena.yaml").write_text(
        f"pairing: {{window: {windows * concurrency}}}\n"
        f"engine: {{concurrency: {concurrency}, calls: 100000}}\nplayers:\n{players}",
        encoding="utf-8",
    )
    with open_arena(folder) as arena:
        virtual.run(arena.play(clients=client, beside=look, inline=True))
    return sum(samples) / len(samples) / concurrency, len(samples) / 4


def main() -> None:
    duels = int(sys.argv[1]) if len(sys.argv) > 1 else 6_000
    concurrency = int(sys.argv[2]) if len(sys.argv) > 2 else 512
    windows = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    sqlite.SYNCHRONOUS = "OFF"  # the disk has no part in virtual time
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        share, seconds = busy_share(Path(place) / "arena", duels, concurrency, windows)
    print(
        f"concurrency {concurrency}, window {windows} × that: {share:.1%} busy (wanted: {ENOUGH:.0%}) "
        f"over {duels} duels in {seconds:.0f} virtual seconds, simulated in {time.perf_counter() - began:.0f}"
    )
    if share < ENOUGH:
        sys.exit(1)


if __name__ == "__main__":
    main()
