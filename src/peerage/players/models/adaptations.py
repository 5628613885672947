"""Refusals that a client adapts to: what a server does not take, and what it is sent instead. Pure.

A server that refuses a request for one of these is asked again without it, and remembers it from then on.
Each kind is learnt at most once for a player, since what is left out cannot be refused again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
)

from peerage.game.media import Kind

MAX_TOKENS = "max_tokens"
MAX_COMPLETION_TOKENS = "max_completion_tokens"
SYSTEM = "system"
UNSTREAMED = "unstreamed"
STREAM_OPTIONS = "stream_options"
STRUCTURED = "structured"
THINKING = (
    "thinking",
    "openai_reasoning_effort",
    "anthropic_thinking",
    "google_thinking_config",
    "openrouter_reasoning",
)
"""Settings, as they are sent, that set how much a model thinks."""

OTHER_LIMIT = {MAX_TOKENS: MAX_COMPLETION_TOKENS, MAX_COMPLETION_TOKENS: MAX_TOKENS}

_REFUSED = (
    r"unsupported|not (?:be |currently |yet )*(?:support|permit|allow|accept|enabled|available|valid"
    r"|recogni[sz]e|implement)|n't (?:currently )?(?:support|permit|allow|accept|recogni[sz]e)"
    r"|unrecogni[sz]ed|unknown|unexpected|extra[_ ](?:inputs|fields|forbidden)|additional propert|deprecated"
    r"|no longer|instead|不支持|invalid (?:parameter|argument|field|role)"
)
"""Words of servers that do not take a thing, as opposed to its value."""
_STREAM = r"(?<![a-z_])stream(?:ing|ed)?(?![a-z_])"


class Adaptation(NamedTuple):
    """One kind of refusal. `taken` names the part that a server does not take, `instead` its replacement.

    A refusal is of this kind when the server's text matches `refusal`, and its status is 400 or 422, or 500
    or 501 where those are `failing` (servers that break on it). `met` names servers that refused so.
    """

    taken: str
    instead: str
    refusal: re.Pattern[str]
    met: str
    failing: bool = False


def _limit(name: str, met: str) -> Adaptation:
    other, both = OTHER_LIMIT[name], rf"\b(?:{MAX_TOKENS}|{MAX_COMPLETION_TOKENS})\b"
    refusal = re.compile(rf"{both}.*(?:{_REFUSED})|(?:{_REFUSED}).*{both}|\buse\W+{other}\b", re.DOTALL)
    return Adaptation(f"`{name}`", f"the limit is sent as `{other}`", refusal, met)


_LEFT_OUT = "it is left out"
_THINKING = Adaptation(
    "a bound on thinking",
    _LEFT_OUT,
    re.compile(r"reasoning|thinking|budget_tokens"),
    "models that do not think, servers that know no effort",
)

ADAPTATIONS: Mapping[str, Adaptation] = {
    UNSTREAMED: Adaptation(
        "a request for a whole reply",
        "its stream is read",
        re.compile(
            rf"non-?\s?stream|only\W+(?:\w+\W+){{0,4}}?{_STREAM}"
            rf"|{_STREAM}\W+(?:\w+\W+){{0,5}}?(?:must|required?|true|only|mandatory)"
            rf"|(?:must|requires?|enable|set|please)\W+(?:\w+\W+){{0,5}}?{_STREAM}"
        ),
        "QwQ and other models of DashScope, gateways",
        failing=True,
    ),
    STREAM_OPTIONS: Adaptation(
        "`stream_options`",
        "it is left out, and usage is what the stream reports by itself",
        re.compile("stream_options|include_usage"),
        "gateways that only stream",
    ),
    MAX_TOKENS: _limit(MAX_TOKENS, "GPT-5 and the o family at Azure and behind gateways"),
    MAX_COMPLETION_TOKENS: _limit(MAX_COMPLETION_TOKENS, "servers from before September 2024"),
    SYSTEM: Adaptation(
        "a system text",
        "it is put before the first user turn",
        re.compile(
            r"(?:system|developer)[\s_'\"`:-]*(?:roles?|messages?|prompts?|instructions?|turns?)\b"
            r"|roles?\b.{0,60}(?<![a-z])system(?![a-z])|must alternate|roles? .{0,30}alternat"
            r"|user['\"`]?\W+(?:and|or)\W+(?:assistant|model)\b|messages?\W+\d+\W+role"
            r"|first (?:message|turn|role|content)\b.{0,40}\buser"
            rf"|(?<![a-z])system(?![a-z]).{{0,80}}(?:{_REFUSED})|(?:{_REFUSED}).{{0,80}}(?<![a-z])system(?![a-z])",
            re.DOTALL,
        ),
        "Gemma under vLLM, SGLang, llama.cpp and at Google; o1-mini; Mistral 7B",
        failing=True,
    ),
    STRUCTURED: Adaptation(
        "structured output",
        "it is left out, and the prompt alone asks for the format",
        re.compile(
            r"response[_ ]?(?:format|schema|mime)|json[_ ]?(?:schema|object|mode|validate)|structured|grammar"
            r"|guided|outlines|output_(?:format|config)|initialize samplers|schema"
        ),
        "DeepSeek, Groq, Gemma at Google, llama.cpp; servers that answer 500 to it without a word",
        failing=True,
    ),
    "temperature": Adaptation(
        "a temperature", _LEFT_OUT, re.compile("temperature"), "GPT-5 and the o family, Claude when it thinks"
    ),
} | dict.fromkeys(THINKING, _THINKING)
"""By what is refused, as it is on record with a player (`left_out`)."""

FORM = (UNSTREAMED, STREAM_OPTIONS, MAX_TOKENS, MAX_COMPLETION_TOKENS, SYSTEM)
"""Parts of the request's form, which are sent otherwise: one at a time, for more may be named in passing."""

