"""The kind of a task for programs that a player wrote."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from peerage.formats.reading import FormatError, json_object, json_text, object_schema, unix, visible, words


class Drafted(Struct, frozen=True):
    """The value of a `TaskDraft` reply."""

    statement: str
    generator: str
    solution: str


class TaskDraft(Struct, frozen=True, tag="task"):
    """A task for programs: what is to be done, a program that makes inputs, and one that solves it.

    Accepted: a JSON object with the texts `statement`, `generator` and `solution`, as the whole reply or in
    its only code fence. FormatError is what is missing, blank or longer than allowed, and a statement with
    characters that cannot be seen, which do not reach its readers.
    """

    max_chars: int = 2_000
    max_bytes: int = 4_000

    def instruction(self) -> str:
        return (
            'Reply with one JSON object and nothing else: {"statement": "<the task, at most '
            f'{self.max_chars} characters>", "generator": "<a Python program>", "solution": "<a Python '
            f'program>"}}. Each program has at most {self.max_bytes} bytes.'
        )

    def schema(self) -> dict[str, Any] | None:
        program = {"type": "string", "minLength": 1, "maxLength": self.max_bytes}
        statement = {"type": "string", "minLength": 1, "maxLength": self.max_chars}
        return object_schema({"statement": statement, "generator": program, "solution": program})

    def parse(self, text: str) -> Drafted:
        found = json_object(text)
        if found is None:
            raise FormatError(
                'no task found; one JSON object with "statement", "generator" and "solution" was expected'
            )
        statement, generator, solution = (
            self._text(found, name) for name in ("statement", "generator", "solution")
        )
        if len(statement) > self.max_chars:
            raise FormatError(
                f"the statement has {len(statement)} characters; at most {self.max_chars} are allowed"
            )
        if visible(statement) != statement:
            raise FormatError("the statement holds characters that cannot be seen, which reach no reader")
        for name, program in (("generator", generator), ("solution", solution)):
            size = len(program.encode())
            if size > self.max_bytes:
                raise FormatError(f"the {name} has {size} bytes; at most {self.max_bytes} are allowed")
        return Drafted(statement, generator, solution)

    def write(self, value: Drafted) -> str:
        return json_text(msgspec.structs.asdict(value))

    def sample(self, rng: Random) -> Drafted:
        return Drafted(words(rng, self.max_chars), "print(input())", "print(input())")

    def _text(self, found: dict[str, Any], name: str) -> str:
        value = found.get(name)
        if not isinstance(value, str) or not visible(value).replace("\ufffd", "").strip():
            raise FormatError(f'"{name}" is missing or empty; a text was expected')
        if "\0" in value:  # no store holds it
            raise FormatError(f'"{name}" holds a NUL character')
        return unix(value).strip()
