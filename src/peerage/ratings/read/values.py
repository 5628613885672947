"""Single values of a row, checked. A bad one raises RowError with its column and what was expected."""

from __future__ import annotations

import ast
import json
import math
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.ratings.read.report import ColumnMissing, RowError

Row = Mapping[str, Any]

_MOST = 1e12  # of an amount: sums of squares of a million of them keep their digits
_LONGEST_NAME = 1_000  # characters; a table of longer ones takes minutes to draw


def needed(row: Row, column: str) -> Any:
    """The value of a column that must be there and not empty."""
    value = row.get(column)
    if value is None or value == "":
        raise RowError("empty; expected a value", column) if column in row else ColumnMissing(column)
    return value


def as_name(value: Any, column: str) -> str:
    """A player's name without blanks around it; two that look the same, composed or not, are the same."""
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"found {short(value)}, expected a name", column)
    if len(value) > _LONGEST_NAME:
        raise RowError(
            f"found {len(value):,} characters, expected a name of at most {_LONGEST_NAME:,}", column
        )
    return unicodedata.normalize("NFC", value.strip())


def number_of(value: Any, column: str) -> float:
    """A finite number."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RowError(f"found {short(value)}, expected a number", column)
    return number


def amount(row: Row, column: str, missing: float) -> float:
    """A number from 0 to 1e12; `missing` where there is none."""
    value = row.get(column)
    if value is None or value == "":
        return missing
    number = number_of(value, column)
    if not 0 <= number <= _MOST:
        raise RowError(f"found {short(value)}, expected 0 or more, up to {_MOST:g}", column)
    return number


def time_of(row: Row) -> float:
    """Seconds since 1970 at which a row happened, from `timestamp` (seconds or a date) or `at_ms`; nan where
    neither says."""
    value = row.get("timestamp")
    if value is None or value == "":
        value = row.get("at_ms")
        return math.nan if value is None or value == "" else number_of(value, "at_ms") / 1000
    try:
        seconds = _seconds(value) if isinstance(value, datetime) else float(value)
    except OverflowError:
        seconds = math.nan
    except (TypeError, ValueError):
        try:
            seconds = _seconds(datetime.fromisoformat(str(value)))
        except (ValueError, OverflowError, OSError):
            seconds = math.nan
    if not math.isfinite(seconds):
        expected = "expected seconds or a date like 2025-09-02T18:02:54Z"
        raise RowError(f"found {short(value)}, {expected}", "timestamp")
    return seconds


def _seconds(moment: datetime) -> float:
    """Seconds since 1970; UTC where no zone is named, so that no machine's own zone enters."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_METADATA = {
    "length": "sum_assistant_{}_tokens",
    "headings": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}
"""Columns that LMArena's releases have nested in `conv_metadata`: a number, or counts by kind."""


def control_of(row: Row, control: str, side: str) -> float:
    """The amount of a control on one side: a column of its own, or nested as in LMArena's releases."""
    column, nested = f"{control}_{side}", row.get("conv_metadata")
    if column in row or control not in _METADATA or nested is None:
        return number_of(needed(row, column), column)
    if isinstance(nested, str):
        try:
            nested = json.loads(nested)
        except (ValueError, RecursionError):
            nested = _literal(nested)
    inside = _METADATA[control].format(side)
    if not isinstance(nested, dict) or nested.get(inside) is None:
        raise RowError(f"conv_metadata has no {inside}, and there is no column {column}")
    value = nested[inside]
    counts = value.values() if isinstance(value, dict) else [value]
    return sum([number_of(count, f"conv_metadata.{inside}") for count in counts if count is not None])


def _literal(text: str) -> Any:
    """A mapping as Python writes it, which is how a data frame's becomes CSV; None for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def in_order(times: Floats, note: str) -> tuple[np.ndarray, bool, list[str]]:
    """The order of rows by their times, whether all have one, and the note where only some have."""
    unknown = np.isnan(times)
    if not unknown.any():
        return np.argsort(times, kind="stable"), True, []
    return np.arange(len(times)), False, [note] * (not unknown.all())


def short(value: Any) -> str:
    """A value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
