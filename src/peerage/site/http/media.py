"""Pictures and sounds, as files that never change."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from peerage.game.media import media_in
from peerage.ledger import Ledger
from peerage.site.http.connections import ConnectionPlaces, HeldResponse
from peerage.site.http.frame import Refused, full, unchanged
from peerage.site.pages.media import TYPES, body_of

_NONE = "there is no such picture or sound here"
_RANGE = re.compile(r"bytes=([0-9]{1,12})-([0-9]{0,12})", re.ASCII)


class MediaFiles:
    """Hands out the pictures and sounds of a ledger; `places` bound how many are sent at once."""

    def __init__(self, ledger: Ledger, places: ConnectionPlaces) -> None:
        self._ledger = ledger
        self._places = places

    def under(self, token: str) -> Callable[[str], str]:
        """Return the addresses of files at a private link; empty for those that are missing. Reads the ledger
        where it is asked for one."""
        held = self._ledger.media_digests
        return lambda file: f"{token}/media/{file}" if file.partition(".")[0] in held() else ""

    async def get(self, request: Request) -> ASGIApp:
        """`media/SHA256.png` and its like, for who can name it (`pages.media`)."""
        file = request.path_params["file"]
        body = await asyncio.to_thread(body_of, self._ledger, file)
        if body is None:
            raise Refused(404, _NONE)
        etag = f'"{file}"'
        headers = {
            "etag": etag,
            "cache-control": "private, max-age=31536000, immutable",
            "accept-ranges": "bytes",
        }
        if unchanged(request, etag):
            return Response(None, 304, headers)
        status, size = 200, len(body)
        if part := _RANGE.fullmatch(request.headers.get("range", "")):  # some browsers play nothing without
            first, last = int(part[1]), min(int(part[2] or size), size - 1)
            status = 206 if first <= last else 416
            headers["content-range"] = f"bytes {first}-{last}/{size}" if status == 206 else f"bytes */{size}"
            body = body[first : last + 1] if status == 206 else b""
        answer = Response(body, status, headers, TYPES[file.rpartition(".")[2]])
        return HeldResponse(self._places, answer, full(5))

    async def of(self, request: Request, texts: Iterable[str]) -> ASGIApp:
        """A picture or sound of some texts, and no other."""
        if request.path_params["file"] not in [one.file for one in media_in(texts).values()]:
            raise Refused(404, _NONE)
        return await self.get(request)
