"""The stored forms of replies. Pure."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from peerage.protocol import Reply
from peerage.sealing import Kept, salt

_encode = msgspec.json.Encoder().encode


class Said(Struct, frozen=True, omit_defaults=True, gc=False):
    """A reply as stored; `status` invalid never stands here, since validity follows from the kind.

    `model` is the version as the provider named it, `price` that of its price; a `truncated` one was
    cut, at `cut` tokens where its player's limit did it (0 in what earlier versions wrote), for good if
    `final`.
    """

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
    cut: int = 0
    final: bool = False
    reasoning_tokens: int | None = None

    @property
    def withheld(self) -> bool:
        """Whether the text is sealed and redacted, so that nobody can read it."""
        return not isinstance(self.text, str) and not self.text.salt

    @property
    def words(self) -> str:
        """The text, sealed or not; REDACTED where it is withheld."""
        return self.text if isinstance(self.text, str) else self.text.value


_decode = msgspec.json.Decoder(Said).decode


def reply_body(
    reply: Reply, model: str = "", price: str = "", truncated: bool = False, salt: str = ""
) -> bytes:
    """The stored bytes of a raw reply: with the model snapshot the provider named and the price's version.

    With a `salt` (`reply_salt`) its text is sealed.
    """
    return _encode(
        Said(
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
            reply.cut,
            reply.final,
            reply.reasoning_tokens,
        )
    )


def reply_salt(secret: str, key: str) -> str:
    """The salt of the reply to a request, from its match's secret; empty for a match that has none."""
    return salt(secret, f"reply/{key}") if secret else ""


def read_said(body: bytes) -> Said:
    """A reply with all that is stored of it."""
    return _decode(body)


class _Named(Struct):
    model: str = ""


_decode_named = msgspec.json.Decoder(_Named).decode


def named_model(body: bytes) -> str:
    """The model that a stored reply's provider named; "" for none."""
    return _decode_named(body).model


def read_reply(key: str, body: bytes) -> Reply:
    """A raw reply (its value not yet parsed) from its stored bytes."""
    return reply_of(key, _decode(body))


def reply_of(key: str, said: Said) -> Reply:
    """The raw reply of what is stored."""
    return Reply(
        said.status,  # type: ignore[arg-type]
        said.words,
        None,
        said.reason,
        said.input_tokens,
        said.output_tokens,
        said.latency_ms,
        said.cost_nano,
        said.energy_mwh,
        said.hidden,
        key,
        said.cut,
        said.final,
        said.reasoning_tokens,
    )
