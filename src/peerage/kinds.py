"""The kinds of reply: each declares a format, tells it to a model, and reads it back.

A kind's `parse` is total: it returns a value or raises `Unusable`, whatever a model wrote. What it reads it
reads by one stated rule; it never guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct


class Unusable(Exception):
    """A reply is not in the declared format; the message says what was expected, for the repair."""


_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


@lru_cache(maxsize=64)  # a panel is shown the same few texts many times over
def visible(text: str) -> str:
    """`text` with control, zero-width and bidirectional characters replaced by a visible mark.

    Line feeds and tabs stay. What one model wrote must not steer a terminal or another model unseen.
    """
    return _INVISIBLE.sub("\ufffd", text)


class Kind(Protocol):
    """A declared format of reply. `parse` is total: it returns a value or raises `Unusable`."""

    def instruction(self) -> str:
        """The sentence that tells a model the format; a game puts it into its template."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for providers with native structured output; None for free text."""

    def parse(self, text: str) -> Any:
        """The value of a reply; raises `Unusable`."""


class Text(Struct, frozen=True, tag="text"):
    """Free text, cut after `max_chars` characters. Empty or blank is unusable."""

    max_chars: int = 20_000

    def instruction(self) -> str:
        return f"Reply with plain text of at most {self.max_chars} characters."

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        if not visible(text).replace("\ufffd", "").strip():
            raise Unusable("the reply is empty; some text was expected")
        return text[: self.max_chars]


class Chosen(Struct, frozen=True, gc=False):
    """The value of a `Choice` reply."""

    choice: str
    reason: str = ""


class Choice(Struct, frozen=True, tag="choice"):
    """One of `options`, with a short reason.

    Accepted: a JSON object holding `field`, as the whole reply or in its only code fence; a line
    `field: option`; the option alone as the whole reply. Fence or line must come first or last in the reply,
    and two different options in one reply are unusable: quoting somebody's "verdict: A" must never cast a
    vote. Options are compared without case.
    """

    field: str
    options: tuple[str, ...]
    reason_chars: int = 400

    def instruction(self) -> str:
        choices = " | ".join(f'"{option}"' for option in self.options)
        return (
            "Reply with one JSON object and nothing else: "
            f'{{"reason": "<one or two sentences>", "{self.field}": {choices}}}'
        )

    def schema(self) -> dict[str, Any] | None:
        return {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "maxLength": self.reason_chars},
                self.field: {"type": "string", "enum": list(self.options)},
            },
            "required": ["reason", self.field],
            "additionalProperties": False,
        }

    def parse(self, text: str) -> Chosen:
        return self._as_asked(text) or self._parse(text)

    def _as_asked(self, text: str) -> Chosen | None:
        """The value of a reply that is just what was asked for; the many, and read ten times as fast."""
        if not text.startswith("{") or text.count(f'"{self.field}"') != 1 or "```" in text:
            return None
        found = json_object(text) or {}
        option = self._option(str(found.get(self.field, "")))
        reason = found.get("reason", "")
        if option is None or not isinstance(reason, str):
            return None
        return Chosen(option, reason[: self.reason_chars])

    def _parse(self, text: str) -> Chosen:
        whole = self._option(text)
        if whole is not None:
            return Chosen(whole)
        found = json_object(text) or {}
        lines = [line.strip() for line in text.split("\n") if line.strip(" \t\r{}")]
        on_lines: list[str | None] = []
        placed = text.lstrip().startswith("{")
        if self.field not in found or not placed:
            # A broken object's quotes may hold lines of their own, so what it states as a member counts too.
            on_lines = [self._on_line(line) for line in lines]
            ends = (lines[0], lines[-1]) if lines else ("", "")
            if self.field in found:
                placed = ends[0].startswith("```") or ends[1].endswith("```")
            else:
                placed = any(map(self._on_line, ends))
        if self.field in found and self._option(str(found[self.field])) is None:
            raise Unusable(f"{self.field!r} is not one of {', '.join(self.options)}")
        members = re.findall(rf'"{re.escape(self.field)}"\s*:\s*"([^"]*)"', text)
        named = [*map(self._option, members), *on_lines, self._option(str(found.get(self.field, "")))]
        stated = set(filter(None, named))
        if not placed or len(stated) != 1:
            what = "more than one" if len(stated) > 1 else "no" if not stated else "no clear"
            raise Unusable(
                f'{what} {self.field} found; a JSON object with "{self.field}" set to one of '
                f"{', '.join(self.options)} was expected, and nothing else"
            )
        reason = found.get("reason", "")
        if not found:
            reason = " ".join([line for line, option in zip(lines, on_lines, strict=True) if option is None])
        return Chosen(stated.pop(), reason[: self.reason_chars] if isinstance(reason, str) else "")

    def _on_line(self, line: str) -> str | None:
        named, colon, value = line.partition(":")
        named_so = colon and named.strip(" *#_\"'").casefold() == self.field.casefold()
        return self._option(value) if named_so else None

    def _option(self, text: str) -> str | None:
        if text in self.options:
            return text
        bare = text.strip(" \t\r\n*_`\"'.,").casefold()
        return next((option for option in self.options if option.casefold() == bare), None)


