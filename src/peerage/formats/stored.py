"""Formats as a ledger stores them: what players were asked for, readable without the format itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from peerage.formats.color import Color, Encoding
from peerage.formats.integer import Integer
from peerage.formats.moves import LegalMove
from peerage.formats.plain import Choice, Choices, Code, Shaped, Text, WithTool
from peerage.formats.questions import Questions
from peerage.formats.schemas.made import sampled
from peerage.formats.scores import Score, Scores
from peerage.formats.structured import Json, read_object
from peerage.formats.texts import Format, FormatError, json_text

_OURS: Mapping[Any, Any] = {
    kind.__struct_config__.tag: kind
    for kind in (
        Text,
        Shaped,
        Choice,
        Choices,
        Code,
        Integer,
        Score,
        Scores,
        Questions,
        Color,
        Encoding,
        WithTool,
        LegalMove,
    )
}
_JSON = "json"


class Fields(dict[str, Any]):
    """Fields of a reply in the form of a struct: `bid["amount"]`, also `bid.amount`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _fields(value: Any) -> Any:
    if isinstance(value, list):
        return [_fields(item) for item in value]
    return Fields({name: _fields(part) for name, part in value.items()}) if isinstance(value, dict) else value


class StoredFormat(Struct, frozen=True):
    """A format that is known from a ledger alone, as its stored JSON `text`. Replies to a `Json` are read by
    their schema, as `Fields`; of any other format nothing is known but the text."""

    text: str

    def instruction(self) -> str:
        return str(self.form.get("instruction", ""))

    def schema(self) -> dict[str, Any] | None:
        schema = self.form.get("schema")
        return schema if isinstance(schema, dict) else None

    def parse(self, text: str) -> Any:
        schema, named = self.schema(), self.form.get("type")
        if schema is None or named != _JSON:
            return text
        try:
            return _fields(read_object(text, schema))
        except FormatError:
            raise
        except Exception:  # the ledger's maker wrote what is no schema of ours
            return text

    def write(self, value: Any) -> str:
        return value if isinstance(value, str) else json_text(value)

    def sample(self, rng: Random) -> Any:
        schema = self.schema()
        return "" if schema is None else sampled(schema, rng)

    @property
    def form(self) -> dict[str, Any]:
        return _read(self.text)


@lru_cache(maxsize=1024)
def _read(text: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(text)
    return fields


_PLAIN = (str, int, float, tuple, dict, type(None))


def stored(kind: Format) -> dict[str, Any]:
    """Return what a ledger stores of a format: `instruction`, `schema` (null: text), `type`, its settings."""
    if isinstance(kind, StoredFormat):
        return kind.form
    shape = {"instruction": kind.instruction(), "schema": kind.schema()}
    if isinstance(kind, Json):
        return {"type": _JSON, **shape}
    ours = next((tag for tag, known in _OURS.items() if isinstance(kind, known)), None)
    if ours is None:
        return shape
    fields = msgspec.structs.asdict(kind)  # type: ignore[arg-type]  # ours are structs
    # Whether something keeps a protocol takes longer to ask than all else here.
    inner = {
        name: stored(value) if not isinstance(value, _PLAIN) and isinstance(value, Format) else value
        for name, value in fields.items()
    }
    return {"type": ours, **inner, **shape}


def recorded(fields: Mapping[str, Any]) -> Format:
    """The format that a ledger stores. Total: of what is no format of ours replies are read as texts."""
    named = fields.get("type")
    ours = _OURS.get(named) if isinstance(named, str) else None
    if ours is not None:
        with suppress(msgspec.ValidationError):
            kind: Format = msgspec.convert(fields, ours, dec_hook=_inner)
            return kind
    return StoredFormat(json_text(fields))


def _inner(_: type, fields: Any) -> Format | None:
    """The format inside another; None is refused as none."""
    return recorded(fields) if isinstance(fields, dict) else None
