"""The ledger to take along from a server: files of `site.downloads`, made when somebody asks for them.

Each is made by a process of its own, one at a time, into a folder of the system's temporary ones that goes
with the server. A file serves all who ask within `PACE` times as long as it took to make.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from peerage.site.downloads import TYPES
from peerage.site.server_frame import line

PACE = 5.0
SHORTEST_S = 2.0

_log = logging.getLogger("peerage")


class _Copy(NamedTuple):
    """A file, when it was made (monotonic seconds), for how long it is given out, and the one before it."""

    file: Path
    at: float
    lasts: float
    before: Path | None


class Copies:
    """Hands out copies of the ledger of the arena in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._room: TemporaryDirectory[str] | None = None
        self._making = asyncio.Lock()
        self._kept: dict[str, _Copy] = {}

    async def get(self, request: Request) -> Response:
        """`data/arena.db` and its like."""
        path = request.url.path.removeprefix("/")
        async with self._making:
            copy = self._kept.get(path)
            if copy is None or time.monotonic() - copy.at > copy.lasts:
                copy = await self._make(path)
        if copy is None:
            return line(500, "this file could not be made; the log says why")
        headers = {"cache-control": "no-cache"}
        return FileResponse(copy.file, 200, headers, TYPES[path], filename=Path(path).name)

    async def _make(self, path: str) -> _Copy | None:
        began = time.monotonic()
        if self._room is None:
            self._room = TemporaryDirectory(prefix="peerage-", ignore_cleanup_errors=True)
        # Under a new name: the one before may just be about to be sent to somebody.
        file = Path(self._room.name) / f"{time.monotonic_ns()}-{Path(path).name}"
        making = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "peerage.site.downloads", str(self._folder), path, str(file)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            # Ctrl+C is for the server.
            start_new_session=True,
        )
        try:
            failed = await making.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                making.kill()
        if failed:
            _log.error("%s could not be made", path)
            return None
        was, took = self._kept.get(path), time.monotonic() - began
        if was is not None and was.before is not None:
            with contextlib.suppress(OSError):  # somebody still reads it, on a system that minds
                was.before.unlink()
        made = _Copy(file, time.monotonic(), max(SHORTEST_S, PACE * took), was and was.file)
        self._kept[path] = made
        return made

    def close(self) -> None:
        """Remove the files."""
        if self._room is not None:
            self._room.cleanup()
