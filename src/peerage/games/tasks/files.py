"""Files of tasks: tables, JSON, JSON lines, YAML, those of promptfoo, and Inspect's datasets and logs.

All that is wrong is said at once, with line and remedy. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

import yaml

from peerage.game.media import opener_of
from peerage.games.task_files import unknown
from peerage.games.tasks import inspect_samples, promptfoo
from peerage.games.tasks.seen import MEDIA
from peerage.games.tasks.task import COLUMNS, Templates, numbered, task_of, templates_of
from peerage.ratings.read.report import ReadingReport, RowError, problems_of
from peerage.ratings.read.source import distinct, records
from peerage.values.yaml_text import YamlError, read_yaml

TASKS = "tasks"
"""Key under which a file of YAML or JSON may list them."""


def read_tasks(body: bytes, name: str, stated: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks of a file, each as `Task` has it; `stated` are the game's other rules, of which the
    `template` and the `check` of tasks without one are read, with what opens pictures. Raises ValueError for
    what cannot be used, a line for each problem."""
    report = ReadingReport()
    rows_read: list[dict[str, Any]] = []
    where: list[str] = []
    columns: dict[str, str] = {}
    templates, check = templates_of(stated), stated.get("check") or ""
    opener = opener_of(stated)
    for record, config in _records(body, name, report):
        problem = partial(_add, report)
        row = {"prompt": record} if isinstance(record, str) else record
        if not isinstance(row, dict):
            report.add(RowError(f"found {row!r:.60}; expected an object with {', '.join(COLUMNS)}"))
            continue
        if config is not None or promptfoo.is_test(row):
            usual, prompt = config or _Config()
            templates = templates._replace(arena=templates.arena or prompt)
            row = promptfoo.row_of(row, usual, templates.arena, problem)
        elif inspect_samples.is_sample(row) and "input" not in templates.known:
            if row.get("epoch") not in (None, 1):  # a log has a sample again for each epoch
                continue
            row = inspect_samples.row_of(row, check, problem)
        first = f"{report.unit} 1" if report.fixed else report.place
        columns = {**dict.fromkeys(map(str, row), first), **columns}
        where.append(report.place)
        if not (templates.known or row.keys() & _ASKING or (row.keys() & _KNOWN and not report.fixed)):
            rows_read.append({})
            continue
        kept = dict(row)
        left = kept.pop(promptfoo.LEFT_OUT, None)
        task = task_of(kept, templates, check, problem, strangers=False, opener=opener)
        rows_read.append({**task, promptfoo.LEFT_OUT: left} if left else task)
    strange = _strangers(columns, templates)
    if {} in rows_read and not any("mean 'prompt'" in wrong for wrong in strange):
        strange.append(
            f"{where[rows_read.index({})]}: no `prompt`, which contestants are given; add that column"
        )
    read = [(task, place) for task, place in zip(rows_read, where, strict=True) if task]
    tasks, twice = numbered([task for task, _ in read], [place for _, place in read])
    rows = [": ".join(problem) for problem in report.problems]
    if any("mean 'expected'" in wrong for wrong in strange):  # what follows from that is said already
        rows = [row for row in rows if not row.endswith("fill in `expected`")]
    problems = [*strange, *rows, *twice]
    if problems:
        raise ValueError(problems_of(problems))
    if not tasks:
        raise ValueError(
            f"no task found; expected a line of columns ({', '.join(COLUMNS[:5])} …) and a row for "
            'each task, or lines like {"prompt": "Explain …", "expected": "…"}'
        )
    return tasks


_ASKING = frozenset(("prompt", "messages", *MEDIA))
_KNOWN = (*COLUMNS, promptfoo.LEFT_OUT)


class _Config(NamedTuple):
    """Surroundings of a test case of promptfoo: its `defaultTest`, and the prompt."""

    usual: Mapping[str, Any] = {}
    prompt: str = ""


def _records(body: bytes, name: str, report: ReadingReport) -> Iterator[tuple[Any, _Config | None]]:
    """Yield the records of a file, whose places `report` then knows, with what stands around test cases of
    promptfoo. Raises ValueError for a file that is nothing of the kind."""
    if name.lower().endswith((".yaml", ".yml")):
        yield from _of_yaml(body, report)
        return
    for record in records(BytesIO(body), name, report, header=_header, unique=True):
        listed = _listed(record)
        if listed is None:
            yield record, None
            continue
        key, config = listed
        for place, task in enumerate(record[key], 1):
            report.unit, report.number = key.removesuffix("s"), place
            yield task, config


def _listed(record: Any) -> tuple[str, _Config | None] | None:
    """The key under which a mapping lists tasks or test cases, and what stands around them."""
    if promptfoo.is_config(record):
        usual = record.get("defaultTest")
        return promptfoo.TESTS, _Config(
            usual if isinstance(usual, Mapping) else {}, promptfoo.template_of(record)
        )
    if isinstance(record, Mapping) and isinstance(record.get(TASKS), list):
        return TASKS, None
    return None


def _of_yaml(body: bytes, report: ReadingReport) -> Iterator[tuple[Any, _Config | None]]:
    try:
        marked = body.startswith((b"\xff\xfe", b"\xfe\xff"))
        data, node = read_yaml(body.decode("utf-16" if marked else "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is no {error.encoding.upper()}; save it as UTF-8") from None
    except YamlError as error:
        raise ValueError(str(error).removeprefix(", ").removeprefix(": ").strip()) from None
    config = None
    if (listed := _listed(data)) is not None:
        key, config = listed
        node = next((value for name, value in getattr(node, "value", ()) if name.value == key), None)
        data = data[key]
    if data is None or not isinstance(data, list):
        kind = "nothing" if data is None else "no list"
        raise ValueError(f"{kind} found; expected a list of tasks, or `tests:` of promptfoo")
    lines = [item.start_mark.line + 1 for item in node.value] if isinstance(node, yaml.SequenceNode) else []
    for task, line in zip(data, lines, strict=True):
        report.unit, report.number = "line", line
        yield task, config


def _header(cells: list[str]) -> list[str]:
    return distinct([_column(cell) for cell in cells])


def _strangers(columns: Mapping[str, str], templates: Templates) -> list[str]:
    """The problems of unknown columns, each with its place."""
    known = (*COLUMNS, *sorted(templates.known))
    return [
        f"{place}, column {column.strip()[:80] or repr(column)}: {wrong}"
        for column, place in columns.items()
        if column not in templates.known
        and column != promptfoo.LEFT_OUT
        and (wrong := _strange(column, known))
    ]


_MEANT = {
    **dict.fromkeys(("question", "input", "text", "task", "instruction", "query"), "prompt"),
    **dict.fromkeys(
        ("answer", "target", "ideal", "label", "reference", "gold", "output", "correct", "solution"),
        "expected",
    ),
    **dict.fromkeys(("system_prompt", "system prompt"), "system"),
    **dict.fromkeys(("criteria", "guideline", "guidelines"), "rubric"),
    **dict.fromkeys(("topic", "tag", "group", "type"), "category"),
    **dict.fromkeys(("image_url", "picture", "photo"), "image"),
    **dict.fromkeys(("audio_url", "sound"), "audio"),
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


def _add(report: ReadingReport, column: str, problem: str) -> None:
    report.add(RowError(problem, column))
