"""A real HTTP server that answers in every provider's shape: OpenAI's, Anthropic's, Google's, an agent's."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Server:
    """Answers with `text`, or with the status and headers of `instead`.

    A body that has `refuses` in it is refused for that.
    `seen` are requests and `bodies` what came with them. `usage` is (input, output, of them thought) in
    tokens; `cut` says that the reply ended at its limit.
    """

    url: str = ""
    text: str = "Hello."
    instead: tuple[int, dict[str, str]] | None = None
    refuses: str = ""
    usage: tuple[int, int, int] = (12, 4, 0)
    cut: bool = False
    seen: list[web.BaseRequest] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        sent = await request.read()
        self.seen.append(request)
        self.bodies.append(json.loads(sent) if sent else {})
        if self.refuses and self.refuses in sent.decode():
            error = {"message": f"{self.refuses} is not supported by this model"}
            return web.json_response({"error": error}, status=400)
        if self.instead is not None:
            code, headers = self.instead
            error = {"message": self.text, "type": "x"}
            return web.json_response({"error": error}, status=code, headers=headers)
        return web.json_response(self._body(request.path))

    def _body(self, path: str) -> dict[str, Any]:
        put, out, thought = self.usage
        if path.endswith("/models"):
            return {"data": [{"id": "tiny"}]}
        if path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": self.text}
            finish = "length" if self.cut else "stop"
            return {
                "id": "c", "object": "chat.completion", "created": 1, "model": "m", "provider": "p",
                "choices": [
                    {
                        "index": 0, "message": message,
                        "finish_reason": finish, "native_finish_reason": finish,
                    }
                ],
                "usage": {
                    "prompt_tokens": put, "completion_tokens": out, "total_tokens": put + out,
                    "completion_tokens_details": {"reasoning_tokens": thought},
                },
            }  # fmt: skip
        if path.endswith("/messages"):
            return {
                "id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": self.text}],
                "stop_reason": "max_tokens" if self.cut else "end_turn", "stop_sequence": None,
                "usage": {
                    "input_tokens": put, "output_tokens": out,
                    "output_tokens_details": {"thinking_tokens": thought},
                },
            }  # fmt: skip
        if "generateContent" in path:
            content = {"role": "model", "parts": [{"text": self.text}]}
            return {
                "candidates": [{"content": content, "finishReason": "MAX_TOKENS" if self.cut else "STOP"}],
                "usageMetadata": {
                    "promptTokenCount": put, "candidatesTokenCount": out - thought,
                    "thoughtsTokenCount": thought, "totalTokenCount": put + out,
                },
                "modelVersion": "m", "responseId": "r",
            }  # fmt: skip
        return {"text": self.text}


async def serve(server: Server) -> web.AppRunner:
    """Serve on a free loopback port, which goes into `server.url`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    return runner
