"""The protocol between the house and an agent: one JSON object there, one JSON object back.

The same shape for programs (`command:`), endpoints (`http:`) and functions (`python:`). A request:

    {"version": 1, "id": "5f0c…", "match": "91d2…", "seat": "A", "player": "My agent",
     "role": "contestant", "max_tokens": 800, "temperature": null,
     "messages": [{"role": "system", "content": "…"}, …], "schema": null}

Where a text stands for a picture or a sound, it has words in brackets, "[picture 3f2a91c0, PNG, 640×480,
12 KB]", and the request has its bytes by its SHA-256, which begins so:

    "media": {"3f2a91c0…": {"type": "image/png", "base64": "…"}}

`max_tokens` bounds the answer; `thinking_tokens` is sent too where the player has room to think on top.
`id` is the same in every attempt and every resume of a call, so an agent may answer a repeated one from a
cache. `match` and `seat` are the same in all requests to a seat of a match, and in none of another; a probe
has none. A program that is asked to work in a folder runs in a copy of it, at the path `folder`: what it
leaves there is its reply, when it ends or its time is up. An agent that remembers by them (`session: own`)
hears when a match is over, and need not reply:

    {"version": 1, "match": "91d2…", "seat": "A", "player": "My agent", "ended": true}

 `schema` is the JSON schema of the reply's text when a format is asked for. A reply:

    {"text": "…", "input_tokens": 120, "output_tokens": 45, "cost_usd": 0.0012,
     "kwh": 0.0004, "images": 1, "audio_seconds": 12.5,
     "model": "agent-7", "refused": false, "truncated": false}

Only `text` is needed; a `finish_reason` is read as a provider's (`finish_reasons`), and thoughts before the
answer are taken out (`thoughts`). A failure: {"error": "the search service is down", "retry": true}. Whatever
is no JSON object with `text` or `error` is itself the text, so that a plain program is an agent too. A reply
with a broken field (a negative cost, a number that is none) is a permanent failure: trying again is vain.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from peerage.formats import read_json
from peerage.game.media import worded
from peerage.game.protocol import USED
from peerage.players.client import Answer, Call, PlayerError, bounded
from peerage.players.media import Sent, divided
from peerage.players.models.finish_reasons import ending
from peerage.players.models.thoughts import part
from peerage.settings import PlayerSettings

VERSION = 1
Count: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)] | None
Amount: TypeAlias = Annotated[float, Meta(ge=0, le=1e12)] | None


class AgentReply(Struct, frozen=True):
    """The part of a reply that is read; what has no type here is taken where it makes sense and else left
    out."""

    text: str
    input_tokens: Count = None
    output_tokens: Count = None
    cost_usd: Amount = None
    kwh: Amount = None
    images: Amount = None
    audio_seconds: Amount = None
    model: Any = ""
    refused: Any = False
    truncated: Any = False
    finish_reason: Any = "stop"


def request_of(call: Call, settings: PlayerSettings) -> dict[str, Any]:
    """The request object for one call. Raises PlayerError for a picture or a sound whose bytes are lost, or
    which the player does not take."""
    limit = settings.max_tokens
    shown = [part for _, text in call.messages for part in divided(text, call.media, settings.takes_stated)]
    media = {
        sent.media.sha256: {"type": sent.media.type, "base64": sent.base64}
        for sent in shown
        if isinstance(sent, Sent)
    }
    thinking = {"thinking_tokens": call.thinking_tokens} if call.thinking_tokens else {}
    return {
        "version": VERSION,
        "id": sha256(f"agent\0{call.seed}\0{call.key}".encode()).hexdigest()[:16],
        **(_seat_of(call.seed, call.seat) if call.seat else {}),
        "player": settings.name,
        "role": call.role,
        "max_tokens": call.max_tokens if limit is None else min(limit, call.max_tokens),
        **thinking,
        "temperature": settings.temperature if call.temperature is None else call.temperature,
        "messages": [{"role": speaker, "content": worded(text)} for speaker, text in call.messages],
        "schema": call.expects.schema(),
        **({"media": media} if media else {}),
    }


def ended_of(seed: str, seat: str, settings: PlayerSettings) -> dict[str, Any]:
    """Return the object by which an agent hears that a match is over for a seat."""
    return {"version": VERSION, **_seat_of(seed, seat), "player": settings.name, "ended": True}


def _seat_of(seed: str, seat: str) -> dict[str, str]:
    """Return the ids of a match and a seat; that of the match says nothing of its secret."""
    return {"match": sha256(f"agent's match\0{seed}".encode()).hexdigest()[:16], "seat": seat}


def reply_from_bytes(content: bytes, latency_s: float) -> Answer:
    """The answer that a program or an endpoint wrote; raises PlayerError as the reply says."""
    text = content.decode("utf-8", "replace")
    try:
        value = read_json(text) if text.lstrip().startswith("{") else None
    except (msgspec.DecodeError, RecursionError):
        value = None
    if isinstance(value, dict) and ("text" in value or "error" in value):
        return reply_from(value, latency_s)
    return reply_from(text, latency_s)


def reply_from(stated: Any, latency_s: float) -> Answer:
    """The answer in a reply object, or in plain text; raises PlayerError."""
    if isinstance(stated, str):
        stated = {"text": stated}
    if not isinstance(stated, dict):
        raise _broken(f"a string or an object was expected, not {type(stated).__name__}")
    if stated.get("error") is not None:
        raise PlayerError(
            f"the agent reports: {str(stated['error'])[:300]}",
            kind="transient" if stated.get("retry", False) is True else "request",
            maybe_paid=True,
        )
    floats = {name: float(value) for name, value in stated.items() if isinstance(value, float)}
    try:
        reply = msgspec.convert(stated | floats, AgentReply)
    except msgspec.ValidationError as error:
        raise _broken(str(error)) from None
    parted, ended = part(reply.text), ending(reply.finish_reason)
    if ended == "broken":
        raise PlayerError(f"the agent broke off its reply ({reply.finish_reason})", maybe_paid=True)
    note = ""
    if reply.text.strip() and not parted.answer.strip():
        note = f"no text came, only {parted.thought:,} characters of reasoning"
    elif ended == "unknown":
        note = f"the agent ended the reply for a reason that is not known: {str(reply.finish_reason)[:40]!r}"
    return bounded(
        Answer(
            parted.answer,
            latency_s,
            reply.input_tokens,
            reply.output_tokens,
            reply.cost_usd,
            snapshot=reply.model if isinstance(reply.model, str) else "",
            refused=reply.refused is True or ended == "refused",
            truncated=reply.truncated is True or ended == "cut",
            thought=parted.thought > 0,
            note=note,
            used={name: amount for name in USED if (amount := getattr(reply, name)) is not None},
        )
    )


def _broken(what: str) -> PlayerError:
    return PlayerError(f"the agent's reply is malformed: {what}", kind="request", maybe_paid=True)
