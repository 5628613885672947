"""One small question before a run, asked of real servers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.servers import openai_server as behave
from tests.servers.openai_server import Behaviour, OpenAIServer

from peerage.players import checks as probing
from peerage.players import open_client
from peerage.players.checks import PROBE_TOKENS, Probed, is_listed, near_models, needs_probe, probe
from peerage.players.prices import known_models
from peerage.settings import PlayerSettings

KEY = "sk-probe-secret-4711"


async def probed(server: OpenAIServer, model: str = "openai:tiny", **stated: Any) -> Probed:
    settings = PlayerSettings(model=model, name="P", base_url=server.url, key_env="K", **stated)
    client = open_client(settings, {"K": KEY}, Path())
    await client.start()
    try:
        found = await probe(settings, client, {"K": KEY})
    finally:
        await client.close()
    assert KEY not in repr(found) + found.problem
    return found


async def test_a_player_is_asked_once_as_a_match_asks() -> None:
    async with OpenAIServer() as server:
        found = await probed(server, reasoning_effort="low")
        (request,) = server.requests
    assert not found.unusable
    assert (found.problem, found.requests, found.thinks) == ("", 1, False)
    assert request.body["max_tokens"] == PROBE_TOKENS
    assert [one["role"] for one in request.body["messages"]] == ["system", "user"]
    assert request.body["reasoning_effort"] == "low"
    assert request.body["response_format"]["type"] == "json_schema"


async def test_a_wrong_key_and_an_empty_account_are_for_good_and_say_what_to_do() -> None:
    async with OpenAIServer() as server:
        server.next(behave.status(401, error={"message": f"wrong key {KEY}"}))
        denied = await probed(server)
        server.next(behave.status(429, error={"message": "no credit", "code": "insufficient_quota"}))
        broke = await probed(server)
    assert denied.unusable
    assert "check the key in K" in denied.problem
    assert broke.unusable
    assert "no credit" in broke.problem


@pytest.mark.parametrize("code", [404, 400])
async def test_a_misspelled_model_gets_the_name_that_the_server_lists(code: int) -> None:
    async with OpenAIServer() as server:
        server.next(behave.status(code, error={"message": "no such model", "code": "model_not_found"}))
        found = await probed(server, "openai:tinny")
    assert found.unusable
    assert found.problem.endswith("did you mean `tiny`?")


async def test_a_model_that_the_server_lists_is_not_called_misspelled() -> None:
    async with OpenAIServer() as server:
        server.always(behave.status(400, error={"message": "context is broken"}))
        found = await probed(server)
    assert found.unusable
    assert found.advice == ""


@pytest.mark.parametrize("said", ["max_completion_tokens was reached", "max_tokens is too large: 1000", "no"])
async def test_a_400_is_never_waved_through(said: str) -> None:
    async with OpenAIServer() as server:
        server.always(behave.status(400, error={"message": said}))
        found = await probed(server)
    assert found.unusable
    assert said in found.problem


async def test_a_failure_that_may_pass_leaves_the_player_in() -> None:
    async with OpenAIServer() as server:
        for trouble in (behave.status(503), behave.status(429), behave.drop()):
            server.next(trouble)
            found = await probed(server)
            assert found.failure is not None
            assert not found.unusable
            assert found.requests == 1


async def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "PATIENCE_S", 0.2)
    async with OpenAIServer() as server:
        server.next(behave.hang())
        found = await asyncio.wait_for(probed(server), 30)
    assert not found.unusable
    assert found.failure is not None
    assert found.failure.maybe_paid
    assert "within 0.2 s" in found.problem


def refusing(*names: str) -> Behaviour:
    """A server that turns down a request with any of these settings."""

    async def behaviour(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        for name in names:
            if name in asked:
                return await behave.status(400, error={"message": f"{name} is not supported"})(request, asked)
        return await behave.sensible(request, asked)

    return behaviour


async def test_structured_output_that_a_server_refuses_is_learnt_before_the_first_match() -> None:
    async with OpenAIServer() as server:
        server.always(refusing("response_format"))
        found = await probed(server)
        assert len(server.requests) == 2
    assert found.answer is not None
    assert found.maybe_paid == 0


@pytest.mark.parametrize(
    ("text", "usage"),
    [
        ("", {"completion_tokens_details": {"reasoning_tokens": 30}}),
        ("<think>Let me see.</think> Seven", {}),
    ],
)
async def test_thinking_is_seen_in_the_usage_or_in_the_reply(text: str, usage: dict[str, Any]) -> None:
    counted = {"prompt_tokens": 11, "completion_tokens": 32, "total_tokens": 43, **usage}
    async with OpenAIServer() as server:
        server.always(behave.reply(text, finish="length", usage=counted))
        found = await probed(server)
    assert found.thinks
    assert found.answer is not None
    assert found.answer.truncated
    if usage:
        assert found.answer.reasoning_tokens == 30


def test_whoever_is_behind_a_network_is_probed_and_nobody_else() -> None:
    models = ["openai:a", "ollama:a", "https://x.example/agent", "http:http://127.0.0.1:1/"]
    assert all(needs_probe(PlayerSettings(model=model)) for model in models)
    models = ["house:0.5", "command:./agent", "python:a:b", "gguf:a.gguf"]
    assert not any(needs_probe(PlayerSettings(model=model)) for model in models)


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("openai:gpt-5-mni", "gpt-5-mini"),
        ("anthropic:claude-haiku4-5", "claude-haiku-4-5"),
        ("xai:grok3-mini", "grok-3-mini"),
        ("openrouter:deepseek/deepseek-caht", "deepseek/deepseek-chat"),
    ],
)
def test_the_price_table_knows_what_was_meant(model: str, meant: str) -> None:
    settings = PlayerSettings(model=model)
    assert meant in known_models(settings)
    assert near_models(settings).startswith(f"did you mean `{meant}")


def test_a_server_of_ones_own_is_not_looked_up_in_the_price_table() -> None:
    settings = PlayerSettings(model="openai:gpt-5-mni", base_url="http://127.0.0.1:1/v1")
    assert known_models(settings) == ()
    assert near_models(settings) == ""
    assert near_models(settings, ["\x1b[31mqwen", "llama"]) == "it has \ufffd[31mqwen, llama"


def test_a_model_is_listed_with_or_without_its_maker_and_host() -> None:
    assert is_listed(PlayerSettings(model="openai:a"), ["maker/a"])
    assert is_listed(PlayerSettings(model="openrouter:maker/a:free"), ["maker/a"])
    assert is_listed(PlayerSettings(model="huggingface:maker/a:groq"), ["maker/a"])
    assert not is_listed(PlayerSettings(model="openai:a"), ["aa", "a:free"])


async def test_a_wrong_key_does_not_make_a_right_name_wrong() -> None:
    denied = behave.status(401, error={"message": "wrong key"})
    async with OpenAIServer() as server:
        server.next(denied, denied)  # the probe, and the list of models
        found = await probed(server, "openai:gpt-5-mini-2025-08-07")
    assert found.advice == ""
