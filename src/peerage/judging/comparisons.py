"""Marks as comparisons: which of two answers to the same a judge put first, and what that leaves to
explain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from peerage.judging.marks import Flags, Marks
from peerage.ratings.judges import Cells, others, slopes
from peerage.ratings.kernels import Floats, Ints

SPREADS = np.array([1.0, 0.2])
"""Prior standard deviations of a judge's slope and bend on what the others see."""
_AT_ONCE = 1_000_000  # comparisons held at a time


def _compared(marks: Marks) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Sheets (see `Marks.sheet`) of one size at a time: the places of their marks, and of every two different
    ones the cell, (judge · authors + author) · authors + other, and the points of the one."""
    n = len(marks.authors)
    size = np.bincount(marks.sheet, minlength=1)
    first = np.cumsum(size) - size
    for width in np.unique(size[size > 1]).tolist():
        one, two = np.nonzero(~np.eye(width, dtype=np.bool_))
        starts = first[size == width]
        step = max(1, _AT_ONCE // len(one))
        for at in range(0, len(starts), step):
            places = starts[at : at + step, None] + np.arange(width)
            author, value = marks.author[places], marks.value[places]
            cell = (marks.judge[places[:, :1]] * n + author[:, one]) * n + author[:, two]
            yield places, cell, (np.sign(value[:, one] - value[:, two]) + 1) / 2


class Orders(NamedTuple):
    """How often each judge put each author above each other one, of those that it marked in one contest: all
    comparisons, a tie being half a one, and those alone in which it told the two apart."""

    all: Cells
    decided: Cells


def ordered(marks: Marks) -> Orders:
    """The orders of each judge."""
    shape = len(marks.judges), len(marks.authors), len(marks.authors)
    games, points, ties = (np.zeros(math.prod(shape)) for _ in range(3))
    for _, cell, score in _compared(marks):
        games += np.bincount(cell.ravel(), minlength=len(games))
        points += np.bincount(cell.ravel(), score.ravel(), len(points))
        ties += np.bincount(cell.ravel(), score.ravel() == 0.5, len(ties))
    cells = [column.reshape(shape) for column in (games, points, games - ties, points - ties / 2)]
    return Orders(Cells(*cells[:2]), Cells(*cells[2:]))


def residuals(marks: Marks, expected: Floats) -> Floats:
    """By how much each mark's place among the judge's others exceeds the expected one: sums over comparisons,
    0 for a mark that stands alone. `expected` are the chances by judge, author and other."""
    found, flat = np.zeros(len(marks)), expected.ravel()
    for places, cell, score in _compared(marks):
        excess = (score - flat[cell]).reshape(*places.shape, places.shape[1] - 1)
        found[places] = excess.sum(axis=2)
    return found


def alike(marks: Marks) -> Flags:
    """The judges that put no answer above another, of those that compared any."""
    differ, asked = (np.zeros(len(marks.judges), np.bool_) for _ in range(2))
    for places, _, score in _compared(marks):
        judge = marks.judge[places[:, 0]]
        asked[judge] = True
        differ[judge[(score != 0.5).any(axis=1)]] = True
    return np.asarray(asked & ~differ)


class Errors(NamedTuple):
    """What judges get wrong: each judge's `discernment` (1 for the median judge), and how far the errors of
    two of them on one answer go together (`correlation`)."""

    discernment: Floats
    correlation: float


def errors(marks: Marks) -> Errors:
    """The errors of judges: what is left of their orders once the authors' strengths, as the other judges see
    them, are taken away."""
    table = marks.single
    cells = ordered(table).all
    nobody = np.zeros(cells.games.shape[:2], np.bool_)
    fitted = slopes(cells, nobody, others(cells, ~nobody).strength, SPREADS)
    left = residuals(table, fitted.chance)
    spread = np.sqrt(np.bincount(table.judge, left**2) / np.maximum(np.bincount(table.judge), 1))
    left = left / np.where(spread > 1e-9, spread, np.inf)[table.judge]
    total, own = np.bincount(table.answer, left), np.bincount(table.answer, left**2)
    size = np.bincount(table.answer)
    pairs = float((size * (size - 1)).sum())
    heard = cells.games.any(axis=(1, 2))
    median = max(float(np.median(fitted.value[heard, 0])), 0.05) if heard.any() else 1.0
    return Errors(fitted.value[:, 0] / median, float((total**2 - own).sum() / pairs) if pairs else 0.0)
