"""Notices that a match is over, for agents that remember it by themselves (`session: own`, `acp`).

A notice holds the ids of match and seat and nothing of the match. It is sent once, after the match is
decided; one that fails, comes late or is lost with a run that was killed changes nothing but what its agent
keeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.game.match import Fixture
from peerage.players.client import Remembering

NOTICE_S = 10.0
"""Seconds after which a notice is given up."""
AT_ONCE = 8
"""Notices on their way at once; each may start a program."""


class Notices:
    """The notices of one run. For the event loop's thread alone."""

    def __init__(self, runtimes: Mapping[str, PlayerRuntime]) -> None:
        self._clients = {
            player: runtime.client
            for player, runtime in runtimes.items()
            if isinstance(runtime.client, Remembering)
            and (runtime.settings.session == "own" or runtime.settings.acp)
        }
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, fixture: Fixture) -> None:
        """Send that a match is over to all its seats whose agents wait for that."""
        for seat in fixture.all_seats() if self._clients else ():
            if (client := self._clients.get(seat.player)) is not None:
                task = asyncio.ensure_future(self._send(client, fixture.seed, seat.label))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def stop(self, grace_s: float) -> None:
        """Wait so long for notices on their way, then give them up."""
        if self._tasks and grace_s > 0:
            await asyncio.wait(self._tasks, timeout=grace_s)
        self.abandon()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def abandon(self) -> None:
        """Give up on notices on their way."""
        for task in self._tasks:
            task.cancel()

    async def _send(self, client: Remembering, seed: str, seat: str) -> None:
        # Whatever an agent makes of it, the match is over.
        async with self._places:
            with suppress(Exception):
                async with asyncio.timeout(NOTICE_S):
                    await client.ended(seed, seat)
