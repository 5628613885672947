"""The ledger to take along from a server: files of `site.pages.downloads`, made when somebody asks for them.

Each is made by a process of its own, one at a time, into a folder of the system's temporary ones that goes
with the server, and serves all who ask in the next `AGAIN_S` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp

from peerage.site.http.connections import ConnectionPlaces, HeldResponse
from peerage.site.http.frame import Refused, full, unchanged
from peerage.site.pages.downloads import TYPES, write
from peerage.values.parallel import Lost, Processes
from peerage.values.texts import visible

AGAIN_S = 60.0

_log = logging.getLogger("peerage")


class Downloads:
    """Hands out copies of the ledger of the arena in `folder`."""

    def __init__(self, folder: Path, places: ConnectionPlaces) -> None:
        self._folder = folder
        self._places = places
        self._room: TemporaryDirectory[str] | None = None
        self._making = asyncio.Lock()
        self._last: dict[str, tuple[float, Path | None]] = {}
        """By path when its file was made (monotonic seconds), and the file; None where that failed."""

    async def get(self, request: Request) -> ASGIApp:
        """`data/arena.db` and its like."""
        path = str(request.scope["path"]).removeprefix("/")
        async with self._making:
            at, file = self._last.get(path, (float("-inf"), None))
            if time.monotonic() - at > AGAIN_S:
                before, file = file, await asyncio.to_thread(self._made, path)
                self._last[path] = time.monotonic(), file
                if before is not None:
                    with contextlib.suppress(OSError):  # somebody still reads it, on a system that minds
                        before.unlink()
        if file is None:
            raise Refused(500, "this file could not be made; the log says why")
        headers = {"cache-control": "no-cache"}
        answer = FileResponse(
            *(file, 200, headers, TYPES[path]), filename=Path(path).name, stat_result=file.stat()
        )
        if unchanged(request, answer.headers["etag"]):
            return Response(None, 304, {"etag": answer.headers["etag"], **headers})
        return HeldResponse(self._places, answer, full(60))

    def _made(self, path: str) -> Path | None:
        if self._room is None:
            self._room = TemporaryDirectory(prefix="peerage-", ignore_cleanup_errors=True)
        # Under a new name: the one before may just be about to be sent to somebody.
        file = Path(self._room.name) / f"{time.monotonic_ns()}-{Path(path).name}"
        try:
            with Processes(1, polite=True) as helper:
                wrong = helper.submit(write, self._folder, path, file).result()
        except Lost as lost:
            wrong = str(lost)
        if wrong:
            _log.error("%s could not be made: %s", path, visible(wrong))
        return None if wrong else file

    def close(self) -> None:
        """Remove the files."""
        if self._room is not None:
            self._room.cleanup()
