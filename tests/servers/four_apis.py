"""A provider that serves the four APIs of agents' models, streamed and whole, and misbehaves when told to.

async with FourApis() as provider:
    provider.next(failing(429))          # the next request; every other one is answered sensibly
    ... ask {provider.url} ...
    assert provider.requests[0].body["model"] == "tiny"
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from aiohttp import web

SERVED = "tiny-2026-01-01"
USAGES: dict[str, dict[str, Any]] = {
    "chat": {"prompt_tokens": 1000, "completion_tokens": 70, "prompt_tokens_details": {"cached_tokens": 600}},
    "responses": {
        "input_tokens": 1000,
        "output_tokens": 70,
        "input_tokens_details": {"cached_tokens": 600},
        "output_tokens_details": {"reasoning_tokens": 20},
        "total_tokens": 1070,
    },
    "messages": {"input_tokens": 400, "cache_read_input_tokens": 600, "output_tokens": 70},
    "gemini": {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 600,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 1070,
    },
}
"""The same count in the words of each API: 1,000 tokens in, 600 of them cached, 70 out."""


class Asked(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    query: str


Behaviour = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


def form_of(request: web.Request) -> str:
    """The API that a request speaks."""
    ends = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
    return next((form for end, form in ends.items() if request.path.endswith(end)), "gemini")


def whole(form: str, usage: Any, reason: str = "") -> dict[str, Any]:
    """A reply, with `usage` where one is stated."""
    stated = {} if usage is None else {"usage": usage}
    match form:
        case "chat":
            choice = {"index": 0, "message": {"role": "assistant", "content": "Hi."}}
            head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": SERVED}
            return {**head, "choices": [choice | {"finish_reason": reason or "stop"}], **stated}
        case "responses":
            text = {"type": "output_text", "text": "Hi.", "annotations": []}
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
            return {
                "id": "resp_1",
                "object": "response",
                "model": SERVED,
                "status": reason or "completed",
                "error": None,
                "output": [item],
                **stated,
            }
        case "messages":
            content = [{"type": "text", "text": "Hi."}]
            head = {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "model": SERVED,
                "content": content,
            }
            return {**head, "stop_reason": reason or "end_turn", **stated}
    parts = {"role": "model", "parts": [{"text": "Hi."}]}
    counts = {} if usage is None else {"usageMetadata": usage}
    candidate = {"content": parts, "finishReason": reason or "STOP"}
    return {"candidates": [candidate], "modelVersion": SERVED, **counts}


def events(form: str, usage: Any) -> list[bytes]:
    """The same reply as a stream of events."""
    made: list[tuple[str, Any]]
    begun: Any
    named: dict[str, dict[str, Any]]
    stated = {} if usage is None else {"usage": usage}
    match form:
        case "chat":
            parts: list[dict[str, Any]] = [
                {"delta": {"content": text}, "finish_reason": None} for text in ("H", "i.")
            ]
            parts += [{"delta": {}, "finish_reason": "stop"}]
            head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": SERVED}
            made = [("", {**head, "choices": [{"index": 0, **part}], "usage": None}) for part in parts]
            made += [("", {**head, "choices": [], **stated})] if usage is not None else []
        case "responses":
            end = whole(form, usage)
            begun = end | {"status": "in_progress", "usage": None, "output": []}
            named = {
                "response.created": {"response": begun},
                "response.output_item.added": {"output_index": 0, "item": end["output"][0] | {"content": []}},
                "response.output_text.delta": {"item_id": "msg_1", "delta": "Hi."},
                "response.output_item.done": {"output_index": 0, "item": end["output"][0]},
                "response.completed": {"response": end},
            }
            made = [(kind, {"type": kind, **data}) for kind, data in named.items()]
        case "messages":
            start = {} if usage is None else {"usage": usage | {"output_tokens": 1}}
            begun = whole(form, None) | {"content": [], "stop_reason": None, **start}
            end = {} if usage is None else {"usage": {"output_tokens": usage["output_tokens"]}}
            named = {
                "message_start": {"message": begun},
                "content_block_start": {"index": 0, "content_block": {"type": "text", "text": ""}},
                "content_block_delta": {"index": 0, "delta": {"type": "text_delta", "text": "Hi."}},
                "content_block_stop": {"index": 0},
                "message_delta": {"delta": {"stop_reason": "end_turn"}, **end},
                "message_stop": {},
            }
            made = [(kind, {"type": kind, **data}) for kind, data in named.items()]
        case _:
            last = whole(form, usage)
            first = {**last, "candidates": [{"content": {"parts": [{"text": "H"}]}}]}
            made = [("", first), ("", last)]
    lines = [f"event: {kind}\n" * bool(kind) + f"data: {json.dumps(data)}\n\n" for kind, data in made]
    return [*[line.encode() for line in lines], *([b"data: [DONE]\n\n"] if form == "chat" else [])]


def is_streamed(request: web.Request, body: dict[str, Any]) -> bool:
    return body.get("stream") is True or request.query.get("alt") == "sse"


def sensible(usage: Any = "own", reason: str = "", wait: float = 0.0) -> Behaviour:
    """Answer as asked, whole or streamed, with the usual usage of its API unless another is stated."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        form = form_of(request)
        counts = USAGES[form] if usage == "own" else usage
        if not is_streamed(request, body):
            await asyncio.sleep(wait)
            return web.json_response(whole(form, counts, reason))
        return await stream(*events(form, counts), wait=wait)(request, body)

    return behave


def stream(*parts: bytes, wait: float = 0.0, breaks: bool = False) -> Behaviour:
    """Send these parts as a stream of events, which `breaks` off where it should end."""

    async def behave(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for part in parts:
            await response.write(part)
            await asyncio.sleep(wait)
        if breaks:
            assert request.transport is not None
            request.transport.abort()
        else:
            await response.write_eof()
        return response

    return behave


def sends(content: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Behaviour:
    """Send exactly these bytes."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=content, status=status, content_type=kind, headers=named)

    return behave


class FourApis:
    """Serves on a free port of loopback; `url` is what goes into `base_url` (with `/v1`), `root` without."""

    def __init__(self) -> None:
        self.requests: list[Asked] = []
        self.broken_off = 0
        self.usual = sensible()
        self._planned: deque[Behaviour] = deque()
        self._runner: web.AppRunner | None = None
        self.root = ""

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def next(self, *behaviours: Behaviour) -> None:
        """Say what happens to the next requests."""
        self._planned.extend(behaviours)

    async def __aenter__(self) -> FourApis:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{tail:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=512).start()
        self.root = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read() or b"{}")
        self.requests.append(Asked(request.path, dict(request.headers), body, request.query_string))
        behave = self._planned.popleft() if self._planned else self.usual
        try:
            return await behave(request, body)
        except (asyncio.CancelledError, ConnectionError):
            self.broken_off += 1
            raise
