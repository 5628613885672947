"""A server's reply, reduced to the parts that are read: text, thoughts, finish reason, tokens, error. Pure.

Servers that speak OpenAI's, Anthropic's or Google's language differ in all the rest, and leave out, null or
misspell it. Unused parts cannot spoil a reply, since nothing else of it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from peerage.game.protocol import AT
from peerage.players.models.finish_reasons import ending

LONGEST_MESSAGE = 300


# ---------------------------------------------------------------------------------------------------- errors


class ReportedError(NamedTuple):
    """An error inside a reply of status 200: the HTTP `status` that it stands for, its message, and `error`,
    the object that reports it. `begun` says that a part of a reply came with it."""

    status: int
    message: str
    error: Any
    begun: bool = False


_STATUSES = (
    (402, ("insufficient_quota", "insufficient_balance", "insufficient_credits", "insufficient_funds",
           "billing", "payment_required", "arrearage", "exceeded_current_quota", "credit_balance", "1008")),
    (401, ("invalid_api_key", "invalidapikey", "incorrect_api_key", "authentication", "unauthorized",
           "unauthenticated", "1004")),
    (403, ("permission", "forbidden", "access_denied")),
    (404, ("model_not_found", "not_found", "notfound")),
    (429, ("rate_limit", "ratelimit", "too_many_requests", "throttling", "resource_exhausted", "1002")),
    (529, ("overloaded",)),
    (503, ("unavailable", "no_capacity", "loading")),
    (504, ("timeout", "timed_out", "deadline")),
    (400, ("content_filter", "content_policy", "data_inspection", "datainspection", "sensitive",
           "responsibleaipolicy", "invalid_request", "invalid_argument", "invalid_parameter", "bad_request",
           "context_length", "invalid_prompt", "1026", "1027", "1301", "2013")),
)  # fmt: skip
"""Words of errors that come without an HTTP status, by the status that the same error has elsewhere. Numbers
are MiniMax's and Zhipu's."""
_NO_CREDIT = re.compile(
    r"insufficient (?:\w+ )?(?:credit|balance|quota|funds)|out of credits|no credits? left|in arrears"
)
_FINE = (None, "", 0, 200, "0", "200", "ok", "success", False)


def reported_error(body: Any) -> ReportedError | None:
    """The error that a reply of status 200 reports, at its top or in its choice; None without one."""
    if not isinstance(body, dict):
        return None
    choice = _first(body.get("choices"))
    begun = bool(choice and any(_text(choice)))
    answered = bool(choice) or any(body.get(name) for name in ("content", "candidates", "output"))
    status = body.get("base_resp")
    for error in (body.get("error"), choice and choice.get("error"), status):
        if isinstance(error, dict | str) and (failure := _reported(error, begun)):
            return failure
    if not answered and any(body.get(name) for name in ("message", "msg", "detail", "code")):
        return _reported(body, begun)
    return None


def _reported(error: dict[str, Any] | str, begun: bool) -> ReportedError | None:
    if isinstance(error, str):
        error = {"message": error}
    stated = [error.get(name) for name in ("code", "status_code", "status", "type")]
    message = next(
        (
            part.strip()
            for part in map(error.get, ("message", "msg", "status_msg", "detail", "error"))
            if isinstance(part, str) and part.strip()
        ),
        "",
    )
    codes = [code for code in stated if isinstance(code, int | str) and code not in _FINE]
    if not codes and (not message or "status_code" in error):
        return None
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and isinstance(raw := metadata.get("raw"), str) and raw.strip():
        message = f"{message}: {raw.strip()}"[:LONGEST_MESSAGE]
    return ReportedError(_status(codes, message), message or f"error {codes[0]}", error, begun)


def _status(codes: Iterable[int | str], message: str) -> int:
    """The HTTP status that an error's codes stand for: as stated, else by their words or, without codes,
    those of its message; 502 for no other."""
    codes = list(codes)
    for code in codes:
        if re.fullmatch("[45][0-9]{2}", str(code)):
            return int(code)
    if _NO_CREDIT.search(message.casefold()):
        return 402
    words = " ".join(map(str, codes)) or re.sub(r"\d", "", message)  # numbers in a text are no codes
    text = re.sub("[-. ]", "_", words.casefold())
    return next((status for status, words in _STATUSES if any(word in text for word in words)), 502)


# ----------------------------------------------------------------------------------------------------- usage


class Usage(NamedTuple):
    """Tokens of one reply, None where the server states none that can be true: of the prompt, of all that the
    model wrote, of what it wrote as thoughts, and of the prompt what was read from a cache."""

    prompt: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount", "cache_read_input_tokens")
_CACHED_IN = ("prompt_tokens_details", "input_tokens_details")
_PROMPT = ("prompt_tokens", "input_tokens", "promptTokenCount")
_OUTPUT = ("completion_tokens", "output_tokens", "candidatesTokenCount")
_TOTAL = ("total_tokens", "totalTokenCount")
_REASONING = ("reasoning_tokens", "thoughtsTokenCount", "thinking_tokens")
_DETAILS = ("completion_tokens_details", "output_tokens_details")


def usage_of(stated: Any, wrote: bool) -> Usage:
    """The tokens in a server's `usage`; `wrote` says that the reply has any text or thoughts.

    Some servers count thoughts outside of what they call completion. The output is the largest of what is
    stated, total − prompt, and both parts where thoughts outnumber what they are said to be part of. Where a
    count is negative, a fraction, no number or left out, or nothing is counted for a text, it is unknown: a
    reply is never free because its usage makes no sense.
    """
    if not is_usage(stated):
        return Usage()
    prompt, output, total = (_count(stated, names) for names in (_PROMPT, _OUTPUT, _TOTAL))
    reasoning = _count(stated, _REASONING)
    for name in _DETAILS:
        if isinstance(details := stated.get(name), dict):
            reasoning = max(filter(None, (reasoning, _count(details, _REASONING))), default=reasoning)
    if not prompt:
        return Usage()
    beside = "thoughtsTokenCount" in stated or (reasoning or 0) > (output or 0)
    both = (output or 0) + (reasoning or 0) if beside else output or 0
    tools = _count(stated, ("toolUsePromptTokenCount",)) or 0
    whole = max(both, (total or 0) - prompt - tools)
    known = whole > 0 or (output is not None and not wrote)
    counts = [
        _count(part, _CACHED) for part in (stated, *map(stated.get, _CACHED_IN)) if isinstance(part, dict)
    ]
    cached = next((min(count, prompt) for count in counts if count is not None), None)
    return Usage(prompt, whole, reasoning, cached) if known else Usage()


def _count(stated: Mapping[str, Any], names: Iterable[str]) -> int | None:
    for name in names:
        if isinstance(count := stated.get(name), int | float):
            return int(count)
    return None


def is_usage(stated: Any) -> bool:
    """Return whether the tokens that a provider reports can be such, in whatever parts of `stated` they are;
    else the cost of the reply is unknown, and the reply as good."""
    return isinstance(stated, dict) and _counts(stated)


def _counts(part: Any) -> bool:
    """Return whether all that is called tokens in an object is a count of them, or null."""
    if not isinstance(part, dict):
        return not isinstance(part, list) or all(map(_counts, part))
    for name, value in part.items():
        if name == "tokens" or not name.endswith(("tokens", "okenCount")):  # Cohere's `tokens` is an object
            if not _counts(value):
                return False
        elif value is not None and not (
            type(value) in (int, float) and 0 <= value < 2**40 and value == int(value)
        ):
            return False
    return True


# --------------------------------------------------------------------------------------------------- replies


class ProviderReply(NamedTuple):
    """The parts of a reply that are read: its text and thoughts, the arguments of the tools that it calls,
    and why it ended, as stated. `refusal` is the text in which it was declined, `model` the one that a reply
    names, `tier` that which served it, `cost` the bill in USD, None where none came with it, and `used`
    what else is stated, of `game.protocol.USED`."""

    text: str
    thoughts: str = ""
    calls: tuple[str, ...] = ()
    reason: Any = None
    refusal: str = ""
    usage: Usage = Usage()
    model: str = ""
    tier: str = ""
    cost: float | None = None
    used: Mapping[str, float] = {}


DECLINED = "content_filter"
"""The reason of a reply that was declined, however its provider says so."""


def chat_reply(body: Mapping[str, Any], *, bills: bool = False) -> ProviderReply:
    """Return what is read of a chat completion, which has a choice; `bills` says that its server states what
    it costs."""
    choice = _first(body["choices"]) or {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    refusal = _word(message.get("refusal"))
    text, thoughts = _text(choice)
    calls = _objects(message.get("tool_calls") or message.get("function_call"))
    stated = body.get("usage") or choice.get("usage")  # the latter Moonshot's, at the end of a stream
    usage = usage_of(stated, wrote=bool(text or thoughts or calls))
    cost = billed(stated or {}) if bills and usage.prompt is not None else None
    reply = ProviderReply(
        text,
        thoughts,
        tuple(map(_arguments, calls)),
        _finish_reason(choice),
        refusal="",
        usage=usage,
        model=_served(body),
        tier=_word(body.get("service_tier")),
        cost=cost,
        used=used_of(stated) | used_of(body.get("energy")),
    )
    if refusal.strip():
        return reply._replace(text="", thoughts="", calls=(), reason=DECLINED, refusal=refusal)
    return reply


def _finish_reason(choice: Mapping[str, Any]) -> Any:
    """Return why a choice ended: as stated, or as a gateway passes on what it made `stop` of."""
    own = choice.get("finish_reason", choice.get("finishReason"))
    if isinstance(own, dict):
        own = own.get("type")
    if ending(own) not in ("whole", "unstated"):
        return own if isinstance(own, str) else repr(own)[:40]
    fields = choice.get("provider_specific_fields")
    for place in (choice, fields if isinstance(fields, dict) else {}):
        native = place.get("native_finish_reason")
        if isinstance(native, str) and ending(native) not in ("whole", "unstated", "unknown"):
            return native
    return own


_USED = {
    "kwh": ("kwh", "energy_kwh"),
    "images": ("images",),
    "audio_seconds": ("audio_seconds", "prompt_audio_seconds"),  # the latter Mistral's
}


def used_of(stated: Any) -> dict[str, float]:
    """Return what `stated` says of `game.protocol.USED`, where that can be true."""
    stated = stated if isinstance(stated, Mapping) else {}
    amounts = {name: _amount(stated.get(name)) for names in _USED.values() for name in names}
    return {
        part: known[0]
        for part, names in _USED.items()
        if (known := [amount for name in names if (amount := amounts[name]) is not None])
    }


def billed(usage: Mapping[str, Any]) -> float | None:
    """Return what OpenRouter bills, and the provider in addition where the key is the owner's own."""
    cost, details = _amount(usage.get("cost")), usage.get("cost_details")
    upstream = details.get("upstream_inference_cost") if isinstance(details, dict) else None
    own_key = cost is not None and usage.get("is_byok") is True
    return cost + (_amount(upstream) or 0.0) if cost is not None and own_key else cost


