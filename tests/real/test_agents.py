"""Coding agents of other makers, from the npm registry, over ACP; the model behind them is imitated."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.players.agents.acp_world import KEY, PRICE, HttpServer, call, client, running, steps

from peerage.arena import open_arena
from peerage.sandbox.folder import WorkFolder, read_patch
from peerage.standings.verify import verify

pytestmark = pytest.mark.real

AGENTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "peerage-tests" / "agents"
COMMAND = "echo made by the agent > hello.txt"
TOKENS = (1_000, 50)
"""Tokens in and out that the model states for every call."""


class RealAgent(NamedTuple):
    """An agent: its package as `make real` pins it, the words that start it, the model behind it, and the
    seconds that it may need."""

    package: str
    words: tuple[str, ...]
    model: str = "openai:tiny-1"
    seconds: float = 120.0


REAL = {
    "codex": RealAgent("@zed-industries/codex-acp@0.16.0", ("node_modules/.bin/codex-acp",)),
    "opencode": RealAgent("opencode-ai@1.18.33", ("node_modules/.bin/opencode", "acp")),
    "qwen": RealAgent("@qwen-code/qwen-code@0.15.10", ("node_modules/.bin/qwen", "--acp")),
    "gemini": RealAgent(
        "@google/gemini-cli@0.61.0", ("node_modules/.bin/gemini", "--acp"), "google:gemini-2.5-flash"
    ),
    "claude": RealAgent(
        "@zed-industries/claude-agent-acp@0.23.1",
        ("node_modules/.bin/claude-agent-acp",),
        "anthropic:claude-haiku-4-5",
    ),
}


def installed(name: str) -> RealAgent:
    """Return an agent, fetched once."""
    chosen = REAL[name]
    if not (AGENTS / chosen.words[0]).exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        AGENTS.mkdir(parents=True, exist_ok=True)
        if not (AGENTS / "package.json").exists():  # an empty one would let npm remove the others
            (AGENTS / "package.json").write_text("{}")
        words = ["npm", "install", "--no-audit", "--no-fund", "--save-exact", chosen.package]
        subprocess.run(words, cwd=AGENTS, check=True, capture_output=True, timeout=600)
    return chosen


def player(name: str, url: str) -> dict[str, Any]:
    """The settings of an agent whose model is at an address."""
    chosen = installed(name)
    return {
        "acp": [str(AGENTS / chosen.words[0]), *chosen.words[1:]],
        "name": name,
        "model": chosen.model,
        "base_url": url if chosen.model.startswith("openai:") else url.removesuffix("/v1"),
        "key_env": "PROVIDER_KEY",
        "price": PRICE,
        "timeout_s": chosen.seconds,
    }


class Model(HttpServer):
    """A model that runs `COMMAND` by the first tool that runs commands, and then says so."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.bodies.append(body)
                form = self.path.partition("?")[0].rpartition("/")[2]
                events = {"completions": _chat, "responses": _responses, "messages": _messages}.get(
                    form, _gemini
                )(body)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for event in events:
                    kind = f"event: {event['type']}\n" if "type" in event else ""
                    self.wfile.write(f"{kind}data: {json.dumps(event)}\n\n".encode())
                if form == "completions":
                    self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)


def _tool(tools: list[dict[str, Any]]) -> tuple[str, str] | None:
    """The name of a tool that runs commands, and its arguments as JSON."""
    for tool in tools:
        named = tool.get("function", tool)
        schema = named.get("parameters") or {}
        known = schema.get("properties", {})
        for key in ("command", "cmd"):
            if key in known:
                shell = ["sh", "-c", COMMAND] if known[key].get("type") == "array" else COMMAND
                filled = {name: "." for name in schema.get("required", ()) if name != key}
                return named["name"], json.dumps({**filled, key: shell})
    return None


def _chat(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1"}
    tool = _tool(body.get("tools") or [])
    used = any(message["role"] == "tool" for message in body["messages"])
    delta: dict[str, Any] = {"role": "assistant", "content": "The file is there."}
    if tool and not used:
        named = {"name": tool[0], "arguments": tool[1]}
        delta = {
            "role": "assistant",
            "tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": named}],
        }
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if tool and not used else "stop"
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)}
    yield {**head, "choices": [], "usage": usage}


