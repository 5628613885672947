"""Kinds of the challenge exchange: a whole number or a pass, and a challenge with its answer."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from peerage.formats.reading import (
    FormatError,
    json_object,
    json_text,
    object_schema,
    on_lines,
    unix,
    visible,
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
        return json_text({"working": "", self.field: PASS if value is None else value})

    def sample(self, rng: Random) -> int | None:
        return rng.randint(-1_000, 1_000) if rng.random() < 0.9 else None

    def _read(self, found: object) -> tuple[int | None] | None:
        """The answer in a tuple of its own, since a pass is one too; None for anything else."""
        if isinstance(found, str) and found.strip(_DECORATION).casefold() == PASS:
            return (None,)
        number = _stated(found)
        return None if number is None else (number,)


class Proposed(Struct, frozen=True):
    """The value of a `Proposal` reply. `tests` are pairs of input and the number that the solution prints."""

    description: str
    reference_answer: int
    solution: str = ""
    tests: tuple[tuple[str, int], ...] = ()


class Proposal(Struct, frozen=True, tag="proposal"):
    """A challenge: its description, the whole number that answers it, and if its author likes a program.

    Accepted: a JSON object with `description` and `reference_answer`, as the whole reply or in its only code
    fence. `solution` is a Python program that prints the answer (empty: none); `tests` are objects with the
    `input` of a smaller case and the `output` that the solution prints for it. FormatError: something is
    missing, longer than allowed, not a whole number, or written with characters that cannot be seen.
    """

    max_chars: int = 2_000
    max_bytes: int = 6_000
    max_tests: int = 5

    def instruction(self) -> str:
        return (
            'Reply with one JSON object and nothing else: {"description": "<the challenge>", '
            f'"reference_answer": <{_EXPECTED}>, "solution": "<a Python program that prints the answer, or '
            'empty>", "tests": [{"input": "<standard input of a smaller case>", "output": <the number that '
            f"the solution prints for it>}}, …]}}. The description has at most {self.max_chars} characters, "
            f"the solution at most {self.max_bytes} bytes; tests may be an empty list and are at most "
            f"{self.max_tests}."
        )

    def schema(self) -> dict[str, Any] | None:
        test = object_schema({"input": {"type": "string"}, "output": {"type": "string"}})
        return object_schema(
            {
                "description": {"type": "string", "minLength": 1, "maxLength": self.max_chars},
                "reference_answer": {"type": "string", "description": _EXPECTED},
                "solution": {"type": "string"},
                "tests": {"type": "array", "items": test, "maxItems": self.max_tests},
            }
        )

    def parse(self, text: str) -> Proposed:
        found = json_object(text)
        if found is None:
            raise FormatError('no challenge found; one JSON object with "description" was expected')
        description, solution = found.get("description"), found.get("solution") or ""
        if not isinstance(description, str) or not visible(description).strip():
            raise FormatError('"description" is missing or empty; the text of the challenge was expected')
        description = unix(description).strip()
        if len(description) > self.max_chars:
            raise FormatError(
                f"the description has {len(description)} characters; at most {self.max_chars} are allowed"
            )
        if visible(description) != description:
            raise FormatError(
                "the description holds characters that cannot be seen, which do not reach the reader"
            )
        answer = _stated(found.get("reference_answer"))
        if answer is None:
            raise FormatError(f'"reference_answer" cannot be read; {_EXPECTED} was expected')
        if not isinstance(solution, str) or len(solution.encode()) > self.max_bytes:
            raise FormatError(f'"solution" was expected to be a program of at most {self.max_bytes} bytes')
        if "\0" in solution:  # no store holds it
            raise FormatError('"solution" holds a NUL character')
        return Proposed(description, answer, unix(solution).strip(), self._tests(found.get("tests") or []))

    def write(self, value: Proposed) -> str:
        tests = [{"input": given, "output": printed} for given, printed in value.tests]
        return json_text(msgspec.structs.asdict(value) | {"tests": tests})

    def sample(self, rng: Random) -> Proposed:
        one, other = rng.randrange(1_000), rng.randrange(1_000)
        return Proposed(f"What is {one} + {other}?", one + other, f"print({one} + {other})")

    def _tests(self, found: object) -> tuple[tuple[str, int], ...]:
        if not isinstance(found, list) or len(found) > self.max_tests:
            raise FormatError(f'"tests" was expected to be a list of at most {self.max_tests}')
        tests: list[tuple[str, int]] = []
        for place, test in enumerate(found, 1):
            given = test.get("input") if isinstance(test, dict) else None
            wanted = _stated(test.get("output")) if isinstance(test, dict) else None
            if not isinstance(given, str) or len(given) > self.max_chars or "\0" in given or wanted is None:
                raise FormatError(
                    f'test {place} was expected to be {{"input": "<text>", "output": <number>}}'
                )
            tests.append((unix(given), wanted))
        return tuple(tests)