def _amount(dollars: Any) -> float | None:
    return float(dollars) if type(dollars) in (int, float) and 0 <= dollars < 1e9 else None


def _text(choice: Mapping[str, Any]) -> tuple[str, str]:
    """Text and thoughts of a choice, in whatever shape its message has them."""
    message = choice.get("message")
    if not isinstance(message, dict):
        text = choice.get("text")
        return (text if isinstance(text, str) else "", "")
    text, thoughts = _joined(message.get("content"))
    for name in ("reasoning_content", "reasoning", "reasoning_text", "thinking"):
        if isinstance(value := message.get(name), str) and value:
            return text, thoughts or value
    parts = _objects(message.get("reasoning_details"))
    shown = [part.get("text") or part.get("summary") or part.get("data") for part in parts]
    return text, thoughts or "".join([part for part in shown if isinstance(part, str)])


def _joined(content: Any) -> tuple[str, str]:
    """Text and thoughts of a content: a text, or parts of either kind."""
    if isinstance(content, str):
        return content, ""
    texts, thoughts = [], []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind, inner = part.get("type"), part.get("text")
            if kind in ("thinking", "reasoning"):
                thoughts.append(_joined(part.get("thinking", inner))[0])
            elif kind in ("text", "output_text", None) and isinstance(inner, str):
                texts.append(inner)
    return "".join(texts), "".join(thoughts)