def _responses(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    tool = _tool(body.get("tools") or [])
    used = any(item.get("type") == "function_call_output" for item in body["input"])
    item: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "The file is there.", "annotations": []}],
    }
    if tool and not used:
        item = {"id": "f1", "type": "function_call", "call_id": "t1", "name": tool[0], "arguments": tool[1]}
    head = {"id": "r", "object": "response", "created_at": 1, "model": "tiny-1", "error": None}
    yield {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    if "content" in item:
        text = {"item_id": "m1", "output_index": 0, "content_index": 0, "delta": item["content"][0]["text"]}
        yield {"type": "response.output_text.delta", **text}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": TOKENS[0], "output_tokens": TOKENS[1], "total_tokens": sum(TOKENS)}
    done = {**head, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": done}


def _messages(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    named = [{**tool, "parameters": tool.get("input_schema")} for tool in body.get("tools") or []]
    contents = [message["content"] for message in body["messages"]]
    used = any(
        part.get("type") == "tool_result" for parts in contents if isinstance(parts, list) for part in parts
    )
    tool = None if used else _tool(named)
    usage = {"input_tokens": TOKENS[0], "output_tokens": 1}
    head = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "tiny-1",
        "content": [],
        "usage": usage,
    }
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "The file is there."}
    if tool:
        block = {"type": "tool_use", "id": "t1", "name": tool[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": tool[1]}
    yield {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": TOKENS[1]}}
    yield {"type": "message_stop"}


def _gemini(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stated = [each for tools in body.get("tools", ()) for each in tools.get("functionDeclarations", ())]
    named = [
        {**each, "parameters": each.get("parametersJsonSchema", each.get("parameters"))} for each in stated
    ]
    used = any("functionResponse" in part for each in body["contents"] for part in each.get("parts", ()))
    part: dict[str, Any] = {"text": "The file is there."}
    if not used and (tool := _tool(named)):
        part = {"functionCall": {"name": tool[0], "args": json.loads(tool[1])}}
    counts = {
        "promptTokenCount": TOKENS[0],
        "candidatesTokenCount": TOKENS[1],
        "totalTokenCount": sum(TOKENS),
    }
    content = {"role": "model", "parts": [part]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "tiny-1"}


@pytest.mark.parametrize("name", REAL)
def test_an_agent_works_in_a_folder_and_is_metered(name: str, tmp_path: Path) -> None:
    model = Model()
    stated = player(name, model.url)

    async def work(**more: Any) -> Any:
        asked = client(tmp_path, stated | more)
        try:
            await asked.start()
            return await asked.answer(call("Write hello.txt.", folder=WorkFolder.of({"a.txt": "a\n"})))
        finally:
            await asked.close()

    try:
        answer = asyncio.run(work())
        patch = read_patch(answer.text)
        assert patch["hello.txt"] is not None
        assert patch["hello.txt"].text == "made by the agent\n"
        assert patch.keys() == {"hello.txt"}
        calls = [made for made in answer.trace.calls if not made.refused]
        assert len(calls) == len(model.bodies) >= 2
        assert (answer.input_tokens, answer.output_tokens) == tuple(len(calls) * each for each in TOKENS)
        assert answer.cost_usd == pytest.approx(len(calls) * (TOKENS[0] * 1 + TOKENS[1] * 2) / 1e6)
        assert any("allow" in status for _, _, status in steps(answer, "permission"))

        refusing = asyncio.run(work(allow=["read"]))
        assert read_patch(refusing.text) == {}
        assert any("refused" in status for _, _, status in steps(refusing, "permission"))
    finally:
        model.close()
    assert [*running(str(AGENTS))] == []


def test_two_agents_play_a_workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_KEY", KEY)
    model = Model()
    task = {
        "statement": "Write hello.txt, which says `made by the agent`.",
        "files": {"a.txt": "a"},
        "tests": {"check.sh": "grep -qx 'made by the agent' hello.txt"},
        "command": "sh check.sh",
    }
    said = {
        "players": [player(name, model.url) for name in ("codex", "opencode")],
        "game": "workshop",
        "rules": {"tasks": [task], "judge": False},
        "budget": 5,
        "engine": {"probe": False},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(said), "utf-8")
    try:
        with open_arena(tmp_path) as arena:
            report = arena.run(1)
            assert report.decided == 1, report
            calls = len(model.bodies)
            assert report.billed_nano == calls * (TOKENS[0] * 1 + TOKENS[1] * 2) * 1_000
            assert [*arena.match(1).scores.values()] == [0.5, 0.5]
            assert not verify(arena.ledger).problems
    finally:
        model.close()
    assert KEY.encode() not in b"".join([file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()])
