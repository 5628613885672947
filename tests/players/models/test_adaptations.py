"""Refusals that a client adapts to: in the words of real servers, and by servers that refuse."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic_ai.exceptions import ModelContextWindowExceededError, ModelHTTPError, ModelRequestRejectedError
from tests.servers import openai_server as behave
from tests.servers.openai_server import Behaviour, OpenAIServer
from tests.servers.quirks import ARENA, peerage, play, quirky

from peerage.formats import Choice, Text
from peerage.game.protocol import Format
from peerage.players.checks import probe
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.models.adaptations import (
    ADAPTATIONS,
    MAX_COMPLETION_TOKENS,
    MAX_TOKENS,
    STREAM_OPTIONS,
    STRUCTURED,
    SYSTEM,
    UNSTREAMED,
    refused,
)
from peerage.players.models.provider import ProviderClient
from peerage.settings import PlayerSettings

SENT = [UNSTREAMED, MAX_TOKENS, "temperature", "openai_reasoning_effort", "service_tier", STRUCTURED, SYSTEM]
VERDICT = Choice("verdict", ("A", "B", "tie"))


def http(code: int, body: Any) -> ModelHTTPError:
    category = ModelRequestRejectedError if code in (400, 422) else None
    body = {"error": {"message": body}} if isinstance(body, str) else body
    return ModelHTTPError.for_category(category, status_code=code, model_name="m", body=body)


@pytest.mark.parametrize(
    ("code", "body", "named"),
    [
        # The limit: OpenAI, Azure, LiteLLM; and servers that know only the old name.
        (400, "Unsupported parameter: 'max_tokens' is not supported with this model. "
              "Use 'max_completion_tokens' instead.", [MAX_TOKENS]),
        (400, "UnsupportedParamsError: azure does not support parameters: ['max_tokens']", [MAX_TOKENS]),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"],
                           "msg": "Extra inputs are not permitted", "input": 800}]}, [MAX_TOKENS]),
        (400, "Please use max_completion_tokens", [MAX_TOKENS]),
        (400, "'max_tokens' or 'max_completion_tokens' is too large: 9000. "
              "This model's maximum context length is 4096 tokens", []),
        (400, "max_tokens is too large: 9000. This model supports at most 4096 completion tokens", []),
        (500, "max_tokens is not supported", []),
        # The system text: o1-mini, vLLM, SGLang, llama.cpp, TGI, Google, pydantic.
        (400, {"error": {"message": "Unsupported value: 'messages[0].role' does not support 'system'.",
                         "param": "messages[0].role", "code": "unsupported_value"}}, [SYSTEM]),
        (400, {"object": "error", "message": "System role not supported", "code": 400}, [SYSTEM]),
        (400, "Conversation roles must alternate user/assistant/user/assistant/...", [SYSTEM]),
        (500, "Jinja Exception: System role not supported at row 1", [SYSTEM]),
        (422, {"error": "Template error: invalid operation: System role not supported"}, [SYSTEM]),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it", [SYSTEM]),
        (400, "System instructions are not supported by this model", [SYSTEM]),
        (400, "Only user and assistant roles are supported!", [SYSTEM]),
        (422, {"detail": [{"loc": ["body", "messages", 0, "role"], "input": "system",
                           "msg": "Input should be 'user' or 'assistant'"}]}, [SYSTEM]),
        (400, "Unexpected role 'system' after role 'user'", [SYSTEM]),
        (400, {"error": {"message": "Provider returned error",
                         "metadata": {"raw": '{"message": "System role not supported"}'}}}, [SYSTEM]),
        (400, "该模型不支持system角色", [SYSTEM]),
        (500, "The system is overloaded", []),
        (400, "internal system error", []),
        # The format: DeepSeek, Groq, Google, llama.cpp, vLLM.
        (400, "This response_format type is unavailable now", [STRUCTURED]),
        (400, "This model does not support response format `json_schema`", [STRUCTURED]),
        (400, {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed",
                         "failed_generation": "the temperature of the system"}}, [STRUCTURED]),
        (400, "JSON mode is not enabled for models/gemma-3-4b-it", [STRUCTURED]),
        (500, "failed to parse grammar", [STRUCTURED]),
        (400, "Failed to initialize samplers: unexpected end", [STRUCTURED]),
        (501, "structured outputs are not implemented", [STRUCTURED]),
        # Servers that only stream.
        (400, "This model only support stream mode, please enable the stream parameter to access the model.",
              [UNSTREAMED]),
        (400, "stream must be true", [UNSTREAMED]),
        (400, "Stream must be set to true", [UNSTREAMED]),
        (422, "Non-streaming requests are not supported", [UNSTREAMED]),
        (500, "only streaming responses are available", [UNSTREAMED]),
        (400, "upstream must be reachable", []),
        # Settings.
        (400, "Unsupported value: 'temperature' does not support 0.7 with this model.", ["temperature"]),
        (422, "no such service_tier", ["service_tier"]),
        (400, "Reasoning Effort 'low'", ["openai_reasoning_effort"]),
        (400, "unknown field `thinking`", ["openai_reasoning_effort"]),
        (400, "temperature and response_format are not supported", ["temperature", STRUCTURED]),
        (500, "temperature", []),
        (413, "temperature", []),
        (400, "something else", []),
    ],
)  # fmt: skip
def test_the_words_of_servers_name_what_they_do_not_take(code: int, body: Any, named: list[str]) -> None:
    assert list(refused(http(code, body), SENT)) == named


def test_only_what_was_sent_can_be_refused() -> None:
    error = http(400, "System role not supported; max_tokens is not supported; stream must be true")
    assert refused(error, ["temperature"]) == ()
    assert refused(error, [MAX_COMPLETION_TOKENS]) == (MAX_COMPLETION_TOKENS,)
    assert refused(ModelContextWindowExceededError("m", "temperature"), SENT) == ()
    assert refused(ValueError("temperature"), SENT) == ()


# ------------------------------------------------------------------------------ against a real server

MESSAGES = (("system", "Be brief."), ("user", "Who wins?"))


def call(expects: Format = VERDICT, temperature: float | None = None) -> Call:
    return Call("k", "judge", MESSAGES, expects, 600, temperature, "s")  # type: ignore[arg-type]


async def opened(server: OpenAIServer, model: str = "openai:tiny", **stated: Any) -> ProviderClient:
    client = ProviderClient(PlayerSettings(model=model, name="P", base_url=server.url, **stated), {})
    await client.start()
    return client


def strict(*wishes: tuple[str, int, str]) -> Behaviour:
    """A server that refuses: each wish is what it does not take, with its status and words."""

    def has(asked: dict[str, Any], part: str) -> bool:
        if part == SYSTEM:
            return any(message["role"] == "system" for message in asked["messages"])
        return not asked.get("stream") if part == UNSTREAMED else part in asked

    async def behaviour(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        for part, code, words in wishes:
            if has(asked, part):
                return await behave.status(code, error={"message": words})(request, asked)
        if asked.get("stream"):
            return await streamed(request, asked)
        return await behave.sensible(request, asked)

    return behaviour


async def streamed(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in ("Stee", "ring ", "keeps it up."):
        delta = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        await response.write(sse({"id": "c", "model": "tiny-1", "choices": [delta], "usage": None}))
    await response.write(b": still here\n\n")
    last = {"index": 0, "delta": {}, "finish_reason": "length"}
    await response.write(sse({"id": "c", "model": "tiny-1", "choices": [last]}))
    if asked.get("stream_options") == {"include_usage": True}:
        usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
        await response.write(sse({"id": "c", "model": "tiny-1", "choices": [], "usage": usage}))
    await response.write(b"data: [DONE]\n\n")
    return response


def sse(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


async def test_the_limit_goes_by_the_name_that_the_server_takes_and_back() -> None:
    for model, first, other in (
        ("openai:tiny", MAX_TOKENS, MAX_COMPLETION_TOKENS),
        ("openai:gpt-5-mini", MAX_TOKENS, MAX_COMPLETION_TOKENS),
    ):
        async with OpenAIServer() as server:
            server.always(strict((first, 400, f"{first} is not supported; use {other} instead")))
            client = await opened(server, model)
            await client.answer(call())
            await client.answer(call())
            await client.close()
            assert [(first in one.body, other in one.body) for one in server.requests] == [
                (True, False), (False, True), (False, True)
            ]  # fmt: skip
            assert server.requests[1].body[other] >= 600
        assert client.left_out == [first]
        assert len(client.warnings) == 1


async def test_a_server_that_takes_neither_name_of_the_limit_ends_no_loop() -> None:
    async with OpenAIServer() as server:
        server.always(
            strict(
                (MAX_TOKENS, 400, "unknown parameter max_tokens"),
                (MAX_COMPLETION_TOKENS, 400, "unknown parameter max_completion_tokens"),
            )
        )
        client = await opened(server)
        with pytest.raises(PlayerError, match="max_completion_tokens") as caught:
            await client.answer(call(Text()))
        await client.close()
        assert caught.value.kind == "request"
        assert len(server.requests) == 2


async def test_a_system_text_goes_before_the_first_user_turn() -> None:
    async with OpenAIServer() as server:
        server.always(strict((SYSTEM, 400, "System role not supported")))
        client = await opened(server)
        await client.answer(call(Text()))
        await client.close()
        assert server.requests[1].body["messages"] == [{"role": "user", "content": "Be brief.\n\nWho wins?"}]
    assert client.warnings == (
        "P: the server does not take a system text; it is put before the first user turn",
    )


async def test_before_a_reply_a_system_text_is_a_turn_of_its_own() -> None:
    turns: Sequence[Any] = (("system", "Be brief."), ("assistant", "Hello."), ("user", "Who wins?"))
    async with OpenAIServer() as server:
        client = await opened(server)
        client.leave_out([SYSTEM])
        await client.answer(Call("k", "judge", turns, Text(), 600, None, "s"))
        await client.close()
        roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles == ["user", "assistant", "user"]


async def test_a_stream_is_read_where_nothing_else_is_to_be_had() -> None:
    async with OpenAIServer() as server:
        server.always(strict((UNSTREAMED, 400, "stream must be true")))
        client = await opened(server)
        answer = await client.answer(call(Text()))
        await client.close()
    assert (answer.text, answer.truncated) == ("Steering keeps it up.", True)
    assert (answer.input_tokens, answer.output_tokens, answer.snapshot) == (9, 5, "tiny-1")


async def test_where_a_stream_can_report_no_usage_it_is_unknown() -> None:
    async with OpenAIServer() as server:
        server.always(
            strict(
                (UNSTREAMED, 400, "only stream is supported"), (STREAM_OPTIONS, 422, "stream_options: extra")
            )
        )
        client = await opened(server)
        answer = await client.answer(call(Text()))
        await client.close()
    assert answer.text == "Steering keeps it up."
    assert answer.output_tokens is None


async def test_all_that_a_server_does_not_take_is_learnt_in_one_call_and_once() -> None:
    async with OpenAIServer() as server:
        server.always(
            strict(
                (UNSTREAMED, 400, "stream must be true"),
                (MAX_TOKENS, 400, "max_tokens is deprecated, use max_completion_tokens"),
                (SYSTEM, 400, "System role not supported"),
                ("response_format", 400, "response_format is not supported"),
                ("temperature", 400, "temperature is not supported"),
            )
        )
        client = await opened(server)
        many = await asyncio.gather(*[client.answer(call(temperature=0.7)) for _ in range(8)])
        asked = len(server.requests)
        await client.answer(call(temperature=0.7))
        await client.close()
        assert len(server.requests) == asked + 1
    assert {answer.text for answer in many} == {"Steering keeps it up."}
    assert client.left_out == sorted([UNSTREAMED, MAX_TOKENS, SYSTEM, STRUCTURED, "temperature"])
    assert len(client.warnings) == 5


async def probed(server: OpenAIServer, client: ProviderClient) -> Any:
    return await probe(PlayerSettings(model="openai:tiny", name="P", base_url=server.url), client, {})


@pytest.mark.parametrize("code", [400, 422, 500])
async def test_a_format_that_is_refused_without_a_word_is_left_out(code: int) -> None:
    async with OpenAIServer() as server:
        server.always(strict(("response_format", code, "oops")))
        client = await opened(server)
        found = await probed(server, client)
        if code == 500:  # it may only have been down
            with pytest.raises(PlayerError) as caught:
                await client.answer(call())
            assert (caught.value.maybe_paid, caught.value.retry_after_s) == (True, 0.0)
        await client.answer(call())
        await client.close()
        assert len(server.requests) == 3 + (code == 500)
    assert isinstance(found.answer, Answer)
    assert found.maybe_paid == (code == 500)
    assert client.left_out == [STRUCTURED]


async def test_a_server_that_was_down_for_a_moment_keeps_its_format() -> None:
    async with OpenAIServer() as server:
        server.next(behave.status(500))
        client = await opened(server)
        found = await probed(server, client)
        assert found.answer is not None
        await client.answer(call())
        server.next(behave.status(500))
        with pytest.raises(PlayerError):
            await client.answer(call())
        await client.answer(call())
        await client.close()
        assert ["response_format" in one.body for one in server.requests] == [True, False, True, True, True]
    assert client.left_out == []


async def test_a_server_that_fails_all_the_same_keeps_its_format() -> None:
    async with OpenAIServer() as server:
        server.always(behave.status(500))
        client = await opened(server)
        found = await probed(server, client)
        assert len(server.requests) == 2
        assert (found.failure is not None, found.maybe_paid, found.unusable) == (True, 1, False)
        server.always(behave.sensible)
        await client.answer(call())
        server.next(behave.status(500))
        with pytest.raises(PlayerError):
            await client.answer(call())
        await client.answer(call())
        await client.close()
        assert all("response_format" in one.body for one in server.requests[2:])
    assert client.left_out == []


async def test_what_a_player_states_is_never_dropped() -> None:
    async with OpenAIServer() as server:
        server.always(strict(("top_p", 400, "top_p is not supported")))
        client = await opened(server, top_p=0.5)
        with pytest.raises(PlayerError, match="`top_p` as stated") as caught:
            await client.answer(call())
        await client.close()
        assert caught.value.kind == "permanent"
        assert len(server.requests) == 1


# ------------------------------------------------------------------------------------------- whole runs

AZURE = {
    "when": {"has": "max_tokens"},
    "status": 400,
    "raw": {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                                 "'max_completion_tokens' instead.", "param": "max_tokens"}},
}  # fmt: skip
GEMMA = {
    "when": {"role": "system"},
    "status": 400,
    "raw": {"object": "error", "message": "System role not supported", "code": 400},
}


def test_models_behind_azure_and_gemma_templates_play(tmp_path: Path) -> None:
    played = play([AZURE, GEMMA], tmp_path)
    assert played.code == 0, played.printed
    assert played.player["matches"] > 0
    assert played.player["void"] == played.player["possibly_usd"] == 0
    assert played.printed.count("the limit is sent as `max_completion_tokens`") == 1
    assert played.printed.count("it is put before the first user turn") == 1
    refusals = [body for body in played.bodies if "max_tokens" in body]
    assert len(refusals) == 1, "the probe learns it, and the match knows it"


def test_what_was_learnt_is_known_to_the_next_run(tmp_path: Path) -> None:
    with quirky([AZURE, GEMMA]) as server:
        (tmp_path / "arena.yaml").write_text(ARENA.format(model="openai:m", url=server.url, stated=""))
        first = peerage(tmp_path, ["run", "--matches", "2", "--yes"])
        assert "it is put before" in first.stderr
        server.bodies.clear()
        again = peerage(tmp_path, ["run", "--matches", "4", "--yes"])
    assert again.returncode == 0, again.stderr
    assert server.bodies
    assert not any("max_tokens" in body for body in server.bodies)
    assert "it is put before" not in again.stderr


def test_every_adaptation_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs/players.md").read_text("utf-8")
    for one in {*ADAPTATIONS.values()}:
        assert f"| {one.taken} | {one.instead} | {one.met} |" in page
