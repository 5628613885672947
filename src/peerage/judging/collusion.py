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
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.judging.preference import Mark
from peerage.judging.residuals import Marks, Model, Rest, of_ratings, tabled
from peerage.ratings.kernels import Floats

LEVEL = 0.05
"""The share of findings that may be false, in expectation."""
FEWEST = 5
"""Marks that a judge must have given an author, and others too, for the pair to be tested."""
PERMUTATIONS = 2_000
"""Fewer where a judge gave more than ten thousand marks."""
_REACHED = 20  # fewer permutations beyond the observed mean than this say little; see `_tail`
_SET_ASIDE = 50  # pairs at most
_LEAST, _MOST = 200, 20_000_000  # permutations, where a judge's marks are many; numbers they hold together


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


class _Cell(NamedTuple):
    """A judge's residuals for one author (`own`) and for those that nothing is held against (`rest`); `doubt`
    is the variance that the model's own error adds to the mean of the former."""

    judge: int
    author: int
    own: Floats
    rest: Floats
    doubt: float

    @property
    def excess(self) -> float:
        return float(self.own.mean() - self.rest.mean())

    @property
    def normal_tail(self) -> float:
        """The chance of as much or more by the permutations' exact mean and variance, and the doubt."""
        pool = np.concatenate([self.own, self.rest])
        n, marks = len(pool), len(self.own)
        variance = float(pool.var()) * (n - marks) / (n - 1) / marks + self.doubt
        if variance <= 0:
            return 1.0
        return 1 - NormalDist().cdf(float(self.own.mean() - pool.mean()) / math.sqrt(variance))


def favours(
    marks: Iterable[Mark],
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
    table = tabled(marks)
    aside: frozenset[tuple[int, int]] = frozenset()
    while True:
        cells = _cells(table, model(table, aside), aside, fewest)
        tails = benjamini_hochberg([cell.normal_tail for cell in cells])
        standing = [
            (tail, cell.normal_tail, (cell.judge, cell.author))
            for cell, tail in zip(cells, tails, strict=True)
            if tail <= level and (cell.judge, cell.author) not in aside
        ]
        if not standing or len(aside) >= _SET_ASIDE:
            break
        aside |= {min(standing)[2]}
    found: list[tuple[str, str, int, float, float]] = []
    pool, drawn = (-1, -1), np.empty((0, 0))
    for cell in sorted(cells, key=lambda cell: (cell.judge, (cell.judge, cell.author) in aside)):
        of = cell.judge, cell.author if (cell.judge, cell.author) in aside else -1
        if of != pool:
            pool, drawn = of, _sums(cell, np.random.default_rng([seed, cell.judge, of[1] + 1]), permutations)
        doubt = np.random.default_rng([seed, cell.judge, cell.author]).standard_normal(len(drawn))
        p = _tail(cell, drawn[:, len(cell.own) - 1] + doubt * len(cell.own) * math.sqrt(cell.doubt))
        found.append((table.judges[cell.judge], table.authors[cell.author], len(cell.own), cell.excess, p))
    found.sort(key=lambda pair: (pair[4], pair[0], pair[1]))
    adjusted = benjamini_hochberg([pair[4] for pair in found])
    return [Favour(*pair, q, q <= level) for pair, q in zip(found, adjusted, strict=True)]


def _cells(table: Marks, rest: Rest, aside: frozenset[tuple[int, int]], fewest: int) -> list[_Cell]:
    """The pairs that can be tested, by judge."""
    cells: list[_Cell] = []
    for judge in range(len(table.judges)):
        given = np.isfinite(rest.residual[judge])
        by_author = [
            rest.residual[judge, given & (table.author == author)] for author in range(len(table.authors))
        ]
        for author, own in enumerate(by_author):
            others = [
                values
                for other, values in enumerate(by_author)
                if other != author and (judge, other) not in aside
            ]
            pool = np.concatenate([*others, np.empty(0)])
            if len(own) >= fewest and len(pool) >= fewest:
                cells.append(_Cell(judge, author, own, pool, float(rest.doubt[judge, author])))
    return cells


def _sums(cell: _Cell, rng: np.random.Generator, permutations: int) -> Floats:
    """Permutations of the residuals that a cell is tested with, each as its running sums: column m - 1 is the
    sum of m residuals drawn at random, so that cells of one pool share the draws."""
    pool = np.concatenate([cell.own, cell.rest])
    draws = min(permutations, max(_LEAST, _MOST // len(pool)))
    return np.asarray(rng.permuted(np.tile(pool, (draws, 1)), axis=1).cumsum(axis=1))


def _tail(cell: _Cell, drawn: Floats) -> float:
    """The chance of a sum of at least the observed one, given the sums of as many residuals drawn at random.

    Counted among the permutations (the observed one among them). Where hardly any reaches it, the normal tail
    with the permutations' exact variance, which the count cannot resolve.
    """
    reached = int((drawn >= cell.own.sum() - 1e-9).sum())
    counted = (reached + 1) / (len(drawn) + 1)
    return counted if reached >= _REACHED else min(counted, cell.normal_tail)


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
