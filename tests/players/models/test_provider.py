"""Models over HTTP: what is sent, what is read, and what each misbehaviour of a server becomes."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct
from pydantic_ai._special_tokens import break_special_tokens
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer

from peerage.game.protocol import Choice, Json, Text
from peerage.players import open_client
from peerage.players.client import MAX_TEXT, Call, Later, PlayerError
from peerage.players.models.provider import ProviderClient
from peerage.players.models.translation import conversation, turns
from peerage.settings import PlayerSettings
from peerage.values.clock import now_ms

KEY = "sk-very-secret-0123456789"
VERDICT = Choice("verdict", ("A", "B", "tie"))


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


def settings_for(server: OpenAIServer, **stated: Any) -> PlayerSettings:
    return PlayerSettings(
        **{"model": "openai:tiny", "name": "Tiny", "base_url": server.url, "key_env": "TINY_KEY", **stated}
    )


async def opened(settings: PlayerSettings) -> ProviderClient:
    client = open_client(settings, {"TINY_KEY": KEY}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    return client


PLAIN = Text()


def call(expects: Any = PLAIN, **stated: Any) -> Call:
    usual: dict[str, Any] = {
        "key": "answer/A",
        "role": "contestant",
        "messages": (("system", "Be brief."), ("user", "Why?")),
        "expects": expects,
        "max_tokens": 300,
        "temperature": None,
        "seed": "s",
    }
    return Call(**{**usual, **stated})


async def failure(client: ProviderClient, asked: Call | None = None) -> PlayerError:
    with pytest.raises(PlayerError) as caught:
        await client.answer(asked or call())
    await client.close()
    return caught.value


async def test_a_call_carries_the_prompt_the_limit_and_the_settings(server: OpenAIServer) -> None:
    client = await opened(settings_for(server, temperature=0.4, top_p=0.9, max_tokens=200))
    answer = await client.answer(call())
    await client.close()
    assert answer.text == "A plain answer."
    assert (answer.input_tokens, answer.output_tokens) == (11, 7)
    assert answer.snapshot == "tiny-2026-01-01"
    assert answer.cost_usd is None
    assert 0 < answer.latency_s < 5
    assert not answer.refused
    assert not answer.truncated
    sent = server.requests[0]
    assert server.url.endswith("/v1")
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert sent.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    ]
    assert {name: sent.body[name] for name in ("model", "max_tokens", "temperature", "top_p")} == {
        "model": "tiny",
        "max_tokens": 200,
        "temperature": 0.4,
        "top_p": 0.9,
    }
    assert "response_format" not in sent.body


async def test_requests_of_one_form_carry_their_own_texts(server: OpenAIServer) -> None:
    client = await opened(settings_for(server))
    asked: list[Any] = [(("user", f"{number}?"),) for number in range(3)]
    asked.insert(1, (("system", "S"), ("user", "0?")))
    for messages in asked:
        await client.answer(call(messages=messages))
    await client.answer(call(VERDICT, messages=asked[0]))
    await client.close()
    sent = [[(one["role"], one["content"]) for one in got.body["messages"]] for got in server.requests]
    assert sent == [[*messages] for messages in (*asked, asked[0])]
    assert ["response_format" in got.body for got in server.requests] == [False] * 4 + [True]


@pytest.mark.parametrize(
    "token",
    [
        "<|im_start|>",
        "<｜User｜>",
        "<|turn>",
        "<turn|>",
        "<end_of_turn>",
        "[|user|]",
        "[/INST]",
        "[TOOL_CALLS]",
        "[SYSTEM_PROMPT]",
        "[e~[",
        "]~b]",
        "]~!b[",
    ],
)
async def test_a_special_token_in_a_text_is_broken_on_its_way_and_whole_in_the_reply(
    token: str, server: OpenAIServer
) -> None:
    client = await opened(settings_for(server))
    await client.answer(call(messages=(("user", "Why?"),)))
    text = f"Why {token}?"
    broken = break_special_tokens(text)
    server.next(behave.reply(broken))
    answer = await client.answer(call(messages=(("user", text),)))
    await client.close()
    assert broken != text
    assert server.requests[-1].body["messages"] == [{"role": "user", "content": broken}]
    assert answer.text == text


async def test_the_games_temperature_goes_before_the_players(server: OpenAIServer) -> None:
    client = await opened(settings_for(server, temperature=0.4))
    await client.answer(call(temperature=0.0))
    await client.close()
    assert server.requests[0].body["temperature"] == 0.0


async def test_a_choice_asks_for_native_structured_output(server: OpenAIServer) -> None:
    client = await opened(settings_for(server))
    answer = await client.answer(call(VERDICT))
    await client.close()
    asked = server.requests[0].body["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["schema"]["properties"]["verdict"]["enum"] == ["A", "B", "tie"]
    assert VERDICT.parse(answer.text).choice == "A"


class Raise(Struct, frozen=True, tag="raise"):
    by: Annotated[int, Meta(ge=1, le=9, description="Coins.")]


class Fold(Struct, frozen=True, tag="fold"):
    pass


class Turn(Struct, frozen=True):
    """What you do."""

    move: Raise | Fold
    words: Annotated[
        tuple[Annotated[str, Meta(pattern="^[a-z]+$", examples=["hm"])], ...], Meta(max_length=2)
    ]
    note: str | None


async def test_a_struct_asks_for_strict_structured_output(server: OpenAIServer) -> None:
    client = await opened(settings_for(server))
    await client.answer(call(Json(Turn)))
    await client.close()
    asked = server.requests[0].body["response_format"]["json_schema"]
    assert asked["strict"] is True
    todo, objects = [asked["schema"]], 0
    while todo:
        schema = todo.pop()
        assert not schema.keys() & {"$ref", "$defs", "examples", "default", "oneOf"}
        if schema.get("type") == "object":
            objects += 1
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
        todo += [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
        todo += [schema["items"]] if "items" in schema else []
    assert objects == 3


async def test_structured_false_asks_plainly(server: OpenAIServer) -> None:
    client = await opened(settings_for(server, structured=False))
    await client.answer(call(VERDICT))
    await client.close()
    assert "response_format" not in server.requests[0].body


@pytest.mark.parametrize(
    ("complaint", "stated", "expects", "gone"),
    [
        ("Unsupported value: 'temperature' is fixed", {"temperature": 0.0}, Text(), "temperature"),
        ("response_format of type json_schema is not supported", {}, VERDICT, "response_format"),
    ],
)
async def test_what_a_game_asks_for_and_the_server_rejects_is_left_out_from_then_on(
    server: OpenAIServer, complaint: str, stated: dict[str, Any], expects: Any, gone: str
) -> None:
    client = await opened(settings_for(server))
    assert client.warnings == ()
    server.next(behave.status(400, error={"message": complaint, "type": "invalid_request_error"}))
    await client.answer(call(expects, **stated))
    await client.close()
    assert gone in server.requests[0].body
    assert gone not in server.requests[1].body
    assert len(client.warnings) == 1
    later = await opened(settings_for(server))
    later.leave_out(client.left_out)
    await later.answer(call(expects, **stated))
    await later.close()
    assert gone not in server.requests[2].body, "what is on record is left out from the first call on"


@pytest.mark.parametrize(
    ("code", "kind", "maybe_paid", "says"),
    [
        (401, "permanent", False, "TINY_KEY"),
        (403, "permanent", False, "TINY_KEY"),
        (404, "permanent", False, "base_url"),
        (400, "request", False, "turned down"),
        (402, "permanent", False, "credit"),
        (408, "transient", False, "failed"),
        (429, "transient", False, "rate limit"),
        (500, "transient", True, "failed"),
        (502, "transient", True, "failed"),
        (503, "transient", False, "failed"),
    ],
)
async def test_statuses(server: OpenAIServer, code: int, kind: str, maybe_paid: bool, says: str) -> None:
    server.next(behave.status(code))
    error = await failure(await opened(settings_for(server)))
    assert (error.kind, error.maybe_paid) == (kind, maybe_paid)
    assert str(error).startswith("Tiny: ")
    assert says in str(error)


async def test_retry_after_in_seconds_and_as_a_date(server: OpenAIServer) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    server.next(behave.status(429, {"Retry-After": "7"}), behave.status(503, {"Retry-After": later}))
    client = await opened(settings_for(server))
    with pytest.raises(PlayerError) as first:
        await client.answer(call())
    with pytest.raises(PlayerError) as second:
        await client.answer(call())
    await client.close()
    assert first.value.retry_after_s == 7
    assert second.value.retry_after_s == pytest.approx(3600, abs=600)


async def test_an_empty_account_is_permanent_and_a_long_prompt_the_requests_own(server: OpenAIServer) -> None:
    server.next(
        behave.status(
            429, error={"message": "no funds", "type": "insufficient_quota", "code": "insufficient_quota"}
        ),
        behave.status(400, error={"message": "too long", "code": "context_length_exceeded"}),
    )
    client = await opened(settings_for(server))
    with pytest.raises(PlayerError, match="credit") as quota:
        await client.answer(call())
    length = await failure(client)
    assert (quota.value.kind, length.kind) == ("permanent", "request")
    assert "longer than the model takes" in str(length)


@pytest.mark.parametrize(
    "misbehaviour",
    [behave.drop(), behave.drop_mid_body(), behave.truncated_json(), behave.empty_choices()],
    ids=["drop", "drop_mid_body", "truncated_json", "empty_choices"],
)
async def test_a_broken_reply_is_transient_and_may_have_been_paid(
    server: OpenAIServer, misbehaviour: behave.Behaviour
) -> None:
    server.next(misbehaviour)
    error = await failure(await opened(settings_for(server)))
    assert (error.kind, error.maybe_paid) == ("transient", True)


@pytest.mark.parametrize("text", ["", "[]", '"hello"', "null", "[" * 100_000, '{"choices": 3}', "\x00\xff"])
async def test_a_body_that_is_no_completion(server: OpenAIServer, text: str) -> None:
    server.next(behave.body(text))
    error = await failure(await opened(settings_for(server)))
    assert error.kind == "transient"
    assert "no chat completion" in str(error)


@pytest.mark.parametrize("broken", ["\\ud83d", "\\uDE00", "\\ud83d\\ud83d", "\x00"])
async def test_half_a_surrogate_pair_becomes_a_replacement(server: OpenAIServer, broken: str) -> None:
    whole = json.dumps(behave.completion("cut HERE \N{GRINNING FACE}"))
    server.next(behave.body(whole.replace("HERE", broken)))
    client = await opened(settings_for(server))
    answer = await client.answer(call())
    await client.close()
    assert answer.text == f"cut {chr(0xFFFD) * max(1, broken.count(chr(92)))} \N{GRINNING FACE}"
    assert len(server.requests) == 1


async def test_a_web_page_is_named_as_such(server: OpenAIServer) -> None:
    server.next(behave.body("<html>hello</html>", "text/html"))
    error = await failure(await opened(settings_for(server)))
    assert "text/html" in str(error)
    assert "base_url" in str(error)


async def test_of_an_error_page_the_beginning_is_told(server: OpenAIServer) -> None:
    server.next(behave.body("<h1>Bad gateway</h1>" + "é" * 1000, "text/html", 502))
    said = str(await failure(await opened(settings_for(server))))
    assert "(502): <h1>Bad gateway</h1>éé" in said
    assert said.count("é") == 140, "300 bytes of UTF-8, of which 20 are the heading"


@pytest.mark.parametrize("said", [{"message": "overloaded"}, {"error": "overloaded"}, "overloaded"], ids=str)
async def test_what_went_wrong_is_told_in_whichever_form_a_server_says_it(
    server: OpenAIServer, said: object
) -> None:
    text = said if isinstance(said, str) else json.dumps(said)
    server.next(behave.body(text, code=503))
    assert "(503): overloaded" in str(await failure(await opened(settings_for(server))))


async def test_silence_times_out(server: OpenAIServer) -> None:
    server.next(behave.hang())
    async with asyncio.timeout(60):  # half of the usual limit
        error = await failure(await opened(settings_for(server, timeout_s=0.2)))
    assert (error.kind, error.maybe_paid) == ("transient", True)
    assert "0.2 s" in str(error)


async def test_nobody_there_cost_nothing(server: OpenAIServer) -> None:
    settings = settings_for(server, base_url="http://127.0.0.1:9/v1")
    error = await failure(await opened(settings))
    assert (error.kind, error.maybe_paid) == ("transient", False)


async def test_enormous_replies_are_cut_and_monstrous_ones_refused(server: OpenAIServer) -> None:
    server.next(behave.enormous(MAX_TEXT + 10), behave.enormous(9 * 2**20))
    client = await opened(settings_for(server))
    answer = await client.answer(call())
    assert len(answer.text) == MAX_TEXT
    assert answer.truncated
    assert "MiB" in str(await failure(client))


async def test_refusals_filters_and_lengths(server: OpenAIServer) -> None:
    server.next(
        behave.reply(None, refusal="I cannot help with that."),
        behave.reply("half a", finish="content_filter"),
        behave.status(400, error={"message": "flagged", "code": "content_filter"}),
        behave.reply("half a", finish="length"),
        behave.reply(""),
    )
    client = await opened(settings_for(server))
    refused = await client.answer(call())
    assert (refused.refused, refused.text) == (True, "I cannot help with that.")
    assert (await client.answer(call())).refused
    assert (await client.answer(call())).refused
    assert (await client.answer(call())).truncated
    empty = await client.answer(call())
    assert (empty.text, empty.refused, empty.truncated) == ("", False, False)
    await client.close()


async def test_usage_that_is_not_reported_is_unknown(server: OpenAIServer) -> None:
    server.next(behave.body(json.dumps({**behave.completion("hi"), "usage": None})))
    client = await opened(settings_for(server))
    answer = await client.answer(call())
    await client.close()
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


@pytest.mark.parametrize("total", [{}, {"total_tokens": None}])
async def test_a_usage_without_its_total_loses_no_reply(server: OpenAIServer, total: dict[str, None]) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, **total}
    server.next(behave.body(json.dumps({**behave.completion("hi"), "usage": usage})))
    client = await opened(settings_for(server))
    answer = await client.answer(call())
    await client.close()
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("hi", 11, 7)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": 7},
        {"prompt_tokens": 11, "completion_tokens": -7},
        {"prompt_tokens": 11, "completion_tokens": 1e300},
        {"prompt_tokens": 11, "completion_tokens": "many"},
        {"prompt_tokens": 10**30, "completion_tokens": 7},
        {"prompt_tokens": 11, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": -9}},
        {"prompt_tokens": 11, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": "x"}},
        [11, 7],
        "11",
    ],
    ids=str,
)
async def test_usage_that_cannot_be_is_unknown_and_asks_for_no_second_call(
    server: OpenAIServer, usage: object
) -> None:
    server.next(behave.body(json.dumps({**behave.completion("hi"), "usage": usage})))
    client = await opened(settings_for(server))
    answer = await client.answer(call())
    await client.close()
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("hi", None, None)


async def test_a_key_is_in_no_message_and_no_repr(server: OpenAIServer) -> None:
    server.next(behave.status(401, error={"message": f"Incorrect API key provided: {KEY}."}))
    client = await opened(settings_for(server))
    shown = repr(client) + str(client)
    error = await failure(client)
    assert KEY not in str(error) + repr(error) + shown
    assert "[key]" in str(error)


async def test_what_a_server_said_and_what_to_do_are_one_sentence(server: OpenAIServer) -> None:
    server.next(behave.status(401, error={"message": "Incorrect API key provided."}))
    client = await opened(settings_for(server))
    assert "(401): Incorrect API key provided; check the key in" in str(await failure(client))


async def test_a_missing_key_says_where_to_put_it(server: OpenAIServer) -> None:
    client = open_client(settings_for(server, key_env="NOT_SET"), {"OPENAI_API_KEY": KEY}, Path())
    with pytest.raises(PlayerError, match="NOT_SET") as caught:
        await client.start()
    assert caught.value.kind == "permanent"


async def test_another_server_never_gets_the_providers_key(server: OpenAIServer) -> None:
    settings = settings_for(server, key_env="")
    client = open_client(settings, {"OPENAI_API_KEY": KEY}, Path())
    await client.start()
    await client.answer(call())
    await client.close()
    assert KEY not in json.dumps(server.requests[0].headers)


async def test_many_calls_at_once_share_one_session(server: OpenAIServer) -> None:
    all_there = asyncio.Barrier(200)

    async def together(request: Any, asked: dict[str, Any]) -> Any:
        await all_there.wait()  # nobody is answered before everybody has asked
        return await behave.sensible(request, asked)

    server.always(together)
    client = await opened(settings_for(server))
    answers = await asyncio.gather(*(client.answer(call()) for _ in range(200)))
    await client.close()
    assert len(answers) == 200


async def test_closing_twice_and_asking_after_is_an_error(server: OpenAIServer) -> None:
    client = await opened(settings_for(server))
    await client.close()
    await client.close()
    with pytest.raises(PlayerError, match="started"):
        await client.answer(call())


def test_turns_alternate_and_one_system_text_stands_in_front() -> None:
    made = conversation(
        turns(
            (
                ("system", "first"),
                ("user", "a"),
                ("user", "b"),
                ("assistant", "c"),
                ("system", "late"),
                ("user", "d"),
            )
        )
    )
    assert [[type(part).__name__ for part in message.parts] for message in made] == [
        ["SystemPromptPart", "UserPromptPart"],
        ["TextPart"],
        ["UserPromptPart"],
    ]
    assert [part.content for message in made for part in message.parts] == [  # type: ignore[union-attr]
        "first\n\nlate",
        "a\n\nb",
        "c",
        "d",
    ]


@pytest.mark.parametrize(
    ("model", "stated", "reported"),
    [
        ("openai:o3", {"temperature": 0.5}, ("temperature",)),
        ("openai:gpt-5-mini", {"top_p": 0.5}, ("top_p",)),
        ("openai:gpt-4o", {"temperature": 0.5}, ()),
        ("openai:gpt-5-mini", {"reasoning_effort": "high"}, ()),
    ],
)
async def test_what_a_known_model_does_not_take_is_reported_at_start(
    model: str, stated: dict[str, Any], reported: tuple[str, ...]
) -> None:
    client = open_client(PlayerSettings(model=model, **stated), {"OPENAI_API_KEY": KEY}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    await client.close()
    assert len(client.warnings) == len(reported)
    assert all(name in warning for name, warning in zip(reported, client.warnings, strict=True))


UNAVAILABLE = {
    "message": "Resource Unavailable",
    "type": "resource_unavailable",
    "code": "resource_unavailable",
}


async def test_the_flex_tier_is_asked_for_and_waits_for_capacity(server: OpenAIServer) -> None:
    server.next(
        behave.status(429, error=UNAVAILABLE),
        behave.status(429, {"Retry-After": "300"}, error=UNAVAILABLE),
        behave.status(429),
    )
    client = await opened(settings_for(server, service_tier="flex"))
    waits = []
    for _ in range(2):
        with pytest.raises(Later) as later:
            await client.answer(call())
        assert later.value.until_ms is not None
        waits.append((later.value.until_ms - now_ms()) / 1000)
    assert 30 < waits[0] <= 60
    assert 240 < waits[1] <= 300
    with pytest.raises(PlayerError) as limited:
        await client.answer(call())
    assert not isinstance(limited.value, Later)
    assert limited.value.kind == "transient"
    await client.answer(call())
    assert {one.body["service_tier"] for one in server.requests} == {"flex"}
    usual = await opened(settings_for(server))
    server.next(behave.status(429, error=UNAVAILABLE))
    with pytest.raises(PlayerError) as failed:
        await usual.answer(call())
    assert not isinstance(failed.value, Later)
    assert "service_tier" not in server.requests[-1].body
    await client.close()
    await usual.close()


async def test_a_reply_of_another_tier_costs_twice_and_a_warning_says_so(server: OpenAIServer) -> None:
    def of(tier: str) -> behave.Behaviour:
        return behave.body(json.dumps(behave.completion("well") | {"service_tier": tier}))

    client = await opened(settings_for(server, service_tier="flex"))
    server.next(of("flex"), of("default"), of("default"))
    assert [(await client.answer(call())).times for _ in range(3)] == [1, 2, 2]
    assert [told for told in client.warnings if "'default'" in told] == [*client.warnings]
    assert len(client.warnings) == 1
    await client.close()


async def test_a_server_that_refuses_the_tier_is_told_of_by_its_setting(server: OpenAIServer) -> None:
    client = await opened(settings_for(server, service_tier="flex"))
    error = {"message": "Invalid service_tier argument", "type": "invalid_request_error"}
    server.always(behave.status(400, error=error))
    with pytest.raises(PlayerError, match="`service_tier`") as refused:
        await client.answer(call())
    assert refused.value.kind == "permanent"
    await client.close()


async def test_all_own_settings_that_a_server_refuses_are_named_at_once(server: OpenAIServer) -> None:
    client = await opened(settings_for(server, temperature=0.3, top_p=0.5))
    complaint = "temperature and top_p are fixed for this model"
    server.next(behave.status(400, error={"message": complaint, "type": "invalid_request_error"}))
    told = str(await failure(client))
    assert "does not take `temperature` and `top_p` as stated for this player: change or remove it" in told


@pytest.mark.parametrize("model", ["xai:grok-3-mini", "mistral:magistral-medium-latest"])
async def test_a_model_is_known_to_think_by_the_name_of_its_maker(model: str) -> None:
    for base_url, thinks in (("", True), ("http://127.0.0.1:9/v1", False)):
        client = await opened(PlayerSettings(model=model, name="P", base_url=base_url, key_env="TINY_KEY"))
        profile = client._started_model.profile
        assert bool(profile.get("supports_thinking")) == thinks, "what another serves is unknown"
        await client.close()


@pytest.mark.parametrize(
    ("stated", "cached"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 64}}, 64),  # OpenAI, xAI, OpenRouter, Groq
        ({"input_tokens_details": {"cached_tokens": 64}}, 64),
        ({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 64),  # DeepSeek
        ({"cached_tokens": 64}, 64),  # Moonshot
        ({"prompt_tokens_details": {"cached_tokens": 640}}, 100),  # no more than there were
        ({"prompt_tokens_details": {"cached_tokens": None}}, None),
        ({"prompt_tokens_details": None}, None),
        ({}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("model", ["openai:tiny", "groq:tiny", "mistral:tiny", "openrouter:tiny", "xai:tiny"])
async def test_tokens_read_from_a_cache_are_counted(
    server: OpenAIServer, model: str, stated: dict[str, Any], cached: int | None
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, **stated}
    server.next(behave.body(json.dumps({**behave.completion("hi"), "usage": usage})))
    client = await opened(settings_for(server, model=model))
    answer = await client.answer(call())
    await client.close()
    assert (answer.input_tokens, answer.cached_tokens, answer.output_tokens) == (100, cached, 7)


ROUTED = {"only": ["deepinfra"], "quantizations": ["fp8"], "allow_fallbacks": False}


async def test_what_a_player_adds_to_its_requests_is_sent_and_changes_nothing_else(
    server: OpenAIServer,
) -> None:
    server.always(behave.reply("well"))
    added = {"chat_template_kwargs": {"enable_thinking": False}, "min_p": 0.1}
    for more in ({}, {"extra_body": added}):
        client = await opened(settings_for(server, **more))
        await client.answer(call())
        await client.close()
    plain, extended = [request.body for request in server.requests]
    assert extended == plain | added


async def test_openrouter_is_told_by_whom_to_serve_and_who_did_is_part_of_the_model(
    server: OpenAIServer,
) -> None:
    settings = settings_for(server, model="openrouter:deepseek/deepseek-chat", provider=ROUTED)
    client = await opened(settings)
    body = behave.completion("well") | {"model": "deepseek/deepseek-chat", "provider": "DeepInfra"}
    server.next(behave.body(json.dumps(body)), behave.body(json.dumps(body | {"provider": None})))
    assert (await client.answer(call())).snapshot == "deepseek/deepseek-chat at DeepInfra"
    assert (await client.answer(call())).snapshot == "deepseek/deepseek-chat"
    assert server.requests[0].body["provider"] == ROUTED
    await client.close()
