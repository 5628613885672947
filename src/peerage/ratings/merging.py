"""Rows that a fit cannot tell apart, as one: a million votes are on fewer questions, and fewer pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints

_FEW = 8  # a column of whole numbers up to this, either way, is a kind and no amount
_MOST = 2**62  # of a key


class Merged(NamedTuple):
    """A history whose rows agree in no pair of players, `columns` and `labels` together: each weighs what
    its rows did, and its score is their mean by weight. `of` gives the merged row of each row."""

    history: Duels
    columns: Floats
    labels: tuple[Ints, ...]
    of: Ints

    def only(self, wanted: np.ndarray) -> Merged:
        """The same with the `wanted` ones of its columns."""
        return self._replace(columns=np.ascontiguousarray(self.columns[:, wanted]))


def coded(labels: Any) -> tuple[list[Any], Ints]:
    """The labels there are, in order, and each one's place among them. Names come in a list, numbers in
    anything that NumPy reads."""
    named = isinstance(labels, list | tuple) and bool(labels) and isinstance(labels[0], str)
    column = np.zeros(0) if named else np.asarray(labels)
    if named or column.dtype.kind in "OUS":
        listed = labels if named else column.tolist()
        names = sorted(set(listed))
        number = {name: at for at, name in enumerate(names)}
        return names, np.fromiter(map(number.__getitem__, listed), np.int64, len(listed))
    if len(column) and (column[1:] >= column[:-1]).all():
        new = np.concatenate([[True], column[1:] != column[:-1]])
        return column[new].tolist(), np.cumsum(new) - 1
    found, place = np.unique(column, return_inverse=True)
    return found.tolist(), np.asarray(place, np.int64)


def merged(history: Duels, columns: Sequence[np.ndarray], labels: Sequence[Ints]) -> Merged:
    """Merge the rows that agree. `columns` are kinds (whole numbers up to 8 either way) or amounts; `labels`
    are numbered from 0.

    Rows that differ in an amount stay apart, and are not looked for far away: only those that agree in all
    else and stand next to each other are compared by it.
    """
    kinds = [_kind(column) for column in columns]
    if not len(history) or (not labels and not all(kinds)):
        return Merged(history, _side_by_side(columns, len(history)), tuple(labels), np.arange(len(history)))
    n = history.players
    parts: list[tuple[np.ndarray, int]] = [(code, int(code.max()) + 1) for code in labels]
    parts += [(history.first, n), (history.second, n)]
    for column, kind in zip(columns, kinds, strict=True):
        most = int(np.abs(column).max()) if kind else 0
        if most:
            parts.append((column, 2 * most + 1))  # digits on both sides of 0 are as good as from 0 on
    key, size = np.zeros(len(history), np.int64), 1
    for column, many in parts:  # labels weigh most: what is sorted by them stays nearly so
        if size * many > _MOST:
            found, key = np.unique(key, return_inverse=True)
            size = len(found)
        key *= many
        key += column if column.dtype.kind == "i" else column.astype(np.int64)
        size *= many
    order = None if (key[1:] >= key[:-1]).all() else np.argsort(key, kind="stable")
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
    weight = np.bincount(of, history.weight, len(starts)).astype(np.float64)
    points = np.bincount(of, history.weight * history.score, len(starts))
    at = starts if order is None else order[starts]
    score = np.divide(points, weight, out=np.full(len(starts), 0.5), where=weight > 0)
    rows = Duels(n, history.first[at], history.second[at], np.clip(score, 0.0, 1.0), weight)
    kept = [column[at] for column in columns]
    return Merged(rows, _side_by_side(kept, len(at)), tuple([code[at] for code in labels]), of)


def _kind(column: np.ndarray) -> bool:
    if column.dtype.kind != "i" and not (np.rint(column) == column).all():
        return False
    return bool(np.abs(column).max(initial=0) <= _FEW)


def _side_by_side(columns: Sequence[np.ndarray], rows: int) -> Floats:
    found = np.empty((rows, len(columns)))
    for at, column in enumerate(columns):
        found[:, at] = column
    return found
