"""A real HTTP server that speaks Anthropic's Message Batches API and lets a test say when a batch ends.

async with BatchServer() as server:
    server.ended = False              # batches stay under way
    server.left_undone.append(…)      # how requests end instead of succeeding: "expired", "errored", …
    ... ask {server.url} ...
    assert server.batches[0]          # the requests of the first batch, by custom id
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from tests.servers.openai_server import instance

PRICE = {"input": 1.0, "output": 2.0}


def message(params: dict[str, Any]) -> dict[str, Any]:
    """A message that answers one request: an instance of the asked schema, else a sentence."""
    schema = (params.get("output_config") or {}).get("format") or params.get("output_format")
    text = "A plain answer." if schema is None else json.dumps(instance(schema["schema"]))
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": params["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 500},
    }


@dataclass
class BatchServer:
    """Serves on a free loopback port; `looked` is set when somebody asks how far a batch is. `answered` are
    the custom ids of the requests that were worked through, as often as they were."""

    batches: list[dict[str, dict[str, Any]]] = field(default_factory=list)
    ended: bool = True
    left_undone: deque[str] = field(default_factory=deque)
    refuse: int = 0
    looked: asyncio.Event = field(default_factory=asyncio.Event)
    answered: list[str] = field(default_factory=list)
    calls: int = 0
    port: int = 0
    _lines: dict[int, str] = field(default_factory=dict)
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> BatchServer:
        app = web.Application(client_max_size=64 * 2**20)
        self.route(app.router)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    def route(self, router: web.UrlDispatcher) -> None:
        """The provider's addresses."""
        router.add_post("/v1/messages/batches", self._create)
        router.add_get("/v1/messages/batches/{id}", self._status)
        router.add_get("/v1/messages/batches/{id}/results", self._results)
        router.add_post("/v1/messages", self._message)

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _create(self, request: web.Request) -> web.StreamResponse:
        if self.refuse:
            return web.json_response(
                {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
                status=self.refuse,
            )
        asked = json.loads(await request.read())["requests"]
        self.batches.append({one["custom_id"]: one["params"] for one in asked})
        return web.json_response(self._told(len(self.batches) - 1))

    async def _status(self, request: web.Request) -> web.StreamResponse:
        self.looked.set()
        number = int(request.match_info["id"].removeprefix("msgbatch_"))
        if number >= len(self.batches):
            error = {"type": "not_found_error", "message": "there is no such batch"}
            return web.json_response({"type": "error", "error": error}, status=404)
        return web.json_response(self._told(number))

    async def _results(self, request: web.Request) -> web.StreamResponse:
        number = int(request.match_info["id"].removeprefix("msgbatch_"))
        if number not in self._lines:
            self._lines[number] = "".join(
                json.dumps({"custom_id": name, "result": self._result(name, params)}) + "\n"
                for name, params in self.batches[number].items()
            )
        return web.Response(text=self._lines[number], content_type="application/x-jsonl")

    async def _message(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        return web.json_response(message(json.loads(await request.read())))

    def _result(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        match self.left_undone.popleft() if self.left_undone else "succeeded":
            case "succeeded":
                self.answered.append(name)
                return {"type": "succeeded", "message": message(params)}
            case "errored":
                error = {"type": "overloaded_error", "message": "too much to do"}
                return {"type": "errored", "error": {"type": "error", "error": error, "request_id": None}}
            case undone:
                return {"type": undone}

    def _told(self, number: int) -> dict[str, Any]:
        count, place = len(self.batches[number]), f"/v1/messages/batches/msgbatch_{number}"
        return {
            "id": f"msgbatch_{number}",
            "type": "message_batch",
            "processing_status": "ended" if self.ended else "in_progress",
            "request_counts": {
                "processing": 0 if self.ended else count,
                "succeeded": count if self.ended else 0,
                "errored": 0,
                "canceled": 0,
                "expired": 0,
            },
            "created_at": "2099-01-01T00:00:00Z",
            "expires_at": "2099-01-02T00:00:00Z",
            "ended_at": "2099-01-01T00:00:01Z" if self.ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}{place}/results" if self.ended else None,
        }
