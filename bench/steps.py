"""Durable match steps per second: the real duel, zero-latency players, SQLite with full sync.

A step is a request with its reply of 2 KB: two rows, durable before anything that depends on them is sent.
Beside it DBOS, a library for durable execution: as many steps of the same size, 18 to a workflow, on SQLite
too. Usage: python -m bench.steps [DUELS] [CONCURRENCY] [LEDGER], LEDGER for example
postgresql://HOST/DATABASE?schema=NEW
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from bench.local_model import REPLY_CHARS, talker, write_arena
from peerage.arena import open_arena

STEPS = 18


def sync_ms(folder: Path) -> float:
    """Milliseconds that one synced 4 KB write takes here."""
    handle = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY)
    began = time.perf_counter()
    for _ in range(50):
        os.write(handle, b"x" * 4096)
        os.fsync(handle)
    os.close(handle)
    return (time.perf_counter() - began) / 50 * 1e3


def ours(folder: Path, duels: int, concurrency: int, ledger: str) -> dict[str, float]:
    write_arena(folder, players=20, concurrency=concurrency)
    with (folder / "arena.yaml").open("a") as settings:
        settings.write(f"ledger: {ledger}\n")
    with open_arena(folder) as arena:
        arena.run(concurrency, clients=talker)  # imports, caches, the file
        wall, cpu = time.perf_counter(), time.process_time()
        report = arena.run(concurrency + duels, clients=talker)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {
        "steps/s": report.calls / wall,
        "ms CPU/step": cpu / report.calls * 1e3,
        "steps/duel": report.calls / report.played,
    }
    file = folder / "arena.db"
    return found | ({"KB/duel": file.stat().st_size / report.settled / 1024} if file.exists() else {})


def dbos(folder: Path, duels: int) -> dict[str, float]:
    """The same in DBOS; {} when it is not installed."""
    try:
        from dbos import DBOS
    except ImportError:
        return {}
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{folder}/dbos.db",
            "log_level": "ERROR",
        }
    )

    @DBOS.step()
    async def step(number: int) -> str:
        return "x" * REPLY_CHARS

    @DBOS.workflow()
    async def duel() -> int:
        return sum([len(await step(number)) for number in range(STEPS)])

    async def play() -> dict[str, float]:
        DBOS.launch()
        await duel()
        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*[duel() for _ in range(duels)])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return {"steps/s": STEPS * duels / wall, "ms CPU/step": cpu / (STEPS * duels) * 1e3}

    try:
        return asyncio.run(play())
    finally:
        DBOS.destroy()


def main(duels: int = 3_000, concurrency: int = 256, ledger: str = "sqlite:///arena.db") -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"durable steps (one synced write takes {sync_ms(folder):.2f} ms; concurrency {concurrency})")
        mine = ours(folder, duels, concurrency, ledger)
        theirs = dbos(folder, 25)
    for key, value in mine.items():
        peer = f"   DBOS {theirs[key]:9.2f}   ratio {value / theirs[key]:8.3f}" if key in theirs else ""
        print(f"  {key:12} {value:10.3f}{peer}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
