"""Requests as they are passed on, and replies as they are read: nothing unknown is free."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from tests.servers.four_apis import USAGES, events, whole

from peerage.game.media import measured
from peerage.players.agents.gateway_forms import MOST_PARTS, AgentRequest, ReplyReading, Unfit, request_in
from peerage.players.models.replies import Usage
from peerage.settings import PlayerSettings

FORMS = ("chat", "responses", "messages", "gemini")
SETTINGS = PlayerSettings.model_validate({"acp": ["agent"], "model": "openai:tiny"})


def read(form: str, *lines: Any, status: int = 200) -> ReplyReading:
    """Read a stream of lines, or of values as events."""
    reading = ReplyReading(form)
    reading.status = status
    for line in lines:
        reading.take_lines(line if isinstance(line, bytes) else f"data: {json.dumps(line)}\n\n".encode())
    return reading


def read_whole(form: str, value: Any, status: int = 200) -> ReplyReading:
    reading = ReplyReading(form)
    reading.status = status
    reading.take(json.dumps(value).encode())
    return reading


# ----------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["overloaded_error", "rate_limit_error", "invalid_request_error"])
def test_an_error_is_free_only_where_nothing_came_before_it(form: str, kind: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "no"}}
    assert read(form, b": keep alive\n", error).undone
    assert read_whole(form, error).undone
    assert not read(form, events(form, None)[0], error).undone
    assert not read_whole(form, whole(form, None) | error).undone
    assert not read(form, error | {"usage": {"prompt_tokens": 5}}).undone


def test_an_error_that_nobody_knows_and_one_in_a_choice_with_its_text_are_not_free() -> None:
    assert not read_whole("chat", {"error": {"message": "what is that"}}).undone
    error = {"code": 429, "message": "slow down"}
    for message in ("message", "delta"):
        for text, undone in (("", True), ("Hi", False)):
            choice = {message: {"role": "assistant", "content": text}, "error": error}
            assert read("chat", {"choices": [choice]}).undone == undone
    called = {"delta": {"tool_calls": [{"index": 0}]}, "error": error}
    assert not read("chat", {"choices": [called]}).undone
    failed = {"status": "failed", "error": {"code": "rate_limit_exceeded"}, "output": [{"type": "message"}]}
    assert not read("responses", {"type": "response.failed", "response": failed}).undone


@pytest.mark.parametrize(("status", "undone"), [(400, True), (429, True), (503, True), (500, False)])
def test_an_error_status_is_free_where_a_provider_does_no_work_with_it(status: int, undone: bool) -> None:
    assert read_whole("chat", whole("chat", USAGES["chat"]), status).undone == undone


# ------------------------------------------------------------------------------------------------------ usage


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": {"a": 1}, "output_tokens": 5},
        {"input_tokens": [1], "output_tokens": 5},
        {"input_tokens": "5", "output_tokens": 5},
        {"input_tokens": True, "output_tokens": 5},
        {"input_tokens": 5, "output_tokens": 2**50},
        {"input_tokens": 5, "output_tokens": -1},
        {"input_tokens": 5, "output_tokens": 5, "cache_creation_input_tokens": {"a": 5}},
        {"input_tokens": 5, "output_tokens": 5, "cache_creation": {"ephemeral_1h_input_tokens": [1]}},
        {"cache_read_input_tokens": 600, "output_tokens": 5},
        {"output_tokens": 5},
        [5],
    ],
)
def test_usage_that_makes_no_sense_or_lacks_the_prompt_is_unknown(usage: Any) -> None:
    reading = read_whole("messages", whole("messages", usage))
    assert (reading.usage, reading.written) == (Usage(), 0)
    assert not reading.undone


def test_of_counts_that_a_stream_states_twice_the_larger_one_is_known() -> None:
    for counts in ((500, 5), (5, 500)):
        stated = [whole("chat", {"prompt_tokens": 1000, "completion_tokens": count}) for count in counts]
        assert read("chat", *stated).usage == Usage(1000, 500)


def test_a_reply_under_way_does_not_say_why_it_ended() -> None:
    begun = whole("responses", {"input_tokens": 5, "output_tokens": 1}, reason="in_progress")
    reading = read("responses", {"type": "response.in_progress", "response": begun})
    assert (reading.usage, reading.note) == (Usage(), "it does not say why it ended")
    ended = whole("responses", {"input_tokens": 5, "output_tokens": 9})
    assert read("responses", {"response": begun}, {"response": ended}).usage == Usage(5, 9)


# --------------------------------------------------------------------------------------------------- requests


def png(side: int) -> str:
    Image.new("L", (side, side)).save(out := BytesIO(), "PNG")
    return b64encode(out.getvalue()).decode()


DATA = png(9)
URL = f"data:image/png;base64,{DATA}"
SOURCE = {"media_type": "image/png", "data": DATA}
MARK = measured(b64decode(DATA)).mark
PAGE = "https://example.org/page.pdf"


def asked(part: Any, form: str = "chat") -> AgentRequest:
    body = {"messages": [{"role": "user", "content": [part]}]}
    return request_in(form, json.dumps(body).encode(), SETTINGS)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_file", "file_url": PAGE, "image_url": URL},
        {"type": "input_file", "file_url": PAGE, "image_url": {"url": URL}},
        {"type": "image_url", "image_url": {"url": URL, "file": PAGE}},
        {"type": "image", "source": {"type": "url", "url": PAGE, "media_type": "image/png", "data": DATA}},
        {"type": "input_image", "image_url": PAGE},
        {"type": "input_file", "image_url": MARK},
        {"inlineData": {"mimeType": "image/png", "data": DATA}, "fileData": {"fileUri": PAGE}},
    ],
)
def test_nothing_is_passed_on_in_the_shape_of_a_picture(part: dict[str, Any]) -> None:
    with pytest.raises(Unfit, match="is not passed on"):
        asked(part)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URL, "detail": "high"}},
        {"type": "input_image", "image_url": URL, "detail": "auto", "file_id": None},
        {"inline_data": {"mime_type": "image/png", "data": DATA}},
        {
            "type": "tool_result",
            "content": [{"type": "image", "source": SOURCE}],
        },
    ],
)
def test_a_picture_counts_by_its_pixels(part: dict[str, Any]) -> None:
    found = asked(part)
    assert [(each.width, each.height) for each in found.pictures] == [(9, 9)]
    assert DATA in json.dumps(found.body)
    assert DATA.encode() not in found.bare


def test_a_picture_that_is_cached_is_bounded_as_what_is_cached() -> None:
    part = {"type": "image_url", "image_url": URL, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    assert b'"1h"' in asked(part).bare


@pytest.mark.parametrize(
    "extra", [{"type": "tool_use", "input": {"image_url": URL}}, {"text": "", "x": {"image_url": URL}}]
)
def test_a_picture_among_the_arguments_of_a_tool_counts_by_the_byte(extra: dict[str, Any]) -> None:
    found = asked(extra, "messages")
    assert found.pictures == []
    assert DATA.encode() in found.bare


def test_a_body_of_nothing_but_braces_is_not_looked_at() -> None:
    with pytest.raises(Unfit, match="more than 100,000 braces and brackets") as refused:
        request_in("chat", b"{}" * (MOST_PARTS + 1), SETTINGS)
    assert refused.value.status == 413
    with pytest.raises(Unfit, match="the body is no JSON"):
        request_in("chat", b'{"messages": ' + b"[" * 2_000 + b"]" * 2_000 + b"}", SETTINGS)
