"""Replies that a local server writes at once, as it states itself."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import aiohttp

from peerage.players.client import PlayerError
from peerage.players.session import open_session, read_bounded

MOST = 4_096
TIMEOUT_S = 2.0


async def stated_slots(address: str) -> int | None:
    """Return the slots that a llama.cpp server states at `/props` (`total_slots`); None of any other, such as
    Ollama, whose OLLAMA_NUM_PARALLEL no request tells. Costs nothing."""
    url, body = address.rstrip("/").removesuffix("/v1") + "/props", b""
    with suppress(aiohttp.ClientError, OSError, PlayerError, ValueError):
        async with asyncio.timeout(TIMEOUT_S), open_session(url) as session, session.get(url) as response:
            body = await read_bounded(response)
    with suppress(ValueError, RecursionError):
        found = json.loads(body)
        slots = found.get("total_slots") if isinstance(found, dict) else None
        if type(slots) is int and 0 < slots <= MOST:
            return slots
    return None
