"""Sealed values: on record, and secret as long as a challenge is in use. Pure.

    {"~salt":"9f…","value":"250500"}     opened: a salt nobody can guess, and a value as JSON text
    {"sealed":"51ab…"}                   its commitment: the SHA-256 of the bytes above

Every digest of the ledger is over `committed` bytes, in which each sealed value is replaced by its
commitment. So those who are shown the redacted bytes check the same digests as those who hold the opened
ones, and an opened value can be held against its commitment later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, field

REDACTED = "(sealed)"
"""The stand-in of a sealed text where only its commitment is known."""

# The quotes of a JSON string are escaped, so no text that a player wrote can look like this in stored bytes.
_OPENED = re.compile(rb'\{"~salt":"([0-9a-f]{32})","value":"[^"\\]*(?:\\.[^"\\]*)*"\}')
MARK = b"~"
"""Rare in any text, so that bytes without a sealed value, nearly all, are known at a glance."""
SALT = "~salt"


class Sealed(ValueError):
    """A sealed value is needed, and only its commitment is there."""


def match_key(secret: str, number: int) -> str:
    """The key of match `number`, its seed: draws during the match, its fences and its ids follow from it. The
    SHA-256, in hex, of the arena's secret and the number. It reveals neither the secret nor any other key."""
    return sha256(f"peerage/match/{secret}/{number}".encode()).hexdigest()


def by_turns(secret: str, number: int, there: int, count: int = 1) -> tuple[int, ...]:
    """The places, so many of those `there`, that match `number` is about: none comes again before as many
    others as fill whole matches have come. `secret` draws a new order for each such block."""
    block, place = divmod(number - 1, max(1, there // count))
    return _order(f"{secret}/{block}", there)[place * count : (place + 1) * count]


@lru_cache(maxsize=8)
def _order(seed: str, there: int) -> tuple[int, ...]:
    return tuple(Random(seed).sample(range(there), there))


def sealing_key(secret: str) -> str:
    """Return what salts of sealed values follow from; disclosed with the arena's secret alone."""
    return sha256(f"peerage/sealing/{secret}".encode()).hexdigest()


def salt(secret: str, name: str) -> str:
    """The salt of the value called `name`: 32 hex digits that follow from a match's secret."""
    return sha256(f"salt\0{secret}\0{name}".encode()).hexdigest()[:32]


def seal(salt: str, value: Any) -> dict[str, str]:
    """Plain JSON data as a sealed value, opened."""
    return {SALT: salt, "value": msgspec.json.encode(value).decode()}


def unseal(stored: Mapping[str, str]) -> Any:
    """The plain data in a sealed value. Raises Sealed when it is redacted."""
    if "value" not in stored:
        raise Sealed("this part of the ledger is sealed; the arena's owner can open it")
    return msgspec.json.decode(stored["value"])


def committed(body: bytes, revealed: Collection[str] = ()) -> bytes:
    """Stored bytes with a commitment in place of each opened value; the same bytes when there is none. Values
    whose salts are `revealed` stay opened: digests are over bytes without any."""
    if MARK not in body:
        return body
    return _OPENED.sub(
        lambda opened: (
            opened[0]
            if opened[1].decode() in revealed
            else b'{"sealed":"%s"}' % sha256(opened[0]).hexdigest().encode()
        ),
        body,
    )


class Kept(Struct, frozen=True, gc=False):
    """A sealed text, see `sealing`: opened it has a salt and its value, redacted neither."""

    salt: str = field(default="", name=SALT)
    value: str = REDACTED
