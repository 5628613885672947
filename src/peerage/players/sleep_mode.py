"""vLLM's sleep mode: models that do not fit a machine's memory together sleep and wake in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Set

from peerage.players.client import PlayerError

SLEEP_MODE = "does vLLM run with --enable-sleep-mode and VLLM_SERVER_DEV_MODE=1?"
ANSWER_S = 10.0


async def let_sleep(servers: Set[str], wanted: Set[str], within_s: float) -> None:
    """Put all `servers` but the `wanted` to sleep, where they do not yet, then wake those that are wanted.

    A server is scheme, host and port; each step takes at most `within_s` seconds. Raises PlayerError.
    """
    ordered = sorted(servers)
    sleeping = dict(zip(ordered, await asyncio.gather(*map(_sleeps, ordered)), strict=True))
    for path, there in (
        ("sleep?level=1", [one for one in ordered if one not in wanted and not sleeping[one]]),
        ("wake_up", [one for one in ordered if one in wanted and sleeping[one]]),
    ):
        await asyncio.gather(*[_post(f"{one}/{path}", within_s) for one in there])


async def asked(method: str, address: str, within_s: float = ANSWER_S) -> tuple[int, bytes]:
    """The status with which an address answers, 0 where it does not, and the beginning of what it says."""
    import aiohttp

    limit = aiohttp.ClientTimeout(total=within_s)
    try:
        async with aiohttp.ClientSession(timeout=limit) as session, session.request(method, address) as came:
            return came.status, await came.content.read(1000)
    except (aiohttp.ClientError, TimeoutError, OSError):
        return 0, b""


async def _sleeps(server: str) -> bool:
    status, body = await asked("GET", f"{server}/is_sleeping")
    if status != 200:
        raise PlayerError(f"{server}/is_sleeping does not answer; {SLEEP_MODE}")
    return b"true" in body


async def _post(address: str, within_s: float) -> None:
    status, _ = await asked("POST", address, within_s)
    if status not in range(200, 300):
        raise PlayerError(f"{address} does not answer; {SLEEP_MODE}")
