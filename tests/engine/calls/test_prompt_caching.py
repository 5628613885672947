"""Judges' prompts begin alike, so that a provider's cache holds most of what they read, at its own price."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from aiohttp import web
from tests.engine.arenas import ledger_of

from peerage.arena import open_arena
from peerage.engine.run.probes import needs_probe
from peerage.ledger.forms.codec import read_reply
from peerage.players import open_client
from peerage.players.client import Client
from peerage.players.house import HouseClient
from peerage.settings import PlayerSettings

LEAST, STEP = 1024, 128
"""Tokens of the shortest beginning that is cached, and by how many it grows, as OpenAI caches."""
CHARS = 4
INPUT, OUTPUT, CACHED = 2.0, 8.0, 0.5


class CachingServer:
    """Speaks chat completions and caches the beginnings of prompts, from 1,024 tokens on in steps of 128."""

    def __init__(self) -> None:
        self.url = ""
        self.read: Counter[str] = Counter()
        self._known: set[str] = set()

    async def completions(self, request: web.Request) -> web.Response:
        body = await request.json()
        text = "".join([f"{one['role']}\n{one['content']}\n" for one in body["messages"]])
        tokens = len(text) // CHARS
        beginnings = [text[: CHARS * size] for size in range(LEAST, tokens + 1, STEP)]
        cached = max([len(one) // CHARS for one in beginnings if one in self._known], default=0)
        self._known.update(beginnings)
        self.read.update(all=tokens, cached=cached, requests=1)
        usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
        usage |= {"prompt_tokens_details": {"cached_tokens": cached}}
        verdict = json.dumps({"reason": "Only it says why.", "correct": "A", "tone": "A", "verdict": "A"})
        choice = {"index": 0, "message": {"role": "assistant", "content": verdict}, "finish_reason": "stop"}
        return web.json_response(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
        )


@pytest.fixture
async def server() -> Any:
    found = CachingServer()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", found.completions)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield found
    await runner.cleanup()


def words(seed: str, count: int) -> str:
    rng = Random(seed)
    return " ".join("".join(rng.choices("abcdefghij", k=6)) for _ in range(count))


@pytest.mark.parametrize("long", ["rubric", "task", "prompt"])
async def test_most_of_what_judges_read_is_cached_and_costs_what_a_cache_costs(
    tmp_path: Path, server: CachingServer, long: str
) -> None:
    rubric = words("rubric", 900 if long != "task" else 40)
    tasks = [
        {"id": f"t{at}", "prompt": f"Task {at}: {words(f't{at}', 900 if long == 'task' else 60)}"}
        for at in range(20)
    ]
    judging: dict[str, Any] = {"rubric": rubric, "criteria": ["correct", "tone"]}
    if long == "prompt":
        judging["prompt"] = (
            "{{rubric}}\n{{criteria}}\n{{format}}\n{{prompt}}\n1:\n{{answer_a}}\n2:\n{{answer_b}}"
        )
    price = {"input": INPUT, "output": OUTPUT, "cached": CACHED}
    judge = {"model": "openai:m", "name": "judge", "base_url": server.url, "price": price, "concurrency": 1}
    settings = {
        "tasks": tasks,
        "players": ["house:0.9", "house:0.5", "house:0.3"],
        "judges": [judge],
        "judging": judging,
        "budget": 5,
        "engine": {"probe": False},
    }
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")

    def clients(player: PlayerSettings) -> Client:
        return open_client(player, {}, tmp_path) if needs_probe(player) else HouseClient(player)

    with open_arena(tmp_path) as arena:
        report = await arena.play(60, clients=clients)
        (row,) = [one for one in arena.stats().players if one.player == "judge"]
    assert server.read["requests"] == 120
    share = server.read["cached"] / server.read["all"]
    print(f"{long}: {share:.1%} of {server.read['all']:,} tokens cached")
    assert share >= 0.6
    assert (row.input_tokens, row.cached_tokens) == (server.read["all"], server.read["cached"])
    with closing(ledger_of(tmp_path)) as ledger:
        replies = [read_reply(one) for one in ledger.exchanges(1) if one.player == "judge"]
    paid = sum(
        ((one.input_tokens or 0) - (one.cached_tokens or 0)) * 2_000
        + (one.cached_tokens or 0) * 500
        + 160_000
        for one in replies
    )
    assert report.billed_nano == paid
