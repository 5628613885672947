"""The metered gateway over real sockets before an imitated provider: exact money, no key, no overspend."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from datetime import date
from io import BytesIO
from random import Random
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from PIL import Image
from tests.servers.four_apis import SERVED, USAGES, Asked, FourApis, events, sends, sensible, stream, whole

from peerage.game.work import ModelCall
from peerage.players.agents import gateway
from peerage.players.agents.gateway import AT_ONCE, MOST_CONNECTIONS, MOST_REFUSALS, Gateway
from peerage.players.agents.gateway import GatewaySession as Session
from peerage.players.agents.gateway_forms import USUAL_OUTPUT
from peerage.players.client import MAX_BODY, PlayerError
from peerage.players.keys import PROVIDERS, Provider
from peerage.players.prices import OVERHEAD_TOKENS, price_of
from peerage.settings import PlayerSettings

KEY = "sk-provider-secret-0123456789"
RATES = {"input": 1.25, "output": 10, "cached": 0.125}
COST = 400 * 1250 + 600 * 125 + 70 * 10_000
"""1e-9 dollars of the usual reply, at `RATES`."""
BUDGET, TOKENS = 500_000_000, 500_000
FORMS = ("chat", "responses", "messages", "gemini")
PROMPT = "Mend the tests, please."


def request_of(form: str, streamed: bool = False, text: str = PROMPT) -> dict[str, Any]:
    """Return a request as an agent sends it, with the name of a model that it has for titles."""
    asked: dict[str, Any] = {"model": "their-small-model", "stream": streamed} if form != "gemini" else {}
    said = {"role": "user", "content": text}
    match form:
        case "responses":
            return asked | {"input": [said]}
        case "gemini":
            return {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    return asked | {"messages": [said]}


def path_of(form: str, streamed: bool = False) -> str:
    if form == "gemini":
        return f"/v1beta/models/theirs:{'streamGenerateContent?alt=sse' if streamed else 'generateContent'}"
    return {"chat": "/chat/completions", "responses": "/responses", "messages": "/v1/messages"}[form]


class Bench:
    """A gateway between a client of the tests and an imitated provider."""

    def __init__(self, provider: FourApis, gateway: Gateway, http: aiohttp.ClientSession) -> None:
        self.provider, self.gateway, self.http = provider, gateway, http
        self.session: Session

    @property
    def last(self) -> Asked:
        return self.provider.requests[-1]

    async def ask(
        self, form: str, body: Any = None, streamed: bool = False, **headers: str
    ) -> tuple[int, bytes, Mapping[str, str]]:
        given = {"x-goog-api-key": self.session.key} if form == "gemini" else {}
        given |= {"x-api-key": self.session.key} if form == "messages" else {}
        given = given or {"Authorization": f"Bearer {self.session.key}"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        url = self.session.url(form) + path_of(form, streamed)
        asked = request_of(form, streamed) if body is None else body
        content = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        async with self.http.post(url, data=BytesIO(content), headers=given) as reply:
            return reply.status, await reply.read(), reply.headers


@asynccontextmanager
async def bench(model: str = "openai:tiny", at: str = "url", **stated: Any) -> AsyncIterator[Bench]:
    async with FourApis() as provider, aiohttp.ClientSession() as http:
        own = {"base_url": getattr(provider, at), "key_env": "OWN"} if at else {}
        settings = PlayerSettings.model_validate(
            {"acp": ["agent"], "model": model, "price": RATES, "timeout_s": 5} | own | stated
        )
        gateway = Gateway(settings, {"OWN": KEY, "OPENAI_API_KEY": KEY}, price_of(settings, date(2026, 1, 1)))
        try:
            await gateway.start()
            one = Bench(provider, gateway, http)
            one.session = await gateway.open()
            one.session.begin(BUDGET, TOKENS)
            yield one
        finally:
            await gateway.close()


def worst_of(one: Bench) -> int:
    """Return the most that the last request may have cost: a token a byte, and its limit of output."""
    body = one.last.body
    limits = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    limit = next((body[name] for name in limits if name in body), None)
    limit = body["generationConfig"]["maxOutputTokens"] if limit is None else limit
    # compact, as it is sent
    size = len(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())
    return (size + OVERHEAD_TOKENS) * 1250 + int(limit) * 10_000


# ------------------------------------------------------------------------------------------ what is passed on


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("form", FORMS)
async def test_a_call_is_passed_on_and_counted_to_the_nano(form: str, streamed: bool) -> None:
    async with bench() as one:
        status, content, headers = await one.ask(form, streamed=streamed, User_Agent="me", X_Own="1")
        usage = USAGES[form]
        expected = b"".join(events(form, usage)) if streamed else json.dumps(whole(form, usage)).encode()
        assert (status, content) == (200, expected)
        assert headers["Content-Type"].startswith("text/event-stream" if streamed else "application/json")
        asked = one.last
        assert asked.headers["Authorization"] == f"Bearer {KEY}"
        assert not {"x-api-key", "x-goog-api-key", "X-Own"} & asked.headers.keys()
        assert "me" not in asked.headers["User-Agent"]
        assert asked.headers["Accept-Encoding"] == "identity"
        assert one.session.key not in str(asked)
        if form == "gemini":
            verb = "streamGenerateContent" if streamed else "generateContent"
            assert asked.path == f"/v1beta/models/tiny:{verb}"
            assert asked.query == ("alt=sse" if streamed else "")
            assert asked.body["generationConfig"]["maxOutputTokens"] == USUAL_OUTPUT
        else:
            assert asked.path == f"/v1/{path_of(form).removeprefix('/v1').lstrip('/')}"
            assert asked.body["model"] == "tiny"
        if form == "chat":
            assert asked.body.get("stream_options") == ({"include_usage": True} if streamed else None)
        if form == "responses":
            assert asked.body["store"] is False
        metered = one.session.end()
        (call,) = metered.calls
        assert (call.form, call.model, call.status, call.note, call.refused) == (form, SERVED, 200, "", "")
        assert (call.input_tokens, call.output_tokens, call.cached_tokens) == (1000, 70, 600)
        assert (call.cost_nano, metered.cost_nano, metered.possibly_nano) == (COST, COST, 0)
        assert metered[1:4] == (1000, 70, 600)
        assert metered.models == (SERVED,)
        assert (len(call.request), len(call.response)) == (64, 64)


@pytest.mark.parametrize(
    ("model", "form", "path", "key"),
    [
        ("anthropic:opus", "messages", "/v1/messages", "x-api-key"),
        ("anthropic:opus", "chat", "/v1/chat/completions", "Authorization"),
        ("google:pro", "gemini", "/v1beta/models/pro:generateContent", "x-goog-api-key"),
        ("google:pro", "chat", "/v1beta/openai/chat/completions", "Authorization"),
    ],
)
async def test_providers_with_an_api_of_their_own_are_asked_in_their_way(
    model: str, form: str, path: str, key: str
) -> None:
    async with bench(model, at="root") as one:
        assert (await one.ask(form, anthropic_beta="a"))[0] == 200
        assert one.last.path == path
        assert [name for name, value in one.last.headers.items() if KEY in value] == [key]
        assert one.last.headers.get("anthropic-beta") == ("a" if form == "messages" else None)
        assert one.last.headers.get("anthropic-version") == ("2023-06-01" if form == "messages" else None)


async def test_openai_itself_is_sent_the_newer_limit_and_openrouters_bill_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with FourApis() as provider:
        for name in ("openai", "openrouter"):
            monkeypatch.setitem(PROVIDERS, name, Provider(("OPENAI_API_KEY",), provider.url, "models"))
        async with bench(at="") as one:
            await one.ask("chat", request_of("chat") | {"max_tokens": 300})
            assert provider.requests[-1].body["max_completion_tokens"] == 300
            assert "max_tokens" not in provider.requests[-1].body
        async with bench("openrouter:a/b", at="") as one:
            for bill, expected in ((0.5, 500_000_000), (0.000001, COST), (-1, COST)):
                one.session.begin(2 * BUDGET, TOKENS)
                provider.next(sensible(USAGES["chat"] | {"cost": bill}))
                await one.ask("chat")
                assert one.session.end().cost_nano == expected


async def test_what_anthropic_writes_to_its_cache_is_paid_for() -> None:
    async with bench("anthropic:opus", at="root") as one:
        usage = {"input_tokens": 10, "cache_creation_input_tokens": 1001, "output_tokens": 5}
        kept = request_of("messages", text="x") | {
            "system": [{"type": "text", "text": "y" * 4000, "cache_control": {"type": "ephemeral"}}]
        }
        for hour, more in ((0, 251), (401, 401 + 150)):  # a quarter of what is kept, and an hour doubles it
            detail = {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": 1001 - hour}
            one.provider.next(sensible(usage | {"cache_creation": detail}))
            await one.ask("messages", kept)
            assert one.session.end().calls[-1].cost_nano == (1011 + more) * 1250 + 5 * 10_000
            one.session.begin(BUDGET, TOKENS)
        one.session = await one.gateway.open()
        one.session.begin(BUDGET, TOKENS)
        one.provider.next(sensible(None))
        await one.ask("messages", kept)
        size = len(json.dumps(one.last.body, separators=(",", ":")).encode())
        worst = (-(-5 * size // 4) + OVERHEAD_TOKENS) * 1250 + USUAL_OUTPUT * 10_000
        assert one.session.end().possibly_nano == worst
        one.session.begin(BUDGET, TOKENS)
        kept["system"][0]["cache_control"]["ttl"] = "1h"
        one.provider.next(sensible(None))
        await one.ask("messages", kept)
        size = len(json.dumps(one.last.body, separators=(",", ":")).encode())
        worst = (2 * size + OVERHEAD_TOKENS) * 1250 + USUAL_OUTPUT * 10_000
        assert one.session.end().possibly_nano == worst


async def test_of_a_conversation_that_goes_on_only_what_is_new_counts_by_the_byte() -> None:
    async with bench() as one:
        said = [{"role": "user", "content": "x" * 40_000}]
        for more in (0, 3_000):
            said += [{"role": "user", "content": "y" * more}] * bool(more)
            one.session.begin(BUDGET, TOKENS)
            one.provider.next(sensible({"prompt_tokens": 8_000, "completion_tokens": 70}))
            await one.ask("chat", {"model": "m", "max_tokens": 100_000, "messages": said, "tools": []})
        limit = one.last.body["max_tokens"]
        reserved = BUDGET - limit * 10_000
        new = len(json.dumps(said[1], separators=(",", ":"))) + 1
        assert reserved == pytest.approx((8_000 + 1_000 + new + OVERHEAD_TOKENS) * 1250, abs=10_000)
        one.session = await one.gateway.open()  # another agent's conversation is not known
        one.session.begin(BUDGET, TOKENS)
        await one.ask("chat", {"model": "m", "max_tokens": 100_000, "messages": said, "tools": []})
        assert one.last.body["max_tokens"] < limit - 3_000


async def test_counts_that_are_null_later_on_in_a_stream_are_as_they_were() -> None:
    async with bench() as one:
        start, *_, end, stop = events("messages", USAGES["messages"])
        one.provider.next(
            stream(start, end.replace(b'"output_tokens"', b'"input_tokens": null, "output_tokens"'), stop)
        )
        await one.ask("messages", streamed=True)
        assert one.session.end().cost_nano == COST


@pytest.mark.parametrize(
    ("form", "stated", "own", "sent"),
    [
        ("chat", {}, None, {"max_tokens": USUAL_OUTPUT}),
        ("chat", {}, 50, {"max_tokens": 50}),
        ("chat", {"max_tokens": 90, "max_completion_tokens": 80}, None, {"max_tokens": 80}),
        ("chat", {"max_completion_tokens": 80}, 90, {"max_completion_tokens": 80}),
        ("chat", {"max_tokens": -1}, None, {"max_tokens": USUAL_OUTPUT}),
        ("chat", {"max_tokens": 10**12}, None, {"max_tokens": 49_000}),
        ("responses", {"max_output_tokens": 700}, 600, {"max_output_tokens": 600}),
        ("messages", {"max_tokens": 700}, None, {"max_tokens": 700}),
        ("gemini", {"generationConfig": {"maxOutputTokens": 70}}, None, 70),
        ("gemini", {"generation_config": {"max_output_tokens": 70}}, 60, 60),
    ],
)
async def test_the_smallest_limit_is_sent(form: str, stated: Any, own: int | None, sent: Any) -> None:
    async with bench(max_tokens=own) as one:
        assert (await one.ask(form, request_of(form) | stated))[0] == 200
        body = one.last.body if form != "gemini" else one.last.body["generationConfig"]
        sent = sent if isinstance(sent, dict) else {"maxOutputTokens": sent}
        found = {name: body[name] for name in body if name.startswith("max")}
        if sent == {"max_tokens": 49_000}:  # what the money leaves
            assert 48_000 < found["max_tokens"] < 49_900
            assert worst_of(one) <= BUDGET < worst_of(one) + 11_000
        else:
            assert found == sent


async def test_a_lowered_limit_lowers_the_budget_of_thoughts() -> None:
    async with bench("anthropic:opus", at="root") as one:
        asked = request_of("messages") | {"max_tokens": 32_000}
        for budget, left, expected in (
            (31_999, BUDGET, {"type": "enabled", "budget_tokens": 31_999}),
            (31_999, 100_000_000, {"type": "enabled"}),
            (31_999, 15_000_000, {"type": "disabled"}),
        ):
            one.session.begin(left, TOKENS)
            await one.ask("messages", asked | {"thinking": {"type": "enabled", "budget_tokens": budget}})
            thinking = one.last.body["thinking"]
            assert thinking.items() >= expected.items()
            assert thinking.get("budget_tokens", 0) < one.last.body["max_tokens"]


async def test_the_players_own_settings_are_laid_over() -> None:
    own: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9, "extra_body": {"top_k": 7}}
    async with bench(**own, reasoning_effort="low", service_tier="flex") as one:
        for form in FORMS:
            await one.ask(form, request_of(form) | {"temperature": 1, "service_tier": "priority", "top_k": 1})
            body = one.last.body
            place = body["generationConfig"] if form == "gemini" else body
            assert (place["temperature"], place["topP" if form == "gemini" else "top_p"]) == (0.5, 0.9)
            assert body["top_k"] == 7
            tier = {"service_tier": "flex"} if form in ("chat", "responses") else {}
            assert {name: body[name] for name in body if name == "service_tier"} == tier
            effort = {"chat": "low", "responses": {"effort": "low"}}.get(form)
            assert body.get("reasoning_effort", body.get("reasoning")) == effort


async def test_a_flex_call_that_another_tier_served_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FourApis() as provider:
        monkeypatch.setitem(PROVIDERS, "openai", Provider(("OPENAI_API_KEY",), provider.url, "models"))
        stated = {"model": "openai:gpt-5-mini", "acp": ["a"], "service_tier": "flex"}
        settings = PlayerSettings.model_validate(stated)
        async with bench("openai:gpt-5-mini", at="", price=None, service_tier="flex", timeout_s=5) as one:
            reply = whole("chat", USAGES["chat"])
            flex = price_of(settings, date(2026, 1, 1)).cost_nano(1000, 70, 0, 600)
            assert flex
            for tier, times in (("flex", 1), ("default", 2)):
                provider.next(sends(json.dumps(reply | {"service_tier": tier}).encode()))
                await one.ask("chat")
                assert one.session.end().cost_nano == flex * times
                one.session.begin(BUDGET, TOKENS)


@pytest.mark.parametrize(
    ("form", "stated"),
    [
        (
            "chat",
            {"n": 8, "store": True, "web_search_options": {}, "plugins": [{"id": "web"}], "models": ["x"]},
        ),
        ("chat", {"tools": [{"type": "builtin_function"}, {"type": "web_search"}], "tool_choice": "auto"}),
        (
            "chat",
            {"modalities": ["audio"], "audio": {}, "prediction": {}, "enable_search": True, "route": "a"},
        ),
        ("responses", {"background": True, "tools": [{"type": "web_search"}], "tool_choice": "required"}),
        ("responses", {"tools": [{"type": "mcp", "server_url": "http://x"}, {"type": "code_interpreter"}]}),
        ("messages", {"tools": [{"type": "web_search_20250305", "name": "web_search"}], "mcp_servers": []}),
        (
            "messages",
            {"speed": "fast", "inference_geo": "us", "context_management": {}, "service_tier": "auto"},
        ),
        ("gemini", {"tools": [{"googleSearch": {}}, {"codeExecution": {}}, 7], "toolConfig": {}}),
        ("gemini", {"generationConfig": {"candidateCount": 8, "responseModalities": ["IMAGE"]}}),
    ],
)
async def test_what_would_act_elsewhere_or_cost_otherwise_is_dropped(form: str, stated: Any) -> None:
    async with bench() as one:
        await one.ask(form)
        plain = one.last.body
        assert (await one.ask(form, request_of(form) | stated))[0] == 200
        assert one.last.body == plain


async def test_an_agents_own_tools_are_passed_on() -> None:
    own = {"type": "function", "function": {"name": "edit", "parameters": {"type": "object"}}}
    named = {"type": "namespace", "name": "x", "tools": [own, {"type": "web_search"}]}
    async with bench() as one:
        await one.ask(
            "chat", request_of("chat") | {"tools": [own, {"type": "web_search"}], "tool_choice": "auto"}
        )
        assert (one.last.body["tools"], one.last.body["tool_choice"]) == ([own], "auto")
        await one.ask("responses", request_of("responses") | {"tools": [{"type": "custom"}, named]})
        assert one.last.body["tools"] == [{"type": "custom"}, named | {"tools": [own]}]
        await one.ask(
            "messages", request_of("messages") | {"tools": [{"name": "a"}, {"type": "bash_20250124"}]}
        )
        assert one.last.body["tools"] == [{"name": "a"}, {"type": "bash_20250124"}]
        declared = {"function_declarations": [{"name": "a"}], "googleSearch": {}}
        await one.ask("gemini", request_of("gemini") | {"tools": [declared]})
        assert one.last.body["tools"] == [{"functionDeclarations": [{"name": "a"}]}]
        use = {
            "type": "tool_use",
            "id": "1",
            "name": "w",
            "input": {"type": "file", "content": [{"type": "image"}]},
        }
        said = [{"role": "assistant", "content": [use]}, {"role": "user", "content": "y"}]
        assert (await one.ask("messages", {"messages": said}))[0] == 200
        assert one.last.body["messages"] == said


@contextmanager
def full_server() -> Iterator[str]:
    """The address of a server whose queue of connections is full."""
    with ExitStack() as held:
        server = held.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            other = held.enter_context(socket.socket())
            other.setblocking(False)
            with suppress(BlockingIOError):
                other.connect(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def png(side: int) -> str:
    """A picture of noise, in base64."""
    noise = Random(side).randbytes(side * side)
    Image.frombytes("L", (side, side), noise).save(out := BytesIO(), "PNG")
    return b64encode(out.getvalue()).decode()


def with_picture(form: str, data: str) -> dict[str, Any]:
    """A request about a picture, as each API has it."""
    url = f"data:image/png;base64,{data}"
    match form:
        case "chat":
            part: dict[str, Any] = {"type": "image_url", "image_url": {"url": url}}
        case "responses":
            said = [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]
            return request_of(form) | {"input": said}
        case "messages":
            source = {"type": "base64", "media_type": "image/png", "data": data}
            part = {"type": "image", "source": source}
        case _:
            return {"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}]}
    return request_of(form) | {"messages": [{"role": "user", "content": [part]}]}


@pytest.mark.parametrize("form", ["chat", "responses", "messages", "gemini"])
async def test_a_picture_is_passed_on_and_reserved_by_its_pixels(form: str) -> None:
    data = png(300)
    assert len(data) > 100_000
    async with bench() as one:
        one.session.begin(BUDGET, 60_000)  # fewer tokens than the picture has bytes
        status, _, _ = await one.ask(form, with_picture(form, data))
        assert status == 200
        assert data in json.dumps(one.last.body)
        one.session.begin(
            BUDGET, 10_000
        )  # more than a blank one has bytes, and fewer than its pixels count as
        Image.new("1", (3_000, 3_000)).save(out := BytesIO(), "PNG")
        assert len(out.getvalue()) < 3_000
        assert (await one.ask(form, with_picture(form, b64encode(out.getvalue()).decode())))[0] == 402
        (made,) = one.session.end().calls
        assert made.refused


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/webp", "audio/wav"])
async def test_what_has_no_measures_is_not_passed_on(kind: str) -> None:
    async with bench() as one:
        part = {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{png(9)}"}}
        status, reply, _ = await one.ask("chat", {"messages": [{"role": "user", "content": [part]}]})
        assert (status, one.provider.requests) == (400, [])
        assert b"is not passed on" in reply


IMAGE = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}


@pytest.mark.parametrize(
    ("form", "body", "words"),
    [
        ("chat", {"messages": [{"content": [{"type": "image_url"}]}]}, "'image_url' is not passed on"),
        ("chat", {"messages": [{"content": [{"type": "input_audio"}]}]}, "'input_audio' is not passed on"),
        ("messages", {"messages": [{"content": [IMAGE]}]}, "'image' is not passed on"),
        ("messages", {"system": [{"type": "document"}]}, "'document' is not passed on"),
        (
            "messages",
            {"messages": [{"content": [{"type": "tool_result", "content": [IMAGE]}]}]},
            "'image' is not passed on",
        ),
        (
            "responses",
            {"input": [{"type": "item_reference", "id": "1"}]},
            "'item_reference' is not passed on",
        ),
        (
            "responses",
            {"input": [{"type": "function_call_output", "output": [{"type": "input_file"}]}]},
            "'input_file' is not passed on",
        ),
        ("responses", {"input": "x", "previous_response_id": "r"}, "send the whole conversation"),
        ("gemini", {"contents": [{"parts": [{"inline_data": {}}]}]}, "'inline_data' is not passed on"),
        ("gemini", {"contents": [{"parts": [{"fileData": {}}]}]}, "'fileData' is not passed on"),
        (
            "gemini",
            {"contents": [{"parts": [{"functionResponse": {"parts": [{"inlineData": {}}]}}]}]},
            "'inlineData' is not passed on",
        ),
        ("gemini", {"contents": [], "cached_content": "c"}, "`cachedContent` is not passed on"),
        ("chat", b"{", "the body is no JSON"),
        ("chat", b"[" * 100_000, "the body is no JSON"),
        ("chat", [], "the body is no JSON object"),
    ],
)
async def test_what_no_limit_bounds_is_refused_in_words(form: str, body: Any, words: str) -> None:
    async with bench() as one:
        status, content, _ = await one.ask(form, body)
        error = json.loads(content)["error"]
        assert status == 400
        assert words in error["message"]
        metered = one.session.end()
        assert words in metered.calls[0].refused
        assert metered[1:6] == (0, 0, 0, 0, 0)
        assert one.provider.requests == []


# ---------------------------------------------------------------------------------------------- what it costs


BROKEN = {
    "no usage": (sensible(None), "", 200),
    "negative": (sensible({"prompt_tokens": -1, "completion_tokens": 3}), "", 200),
    "a fraction": (sensible({"prompt_tokens": 10, "completion_tokens": 0.5}), "", 200),
    "nothing for a text": (sensible({"prompt_tokens": 10, "completion_tokens": 0}), "", 200),
    "no JSON": (sends(b"<html>busy</html>", kind="text/html"), "what came is no JSON", 200),
    "cut off": (sends(json.dumps(whole("chat", USAGES["chat"])).encode()[:-9]), "what came is no JSON", 200),
    "an error of the server": (sends(b"{}", 500), "", 500),
    "an error inside": (
        sends(json.dumps({"error": {"code": 500, "message": "oops"}}).encode()),
        "an error inside of the reply: oops",
        200,
    ),
    "a stream that breaks off": (
        stream(*events("chat", USAGES["chat"])[:2], breaks=True),
        "the connection broke off",
        200,
    ),
    "an error inside of a reply that has begun": (
        sends(json.dumps({"error": {"code": 429, "message": "oops"}} | whole("chat", None)).encode()),
        "an error inside of the reply: oops",
        200,
    ),
    "an error in a stream": (
        stream(events("messages", USAGES["messages"])[0], b'data: {"type": "error", "message": "oops"}\n\n'),
        "an error inside of the reply: oops",
        200,
    ),
    "a stream that states usage and not its end": (
        stream(*events("messages", USAGES["messages"])[:2]),
        "it does not say why it ended",
        200,
    ),
    "a stream without its end": (
        stream(*events("chat", USAGES["chat"])[:1]),
        "it does not say why it ended",
        200,
    ),
    "silence": (sensible(wait=60), "no reply within 0.4 s", 0),
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_call_of_unknown_cost_counts_at_its_worst(fault: str) -> None:
    behaviour, note, status = BROKEN[fault]
    async with bench(timeout_s=0.4) as one:
        one.provider.next(behaviour)
        try:
            await one.ask("chat")
        except aiohttp.ClientError:
            assert fault == "a stream that breaks off"
        metered = one.session.end()
        (call,) = metered.calls
        assert (call.cost_nano, call.input_tokens, call.output_tokens) == (None, None, None)
        assert call.status == status
        assert note in call.note
        assert (metered.cost_nano, metered.possibly_nano) == (0, worst_of(one))
        assert metered[1:4] == (None, None, None)


@pytest.mark.parametrize(("wait", "known"), [(0.05, True), (0.6, False)])
async def test_an_agent_that_goes_before_a_streams_end_pays_what_the_provider_states(
    wait: float, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "LAST_S", 0.4)
    async with bench() as one:
        one.provider.next(stream(*events("chat", USAGES["chat"]), wait=wait))
        headers = {"Authorization": f"Bearer {one.session.key}"}
        url, body = one.session.url("chat") + path_of("chat", True), json.dumps(request_of("chat", True))
        async with aiohttp.ClientSession() as http, http.post(url, data=body, headers=headers) as reply:
            await reply.content.readany()
        await one.session.settled(3.0)
        (call,) = one.session.end().calls
        assert (call.cost_nano == COST, "broke off" in call.note) == (known, not known)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 503, 529])
async def test_an_error_that_costs_nothing_is_passed_on_without_the_key(status: int) -> None:
    async with bench() as one:
        said = json.dumps({"error": {"message": f"wrong key {KEY} or {KEY[::-1]}, be patient"}})
        one.provider.next(sends(said.encode(), status, Retry_After="7"))
        found, content, headers = await one.ask("chat")
        assert (found, headers["Retry-After"]) == (status, "7")
        assert json.loads(content) == {"error": {"message": "wrong key [key] or [key], be patient"}}
        metered = one.session.end()
        assert metered[1:6] == (0, 0, 0, 0, 0)
        assert metered.calls[0].status == status


async def test_an_error_for_credit_inside_of_a_reply_costs_nothing_and_is_noted() -> None:
    async with bench() as one:
        one.provider.next(
            sends(json.dumps({"error": {"code": "insufficient_quota", "message": KEY}}).encode())
        )
        assert (await one.ask("chat"))[:2] == (
            200,
            b'{"error": {"code": "insufficient_quota", "message": "[key]"}}',
        )
        metered = one.session.end()
        assert (metered.cost_nano, metered.possibly_nano) == (0, 0)
        assert metered.calls[0].note == "an error inside of the reply: [key]"


@pytest.mark.parametrize("form", FORMS)
async def test_an_unknown_reason_to_end_is_noted_and_counted(form: str) -> None:
    async with bench() as one:
        one.provider.next(sensible(reason="boredom"))
        await one.ask(form)
        metered = one.session.end()
        assert metered.calls[0].note == "it ended for 'boredom'"
        assert metered.cost_nano == COST


async def test_a_provider_that_ignores_the_limit_is_counted_as_it_states() -> None:
    async with bench() as one:
        one.provider.next(sensible({"prompt_tokens": 1000, "completion_tokens": 100_000}))
        await one.ask("chat")
        assert (await one.ask("chat"))[0] == 402  # nothing is left
        assert one.session.end().cost_nano == 1000 * 1250 + 100_000 * 10_000


async def test_without_a_price_tokens_alone_bound_and_the_cost_is_unknown() -> None:
    async with bench(price=None) as one:
        one.session.begin(0, 18_000)
        assert (await one.ask("chat"))[0] == 200
        assert one.last.body["max_tokens"] == USUAL_OUTPUT
        assert (await one.ask("chat"))[0] == 200
        assert one.last.body["max_tokens"] == 18_000 - 1070 - OVERHEAD_TOKENS - len(
            json.dumps(one.last.body | {"max_tokens": USUAL_OUTPUT}, separators=(",", ":"))
        )
        metered = one.session.end()
        assert (metered.cost_nano, metered.possibly_nano) == (None, 0)
        assert metered[1:4] == (2000, 140, 1200)


async def test_tokens_that_nobody_stated_are_taken_off_at_their_worst() -> None:
    async with bench(price=None) as one:
        one.session.begin(0, 18_000)
        one.provider.next(sensible(None))
        assert [(await one.ask("chat"))[0] for _ in range(2)] == [200, 402]


async def test_so_many_calls_of_an_agent_are_in_flight_at_most() -> None:
    flying, most = 0, 0

    async def behave(request: Any, body: dict[str, Any]) -> Any:
        nonlocal flying, most
        flying += 1
        most = max(most, flying)
        await asyncio.sleep(0.05)
        flying -= 1
        return await sensible()(request, body)

    async with bench(price={"input": 0, "output": 0}) as one:
        one.session.begin(0, 10**8)
        one.provider.usual = behave
        await asyncio.gather(*[one.ask("chat") for _ in range(2 * AT_ONCE)])
        assert most == AT_ONCE


async def test_a_free_model_costs_nothing_whatever_it_states() -> None:
    async with bench(price={"input": 0, "output": 0}) as one:
        one.provider.next(sensible(None))
        assert (await one.ask("chat"))[0] == 200
        metered = one.session.end()
        assert (metered.cost_nano, metered.possibly_nano) == (0, 0)


async def test_a_call_waits_for_the_money_of_those_in_flight() -> None:
    async with bench() as one:
        one.session.begin(15_000_000, TOKENS)
        one.provider.next(sensible(wait=0.3))
        first = asyncio.create_task(one.ask("chat"))
        while not one.provider.requests:
            await asyncio.sleep(0.01)
        assert one.last.body["max_tokens"] < 1500  # all that there is
        second = asyncio.create_task(one.ask("chat", request_of("chat") | {"max_tokens": 20}))
        await asyncio.sleep(0.1)
        assert len(one.provider.requests) == 1
        assert [(await task)[0] for task in (first, second)] == [200, 200]
        assert one.session.end().cost_nano == 2 * COST


async def test_what_cannot_fit_is_refused_as_the_provider_would() -> None:
    async with bench() as one:
        one.session.begin(1_000_000, TOKENS)
        for form in FORMS:
            status, content, headers = await one.ask(form)
            assert status == 402
            assert "Retry-After" not in headers
            error = json.loads(content)["error"]
            assert "insufficient budget" in error["message"]
            assert (error["type"], error["code"]) == (
                "billing_error",
                402 if form == "gemini" else "billing_error",
            )
        for _ in range(MOST_REFUSALS):
            assert (await one.ask("chat", b"no matter what"))[0] in (400, 402)
        assert b"no call is passed on any more" in (await one.ask("chat", b"no matter what"))[1]
        metered = one.session.end()
        assert len(metered.calls) == MOST_REFUSALS
        assert metered[1:6] == (0, 0, 0, 0, 0)
        assert b"nothing is asked of this agent now" in (await one.ask("chat"))[1]
        assert one.provider.requests == []


async def test_a_loop_of_calls_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("gateway", "gateway_account"):
        monkeypatch.setattr(f"peerage.players.agents.{module}.MOST_CALLS", 60)
    async with bench(price={"input": 0, "output": 0}) as one:
        one.session.begin(0, 10**9)
        statuses = [(await one.ask("chat"))[0] for _ in range(62)]
        assert statuses == [200] * 60 + [402] * 2
        assert one.session.end().spent, "an agent that fails at that is not asked for as many again"


@pytest.mark.parametrize("seed", range(4))
async def test_fifty_calls_at_once_never_spend_too_much(seed: int) -> None:
    rng = Random(seed)
    budget, share = rng.randrange(150_000_000, 400_000_000), rng.choice([1.0, 0.5, 0.1])

    async def behave(request: Any, body: dict[str, Any]) -> Any:
        limit = body["max_tokens"]
        size = len(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())
        await asyncio.sleep(rng.random() * 0.01)
        usage = {
            "prompt_tokens": round(size * share) + rng.choice([1, OVERHEAD_TOKENS]),
            "completion_tokens": rng.choice([limit, rng.randrange(1, limit + 1)]),
        }
        faults = [sensible(None), sends(b"{}", 500), sends(b"{}", 429), stream(b"data: {}\n\n", breaks=True)]
        fault = rng.choice(faults)
        return await (fault if rng.random() < 0.2 else sensible(usage))(request, body)

    async def ask(one: Bench) -> int:
        body = request_of("chat", rng.random() < 0.5, "ä" * rng.randrange(1, 2000))
        try:
            return (await one.ask("chat", body | {"max_tokens": rng.randrange(1, 4000)}))[0]
        except aiohttp.ClientError:
            return 0

    async with bench() as one:
        one.session.begin(budget, TOKENS)
        one.provider.usual = behave
        statuses = await asyncio.gather(*[ask(one) for _ in range(50)])
        metered = one.session.end()
        assert metered.cost_nano is not None
        assert metered.cost_nano + metered.possibly_nano <= budget
        assert statuses.count(200) >= 3
        known = [call.cost_nano for call in metered.calls if call.cost_nano is not None]
        assert metered.cost_nano == sum(known)


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_end_of_a_request_breaks_its_calls_off(streamed: bool) -> None:
    async with bench() as one:
        one.provider.next(sensible(wait=60))
        call = asyncio.create_task(one.ask("chat", streamed=streamed))
        while not one.provider.requests:
            await asyncio.sleep(0.01)
        await one.session.settled(0.05)
        metered = one.session.end()
        assert (metered.cost_nano, metered.possibly_nano) == (0, worst_of(one))
        assert metered.calls[0].note == "broken off as the request ended"
        with pytest.raises(aiohttp.ClientError):
            await call
        async with asyncio.timeout(2):
            while not one.provider.broken_off:
                await asyncio.sleep(0.01)
        one.session.begin(BUDGET, TOKENS)
        assert (await one.ask("chat"))[0] == 200
        assert one.session.end().cost_nano == COST


async def test_an_agent_that_hangs_up_pays_what_it_may_have_cost() -> None:
    async with bench() as one:
        parts = events("chat", USAGES["chat"])
        one.provider.next(stream(parts[0], *[b": wait\n\n"] * 40, wait=0.05))
        url, body = one.session.url("chat") + "/chat/completions", request_of("chat", True)
        async with one.http.post(url, json=body, headers={"x-api-key": one.session.key}) as reply:
            await reply.content.readline()
            reply.close()
        await one.session.settled(5)
        assert one.session.end().possibly_nano == worst_of(one)


# --------------------------------------------------------------------------------------- who may ask, keys


async def test_a_session_is_known_by_its_key_and_a_socket_is_for_it_alone() -> None:
    async with bench() as one:
        first, second, alone = one.session, await one.gateway.open(), socket.create_server(("127.0.0.1", 0))
        await one.gateway.listen(second, alone)
        second.begin(BUDGET, TOKENS)
        body = request_of("chat")
        inside = f"http://127.0.0.1:{alone.getsockname()[1]}/v1"
        for url, key, status in (
            (inside, second.key, 200),
            (inside, first.key, 401),
            (inside, KEY, 401),
            (second.url("chat"), second.key, 200),
            (second.url("chat"), "", 401),
            (second.url("chat"), first.key + "x", 401),
        ):
            headers = {"Authorization": f"Bearer {key}"}
            async with one.http.post(f"{url}/chat/completions", json=body, headers=headers) as reply:
                assert reply.status == status
        assert second.end().cost_nano == 2 * COST
        assert first.end().calls == ()
        async with one.http.post(f"{first.url('gemini')}{path_of('gemini')}?key={first.key}") as reply:
            assert reply.status == 402
        await second.close()
        one.session = second
        assert (await one.ask("chat"))[0] == 401
        with pytest.raises(PlayerError, match="gateway cannot listen"):
            await one.gateway.listen(second, alone)  # which is closed


async def test_other_addresses_are_not_served() -> None:
    async with bench() as one:
        root, headers = one.session.url("gemini"), {"x-api-key": one.session.key}
        for method, path in (
            ("GET", "/v1/chat/completions"),
            ("POST", "/v1/files"),
            ("POST", "/v1/messages/count_tokens"),
            ("POST", "/v1beta/models/x:embedContent"),
            ("POST", "/v1/models"),
            ("DELETE", "/v1/responses/r1"),
            ("POST", "/v1/../admin/chat/completions"),
        ):
            async with one.http.request(method, root + path, headers=headers) as reply:
                assert reply.status == 404
        for path in ("/models", "/v1/models", "/v1beta/models"):
            async with one.http.get(root + path, headers=headers) as reply:
                assert [model["id"] for model in (await reply.json())["data"]] == ["tiny"]
        assert one.provider.requests == []
        assert one.gateway.port > 0


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_providers_key_reaches_nobody(streamed: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with bench() as one:
        reply = whole("chat", USAGES["chat"]) | {"model": KEY, "service_tier": KEY}
        reply["choices"][0]["finish_reason"] = KEY
        lines = [f"data: {json.dumps(reply)}\n\n".encode()]
        parts = [lines[0][:at] for at in (40,)] + [lines[0][40:], b"data: " + KEY.encode()]
        one.provider.next(stream(*parts, wait=0.02) if streamed else sends(json.dumps(reply).encode()))
        status, content, headers = await one.ask("chat", streamed=streamed)
        assert status == 200
        assert KEY.encode() not in content
        assert content.count(b"[key]") == (4 if streamed else 3)
        assert KEY not in str(headers) + str(one.session.end()) + caplog.text


@pytest.mark.parametrize("status", [200, 429])
async def test_the_providers_key_in_a_header_reaches_nobody(status: int) -> None:
    async def behave(_: Any, __: Any) -> web.Response:
        headers = {"Content-Type": f"application/json; key={KEY}", "Retry-After": KEY.upper()}
        return web.Response(body=b"{}", status=status, headers=headers)

    async with bench() as one:
        one.provider.next(behave)
        found, _, headers = await one.ask("chat")
        assert (found, headers["Retry-After"]) == (status, "[key]")
        assert headers["Content-Type"] == "application/json; key=[key]"


async def test_a_redirect_to_another_server_is_not_followed() -> None:
    async with FourApis() as other, bench() as one:
        one.provider.next(sends(b"", 307, Location=f"{other.url}/chat/completions"))
        status, content, _ = await one.ask("chat")
        assert status == 502
        assert "redirects to" in json.loads(content)["error"]["message"]
        assert other.requests == []
        metered = one.session.end()
        assert (metered.cost_nano, metered.possibly_nano) == (0, 0)
        one.session.begin(BUDGET, TOKENS)
        one.provider.next(sends(b"", 307, Location="/elsewhere/chat/completions"))
        assert (await one.ask("chat"))[0] == 200
        assert one.session.end().cost_nano == COST


async def test_a_provider_that_cannot_be_reached_costs_nothing() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with bench(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as one:
            status, content, _ = await one.ask("messages")
            assert status == 502
            assert json.loads(content)["error"]["message"].startswith("no connection")
            metered = one.session.end()
            assert metered[1:6] == (0, 0, 0, 0, 0)
            assert metered.calls[0] == ModelCall(
                "messages",
                input_tokens=0,
                output_tokens=0,
                cost_nano=0,
                milliseconds=metered.calls[0].milliseconds,
                request=metered.calls[0].request,
                note=metered.calls[0].note,
            )


async def test_a_connection_that_never_opens_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.players.session.CONNECT_S", 0.2)
    with full_server() as url:
        async with bench(base_url=url) as one:
            assert (await one.ask("chat"))[0] == 502
            metered = one.session.end()
            assert metered.calls[0].note.startswith("no connection")
            assert metered[1:6] == (0, 0, 0, 0, 0)


WIRE = {
    "no length of a chunk": "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk cut off": "Transfer-Encoding: chunked\r\n\r\nffff\r\n{}",
    "a body cut off": "Content-Length: 99\r\n\r\n{}",
    "no gzip": "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    "nothing": "Content-Length: 0\r\n\r\n",
    "no events": "Content-Type: text/event-stream\r\n\r\n{}",
}


@pytest.mark.parametrize("fault", WIRE)
async def test_nonsense_on_the_wire_counts_at_its_worst(fault: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100_000)
        writer.write(f"HTTP/1.1 200 OK\r\n{WIRE[fault]}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, bench(base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1") as one:
        with suppress(aiohttp.ClientError):
            await one.ask("chat")
        metered = one.session.end()
        assert (len(metered.calls), metered.cost_nano) == (1, 0)
        assert metered.possibly_nano > USUAL_OUTPUT * 10_000


@pytest.mark.parametrize("streamed", [False, True])
async def test_floods_are_cut_off(streamed: bool) -> None:
    async with bench() as one:
        block = b"data: " + b"x" * 2**20 + b"\n\n"
        flood = [block] * 9
        one.provider.next(stream(*flood) if streamed else sends(b"".join(flood)))
        if streamed:
            with pytest.raises(aiohttp.ClientError):
                await one.ask("chat", streamed=True)
        else:
            assert (await one.ask("chat"))[0] == 502
        assert one.session.end().possibly_nano == worst_of(one)
        one.session.begin(BUDGET, TOKENS)
        status, content, _ = await one.ask("chat", b" " * (MAX_BODY + 1))
        assert status == 413
        assert b"longer than 8 MiB" in content
        one.session.begin(BUDGET, 1_500)  # what the tokens that are left do not allow is no fault of its form
        assert (await one.ask("chat", request_of("chat", text="x" * 10_000)))[0] == 402
        assert one.session.end().spent
        one.session.begin(BUDGET, TOKENS)
        assert (await one.ask("chat"))[0] == 200


async def test_connections_without_end_do_not_keep_others_out() -> None:
    async with bench() as one:
        address, opened = ("127.0.0.1", one.gateway.port), []
        for _ in range(MOST_CONNECTIONS + 20):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n")
            opened.append((reader, writer))
        await asyncio.sleep(0.1)
        assert opened[-1][0].at_eof() or opened[-1][0].exception() is not None
        for _, writer in opened:
            writer.close()
        await asyncio.sleep(0.1)
        assert (await one.ask("chat"))[0] == 200


async def test_garbage_on_the_wire_is_answered_and_fills_no_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for known in [*logging.root.manager.loggerDict.values()]:  # as libraries do that set up logging
        if isinstance(known, logging.Logger):
            monkeypatch.setattr(known, "disabled", False)
    async with bench() as one:
        for garbage in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET \xff HTTP/9.9\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", one.gateway.port)
            writer.write(garbage)
            assert b"400" in await reader.read(12)
            writer.close()
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {one.session.key}\r\n"
        for broken in (
            b"Content-Length: 99\r\n\r\n{",
            b"Content-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc",
        ):
            _, writer = await asyncio.open_connection("127.0.0.1", one.gateway.port)
            writer.write(head.encode() + broken)
            await asyncio.sleep(0.05)
            writer.close()
        assert caplog.text == ""
        assert (await one.ask("chat"))[0] == 200


async def test_a_missing_key_is_named_before_anything_is_asked() -> None:
    settings = PlayerSettings.model_validate({"acp": ["agent"], "model": "openai:tiny", "name": "ada"})
    gateway = Gateway(settings, {}, price_of(settings, date(2026, 1, 1)))
    with pytest.raises(PlayerError, match="ada: no key; set OPENAI_API_KEY") as failed:
        await gateway.start()
    assert failed.value.kind == "permanent"
    await gateway.close()
    await gateway.close()
