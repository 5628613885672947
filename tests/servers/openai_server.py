"""A real HTTP server that speaks the OpenAI chat-completions API and misbehaves when told to.

    async with OpenAIServer() as server:
        server.next(status(429, {"Retry-After": "2"}), hang())   # the first two requests
        server.always(reply("hello"))                             # every other one
        ... ask {server.url} ...
        assert server.requests[0].body["model"] == "tiny"

Unless told otherwise it answers sensibly: a minimal instance of the asked JSON schema, else a sentence.
Runs by itself too (`python tests/servers/openai_server.py --delay 0.2`), for benchmarks in two processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Behaviour = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


def completion(
    text: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    usage: dict[str, int] | None = None,
    model: str = "tiny-2026-01-01",
) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        if usage is None
        else usage,
    }


def instance(schema: dict[str, Any]) -> Any:
    """A minimal value that a JSON schema allows (the part of it that prompts use)."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: instance(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [instance(schema["items"])] * max(1, schema.get("minItems", 1))
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "a short reason"


async def sensible(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    wanted = body.get("response_format", {}).get("json_schema", {}).get("schema")
    text = "A plain answer." if wanted is None else json.dumps(instance(wanted))
    return web.json_response(completion(text))


def reply(text: str | None, **how: Any) -> Behaviour:
    """Answer with `text`; `how` goes to `completion`."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion(text, **how))

    return behave


def body(text: str, content_type: str = "application/json", code: int = 200) -> Behaviour:
    """Answer with exactly this body."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.Response(text=text, content_type=content_type, status=code)

    return behave


def status(code: int, headers: dict[str, str] | None = None, error: Any = None) -> Behaviour:
    """Answer with an error status, in the provider's shape."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        described = error or {"message": f"status {code}", "type": "error", "param": None, "code": None}
        return web.json_response({"error": described}, status=code, headers=headers)

    return behave


def hang(seconds: float = 3600.0) -> Behaviour:
    """Accept the request and stay silent."""

    async def behave(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await sensible(request, asked)

    return behave


def drop() -> Behaviour:
    """Close the connection without a word."""

    async def behave(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return behave


def drop_mid_body(sent: int = 40) -> Behaviour:
    """Promise a whole body, send its first bytes, close."""

    async def behave(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        whole = json.dumps(completion("never arrives")).encode()
        response = web.StreamResponse(
            headers={"Content-Type": "application/json", "Content-Length": str(len(whole))}
        )
        await response.prepare(request)
        await response.write(whole[:sent])
        await asyncio.sleep(0.02)
        assert request.transport is not None
        request.transport.abort()
        return response

    return behave


def truncated_json() -> Behaviour:
    """A body that is complete for HTTP and cut off for JSON."""
    return body(json.dumps(completion("cut"))[:-30])


def empty_choices() -> Behaviour:
    return body(json.dumps({**completion("x"), "choices": []}))


def enormous(characters: int) -> Behaviour:
    return reply("x" * characters)


@dataclass
class OpenAIServer:
    """Serves on a free loopback port; `url` is what goes into `base_url`."""

    requests: list[Received] = field(default_factory=list)
    keep: bool = True
    port: int = 0
    at: str = "127.0.0.1"
    _planned: deque[Behaviour] = field(default_factory=deque)
    _usual: Behaviour = sensible
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://{self.at}:{self.port}/v1"

    def next(self, *behaviours: Behaviour) -> None:
        """What happens to the next requests, in order of arrival."""
        self._planned.extend(behaviours)

    def always(self, behaviour: Behaviour) -> None:
        """What happens to every request without a plan."""
        self._usual = behaviour

    async def __aenter__(self) -> OpenAIServer:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_get("/v1/models", self._models)
        self.route(app.router)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.at, self.port, backlog=2048)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    def route(self, router: web.UrlDispatcher) -> None:
        """Further addresses of a server that has more."""

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())
        if self.keep:
            self.requests.append(Received(request.path, dict(request.headers), asked))
        behave = self._planned.popleft() if self._planned else self._usual
        return await behave(request, asked)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        if self.keep:
            self.requests.append(Received(request.path, dict(request.headers), {}))
        if self._planned:
            return await self._planned.popleft()(request, {})
        return web.json_response({"object": "list", "data": [{"id": "tiny", "object": "model"}]})


async def _serve(delay: float, port: int, at: str) -> None:
    prepared = json.dumps(completion("word " * 400)).encode()

    async def behave(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(delay)
        if "response_format" in asked:
            return await sensible(request, asked)
        return web.Response(body=prepared, content_type="application/json")

    async with OpenAIServer(port=port, at=at, keep=False) as server:
        server.always(behave)
        print(server.url, flush=True)
        if port:  # until it is killed
            await asyncio.Event().wait()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--delay", type=float, default=0.2, help="seconds before each answer")
    arguments.add_argument("--port", type=int, default=0, help="0: a free one, until its input ends")
    arguments.add_argument("--at", default="127.0.0.1", help="the address at which it serves")
    told = arguments.parse_args()
    asyncio.run(_serve(told.delay, told.port, told.at))
