"""Rows that a fit cannot tell apart, as one: a million votes are on fewer questions, and fewer pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels

_FEW = 8  # a column of whole numbers up to this, either way, is a kind and no amount
_MOST = 2**62  # of a key
_SPARSE = 16  # numbers for each of a column's elements from which on sorting is less work than counting


class Merged(NamedTuple):
    """A history whose rows agree in no pair of players, `columns` and `labels` together: each weighs what
    its rows did, and its score is their mean by weight. `of` gives the merged row of each row; rows with one
    number in `alike` agree in players and columns, None where that is not known."""

    history: Duels
    columns: Floats
    labels: tuple[Ints, ...]
    of: Ints
    alike: Ints | None = None

    def only(self, wanted: np.ndarray) -> Merged:
        """The same with the `wanted` ones of its columns."""
        if wanted.all():
            return self
        return self._replace(columns=np.ascontiguousarray(self.columns[:, wanted]))

    def whatever_label(self) -> tuple[Duels, Floats]:
        """Rows and columns merged further, whatever their labels: fewer, and of the same likelihood."""
        if self.alike is None:
            return self.history, self.columns
        held, of = numbered(self.alike)
        at = np.empty(len(held), np.int64)
        at[of] = np.arange(len(of))  # any one of each
        return _summed(self.history, of, at), self.columns[at]


def coded(labels: Any) -> tuple[list[Any], Ints]:
    """The labels, in order, and each one's place among them. Names come in a list, numbers in an array."""
    named = isinstance(labels, list | tuple) and bool(labels) and isinstance(labels[0], str)
    column = np.zeros(0) if named else np.asarray(labels)
    if named or column.dtype.kind in "OUS":
        listed = labels if named else column.tolist()
        names = sorted(set(listed))
        number = {name: at for at, name in enumerate(names)}
        return names, np.fromiter(map(number.__getitem__, listed), np.int64, len(listed))
    if len(column) and ascending(column):
        new = np.concatenate([[True], column[1:] != column[:-1]])
        return column[new].tolist(), np.cumsum(new) - 1
    values, place = np.unique(column, return_inverse=True)
    return values.tolist(), np.asarray(place, np.int64)


def ascending(column: np.ndarray) -> bool:
    """Return whether no element is below the one before."""
    return bool((column[1:] >= column[:-1]).all())


def by_code(code: Ints, size: int) -> Ints:
    """The places of numbers from 0 to below `size` in their order, those of equals as they stand."""
    short = code.astype(np.int16) if size < 2**15 else code  # which NumPy sorts by radix
    return np.asarray(np.argsort(short, kind="stable"), np.int64)


def held(code: Ints) -> Ints:
    """The numbers that a column of whole numbers from 0 holds, in order."""
    most = int(code.max(initial=-1)) + 1
    if most > _SPARSE * len(code):
        return np.unique(code)
    is_held = np.zeros(most, np.bool_)
    is_held[code] = True
    return np.flatnonzero(is_held)


def numbered(code: Ints) -> tuple[Ints, Ints]:
    """The numbers that a column of whole numbers from 0 holds, in order, and the column as places in them."""
    most = int(code.max(initial=-1)) + 1
    if most > _SPARSE * len(code):
        values, place = np.unique(code, return_inverse=True)
        return values, np.asarray(place, np.int64)
    values = held(code)
    # Only what is held is written: a running sum would touch all of it.
    place = np.empty(most, np.int32 if len(values) < 2**31 else np.int64)
    place[values] = np.arange(len(values))
    return values, place[code].astype(np.int64)


def merged(history: Duels, columns: Sequence[np.ndarray], labels: Sequence[Ints]) -> Merged:
    """Merge the rows that agree. `columns` are kinds (whole numbers up to 8 either way) or amounts; `labels`
    are numbered from 0. Rows that differ in an amount stay apart, and are not looked for far away: only those
    that agree in all else and stand next to each other are compared by it."""
    kinds = [_kind(column) for column in columns]
    if not len(history) or (not labels and not all(kinds)):
        return Merged(history, _side_by_side(columns, len(history)), tuple(labels), np.arange(len(history)))
    n = history.players
    parts = [(history.first, n), (history.second, n)]
    for column, kind in zip(columns, kinds, strict=True):
        most = int(np.abs(column).max()) if kind else 0
        if most:
            parts.append((column, 2 * most + 1))  # digits on both sides of 0 are as good as from 0 on
    alike, size = _key(parts, _SPARSE * len(history))
    # labels weigh most: what is sorted by them stays nearly so
    key, _ = _key([*[(code, int(code.max()) + 1) for code in labels], (alike, size)], _MOST)
    order = None if ascending(key) else np.argsort(key, kind="stable")
    key = key if order is None else key[order]
    new = np.concatenate([[True], key[1:] != key[:-1]])
    for column, kind in zip(columns, kinds, strict=True):
        if not kind:
            amount = column if order is None else column[order]
            new[1:] |= amount[1:] != amount[:-1]
    starts, run = np.flatnonzero(new), np.cumsum(new) - 1
    of = run
    if order is not None:
        of = np.empty(len(run), np.int64)
        of[order] = run
    at = starts if order is None else order[starts]
    kept = _side_by_side([column[at] for column in columns], len(at))
    shorter = tuple([code[at] for code in labels])
    return Merged(_summed(history, of, at), kept, shorter, of, alike[at] if all(kinds) else None)


def _key(parts: Sequence[tuple[np.ndarray, int]], most: int) -> tuple[Ints, int]:
    """A number from 0 for each row, the same where all `parts` are, which are columns with how many values
    each has; and how many numbers there may be: at most that `most`, or as many as there are rows."""
    key, size = np.zeros(len(parts[0][0]), np.int64), 1
    for column, many in parts:
        if size * many > most:
            codes, key = numbered(key - int(key.min()))
            size = len(codes)
        key = key * many
        key += column if column.dtype.kind == "i" else column.astype(np.int64)
        size *= many
    return key - int(key.min()), size


def _summed(history: Duels, of: Ints, at: Ints) -> Duels:
    """The history with the rows of one number in `of` as one; `at` is one of each."""
    weight = np.bincount(of, history.weight, len(at)).astype(np.float64)
    points = np.bincount(of, history.weight * history.score, len(at))
    score = np.divide(points, weight, out=np.full(len(at), 0.5), where=weight > 0)
    pair = history.first[at], history.second[at]
    return Duels(history.players, *pair, np.clip(score, 0.0, 1.0), weight)


def _kind(column: np.ndarray) -> bool:
    if column.dtype.kind != "i" and not (np.rint(column) == column).all():
        return False
    return bool(np.abs(column).max(initial=0) <= _FEW)


def _side_by_side(columns: Sequence[np.ndarray], rows: int) -> Floats:
    table = np.empty((rows, len(columns)))
    for at, column in enumerate(columns):
        table[:, at] = column
    return table
