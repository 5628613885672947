"""A whole number, or a pass."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.reading import (
    FormatError,
    json_object,
    json_text,
    object_schema,
    on_lines,
)

DIGITS = 60
"""Digits of a number at most: longer than any answer that was meant, short enough to be read at once."""
PASS = "pass"

_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{DIGITS}}}")
_DECORATION = " \t\r\n*_`\"'"
_EXPECTED = f"a whole number of at most {DIGITS} digits from 0 to 9, with nothing but a sign before it"


def whole_number(found: object) -> int | None:
    """A JSON integer or the text of one: a sign if any and 1 to 60 of the digits 0 to 9, nothing else.

    Not `42.`, `42.0`, `1e3`, `1,000`, `٤٢`, `**42**` or words.
    """
    if isinstance(found, str):
        return int(found) if _NUMBER.fullmatch(found) else None
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 10**DIGITS:
        return found
    return None


def _stated(found: object) -> int | None:
    """A whole number in a reply: white space, Markdown marks and quotation marks around it do not count."""
    return whole_number(found.strip(_DECORATION) if isinstance(found, str) else found)


class Integer(Struct, frozen=True, tag="integer"):
    """A whole number, or a pass: the value is None then.

    Accepted: a JSON object holding `field`, as the whole reply or in its only code fence, which comes first
    or last; a line `field: 42`, the first or the last of the reply; the number (or `pass`) alone as the
    whole reply. What counts as a number says `whole_number`; marks around it do not count. A reply that
    states two different answers, or one that cannot be read, is unusable.
    """

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
        alone = self._read(text)
        if alone:
            return alone[0]
        found = json_object(text) or {}
        lines = [line for line in text.split("\n") if line.strip(" \t\r{}")]
        ends = (lines[0], lines[-1]) if lines else ("", "")
        members = re.findall(rf'"{re.escape(self.field)}"\s*:\s*("[^"]*"|[^\s,}}\]]+)', text)
        stated = [*members, *[line.rstrip(" \t\r,") for line in on_lines(text, self.field)]]
        if self.field in found:
            stated.append(found[self.field])
            placed = text.lstrip().startswith("{") or any(end.strip().startswith("```") for end in ends)
        else:
            placed = any(on_lines(end, self.field) for end in ends)
        readings = {self._read(one) for one in stated}
        if not placed or len(readings) != 1:
            what = (
                "more than one answer"
                if len(readings) > 1
                else "no answer"
                if not readings
                else "no clear answer"
            )
            raise FormatError(
                f'{what} found; a JSON object with "{self.field}" was expected, {_EXPECTED}, or "{PASS}"'
            )
        reading = readings.pop()
        if reading is None:
            raise FormatError(f'the answer cannot be read; {_EXPECTED} was expected, or "{PASS}"')
        return reading[0]

    def write(self, value: int | None) -> str:
        return json_text({"working": "", self.field: PASS if value is None else str(value)})

    def sample(self, rng: Random) -> int | None:
        return rng.randint(-1_000, 1_000) if rng.random() < 0.9 else None

    def _read(self, found: object) -> tuple[int | None] | None:
        """The answer in a tuple of its own, since a pass is one too; None for anything else."""
        if isinstance(found, str) and found.strip(_DECORATION).casefold() == PASS:
            return (None,)
        number = _stated(found)
        return None if number is None else (number,)
