"""The ledger to take along from a server: files of `site.downloads`, made when somebody asks for them.

Each is made by a process of its own, one at a time, into a folder of the system's temporary ones that goes
with the server. A file serves all who ask within `PACE` times as long as it took to make, and where it could
not be made it is not tried again for as long.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp

from peerage.protocol import visible
from peerage.site.downloads import TYPES, write
from peerage.site.server_connections import ConnectionPlaces, Held
from peerage.site.server_frame import full, line, unchanged
from peerage.site.server_pages import Worker, WorkerLost

PACE = 5.0
SHORTEST_S = 2.0

_log = logging.getLogger("peerage")


class _Copy(NamedTuple):
    """A file, until when it is given out (monotonic seconds), and the one before it. None: it could not be
    made, and is not tried again until then."""

    file: Path | None
    until: float
    before: Path | None


class DownloadCache:
    """Hands out copies of the ledger of the arena in `folder`."""

    def __init__(self, folder: Path, places: ConnectionPlaces) -> None:
        self._folder = folder
        self._places = places
        self._room: TemporaryDirectory[str] | None = None
        self._making = asyncio.Lock()
        self._kept: dict[str, _Copy] = {}

    async def get(self, request: Request) -> ASGIApp:
        """`data/arena.db` and its like."""
        path = str(request.scope["path"]).removeprefix("/")
        async with self._making:
            copy = self._kept.get(path)
            if copy is None or time.monotonic() > copy.until:
                copy = self._kept[path] = await self._make(path, copy)
        if copy.file is None:
            return line(500, "this file could not be made; the log says why")
        headers = {"cache-control": "no-cache"}
        file = FileResponse(
            *(copy.file, 200, headers, TYPES[path]), filename=Path(path).name, stat_result=copy.file.stat()
        )
        if unchanged(request, file.headers["etag"]):
            return Response(None, 304, {"etag": file.headers["etag"], **headers})
        return Held(self._places, file, full(60))

    async def _make(self, path: str, was: _Copy | None) -> _Copy:
        began = time.monotonic()
        if self._room is None:
            self._room = TemporaryDirectory(prefix="peerage-", ignore_cleanup_errors=True)
        # Under a new name: the one before may just be about to be sent to somebody.
        file = Path(self._room.name) / f"{time.monotonic_ns()}-{Path(path).name}"
        worker = Worker()
        try:
            wrong = await worker.call(write, self._folder, path, file)
        except WorkerLost:
            wrong = "the process that makes it died"
        finally:
            await worker.close()
        now = time.monotonic()
        until = now + max(SHORTEST_S, PACE * (now - began))
        if was is not None and was.before is not None:
            with contextlib.suppress(OSError):  # somebody still reads it, on a system that minds
                was.before.unlink()
        if wrong:
            _log.error("%s could not be made: %s", path, visible(wrong))
        return _Copy(None if wrong else file, until, was and was.file)

    def close(self) -> None:
        """Remove the files."""
        if self._room is not None:
            self._room.cleanup()
