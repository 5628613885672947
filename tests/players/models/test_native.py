"""Anthropic and Google through their own SDKs, against a server that speaks their APIs."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from peerage.game.protocol import Choice, Text
from peerage.players import open_client
from peerage.players.client import Call, PlayerError
from peerage.players.models.provider import ProviderClient
from peerage.settings import PlayerSettings

KEY = "sk-native-secret-777"
VERDICT = Choice("verdict", ("A", "B", "tie"))
MODELS = [
    pytest.param(
        "anthropic:claude-haiku-4-5",
        marks=pytest.mark.skipif(find_spec("anthropic") is None, reason="needs `anthropic`"),
    ),
    pytest.param(
        "google:gemini-2.5-flash",
        marks=pytest.mark.skipif(find_spec("google.genai") is None, reason="needs `google-genai`")
        if find_spec("google")
        else pytest.mark.skip(reason="needs `google-genai`"),
    ),
]


@dataclass
class Native:
    """Answers in Anthropic's and in Google's shape; `plan` holds what happens to the next requests."""

    url: str = ""
    plan: list[str] = field(default_factory=list)
    plain: str = "Hello."
    instead: Any = None
    """A whole body in place of a plausible one."""
    usage: Any = (12, 4)
    """Tokens in and out, or what is reported in their place."""
    seen: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)

    async def messages(self, request: web.Request) -> web.StreamResponse:
        if trouble := await self._trouble(
            request, {"type": "error", "error": {"type": "x", "message": f"no {KEY}"}}
        ):
            return trouble
        text = (
            json.dumps({"reason": "r", "verdict": "B"}) if "output" in str(self.seen[-1][1]) else self.plain
        )
        return web.json_response(
            {
                "id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
                "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
                "usage": self._used("input_tokens", "output_tokens"),
            }
        )  # fmt: skip

    async def generate(self, request: web.Request) -> web.StreamResponse:
        if trouble := await self._trouble(
            request, {"error": {"code": 0, "message": f"no {KEY}", "status": "X"}}
        ):
            return trouble
        structured = "responseJsonSchema" in str(self.seen[-1][1]) or "responseSchema" in str(
            self.seen[-1][1]
        )
        text = json.dumps({"reason": "r", "verdict": "B"}) if structured else self.plain
        return web.json_response(
            {
                "candidates": [
                    {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
                ],
                "usageMetadata": self._used("promptTokenCount", "candidatesTokenCount"),
                "modelVersion": "gemini-2.5-flash-001", "responseId": "r",
            }
        )  # fmt: skip

    def _used(self, *names: str) -> Any:
        return dict(zip(names, self.usage, strict=True)) if isinstance(self.usage, tuple) else self.usage

    async def _trouble(self, request: web.Request, error: dict[str, Any]) -> web.StreamResponse | None:
        self.seen.append((dict(request.headers), await request.json()))
        if self.instead is not None:
            return web.json_response(self.instead)
        what = self.plan.pop(0) if self.plan else ""
        if what == "drop":
            assert request.transport is not None
            request.transport.abort()
        elif what == "hang":
            await asyncio.sleep(60)
        elif what == "cut":
            return web.Response(text='{"id": "m", "cont', content_type="application/json")
        elif what:
            return web.json_response(error, status=int(what), headers={"retry-after": "4"})
        return None


@pytest.fixture
async def native() -> AsyncIterator[Native]:
    server = Native()
    app = web.Application()
    app.router.add_post("/v1/messages", server.messages)
    app.router.add_post("/{version}/models/{call:.*}", server.generate)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


def call(expects: Any) -> Call:
    return Call(
        key="k",
        role="judge",
        messages=(("system", "Be brief."), ("user", "Hi"), ("assistant", "Yes?"), ("user", "Why?")),
        expects=expects,
        max_tokens=100,
        temperature=None,
        seed="s",
    )


async def opened(model: str, native: Native, **stated: Any) -> ProviderClient:
    settings = PlayerSettings(model=model, name="P", base_url=native.url, key_env="K", **stated)
    client = open_client(settings, {"K": KEY}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    return client


@pytest.mark.parametrize("model", MODELS)
async def test_half_a_surrogate_pair_becomes_a_replacement(model: str, native: Native) -> None:
    native.plain = "cut \ud83d"
    client = await opened(model, native)
    plain = await client.answer(call(Text()))
    await client.close()
    assert plain.text == "cut \ufffd"
    assert len(native.seen) == 1


@pytest.mark.parametrize("usage", [(-5, 4), (12, -4), (12, 1e300), (12, "many"), (10**30, 4), [12, 4], "12"])
@pytest.mark.parametrize("model", MODELS)
async def test_usage_that_cannot_be_is_unknown_and_asks_for_no_second_call(
    model: str, native: Native, usage: Any
) -> None:
    native.usage = usage
    client = await opened(model, native)
    answer = await client.answer(call(Text()))
    await client.close()
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("Hello.", None, None)
    assert len(native.seen) == 1


@pytest.mark.parametrize("model", MODELS)
async def test_it_answers_plainly_and_in_structure(model: str, native: Native) -> None:
    client = await opened(model, native, temperature=0.3)
    plain, structured = await client.answer(call(Text())), await client.answer(call(VERDICT))
    await client.close()
    assert plain.text == "Hello."
    assert (plain.input_tokens, plain.output_tokens) == (12, 4)
    assert plain.snapshot.startswith(model.partition(":")[2])
    assert VERDICT.parse(structured.text).choice == "B"
    headers, body = native.seen[0]
    assert any(KEY in value for value in headers.values())
    assert "0.3" in json.dumps(body)
    assert "Be brief." in json.dumps(body)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("trouble", "kind", "maybe_paid", "retry_after"),
    [
        ("401", "permanent", False, None),
        ("429", "transient", False, 4),
        ("500", "transient", True, None),
        ("503", "transient", False, 4),
        ("drop", "transient", True, None),
        ("cut", "transient", True, None),
        ("hang", "transient", True, None),
    ],
)
async def test_trouble(
    model: str, native: Native, trouble: str, kind: str, maybe_paid: bool, retry_after: float | None
) -> None:
    native.plan.append(trouble)
    client = await opened(model, native, timeout_s=3 if trouble == "hang" else 30)
    with pytest.raises(PlayerError) as caught:
        await client.answer(call(Text()))
    await client.close()
    assert len(native.seen) == 1
    assert (caught.value.kind, caught.value.maybe_paid) == (kind, maybe_paid)
    assert retry_after is None or caught.value.retry_after_s == retry_after
    assert KEY not in str(caught.value)
    assert str(caught.value).startswith("P: ")


@pytest.mark.parametrize("model", MODELS)
async def test_a_server_that_takes_no_connection_is_given_up_sooner_than_a_slow_reply(
    model: str, native: Native
) -> None:
    client = await opened(model, native, timeout_s=240)
    assert client._connection.http is not None
    waits = client._connection.http.timeout
    await client.close()
    assert (waits.connect, waits.read) == (15, 240)


@pytest.mark.parametrize("model", MODELS)
async def test_nobody_there_cost_nothing(model: str, native: Native) -> None:
    native.url = "http://127.0.0.1:9"
    client = await opened(model, native)
    with pytest.raises(PlayerError) as caught:
        await client.answer(call(Text()))
    await client.close()
    assert (caught.value.kind, caught.value.maybe_paid) == ("transient", False)


def native_reply(to: str, *, text: Any = "said", reason: Any = "", usage: Any = None, **more: Any) -> Any:
    """A reply `to` a model, in its provider's language, of what is read alone; without a `reason` whole."""
    if to.startswith("anthropic"):
        content = [{"type": "text", "text": text}] if text else []
        counts = {"input_tokens": 12, "output_tokens": 4} if usage is None else usage
        return {
            "content": content,
            "stop_reason": "end_turn" if reason == "" else reason,
            "usage": counts,
            **more,
        }
    candidate = {
        "content": {"parts": [{"text": text}] if text else []},
        "finishReason": "STOP" if reason == "" else reason,
    }
    counts = {"promptTokenCount": 12, "candidatesTokenCount": 4} if usage is None else usage
    return {"candidates": [candidate], "usageMetadata": counts, **more}