def _arguments(call: Mapping[str, Any]) -> str:
    function = call.get("function", call)
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _first(value: Any) -> dict[str, Any] | None:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else None


def _served(body: Mapping[str, Any]) -> str:
    """Return the model that a reply names, with the upstream that served it where a gateway names one
    (OpenRouter's `provider`): "deepseek/deepseek-chat at DeepInfra"."""
    model, upstream = _word(body.get("model")), _word(body.get("provider")).strip()[:60]
    return f"{model[:139]}{AT}{upstream}" if model and upstream else model


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


# ----------------------------------------------------------------------------- Anthropic's and Google's APIs


def anthropic_message(body: Mapping[str, Any]) -> dict[str, Any]:
    """A message of Anthropic's API of the parts of `body` that are read."""
    content: list[dict[str, Any]] = []
    for block in _objects(body.get("content")) if not isinstance(body.get("content"), str) else []:
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                content.append({"type": "text", "text": block["text"]})
            case "thinking":
                shown = {"thinking": _word(block.get("thinking")), "signature": ""}
                content.append({"type": "thinking", **shown})
            case "redacted_thinking":
                content.append({"type": "redacted_thinking", "data": _word(block.get("data"))})
            case "tool_use":
                asked = {
                    "id": "call",
                    "name": _word(block.get("name")) or "tool",
                    "input": block.get("input"),
                }
                content.append({"type": "tool_use", **asked})
    if isinstance(body.get("content"), str):
        content = [{"type": "text", "text": body["content"]}]
    reason = body.get("stop_reason")
    stated = body["usage"] if is_usage(body.get("usage")) else {}
    counts = {name: count for name in _COUNTED if (count := _count(stated, [name]))}
    if (content and not counts.get("output_tokens")) or not any(counts.get(name) for name in _COUNTED[1:]):
        counts = {}
    details = body.get("stop_details")
    return {
        "id": "reply",
        "type": "message",
        "role": "assistant",
        "model": _word(body.get("model")),
        "content": content,
        "stop_reason": reason if isinstance(reason, str) or reason is None else repr(reason)[:40],
        "stop_details": details if isinstance(details, dict) else None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0} | counts | _reasoning(stated if counts else {}),
    }


