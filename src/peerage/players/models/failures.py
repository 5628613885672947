"""Failures of providers: whether another try or another request may help, paid or not, the fix."""

from __future__ import annotations

from collections.abc import Iterator

import aiohttp
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
    ModelRequestTimeout,
    UnexpectedModelBehavior,
)

from peerage.players.client import PlayerError

UNDONE = "undone"
"""Set in the extensions of a response of status 200 that reports an error in place of a reply: nothing was
done, whatever status the error stands for."""
_WAITS_ARE_FREE = (408, 409, 425, 429, 503, 529)

_INSPECTED = (400, 403, 422, 451)
"""Statuses of a request that may have been declined for its content."""
_FILTERED = (
    "content_filter",
    "content_policy",
    "contentpolicy",
    "moderation",
    "safety",
    "flagged",
    "data_inspection",
    "datainspection",
    "responsibleaipolicy",
    "sensitive",
    "guardrail",
    "prohibited_content",
    "invalid_prompt",
)
"""Parts of the codes of such errors: OpenAI, Azure (`ResponsibleAIPolicyViolation`), DashScope
(`data_inspection_failed`), Volcano Engine (`InputTextSensitiveContentDetected`), gateways."""
_FILTERED_NUMBERS = ("1301", "1026", "1027")
"""The same of Zhipu and MiniMax."""
_FILTERED_MESSAGES = (
    "content management policy",
    "content filter",
    "content policy",
    "content exists risk",
    "inappropriate content",
    "considered high risk",
    "safety system",
    "sensitive content",
    "violates usage guidelines",
    "violating our usage policy",
    "input was flagged",
    "prompt was flagged",
    "敏感内容",
)
"""Messages of such errors that have no code of their own: Azure, Anthropic, DeepSeek, DashScope, Moonshot,
OpenAI, xAI, OpenRouter, Zhipu."""


def is_filtered(error: Exception) -> bool:
    """Return whether the provider declined the request for its content: a refusal, not a failure."""
    if isinstance(error, ContentFilterError):
        return True
    if not isinstance(error, ModelHTTPError) or error.status_code not in _INSPECTED:
        return False
    stated = (getattr(error, name, None) for name in ("provider_error_code", "provider_error_type"))
    codes = [str(code).casefold().replace("-", "_") for code in (*stated, *_codes(error.body)) if code]
    if any(word in code for code in codes for word in _FILTERED) or {*codes} & {*_FILTERED_NUMBERS}:
        return True
    message = _text(error).casefold()
    return "your account" not in message and any(phrase in message for phrase in _FILTERED_MESSAGES)


def _codes(body: object, depth: int = 4) -> Iterator[str]:
    """The codes and types in an error's body, those of inner errors among them."""
    for name, value in body.items() if isinstance(body, dict) else ():
        if name in ("code", "status_code", "type", "status", "reason") and isinstance(value, str | int):
            yield str(value)
        elif isinstance(value, dict) and depth:
            yield from _codes(value, depth - 1)


_TOO_LONG = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "context length")


def is_out_of_capacity(error: Exception) -> bool:
    """Return whether a provider has no room now for calls of a tier that waits: no fault of the player's."""
    if not isinstance(error, ModelHTTPError):
        return False
    return error.status_code == 503 or (error.status_code == 429 and "unavailable" in _words_of(error))


def _words_of(error: ModelHTTPError) -> str:
    codes = (getattr(error, name, "") for name in ("provider_error_code", "provider_error_type"))
    return " ".join(map(str, (*codes, _text(error)))).casefold()


def is_too_long(error: Exception) -> bool:
    """Return whether the server refused a request for the tokens that it asks for."""
    if isinstance(error, ModelContextWindowExceededError):
        return True
    if not isinstance(error, ModelHTTPError) or error.status_code not in (400, 422):
        return False
    text = _text(error).casefold()
    return any(word in text for word in _TOO_LONG)


def player_error(error: Exception, key_place: str) -> PlayerError:
    """The failure behind an exception of the model library; `key_place` names where the key is set."""
    ours = next((cause for cause in _causes(error) if isinstance(cause, PlayerError)), None)
    if ours is not None:
        return ours
    if isinstance(error, ModelHTTPError):
        failure = _status(error, key_place)
        failure.maybe_paid = failure.maybe_paid or _undone(error) is False
        return failure
    if isinstance(error, ModelConnectionError):
        return PlayerError(f"the connection failed: {_text(error)}", maybe_paid=not _unsent(error))
    if isinstance(error, ModelRequestTimeout):
        return PlayerError("no reply in time", maybe_paid=True, busy=True)
    if isinstance(error, ModelAPIError | UnexpectedModelBehavior):
        return PlayerError(f"the reply could not be read: {_text(error)}", maybe_paid=True)
    return PlayerError(f"{type(error).__name__}: {error}", kind="request", maybe_paid=True)


def _status(error: ModelHTTPError, key_place: str) -> PlayerError:
    code, text = error.status_code, _text(error)
    if isinstance(error, ModelQuotaExceededError):
        return PlayerError(f"the account has no credit left ({code}): {text}", kind="permanent")
    if isinstance(error, ModelRateLimitError):
        return PlayerError(f"rate limit reached ({code}): {text}", retry_after_s=error.retry_after, busy=True)
    if isinstance(error, ModelAuthenticationError):
        fix = (
            f"check the key in {key_place} and that it may use this model" if key_place else "it wants a key"
        )
        return PlayerError(f"access denied ({code}): {text}; {fix}", kind="permanent")
    if isinstance(error, ModelNotFoundError):
        return PlayerError(
            f"no such model or address ({code}): {text}; check `model` and `base_url`", kind="permanent"
        )
    if isinstance(error, ModelContextWindowExceededError):
        return PlayerError(f"the prompt is longer than the model takes ({code}): {text}", kind="request")
    if code >= 500 or code in _WAITS_ARE_FREE:
        return PlayerError(
            f"the provider failed ({code}): {text}",
            retry_after_s=error.retry_after,
            maybe_paid=code not in _WAITS_ARE_FREE and not _undone(error),
            busy=code == 529,
        )
    return PlayerError(f"the request was turned down ({code}): {text}", kind="request")


def _text(error: ModelAPIError | UnexpectedModelBehavior) -> str:
    match getattr(error, "body", None):
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)} if (
            text.strip()
        ):
            return text.rstrip(" .")  # what to do about it may follow
    cause = getattr(error.__cause__, "message", None)
    return (cause if isinstance(cause, str) and cause.strip() else error.message).rstrip(" .")


def _undone(error: Exception) -> bool | None:
    """Return whether a reply of status 200 reported the error in place of all that it could have held; None
    of any other error."""
    said = [getattr(getattr(cause, "response", None), "extensions", {}) for cause in _causes(error)]
    return next((extensions[UNDONE] for extensions in said if UNDONE in extensions), None)


def _unsent(error: ModelConnectionError) -> bool:
    """Return whether the request never went out; the aiohttp error tells, where there is one."""
    for cause in _causes(error):
        if isinstance(cause, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return True
        if isinstance(cause, aiohttp.ClientError):
            return False
    return error.phase in ("pool", "connect")


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