async def native_answer(native: Native, model: str, body: Any) -> tuple[Any, ProviderClient]:
    native.instead = body
    client = ProviderClient(
        PlayerSettings(model=model, name="N", base_url=native.url, key_env="K"), {"K": KEY}
    )
    await client.start()
    try:
        return await client.answer(call(Text())), client
    finally:
        await client.close()


@pytest.mark.parametrize("model", MODELS)
async def test_what_nobody_uses_cannot_spoil_a_native_reply(native: Native, model: str) -> None:
    for more in (
        {},
        {"id": None, "model": None, "role": 3, "type": None, "modelVersion": None, "responseId": 7},
        {"container": "x", "context_management": 3, "diagnostics": [1], "stop_details": "none"},
        {"promptFeedback": None, "createTime": "today", "automaticFunctionCallingHistory": 3, "error": None},
    ):
        answer, client = await native_answer(native, model, native_reply(model, **more))
        assert (answer.text, answer.input_tokens, answer.output_tokens) == ("said", 12, 4)
        assert (answer.refused, answer.truncated, client.warnings) == (False, False, ())


@pytest.mark.parametrize("model", MODELS)
async def test_native_replies_end_by_the_same_table(native: Native, model: str) -> None:
    async def ended(reason: Any) -> tuple[bool, bool, str]:
        answer, client = await native_answer(native, model, native_reply(model, reason=reason))
        return answer.refused, answer.truncated, " ".join(client.warnings)

    cut, refused, broken = (
        ("model_context_window_exceeded", "refusal", "error")
        if model.startswith("anthropic")
        else ("MAX_TOKENS", "RECITATION", "MALFORMED_FUNCTION_CALL")
    )
    assert await ended(cut) == (False, True, "")
    assert await ended(refused) == (True, False, "")
    assert "not known, 'DUNNO'" in (await ended("DUNNO"))[2]
    assert "does not say why" in (await ended(None))[2]
    with pytest.raises(PlayerError, match="broke off"):
        await ended(broken)
    with pytest.raises(PlayerError, match="broke off"):
        await native_answer(native, model, native_reply(model, text="", reason=None))