class Color(Struct, frozen=True, tag="color"):
    """A colour: six hexadecimal digits, capital or small, with or without `#`, in quotes or not.

    The answer is looked for in four forms, and the first that occurs counts: `field` of the JSON object that
    the reply is (alone, or in a code fence); what stands between `<color>` tags (or the original's
    `<deobfuscated_color>`); a line `field: …`; the whole reply. Two different answers in that form are
    unusable, and so is whatever is not six digits: names, `#RGB`, digits for alpha, `rgb(…)`. The value is
    in capitals, without `#`. `working_chars` bounds the thoughts before it where a schema is enforced.
    """

    field: str = "color"
    working_chars: int = 6_000

    def instruction(self) -> str:
        return (
            "Reply with one JSON object and nothing else: "
            f'{{"working": "<your steps>", "{self.field}": "<RRGGBB: six hexadecimal digits>"}}'
        )

    def schema(self) -> dict[str, Any] | None:
        return _object(
            {
                "working": {"type": "string", "maxLength": self.working_chars},
                self.field: {"type": "string", "pattern": "^[0-9A-Fa-f]{6}$"},
            }
        )

    def parse(self, text: str) -> str:
        found = json_object(text)
        if found is not None:
            # of two equal keys JSON decoders take the last; two answers are two answers
            answers = [
                found.get(self.field),
                *re.findall(rf'"{re.escape(self.field)}"\s*:\s*"([^"]*)"', text),
            ]
        else:
            answers = (
                between(text, "color") + between(text, "deobfuscated_color")
                or _on_lines(text, self.field)
                or [text]
            )
        bare = {answer.strip(_AROUND).removeprefix("#") for answer in answers if isinstance(answer, str)}
        colors = {answer.upper() for answer in bare if _SIX.fullmatch(answer)}
        if len(colors) == 1 and all(map(_SIX.fullmatch, bare)):
            return colors.pop()
        if len(bare) > 1:
            raise Unusable(f"{len(bare)} different answers found; one colour was expected")
        raise Unusable(
            f'no colour found; a JSON object with six hexadecimal digits as "{self.field}" was expected'
        )


class Encoded(Struct, frozen=True, gc=False):
    """The value of an `Encoding` reply."""

    text: str
    instructions: tuple[str, ...]