_NO_REFUSALS = (
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
)


def is_refusal(error: Exception) -> bool:
    """Return whether a server turned a request down, or broke on it, for its settings or its form."""
    return (
        isinstance(error, ModelHTTPError)
        and error.status_code in (400, 422, 500, 501)
        and not isinstance(error, _NO_REFUSALS)
    )


def refused(error: Exception, sent: Collection[str]) -> tuple[str, ...]:
    """Those parts of a request, of all that were `sent`, which an error names as what the server does not
    take: keys of `ADAPTATIONS`, or other settings by their names. Empty where it names none."""
    if not isinstance(error, ModelHTTPError) or not is_refusal(error):
        return ()
    text = complaint(error)

    def named(part: str) -> bool:
        known = ADAPTATIONS.get(part)
        if known is None:
            return error.status_code < 500 and part in text
        return (known.failing or error.status_code < 500) and known.refusal.search(text) is not None

    if form := next((part for part in FORM if part in sent and named(part)), ""):
        return (form,)
    return tuple(part for part in sent if named(part))


_NAMES: Mapping[Kind, str] = {
    "image": r"images?(?:_url)?|vision|multi-?modal|mmproj",
    "audio": r"audio|input_audio|speech|multi-?modal",
}
_ONLY_TEXT = re.compile(
    r"content.{0,60}(?:must be|should be|expected) (?:a |an )?(?:valid )?str|input should be a valid string"
    r"|allowed values.{0,10}text|expected `text`|text-only model"
)


def untaken(error: Exception, sent: Collection[Kind]) -> Kind | None:
    """Return which of the kinds of media that were `sent` a server says it does not take; None for no word of
    that.

    Known are the words of OpenAI ("image_url is only supported by certain models"), OpenRouter ("No endpoints
    found that support image input"), vLLM ("is not a multimodal model", "At most 0 image(s)"), llama.cpp
    ("image input is not supported", with 500), Ollama, Google ("modality is not enabled"), Anthropic, and of
    servers that want a text.
    """
    if not sent or not isinstance(error, ModelHTTPError):
        return None
    if error.status_code not in (400, 404, 415, 422, 500, 501):
        return None
    text = complaint(error)
    named = [kind for kind in sent if _is_untaken(kind).search(text)]
    return next(iter(named or (sent if _ONLY_TEXT.search(text) else ())), None)


@cache
def _is_untaken(kind: Kind) -> re.Pattern[str]:
    name = rf"\b(?:{_NAMES[kind]})(?:\b|\(s\))(?! (?:format|size|type|url|dimension|exceed))"
    refused = (
        rf"{_REFUSED}|only supported|not have|not a|no endpoints?|at most 0|missing data|unknown variant"
    )
    return re.compile(rf"(?:{refused}).{{0,60}}?{name}|{name}.{{0,60}}?(?:{refused})", re.DOTALL)


def complaint(error: ModelHTTPError) -> str:
    """All that a server wrote about a refusal, in lower case, without what it repeats of the request."""
    body = error.body
    cause = getattr(error.__cause__, "message", "")
    parts = [*_texts(body), error.message if body is None else "", cause if isinstance(cause, str) else ""]
    return " ".join(parts).casefold()[:10_000]


_REPEATED = ("input", "failed_generation", "messages", "request", "prompt", "ctx")


def _texts(body: object) -> Iterator[str]:
    if isinstance(body, str | int):
        yield str(body)
    elif isinstance(body, dict):
        for name, value in body.items():
            if name not in _REPEATED:
                yield from _texts(value)
    elif isinstance(body, list):
        for value in body:
            yield from _texts(value)
