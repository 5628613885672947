"""A quiz of the arena's owner: its file (CSV or JSON lines), its checks, when a question comes again. Pure.

    question,answer,variants,wrong
    Which river flows through Vienna?,the Danube,Donau,Rhine | Elbe | Inn
    {"question": "Who wrote Faust?", "answer": "Goethe", "variants": ["Johann Wolfgang von Goethe"]}

A question with wrong answers can be put as multiple choice, one without gets a short answer.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import Any

import msgspec
from pydantic import Field, model_validator

from peerage.facts import plain
from peerage.games.section import Section
from peerage.protocol import storable

COLUMNS = ("question", "answer", "variants", "wrong")
MOST_WRONG = 9
MOST_TOLD = 10
"""Lines of a file that an error names."""
ANSWER_CHARS = 120
QUESTION_CHARS = 4_000
_SEVERAL = COLUMNS[2:]
_BETWEEN = "|"


class QuizQuestion(Section):
    """One question of the arena's owner."""

    question: str = Field(
        min_length=1, max_length=QUESTION_CHARS, description="What players are asked, word for word."
    )
    answer: str = Field(min_length=1, max_length=ANSWER_CHARS, description="The right answer.")
    variants: tuple[str, ...] = Field((), description="Other answers that are right too.")
    wrong: tuple[str, ...] = Field(
        (), max_length=MOST_WRONG, description="Wrong answers, for multiple choice; none: a short answer."
    )

    @model_validator(mode="after")
    def _sound(self) -> QuizQuestion:
        for column, problem in problems(self.model_dump()):
            raise ValueError(f"{column}: {problem}")
        return self


def problems(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a question, by column."""
    for column, most in zip(COLUMNS[:2], (QUESTION_CHARS, ANSWER_CHARS), strict=True):
        if not plain(row[column]):
            yield column, "empty; expected some text"
        if len(row[column]) > most:
            yield column, f"found {len(row[column]):,} characters; at most {most:,} are allowed"
    if len(row["wrong"]) > MOST_WRONG:
        yield "wrong", f"found {len(row['wrong'])} wrong answers; at most {MOST_WRONG} are allowed"
    right = {plain(one): one for one in (row["answer"], *row["variants"])}
    seen: set[str] = set()
    for column in _SEVERAL:
        for one in row[column]:
            if not plain(one):
                yield column, "an empty answer stands among the others; remove it"
            elif column == "wrong" and plain(one) in right:
                yield column, f"{one!r} is the right answer too; leave it out"
            elif column == "wrong" and plain(one) in seen:
                yield column, f"{one!r} is listed twice; once was expected"
            if column == "wrong":
                seen.add(plain(one))


def read_quiz(text: str, name: str) -> list[dict[str, Any]]:
    """The questions of a file. Raises ValueError for what cannot be used, with line and column: the first ten
    lines of it."""
    rows = _csv_rows(text) if name.lower().endswith(".csv") else _json_rows(text)
    found: list[dict[str, Any]] = []
    lines: dict[str, int] = {}
    wrong: list[str] = []
    for line, row in rows:
        if isinstance(row, ValueError):
            wrong.append(f"line {line}{row}")
            continue
        told = next((f"{column}: {problem}" for column, problem in problems(row)), "")
        first = lines.setdefault(plain(row["question"]), line)
        if not told and first != line:
            told = f"question: the question of line {first} again; keep one"
        if told:
            wrong.append(f"line {line}, column {told}")
        found.append(row)
    if wrong:
        more = [f"… and {len(wrong) - MOST_TOLD:,} more such lines"] * (len(wrong) > MOST_TOLD)
        raise ValueError("\n  ".join([*wrong[:MOST_TOLD], *more]))
    if not found:
        raise ValueError(f"no question found; expected {' and '.join(COLUMNS[:2])} at least")
    return found


def _csv_rows(text: str) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
    """Line and question of each row, or what is wrong with it; commas or semicolons part cells, `|`
    several answers in one."""
    header = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in header else ",", strict=True)
    names: list[str] = []
    line = 1
    while True:
        try:
            cells = [storable(cell).strip() for cell in next(rows)]
        except StopIteration:
            return
        except csv.Error as error:
            yield line, ValueError(f": no CSV ({error}); put cells with quotes or commas in quotes")
            return
        if not names:
            names = [cell.lower() for cell in cells]
            _header(names)
        elif any(cells):
            if len(cells) != len(names):
                at = names[len(cells)] if len(cells) < len(names) else len(names) + 1
                found = f"found {len(cells)} cells, expected {len(names)}"
                yield line, ValueError(f", column {at}: {found}; put a cell with a comma in quotes")
            else:
                row: dict[str, Any] = {"variants": "", "wrong": "", **dict(zip(names, cells, strict=True))}
                for column in _SEVERAL:
                    row[column] = [one.strip() for one in row[column].split(_BETWEEN)] if row[column] else []
                yield line, row
        line = rows.line_num + 1


def _header(names: list[str]) -> None:
    for at, name in enumerate(names, 1):
        if name not in COLUMNS or name in names[: at - 1]:
            raise ValueError(
                f"line 1, column {at}: found {name!r}; the columns are {', '.join(COLUMNS)}, each once"
            )
    for name in COLUMNS[:2]:
        if name not in names:
            raise ValueError(
                f"line 1: no column {name!r}; expected {', '.join(COLUMNS)}, the last two if wanted"
            )


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    answer: str
    variants: list[str] = []
    wrong: list[str] = []


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
    """Line and question of each line with a JSON object, or what is wrong with it."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = msgspec.to_builtins(msgspec.json.decode(line, type=_Line))
            except (msgspec.DecodeError, RecursionError) as error:
                yield number, ValueError(f", column {_at(error)}: {error}")
            else:
                yield number, {key: _stored(value) for key, value in row.items()}


def _stored(value: Any) -> Any:
    return storable(value).strip() if isinstance(value, str) else [storable(one).strip() for one in value]


_PLACE = re.compile(r"`\$\.(\w+)|field `(.*?)`|\(byte (\d+)\)")


def _at(error: Exception) -> str:
    """The key, or the place counted from 1, that a decoder's error names."""
    found = _PLACE.search(str(error))
    if found is None:
        return "1"
    return found[1] or found[2] or str(int(found[3]) + 1)


def chosen(secret: str, number: int, there: int, count: int) -> tuple[int, ...]:
    """The places of the questions of match `number`: none comes again before as many others as fill whole
    matches have been asked."""
    per_block = max(1, there // count)
    block, place = divmod(number - 1, per_block)
    return _order(secret, block, there)[place * count : (place + 1) * count]


@lru_cache(maxsize=8)
def _order(secret: str, block: int, there: int) -> tuple[int, ...]:
    return tuple(Random(f"{secret}/quiz/{block}").sample(range(there), there))
