"""What is read of servers' replies: why they end, what they cost, the errors inside them, streams, and that
nothing else matters."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer, completion

from peerage.game.protocol import Text
from peerage.players import open_client
from peerage.players.agents.agent_protocol import reply_from
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.models.finish_reasons import FINISH_REASONS, ending
from peerage.players.models.provider import ProviderClient
from peerage.players.models.replies import Usage, anthropic_message, google_response, reported_error, usage_of
from peerage.settings import PlayerSettings

DOCS = Path(__file__).parents[3] / "docs" / "players.md"
CALL = Call("k", "contestant", (("user", "Why?"),), Text(), 300, None, "s")


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


async def asked(server: OpenAIServer, body: Any, **stated: Any) -> tuple[Answer, ProviderClient]:
    """What comes of a call that a server answers with `body`; the client is closed."""
    text = body if isinstance(body, str) else json.dumps(body)
    server.next(behave.body(text, stated.pop("content_type", "application/json")))
    settings = PlayerSettings(**{"model": "openai:m", "name": "P", "base_url": server.url, **stated})
    client = open_client(settings, {}, Path())
    assert isinstance(client, ProviderClient)
    await client.start()
    try:
        return await client.answer(CALL), client
    finally:
        await client.close()


def choice(**changed: Any) -> dict[str, Any]:
    body = completion("said")
    body["choices"][0] |= changed
    return body


SPELLINGS = [(spelling, row.ending) for row in FINISH_REASONS for spelling in row.spellings]


@pytest.mark.parametrize(("reason", "ended"), SPELLINGS)
async def test_every_finish_reason_of_the_table_ends_a_reply(
    server: OpenAIServer, reason: str, ended: str
) -> None:
    body = choice(finish_reason=reason)
    if ended == "broken":
        with pytest.raises(PlayerError, match="broke off") as failed:
            await asked(server, body)
        assert (failed.value.kind, failed.value.maybe_paid) == ("transient", True)
        return
    answer, client = await asked(server, body)
    assert (answer.text, answer.refused, answer.truncated) == ("said", ended == "refused", ended == "cut")
    assert len(client.warnings) == (ended == "unstated")


def test_a_reason_is_one_in_any_spelling_and_in_one_row() -> None:
    assert ending("contentFilter") == ending("content-filter") == ending("CONTENT_FILTER") == "refused"
    assert ending("FINISH_REASON_MAX_TOKENS") == ending("REASON_MAX_LEN") == "cut"
    assert ending({"type": "length", "length": 300}) == "cut"
    assert ending(None) == "unstated"
    assert ending(4) == ending("dunno") == ending(["stop"]) == "unknown"
    kinds: dict[str, set[str]] = {}
    for spelling, ended in SPELLINGS:
        kinds.setdefault(spelling.casefold(), set()).add(ended)
    assert all(len(ends) == 1 for ends in kinds.values())


BECOMES = {
    "whole": "the reply",
    "cut": "cut: asked for once more with more room",
    "refused": "refused",
    "broken": "no result: tried again, possibly billed",
    "unstated": "the reply, with a warning; cut when as many tokens came as were asked for",
}


def test_the_docs_have_the_table() -> None:
    table = "| becomes | finish reasons |\n|---|---|\n"
    for ends, becomes in BECOMES.items():
        spellings = [spelling for row in FINISH_REASONS if row.ending == ends for spelling in row.spellings]
        names = [f"`{spelling}`" if spelling else "null, absent, empty" for spelling in spellings]
        table += f"| {becomes} | {', '.join(names)} |\n"
    assert table in DOCS.read_text("utf-8")


async def test_a_reason_nobody_knows_is_reported_once_and_noted_with_each_reply(server: OpenAIServer) -> None:
    server.always(behave.reply("said", finish="dunno"))
    for model in ("openai:m", "openrouter:m"):
        settings = PlayerSettings(model=model, name="P", base_url=server.url)
        client = ProviderClient(settings, {})
        await client.start()
        answers = [await client.answer(CALL), await client.answer(CALL)]
        await client.close()
        assert [(answer.text, answer.truncated) for answer in answers] == [("said", False)] * 2
        assert all("not known: 'dunno'" in answer.note for answer in answers)
        assert len(client.warnings) == 1
        assert "'dunno'" in client.warnings[0]


async def test_where_no_reason_is_stated_the_tokens_tell_a_cut(server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 300, "total_tokens": 310}
    for reason in (None, "", "dunno"):
        assert (await asked(server, {**choice(finish_reason=reason), "usage": usage}))[0].truncated
    absent = choice()
    del absent["choices"][0]["finish_reason"]
    answer, client = await asked(server, absent)
    assert (answer.text, answer.truncated, answer.note) == ("said", False, "")
    assert client.warnings == ("P: the server does not say why its replies end; they count as whole",)
    for reason in (None, "", "dunno"):
        with pytest.raises(PlayerError, match="broke off"):
            await asked(server, choice(finish_reason=reason, message={"role": "assistant", "content": ""}))


async def test_what_a_gateway_makes_stop_of_counts_as_it_was(server: OpenAIServer) -> None:
    own = {"native_finish_reason": "insufficient_system_resource"}
    for fields in (own, {"provider_specific_fields": own}):
        with pytest.raises(PlayerError, match="broke off"):
            await asked(server, choice(**fields))
    assert (await asked(server, choice(native_finish_reason="MAX_TOKENS")))[0].truncated
    assert (await asked(server, choice(native_finish_reason="eos")))[0].note == ""


@pytest.mark.parametrize(
    "broken",
    [
        {"id": None, "model": None, "created": None, "object": None},
        {"id": 7, "model": ["m"], "created": "today", "service_tier": {"a": 1}, "system_fingerprint": 3},
        {"choices": [{"message": {"content": "said", "annotations": "none", "audio": 3, "role": None},
                      "finish_reason": "stop", "logprobs": "x", "index": "0"}]},
        {"choices": [{"message": {"content": "said", "annotations": [{"type": 1}], "tool_calls": []},
                      "finish_reason": "stop", "logprobs": {"content": [{"token": 1}]}}]},
        {"choices": [{"message": {"content": ["said"], "function_call": None}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": {"type": "text", "text": "said"}}, "finish_reason": "stop"}]},
        {"choices": [{"text": "said", "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "said"}, "finish_reason": "stop"}, None, 3]},
        {"error": None}, {"error": {}}, {"error": {"code": 0, "message": ""}}, {"error": False},
        {"base_resp": {"status_code": 0, "status_msg": "success"}},
        {"moderation": "x", "metadata": [1], "prompt_filter_results": 3, "citations": None},
    ],
)  # fmt: skip
async def test_what_nobody_uses_cannot_spoil_a_reply(server: OpenAIServer, broken: dict[str, Any]) -> None:
    answer, client = await asked(server, completion("said") | broken)
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("said", 11, 7)
    assert (answer.refused, answer.truncated, client.warnings) == (False, False, ())


# ----------------------------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("stated", "usage"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, (100, 20, None)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 1120}, (100, 1020, None)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 1120,
          "completion_tokens_details": {"reasoning_tokens": 1000}}, (100, 1020, 1000)),
        ({"prompt_tokens": 100, "completion_tokens": 20,
          "completion_tokens_details": {"reasoning_tokens": 1000}}, (100, 1020, 1000)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "reasoning_tokens": 1000},
         (100, 1020, 1000)),
        ({"prompt_tokens": 100, "completion_tokens": 520, "total_tokens": 620,
          "completion_tokens_details": {"reasoning_tokens": 500}}, (100, 520, 500)),
        ({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 90}, (100, 20, None)),
        ({"prompt_tokens": 100, "completion_tokens": None, "total_tokens": 150}, (100, 50, None)),
        ({"input_tokens": 100, "output_tokens": 20.0, "output_tokens_details": None}, (100, 20, None)),
        ({"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 5}, (100, 25, 5)),
        ({"promptTokenCount": 100, "thoughtsTokenCount": 30, "totalTokenCount": 130}, (100, 30, 30)),
        ({"promptTokenCount": 100, "candidatesTokenCount": 20, "toolUsePromptTokenCount": 50,
          "totalTokenCount": 170}, (100, 20, None)),
        *[(nonsense, (None, None, None)) for nonsense in (
            None, "many", [], {}, {"prompt_tokens": 100}, {"completion_tokens": 20},
            {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
            {"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 100},
            {"prompt_tokens": 100, "completion_tokens": -20, "total_tokens": 120},
            {"prompt_tokens": 100, "completion_tokens": "20"},
            {"prompt_tokens": 100, "completion_tokens": 20.5},
            {"prompt_tokens": 100, "completion_tokens": True},
            {"prompt_tokens": 100, "completion_tokens": 1e300},
            {"prompt_tokens": {"text_tokens": 100}, "completion_tokens": 20},
            {"prompt_tokens": 100, "completion_tokens": [{"text_tokens": 20}]},
            {"prompt_tokens": 100, "completion_tokens": 20,
             "completion_tokens_details": {"reasoning_tokens": -1}},
        )],
    ],
)  # fmt: skip
def test_output_is_the_larger_of_what_is_stated_and_what_the_total_leaves(
    stated: Any, usage: tuple[int | None, ...]
) -> None:
    assert usage_of(stated, wrote=True) == Usage(*usage)


def test_nothing_counted_for_no_text_is_nothing() -> None:
    assert usage_of({"prompt_tokens": 100, "completion_tokens": 0}, wrote=False) == Usage(100, 0, None)


@pytest.mark.parametrize("model", ["openai:m", "xai:m", "openrouter:m", "mistral:m", "groq:m"])
async def test_thoughts_counted_beside_the_completion_are_paid_whoever_serves_them(
    server: OpenAIServer, model: str
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 1120}
    usage |= {"completion_tokens_details": {"reasoning_tokens": 1000}}  # type: ignore[dict-item]
    answer, client = await asked(server, completion("said") | {"usage": usage}, model=model)
    assert (answer.output_tokens, answer.reasoning_tokens, answer.thought) == (1020, 1000, True)
    assert "1020 tokens came where at most 300 were asked for" in client.warnings[0]


# ---------------------------------------------------------------------------------- reasoning and tools alone


@pytest.mark.parametrize(
    ("message", "note"),
    [
        ({"content": None, "reasoning_content": "h" * 1234},
         "no text came, only 1,234 characters of reasoning"),
        ({"content": "", "reasoning": "hmm"}, "no text came, only 3 characters of reasoning"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]}]},
         "no text came, only 3 characters of reasoning"),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "hmm"}]},
         "no text came, only 3 characters of reasoning"),
        ({"content": "<think>I wonder"}, "no text came, only 8 characters of reasoning"),
        ({"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
         "no text came, only a tool call of 8 characters"),
    ],
)  # fmt: skip
async def test_a_reply_without_text_says_what_it_has(
    server: OpenAIServer, message: dict[str, Any], note: str
) -> None:
    answer, client = await asked(server, choice(message=message))
    assert (answer.text, answer.note, answer.thought) == ("", note, "reasoning" in note)
    assert client.warnings == (f"P: {note}; others may follow",)


async def test_thoughts_that_begin_unmarked_and_are_cut_are_no_answer(server: OpenAIServer) -> None:
    server.next(
        behave.reply("Hm. A?", finish="length"),
        behave.reply("Hm. A?\n</think>\n\nB"),
        behave.reply("Hm. A?", finish="length"),
        behave.reply("C"),
    )
    client = ProviderClient(PlayerSettings(model="openai:m", name="P", base_url=server.url), {})
    await client.start()
    answers = [await client.answer(CALL) for _ in range(4)]
    await client.close()
    assert [answer.text for answer in answers] == ["Hm. A?", "B", "", "C"]
    assert [answer.thought for answer in answers] == [False, True, False, False]


@pytest.mark.parametrize(
    ("stated", "used"),
    [
        ({"usage": {"prompt_tokens": 5, "prompt_audio_seconds": 7}}, {"audio_seconds": 7}),
        ({"usage": {"images": 0, "audio_seconds": -1}, "energy": {"kwh": 2.0}}, {"images": 0, "kwh": 2}),
        ({"usage": {"images": True, "kwh": "1", "audio_seconds": None}, "energy": [1]}, {}),
        ({}, {}),
    ],
)
async def test_what_else_a_reply_used_is_what_its_server_states(
    server: OpenAIServer, stated: dict[str, Any], used: dict[str, float]
) -> None:
    answer, _ = await asked(server, completion("A") | stated)
    assert (answer.text, answer.used) == ("A", used)


def test_agents_end_replies_for_the_same_reasons_and_may_think() -> None:
    assert reply_from({"text": "a", "finish_reason": "max_tokens"}, 0.1).truncated
    assert reply_from({"text": "a", "finish_reason": "SAFETY"}, 0.1).refused
    with pytest.raises(PlayerError, match=r"broke off its reply \(abort\)"):
        reply_from({"text": "a", "finish_reason": "abort"}, 0.1)
    assert "not known" in reply_from({"text": "a", "finish_reason": "dunno"}, 0.1).note
    thought = reply_from("<think>hm</think>a", 0.1)
    assert (thought.text, thought.thought, thought.note) == ("a", True, "")
    assert reply_from({"text": "<think>hm"}, 0.1).note == "no text came, only 2 characters of reasoning"


# ----------------------------------------------------------------------------------- errors in a reply of 200


def sse(*chunks: Any, done: bool = True) -> str:
    lines = [chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""])


def delta(**said: Any) -> dict[str, Any]:
    reason = said.pop("finish_reason", None)
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": said, "finish_reason": reason}]}


ERRORS: list[tuple[Any, str, str]] = [
    ({"error": {"code": 402, "message": "Insufficient credits"}}, "permanent", "402.*Insufficient credits"),
    ({"error": {"code": "402", "message": "Insufficient credits"}}, "permanent", "402.*Insufficient credits"),
    ({"error": {"code": 429, "message": "slow down"}}, "transient", "429.*slow down"),
    ({"error": {"code": 502, "message": "down"}, "choices": []}, "transient", "502.*down"),
    ({"error": {"code": 401, "message": "No auth"}, "choices": None}, "permanent", "401.*No auth"),
    ({"error": {"code": "insufficient_quota", "message": "pay"}}, "permanent", "402.*pay"),
    ({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, "transient", "429.*slow"),
    ({"error": {"type": "overloaded_error", "message": "busy"}}, "transient", "529.*busy"),
    ({"error": "model is loading"}, "transient", "503.*model is loading"),
    ({"error": "Rate limit exceeded, try again in 1004 s"}, "transient", "429.*Rate limit exceeded"),
    ({"error": {"code": "1113", "message": "Your account is in arrears"}}, "permanent", "402.*in arrears"),
    ({"detail": "Invalid API key"}, "permanent", "401.*Invalid API key"),
    ({"error": {"message": "something broke"}}, "transient", "502.*something broke"),
    ({"error": {"message": "Insufficient balance"}}, "permanent", "402.*Insufficient balance"),
    ({"error": {"code": 404, "message": "no such model"}}, "permanent", "404.*no such model"),
    ({"error": {"code": 400, "message": "bad request"}}, "request", "400.*bad request"),
    ({"choices": [{"error": {"code": 402, "message": "no credit"}}]}, "permanent", "402.*no credit"),
    ({"code": "InvalidApiKey", "message": "wrong key", "request_id": "r"}, "permanent", "401.*wrong key"),
    ({"base_resp": {"status_code": 1008, "status_msg": "no balance"}, "choices": None}, "permanent", "402"),
    (sse({"error": {"code": 402, "message": "no credit"}}, done=False), "permanent", "402.*no credit"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "told"), ERRORS)
async def test_an_error_inside_a_reply_counts_as_its_status_and_costs_nothing(
    server: OpenAIServer, body: Any, kind: str, told: str
) -> None:
    for model in ("openai:m", "openrouter:m"):
        with pytest.raises(PlayerError, match=told) as failed:
            await asked(server, body, model=model)
        assert (failed.value.kind, failed.value.maybe_paid) == (kind, False)


@pytest.mark.parametrize("code", [502, 429, 503, 529])
async def test_an_error_beside_a_part_of_a_reply_may_have_cost_something(
    server: OpenAIServer, code: int
) -> None:
    error: dict[str, Any] = {"code": code, "message": "gone"}
    for body in (
        choice(finish_reason="error", error=error),
        sse(delta(content="sa"), {"error": error}, done=False),
        sse(delta(reasoning_content="hm"), {"error": error}, done=False),
        sse(delta(content="sa"), {"choices": [{"delta": {}, "error": error}]}),
    ):
        with pytest.raises(PlayerError, match=rf"{code}.*gone") as failed:
            await asked(server, body)
        assert (failed.value.kind, failed.value.maybe_paid) == ("transient", True)


@pytest.mark.parametrize("code", ["²", "4" * 5_000, "４０４", -1, 10**400])
def test_a_code_that_is_no_status_stands_for_none(code: Any) -> None:
    reported = reported_error({"error": {"code": code, "message": "gone"}})
    assert reported is not None
    assert (reported.status, reported.message) == (502, "gone")


def test_counts_that_are_objects_are_unknown_in_every_language() -> None:
    nested = {"text_tokens": 100}
    message = {"content": [{"type": "text", "text": "said"}]}
    read = anthropic_message(message | {"usage": {"input_tokens": nested, "output_tokens": 20}})
    assert read["usage"] == {"input_tokens": 0, "output_tokens": 0}
    candidate = {"content": {"parts": [{"text": "said"}]}}
    counts = {"promptTokenCount": nested, "candidatesTokenCount": 20}
    assert google_response({"candidates": [candidate], "usageMetadata": counts})["usageMetadata"] == {}


def test_a_reply_without_an_error_reports_none() -> None:
    for body in (None, [], "x", {}, completion("said"), completion("said") | {"error": {"code": 200}}):
        assert reported_error(body) is None


@pytest.mark.parametrize("choices", [5, True, "said", {"delta": {"content": "said"}}])
async def test_a_stream_whose_choices_are_no_list_holds_no_reply(server: OpenAIServer, choices: Any) -> None:
    with pytest.raises(PlayerError, match="no choice at all"):
        await asked(server, sse({"choices": choices}), content_type="text/event-stream")


async def test_a_stream_is_read_as_the_reply_it_amounts_to(server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = sse(
        ": comment\n\n",
        delta(role="assistant", content=None, reasoning_content="h"),
        delta(reasoning_content="m"),
        delta(content="sa"),
        delta(content="id"),
        delta(finish_reason="length"),
        {"choices": [], "usage": usage},
    )
    for content_type in ("text/event-stream", "application/json"):
        answer, _ = await asked(server, body, content_type=content_type)
        assert (answer.text, answer.truncated, answer.thought) == ("said", True, True)
        assert (answer.input_tokens, answer.output_tokens, answer.snapshot) == (11, 7, "m")
    with pytest.raises(PlayerError, match="broke off"):
        await asked(server, sse(delta(content="sa"), done=False))
    assert (await asked(server, sse(delta(content="said"))))[0].text == "said"
    moonshot = {"choices": [{"delta": {"content": "said"}, "finish_reason": "stop", "usage": usage}]}
    assert (await asked(server, sse(moonshot)))[0].output_tokens == 7


# ------------------------------------------------------------------------------------------------- refusals

REFUSALS: list[tuple[int, Any]] = [
    (400, {"error": {"code": "data_inspection_failed", "message": "Output data may contain …"}}),
    (400, {"code": "DataInspectionFailed", "message": "Input data may contain inappropriate content."}),
    (400, {"error": {"code": "content_filter", "message": "x", "param": "prompt"}}),
    (400, {"error": {"code": None, "message": "Filtered due to the prompt triggering Azure OpenAI's content "
                     "management policy.", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (400, {"error": {"code": "400", "message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    (400, {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}}),
    (400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}),
    (400, {"error": {"code": "InputTextSensitiveContentDetected", "message": "x"}}),
    (400, {"error": {"message": "Output blocked by content filtering policy", "type": "x"}}),
    (400, {"error": {"type": "content_filter", "message": "The request was considered high risk"}}),
    (403, {"error": {"code": 403, "message": "The model requires moderation and your input was flagged"}}),
    (403, {"code": "x", "error": "Content violates usage guidelines. Team: t"}),
    (200, {"error": {"code": "data_inspection_failed", "message": "x"}}),
    (200, {"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}, "choices": None}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), REFUSALS)
async def test_a_request_declined_for_its_content_is_refused(
    server: OpenAIServer, status: int, body: Any
) -> None:
    server.next(behave.body(json.dumps(body), code=status))
    client = ProviderClient(PlayerSettings(model="openai:m", name="P", base_url=server.url), {})
    await client.start()
    answer = await client.answer(CALL)
    await client.close()
    assert (answer.text, answer.refused) == ("", True)


@pytest.mark.parametrize(
    ("status", "message"),
    [(403, "Your account was flagged for violating our usage policy"), (400, "unknown field `foo`"),
     (401, "inappropriate content"), (500, "content filter is down")],
)  # fmt: skip
async def test_other_failures_are_no_refusals(server: OpenAIServer, status: int, message: str) -> None:
    server.next(behave.status(status, error={"message": message}))
    client = ProviderClient(PlayerSettings(model="openai:m", name="P", base_url=server.url), {})
    await client.start()
    with pytest.raises(PlayerError):
        await client.answer(CALL)
    await client.close()
