"""What a model library's exception stands for, and what is read of a response, without a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, ThinkingPart
from pydantic_ai.messages import UserPromptPart as Said
from pydantic_ai.usage import RequestUsage

from peerage.game.protocol import Speaker
from peerage.players.client import Answer, PlayerError
from peerage.players.models.failures import is_filtered, is_out_of_capacity, is_too_long, player_error
from peerage.players.models.replies import ProviderReply
from peerage.players.models.translation import conversation, read, reasoning_tokens, received, turns


def http(category: Any, code: int, said: str = "so it is.", **more: Any) -> ModelHTTPError:
    body = {"error": {"message": said}}
    return ModelHTTPError.for_category(category, status_code=code, model_name="m", body=body, **more)


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "told", "kind", "paid", "retry_s"),
    [
        (
            http(ModelQuotaExceededError, 429),
            "the account has no credit left (429): so it is",
            "permanent",
            0,
            None,
        ),
        (
            http(ModelRateLimitError, 429, retry_after=7.0),
            "rate limit reached (429): so it is",
            "transient",
            0,
            7.0,
        ),
        (
            http(ModelAuthenticationError, 401),
            "access denied (401): so it is; check the key in KEY and that it may use this model",
            "permanent",
            0,
            None,
        ),
        (
            http(ModelNotFoundError, 404),
            "no such model or address (404): so it is; check `model` and `base_url`",
            "permanent",
            0,
            None,
        ),
        (
            http(ModelContextWindowExceededError, 400),
            "the prompt is longer than the model takes (400): so it is",
            "request",
            0,
            None,
        ),
        (http(None, 500, retry_after=3.0), "the provider failed (500): so it is", "transient", 1, 3.0),
        (http(None, 502), "the provider failed (502): so it is", "transient", 1, None),
        *[
            (http(None, code), f"the provider failed ({code}): so it is", "transient", 0, None)
            for code in (408, 409, 425, 429, 503, 529)
        ],
        (
            http(ModelRequestRejectedError, 400),
            "the request was turned down (400): so it is",
            "request",
            0,
            None,
        ),
        (http(None, 499), "the request was turned down (499): so it is", "request", 0, None),
        (ModelRequestTimeout("m", 5.0), "no reply in time", "transient", 1, None),
        (
            ModelAPIError("m", "half a body. "),
            "the reply could not be read: half a body",
            "transient",
            1,
            None,
        ),
        (UnexpectedModelBehavior("no JSON."), "the reply could not be read: no JSON", "transient", 1, None),
        (ModelConnectionError("m", "reset."), "the connection failed: reset", "transient", 1, None),
        (ZeroDivisionError("by 0"), "ZeroDivisionError: by 0", "request", 1, None),
    ],
)
def test_a_failure_says_what_happened_whether_to_ask_again_and_whether_it_may_cost(
    error: Exception, told: str, kind: str, paid: bool, retry_s: float | None
) -> None:
    found = player_error(error, "KEY")
    assert (str(found), found.kind, found.maybe_paid, found.retry_after_s) == (told, kind, paid, retry_s)


def test_a_server_that_wants_a_key_where_none_is_set_is_said_to() -> None:
    assert str(player_error(http(ModelAuthenticationError, 403), "")) == (
        "access denied (403): so it is; it wants a key"
    )


def test_a_failure_of_our_own_is_found_behind_the_library_s() -> None:
    ours = PlayerError("redirects elsewhere", kind="permanent")
    assert player_error(caused(ModelAPIError("m", "x"), caused(OSError("y"), ours)), "") is ours
    context = ModelAPIError("m", "x")
    context.__context__ = ours
    assert player_error(context, "") is ours


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "deep . "}}, "deep"),
        ({"error": "flat"}, "flat"),
        ({"message": "bare"}, "bare"),
        ({"error": {"message": "  "}}, "the message"),
        ({"error": {"message": 3}}, "the message"),
        ("text", "the message"),
        (None, "the message"),
    ],
)
def test_what_a_server_said_is_found_in_its_body(body: object, said: str) -> None:
    error = ModelAPIError("m", "the message.", body=body)
    assert str(player_error(error, "")) == f"the reply could not be read: {said}"


@pytest.mark.parametrize(
    ("message", "said"), [("its own.", "its own"), (" ", "the message"), (3, "the message")]
)
def test_without_a_body_the_cause_says_it(message: object, said: str) -> None:
    cause = ValueError()
    cause.message = message  # type: ignore[attr-defined]
    assert str(player_error(caused(ModelAPIError("m", "the message"), cause), "")).endswith(f": {said}")


@pytest.mark.parametrize(
    ("phase", "cause", "paid"),
    [
        ("pool", None, False),
        ("connect", None, False),
        ("write", None, True),
        (None, None, True),
        ("read", aiohttp.ConnectionTimeoutError(), False),
        ("connect", aiohttp.ClientPayloadError(), True),
        ("connect", OSError(), False),
    ],
)
def test_a_request_that_never_went_out_cost_nothing(phase: Any, cause: Any, paid: bool) -> None:
    error = ModelConnectionError("m", "gone", phase=phase)
    assert player_error(caused(error, cause) if cause else error, "").maybe_paid == paid


@pytest.mark.parametrize(
    ("error", "filtered"),
    [
        (ContentFilterError("declined"), True),
        (http(ModelRequestRejectedError, 400, provider_error_code="Content_Filter"), True),
        (http(ModelRequestRejectedError, 400, provider_error_type="image_SAFETY"), True),
        (http(ModelRequestRejectedError, 400, provider_error_code="content_policy_violation"), True),
        (http(ModelRequestRejectedError, 400, provider_error_code="moderation_blocked"), True),
        (http(ModelRequestRejectedError, 400, provider_error_code="flagged"), True),
        (http(ModelRequestRejectedError, 400, provider_error_code="bad_value"), False),
        (http(None, 500, provider_error_code="content_filter"), False),
        (ValueError("content_filter"), False),
    ],
)
def test_a_provider_that_declines_the_content_refuses(error: Exception, filtered: bool) -> None:
    assert is_filtered(error) == filtered


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (http(None, 503), True),
        (http(ModelRateLimitError, 429, "Resource Unavailable"), True),
        (http(ModelRateLimitError, 429, provider_error_code="resource_unavailable"), True),
        (http(ModelRateLimitError, 429, provider_error_type="UNAVAILABLE"), True),
        (http(ModelRateLimitError, 429, "slow down"), False),
        (http(None, 500, "unavailable"), False),
        (ModelAPIError("m", "unavailable"), False),
    ],
)
def test_a_tier_without_capacity_is_told_from_a_rate_limit(error: Exception, full: bool) -> None:
    assert is_out_of_capacity(error) == full


@pytest.mark.parametrize(
    ("error", "long"),
    [
        (http(ModelContextWindowExceededError, 413), True),
        *[
            (http(None, code, f"{word} is too large"), True)
            for code, word in (
                (400, "max_tokens"), (422, "max_completion_tokens"), (400, "max_output_tokens"),
                (400, "maxOutputTokens"), (400, "Context Length"),
            )
        ],
        (http(None, 400, "too large"), False),
        (http(None, 429, "max_tokens"), False),
        (ModelAPIError("m", "max_tokens"), False),
    ],
)  # fmt: skip
def test_a_limit_that_is_refused_is_known(error: Exception, long: bool) -> None:
    assert is_too_long(error) == long


# ------------------------------------------------------------------------------------------- responses


def response(*parts: Any, **more: Any) -> ProviderReply:
    return received(ModelResponse(parts=list(parts) or [TextPart("said")], **more))


def test_a_response_is_read_with_its_counts_cost_and_model() -> None:
    usage = RequestUsage(input_tokens=5, output_tokens=7, details={"reasoning_tokens": 3})
    found = read(
        response(TextPart("a"), TextPart("b"), usage=usage, model_name="m-1", provider_details={"cost": 0.5}),
        1.5,
    )
    assert found == Answer("ab", 1.5, 5, 7, 0.5, "m-1", reasoning_tokens=3, thought=True)


def test_what_is_not_counted_is_unknown() -> None:
    usage = RequestUsage(input_tokens=0, output_tokens=7, details={"reasoning_tokens": 3})
    assert read(response(usage=usage), 0.1) == Answer("said", 0.1, thought=True)
    assert read(response(usage=RequestUsage(input_tokens=1)), 0.1) == Answer("said", 0.1, 1, 0)


@pytest.mark.parametrize(("cost", "usd"), [(0, 0.0), (2, 2.0), (-1, None), ("1", None), (None, None)])
def test_a_cost_is_a_number_that_can_be_one(cost: object, usd: float | None) -> None:
    assert read(response(provider_details={"cost": cost}), 0.1).cost_usd == usd


def test_refusals_cuts_thoughts_and_errors_are_told_apart() -> None:
    assert read(response(finish_reason="content_filter"), 0.1).refused
    refused = read(response(TextPart(""), provider_details={"refusal": "I will not"}), 0.1)
    assert (refused.text, refused.refused) == ("I will not", True)
    assert read(response(provider_details={"refusal": None}), 0.1).text == "said"
    cut = read(response(finish_reason="length"), 0.1)
    assert (cut.truncated, cut.refused, cut.thought) == (True, False, False)
    assert read(response(ThinkingPart("hm"), TextPart("said")), 0.1).thought
    with pytest.raises(
        PlayerError, match=r"^the provider broke off in the middle of the reply \(error\)$"
    ) as failed:
        read(response(finish_reason="error"), 0.1)
    assert failed.value.maybe_paid


@pytest.mark.parametrize(
    ("details", "count"),
    [
        ({}, None),
        ({"reasoning_tokens": 0, "thinking_tokens": 5}, 0),
        ({"thinking_tokens": 5}, 5),
        ({"thoughts_tokens": 6}, 6),
        ({"other": 6}, None),
    ],
)
def test_tokens_thought_have_many_names(details: dict[str, int], count: int | None) -> None:
    assert reasoning_tokens(RequestUsage(details=details)) == count


def texts(messages: Sequence[Any]) -> list[tuple[str, str]]:
    name = {SystemPromptPart: "system", Said: "user", TextPart: "assistant"}
    kinds = {True: ModelResponse, False: ModelRequest}
    for one in messages:
        assert isinstance(one, kinds[isinstance(one.parts[-1], TextPart)])
    return [(name[type(part)], part.content) for one in messages for part in one.parts]


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ([("user", "a")], [("user", "a")]),
        ([("system", "S"), ("user", "a"), ("user", "b")], [("system", "S"), ("user", "a\n\nb")]),
        ([("system", "S"), ("system", "T"), ("user", "a")], [("system", "S\n\nT"), ("user", "a")]),
        (
            [("user", "a"), ("assistant", "b"), ("system", "T"), ("user", "c")],
            [("system", "T"), ("user", "a"), ("assistant", "b"), ("user", "c")],
        ),
        ([("system", "S"), ("assistant", "b")], [("system", "S"), ("assistant", "b")]),
        ([("system", "T")], [("system", "T")]),
    ],
)
def test_one_system_text_goes_in_front_and_turns_alternate(
    asked: list[tuple[Speaker, str]], sent: list[tuple[str, str]]
) -> None:
    assert texts(conversation(turns(asked))) == sent
