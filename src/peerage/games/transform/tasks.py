"""Tasks of transformation: a table in some shape, steps in plain words, and the shape of the result. Pure."""

from __future__ import annotations

from random import Random

from msgspec import Struct

from peerage.games.transform import columns, rows
from peerage.games.transform.tables import (
    INPUTS,
    JSON,
    LINES,
    DataTable,
    Family,
    TableStep,
    WrittenTable,
    drawn,
)

STEPS = "Do these steps in this order, each with the table that the one before it left:"
"""Words between a task's data and its steps."""


class TransformTask(Struct, frozen=True):
    """A task as it is drawn: what players read, the right output, and whether that is JSON."""

    text: str
    expected: str
    json: bool


def task_of(rng: Random, steps: int) -> TransformTask:
    """A task of so many steps of different families; no step leaves the table as it was."""
    while True:
        table = before = drawn(rng, 4 + 2 * steps)
        done: list[TableStep] = []
        for family in rng.sample(FAMILIES, len(FAMILIES)):
            step = family(rng, table)
            if step is not None and len(step.after.rows) > 1 and _differ(table, step.after):
                table = step.after
                done.append(step)
            if len(done) == steps and not table.of("messy"):
                return _task_of(rng, before, done)


def _differ(table: DataTable, other: DataTable) -> bool:
    return (table.names(), table.rows) != (other.names(), other.rows)


def _task_of(rng: Random, table: DataTable, steps: list[TableStep]) -> TransformTask:
    given = [(rng.choice(INPUTS)(rng, table), "The table")]
    given += [(rng.choice(INPUTS)(rng, step.second), "The second table") for step in steps if step.second]
    is_json = rng.random() < 0.5
    wanted: WrittenTable = rng.choice(JSON if is_json else LINES)(rng, steps[-1].after)
    inputs = "\n\n".join([f"{name}, {written.says}:\n\n{written.text}" for written, name in given])
    listed = "\n".join([f"{at}. {step.says}" for at, step in enumerate(steps, 1)])
    text = f"{inputs}\n\n{STEPS}\n\n{listed}\n\nThen write the table as {wanted.says}."
    return TransformTask(text, wanted.text, is_json)


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
)
