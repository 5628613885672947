"""Programs and commands that games yield, run in the sandbox. It is opened only for a game that needs it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from peerage.game.protocol import Job, Ran, Reply, Run
from peerage.game.work import CommandResult, ShellCommand
from peerage.sandbox.folder import WorkFolder, read_patch
from peerage.sandbox.native.commands import run_command
from peerage.sandbox.pool import SandboxPool
from peerage.sandbox.program import Limits, Program, SandboxUnavailable

STDERR_CHARS = 4_000
"""Characters of a program's stderr that are kept: its end, where the exception stands."""


class Programs:
    """Performs runs and commands for the arena in the folder `base`, at most `workers` at once. No command
    sees what is `hidden`."""

    def __init__(
        self, pool: SandboxPool | None, workers: int, base: Path, hidden: Sequence[Path] = ()
    ) -> None:
        self.runs = pool is not None
        self.workers = workers
        self._pool = pool
        self._base, self._hidden = base, hidden

    async def perform(self, job: Job) -> Reply:
        """The reply to a run or a command: void when the sandbox failed. Raises SandboxUnavailable when it is
        gone.

        Nothing that depends on the machine's speed stands in it.
        """
        try:
            ended = await (self._ran(job) if isinstance(job, Run) else self._commanded(job))
        except _Failed as failed:
            return Reply("void", reason=f"sandbox_error: {failed}", cost_nano=0)
        text = msgspec.json.encode(ended).decode()
        return Reply("ok", text, input_tokens=0, output_tokens=0, cost_nano=0)

    async def _ran(self, run: Run) -> Ran:
        if self._pool is None:
            raise SandboxUnavailable("it was not opened for this run")
        limits = Limits(run.fuel, run.memory, run.output, run.seconds)
        result = await self._pool.run(Program(run.source, run.stdin, limits))
        if result.status == "sandbox_error":
            raise _Failed(result.stderr[-STDERR_CHARS:])
        return Ran(result.status, result.stdout, result.stderr[-STDERR_CHARS:], result.fuel)

    async def _commanded(self, command: ShellCommand) -> CommandResult:
        try:
            ended = await run_command(
                command.command,
                command.folder,
                read_patch(command.patch or "{}"),
                command.overlay,
                keeps=command.keeps,
                seconds=command.seconds,
                output=command.output,
                base=self._base,
                hidden=self._hidden,
            )
        except ValueError as error:  # its files cannot be had
            raise _Failed(str(error)) from None
        return CommandResult(*ended)


class _Failed(Exception):
    """The sandbox itself failed; the message says how."""


@asynccontextmanager
async def opened(
    base: Path,
    hidden: Sequence[Path] = (),
    *,
    programs: bool = True,
    commands: bool = False,
    count: int = os.cpu_count() or 1,
) -> AsyncIterator[Programs]:
    """A sandbox for so many programs and commands at once, those of `programs` and `commands` seen to work;
    SandboxUnavailable, before anything is asked, when there is none. No command sees `base`, the arena's
    folder, nor what is `hidden` elsewhere.

    The first time on a machine this compiles the sandbox for programs, which takes about half a minute.
    """
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(SandboxPool(count)) if programs else None
        if pool is not None:
            await pool.protections()
        opened = Programs(pool, count, base, hidden)
        if commands:
            await opened.perform(ShellCommand("", WorkFolder.of({}), "true"))
        yield opened
