"""Files of tasks, in which every column is one that a game knows, or `meta.…`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from peerage.ratings.read.report import ReadingReport, RowError
from peerage.ratings.read.source import distinct, records
from peerage.values.figures import suggest

META = "meta"
_MEDIA = ("image", "images", "audio", "video")


def unknown(name: str, known: Sequence[str]) -> str:
    """Return the problem with a column or key that is not among the `known`; empty where there is none:
    `meta` and `meta.…` are the owner's own remarks, which nobody reads."""
    if name in known or name == META or name.startswith(f"{META}."):
        return ""
    if name.strip().lower() in _MEDIA:
        return f"found {name!r}, which cannot be played here; describe it in words, or leave the task out"
    close = suggest(name, known)
    if "did you mean" in close:
        return f"found {name!r:.80}, which is not known{close}"
    rename = f"{META}.{name.strip() or 'note'}"
    return f"found {name!r:.80}, which is not known{close}. Name what nobody is to read {rename:.80}"


def known_keys(task: Any, known: Sequence[str]) -> Any:
    """Return a task without the owner's remarks on it. Raises ValueError for keys that are not known."""
    if not isinstance(task, dict):
        return task
    if wrong := [problem for key in task if (problem := unknown(str(key), known))]:
        raise ValueError("; ".join(wrong))
    return {key: value for key, value in task.items() if key in known}


def task_rows(
    body: bytes, name: str, known: Sequence[str], needed: Sequence[str], report: ReadingReport
) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file by the `known` columns that there are; a text alone is the first of them.
    Raises ValueError, which names all columns at fault, where a table has no header with those that are
    `needed`. Bad rows are added to `report`."""

    def header(cells: list[str]) -> list[str]:
        names = distinct([cell.lower() for cell in cells])
        wrong = {column: problem for column in names if (problem := unknown(column, known))}
        problems = [*wrong.values()]
        if lacking := [column for column in needed if column not in names]:
            problems.append(f"no column {lacking[0]!r}; the columns are {', '.join(known)}")
        if problems:
            raise RowError("; ".join(problems), _at(next(iter(wrong))) if wrong else "")
        return names

    for record in records(BytesIO(body), name, report, header=header, unique=True):
        task = {known[0]: record} if isinstance(record, str) else record
        if not isinstance(task, dict):
            report.add(RowError(f"found {task!r:.60}; expected an object with {', '.join(known)}"))
            continue
        wrong = {key: problem for key in task if (problem := unknown(key, known))}
        for key, problem in wrong.items():
            report.add(RowError(problem, _at(key)))
        if not wrong:
            yield {key: value for key, value in task.items() if key in known}


def _at(column: str) -> str:
    return f"{column.strip() or repr(column):.80}"
