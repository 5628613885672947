"""Servers with vLLM's sleep mode (`/sleep`, `/wake_up`, `/is_sleeping`), which share one GPU.

As of vLLM's development mode: sleeping takes a while, a model that sleeps answers nobody, and one that is put
to sleep twice is an error of its engine.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from aiohttp import web
from tests.servers.openai_server import OpenAIServer


@dataclass
class Gpu:
    """What happened on it, in order, as (server, event), and who was awake at each call."""

    events: list[tuple[str, str]] = field(default_factory=list)
    awake: set[str] = field(default_factory=set)
    at_calls: list[frozenset[str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass
class VllmServer(OpenAIServer):
    """One model, awake when it is started, as `vllm serve` is; to sleep and to wake takes `takes_s`."""

    name: str = ""
    gpu: Gpu = field(default_factory=Gpu)
    takes_s: float = 0.05

    async def __aenter__(self) -> VllmServer:
        self.gpu.awake.add(self.name)
        await super().__aenter__()
        return self

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/sleep", self._sleep)
        router.add_post("/wake_up", self._wake)
        router.add_get("/is_sleeping", self._told)

    async def _sleep(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("level") != "1" or self.name not in self.gpu.awake:
            self.gpu.faults.append(f"{self.name} was to sleep again")
        await asyncio.sleep(self.takes_s)
        self.gpu.awake.discard(self.name)
        self.gpu.events.append((self.name, "sleeps"))
        return web.Response(status=200)

    async def _wake(self, _: web.Request) -> web.StreamResponse:
        if self.name in self.gpu.awake:
            self.gpu.faults.append(f"{self.name} was woken while awake")
        await asyncio.sleep(self.takes_s)
        self.gpu.awake.add(self.name)
        self.gpu.events.append((self.name, "wakes"))
        return web.Response(status=200)

    async def _told(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"is_sleeping": self.name not in self.gpu.awake})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.gpu.at_calls.append(frozenset(self.gpu.awake))
        if self.name not in self.gpu.awake:
            self.gpu.faults.append(f"{self.name} was asked in its sleep")
            return web.Response(status=503)
        return await super()._answer(request)
