"""The sandbox: cold start, runs per second, memory over thousands of runs, and speed beside CPython.

Small programs, as a game runs them. Usage: python -m bench.sandbox [RUNS] [--compile] [--usual]
With --compile it also times the one-off compile, in a folder of its own; with --usual it tells instead what
fuel each of `bench.usual_programs` takes, by which the default is chosen.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.usual_programs import PROGRAMS
from peerage.sandbox.pool import SandboxPool
from peerage.sandbox.program import Limits, Program

SMALL = (
    "import re, json, collections\n"
    "words = re.findall(r'\\w+', input())\n"
    "print(json.dumps(collections.Counter(words), sort_keys=True))"
)
STDIN = "the quick brown fox jumps over the lazy dog and the cat\n"
BUSY = "s = 0\nfor i in range(1_000_000): s += i * i % 7\nprint(s)"
SORTING = "import random\nr = random.Random(1)\nprint(sum(sorted(r.random() for _ in range(200_000))[:10]))"


async def cold_start() -> float:
    """Milliseconds from nothing to the result of a first program."""
    began = time.perf_counter()
    async with SandboxPool(workers=1) as pool:
        result = await pool.run(Program(SMALL, STDIN))
        assert result.ok, result.stderr
        return (time.perf_counter() - began) * 1e3


async def throughput(runs: int) -> tuple[float, list[float]]:
    """Small programs per second on two workers, and resident MB of the workers now and then."""
    memory: list[float] = []
    async with SandboxPool(workers=2) as pool:
        await asyncio.gather(*(pool.run(Program(SMALL, STDIN)) for _ in range(4)))
        began, done = time.perf_counter(), 0
        for _ in range(10):
            results = await asyncio.gather(*(pool.run(Program(SMALL, STDIN)) for _ in range(runs // 10)))
            assert all(result.ok for result in results)
            done += len(results)
            memory.append(resident_mb())
        return done / (time.perf_counter() - began), memory


def resident_mb() -> float:
    """What this process' children hold in memory, where /proc tells it."""
    total = 0
    for one in Path("/proc/self/task").glob("*/children"):
        for child in one.read_text().split():
            for line in Path(f"/proc/{child}/status").read_text().splitlines():
                total += int(line.split()[1]) if line.startswith("VmRSS") else 0
    return total / 1024


async def seconds_of(source: str) -> tuple[float, int]:
    async with SandboxPool(workers=1) as pool:
        await pool.run(Program(""))
        result = await pool.run(Program(source, "", Limits(fuel=10**12, seconds=600)))
        assert result.ok, result
        return result.milliseconds / 1e3, result.fuel or 0


def cpython_s(source: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-S", "-c", source], check=True, capture_output=True)
    return time.perf_counter() - began


def compile_s() -> float:
    from peerage.sandbox import image

    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        image.build(Path(folder) / "snapshot.cwasm")
        return time.perf_counter() - began


async def usual() -> None:
    for name, source in PROGRAMS.items():
        took, fuel = await seconds_of(source)
        print(f"{fuel / 1e9:6.1f}e9 {took:5.1f} s; CPython {cpython_s(source):5.2f} s  {name}", flush=True)


async def report(runs: int) -> None:
    async with SandboxPool(workers=1) as pool:
        await pool.run(Program(""))  # compiled, and in the page cache
    starts = [await cold_start() for _ in range(7)]
    rate, memory = await throughput(runs)
    print(f"cold start {statistics.median(starts):6.0f} ms (worst {max(starts):.0f})")
    print(f"{rate:6.1f} small programs/s on two workers")
    print(f"resident, two workers: {', '.join(f'{one:.0f}' for one in memory)} MB")
    for name, source in (("loop", BUSY), ("sort", SORTING)):
        took, fuel = await seconds_of(source)
        speed = f", {fuel / took / 1e9:.1f}e9 instructions/s" if fuel else ""
        print(f"{name}: {took:.2f} s; CPython {cpython_s(source):.2f} s (with its start){speed}")


def main() -> None:
    if "--usual" in sys.argv:
        asyncio.run(usual())
        return
    arguments = [one for one in sys.argv[1:] if one != "--compile"]
    if "--compile" in sys.argv:
        print(f"compile {compile_s():.1f} s, once on each machine")
    asyncio.run(report(int(arguments[0]) if arguments else 2000))


if __name__ == "__main__":
    main()
