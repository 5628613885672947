"""Players that the leader itself asks for workers: those on hosts, which it starts and stops, and people,
who sit at its machine. So each call's share of the hour, and waiting, are as on one machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

from msgspec.structs import replace

from peerage.cluster.messages import AskLeader, LeaderSaid, News
from peerage.game.house import usual
from peerage.players.client import Answer, Call, Client, PlayerError


class ByLeader:
    """The leader's answers to the calls of one worker; `tell` sends one to the leader."""

    def __init__(self, tell: Callable[[News], None]) -> None:
        self._tell = tell
        self._tickets = count(1)
        self._asked: dict[int, asyncio.Future[Answer]] = {}

    def client(self, player: str, *, is_house: bool) -> Client:
        """The client of such a player. House players reply by what others must not be shown."""
        return _ByLeader(self, player, is_house)

    async def ask(self, player: str, call: Call) -> Answer:
        """Raises PlayerError."""
        ticket = next(self._tickets)
        self._asked[ticket] = asyncio.get_running_loop().create_future()
        try:
            self._tell(AskLeader(ticket, player, call))
            return await self._asked[ticket]
        finally:
            del self._asked[ticket]

    def answered(self, ticket: int, came: Answer | PlayerError) -> None:
        """Take in the outcome of a call, if somebody still waits for it."""
        waits = self._asked.get(ticket)
        if waits is None or waits.done():
            return
        if isinstance(came, PlayerError):
            waits.set_exception(came)
        else:
            waits.set_result(came)


class _ByLeader:
    """The client of one player; implements `Client`."""

    def __init__(self, leader: ByLeader, player: str, is_house: bool) -> None:
        self._leader = leader
        self._player = player
        self._is_house = is_house

    async def start(self) -> None:
        """The leader does."""

    async def answer(self, call: Call) -> Answer:
        plain = call if self._is_house else replace(call, oracle=None, house=usual)
        return await self._leader.ask(self._player, plain)

    async def close(self) -> None:
        """The leader does."""


async def asked(client: Client, asks: AskLeader) -> LeaderSaid:
    """Return the leader's reply to a worker's call. Raises errors that are no player's fault."""
    try:
        return LeaderSaid(asks.ticket, await client.answer(asks.call))
    except PlayerError as error:
        return LeaderSaid(asks.ticket, error)