class Encoding(Struct, frozen=True, tag="encoding"):
    """A string, and a list of instructions for getting back what is hidden in it.

    Accepted: a JSON object (alone, or in a code fence) with `obfuscated` and `instructions`, a list or a
    text of one instruction a line; or the original's `<obfuscated_text>` and `<instructions_list>` tags, once
    each. Blank instructions do not count. What is missing or longer than allowed is unusable, and so are
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
        return _object(
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
        found = json_object(text)
        if found is not None:
            string, steps = found.get("obfuscated"), found.get("instructions")
        else:
            string, steps = _once(text, "obfuscated_text"), _once(text, "instructions_list")
        if not isinstance(string, str) or not string.strip():
            raise Unusable('there is no obfuscated string; a JSON object with "obfuscated" was expected')
        steps = steps.splitlines() if isinstance(steps, str) else steps
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            raise Unusable('there are no instructions; "instructions" was expected to be a list of texts')
        instructions = tuple([_unix(step).strip() for step in steps if step.strip()])
        if not 1 <= len(instructions) <= self.max_instructions:
            raise Unusable(
                f"{len(instructions)} instructions found; 1 to {self.max_instructions} are allowed"
            )
        self._check(_unix(string), self.max_chars, "the obfuscated string")
        for place, step in enumerate(instructions, 1):
            self._check(step, self.instruction_chars, f"instruction {place}")
        return Encoded(_unix(string), instructions)

    def _check(self, text: str, most: int, what: str) -> None:
        if len(text) > most:
            raise Unusable(f"{what} has {len(text)} characters; at most {most} are allowed")
        if visible(text) != text:
            raise Unusable(f"{what} holds characters that cannot be seen, which do not reach the reader")


class Code(Struct, frozen=True, tag="code"):
    """A Python program: what stands in the reply's only Markdown code block.

    A block begins with a line of three backticks, a language or none after them, and ends with a line of
    three backticks. Whatever stands around it does not count. A reply without a block, with a block that does
    not end, or with two different ones is unusable, and so is a program that is blank or too long. The value
    is the program, without carriage returns and without the line feed before the end of the block.
    """

    max_bytes: int = 20_000

    def instruction(self) -> str:
        return (
            "Reply with the program in one Markdown code block (a line of ```python, the program, a line of "
            f"```) and write no other block. The program has at most {self.max_bytes} bytes."
        )

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        found = dict.fromkeys(_blocks(_unix(text)))
        if len(found) != 1:
            what = "no code block" if not found else f"{len(found)} different code blocks"
            raise Unusable(f"{what} found; the program in one block of ``` was expected")
        program = next(iter(found))
        size = len(program.encode())
        if size > self.max_bytes:
            raise Unusable(f"the program has {size} bytes; at most {self.max_bytes} are allowed")
        if not program.strip():
            raise Unusable("the code block is empty; a program was expected")
        return program


AnyKind: TypeAlias = Text | Choice | Color | Encoding | Code

_SIX = re.compile(r"[0-9A-Fa-f]{6}")
_AROUND = " \t\r\n\"'`*_.,"
# No part of it may match what the next one does: a reply of blank lines would take hours.
_FENCED = re.compile(r"```[a-zA-Z]*[ \t\r]*\n(.*?)```", re.DOTALL)


def _blocks(text: str) -> Iterator[str]:
    """The contents of each Markdown code block, without its last line feed."""
    inside: list[str] | None = None
    for line in text.split("\n"):
        bare = line.strip(" \t")
        if inside is None:
            if bare.startswith("```") and "`" not in bare[3:]:
                inside = []
        elif bare == "```":
            yield "\n".join(inside)
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        raise Unusable("the code block does not end; a line of ``` was expected after the program")


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema in which every property is required and no other allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def between(text: str, tag: str) -> list[str]:
    """What stands between each opening tag and the next closing one; tags are compared without case."""
    contents: list[str] = []
    opened: int | None = None
    for found in re.finditer(rf"<(/?){tag}>", text, re.IGNORECASE):
        if not found[1] and opened is None:
            opened = found.end()
        elif found[1] and opened is not None:
            contents.append(text[opened : found.start()])
            opened = None
    return contents


def _once(text: str, tag: str) -> str | None:
    found = {content.strip() for content in between(text, tag)}
    if len(found) > 1:
        raise Unusable(
            f"<{tag}> stands there {len(found)} times, each with another content; once was expected"
        )
    return found.pop() if found else None


def _on_lines(text: str, field: str) -> list[str]:
    """What follows `field:` on lines that begin with it."""
    answers: list[str] = []
    for line in text.splitlines():
        named, colon, value = line.partition(":")
        if colon and named.strip(" *#_\"'").casefold() == field.casefold():
            answers.append(value)
    return answers


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def json_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that `text` is, or that stands in its only code fence; None when there is none."""
    fenced = _FENCED.findall(text) if "```" in text else []
    candidate = (fenced[0] if len(fenced) == 1 else text).strip()
    if not candidate.startswith("{"):
        return None
    try:
        found = msgspec.json.decode(candidate)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
