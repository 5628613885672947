"""Does a judge favour an author beyond what chance explains? A permutation test, with false discoveries kept
in check.

What the answer's quality explains, for this judge, is taken from every mark; what is left is a residual. If
the judge treats authors alike, its residuals are exchangeable between answers: so the mean residual of an
author's answers is compared with what permuting the judge's residuals over the answers it marked gives.
Benjamini and Hochberg's procedure (Journal of the Royal Statistical Society B, 1995) over all pairs keeps the
expected share of false findings at the level asked for. A favoured author also looks better to the model of
quality, so that honest judges would seem to slight it: pairs that stand out are left out of the model, one
after another, until what stands out stays the same.

What is found is favour, not its cause: a judge who likes an author's style, or is a model of the same making,
looks like one who was bribed. `docs/judging.md` has the rates of false and of missed findings, measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.judging.marks import Flags, Marks
from peerage.judging.residuals import Model, Rest, of_ratings
from peerage.ratings.kernels import Floats, Ints

LEVEL = 0.05
"""The share of findings that may be false, in expectation."""
FEWEST = 5
"""Marks that a judge must have given an author, and others too, for the pair to be tested."""
PERMUTATIONS = 2_000
"""Fewer where a judge gave more than ten thousand marks."""
_REACHED = 20  # fewer permutations beyond the observed mean than this say little; see `_tail`
_SET_ASIDE = 50  # pairs at most
_LEAST, _MOST = 200, 20_000_000  # permutations, where a judge's marks are many; numbers permuted in all
_TOGETHER = 1_000_000  # numbers permuted at a time: they must fit into memory
_LARGE, _SMALL_PART = 100, 4  # of so many numbers a part is drawn faster than all are permuted


class Favour(NamedTuple):
    """How a judge treats an author: `excess` is the mean residual of its `marks`, in the marks' unit (above
    0: more than their quality explains). `p` is the chance of as much or more without favour, `q` the
    smallest level at which the pair would be a finding (Benjamini-Hochberg), `found` whether it is one."""

    judge: str
    author: str
    marks: int
    excess: float
    p: float
    q: float
    found: bool


@dataclass(frozen=True, eq=False)
class _Cells:
    """The pairs that can be tested, in order, one an element: `count` and `total` of the judge's residuals
    for the author, and of those for others that nothing is held against (`rest_count`, `rest_total`);
    `squares` is the sum of the squares of both. `doubt` is the variance that the model's own error adds to
    the mean of the former."""

    judge: Ints
    author: Ints
    count: Ints
    total: Floats
    rest_count: Ints
    rest_total: Floats
    squares: Floats
    doubt: Floats

    @cached_property
    def excess(self) -> Floats:
        return np.asarray(self.total / self.count - self.rest_total / self.rest_count)

    @cached_property
    def normal_tail(self) -> list[float]:
        """The chance of as much or more by the permutations' exact mean and variance, and the doubt."""
        n = self.count + self.rest_count
        mean = (self.total + self.rest_total) / n
        spread = np.maximum(self.squares / n - mean**2, 0.0)
        variance = spread * (n - self.count) / (n - 1) / self.count + self.doubt
        above = self.total / self.count - mean
        normal = NormalDist()
        return [
            1 - normal.cdf(one / math.sqrt(wide)) if wide > 0 else 1.0
            for one, wide in zip(above.tolist(), variance.tolist(), strict=True)
        ]


