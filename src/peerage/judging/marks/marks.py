"""Marks: what judges gave answers, whatever the game, as rows to write and as columns to compute with.

    rows = Rows(Layout(codes=2, counts=0, numbers=1))
    rows.add(("kit", "ann"), (), (0.5,))
    columns = rows.columns()
    columns.names, columns.code(1)          # ("kit", "ann"), array([1])

Columns are bytes and names alone, which msgspec writes and reads at no cost.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.merging import numbered

_CODE, _COUNT, _NUMBER = "<i4", "<i2", "<f8"


class Layout(NamedTuple):
    """Numbers of columns of each kind: `codes` for names, `counts` from 0 to 32,767, any other `numbers`."""

    codes: int
    counts: int
    numbers: int


class MarkColumns(Struct, frozen=True):
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


class MarkRows:
    """Gathers rows of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._places = _Places()
        # Row by row.
        self._codes, self._counts, self._numbers = array("i"), array("h"), array("d")

    def add(self, names: Sequence[str], counts: Sequence[int] = (), numbers: Sequence[float] = ()) -> None:
        """Add one row, or several one after another. Raises ValueError when they are not of the layout."""
        rows = len(names) // self._layout.codes
        if (len(names), len(counts), len(numbers)) != tuple([rows * width for width in self._layout]):
            raise ValueError(f"found the row {(*names, *counts, *numbers)}: expected one of {self._layout}")
        self._codes.extend(map(self._places.__getitem__, names))
        self._counts.extend(counts)
        self._numbers.extend(numbers)

    def join(self, part: MarkColumns) -> None:
        """Add all rows of a part of the same layout."""
        place = np.array([self._places[name] for name in part.names], _CODE)
        codes = [place[part.code(at)] for at in range(len(part.codes))]
        counts = [np.frombuffer(column, _COUNT) for column in part.counts]
        numbers = [np.frombuffer(column, _NUMBER) for column in part.numbers]
        for rows, columns in ((self._codes, codes), (self._counts, counts), (self._numbers, numbers)):
            if columns:
                rows.frombytes(np.stack(columns, axis=1).astype(rows.typecode).tobytes())

    def columns(self) -> MarkColumns:
        """The rows added so far."""
        codes, counts, numbers = self._layout
        return MarkColumns(
            tuple(self._places),
            _cut(self._codes, codes, _CODE),
            _cut(self._counts, counts, _COUNT),
            _cut(self._numbers, numbers, _NUMBER),
        )


def _cut(rows: array[int] | array[float], width: int, kind: str) -> tuple[bytes, ...]:
    """The columns of so many that stand row by row."""
    return tuple([np.asarray(rows)[at::width].astype(kind).tobytes() for at in range(width)])


# -------------------------------------------------------------------------------------------------- marks


MARKS = Layout(codes=3, counts=0, numbers=2)
"""Marks as columns: judge, author and contest by name; value, and length or nan."""


class Mark(NamedTuple):
    """Mark that `judge` gave `author`'s answer in `contest` (a match, or one question of it), players by
    name. `value` is the points of a vote in a duel (1, ½ or 0), or a rating. `chars` is how long the answer
    was, None where that is not known."""

    judge: str
    author: str
    contest: str
    value: float
    chars: int | None = None


SameFamily = Callable[[str, str], bool]
"""Test of whether a judge and an author are of one family, by their names."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Marks as columns, one element a mark, in the order of judge, contest and author. `judge`, `author`,
    `contest`: places in `judges`, `authors`, `contests`, which are names in order. `value`: what was given;
    `chars`: characters of the answer, nan where they are not known."""

    judges: tuple[str, ...]
    authors: tuple[str, ...]
    contests: tuple[str, ...]
    judge: Ints
    author: Ints
    contest: Ints
    value: Floats
    chars: Floats

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def answer(self) -> Ints:
        """The number of each mark's answer, from 0: contest by contest, author by author."""
        return numbered(self.contest * len(self.authors) + self.author)[1]

    @cached_property
    def sheet(self) -> Ints:
        """The number of the judge and contest of each mark, from 0."""
        same = self.judge * len(self.contests) + self.contest
        return np.asarray(np.cumsum(np.diff(same, prepend=same[:1]) != 0), np.int64)

    def same_family(self, same_family: SameFamily) -> Flags:
        """For each mark, whether judge and author are of one family."""
        pairs = [[same_family(judge, author) for author in self.authors] for judge in self.judges]
        table = np.array(pairs, np.bool_).reshape(len(self.judges), len(self.authors))
        return np.asarray(table[self.judge, self.author])

    def only(self, wanted: Flags) -> Marks:
        """The wanted ones of these marks, with all the names."""
        columns = ("judge", "author", "contest", "value", "chars")
        return replace(self, **{column: getattr(self, column)[wanted] for column in columns})

    def named(self) -> Marks:
        """These marks without the names of those who have none."""
        judges, judge = _held(self.judges, self.judge)
        authors, author = _held(self.authors, self.author)
        contests, contest = _held(self.contests, self.contest)
        return replace(
            self,
            judges=judges,
            authors=authors,
            contests=contests,
            judge=judge,
            author=author,
            contest=contest,
        )

    @cached_property
    def single(self) -> Marks:
        """The same with one mark of a judge for an answer: the mean of its marks, if there are more."""
        starts = np.diff(self.sheet * len(self.authors) + self.author, prepend=-1) != 0
        if starts.all():
            return self
        of = np.cumsum(starts) - 1
        mean = np.bincount(of, self.value) / np.bincount(of)
        return replace(self.only(starts), value=mean)


def _held(names: tuple[str, ...], code: Ints) -> tuple[tuple[str, ...], Ints]:
    """The names that a column of places holds, and the column as places among those."""
    held, place = numbered(code)
    return tuple([names[at] for at in held.tolist()]), place


def add_marks(rows: MarkRows, marks: Iterable[Mark]) -> None:
    """Add marks to rows of the layout `MARKS`."""
    marks = list(marks)
    names = [name for mark in marks for name in mark[:3]]
    numbers = [x for _, _, _, value, chars in marks for x in (value, math.nan if chars is None else chars)]
    rows.add(names, (), numbers)


def marks_in(columns: MarkColumns) -> Marks:
    """The marks that columns of the layout `MARKS` hold."""
    judges, judge = columns.named(0)
    authors, author = columns.named(1)
    contests, contest = columns.named(2)
    value, chars = columns.number(0), columns.number(1)
    order = np.lexsort((value, (judge * len(contests) + contest) * len(authors) + author))
    return Marks(
        judges=judges,
        authors=authors,
        contests=contests,
        judge=judge[order],
        author=author[order],
        contest=contest[order],
        value=value[order],
        chars=chars[order],
    )


class Votes(NamedTuple):
    """Votes on answers of two players, one an element. `history` numbers `players`; `judge` is who cast each,
    as a place in `judges`, which are names in order; `matches` say on what. `shown` is 1 where the first
    player's answer alone was shown first, -1 where the second's was, 0 where both orders were.

    Scores are votes too: orders of every two answers that a judge scored (`comparisons.in_orders`). Then
    `scores` holds the marks themselves, a match is one question, and `worth` says of how many independent
    votes each says as much; both are None for votes on duels, which are worth one each."""

    players: tuple[str, ...]
    history: Duels
    judges: tuple[str, ...]
    judge: Ints
    matches: Ints
    shown: Ints
    worth: Floats | None = None
    scores: Marks | None = None