def _reasoning(stated: Mapping[str, Any]) -> dict[str, Any]:
    reasoning = usage_of(stated, wrote=True).reasoning
    return {} if reasoning is None else {"output_tokens_details": {"thinking_tokens": reasoning}}


_COUNTED = ("output_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def google_response(body: Mapping[str, Any]) -> dict[str, Any]:
    """A response of Google's API of the parts of `body` that are read."""
    candidate = _first(body.get("candidates"))
    candidate = {} if candidate is None else candidate
    content = candidate.get("content")
    parts: list[dict[str, Any]] = []
    for part in _objects(content.get("parts")) if isinstance(content, dict) else []:
        if isinstance(part.get("text"), str):
            parts.append({"text": part["text"], "thought": part.get("thought") is True})
        elif isinstance(part.get("functionCall"), dict):
            call = part["functionCall"]
            arguments = call.get("args")
            known = arguments if isinstance(arguments, dict) else {}
            parts.append({"functionCall": {"name": _word(call.get("name")) or "function", "args": known}})
    usage = usage_of(body.get("usageMetadata"), wrote=bool(parts))
    ended = candidate.get("finishReason")
    counts: dict[str, Any] = {}
    if usage.prompt is not None and usage.output is not None:
        thought = min(usage.reasoning or 0, usage.output)
        counts = {"promptTokenCount": usage.prompt, "candidatesTokenCount": usage.output - thought}
        counts |= {"thoughtsTokenCount": thought, "totalTokenCount": usage.prompt + usage.output}
        counts |= {"cachedContentTokenCount": usage.cached} if usage.cached else {}
    feedback = body.get("promptFeedback")
    blocked = _word(feedback.get("blockReason")) if isinstance(feedback, dict) else ""
    reason = {"finishReason": ended if isinstance(ended, str) else repr(ended)[:40]} if ended else {}
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, **reason}] if candidate else [],
        **({"promptFeedback": {"blockReason": blocked}} if blocked else {}),
        "usageMetadata": counts,
        "modelVersion": _word(body.get("modelVersion")),
    }
