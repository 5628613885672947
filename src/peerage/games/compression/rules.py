"""The settings of compression, the rules as players read them, and the most it can ask of players."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from pydantic import Field

from peerage.game import SCORE, Asks, Fixture, Json, LevelRules, MaxTokens, Text, texts
from peerage.game.bounds import QUOTE
from peerage.games.compression.reports import Reports

TRUST = 0.7
"""Share that a reader must get right, to count, of the control's facts and of those that others got right."""
READERS = 5
"""Others who read each summary, when there are enough."""
_ANSWER_CHARS = 60


class CompressionRules(LevelRules):
    """Settings of compression."""

    seats: int = Field(
        6, ge=5, le=10, description="Players in a match, when there are enough; else as many as there are."
    )
    max_tokens: MaxTokens = 2_000


class ReportAnswers(Struct, frozen=True):
    answers: Annotated[
        list[Annotated[str, Meta(max_length=_ANSWER_CHARS)]], Meta(description="your answers in order")
    ]


class Formats:
    """The formats of a match's replies: no summary is longer than what it sums up."""

    def __init__(self, drawn: Reports) -> None:
        longest, facts = len(drawn.spare.text), len(drawn.questions)
        self.short = Text(longest)
        self.answers = Json(ReportAnswers, answers=Meta(min_length=facts, max_length=facts))


_COMPARED = """\
Answers are compared word by word with the right ones, which are a name, a number, a word or a day as \
“14 March”, without units or articles; capitals, punctuation and the order of words do not count."""
_CONTROL = """\
Among what readers get is a summary by the arena itself, which surely holds all answers. A reader \
counts when it gets {trust} right of what that summary answers and of what most other readers of the same \
summary got right, both together."""


def fills(rules: CompressionRules, drawn: Reports, players: int) -> dict[str, str]:
    """Return what fills the places of prompts, the same for everybody."""
    questions = "\n".join(f"{at}. {question}" for at, question in enumerate(drawn.questions, 1))
    facts = len(drawn.questions)
    return {
        "players": str(players),
        "questions": questions,
        "readers": str(min(READERS, players - 1)),
        "needed": f"all {facts} facts",
        "compared": _COMPARED,
        "control": _CONTROL.format(trust=f"{TRUST:.0%}"),
        "score": SCORE,
    }


def asks(rules: CompressionRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant writes once; then it reads what others wrote, and a control."""
    drawn = msgspec.convert(fixture.drawn, Reports)
    formats, seats, longest = Formats(drawn), len(fixture.seats), len(drawn.spare.text)
    shown = 2 * longest + sum(map(len, drawn.questions)) + 6 * len(drawn.questions) + QUOTE
    reading = min(READERS, seats - 1) + 1
    own = texts(__package__, rules.texts)
    yield Asks("contestant", own["write"], formats.short, 1, rules.max_tokens, shown, usual_output=100)
    yield Asks("contestant", own["read"], formats.answers, reading, rules.max_tokens, shown, usual_output=100)
