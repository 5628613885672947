"""A whole number, or a pass."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.reading.reader import bare, number_in, stated
from peerage.formats.texts import json_text, object_schema

DIGITS = 60
"""Digits of a number at most: longer than any answer that was meant, short enough to be read at once."""
PASS = "pass"
_LONGEST = 400  # characters of a number or a pass, with the marks around it

_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{DIGITS}}}")
_EXPECTED = f"a whole number of at most {DIGITS} digits from 0 to 9, with nothing but a sign before it"


def whole_number(value: object) -> int | None:
    """A JSON integer or the text of one: a sign if any and 1 to 60 of the digits 0 to 9, nothing else. Not
    `42.`, `42.0`, `1e3`, `1,000`, `٤٢`, `**42**` or words."""
    if isinstance(value, str):
        return int(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**DIGITS:
        return value
    return None


def _read(value: Any) -> tuple[int | None] | None:
    """The answer in a tuple of its own, since a pass is one too; None for anything else."""
    if isinstance(value, str) and bare(value[:_LONGEST]) == PASS and len(value) < _LONGEST:
        return (None,)
    number = whole_number(number_in(value) if isinstance(value, str) else value)
    return None if number is None else (number,)


class Integer(Struct, frozen=True, tag="integer"):
    """A whole number, or a pass: the value is None then. Read as `reading` says. What counts as a number says
    `whole_number`; marks around it and a full stop after it do not count."""

    field: str = "answer"

    def instruction(self) -> str:
        return (
            "Reply with one JSON object and nothing else: "
            f'{{"working": "<a few sentences>", "{self.field}": <{_EXPECTED}; or "{PASS}">}}'
        )

    def schema(self) -> dict[str, Any] | None:
        number = {"type": "string", "description": f"{_EXPECTED}; or {PASS}"}
        return object_schema({"working": {"type": "string"}, self.field: number})

    def parse(self, text: str) -> int | None:
        expected = f'a JSON object with "{self.field}" was expected, {_EXPECTED}, or "{PASS}"'
        return stated(text, (self.field,), _read, expected).values[self.field][0]

    def write(self, value: int | None) -> str:
        return json_text({"working": "", self.field: PASS if value is None else str(value)})

    def sample(self, rng: Random) -> int | None:
        return rng.randint(-1_000, 1_000) if rng.random() < 0.9 else None
