"""Marks: what judges gave answers, whatever the game, as rows to write and as columns to compute with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from peerage.judging.columns import Columns, Layout, Rows
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.merging import numbered

Flags: TypeAlias = NDArray[np.bool_]

MARKS = Layout(codes=3, counts=0, numbers=2)
"""Marks as columns: judge, author and contest by name; value, and length or nan."""


class Mark(NamedTuple):
    """Mark that `judge` gave `author`'s answer in `contest` (a match, or one question of it), players by
    name.

    `value` is the points of a vote in a duel (1, ½ or 0), or a rating. `chars` is how long the answer was,
    None where that is not known.
    """

    judge: str
    author: str
    contest: str
    value: float
    chars: int | None = None


SameFamily = Callable[[str, str], bool]
"""Test of whether a judge and an author are of one family, by their names."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Marks as columns, one element a mark, in the order of judge, contest and author.

    `judge`, `author`, `contest`: places in `judges`, `authors`, `contests`, which are names in order.
    `value`: what was given; `chars`: characters of the answer, nan where they are not known.
    """

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
        return Marks(
            judges=self.judges,
            authors=self.authors,
            contests=self.contests,
            judge=self.judge[wanted],
            author=self.author[wanted],
            contest=self.contest[wanted],
            value=self.value[wanted],
            chars=self.chars[wanted],
        )

    def named(self) -> Marks:
        """These marks without the names of those who have none."""
        judges, judge = _held(self.judges, self.judge)
        authors, author = _held(self.authors, self.author)
        contests, contest = _held(self.contests, self.contest)
        return Marks(
            judges=judges,
            authors=authors,
            contests=contests,
            judge=judge,
            author=author,
            contest=contest,
            value=self.value,
            chars=self.chars,
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


def add_marks(rows: Rows, marks: Iterable[Mark]) -> None:
    """Add marks to rows of the layout `MARKS`."""
    marks = list(marks)
    names = [name for mark in marks for name in mark[:3]]
    numbers = [x for _, _, _, value, chars in marks for x in (value, math.nan if chars is None else chars)]
    rows.add(names, (), numbers)


def marks_in(columns: Columns) -> Marks:
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
