"""What protects this machine: each mode tried for real, with what its worker says holds it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from peerage.sandbox.jail import Protections
from peerage.sandbox.pool import Mode, Pool
from peerage.sandbox.program import Program, SandboxUnavailable


@dataclass(frozen=True, slots=True)
class Found:
    """One mode on this machine: `refused` is empty when it runs. `start_ms` is one cold start with a run."""

    mode: Mode
    refused: str
    protections: Protections
    start_ms: int


async def check(mode: Mode) -> Found:
    """Start a worker and run a program in it. The first call on a machine also compiles the sandbox."""
    async with Pool(workers=1, mode=mode) as pool:
        try:
            protections = await pool.protections()
        except SandboxUnavailable as reason:
            return Found(mode, str(reason), Protections(), 0)
    started = time.monotonic()
    async with Pool(workers=1, mode=mode) as pool:
        result = await pool.run(Program("print(6 * 7)"))
    took = round((time.monotonic() - started) * 1000)
    wrong = "" if result.stdout == "42\n" else f"a program that prints 42 ended with {result.status}"
    return Found(mode, wrong, protections, took)
