"""Players that misbehave on purpose, asked through the real engine."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient
from peerage.settings import PlayerSettings

Act = Callable[[Call, int], Answer | PlayerError | Any | None]
"""What a call's n-th attempt (from 0) comes to: an answer, a failure, or None for a house player's reply."""


class Scripted:
    """A house player that does as `act` says; counts attempts by request."""

    def __init__(self, settings: PlayerSettings, act: Act, seconds: Callable[[], float]) -> None:
        self._house = HouseClient(settings)
        self._act = act
        self._seconds = seconds
        self.attempts: Counter[tuple[str, str]] = Counter()
        self.started = self.closed = 0

    async def start(self) -> None:
        self.started += 1

    async def close(self) -> None:
        self.closed += 1

    async def answer(self, call: Call) -> Any:
        attempt = self.attempts[call.seed, call.key]
        self.attempts[call.seed, call.key] += 1
        done = self._act(call, attempt)
        await asyncio.sleep(self._seconds())
        if isinstance(done, BaseException):
            raise done
        return self._house.answer_now(call) if done is None else done


class Cast:
    """Opens players as `Scripted` and keeps them by name."""

    def __init__(self, act: Act, seconds: Callable[[], float] | None = None) -> None:
        self._act = act
        self._rng = random.Random(0)
        self._seconds = seconds or (lambda: self._rng.lognormvariate(0, 0.5))
        self.players: dict[str, Scripted] = {}

    def __call__(self, settings: PlayerSettings) -> Client:
        player = Scripted(settings, self._act, self._seconds)
        self.players[settings.name] = player
        return player

    @property
    def attempts(self) -> Counter[tuple[str, str]]:
        return sum((player.attempts for player in self.players.values()), Counter())


def says(text: str, **more: Any) -> Answer:
    return Answer(text, 0.1, 10, 10, **more)
