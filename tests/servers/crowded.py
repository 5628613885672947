"""A provider that turns calls away beyond a number in flight."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web
from tests.servers import openai_server

SECONDS = 0.15
"""Long beside the time that a busy machine takes for a call, which would be taken for the provider's."""


class Crowded:
    """Answers `most` calls at a time, each after a while, and turns away those beyond."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.now = self.answered = self.refused = 0
        self.seen: list[int] = []
        """How many were there as each call came."""

    async def __call__(self, request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        self.now += 1
        self.seen.append(self.now)
        try:
            if self.now > self.most:
                self.refused += 1
                return await openai_server.status(429)(request, asked)
            await asyncio.sleep(SECONDS)
            self.answered += 1
            return await openai_server.sensible(request, asked)
        finally:
            self.now -= 1
