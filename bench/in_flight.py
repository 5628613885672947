"""Memory with 5,000 real duels in flight: texts of 2 KB and votes of 0.3 KB after 2 seconds, a provider's
library loaded.

Usage: python -m bench.in_flight [DUELS] [CALLS]
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from pathlib import Path

from bench.local_model import SlowTalker, write_arena
from peerage.arena import open_arena
from peerage.engine.run.runner import Runner
from peerage.settings import PlayerSettings


def resident_mb() -> float:
    """Resident memory now, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def main(duels: int = 5_000, calls: int = 1_024) -> None:
    import openai  # noqa: F401
    import pydantic_ai.direct  # noqa: F401

    loaded = resident_mb()
    most = [0, 0.0]

    async def watch(runner: Runner) -> None:
        while True:
            progress = runner.progress()
            most[0] = max(most[0], progress.matches_in_flight)
            most[1] = max(most[1], resident_mb())
            await asyncio.sleep(0.1)

    def slow(settings: PlayerSettings) -> SlowTalker:
        return SlowTalker(settings.name, lambda call: 2.0)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_arena(folder, players=60, concurrency=duels, calls=calls)
        with open_arena(folder) as arena:
            report = arena.run(duels, beside=watch, clients=slow)
    print(f"{most[0]} duels in flight, at most {calls} calls: {report.calls} replies after 2 s")
    print(f"  resident     {most[1]:10.0f} MB (at most 300), of which {loaded:.0f} MB libraries")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
