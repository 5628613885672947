"""Formats of Color Obfuscation: a color, and an encoding of one."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.reading.reader import between, number_in, object_in, stated
from peerage.formats.texts import FormatError, json_text, object_schema, unix, words
from peerage.values.texts import visible

_SIX = re.compile(r"[0-9A-Fa-f]{6}")


def _color(written: Any) -> str | None:
    digits = number_in(written).removeprefix("#") if isinstance(written, str) else ""
    return digits.upper() if _SIX.fullmatch(digits) else None


class Color(Struct, frozen=True, tag="color"):
    """A color: six hexadecimal digits, capital or small, with or without `#`, marks around it or not.

    The text between `<color>` tags (or the original's `<deobfuscated_color>`) counts; without any the
    reply is read as `reading` says. Two different answers are unusable, and so is whatever is not six digits:
    names, `#RGB`, digits for alpha, `rgb(…)`. The value is in capitals, without `#`. `working_chars` bounds
    the thoughts before it where a schema is enforced.
    """

    field: str = "color"
    working_chars: int = 6_000

    def instruction(self) -> str:
        return (
            "Reply with one JSON object and nothing else: "
            f'{{"working": "<your steps>", "{self.field}": "<RRGGBB: six hexadecimal digits>"}}'
        )

    def schema(self) -> dict[str, Any] | None:
        return object_schema(
            {
                "working": {"type": "string", "maxLength": self.working_chars},
                self.field: {"type": "string", "pattern": "^[0-9A-Fa-f]{6}$"},
            }
        )

    def parse(self, text: str) -> str:
        expected = f'a JSON object with six hexadecimal digits as "{self.field}" was expected'
        tagged = between(text, "color") + between(text, "deobfuscated_color")
        if not tagged:
            return stated(text, (self.field,), _color, expected).values[self.field]
        colors = set(map(_color, tagged))
        if len(colors) == 1 and (color := colors.pop()) is not None:
            return color
        raise FormatError(f"<color> holds no color, or two that differ; {expected}")

    def write(self, value: str) -> str:
        return json_text({"working": "", self.field: value})

    def sample(self, rng: Random) -> str:
        return f"{rng.randrange(16**6):06X}"


class Encoded(Struct, frozen=True, gc=False):
    """The value of an `Encoding` reply."""

    text: str
    instructions: tuple[str, ...]


class Encoding(Struct, frozen=True, tag="encoding"):
    """A string, and a list of instructions for getting back what is hidden in it.

    Accepted: a JSON object, as `reading` finds it, with `obfuscated` and `instructions`, a list or a
    text of one instruction a line; or the original's `<obfuscated_text>` and `<instructions_list>` tags, once
    each. Blank instructions do not count. Parts that are missing or too long are unusable, and so are
    characters that cannot be seen: they do not reach the reader. `plan_chars` bounds the thoughts before it
    where a schema is enforced.
    """

    max_chars: int = 1_000
    max_instructions: int = 30
    instruction_chars: int = 600
    plan_chars: int = 6_000

    def instruction(self) -> str:
        return (
            "Reply with one JSON object and nothing else: "
            '{"plan": "<your thoughts; nobody else sees them>", "obfuscated": "<the string>", '
            '"instructions": ["<first instruction>", "<second instruction>", …]}. '
            f"The string has at most {self.max_chars} visible characters; there are at most "
            f"{self.max_instructions} instructions of at most {self.instruction_chars} characters each."
        )

    def schema(self) -> dict[str, Any] | None:
        return object_schema(
            {
                "plan": {"type": "string", "maxLength": self.plan_chars},
                "obfuscated": {"type": "string", "minLength": 1, "maxLength": self.max_chars},
                "instructions": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": self.instruction_chars},
                    "minItems": 1,
                    "maxItems": self.max_instructions,
                },
            }
        )

    def parse(self, text: str) -> Encoded:
        fields = object_in(text, ("obfuscated", "instructions"))
        if fields is not None:
            string, steps = fields.get("obfuscated"), fields.get("instructions")
        else:
            string, steps = _once(text, "obfuscated_text"), _once(text, "instructions_list")
        if not isinstance(string, str) or not string.strip():
            raise FormatError('there is no obfuscated string; a JSON object with "obfuscated" was expected')
        steps = steps.splitlines() if isinstance(steps, str) else steps
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            raise FormatError('there are no instructions; "instructions" was expected to be a list of texts')
        instructions = tuple([unix(step).strip() for step in steps if step.strip()])
        if not 1 <= len(instructions) <= self.max_instructions:
            raise FormatError(
                f"{len(instructions)} instructions found; 1 to {self.max_instructions} are allowed"
            )
        self._check(unix(string), self.max_chars, "the obfuscated string")
        for place, step in enumerate(instructions, 1):
            self._check(step, self.instruction_chars, f"instruction {place}")
        return Encoded(unix(string), instructions)

    def write(self, value: Encoded) -> str:
        return json_text({"plan": "", "obfuscated": value.text, "instructions": value.instructions})

    def sample(self, rng: Random) -> Encoded:
        return Encoded(words(rng, self.max_chars), (words(rng, self.instruction_chars),))

    def _check(self, text: str, most: int, what: str) -> None:
        if len(text) > most:
            raise FormatError(f"{what} has {len(text)} characters; at most {most} are allowed")
        if visible(text) != text:
            raise FormatError(f"{what} holds characters that cannot be seen, which do not reach the reader")


def _once(text: str, tag: str) -> str | None:
    contents = {content.strip() for content in between(text, tag)}
    if len(contents) > 1:
        raise FormatError(
            f"<{tag}> occurs {len(contents)} times, each with another content; once was expected"
        )
    return contents.pop() if contents else None
