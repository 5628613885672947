"""A provider with one quirk, and an arena that plays with it.

    with quirky({"choice": {"finish_reason": "error"}}) as url: ...
    played = play({"choice": {"finish_reason": "error"}}, tmp_path)
    assert played.player["losses"] == 0

A spec changes what is otherwise a plausible chat completion: `choice` is merged into its choice, `reply`
into the whole (lists replace, null stays null, `$TEXT` in a string stands for the plausible text), `raw` is
the whole body instead, `body` the same as text, with `headers` and `status`. `when` limits the quirk to
requests whose body `has` a key, or that have a message of a `role`. Of a list of specs the first counts whose
`when` holds.
"""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.calls import pauses

Spec = Mapping[str, Any]

QUICK = Path(__file__).with_name("quick.py")

ARENA = """
name: case
players:
  - house:0.8
  - house:0.5
  - {{model: "{model}", base_url: "{url}", name: Q, price: {{input: 1, output: 2}}, timeout_s: 10{stated}}}
tasks: {{tasks: ["Explain in one sentence why a bicycle stays upright."], samples: fresh}}
judging: {{judges: 1}}
engine: {{retries: 1}}
budget: 1.0
"""


def plausible(body: Mapping[str, Any]) -> str:
    """The text of a plausible reply: an instance of the asked schema, a vote, or a sentence."""
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if schema:
        return json.dumps(_instance(schema))
    asked = " ".join(str(message["content"]) for message in body.get("messages", ()))
    if '"verdict"' in asked:
        return '{"reason": "clearer", "verdict": "A"}'
    return f"Steering keeps the wheels under the rider's weight, says {body.get('model', 'it')}."


def _instance(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _instance(schema["anyOf"][0])
    match schema.get("type"):
        case "object":
            return {name: _instance(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [_instance(schema["items"])] * max(1, schema.get("minItems", 1))
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case _:
            return "A plausible sentence about bicycles and balance."


def _merged(usual: Any, change: Any, text: str) -> Any:
    if isinstance(usual, dict) and isinstance(change, dict):
        both = {**usual, **change}
        return {
            name: _merged(usual.get(name), change[name], text) if name in change else usual[name]
            for name in both
        }
    if isinstance(change, str):
        return change.replace("$TEXT", text)
    if isinstance(change, list):
        return [_merged({}, part, text) for part in change]
    return change


def completion(spec: Spec, body: Mapping[str, Any]) -> Any:
    """The chat completion that a spec makes of the plausible one."""
    text = plausible(body)
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    whole = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [_merged(choice, spec.get("choice", {}), text)],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    return spec["raw"] if "raw" in spec else _merged(whole, spec.get("reply", {}), text)


def applies(spec: Spec, body: Mapping[str, Any]) -> bool:
    """Whether a request meets the `when` of a spec."""
    when = spec.get("when", {})
    roles = {message["role"] for message in body.get("messages", ())}
    return ("has" not in when or when["has"] in body) and ("role" not in when or when["role"] in roles)


@dataclass
class Quirky:
    """One running server: its address, and the bodies that it was sent."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def quirky(spec: Spec | Sequence[Spec]) -> Iterator[Quirky]:
    """Serve on a free loopback port, in a thread, until the end of the block."""
    specs = [spec] if isinstance(spec, Mapping) else list(spec)
    running = Quirky()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _send(self, text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
            data = text.encode()
            self.send_response(status)
            stated = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}
            for name, value in stated.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._send(json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            running.bodies.append(body)
            chosen: Spec = next((spec for spec in specs if applies(spec, body)), {})
            text = chosen["body"] if "body" in chosen else json.dumps(completion(chosen, body))
            self._send(text, chosen.get("status", 200), chosen.get("headers"))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    running.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Played:
    """A run against a quirky server: its output and exit code, the row of the player Q in `stats`, the
    bodies that the server was sent, and what a further command printed."""

    printed: str
    code: int
    player: dict[str, Any]
    bodies: list[dict[str, Any]]
    shown: str = ""


def play(
    spec: Spec | Sequence[Spec],
    folder: Path,
    *,
    model: str = "openai:m",
    matches: int = 6,
    stated: str = "",
    env: Mapping[str, str] | None = None,
    shows: Sequence[str] = (),
) -> Played:
    """Play duels with one quirky player Q, as a user would; `stated` are further settings of Q, as YAML;
    `shows` is a command to be run afterwards."""
    with quirky(spec) as server:
        (folder / "arena.yaml").write_text(
            ARENA.format(model=model, url=server.url, stated=f", {stated}" if stated else ""), "utf-8"
        )
        run = peerage(folder, ["run", "--matches", str(matches), "--yes"], env)
        stats = json.loads(peerage(folder, ["stats", "--format", "json"], env).stdout)
        shown = peerage(folder, shows, env).stdout if shows else ""
    rows = {row["player"]: row for row in stats["players"]}
    return Played(run.stdout + run.stderr, run.returncode, rows.get("Q", {}), server.bodies, shown)


def peerage(
    folder: Path, arguments: Sequence[str], env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in an arena's folder, in this process; a run hardly waits before it tries a call again.
    Warnings are on its standard error, where Python writes them in a process that sets up no logging."""
    logged, log = io.StringIO(), logging.getLogger("peerage")
    handler = logging.StreamHandler(logged)
    log.addHandler(handler)
    try:
        with chdir(folder), patch.dict(os.environ, env or {}), patch.object(pauses, "BACKOFF_S", 0.01):
            done = CliRunner().invoke(app, [*arguments])
    finally:
        log.removeHandler(handler)
    return subprocess.CompletedProcess(
        [*arguments], done.exit_code, done.stdout, done.stderr + logged.getvalue()
    )
