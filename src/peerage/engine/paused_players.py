"""Players that no probe got through to: asked again while a run goes on, until they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection

FIRST_S = 5.0
"""Seconds before the first question; each next one comes after twice as long."""


async def ask_until_back(
    players: Collection[str],
    answers: Callable[[str], Awaitable[bool]],
    back: Callable[[str], None],
    longest_s: float,
) -> None:
    """Ask each of these players until it `answers`, after at most `longest_s` seconds each time; then it is
    `back`."""

    async def ask(player: str) -> None:
        wait = min(FIRST_S, longest_s)
        while True:
            await asyncio.sleep(wait)
            if await answers(player):
                return back(player)
            wait = min(2 * wait, longest_s)

    await asyncio.gather(*[ask(player) for player in players])
