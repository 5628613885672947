"""Files of tasks: tables, JSON, JSON lines. All that is wrong is said at once, with line and remedy. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any

from peerage.games.task_files import unknown
from peerage.games.tasks.task import COLUMNS, numbered, task_of, templates_of
from peerage.ratings.read.report import Report, RowError, problems_of
from peerage.ratings.read.source import records


def read_tasks(body: bytes, name: str, stated: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of a file, each as `Task` has it; `stated` are the game's other rules, of which the
    `template` and the `check` of tasks without one are read.

    Raises ValueError for what cannot be used, a line for each problem.
    """
    templates, check = templates_of(stated), stated.get("check") or ""
    report = Report()
    found: list[dict[str, Any]] = []
    where: list[str] = []

    def header(cells: list[str]) -> list[str]:
        names = [_column(cell) for cell in cells]
        for at, column in enumerate(names, 1):
            if column in names[: at - 1]:
                raise RowError(f"found {column!r:.80} again; delete or rename one", str(at))
        return names

    fills = templates.known
    columns: dict[str, str] = {}
    for record in records(BytesIO(body), name, report, header=header, unique=True):
        row = {"prompt": record} if isinstance(record, str) else record
        if not isinstance(row, dict):
            report.add(RowError(f"found {row!r:.60}; expected an object with {', '.join(COLUMNS)}"))
            continue
        first = f"{report.unit} 1" if report.fixed else report.place
        columns = {**dict.fromkeys(map(str, row), first), **columns}
        kept = {key: value for key, value in row.items() if key in fills or not unknown(key, COLUMNS)}
        asks = templates.known or row.keys() & {"prompt", "messages"}
        if not asks and (report.fixed or not row.keys() & set(COLUMNS)):
            where.append(report.place)
            found.append({})
            continue
        problem = partial(_add, report)
        found.append(task_of(kept, templates, check, problem))
        where.append(report.place)
    known = (*COLUMNS, *sorted(fills))
    strange = [
        f"{place}, column {column.strip()[:80] or repr(column)}: {wrong}"
        for column, place in columns.items()
        if column not in fills and (wrong := _strange(column, known))
    ]
    if {} in found and not any("mean 'prompt'" in wrong for wrong in strange):
        strange.append(f"{where[found.index({})]}: no `prompt`, which contestants are given; add that column")
    tasks, twice = numbered(found, where) if all(found) else ([], [])
    problems = [*strange, *[": ".join(one) for one in report.problems], *twice]
    if problems:
        raise ValueError(problems_of(problems))
    if not tasks:
        raise ValueError(
            f"no task found; expected a line of columns ({', '.join(COLUMNS[:5])} …) and a row for "
            'each task, or lines like {"prompt": "Explain …", "expected": "…"}'
        )
    return tasks


_MEANT = {
    **dict.fromkeys(("question", "input", "text", "task", "instruction", "query"), "prompt"),
    **dict.fromkeys(
        ("answer", "target", "ideal", "label", "reference", "gold", "output", "correct", "solution"),
        "expected",
    ),
    **dict.fromkeys(("system_prompt", "system prompt"), "system"),
    **dict.fromkeys(("criteria", "guideline", "guidelines"), "rubric"),
    **dict.fromkeys(("topic", "tag", "group", "type"), "category"),
}
"""Names that others give to our columns."""


def _strange(column: str, known: Sequence[str]) -> str:
    meant = _MEANT.get(column.strip().lower())
    if meant is None or meant in known[len(COLUMNS) :]:
        return unknown(column, known)
    return f"found {column!r:.80}, which is not known; did you mean {meant!r}? Else write meta.…"


def _column(cell: str) -> str:
    bare = cell.strip()
    return bare.lower() if bare.lower() in COLUMNS or bare.lower().startswith("meta") else bare


def _add(report: Report, column: str, problem: str) -> None:
    report.add(RowError(problem, column))
