"""Tasks of transformation: a table in some shape, steps in plain words, and the shape of the result. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from msgspec import Struct

from peerage.game.levels import difficulty, near
from peerage.games.transform import columns, rows, windows
from peerage.games.transform.tables import (
    INPUTS,
    JSON,
    LINES,
    WORDY,
    DataTable,
    Family,
    Shape,
    TableStep,
    WrittenTable,
    drawn,
)

STEPS = "Do these steps in this order, each with the table that the one before it left:"
"""Words between a task's data and its steps."""


USUAL_WORK = 18
"""Work of the steps of a task of level 3."""
SIZES = ((4, 1), (4, 2), (5, 3), (6, 4), (8, 5), (12, 6), (17, 7), (24, 8), (34, 10), (46, 13))
"""Rows and steps by level."""
_DRAWS = 30
"""Tasks that are drawn at most until one is near its level."""
_TRIED = 100
"""Steps that are tried at most for a task."""
_COLUMNS = 10
"""More columns are too many."""
_LARGE = 12
"""Tables of more rows are in shapes that do not repeat the names of the columns in every row."""


class TransformTask(Struct, frozen=True):
    """A task as drawn: what players read, the right output, whether that is JSON, its level and logits."""

    text: str
    expected: str
    json: bool
    level: int
    difficulty: float


def task_of(rng: Random, level: int) -> TransformTask:
    """A task of about the difficulty of that level."""
    return near(level, lambda: _drawn(rng, level), _DRAWS)


def _drawn(rng: Random, level: int) -> TransformTask | None:
    """A task of the level's steps, of different families; none leaves the table as it was, few rows or many
    columns. None where the steps that were tried are too few."""
    size, steps = SIZES[level - 1]
    table = before = drawn(rng, size)
    done: list[TableStep] = []
    left, work = [*FAMILIES], 0
    for _ in range(_TRIED):
        family = columns.clean if table.of("messy") and len(done) == steps - 1 else rng.choice(left)
        step = family(rng, table)
        if step is None or not _fits(step.after, size) or not _differ(table, step.after):
            continue
        done.append(step)
        left = [other for other in left if other is not family]
        work += step.work or len(table.rows)
        table = step.after
        if len(done) == steps:
            return _task_of(rng, before, done, level, difficulty(work=work, usual_work=USUAL_WORK))
    return None


def _fits(table: DataTable, rows: int) -> bool:
    return rows * 3 // 5 <= len(table.rows) <= 2 * rows and len(table.columns) <= _COLUMNS


def _differ(table: DataTable, other: DataTable) -> bool:
    return (table.names(), table.rows) != (other.names(), other.rows)


def _task_of(
    rng: Random, table: DataTable, steps: list[TableStep], level: int, difficulty: float
) -> TransformTask:
    given = [(_shape(rng, INPUTS, table), "The table")]
    listed: list[str] = []
    for at, step in enumerate(steps, 1):
        name = "The second table"
        if step.second:
            name = f"The {_ORDINALS[len(given) - 1]} table"
            given.append((_shape(rng, INPUTS, step.second), name))
        listed.append(f"{at}. {step.says.replace('The second table', name)}")
    is_json = rng.random() < 0.5
    wanted = _shape(rng, JSON if is_json else LINES, steps[-1].after)
    inputs = "\n\n".join([f"{name}, {written.says}:\n\n{written.text}" for written, name in given])
    text = "\n".join([f"{inputs}\n\n{STEPS}\n", *listed, f"\nThen write the table as {wanted.says}."])
    return TransformTask(text, wanted.text, is_json, level, round(difficulty, 2))


def _shape(rng: Random, shapes: Sequence[Shape], table: DataTable) -> WrittenTable:
    compact = [shape for shape in shapes if shape not in WORDY]
    return rng.choice(compact if len(table.rows) > _LARGE else shapes)(rng, table)


_ORDINALS = ("second", "third", "fourth")


FAMILIES: tuple[Family, ...] = (
    rows.keep_numbers,
    rows.keep_words,
    rows.sort,
    rows.dedupe,
    rows.explode,
    rows.aggregate,
    rows.pivot,
    columns.rename,
    columns.select,
    columns.compute,
    columns.units,
    columns.write_dates,
    columns.move_dates,
    columns.date_part,
    columns.clean,
    columns.split_names,
    columns.join,
    columns.running,
    columns.share,
    columns.fill,
    columns.recode,
    windows.rank,
    windows.subtotal,
    windows.change,
    windows.behind,
    windows.earlier,
    windows.recent,
    windows.stock,
    windows.band,
    windows.either,
    windows.shift,
    windows.remainder,
    windows.thin,
    windows.rates,
    windows.depots,
)
