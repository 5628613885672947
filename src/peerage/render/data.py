"""Views as data for programs: JSON, and CSV of one table. Values are unrounded, and no text is a formula."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import msgspec

from peerage.game.media import worded
from peerage.ratings.read.forms import FORMULA
from peerage.render.blocks import Rows
from peerage.values.texts import MARK_BEGINS

_MARK = MARK_BEGINS.encode()


def encoded(data: Any) -> bytes:
    """Return data as JSON, words in place of the marks of pictures and sounds."""
    body = msgspec.json.encode(data)
    return worded(body.decode()).encode() if _MARK in body else body


def plain(data: Any) -> Any:
    """Return data as JSON has it, words in place of the marks of pictures and sounds."""
    return msgspec.json.decode(encoded(data))


def write_json(data: Any, to: TextIO, *, indent: int | None = 2) -> None:
    """Write plain data as JSON; on one line where `indent` is None."""
    text = json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False)
    # JSON may spell any character; those a terminal would obey it leaves to us.
    to.write(re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def write_table(block: Rows, to: TextIO) -> None:
    """Write the rows as CSV with every field that they have."""
    write_csv(to, dicts(block.rows), [column.key for column in block.columns])


def dicts(rows: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return rows as mappings."""
    return [row if isinstance(row, Mapping) else plain(row) for row in rows]


def cell(value: object) -> object:
    """A cell of CSV: a text that a spreadsheet would take for a formula gets an apostrophe before it, and so
    does one that looks as if it had it already, so that `ratings.read` reads each as it was."""
    value = worded(value) if isinstance(value, str) else value
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def write_csv(to: TextIO, rows: Sequence[Mapping[str, Any]], columns: Iterable[str] = ()) -> None:
    """Write rows as CSV under their keys, or `columns` without rows; lists as JSON, no text a formula."""
    writer = csv.writer(to, lineterminator="\n")
    if head := list(rows[0] if rows else columns):
        writer.writerow(head)
    writer.writerows(
        [
            worded(json.dumps(value, ensure_ascii=False))
            if isinstance(value, list | tuple | dict)
            else cell(value)
            for value in row.values()
        ]
        for row in rows
    )
