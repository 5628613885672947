"""Formats of replies: each declares a schema, tells it to a model, and reads it back.

A format's `parse` is total: it returns a value or raises `FormatError`, whatever a model wrote. It reads by
one stated rule and never guesses.
"""

from __future__ import annotations

from random import Random
from typing import Any, Protocol, TypeAlias

from peerage.formats.challenge import Integer, Proposal, Proposed
from peerage.formats.color import Color, Encoded, Encoding
from peerage.formats.drafted import Drafted, TaskDraft
from peerage.formats.plain import Choice, Chosen, Code, Text
from peerage.formats.questions import Questions, Written
from peerage.formats.reading import FormatError, between, json_object, read_json, storable, visible
from peerage.formats.scores import Score, Scored, Scores
from peerage.formats.structured import Json
from peerage.formats.tool import Turn, WithTool

__all__ = [
    "AnyFormat",
    "Choice",
    "Chosen",
    "Code",
    "Color",
    "Drafted",
    "Encoded",
    "Encoding",
    "Format",
    "FormatError",
    "Integer",
    "Json",
    "Proposal",
    "Proposed",
    "Questions",
    "Score",
    "Scored",
    "Scores",
    "TaskDraft",
    "Text",
    "Turn",
    "WithTool",
    "Written",
    "between",
    "json_object",
    "read_json",
    "storable",
    "visible",
]


class Format(Protocol):
    """A declared format of reply. `parse` is total: it returns a value or raises `FormatError`."""

    def instruction(self) -> str:
        """The sentence that tells a model the format; a game puts it into its template."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for providers with native structured output; None for free text."""

    def parse(self, text: str) -> Any:
        """The value of a reply; raises `FormatError`."""

    def write(self, value: Any) -> str:
        """How a perfect player writes the reply that says `value`: `parse` gives it back."""

    def sample(self, rng: Random) -> Any:
        """A random well-formed value, for players without ideas of their own."""


AnyFormat: TypeAlias = (
    Text
    | Choice
    | Color
    | Encoding
    | Code
    | Score
    | Scores
    | Questions
    | Integer
    | Proposal
    | TaskDraft
    | WithTool
)
