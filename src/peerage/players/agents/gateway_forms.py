"""The four APIs by which agents ask models: what of a request is passed on, what of a reply is read. Pure.

A request is rebuilt from the fields that are known here: another might make the provider search the web, keep
what it is sent, or charge otherwise. The conversation has to be whole, and of texts, whose bytes bound their
tokens, and PNG and JPEG pictures, whose measures do.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from peerage.formats import read_json
from peerage.game.media import Media, media_in, with_marks
from peerage.players.models.finish_reasons import ending
from peerage.players.models.replies import ReportedError, Usage, is_usage, reported_error, usage_of
from peerage.players.models.streams import is_stream
from peerage.settings import PlayerSettings

PATHS = {"chat": "/chat/completions", "responses": "/responses", "messages": "/messages"}
_FORMS = {path: form for form, path in PATHS.items()}
_PATH = re.compile(r"(?:/v1(?:beta)?)?(?:(/[a-z/]+)|/models/[^/]+:((?:g|streamG)enerateContent))")
_SHARED = "tools tool_choice temperature top_p stream parallel_tool_calls"
_KEPT = {
    "chat": f"{_SHARED} messages functions function_call top_k min_p stop seed logit_bias presence_penalty "
    "frequency_penalty repetition_penalty response_format reasoning_effort reasoning thinking verbosity user "
    "enable_thinking chat_template_kwargs prompt_cache_key",
    "responses": f"{_SHARED} input instructions reasoning text include truncation user prompt_cache_key",
    "messages": f"{_SHARED} messages system top_k stop_sequences thinking output_config output_format",
    "gemini": "contents systemInstruction tools toolConfig safetySettings generationConfig",
}
_KEPT_CONFIG = (
    "temperature topP topK stopSequences responseMimeType responseSchema responseJsonSchema thinkingConfig "
    "seed presencePenalty frequencyPenalty"
)
_ELSEWHERE = ("previous_response_id", "conversation", "prompt", "cachedContent", "container")
_SPOKEN = ("messages", "input", "contents", "system", "systemInstruction")
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens")
_TOOLS = re.compile(r"function|custom|local_shell|apply_patch|namespace|(bash|text_editor|memory)_\d+")
"""Types of tools that the agent runs; any other the provider would run."""
_FUNCTIONS = "functionDeclarations"
_NESTED = (dict, list)
_HOLDERS = ("content", "parts", "output", "functionResponse")
_PICTURES = {"image_url", "source", "inlineData", "inline_data"}
_NO_TEXT = re.compile("image|audio|video|file|document|screenshot|upload|item_reference")
MOST_PARTS = 100_000
"""Braces and brackets in a request; more of them would keep this process busy for seconds."""
USUAL_OUTPUT = 16_384
"""Output tokens of a call for which nobody states a limit: many models refuse a larger one."""
_OUTPUTS = ("content", "text", "tool_calls", "candidates", "output")
_REASONS = ("finish_reason", "finishReason", "stop_reason", "status")
_GOING_ON = ("in_progress", "queued")
_FREE = (503, 529)
"""Statuses of 500 and more with which a provider does no work."""
_ERRORS = {401: "authentication_error", 402: "billing_error", 404: "not_found_error"}


class Unfit(ValueError):
    """A request that is not sent, with the reason in words, and the HTTP status that it is refused with."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def form_of(path: str) -> tuple[str, str]:
    """The API of an address, and Gemini's name of the call; both empty for any other address."""
    match = _PATH.fullmatch(path)
    if match is None or not (match[2] or match[1] in _FORMS):
        return "", ""
    return ("gemini", match[2]) if match[2] else (_FORMS[match[1]], "")


def refusal(form: str, status: int, message: str) -> dict[str, Any]:
    """An error in a shape that agents of every API read; at status 402 they end, some after a few tries."""
    kind = _ERRORS.get(status, "invalid_request_error")
    code = status if form == "gemini" else kind
    return {"type": "error", "error": {"type": kind, "code": code, "status": kind, "message": message}}


