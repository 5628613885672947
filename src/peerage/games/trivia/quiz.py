"""A quiz of the arena's owner: its file (CSV or JSON lines), its checks, when a question comes again. Pure.

    question,answer,variants,wrong
    Which river flows through Vienna?,the Danube,Donau,Rhine | Elbe | Inn
    {"question": "Who wrote Faust?", "answer": "Goethe", "variants": ["Johann Wolfgang von Goethe"]}

A question with wrong answers can be put as multiple choice, one without gets a short answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from pydantic import Field, model_validator

from peerage.facts import plain
from peerage.game import SettingsSection
from peerage.games.task_files import known_keys, task_rows
from peerage.ratings.read.report import ReadingReport, RowError

COLUMNS = ("question", "answer", "variants", "wrong")
MOST_WRONG = 9
ANSWER_CHARS = 120
QUESTION_CHARS = 4_000
_SEVERAL = COLUMNS[2:]
_BETWEEN = "|"


class QuizQuestion(SettingsSection):
    """One question of the arena's owner."""

    question: str = Field(
        min_length=1, max_length=QUESTION_CHARS, description="What players are asked, word for word."
    )
    answer: str = Field(min_length=1, max_length=ANSWER_CHARS, description="The right answer.")
    variants: tuple[str, ...] = Field((), description="Other answers that are right too.")
    wrong: tuple[str, ...] = Field(
        (), max_length=MOST_WRONG, description="Wrong answers, for multiple choice; none: a short answer."
    )

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        return known_keys(value, COLUMNS)

    @model_validator(mode="after")
    def _sound(self) -> QuizQuestion:
        for column, problem in problems(self.model_dump()):
            raise ValueError(f"{column}: {problem}")
        return self


def problems(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a question, by column."""
    for column, most in zip(COLUMNS[:2], (QUESTION_CHARS, ANSWER_CHARS), strict=True):
        if not plain(row[column]):
            yield column, "empty; expected some text"
        if len(row[column]) > most:
            yield column, f"found {len(row[column]):,} characters; at most {most:,} are allowed"
    if len(row["wrong"]) > MOST_WRONG:
        yield "wrong", f"found {len(row['wrong'])} wrong answers; at most {MOST_WRONG} are allowed"
    right = {plain(answer): answer for answer in (row["answer"], *row["variants"])}
    seen: set[str] = set()
    for column in _SEVERAL:
        for text in row[column]:
            if not plain(text):
                yield column, "an empty answer stands among the others; remove it"
            elif column == "wrong" and plain(text) in right:
                yield column, f"{text!r} is the right answer too; leave it out"
            elif column == "wrong" and plain(text) in seen:
                yield column, f"{text!r} is listed twice; once was expected"
            if column == "wrong":
                seen.add(plain(text))


class _QuizLine(msgspec.Struct):
    question: str
    answer: str
    variants: list[str] = []
    wrong: list[str] = []


def read_quiz(body: bytes, name: str, stated: Mapping[str, Any] = {}) -> list[dict[str, Any]]:
    """The questions of a file. Raises ValueError that names the first ten lines that cannot be used."""
    report = ReadingReport()
    questions: list[dict[str, Any]] = []
    lines: dict[str, int] = {}
    for row in task_rows(body, name, COLUMNS, COLUMNS[:2], report):
        with report:
            question = _question(row, table=report.fixed)
            problem = next(iter(problems(question)), None)
            first = lines.setdefault(plain(question["question"]), report.number)
            if problem is None and first != report.number:
                problem = ("question", f"the question of line {first} again; keep one")
            if problem is not None:
                raise RowError(problem[1], problem[0])
            questions.append(question)
    report.check()
    if not questions:
        raise ValueError(f"no question found; expected {' and '.join(COLUMNS[:2])} at least")
    return questions


def _question(row: Mapping[str, Any], *, table: bool) -> dict[str, Any]:
    """Return the columns of a question, each of its type; in a cell of a table `|` parts several answers, and
    an empty cell of Parquet is none. Raises RowError."""
    if table:
        row = {
            key: (cell.split(_BETWEEN) if cell.strip() else []) if _several(key, cell) else cell
            for key, cell in row.items()
            if cell is not None
        }
    try:
        checked = msgspec.to_builtins(msgspec.convert(row, _QuizLine))
    except msgspec.ValidationError as error:
        raise RowError(str(error), _at(error)) from None
    return {
        key: value.strip() if isinstance(value, str) else [each.strip() for each in value]
        for key, value in checked.items()
    }


def _several(column: str, cell: object) -> bool:
    return column in _SEVERAL and isinstance(cell, str)  # a list is one of Parquet


_PLACE = re.compile(r"`\$\.(\w+)|field `(.*?)`")


def _at(error: Exception) -> str:
    """The key that a decoder's error names."""
    place = _PLACE.search(str(error))
    return (place[1] or place[2]) if place else "1"
