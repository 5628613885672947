"""Room to think: who has it, and what each provider is sent of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.servers.every_provider import Server, serve

from peerage.game.protocol import Text
from peerage.players import open_client
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.models.provider import ProviderClient
from peerage.players.models.thinking import room, thinks
from peerage.settings import PlayerSettings

needs_anthropic = pytest.mark.skipif(find_spec("anthropic") is None, reason="needs `anthropic`")
needs_google = pytest.mark.skipif(
    not find_spec("google") or not find_spec("google.genai"), reason="needs `google-genai`"
)
EACH = [
    "openai:qwen3-8b",
    pytest.param("anthropic:claude-haiku-4-5", marks=needs_anthropic),
    pytest.param("google:gemini-2.5-flash", marks=needs_google),
]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    running = Server()
    runner = await serve(running)
    yield running
    await runner.cleanup()


def player(model: str, server: Server, **stated: Any) -> PlayerSettings:
    base = server.url + ("/v1" if model.startswith("openai") else "")
    return PlayerSettings(model=model, name="P", base_url=base, key_env="K", **stated)


async def ask(
    settings: PlayerSettings, answer: int = 600, more_room: bool = False, **stated: Any
) -> tuple[Answer, ProviderClient]:
    client = open_client(settings, {"K": "sk-0123456789abcdef"}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    stated = {"temperature": None, **stated}
    asked = Call(
        "k", "judge", (("user", "Why?"),), Text(), answer, stated["temperature"], "s",
        thinking_tokens=room(settings).tokens * (2 if more_room else 1), more_room=more_room,
    )  # fmt: skip
    try:
        return await client.answer(asked), client
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("stated", "tokens"),
    [
        ({"model": "openai:gpt-5-mini"}, 8192),
        ({"model": "openai:gpt-5-mini", "reasoning_effort": "high"}, 16384),
        ({"model": "openai:gpt-5-mini", "reasoning_effort": "none"}, 1024),
        ({"model": "openai:gpt-4o"}, 0),
        ({"model": "openai:gpt-4o", "reasoning_effort": "low"}, 4096),
        ({"model": "openai:gpt-5-chat-latest"}, 0),
        ({"model": "anthropic:claude-haiku-4-5"}, 0),
        ({"model": "anthropic:claude-haiku-4-5", "thinking_tokens": 2000}, 2000),
        ({"model": "google:gemini-2.5-flash"}, 8192),
        ({"model": "google:gemini-2.5-flash", "reasoning_effort": "none"}, 0),
        ({"model": "google:gemini-2.5-flash-lite"}, 0),
        ({"model": "google:gemini-2.0-flash"}, 0),
        ({"model": "groq:openai/gpt-oss-120b"}, 8192),
        ({"model": "huggingface:Qwen/Qwen3-8B"}, 8192),
        ({"model": "huggingface:Qwen/Qwen3-4B-Instruct-2507"}, 0),
        ({"model": "openrouter:deepseek/deepseek-r1"}, 8192),
        ({"model": "openrouter:anthropic/claude-3.7-sonnet:thinking"}, 8192),
        ({"model": "openai:deepseek-r1", "base_url": "http://h/v1", "thinking_tokens": 0}, 0),
        ({"model": "gguf:models/Qwen3-0.6B-Q8_0.gguf"}, 8192),
        ({"model": "gguf:models/SmolLM2-135M.gguf"}, 0),
        ({"model": "python:qwen3:play"}, 0),
        ({"model": "http://h/deepseek-r1"}, 0),
        ({"model": "house:0.5"}, 0),
    ],
)
def test_who_has_how_much_room(stated: dict[str, Any], tokens: int) -> None:
    found = room(PlayerSettings(**stated))
    assert found.tokens == tokens
    assert bool(found.reason) == bool(tokens)


def test_a_model_that_was_seen_to_think_has_room_unless_its_owner_says_otherwise() -> None:
    seen = PlayerSettings(model="openai:mine", base_url="http://h/v1")
    assert room(seen).tokens == 0
    assert room(seen, seen=True) == (8192, "it was seen to think")
    assert room(seen.model_copy(update={"thinking_tokens": 0}), seen=True).tokens == 0
    assert room(seen.model_copy(update={"reasoning_effort": "none"}), seen=True).tokens == 0


def test_every_model_that_the_library_knows_to_think_by_itself_is_in_our_table() -> None:
    from pydantic_ai.models import KnownModelName
    from pydantic_ai.providers import infer_provider_class

    looked_at = 0
    for known in get_args(getattr(KnownModelName, "__value__", KnownModelName)):
        provider, _, name = known.partition(":")
        if provider not in ("openai", "anthropic", "google", "deepseek", "moonshotai", "zai", "cerebras"):
            continue
        try:
            profile = infer_provider_class(provider).model_profile(name) or {}
        except ImportError:
            continue
        looked_at += 1
        if profile.get("thinking_always_enabled") and "image" not in name:
            assert thinks(known) == "always", known
        elif profile.get("thinking_enabled_by_default"):
            assert thinks(known), known
        elif not profile.get("supports_thinking"):
            assert not thinks(known), known
    assert looked_at > 30


@pytest.mark.parametrize(
    ("model", "stated", "sent"),
    [
        ("openai:tiny", {}, {"max_tokens": 600}),
        ("openai:tiny", {"reasoning_effort": "low"}, {"max_tokens": 4696, "reasoning_effort": "low"}),
        ("openai:tiny", {"reasoning_effort": "none"}, {"max_tokens": 600, "reasoning_effort": "none"}),
        ("openai:qwen3-8b", {}, {"max_tokens": 8792}),
        ("openai:qwen3-8b", {"thinking_tokens": 100, "max_tokens": 50}, {"max_tokens": 150}),
        pytest.param("anthropic:claude-haiku-4-5", {}, {"max_tokens": 600}, marks=needs_anthropic),
        pytest.param(
            "anthropic:claude-haiku-4-5",
            {"reasoning_effort": "low"},
            {"max_tokens": 4696, "thinking": {"type": "enabled", "budget_tokens": 4096}},
            marks=needs_anthropic,
        ),
        pytest.param(
            "anthropic:claude-haiku-4-5",
            {"reasoning_effort": "high", "max_tokens": 300, "thinking_tokens": 1024},
            {"max_tokens": 1324, "thinking": {"type": "enabled", "budget_tokens": 1024}},
            marks=needs_anthropic,
        ),
        pytest.param(
            "anthropic:claude-opus-4-8",
            {"reasoning_effort": "medium"},
            {"max_tokens": 8792, "thinking": {"type": "adaptive"}, "output_config": {"effort": "medium"}},
            marks=needs_anthropic,
        ),
        pytest.param(
            "google:gemini-2.5-flash",
            {},
            {"maxOutputTokens": 8792, "thinkingConfig": {"thinking_budget": 8192}},
            marks=needs_google,
        ),
        pytest.param(
            "google:gemini-2.5-flash",
            {"reasoning_effort": "low"},
            {"maxOutputTokens": 4696, "thinkingConfig": {"thinking_budget": 4096}},
            marks=needs_google,
        ),
        pytest.param(
            "google:gemini-2.5-flash",
            {"reasoning_effort": "none"},
            {"maxOutputTokens": 600, "thinkingConfig": {"thinking_budget": 0}},
            marks=needs_google,
        ),
    ],
)
async def test_what_is_sent_to_a_server_of_ones_own(
    model: str, stated: dict[str, Any], sent: dict[str, Any], server: Server
) -> None:
    await ask(player(model, server, **stated))
    body = server.bodies[0]
    if model.startswith("google"):
        body = body["generationConfig"]
    about = ("max_tokens", "max_completion_tokens", "reasoning_effort", "thinking", "output_config")
    found = {name: body[name] for name in (*about, "maxOutputTokens", "thinkingConfig") if name in body}
    found.get("thinkingConfig", {}).pop("includeThoughts", None)
    assert found == sent


@pytest.mark.parametrize(
    ("model", "stated", "sent"),
    [
        ("openai:gpt-4o", {}, {"max_completion_tokens": 600}),
        ("openai:gpt-5-mini", {}, {"max_completion_tokens": 8792}),
        (
            "openai:gpt-5-mini",
            {"reasoning_effort": "high"},
            {"max_completion_tokens": 16984, "reasoning_effort": "high"},
        ),
        (
            "openai:gpt-4o",
            {"reasoning_effort": "high"},
            {"max_completion_tokens": 16984, "reasoning_effort": "high"},
        ),
        (
            "groq:openai/gpt-oss-20b",
            {"reasoning_effort": "low"},
            {"max_tokens": 4696, "reasoning_effort": "low"},
        ),
        ("xai:grok-3-mini", {"reasoning_effort": "low"}, {"max_tokens": 4696, "reasoning_effort": "low"}),
        ("mistral:magistral-medium-latest", {}, {"max_tokens": 8792}),
        ("ollama:qwen3", {"reasoning_effort": "none"}, {"max_tokens": 600, "reasoning_effort": "none"}),
        ("openrouter:meta/llama-4", {}, {"max_tokens": 600}),
        ("openrouter:deepseek/deepseek-r1", {}, {"max_tokens": 8792, "reasoning": {"max_tokens": 8192}}),
        (
            "openrouter:anthropic/claude-sonnet-4.5",
            {"thinking_tokens": 3000},
            {"max_tokens": 3600, "reasoning": {"max_tokens": 3000}},
        ),
        (
            "openrouter:openai/gpt-5-mini",
            {"reasoning_effort": "low"},
            {"max_tokens": 4696, "reasoning": {"effort": "low", "enabled": True}},
        ),
    ],
)
async def test_what_is_sent_to_a_provider(
    model: str, stated: dict[str, Any], sent: dict[str, Any], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peerage.players import keys

    at = keys.PROVIDERS[model.partition(":")[0]]._replace(base_url=server.url + "/v1")
    monkeypatch.setattr(keys, "PROVIDERS", {model.partition(":")[0]: at})
    await ask(PlayerSettings(model=model, name="P", key_env="K", **stated))
    about = ("max_tokens", "max_completion_tokens", "reasoning_effort", "reasoning")
    assert {name: server.bodies[0][name] for name in about if name in server.bodies[0]} == sent


@needs_anthropic
async def test_a_thinking_budget_is_always_smaller_than_the_limit(server: Server) -> None:
    settings = player("anthropic:claude-haiku-4-5", server, thinking_tokens=60_000)
    for answer, more in ((1, False), (600, False), (600, True), (30_000, True)):
        await ask(settings, answer, more)
        body = server.bodies[-1]
        assert 1024 <= body["thinking"]["budget_tokens"] < body["max_tokens"]
        assert body["max_tokens"] - body["thinking"]["budget_tokens"] >= answer


@needs_anthropic
async def test_a_model_that_is_asked_to_think_gets_no_temperature_where_it_takes_none(server: Server) -> None:
    await ask(player("anthropic:claude-haiku-4-5", server, thinking_tokens=2000), temperature=0.0)
    await ask(player("anthropic:claude-haiku-4-5", server), temperature=0.0)
    assert "temperature" not in server.bodies[0]
    assert server.bodies[1]["temperature"] == 0.0


@pytest.mark.parametrize(
    ("stated", "complaint"),
    [
        ({"reasoning_effort": "low"}, "reasoning_effort is not supported; thinking is unavailable"),
        ({"temperature": 0.5}, "Unsupported value: temperature is fixed"),
        ({"top_p": 0.5}, "top_p: extra inputs are not permitted"),
    ],
)
@pytest.mark.parametrize("model", EACH)
async def test_a_stated_setting_that_is_refused_stops_its_player_and_is_never_dropped(
    model: str, stated: dict[str, Any], complaint: str, server: Server
) -> None:
    settings = player(model, server, **stated)
    client = open_client(settings, {"K": "sk-0123456789abcdef"}, Path())
    await client.start()
    asked = Call(
        "k", "judge", (("user", "Why?"),), Text(), 600, None, "s", thinking_tokens=room(settings).tokens
    )
    server.text = complaint
    for code in (400, 400, None):
        server.instead = None if code is None else (code, {})
        if code is None:
            await client.answer(asked)
            continue
        with pytest.raises(PlayerError) as caught:
            await client.answer(asked)
        assert caught.value.kind == "permanent"
        assert f"`{next(iter(stated))}`" in str(caught.value)
        assert "change or remove it" in str(caught.value)
    await client.close()
    assert server.bodies[0] == server.bodies[1] == server.bodies[2]


@needs_google
async def test_a_bound_on_thinking_that_nobody_stated_is_left_out_when_refused(server: Server) -> None:
    settings = player("google:gemini-2.5-flash", server)
    client = open_client(settings, {"K": "sk-0123456789abcdef"}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    asked = Call("k", "judge", (("user", "Why?"),), Text(), 600, None, "s", thinking_tokens=8192)
    server.refuses = "thinkingConfig"
    await client.answer(asked)
    await client.answer(asked)
    await client.close()
    assert "thinkingConfig" in server.bodies[0]["generationConfig"]
    assert server.bodies[1]["generationConfig"]["maxOutputTokens"] == 8792
    assert "thinkingConfig" not in server.bodies[1]["generationConfig"]
    assert len(server.bodies) == 3
    assert len(client.warnings) == 1


async def test_a_limit_that_the_server_does_not_allow_says_what_to_lower(server: Server) -> None:
    server.instead, server.text = (400, {}), "max_tokens is too large: 8792. This model allows 4096"
    with pytest.raises(PlayerError) as caught:
        await ask(player("openai:qwen3-8b", server))
    assert caught.value.kind == "request"
    assert "8792 tokens, 8192 of them to think: lower this player's `thinking_tokens`" in str(caught.value)


async def test_where_there_is_no_more_room_the_second_reply_is_empty_and_free(server: Server) -> None:
    server.instead, server.text = (400, {}), "max_tokens is too large: 17584. This model allows 8792"
    answer, _ = await ask(player("openai:qwen3-8b", server), 1200, more_room=True)
    assert (answer.text, answer.truncated, answer.input_tokens, answer.output_tokens) == ("", True, 0, 0)


@pytest.mark.parametrize("model", EACH)
async def test_tokens_that_were_thought_are_told_apart_and_counted(model: str, server: Server) -> None:
    server.usage, server.cut = (100, 590, 500), True
    answer, _ = await ask(player(model, server))
    assert (answer.input_tokens, answer.output_tokens, answer.reasoning_tokens) == (100, 590, 500)
    assert answer.truncated


@pytest.mark.parametrize("model", EACH)
async def test_a_server_that_writes_more_than_it_was_asked_for_is_reported_once(
    model: str, server: Server
) -> None:
    settings = player(model, server, thinking_tokens=0)
    client = open_client(settings, {"K": "sk-0123456789abcdef"}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    asked = Call("k", "judge", (("user", "Why?"),), Text(), 600, None, "s")
    for tokens in (600, 601, 900):
        server.usage = (10, tokens, 0)
        await client.answer(asked)
    await client.close()
    assert len(client.warnings) == 1
    assert "601 tokens came where at most 600 were asked for" in client.warnings[0]


@pytest.mark.parametrize("text", ["<think>so, first of all", "  <think>\nhm, <b>perhaps"])
async def test_thoughts_that_were_cut_off_are_no_answer(text: str, server: Server) -> None:
    server.cut, server.text = True, text
    answer, _ = await ask(player("openai:qwen3-8b", server))
    assert (answer.text, answer.truncated) == ("", True)
    server.text = "<think>so</think>It is."
    answer, _ = await ask(player("openai:qwen3-8b", server))
    assert answer.text == "It is."


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"model": "anthropic:claude-haiku-4-5", "thinking_tokens": 500}, "at least 1024"),
        ({"model": "openai:gpt-5", "thinking_tokens": 500, "reasoning_effort": "none"}, "contradict"),
        ({"model": "house:0.5", "thinking_tokens": 500}, "do not think"),
    ],
)
def test_rooms_that_make_no_sense_are_refused(stated: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PlayerSettings(**stated)
