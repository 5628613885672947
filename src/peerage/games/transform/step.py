"""What a step of a transformation is, and what steps are made with. Pure.

A family is a function of a random generator and a table; it returns a `Step`, or None where the table has no
columns for it. `tests/games/test_transform_reading.py` follows the words alone and must
come to the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple, TypeAlias

from peerage.games.transform.tables import Cell, DataColumn, DataTable


class Step(NamedTuple):
    """What a step says, the table after it, and a second table that it needs."""

    says: str
    after: DataTable
    second: DataTable | None = None


Family: TypeAlias = Callable[[Random, DataTable], Step | None]


def kept(table: DataTable, keep: Callable[[tuple[Cell, ...]], bool]) -> DataTable:
    """The table with these of its rows."""
    return table._replace(rows=tuple(filter(keep, table.rows)))


def replaced(table: DataTable, at: int, column: DataColumn, cells: Iterable[Cell]) -> DataTable:
    """The table with another column in this place."""
    columns = (*table.columns[:at], column, *table.columns[at + 1 :])
    rows = [(*row[:at], cell, *row[at + 1 :]) for row, cell in zip(table.rows, cells, strict=True)]
    return DataTable(columns, tuple(rows))


def extended(table: DataTable, column: DataColumn, cells: Iterable[Cell]) -> DataTable:
    """The table with a column more at the end."""
    rows = [(*row, cell) for row, cell in zip(table.rows, cells, strict=True)]
    return DataTable((*table.columns, column), tuple(rows))
