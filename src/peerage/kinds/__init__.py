"""The kinds of reply: each declares a format, tells it to a model, and reads it back.

A kind's `parse` is total: it returns a value or raises `Unusable`, whatever a model wrote. What it reads it
reads by one stated rule; it never guesses.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from peerage.kinds.challenge import Integer, Proposal, Proposed
from peerage.kinds.color import Color, Encoded, Encoding
from peerage.kinds.drafted import Drafted, TaskDraft
from peerage.kinds.plain import Choice, Chosen, Code, Text
from peerage.kinds.questions import Questions, Written
from peerage.kinds.reading import Unusable, between, json_object, read_json, storable, visible
from peerage.kinds.scores import Score, Scored, Scores
from peerage.kinds.tool import Turn, WithTool

__all__ = [
    "AnyKind",
    "Choice",
    "Chosen",
    "Code",
    "Color",
    "Drafted",
    "Encoded",
    "Encoding",
    "Integer",
    "Kind",
    "Proposal",
    "Proposed",
    "Questions",
    "Score",
    "Scored",
    "Scores",
    "TaskDraft",
    "Text",
    "Turn",
    "Unusable",
    "WithTool",
    "Written",
    "between",
    "json_object",
    "read_json",
    "storable",
    "visible",
]


class Kind(Protocol):
    """A declared format of reply. `parse` is total: it returns a value or raises `Unusable`."""

    def instruction(self) -> str:
        """The sentence that tells a model the format; a game puts it into its template."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for providers with native structured output; None for free text."""

    def parse(self, text: str) -> Any:
        """The value of a reply; raises `Unusable`."""


AnyKind: TypeAlias = (
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
