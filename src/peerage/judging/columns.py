"""Many rows of one kind as columns of bytes: small to keep, quick to read back, to join, and to compute with.

    rows = Rows(Layout(codes=2, counts=0, numbers=1))
    rows.add(("kit", "ann"), (), (0.5,))
    columns = rows.columns()
    columns.names, columns.code(1)          # ("kit", "ann"), array([1])

Columns are bytes and names alone, which msgspec writes and reads at no cost.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.ratings.kernels import Floats, Ints

_CODE, _COUNT, _NUMBER = "<i4", "<i2", "<f8"


class Layout(NamedTuple):
    """Numbers of columns of each kind: `codes` stand for names, `counts` are whole numbers from 0 to 32,767,
    `numbers` any."""

    codes: int
    counts: int
    numbers: int


class Columns(Struct, frozen=True):
    """Rows column by column, little-endian; `names` are stated once, in the order of their first row."""

    names: tuple[str, ...]
    codes: tuple[bytes, ...]
    counts: tuple[bytes, ...]
    numbers: tuple[bytes, ...]

    def code(self, column: int) -> Ints:
        """A column of places in `names`."""
        return np.frombuffer(self.codes[column], _CODE).astype(np.int64)

    def count(self, column: int) -> Ints:
        """A column of whole numbers."""
        return np.frombuffer(self.counts[column], _COUNT).astype(np.int64)

    def number(self, column: int) -> Floats:
        """A column of numbers."""
        return np.frombuffer(self.numbers[column], _NUMBER).astype(np.float64)

    def named(self, column: int) -> tuple[tuple[str, ...], Ints]:
        """The names that a column of codes holds, in order, and the column as places among those."""
        code = self.code(column)
        held = np.flatnonzero(np.bincount(code, minlength=len(self.names))).tolist()
        held.sort(key=self.names.__getitem__)
        place = np.zeros(len(self.names), np.int64)
        place[held] = np.arange(len(held))
        return tuple([self.names[at] for at in held]), place[code]


class _Places(dict[str, int]):
    """A place for each name, in the order in which they are first asked for."""

    def __missing__(self, name: str) -> int:
        self[name] = place = len(self)
        return place


class Rows:
    """Gathers rows of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._places = _Places()
        # Row by row.
        self._codes, self._counts, self._numbers = array("i"), array("h"), array("d")

    def add(self, names: Sequence[str], counts: Sequence[int] = (), numbers: Sequence[float] = ()) -> None:
        """Add one row, or more of them, one after another. Raises ValueError when they are not of the
        layout."""
        rows = len(names) // self._layout.codes
        if (len(names), len(counts), len(numbers)) != tuple([rows * width for width in self._layout]):
            raise ValueError(f"found the row {(*names, *counts, *numbers)}: expected one of {self._layout}")
        self._codes.extend(map(self._places.__getitem__, names))
        self._counts.extend(counts)
        self._numbers.extend(numbers)

    def join(self, part: Columns) -> None:
        """Add all rows of a part of the same layout."""
        place = np.array([self._places[name] for name in part.names], _CODE)
        codes = [place[part.code(at)] for at in range(len(part.codes))]
        counts = [np.frombuffer(column, _COUNT) for column in part.counts]
        numbers = [np.frombuffer(column, _NUMBER) for column in part.numbers]
        for rows, columns in ((self._codes, codes), (self._counts, counts), (self._numbers, numbers)):
            if columns:
                rows.frombytes(np.stack(columns, axis=1).astype(rows.typecode).tobytes())

    def columns(self) -> Columns:
        """The rows added so far."""
        codes, counts, numbers = self._layout
        return Columns(
            tuple(self._places),
            _cut(self._codes, codes, _CODE),
            _cut(self._counts, counts, _COUNT),
            _cut(self._numbers, numbers, _NUMBER),
        )


def _cut(rows: array[int] | array[float], width: int, kind: str) -> tuple[bytes, ...]:
    """The columns of so many that stand row by row."""
    return tuple([np.asarray(rows)[at::width].astype(kind).tobytes() for at in range(width)])
