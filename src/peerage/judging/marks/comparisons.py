"""Marks as comparisons: which of two answers a judge put first, and what that leaves to explain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from peerage.judging.marks.marks import Marks, Votes
from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.history import duels
from peerage.ratings.columns.merging import ascending, by_code, coded, held
from peerage.ratings.fits.judges import VoteCells, others, slopes

SPREADS = np.array([1.0, 0.2])
"""Prior standard deviations of a judge's slope and bend on what the others see."""
_AT_ONCE = 100_000  # comparisons held at a time


def _compared(marks: Marks) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Sheets (see `Marks.sheet`) of one size at a time: the places of their marks, and of every two different
    ones the cell, (judge · authors + author) · authors + other, and the points of the one."""
    n = len(marks.authors)
    size = np.bincount(marks.sheet, minlength=1)
    first = np.cumsum(size) - size
    for width in np.unique(size[size > 1]).tolist():
        upper, two = np.nonzero(~np.eye(width, dtype=np.bool_))
        starts = first[size == width]
        step = max(1, _AT_ONCE // len(upper))
        alone = len(starts) * width == len(marks)
        for at in range(0, len(starts), step):
            places = starts[at : at + step, None] + np.arange(width)
            rows = slice(at * width, (at + step) * width)  # all of one size: they stand side by side
            author, value = (
                column[rows].reshape(-1, width) if alone else column[places]
                for column in (marks.author, marks.value)
            )
            cell = (marks.judge[places[:, :1]] * n + author[:, upper]) * n + author[:, two]
            yield places, cell, (np.sign(value[:, upper] - value[:, two]) + 1) / 2


class Orders(NamedTuple):
    """Counts of how often each judge put each author above each other one, of those that it marked in one
    contest: all comparisons, a tie being half a one, and those alone in which it told the two apart."""

    all: VoteCells
    decided: VoteCells


def ordered(marks: Marks) -> Orders:
    """The orders of each judge."""
    shape = len(marks.judges), len(marks.authors)
    games, points, ties = (np.zeros(math.prod(shape) * len(marks.authors)) for _ in range(3))
    for _, cell, score in _compared(marks):
        games += np.bincount(cell.ravel(), minlength=len(games))
        points += np.bincount(cell.ravel(), score.ravel(), len(points))
        ties += np.bincount(cell.ravel(), score.ravel() == 0.5, len(ties))
    cell = np.flatnonzero(games)
    games, points, ties = games[cell], points[cell], ties[cell]
    return Orders(
        VoteCells.of(*shape, cell, games, points), VoteCells.of(*shape, cell, games - ties, points - ties / 2)
    )


def residuals(marks: Marks, expected: Expected) -> Floats:
    """By how much each mark's place among the judge's others exceeds the expected one: sums over comparisons,
    0 for a mark that stands alone."""
    excesses, n = np.zeros(len(marks)), max(len(marks.authors), 1)
    for places, cell, score in _compared(marks):
        excess = (score - expected(cell // n // n, cell // n % n, cell % n)).reshape(
            *places.shape, places.shape[1] - 1
        )
        excesses[places] = excess.sum(axis=2)
    return excesses


def undecided(marks: Marks) -> Ints:
    """In how many contests each judge found all answers alike; 0 for a judge that ever ranked one above."""
    starts = np.flatnonzero(np.diff(marks.sheet, prepend=-1))
    judge = marks.judge[starts]
    if not len(starts):
        return np.zeros(len(marks.judges), np.int64)
    size = np.diff(np.append(starts, len(marks)))
    differing = np.maximum.reduceat(marks.value, starts) > np.minimum.reduceat(marks.value, starts)
    asked = np.bincount(judge[size > 1], minlength=len(marks.judges))
    return np.where(np.bincount(judge, differing, len(marks.judges)) > 0, 0, asked).astype(np.int64)


Expected = Callable[[Ints, Ints, Ints], Floats]
"""Gives the chances that judges prefer authors to others."""


class Compared(NamedTuple):
    """All that a search for favour asks of marks: how many each judge gave each author (`marks`), its
    `orders`, in how many contests it found all answers alike, if it never did otherwise (`undecided`), and
    `squares`: given the chances expected by judge, author and other, the sums of squared `residuals` by judge
    and author."""

    judges: tuple[str, ...]
    authors: tuple[str, ...]
    marks: Ints
    orders: Orders
    undecided: Ints
    squares: Callable[[Expected], Floats]


def compared(given: Marks | Votes) -> Compared:
    """Marks, or votes, as comparisons; of several marks of a judge for one answer their mean."""
    if isinstance(given, Votes) and given.scores is None:
        return _of_votes(given)
    marks = (given if isinstance(given, Marks) else given.scores or of_votes(given)).single
    judges, authors = len(marks.judges), len(marks.authors)
    cell = marks.judge * authors + marks.author

    def squares(expected: Expected) -> Floats:
        sums = np.bincount(cell, residuals(marks, expected) ** 2, judges * authors)
        return np.asarray(sums, np.float64).reshape(judges, authors)

    count = np.bincount(cell, minlength=judges * authors).reshape(judges, authors)
    return Compared(marks.judges, marks.authors, count, ordered(marks), undecided(marks), squares)


def _of_votes(votes: Votes) -> Compared:
    """The same as by way of marks: counts of votes by judge, players and outcome say it all, unless a judge
    voted on a match more than once."""
    history, match = votes.history, votes.matches
    by_judge = by_code(votes.judge, len(votes.judges)) if ascending(match) else None
    if by_judge is None:
        return compared(of_votes(votes))
    judge, match = votes.judge[by_judge], match[by_judge]
    if ((judge[1:] == judge[:-1]) & (match[1:] == match[:-1])).any():
        return compared(of_votes(votes))
    judges, n = len(votes.judges), history.players
    judge, score = np.tile(votes.judge, 2), np.concatenate([history.score, 1 - history.score])
    author = np.concatenate([history.first, history.second])
    other = np.concatenate([history.second, history.first])
    by = judge * n + author
    cell, tied, won = by * n + other, score == 0.5, (score > 0.5).astype(np.float64)
    every = VoteCells.of(judges, n, cell, games=np.ones(len(cell)), points=won + tied / 2)
    decided = VoteCells.of(judges, n, cell[~tied], games=np.ones(len(cell))[~tied], points=won[~tied])
    alike = np.where(decided.votes > 0, 0, every.votes / 2).astype(np.int64)

    def squares(expected: Expected) -> Floats:
        left = (score - expected(judge, author, other)) ** 2
        return np.bincount(by, left, judges * n).astype(np.float64).reshape(judges, n)

    marks = np.bincount(by, minlength=judges * n).reshape(judges, n)
    return Compared(votes.judges, votes.players, marks, Orders(every, decided), alike, squares)


def of_votes(votes: Votes) -> Marks:
    """The marks that votes come to."""
    history = votes.history
    contests, contest = coded(votes.matches)
    order = by_code(votes.judge, len(votes.judges)) if ascending(contest) else None
    order = np.lexsort((contest, votes.judge)) if order is None else order
    judge, contest, score = votes.judge[order], contest[order], history.score[order]
    first, other = history.first[order], history.second[order]
    turned, size = first > other, 2 * len(order)
    author, value = np.empty(size, np.int64), np.empty(size)
    author[::2], author[1::2] = np.minimum(first, other), np.maximum(first, other)
    value[::2] = np.where(turned, 1 - score, score)
    value[1::2] = 1 - value[::2]
    again = (judge[1:] == judge[:-1]) & (contest[1:] == contest[:-1])
    judge, contest = np.repeat(judge, 2), np.repeat(contest, 2)
    if again.any():  # a judge with several votes on one match
        order = np.lexsort((author, contest, judge))
        judge, author, contest, value = judge[order], author[order], contest[order], value[order]
    return Marks(
        judges=votes.judges,
        authors=votes.players,
        contests=tuple(map(str, contests)),
        judge=judge,
        author=author,
        contest=contest,
        value=value,
        chars=np.full(size, np.nan),
    )


def in_orders(marks: Marks, unjudged: Flags | None = None) -> Votes:
    """Scores as votes: which of every two answers to one question each judge gave more, a tie where both got
    as much. Contests are the matches, and those of one weigh together as much as a game of all its authors.

    All m (m - 1) / 2 orders of m answers by one judge hang together: they vary (2 m + 5) / 9 times as much as
    if each were drawn by itself (Kendall 1938), and are worth that much less. `unjudged` are answers, shape
    (contests, authors), that no judge was asked about and the rules score: they rate, and say nothing about
    judges.
    """
    table = marks.single
    size = np.bincount(table.sheet, minlength=1)
    start = np.cumsum(size) - size
    places: list[tuple[Ints, Ints]] = []
    for width in np.unique(size[size > 1]).tolist():
        upper, two = np.triu_indices(width, 1)
        begin = start[size == width][:, None]
        places.append(((begin + upper).ravel(), (begin + two).ravel()))
    empty = np.zeros(0, np.int64)
    upper, two = map(np.concatenate, zip(*places, strict=True)) if places else (empty, empty)
    order = np.lexsort((table.author[two], table.author[upper], table.contest[upper]))
    upper, two = upper[order], two[order]
    contest, size = table.contest[upper], size[table.sheet[upper]]
    first, second = table.author[upper], table.author[two]
    answers = held(table.contest * len(table.authors) + table.author)
    there = np.bincount(answers // max(len(table.authors), 1))
    weight = there[contest] / 2 / np.bincount(contest, minlength=1)[contest]
    score = (np.sign(table.value[upper] - table.value[two]) + 1) / 2
    worth = 9 / (2 * size + 5)
    if unjudged is not None:
        worth[unjudged[contest, first] | unjudged[contest, second]] = 0.0
        judges = ~unjudged[marks.contest, marks.author]
        marks = marks if judges.all() else marks.only(judges)
    history = duels(len(table.authors), first, second, score, weight)
    return Votes(
        players=table.authors,
        history=history,
        judges=table.judges,
        judge=table.judge[upper],
        matches=contest,
        shown=np.zeros(len(first), np.int64),
        worth=worth,
        scores=marks,
    )


class Errors(NamedTuple):
    """Errors of judges: each judge's `discernment`, by how much its votes follow strength for what they
    scatter (1 for the median judge); that scatter, the `noise` (standard deviation of an error); and how far
    the errors of two of them on one answer go together (`correlation`, of two median judges: what one of them
    takes for merit moves others by as much as merit does)."""

    discernment: Floats
    noise: Floats
    correlation: float


def errors(marks: Marks) -> Errors:
    """The errors of judges: what is left of their orders once the authors' strengths, as the other judges see
    them, are taken away."""
    table = marks.single
    cells = ordered(table).all
    nobody = np.zeros((cells.judges, cells.players), np.bool_)
    strength = others(cells, ~nobody).strength
    fitted = slopes(cells, nobody, strength, SPREADS)
    left = residuals(table, fitted.chances)
    noise = np.sqrt(np.bincount(table.judge, left**2) / np.maximum(np.bincount(table.judge), 1))
    left = left / np.where(noise > 1e-9, noise, np.inf)[table.judge]
    judge, first, other, games, _ = cells.held
    gap = strength[judge, first] - strength[judge, other]
    square = np.bincount(judge, games * gap**2, cells.judges)
    signal = np.bincount(judge, games * gap * (fitted.chances(judge, first, other) - 0.5), cells.judges)
    follows = np.divide(signal, square, out=fitted.value[:, 0] / 4, where=square > 1e-9)
    discernment = np.divide(follows, noise, out=np.zeros(len(noise)), where=noise > 1e-9)
    heard = cells.votes > 0
    median = max(float(np.median(discernment[heard])), 0.01) if heard.any() else 1.0
    discernment = discernment / median
    together = _products(table.answer, left)
    usual = _products(table.answer, discernment[table.judge])
    pairs = _products(table.answer, np.ones(len(left)))
    return Errors(discernment, noise, together / max(usual, 0.05 * pairs) if pairs else 0.0)


def _products(answer: Ints, value: Floats) -> float:
    """The sum of the products of every two marks of one answer."""
    total, own = np.bincount(answer, value), np.bincount(answer, value**2)
    return float((total**2 - own).sum())
