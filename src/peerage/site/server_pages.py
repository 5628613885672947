"""Pages as the server hands them out: made by worker processes, kept, and renewed behind the reader's back.

A page that is kept is given at once; when the arena has moved on since it was made, a worker makes it anew
for those who come next. So a table is as old as it takes to make, and nobody waits while matches pour in.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from peerage.frames import frame, receive
from peerage.site.events import Version
from peerage.site.server_worker import Job, Made

WORKERS = 2
"""One may renew while the other makes what nobody has asked for before."""
KEPT_BYTES = 64_000_000
OVERHEAD_BYTES = 2_000
"""What keeping any page costs beside its bytes."""
PACE = 2.0
"""A page is not made again before so many times as long has passed as making it took."""
SHORTEST_S = 0.5
MOST_WAITING = 256
"""Pages that may wait to be made; their clients may have gone."""
STALE_S = 10.0
"""A page that nobody asked for in so long is made again before it is shown."""


MOST_S = 300.0
"""No page takes so long to make: the process hangs, and is replaced."""


class Busy(Exception):
    """More is asked for than can be made in good time."""


class WorkerLost(Exception):
    """The process that was making a page has died."""


class Worker:
    """One process that makes pages; started when it is first needed, and again when it has died."""

    def __init__(self, folder: Path, voting: bool) -> None:
        self._arguments = (str(folder), "voting" if voting else "")
        self._process: asyncio.subprocess.Process | None = None

    async def make(self, job: Job) -> Made:
        """What stands at a path. Raises WorkerLost when the process dies of it twice."""
        for _ in range(2):
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
                return await asyncio.wait_for(self._ask(await self._started(), job), MOST_S)
            await self.close()
        raise WorkerLost(f"the process that makes pages died at {job.path}")

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "peerage.site.server_worker", *self._arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                # Ctrl+C is for the server, which ends its workers itself.
                start_new_session=True,
            )
        return self._process

    async def _ask(self, process: asyncio.subprocess.Process, job: Job) -> Made:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(frame(job))
        await process.stdin.drain()
        return await receive(process.stdout, Made)

    async def close(self) -> None:
        """End the process, and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()


class _Kept:
    """A page on the shelf, and when it was made and last asked for (monotonic seconds)."""

    __slots__ = ("asked", "at", "made")

    def __init__(self, made: Made, now: float) -> None:
        self.made = made
        self.at = now
        self.asked = now


class PageCache:
    """Keeps what workers made. `version` tells the moment that the arena is at."""

    def __init__(self, folder: Path, voting: bool, version: Callable[[], Version]) -> None:
        self._version = version
        self._workers = [Worker(folder, voting) for _ in range(WORKERS)]
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._kept: OrderedDict[Job, _Kept] = OrderedDict()
        self._bytes = 0
        self._making: dict[Job, asyncio.Future[Made]] = {}
        self._renewing: asyncio.Task[None] | None = None

    async def get(self, job: Job) -> Made:
        """What stands at a path; of this moment, or of one a little earlier. Raises WorkerLost and Busy."""
        now = time.monotonic()
        kept = self._kept.get(job)
        if kept is None:
            return await self._fresh(job)
        idle, kept.asked = now - kept.asked, now
        self._kept.move_to_end(job)
        if kept.made.version != self._version():
            if idle > STALE_S:
                return await self._fresh(job)
            if self._renewing is None and now - kept.at > max(SHORTEST_S, PACE * kept.made.seconds):
                self._renewing = asyncio.create_task(self._renew(job))
        return kept.made

    async def _renew(self, job: Job) -> None:
        try:
            with contextlib.suppress(WorkerLost, Busy):
                await self._fresh(job)
        finally:
            self._renewing = None
            if job in self._kept:
                # Also where it failed: what is kept is still better than trying at every request.
                self._kept[job].at = time.monotonic()

    async def _fresh(self, job: Job) -> Made:
        """Make a page, once for all who wait for it."""
        if job not in self._making:
            if len(self._making) >= MOST_WAITING:
                raise Busy
            self._making[job] = asyncio.ensure_future(self._make(job))
        return await asyncio.shield(self._making[job])

    async def _make(self, job: Job) -> Made:
        worker = await self._idle.get()
        try:
            made = await worker.make(job)
        finally:
            self._idle.put_nowait(worker)
            del self._making[job]
        if made.status < 500:
            self._keep(job, made)
        return made

    def _keep(self, job: Job, made: Made) -> None:
        before = self._kept.pop(job, None)
        kept = self._kept[job] = _Kept(made, time.monotonic())
        if before is not None:
            kept.asked = before.asked
            self._bytes -= _size(before.made)
        self._bytes += _size(made)
        while self._bytes > KEPT_BYTES and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _size(oldest.made)

    async def close(self) -> None:
        """End the workers, and what they were making."""
        for making in self._making.values():
            making.cancel()
        await asyncio.gather(*[worker.close() for worker in self._workers])


def _size(made: Made) -> int:
    return len(made.body) + len(made.packed) + OVERHEAD_BYTES
