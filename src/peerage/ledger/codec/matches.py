"""The stored forms of fixtures (their settings as a text, their key sealed) and of match records. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from peerage.ledger.codec.texts import ChangedText, Text, text_digest
from peerage.match import Fixture, MatchRecord
from peerage.sealing import salt, seal, unseal

_encode = msgspec.json.Encoder().encode
_decode_record = msgspec.json.Decoder(MatchRecord).decode


def fixture_body(fixture: Fixture) -> tuple[bytes, list[Text]]:
    """The stored bytes of a fixture, its key sealed, and its settings as a long text."""
    text = _settings_text(_Same(fixture.settings))
    data = msgspec.structs.asdict(fixture) | {
        "settings": text[0].hex(),
        "seed": seal(seed_salt(fixture.seed), fixture.seed),
    }
    return _encode(data), [text]


class _Same:
    """A value that equals itself alone, so that a cache need not look into it; kept alive by the cache."""

    __slots__ = ("value",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=4)  # an arena's own prompts stand in there, perhaps a million of them
def _settings_text(settings: _Same) -> Text:
    text = msgspec.json.encode(settings.value, order="sorted").decode()
    return text_digest(text), text


def seed_salt(seed: str) -> str:
    """The salt that seals the key of a match: who knows the key knows it."""
    return salt(seed, "key")


def read_fixture(body: bytes, texts: Callable[[str], str]) -> Fixture:
    """A stored fixture; its `seed` is empty where only the commitment is there. Raises MissingText where its
    settings are not there as they were written."""
    data = msgspec.json.decode(body, type=dict[str, Any])
    if isinstance(data.get("seed"), dict):  # plain in a ledger of 0.1.0
        data["seed"] = unseal(data["seed"]) if "value" in data["seed"] else ""
    named = str(data.get("settings"))
    data["settings"] = _settings(named, texts(named))
    return msgspec.convert(data, Fixture)


@lru_cache(maxsize=64)
def _settings(digest: str, text: str) -> Mapping[str, Any]:
    """What thousands of fixtures share; a game takes them as they are, so they must be what was written."""
    if text_digest(text).hex() != digest:
        raise ChangedText(digest)
    found: Mapping[str, Any] = msgspec.json.decode(text)
    return found


def record_body(record: MatchRecord) -> bytes:
    return _encode(record)


def read_record(body: bytes) -> MatchRecord:
    return _decode_record(body)
