"""The narrow table in columns: what a table of ratings needs of a million matches, in little room."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from msgspec.structs import astuple

from peerage.ledger.forms import narrow
from peerage.ledger.forms.rows import Columns, Summary

_AT_ONCE = 10_000  # rows that are taken apart at a time
_AT = {name: place for place, name in enumerate(Summary.__struct_fields__)}
_NUMBER, _PLAYERS, _SCORES = (itemgetter(_AT[name]) for name in ("number", "players", "scores"))
_KIND = itemgetter(*[_AT[name] for name in ("game", "topic", "status")])


def of_rows(parts: Iterable[Sequence[Sequence[Any]]]) -> Columns:
    """The columns of the narrow table's rows. LedgerError when somebody else wrote one."""
    raw: Any = Columns(*_joined(parts))
    tables, results = narrow.column("players", raw.tables), narrow.column("scores", raw.results)
    columns: Columns = raw._replace(tables=tables, results=results)
    return columns


def of_summaries(rows: Iterable[Summary]) -> Columns:
    """The same of rows that were read."""
    left = map(astuple, rows)
    return Columns(*_joined(iter(lambda: [*islice(left, _AT_ONCE)], [])))


class _ValuePlaces(dict[Hashable, int]):
    """The place of each value among those that differ, by their first."""

    def __missing__(self, value: Hashable) -> int:
        place = self[value] = len(self)
        return place


def _joined(parts: Iterable[Sequence[Sequence[Any]]]) -> tuple[Any, ...]:
    numbers, places = array("q"), [(array("q"), _ValuePlaces(), of) for of in (_KIND, _PLAYERS, _SCORES)]
    for part in parts:
        numbers.extend(map(_NUMBER, part))
        for into, known, of in places:
            into.extend(map(known.__getitem__, map(of, part)))
    arrays = [np.array(values, np.int64) for values in (numbers, *[into for into, *_ in places])]
    return (*arrays, *[[*known] for _, known, _ in places])
