"""A format for players that may use a tool: each reply is a program to be run, or the answer."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from msgspec import Struct

from peerage.formats.format import Format
from peerage.formats.plain import Code
from peerage.formats.reading import unix

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
