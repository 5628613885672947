"""Single values of a row, checked: a bad one is named with its place and what was expected."""

from __future__ import annotations

import ast
import json
import math
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from peerage.ratings.streams import DataError

Layout = Literal["auto", "battles", "games", "answers", "valyrian", "cob", "fastchat"]

_SAME = {
    "question": ("question", "question_id"),
    "judge": ("judge", "judge_id", "judge_hash", "evaluation_session_id"),
    "timestamp": ("timestamp", "tstamp", "date"),
    "battle_id": ("battle_id", "conversation_id"),
    "player": ("player", "model"),
    "challenge": ("challenge", "item", "question", "question_id"),
    "solved": ("solved", "score", "correct"),
}
_MOST = 1e12  # of an amount: sums of squares of a million of them keep their digits
_LONGEST_NAME = 1_000  # characters; a table of longer ones takes minutes to draw


def needed(row: Mapping[str, Any], column: str, where: str) -> Any:
    value = row.get(column)
    if value is None or value == "":
        if column in row:
            raise DataError(f"{where}: {column} is empty")
        raise DataError(f"{where}: there is no column {column}; the columns are {columns(row)}")
    return value


def name_of(row: Mapping[str, Any], column: str, where: str) -> str:
    return as_name(needed(row, column, where), f"{where}, {column}")


def as_name(value: Any, place: str) -> str:
    """A player's name without blanks around it; two that look the same, composed or not, are the same."""
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{place}: found {short(value)}, expected a name")
    if len(value) > _LONGEST_NAME:
        raise DataError(
            f"{place}: found {len(value):,} characters, expected a name of at most {_LONGEST_NAME:,}"
        )
    return unicodedata.normalize("NFC", value.strip())


def first_of(row: Mapping[str, Any], meaning: str) -> Any:
    """The first column there is of those that mean this."""
    for column in _SAME.get(meaning, (meaning,)):
        if row.get(column) is not None:
            return row[column]
    return None


def number_of(value: Any, column: str, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where}, {column}: found {short(value)}, expected a number")
    return number


_METADATA = {
    "length": "sum_assistant_{}_tokens",
    "headings": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}
"""Columns that LMArena's releases have nested in `conv_metadata`: a number, or counts by kind."""


def control_of(row: Mapping[str, Any], control: str, side: str, where: str) -> float:
    """The amount of a control on one side: a column of its own, or nested as in LMArena's releases."""
    column, nested = f"{control}_{side}", row.get("conv_metadata")
    if column in row or control not in _METADATA or nested is None:
        return number_of(needed(row, column, where), column, where)
    if isinstance(nested, str):
        try:
            nested = json.loads(nested)
        except ValueError:
            nested = _literal(nested)
    inside = _METADATA[control].format(side)
    if not isinstance(nested, dict) or nested.get(inside) is None:
        raise DataError(f"{where}: conv_metadata has no {inside}, and there is no column {column}")
    found = nested[inside]
    counts = found.values() if isinstance(found, dict) else [found]
    return sum([number_of(one, f"conv_metadata.{inside}", where) for one in counts if one is not None])


def _literal(text: str) -> Any:
    """A mapping as Python writes it, which is how a data frame's becomes CSV; None for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def amount(row: Mapping[str, Any], column: str, where: str, missing: float) -> float:
    value = row.get(column)
    if value is None or value == "":
        return missing
    number = number_of(value, column, where)
    if not 0 <= number <= _MOST:
        raise DataError(f"{where}, {column}: found {short(value)}, expected 0 or more, up to {_MOST:g}")
    return number


def time_of(value: Any, where: str) -> float:
    if value is None or value == "":
        return math.nan
    if isinstance(value, datetime):
        return _seconds(value)
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.nan
    except (TypeError, ValueError):
        try:
            seconds = _seconds(datetime.fromisoformat(str(value)))
        except (ValueError, OverflowError, OSError):
            seconds = math.nan
    if not math.isfinite(seconds):
        raise DataError(
            f"{where}, timestamp: found {short(value)}, expected seconds or a date like 2025-09-02T18:02:54Z"
        )
    return seconds


def _seconds(moment: datetime) -> float:
    """Seconds since 1970; UTC where no zone is named, so that no machine's own zone enters."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def columns(row: Mapping[str, Any]) -> str:
    return ", ".join(map(str, row)) or "none"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
