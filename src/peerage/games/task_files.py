"""Files of tasks: CSV or JSON lines, in which every column is one that a game knows, or `meta.…`. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from peerage.figures import suggest
from peerage.protocol import storable

META = "meta"
MOST_LINES = 10
"""Lines of a file that an error names."""
_MEDIA = ("image", "images", "image_url", "audio", "audio_url", "video", "picture", "photo")

Row = tuple[int, dict[str, Any] | ValueError]
"""The number of a line, counted from 1, and what it holds, or what is wrong with it."""


def unknown(name: str, known: Sequence[str]) -> str:
    """The problem with a column or key that is not among the `known`; empty where there is none: `meta` and
    `meta.…` are the owner's own remarks, which nobody reads."""
    if name in known or name == META or name.startswith(f"{META}."):
        return ""
    if name.strip().lower() in _MEDIA:
        return f"found {name!r}, and only text can be played; describe it in words, or leave the task out"
    close = suggest(name, known)
    if "did you mean" in close:
        return f"found {name!r:.80}, which is not known{close}"
    rename = f"{META}.{name.strip() or 'note'}"
    return f"found {name!r:.80}, which is not known{close}. Name what nobody is to read {rename:.80}"


def known_keys(task: Any, known: Sequence[str]) -> Any:
    """A task without what the owner remarks on it. Raises ValueError for keys that are not known."""
    if not isinstance(task, dict):
        return task
    if wrong := [problem for key in task if (problem := unknown(str(key), known))]:
        raise ValueError("; ".join(wrong))
    return {key: value for key, value in task.items() if key in known}


def problems_of(found: Sequence[str]) -> str:
    """The first ten problems, a line each, and how many more there are."""
    more = [f"… and {len(found) - MOST_LINES:,} more such lines"] * (len(found) > MOST_LINES)
    return "\n  ".join([*found[:MOST_LINES], *more])


def csv_rows(text: str, known: Sequence[str], needed: Sequence[str]) -> Iterator[Row]:
    """The rows of CSV: cells by the `known` columns that there are; commas or semicolons part cells.

    Raises ValueError, which names all columns at fault, where the first line is no header with those that
    are `needed`.
    """
    text = text.removeprefix("\ufeff")
    header = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in header else ",", strict=True)
    names: list[str] = []
    line = 1
    while True:
        try:
            cells = [storable(cell) for cell in next(rows)]
        except StopIteration:
            if not names:
                raise ValueError(
                    f"line 1: found nothing; expected a line of columns: {', '.join(known)}"
                ) from None
            return
        except csv.Error as error:
            yield line, ValueError(f": no CSV ({error}); put cells with quotes or commas in quotes")
            return
        if not names:
            names = [cell.strip().lower() for cell in cells]
            _check_header(names, known, needed)
        elif any(map(str.strip, cells)):
            if len(cells) != len(names):
                at = names[len(cells)] if len(cells) < len(names) else len(names) + 1
                found = f"found {len(cells)} cells, expected {len(names)}"
                yield line, ValueError(f", column {at}: {found}; put a cell with a comma in quotes")
            else:
                yield line, {name: cell for name, cell in zip(names, cells, strict=True) if name in known}
        line = rows.line_num + 1


def _check_header(names: Sequence[str], known: Sequence[str], needed: Sequence[str]) -> None:
    wrong = [
        f"line 1, column {at}: {problem}"
        for at, name in enumerate(names, 1)
        if (problem := f"found {name!r} again" if name in names[: at - 1] else unknown(name, known))
    ]
    lacking = [name for name in needed if name not in names]
    if lacking:
        wrong.append(f"line 1: no column {lacking[0]!r}; the columns are {', '.join(known)}")
    if wrong:
        raise ValueError(problems_of(wrong))


def json_rows(text: str, known: Sequence[str]) -> Iterator[Row]:
    """The objects of JSON lines by the `known` keys that there are; a text alone is the first of them."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, object_pairs_hook=_once)
        except json.JSONDecodeError as error:
            yield number, ValueError(f", column {error.colno}: not JSON ({error.msg})")
            continue
        except (ValueError, RecursionError) as error:
            yield number, ValueError(f": {error}")
            continue
        if isinstance(found, str):
            found = {known[0]: found}
        if not isinstance(found, dict):
            yield number, ValueError(f": found {found!r:.60}; expected an object with {', '.join(known)}")
            continue
        wrong = [
            f", column {name.strip():.80}: {problem}" for name in found if (problem := unknown(name, known))
        ]
        kept = {key: value for key, value in found.items() if key in known}
        yield number, ValueError(f"\n  line {number}".join(wrong)) if wrong else kept


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError for a key that stands there twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r:.80} stands there twice; keep one")
        found[key] = value
    return found
