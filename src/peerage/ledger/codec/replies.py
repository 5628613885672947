"""The stored forms of replies. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from peerage.protocol import Reply
from peerage.sealing import Kept, salt

_encode = msgspec.json.Encoder().encode


class _Body(Struct, frozen=True, omit_defaults=True, gc=False):
    """A reply as stored; `status` invalid never stands here, since validity follows from the kind."""

    status: str
    text: str | Kept = ""
    reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int = 0
    cost_nano: int | None = None
    energy_mwh: int | None = None
    model: str = ""
    price: str = ""
    truncated: bool = False
    hidden: Any = None


_decode_body = msgspec.json.Decoder(_Body).decode


def reply_body(
    reply: Reply, model: str = "", price: str = "", truncated: bool = False, salt: str = ""
) -> bytes:
    """The stored bytes of a raw reply: with the model snapshot the provider named and the price's version.

    With a `salt` (`reply_salt`) its text is sealed.
    """
    return _encode(
        _Body(
            reply.status,
            Kept(salt, reply.text) if salt else reply.text,
            reply.reason,
            reply.input_tokens,
            reply.output_tokens,
            reply.latency_ms,
            reply.cost_nano,
            reply.energy_mwh,
            model,
            price,
            truncated,
            reply.hidden,
        )
    )


def reply_salt(secret: str, key: str) -> str:
    """The salt of the reply to a request, from its match's secret; empty for a match that has none."""
    return salt(secret, f"reply/{key}") if secret else ""


def read_reply(key: str, body: bytes) -> Reply:
    """A raw reply (its value not yet parsed) from its stored bytes."""
    return _raw(key, _decode_body(body))


def _raw(key: str, said: _Body) -> Reply:
    return Reply(
        said.status,  # type: ignore[arg-type]
        said.text if isinstance(said.text, str) else said.text.value,
        None,
        said.reason,
        said.input_tokens,
        said.output_tokens,
        said.latency_ms,
        said.cost_nano,
        said.energy_mwh,
        said.hidden,
        key,
    )


def withheld(body: bytes) -> bool:
    """Whether a stored reply's text is sealed and redacted, so that nobody can read it."""
    return b'"text":{"sealed":"' in body


class Provenance(NamedTuple):
    """Where a reply came from: model version as the provider named it, price version; and was it cut."""

    model: str
    price: str
    truncated: bool


def read_provenance(body: bytes) -> Provenance:
    """What is stored with a reply for people, not for games."""
    said = _decode_body(body)
    return Provenance(said.model, said.price, said.truncated)


def read_answer(key: str, body: bytes) -> tuple[Reply, Provenance]:
    """A raw reply and its provenance, read in one go."""
    said = _decode_body(body)
    return _raw(key, said), Provenance(said.model, said.price, said.truncated)
