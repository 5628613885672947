"""Programs that games yield, run in the sandbox. It is opened only for a game that needs it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from peerage.game.protocol import Ran, Reply, Run
from peerage.sandbox.pool import SandboxPool
from peerage.sandbox.program import Limits, Program

STDERR_CHARS = 4_000
"""Characters of a program's stderr that are kept: its end, where the exception stands."""


class Programs:
    """Performs `Run` requests, at most `workers` at once."""

    def __init__(self, pool: SandboxPool, workers: int) -> None:
        self.workers = workers
        self._pool = pool

    async def perform(self, run: Run) -> Reply:
        """The reply to a run: void when the sandbox failed. Raises SandboxUnavailable when it is gone.

        Nothing that depends on the machine's speed stands in it.
        """
        limits = Limits(run.fuel, run.memory, run.output, run.seconds)
        result = await self._pool.run(Program(run.source, run.stdin, limits))
        if result.status == "sandbox_error":
            return Reply("void", reason=f"sandbox_error: {result.stderr[-STDERR_CHARS:]}", cost_nano=0)
        ran = Ran(result.status, result.stdout, result.stderr[-STDERR_CHARS:], result.fuel)
        text = msgspec.json.encode(ran).decode()
        return Reply("ok", text, input_tokens=0, output_tokens=0, cost_nano=0)


@asynccontextmanager
async def opened(count: int = os.cpu_count() or 1) -> AsyncIterator[Programs]:
    """A sandbox for so many programs at once that was seen to work; SandboxUnavailable, before anything is
    asked, when there is none.

    The first time on a machine this compiles the sandbox, which takes about half a minute.
    """
    async with SandboxPool(count) as pool:
        await pool.protections()
        yield Programs(pool, count)
