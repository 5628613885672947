"""Real agents over ACP for tests: `acp_agent.py` as a process, behind it an imitated provider over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from peerage.game.protocol import Speaker, Text
from peerage.players.agents.acp import AcpClient
from peerage.players.client import Answer, Call
from peerage.players.prices import price_of
from peerage.sandbox.folder import WorkFolder
from peerage.settings import PlayerSettings

KEY = "sk-provider-0123456789abcdef"
AGENT = Path(__file__).with_name("acp_agent.py")
ENV = {"URL": "{url}", "KEY": "{key}", "MODEL": "{model}"}
PRICE = {"input": 1, "output": 2}
TOKENS_IN, TOKENS_OUT = 100, 20
COST = (TOKENS_IN * 1 + TOKENS_OUT * 2) / 1e6


class HttpServer:
    """A server on a free port of loopback, in a thread of its own."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Provider(HttpServer):
    """A provider that answers chat completions with `reply(prompt)` after `delay_s`, and keeps a book."""

    def __init__(self, reply: Callable[[str], str] = lambda prompt: "from the model") -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.delay_s, self.fails = 0.0, False
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if "messages" not in body:
                    self.send_error(400, "no model")
                    return
                provider.requests.append((dict(self.headers), body))
                if provider.fails:
                    self.send_error(503)
                    return
                time.sleep(provider.delay_s)
                message = {"role": "assistant", "content": reply(body["messages"][-1]["content"])}
                answer = {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "tiny-2026",
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT},
                }
                content = json.dumps(answer).encode()
                with suppress(OSError):
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def do_GET(self) -> None:
                self.wfile.write(b'HTTP/1.0 200 OK\r\n\r\n{"data": [{"id": "tiny"}]}')

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)


def stated(url: str, *options: str, **more: Any) -> dict[str, Any]:
    """The settings of a player with the agent and a model behind it; `options` are the agent's."""
    model = {"model": "openai:tiny", "base_url": url, "key_env": "PROVIDER_KEY", "price": PRICE, "env": ENV}
    return {"acp": [sys.executable, "agent.py", *options], "name": "agent", **model, **more}


def client(folder: Path, settings: dict[str, Any], **env: str) -> AcpClient:
    """The client of such a player in an arena's folder."""
    shutil.copy(AGENT, folder / "agent.py")
    player = PlayerSettings.model_validate(settings)
    variables = {"PATH": os.environ["PATH"], "PROVIDER_KEY": KEY, **env}
    return AcpClient(player, variables, folder, price=price_of(player, date(2026, 11, 29)))


def call(
    *lines: str,
    match: str = "match",
    seat: str = "A",
    before: Sequence[tuple[Speaker, str]] = (),
    folder: WorkFolder | None = None,
    **more: Any,
) -> Call:
    """A request whose text is these lines, after the turns `before`."""
    whole: dict[str, Any] = {
        "key": "answer",
        "role": "contestant",
        "expects": Text(),
        "max_tokens": 300,
        "temperature": None,
        "messages": (*before, ("user", "\n".join(lines))),
        "seed": match,
        "seat": seat,
        "folder": folder,
    }
    return Call(**whole | more)


def steps(answer: Answer, kind: str) -> list[tuple[str, str, str]]:
    """Title, detail and status of the steps of a kind."""
    assert answer.trace is not None
    return [(step.title, step.detail, step.status) for step in answer.trace.steps if step.kind == kind]


def running(mark: str) -> Iterator[int]:
    """The processes whose command holds a text."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in file.read_bytes() and int(file.parent.name) != os.getpid():
                yield int(file.parent.name)