@pytest.mark.parametrize("model", MODELS)
async def test_an_error_in_a_native_reply_counts_as_its_status(native: Native, model: str) -> None:
    for error, kind, told in (
        ({"error": {"type": "billing_error", "code": 402, "message": "pay"}}, "permanent", "402.*pay"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            "transient",
            "529.*busy",
        ),
        ({"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}, "transient", "503.*later"),
        ({"error": {"code": 500, "message": "oops", "status": "INTERNAL"}}, "transient", "500.*oops"),
    ):
        with pytest.raises(PlayerError, match=told) as failed:
            await native_answer(native, model, error)
        assert (failed.value.kind, failed.value.maybe_paid) == (kind, False)


@pytest.mark.parametrize("model", MODELS)
async def test_native_usage_that_makes_no_sense_is_unknown(native: Native, model: str) -> None:
    names = (
        ("input_tokens", "output_tokens")
        if model.startswith("anthropic")
        else ("promptTokenCount", "candidatesTokenCount")
    )
    for counts in ((12, -4), (12, "4"), (12, 0), (0, 0), (12, None), (None, 4), (12, 4.5)):
        body = native_reply(model, usage=dict(zip(names, counts, strict=True)))
        answer, _ = await native_answer(native, model, body)
        assert (answer.text, answer.input_tokens, answer.output_tokens) == ("said", None, None), counts


async def test_thoughts_of_google_are_counted_wherever_they_are(native: Native) -> None:
    for usage in (
        {"promptTokenCount": 12, "candidatesTokenCount": 4, "thoughtsTokenCount": 50, "totalTokenCount": 66},
        {"promptTokenCount": 12, "candidatesTokenCount": 4, "totalTokenCount": 66},
    ):
        model = "google:gemini-2.5-flash"
        answer, _ = await native_answer(native, model, native_reply(model, usage=usage))
        assert (answer.input_tokens, answer.output_tokens) == (12, 54)


@pytest.mark.parametrize("model", MODELS)
async def test_tokens_read_from_a_cache_are_counted_and_are_part_of_the_input(
    native: Native, model: str
) -> None:
    native.usage = (
        {"input_tokens": 12, "cache_read_input_tokens": 88, "output_tokens": 4}
        if model.startswith("anthropic")
        else {"promptTokenCount": 100, "cachedContentTokenCount": 88, "candidatesTokenCount": 4}
    )
    client = await opened(model, native)
    answer = await client.answer(call(VERDICT))
    await client.close()
    assert (answer.input_tokens, answer.cached_tokens, answer.output_tokens) == (100, 88, 4)


@pytest.mark.parametrize("model", MODELS)
async def test_what_a_player_adds_to_its_requests_is_sent(model: str, native: Native) -> None:
    added = {"safetySettings": [{"category": "X", "threshold": "OFF"}]} if "google" in model else {"top_k": 5}
    for more in ({}, {"extra_body": added}):
        client = await opened(model, native, **more)
        await client.answer(call(Text(10)))
        await client.close()
    plain, extended = [body for _, body in native.seen]
    assert extended == plain | added
