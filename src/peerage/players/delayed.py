"""House players whose latency is waited for: for simulation in virtual time, and for a demo one can watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from peerage.players.client import Answer, Call, InstantClient


class PacedClient:
    """Gives the answers of an instant client, each after `seconds(call, answer)`; implements `Client`.

    What is on record does not change with the pace: an answer's own latency stays as it was drawn.
    """

    def __init__(
        self,
        client: InstantClient,
        seconds: Callable[[Call, Answer], float] = lambda _, answer: answer.latency_s,
    ) -> None:
        self._client = client
        self._seconds = seconds

    async def start(self) -> None:
        """Nothing to get ready."""

    async def answer(self, call: Call) -> Answer:
        """The instant client's answer, later. Its PlayerError comes at once."""
        answer = self._client.answer_now(call)
        await asyncio.sleep(self._seconds(call, answer))
        return answer

    async def close(self) -> None:
        """Nothing to release."""