def favours(
    marks: Marks,
    model: Model = of_ratings,
    *,
    level: float = LEVEL,
    fewest: int = FEWEST,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[Favour]:
    """Every judge × author pair with enough marks, the most suspicious first. Deterministic for a `seed`.

    `model` takes away what quality explains: see `residuals.of_ratings` and `residuals.of_votes`. Raises
    ValueError for a level outside of 0 to 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: expected a share between 0 and 1")
    table = marks.single
    left = model(table)
    aside = np.zeros((len(table.judges), len(table.authors)), np.bool_)
    while True:
        rest = left(aside)
        cells = _cells(table, rest, aside, fewest)
        tails = benjamini_hochberg(cells.normal_tail)
        standing = [
            (tail, normal, judge, author)
            for tail, normal, judge, author in zip(
                tails, cells.normal_tail, cells.judge.tolist(), cells.author.tolist(), strict=True
            )
            if tail <= level and not aside[judge, author]
        ]
        if not standing or aside.sum() >= _SET_ASIDE:
            break
        aside[min(standing)[2:]] = True
    p = _tails(table, rest, aside, cells, permutations, seed)
    found = sorted(
        zip(
            [table.judges[judge] for judge in cells.judge],
            [table.authors[author] for author in cells.author],
            cells.count.tolist(),
            cells.excess.tolist(),
            p,
            strict=True,
        ),
        key=lambda pair: (pair[4], pair[0], pair[1]),
    )
    adjusted = benjamini_hochberg([pair[4] for pair in found])
    return [Favour(*pair, q, q <= level) for pair, q in zip(found, adjusted, strict=True)]


def _cells(table: Marks, rest: Rest, aside: Flags, fewest: int) -> _Cells:
    """The pairs that can be tested."""
    shape = aside.shape
    known = np.isfinite(rest.residual)
    cell = (table.judge * shape[1] + table.author)[known]
    residual = rest.residual[known]

    def sums(values: Floats | None) -> Floats:
        return np.bincount(cell, values, aside.size).reshape(shape).astype(np.float64)

    count, total, squares = sums(None), sums(residual), sums(residual**2)

    def with_rest(each: Floats) -> Floats:
        """Over the cell's own and those that nothing is held against."""
        return np.asarray((each * ~aside).sum(axis=1, keepdims=True) + each * aside)

    rest_count = with_rest(count) - count
    judge, author = at = np.nonzero((count >= fewest) & (rest_count >= fewest))
    return _Cells(
        judge,
        author,
        count[at].astype(np.int64),
        total[at],
        rest_count[at].astype(np.int64),
        (with_rest(total) - total)[at],
        with_rest(squares)[at],
        rest.doubt[at],
    )


def _tails(
    table: Marks, rest: Rest, aside: Flags, cells: _Cells, permutations: int, seed: int
) -> list[float]:
    """The chance of each cell's sum or more, were the judge's residuals drawn at random.

    Cells that nothing is held against share the draws of their judge; each of the others has a pool of its
    own.
    """
    found = np.ones(len(cells.judge))
    held = aside[cells.judge, cells.author]
    pools = [(judge, 0, np.flatnonzero((cells.judge == judge) & ~held)) for judge in range(len(aside))]
    pools += [(cells.judge[at], cells.author[at] + 1, np.array([at])) for at in np.flatnonzero(held)]
    bounds = np.searchsorted(table.judge, np.arange(len(table.judges) + 1))
    for judge, place, members in pools:
        if not len(members):
            continue
        mine = slice(bounds[judge], bounds[judge + 1])
        residual, author = rest.residual[mine], table.author[mine]
        own = author == cells.author[members[0]]
        drawable = np.isfinite(residual) & (own | ~aside[judge, author])
        order = np.lexsort((author, ~own))
        pool = residual[order][drawable[order]]
        rng = np.random.default_rng([seed, judge, place])
        drawn = _sums(pool, cells.count[members], rng, permutations)
        for at, sums in zip(members.tolist(), drawn.T, strict=True):
            found[at] = _tail(cells, at, sums, seed)
    return [float(p) for p in found]


def _tail(cells: _Cells, at: int, sums: Floats, seed: int) -> float:
    """The chance of a sum of at least the observed one, given the sums of as many residuals drawn at random.

    Counted among the permutations (the observed one among them). Where hardly any reaches it, the normal tail
    with the permutations' exact variance, which the count cannot resolve.
    """
    if cells.doubt[at]:
        doubt = np.random.default_rng([seed, cells.judge[at], cells.author[at]]).standard_normal(len(sums))
        sums = sums + doubt * cells.count[at] * math.sqrt(cells.doubt[at])
    reached = int((sums >= cells.total[at] - 1e-9).sum())
    counted = (reached + 1) / (len(sums) + 1)
    return counted if reached >= _REACHED else min(counted, cells.normal_tail[at])


def _sums(pool: Floats, counts: Ints, rng: np.random.Generator, permutations: int) -> Floats:
    """The sums of so many residuals (columns) drawn at random from a pool, by permutation (rows).

    Cells of one pool share the draws: the more marks a cell has, the further its sum goes.
    """
    draws, most = min(permutations, max(_LEAST, _MOST // len(pool))), int(counts.max())
    part = len(pool) >= _LARGE and most * _SMALL_PART <= len(pool)
    sums = np.empty((draws, len(counts)))
    together = max(1, _TOGETHER // (most if part else len(pool)))
    for first in range(0, draws, together):
        rows = min(together, draws - first)
        if part:
            mixed = pool[without_replacement(len(pool), (rows, most), rng)]
        else:
            mixed = rng.permuted(np.tile(pool, (rows, 1)), axis=1)[:, :most]
        sums[first : first + rows] = mixed.cumsum(axis=1)[:, counts - 1]
    return sums


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjusted p-values in the same order: a hypothesis is rejected at every level from its own upwards.

    The i-th smallest of m becomes min over j ≥ i of p_(j) · m / j.
    """
    order = sorted(range(len(p)), key=lambda at: p[at])
    adjusted = [0.0] * len(p)
    least = 1.0
    for place in range(len(p), 0, -1):
        least = min(least, p[order[place - 1]] * len(p) / place)
        adjusted[order[place - 1]] = least
    return adjusted


def without_replacement(size: int, shape: tuple[int, int], rng: np.random.Generator) -> Ints:
    """In each row numbers below `size`, drawn at random without replacement.

    Drawn with replacement; what stands in its row already is drawn again until nothing does. That treats all
    numbers alike, so every order of every choice is as likely as any other.
    """
    drawn = rng.integers(size, size=shape)
    rows, bits = np.arange(shape[0]), shape[1].bit_length()
    while len(rows):
        placed = np.sort(drawn[rows] << bits | np.arange(shape[1]), axis=1)
        number = placed >> bits
        row, again = np.nonzero(number[:, 1:] == number[:, :-1])
        place = placed[row, again + 1] & (1 << bits) - 1
        drawn[rows[row], place] = rng.integers(size, size=len(row))
        rows = rows[np.unique(row)]
    return drawn
