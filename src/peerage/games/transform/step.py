"""Steps of a transformation. Pure.

A family is a function of a random generator and a table; it returns a `Step`, or None where the table has no
columns for it. `tests/games/test_transform_reading.py` follows the words alone and must
come to the same table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from random import Random
from typing import NamedTuple, TypeAlias

from peerage.games.transform.tables import DataTable


class Step(NamedTuple):
    """Words of a step, the table after it, and a second table that it needs."""

    says: str
    after: DataTable
    second: DataTable | None = None


Family: TypeAlias = Callable[[Random, DataTable], Step | None]


ColumnStep: TypeAlias = Callable[[Random, DataTable, int], Step | None]


def of(*kinds: str, new: tuple[str, ...] = ()) -> Callable[[ColumnStep], Family]:
    """Make a family of a step at a drawn column of these kinds, in a table that has no column `new` yet."""

    def family(step: ColumnStep) -> Family:
        @wraps(step)
        def drawn(rng: Random, table: DataTable) -> Step | None:
            places = table.of(*kinds)
            if not places or {*new} & {*table.names()}:
                return None
            return step(rng, table, rng.choice(places))

        return drawn

    return family