def request_in(form: str, content: bytes, settings: PlayerSettings) -> AgentRequest:
    """Return the request that a body is. Raises Unfit."""
    if content.count(b"{") + content.count(b"[") > MOST_PARTS:
        raise Unfit(f"the request has more than {MOST_PARTS:,} braces and brackets", 413)
    try:
        return AgentRequest(form, read_json(content), settings)
    except (msgspec.DecodeError, RecursionError):
        raise Unfit("the body is no JSON") from None


class AgentRequest:
    """An agent's request as its player's model is asked: the `body`, whose output is bounded by what is
    `wanted` at most, its `pictures`, and plain JSON of it without them, `bare`. Raises Unfit."""

    def __init__(self, form: str, stated: Any, settings: PlayerSettings) -> None:
        if not isinstance(stated, dict):
            raise Unfit("the body is no JSON object")
        if form == "gemini":
            stated = {_camel(name): value for name, value in stated.items()}
        for name in _ELSEWHERE:
            if stated.get(name):
                raise Unfit(f"`{name}` is not passed on: send the whole conversation in each request")
        self.pictures: list[Media] = []
        spoken = {name: self._bared(stated[name]) for name in _SPOKEN if name in stated}
        config = {_camel(name): value for name, value in _object(stated.get("generationConfig")).items()}
        limits = [*[stated.get(name) for name in _LIMITS], config.get("maxOutputTokens"), settings.max_tokens]
        counts = [count for count in limits if type(count) is int and count > 0]
        self.wanted = min([*counts, 2**30]) if counts else USUAL_OUTPUT
        body, self._limit = _rebuilt(form, stated, config, settings)
        self.body = body | settings.added
        self.limit(self.wanted)
        self.bare = msgspec.json.encode({name: spoken.get(name, self.body[name]) for name in self.body})

    def limit(self, tokens: int) -> None:
        """Bound the output, thinking included."""
        body = self.body
        (body["generationConfig"] if self._limit == "maxOutputTokens" else body)[self._limit] = tokens
        thinking = _object(body.get("thinking"))
        if type(budget := thinking.get("budget_tokens")) is int and budget >= tokens:  # has to be smaller
            less = thinking | {"budget_tokens": tokens // 2}
            body["thinking"] = less if tokens >= 2_048 else {"type": "disabled"}

    def _bared(self, part: Any) -> Any:
        """Return a part of the conversation with words in place of each picture that has its bytes. Raises
        Unfit for what is neither that nor text; the arguments of tools are text, whatever they hold."""
        if isinstance(part, list):
            return [self._bared(inner) if isinstance(inner, _NESTED) else inner for inner in part]
        if not isinstance(part, dict):
            return part
        if (picture := _picture(part)) is not None:
            self.pictures.append(picture)
            kept = {name: part[name] for name in ("cache_control",) if name in part}
            return {"type": "text", "text": picture.mark} | kept
        kind = part.get("type")
        odd = [kind] if isinstance(kind, str) and _NO_TEXT.search(kind) else []
        if odd := odd or [name for name in part if _camel(name) in ("inlineData", "fileData")]:
            raise Unfit(
                f"{odd[0]!r} is not passed on: nobody knows beforehand what it costs, so send text, or a "
                "picture in PNG or JPEG with its bytes"
            )
        return {
            name: self._bared(inner) if _camel(name) in _HOLDERS else inner for name, inner in part.items()
        }


def _rebuilt(
    form: str, stated: Mapping[str, Any], config: Mapping[str, Any], settings: PlayerSettings
) -> tuple[dict[str, Any], str]:
    """Return the body that is sent, and the name of its limit of output."""
    body = {name: value for name, value in stated.items() if name in _KEPT[form].split()}
    if own := _own_tools(form, body.pop("tools", None)):
        body["tools"] = own
    else:
        body = {name: value for name, value in body.items() if not name.startswith(("tool", "parallel"))}
    sampling = {"temperature": settings.temperature, "top_p": settings.top_p}
    sampling = {name: value for name, value in sampling.items() if value is not None}
    if form == "gemini":
        kept = {name: value for name, value in config.items() if name in _KEPT_CONFIG.split()}
        body["generationConfig"] = kept | {_camel(name): value for name, value in sampling.items()}
        return body, "maxOutputTokens"
    body |= sampling | {"model": settings.model.partition(":")[2]}
    if form == "messages":
        return body, "max_tokens"
    body |= {"service_tier": settings.service_tier} if settings.service_tier else {}
    effort = settings.reasoning_effort
    if form == "responses":
        body |= {"reasoning": _object(body.get("reasoning")) | {"effort": effort}} if effort else {}
        return body | {"store": False}, "max_output_tokens"
    body |= {"reasoning_effort": effort} if effort else {}
    body |= {"stream_options": {"include_usage": True}} if body.get("stream") else {}
    # Every compatible server knows `max_tokens`; OpenAI's own models take only the newer name.
    newer = settings.provider == "openai" and not settings.base_url
    newer = newer or ("max_completion_tokens" in stated and "max_tokens" not in stated)
    return body, "max_completion_tokens" if newer else "max_tokens"


def _picture(part: Mapping[str, Any]) -> Media | None:
    """Return the picture that a part of a conversation is, in any of the APIs; None for any other part, and
    for one that holds something else too, such as an address, which would be passed on with it."""
    names = {name for name in part if part[name] is not None} - {"type", "detail", "cache_control"}
    if len(names) != 1 or not names <= _PICTURES:
        return None
    match part[names.pop()]:
        case str(url):
            pass
        case {"url": str(url), **about} if about.keys() <= {"detail"}:
            pass
        case {"data": str(data), **about} if len(about.keys() - {"type"}) == 1 and "url" not in about:
            kind = about.get("media_type") or about.get("mimeType") or about.get("mime_type")
            url = f"data:{kind};base64,{data}"
        case _:
            return None
    marked, bodies = with_marks(url)
    found = media_in([marked]) if bodies else {}
    return next((picture for picture in found.values() if picture.is_image), None)


def input_bound(content: bytes, sent: Iterable[tuple[bytes, int]] = ()) -> int:
    """Return the most input tokens that a body can be charged as: a token a byte.

    Of one that begins and ends as a body that was `sent`, whose tokens are stated, only the bytes between
    count so, and an eighth more of those tokens, since texts are cut otherwise at the seams. What a cache is
    to keep costs a quarter more, for an hour as much again.
    """
    bounds = [tokens + tokens // 8 + len(content) - _shared(content, body) for body, tokens in sent]
    most = min([len(content), *bounds])
    if b'"cache_control"' not in content:
        return most
    return 2 * most if b'"1h"' in content else -(-5 * most // 4)


def _shared(one: bytes, other: bytes) -> int:
    """Return how many bytes two bodies begin and end with alike."""
    most = min(len(one), len(other))
    begin = bisect_left(range(1, most + 1), True, key=lambda at: one[:at] != other[:at])
    return begin + bisect_left(range(1, most - begin + 1), True, key=lambda at: one[-at:] != other[-at:])


def _own_tools(form: str, tools: Any) -> list[dict[str, Any]]:
    """The tools without what the provider would run."""
    own = []
    for tool in map(_object, tools if isinstance(tools, list) else ()):
        if form == "gemini":
            own += [{_FUNCTIONS: value} for name, value in tool.items() if _camel(name) == _FUNCTIONS]
        elif tool and _TOOLS.fullmatch(str(tool.get("type", "custom"))):
            own.append(tool | ({"tools": _own_tools(form, tool["tools"])} if "tools" in tool else {}))
    return own


def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda letter: letter[1].upper(), name) if "_" in name else name


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class ReplyReading:
    """The parts of a reply that are read while it is passed on: the `digest` of its bytes, its `model`, the
    `tier` that served it, the usage as `stated`, an `error` in the midst of it. `status` is the HTTP status,
    0 until something came."""

    def __init__(self, form: str) -> None:
        self.model = self.tier = self._odd = ""
        self.error: ReportedError | None = None
        self.stated: dict[str, Any] = {}
        self.status = 0
        self.digest = sha256()
        self._form = form
        self._reason: Any = None
        self._begun = self._whole = False

    def take(self, content: bytes) -> None:
        """Read a whole body; that of an error status is passed on and no more."""
        if self.status < 400 and is_stream(content):
            self.take_lines(content)
            return
        self.digest.update(content)
        self._whole = self.status < 400 and self._value(content)

    def take_lines(self, content: bytes) -> None:
        """Read whole lines of a stream of events."""
        self.digest.update(content)
        for line in content.splitlines():
            data = line[5:].strip() if line.startswith(b"data:") else b""
            self._whole = self._whole or data == b"[DONE]"
            if data and data != b"[DONE]":
                self._value(data)

    def _value(self, content: bytes) -> bool:
        try:
            value = read_json(content)
        except (msgspec.DecodeError, RecursionError):
            self._odd = "what came is no JSON"
            return False
        for each in value if isinstance(value, list) else [value]:
            parts = [each, *map(_object(each).get, ("response", "message", "delta", "incomplete_details"))]
            for name in ("choices", "candidates"):
                if isinstance(choices := _object(each).get(name), list):
                    parts += [
                        *choices[:1],
                        *map(_object(next(iter(choices), None)).get, ("message", "delta")),
                    ]
            parts = [*map(_object, parts)]
            errors = [part for part in parts if part.get("error") or part.get("type") == "error"]
            for part in errors:
                self.error = reported_error(part) or self.error
            # Of a reply that has begun nobody knows what it costs when an error ends it.
            self._begun |= not errors or any(part.get(name) for part in parts for name in _OUTPUTS)
            for part in parts:
                for name, stated in part.items():
                    self._field(name, stated)
        return True

    def _field(self, name: str, stated: Any) -> None:
        if name in ("usage", "usageMetadata"):
            for key, count in _object(stated).items():
                if count is not None and not _less(count, self.stated.get(key)):
                    self.stated[key] = count
        elif name in ("model", "modelVersion") and isinstance(stated, str):
            self.model = stated[:200]
        elif name == "service_tier" and isinstance(stated, str):
            self.tier = stated
        elif name in _REASONS and stated and stated not in _GOING_ON:
            self._reason = stated

    @property
    def undone(self) -> bool:
        """Return whether an error came in place of a reply, of a kind with which a provider does no work."""
        status = self.status if self.error is None else self.error.status
        return (400 <= status < 500 or status in _FREE) and not self._begun and not any(self.stated.values())

    @property
    def usage(self) -> Usage:
        """Tokens as stated, all of the prompt's among them; unknown where the reply broke off."""
        stated = self.stated
        if not is_usage(stated) or not (self._whole or ending(self._reason) != "unstated"):
            return Usage()
        if self._form == "messages" and "input_tokens" in stated:
            parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            stated = stated | {"input_tokens": sum([int(stated.get(name) or 0) for name in parts])}
        return usage_of(stated, wrote=True)

    @property
    def written(self) -> int:
        """Return as how many tokens more the input counts: those written to a cache cost a quarter more, for
        an hour as much again."""
        if not is_usage(self.stated):
            return 0
        hour = int(_object(self.stated.get("cache_creation")).get("ephemeral_1h_input_tokens") or 0)
        kept = int(self.stated.get("cache_creation_input_tokens") or 0)
        return hour - (-max(0, kept - hour) // 4)

    @property
    def note(self) -> str:
        """Return what is odd about the reply."""
        if self.status >= 400:
            return ""
        if self.error is not None:
            return f"an error inside of the reply: {self.error.message}"
        ended = ending(self._reason)
        if ended in ("unknown", "broken"):
            return f"it ended for {str(self._reason)[:40]!r}"
        return self._odd or ("it does not say why it ended" if ended == "unstated" else "")


def _less(count: Any, before: Any) -> bool:
    """Return whether a count is smaller than what was stated before it: the larger one counts."""
    return isinstance(count, int | float) and isinstance(before, int | float) and count < before
