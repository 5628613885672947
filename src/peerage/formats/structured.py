"""The format of any game: a JSON object with the fields of a struct that the game declares.

class Bid(msgspec.Struct, frozen=True):
    amount: Annotated[int, Meta(ge=0, le=100, description="What you offer, in coins.")]

BID = Json(Bid)
BID.instruction()        # Reply with one JSON object and nothing else: {"amount": <What you offer, …>}.
BID.parse('{"amount": 7}')  # Bid(amount=7)
"""

from __future__ import annotations

import json
from functools import lru_cache
from random import Random
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from peerage.formats.reading.reader import object_in
from peerage.formats.schemas.made import bare, fitted, outlined, sampled, schema_of
from peerage.formats.texts import FormatError

Value = TypeVar("Value")

_PROBLEMS = 5  # how many problems one message names


class Json(Generic[Value]):
    """A JSON object with the fields of the struct `form`, which `limits` may narrow:
    `Json(Bid, amount=Meta(le=coins))`.

    The object is found as `reading` says: other text may come before it or after it. Every field must be
    there, once, whatever its case, and no other: one that is optional (`int | None`) is null where there is
    nothing to say. A whole number may be written `5.0`; no other value is converted. So exactly those objects
    are usable that the schema accepts and to which the struct does not object: the message of a ValueError of
    its `__post_init__` goes into the repair.

    Fields are str, int, float, bool, None, Literal, Enum, list, `tuple[X, ...]`, structs, and unions of
    these, described and bounded by `Meta`. A struct that cannot be used raises TypeError with a sentence for
    its author: make formats where the module is loaded, so that the error comes then.
    """

    __slots__ = ("_fields", "_schema", "_text", "form")

    def __init__(self, form: type[Value], **limits: Meta) -> None:
        self.form = form
        struct: Any = form
        self._fields, self._schema, self._text = _made(struct, tuple(sorted(limits.items())))

    def instruction(self) -> str:
        return f"Reply with one JSON object and nothing else: {outlined(self._schema)}."

    def schema(self) -> dict[str, Any]:
        return self._schema

    def parse(self, text: str) -> Value:
        return self._value(read_object(text, self._schema))

    def write(self, value: Value | dict[str, Any]) -> str:
        """The reply that says `value`, a struct or its fields."""
        return msgspec.json.encode(value).decode()

    def sample(self, rng: Random) -> Value:
        """A random value of the form. ValueError where a hundred did not satisfy the struct itself."""
        for _ in range(100):
            try:
                return self._value(fitted(sampled(self._fields, rng), self._fields, "", []))
            except FormatError as error:
                reason = error
        raise ValueError(f"no random {self.form.__name__} satisfies its own checks ({reason}); add examples")

    def _value(self, fields: dict[str, Any]) -> Value:
        try:
            value: Value = msgspec.convert(fields, self.form)
            return value
        except msgspec.ValidationError as error:
            raise FormatError(str(error.__cause__ or error)) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and (self.form, self._text) == (other.form, other._text)

    def __hash__(self) -> int:
        return hash((self.form, self._text))

    def __repr__(self) -> str:
        return f"Json({self.form.__name__})"


@lru_cache(maxsize=4096)
def _made(
    form: type[Any], limits: tuple[tuple[str, Meta], ...]
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The schema with its examples, that without them, and this one as a text."""
    fields = schema_of(form, dict(limits))
    schema = bare(fields)
    return fields, schema, json.dumps(schema)


def read_object(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The object that a reply states, fitted to the schema; see `Json`. Raises FormatError."""
    given = object_in(text, schema["properties"], others=True)  # one without any field lacks each
    if given is None:
        fields = ", ".join([f'"{name}"' for name in schema["properties"]])
        raise FormatError(f"no JSON object found; one with {fields} was expected")
    problems: list[str] = []
    value: dict[str, Any] = fitted(given, schema, "", problems)
    if problems:
        more = f" (and {len(problems) - _PROBLEMS} more)" if len(problems) > _PROBLEMS else ""
        raise FormatError("; ".join(problems[:_PROBLEMS]) + more)
    return value
