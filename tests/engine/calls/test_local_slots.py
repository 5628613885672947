"""Calls in flight to local servers: as many as these have slots, stated or found out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.engine.arenas import house, write_arena
from tests.servers import openai_server as behave

from peerage.arena import open_arena
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.players.checks import probe_call
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.house import HouseClient
from peerage.players.keys import is_local
from peerage.players.prices import price_of
from peerage.settings import PlayerSettings


class SlottedServer:
    """An OpenAI-compatible server that works on `slots` requests at once, each for `seconds`."""

    def __init__(self, slots: int, seconds: float, states: bool) -> None:
        self.most = self.now = 0
        self._free = asyncio.Semaphore(slots)
        self._slots, self._seconds, self._states = slots, seconds, states

    async def start(self) -> str:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._answer)
        if self._states:
            app.router.add_get("/props", self._props)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def close(self) -> None:
        await self._runner.cleanup()

    async def _props(self, _: web.Request) -> web.Response:
        return web.json_response({"total_slots": self._slots})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            async with self._free:
                await asyncio.sleep(self._seconds)
                return await behave.sensible(request, await request.json())
        finally:
            self.now -= 1


@pytest.fixture
async def served() -> AsyncIterator[list[SlottedServer]]:
    servers: list[SlottedServer] = []
    yield servers
    for server in servers:
        await server.close()


@pytest.mark.parametrize(("states", "most"), [(True, 4), (False, 16)])
async def test_calls_in_flight_to_a_local_server_are_its_slots_whoever_asks(
    tmp_path: Path, served: list[SlottedServer], states: bool, most: int
) -> None:
    server = SlottedServer(4, 0.03, states)
    served.append(server)
    url = await server.start()
    local: list[dict[str, Any]] = [
        {"name": name, "model": "openai:tiny", "base_url": url, "key_env": ""} for name in ("a", "b", "c")
    ]
    write_arena(tmp_path, [*house(4), *local], engine={"concurrency": 32})
    with open_arena(tmp_path) as opened:
        report = await opened.play(12)
    assert report.decided == 12
    assert 1 < server.most <= most


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://attic.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("http://[bad", False),
        ("", False),
    ],
)
def test_local_addresses(address: str, local: bool) -> None:
    assert is_local(address) == local


async def test_the_time_that_a_call_queues_in_its_own_client_is_no_time_of_its_server() -> None:
    class Queueing(HouseClient):
        queues = True

        async def answer(self, call: Call) -> Answer:
            await asyncio.sleep(0.05)
            return self.answer_now(call)

    stated = PlayerSettings(model="house:0.5", timeout_s=0.01)
    runtime = PlayerRuntime(stated, Queueing(stated), price_of(stated, date(2026, 1, 1)))
    assert isinstance(await runtime.answer(probe_call(), lambda: False), Answer)
    Queueing.queues = False
    failure = await runtime.answer(probe_call(), lambda: False)
    assert isinstance(failure, PlayerError)
    assert failure.busy
