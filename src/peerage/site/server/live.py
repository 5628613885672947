"""The spectators' pages: what is in play, match by match, and the stream that keeps them up to date."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from peerage.ledger import Ledger, LedgerError
from peerage.ledger.topics.series import shown
from peerage.site.http.connections import ConnectionPlaces, HeldResponse
from peerage.site.http.frame import PageFrame, full, line
from peerage.site.rendering import PageView
from peerage.site.server.events import Feed, playing, settled
from peerage.values.clock import now_ms
from peerage.views.match.under_way import blocks, cards, out_of_hours, under_way

LIVE = "live.html"
RECENT = 12
"""Finished matches on the page of what is in play."""
FRESH_MS = 1_000
"""The time for which one reading of that page is shown, in milliseconds."""


class LiveRoutes:
    """The handlers of the spectators' pages."""

    def __init__(self, frame: PageFrame, ledger: Ledger, feed: Feed, places: ConnectionPlaces) -> None:
        self._frame = frame
        self._ledger = ledger
        self._feed = feed
        self._places = places
        # However many spectators, what is in play is read once a second.
        self._reading = asyncio.Lock()
        self._values: dict[str, object] = {}
        self._fresh_until = 0

    async def live(self, request: Request) -> Response:
        """`live.html`: the matches in flight and those that were just settled."""
        async with self._reading:
            now = now_ms()
            if now >= self._fresh_until:
                self._values = await asyncio.to_thread(self._read, now)
                self._fresh_until = now_ms() + FRESH_MS
        return await self._frame.page(LIVE, PageView("Live", LIVE, template=LIVE, values=self._values))

    def _read(self, now: int) -> dict[str, object]:
        """Return what the page of what is in play shows."""
        flight, newest = playing(self._ledger), shown(self._ledger)
        return {
            "playing": cards(self._ledger, [match.number for match in flight]),
            "under_way": len(flight),
            "recent": settled(self._ledger, max(0, newest - RECENT), newest)[::-1],
            "now": now,
            "away": out_of_hours(self._ledger, now),
        }

    async def match(self, request: Request) -> Response:
        """`live/N.html`: a match under way, as far as everybody may know; then where its page is."""
        number = int(request.path_params["number"])
        try:
            found = await asyncio.to_thread(under_way, self._ledger, number)
        except LedgerError as error:
            return line(404, str(error))
        follow = {"follow": number if found else ""}
        view = PageView(f"Match {number}", LIVE, blocks(number, found), values=follow)
        return await self._frame.page(f"live/{number}.html", view)

    async def events(self, request: Request) -> ASGIApp:
        """`events`: the stream; `Last-Event-ID` says what a spectator who comes back has seen."""
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if request.method == "HEAD":
            return Response(None, 200, headers, "text/event-stream")
        seen = request.headers.get("last-event-id", "")
        after = int(seen) if seen.isascii() and seen.isdecimal() and len(seen) < 16 else None
        stream: AsyncIterator[bytes] = self._feed.follow(after)
        return HeldResponse(
            self._places, StreamingResponse(stream, 200, headers, "text/event-stream"), full(60)
        )
