"""Formats for any game: free text, a choice, a program, and a program to be run before the answer."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.format import Format
from peerage.formats.reading import (
    FormatError,
    blocks,
    json_object,
    json_text,
    json_whole,
    object_schema,
    unix,
    visible,
    words,
)


class Text(Struct, frozen=True, tag="text"):
    """Free text, cut after `max_chars` characters. Empty or blank is unusable."""

    max_chars: int = 20_000

    def instruction(self) -> str:
        return f"Reply with plain text of at most {self.max_chars} characters."

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        if not visible(text).replace("\ufffd", "").strip():
            raise FormatError("the reply is empty; some text was expected")
        return text[: self.max_chars]

    def write(self, value: str) -> str:
        return value

    def sample(self, rng: Random) -> str:
        return words(rng, self.max_chars)


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
        return object_schema(
            {
                "reason": {"type": "string", "maxLength": self.reason_chars},
                self.field: {"type": "string", "enum": list(self.options)},
            }
        )

    def parse(self, text: str) -> Chosen:
        return self._as_asked(text) or self._parse(text)

    def write(self, value: Chosen | str) -> str:
        chosen = value if isinstance(value, Chosen) else Chosen(value)
        return json_text({"reason": chosen.reason, self.field: chosen.choice})

    def sample(self, rng: Random) -> Chosen:
        return Chosen(rng.choice(self.options))

    def _as_asked(self, text: str) -> Chosen | None:
        """The value of a reply that is just what was asked for; the many, and read ten times as fast."""
        if not text.startswith("{") or text.count(f'"{self.field}"') != 1:
            return None
        found = json_whole(text) or {}
        option = self._option(str(found.get(self.field, "")))
        reason = found.get("reason", "")
        if option is None or not isinstance(reason, str):
            return None
        return Chosen(option, reason[: self.reason_chars])

    def _parse(self, text: str) -> Chosen:
        whole = self._option(text)
        if whole is not None:
            return Chosen(whole)
        if self.field.casefold() not in text.casefold() and "\\" not in text:
            raise self._none("no")  # prose without a word of it: nothing below could find one
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
            raise FormatError(f"{self.field!r} is not one of {', '.join(self.options)}")
        members = re.findall(rf'"{re.escape(self.field)}"\s*:\s*"([^"]*)"', text)
        named = [*map(self._option, members), *on_lines, self._option(str(found.get(self.field, "")))]
        stated = set(filter(None, named))
        if not placed or len(stated) != 1:
            what = "more than one" if len(stated) > 1 else "no" if not stated else "no clear"
            raise self._none(what)
        reason = found.get("reason", "")
        if not found:
            reason = " ".join([line for line, option in zip(lines, on_lines, strict=True) if option is None])
        return Chosen(stated.pop(), reason[: self.reason_chars] if isinstance(reason, str) else "")

    def _none(self, what: str) -> FormatError:
        return FormatError(
            f'{what} {self.field} found; a JSON object with "{self.field}" set to one of '
            f"{', '.join(self.options)} was expected, and nothing else"
        )

    def _on_line(self, line: str) -> str | None:
        named, colon, value = line.partition(":")
        named_so = colon and named.strip(" *#_\"'").casefold() == self.field.casefold()
        return self._option(value) if named_so else None

    def _option(self, text: str) -> str | None:
        if text in self.options:
            return text
        bare = text.strip(" \t\r\n*_`\"'.,").casefold()
        return next((option for option in self.options if option.casefold() == bare), None)


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
        found = dict.fromkeys(blocks(unix(text)))
        if len(found) != 1:
            what = "no code block" if not found else f"{len(found)} different code blocks"
            raise FormatError(f"{what} found; the program in one block of ``` was expected")
        program = next(iter(found))
        size = len(program.encode())
        if size > self.max_bytes:
            raise FormatError(f"the program has {size} bytes; at most {self.max_bytes} are allowed")
        if not program.strip():
            raise FormatError("the code block is empty; a program was expected")
        return program

    def write(self, value: str) -> str:
        return f"```python\n{value}\n```"

    def sample(self, rng: Random) -> str:
        return f"print({rng.randrange(1000)})"


_OPENING = re.compile(r"^[ \t]*```[ \t]*(?:python3?|py)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)


class Turn(Struct, frozen=True, gc=False):
    """The value of a `WithTool` reply: a program to be run, or (`program` empty) the answer's value."""

    program: str = ""
    answer: Any = None


class WithTool(Struct, frozen=True, tag="with-tool"):
    """A program to be run, or the answer in the format `answer`.

    A reply with a line of ```python is a run, whatever stands around the block, and never an answer: nobody
    answers before having seen what the program prints. Such a reply must hold one block, which ends, and a
    program of at most `max_bytes` bytes of UTF-8; see `Code`. Every other reply is read as the answer.
    """

    answer: Format
    max_bytes: int = 20_000

    def instruction(self) -> str:
        return (
            "Either reply with a program to be run, in one Markdown code block (a line of ```python, the "
            f"program of at most {self.max_bytes} bytes, a line of ```), or answer: "
            f"{self.answer.instruction()}"
        )

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> Turn:
        if _OPENING.search(unix(text)):
            return Turn(program=Code(self.max_bytes).parse(text))
        return Turn(answer=self.answer.parse(text))

    def write(self, value: Any) -> str:
        """A `Turn`, or the answer's value."""
        turn = value if isinstance(value, Turn) else Turn(answer=value)
        return Code().write(turn.program) if turn.program else self.answer.write(turn.answer)

    def sample(self, rng: Random) -> Turn:
        return Turn(answer=self.answer.sample(rng))
