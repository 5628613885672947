"""Bradley-Terry in which each judge has a reliability of its own.

    P(judge j prefers a to b) = 1 / (1 + exp(-g_j (s_a - s_b)))

g_j = 1 is a judge of average discernment, 0 one who tosses a coin, below 0 one who prefers the worse. It is
CrowdBT's worker quality (Chen, Bennett, Collins-Thompson, Horvitz, WSDM 2013) on the log-odds scale.

A likelihood of strengths and reliabilities together has a second summit, where two judges who praise each
other are the only ones that discern; where skills differ little it is the higher one. So nobody vouches for
itself here: a judge's g is the slope of its votes on the strengths that all *other* judges see, relative to
the mean slope, and drawn towards it: most judges are ordinary. The ratings are then fitted with those
reliabilities. A tie is half a win each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.merging import coded
from peerage.ratings.columns.tally import PairTally, tally
from peerage.ratings.fits.bradley_terry import PRIOR_GAMES, solve
from peerage.ratings.fits.clusters import Curves, clustered
from peerage.ratings.table import POINTS, Z95, RatingRow, rows_of, t_quantile

_CELLS = 200_000
"""Cells of judges and two players that are worked on at once: what fits the processor's cache."""
_CHORDS = 8  # steps by everybody's information, which is near that of all but one judge of many
SPREAD = 0.5
"""Prior standard deviation of reliabilities around their mean, as a part of it."""


class HeldCells(NamedTuple):
    """Cells that hold votes of a `judge` on an `author` against another player: how many, and its points."""

    judge: Ints
    author: Ints
    other: Ints
    games: Floats
    points: Floats

    def only(self, kept: NDArray[np.bool_]) -> HeldCells:
        """Return some of the cells."""
        players = self.judge[kept], self.author[kept], self.other[kept]
        return HeldCells(*players, self.games[kept], self.points[kept])

    def both(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which cells have both players among `which` of their judge, of shape (judges, players)."""
        return np.asarray(which[self.judge, self.author] & which[self.judge, self.other])


@dataclass(frozen=True, eq=False)
class VoteCells:
    """Votes by judge, player and other player, each counted both ways: of those cells that hold any, for most
    judges never saw most pairs, how many (or their weight), and how many for the former, a tie being half a
    one. In the order of judge and players."""

    judges: int
    players: int
    held: HeldCells

    @classmethod
    def of(cls, judges: int, players: int, cell: Ints, games: Floats, points: Floats) -> VoteCells:
        """Return the sums of columns by `cell`, (judge · players + one) · players + other."""
        known, place = np.unique(cell, return_inverse=True)
        many, games, points = max(players, 1), _summed(place, games), _summed(place, points)
        held = HeldCells(known // many // many, known // many % many, known % many, games, points)
        return cls(judges, players, held.only(held.games > 0))

    @cached_property
    def pairs(self) -> HeldCells:
        """Return the cells with each pair of players once."""
        return self.held.only(self.held.author < self.held.other)

    @property
    def votes(self) -> Floats:
        """Return the votes of each judge, counted both ways."""
        return _summed(self.held.judge, self.held.games, self.judges)


def _summed(place: Ints, column: Floats, size: int = 0) -> Floats:
    return np.bincount(place, column, size).astype(np.float64)


class View(NamedTuple):
    """The strengths of all players in the eyes of all judges but one, for each judge: shape (judges,
    players) in log-odds, mean 0; and what is known of them under a prior of one tied game each."""

    strength: Floats
    information: Floats


class Slopes(NamedTuple):
    """Each judge's votes on what the others see: `value` the slope and its bend, `inverse` their covariance,
    `columns` what the slopes multiply: a player's strength, and its square."""

    value: Floats
    inverse: Floats
    columns: Floats

    @property
    def seen(self) -> Floats:
        """The strengths as each judge takes them to be: shape (judges, players)."""
        return np.asarray((self.columns @ self.value[:, :, None])[:, :, 0])

    def chances(self, judge: Ints, first: Ints, other: Ints) -> Floats:
        """Return the chances that judges prefer one player to another."""
        return logistic(self.seen[judge, first] - self.seen[judge, other])


def counted(history: Duels, judge: Ints, judges: int) -> VoteCells:
    """The votes of a history by judge and players."""
    n, sides = history.players, ((history.first, history.second), (history.second, history.first))
    cell = np.concatenate([(judge * n + first) * n + other for first, other in sides])
    won = history.weight * history.score
    return VoteCells.of(
        judges, n, cell, games=np.tile(history.weight, 2), points=np.concatenate([won, history.weight - won])
    )


def logistic(gap: Floats) -> Floats:
    values = np.clip(gap, -30, 30)  # in place: large arrays are what all time goes to
    np.exp(np.negative(values, out=values), out=values)
    return np.divide(1, np.add(values, 1, out=values), out=values)


@one_thread
def others(cells: VoteCells, trusted: np.ndarray) -> View:
    """Return the view of all other judges, for each judge; a vote counts where both its players are
    `trusted` with the judge, a matrix of judges and players."""
    held, n = cells.pairs.only(cells.pairs.both(trusted)), cells.players
    met, place = np.unique(held.author * n + held.other, return_inverse=True)
    pairs = np.divmod(met, max(n, 1))
    all_games, all_points = (_summed(place, column, len(met)) for column in (held.games, held.points))
    near = _climbed(pairs, all_games[None], all_points[None], np.zeros((1, n)))  # what everybody sees
    inverse = np.linalg.inv(near.information[0])
    view = View(near.strength.repeat(len(trusted), axis=0), np.empty((len(trusted), n, n)))
    step = max(1, _CELLS // max(len(met), n * n, 1))
    for first in range(0, len(trusted), step):
        rows = slice(first, first + step)
        own = slice(*np.searchsorted(held.judge, (first, first + step)))
        games, points = (np.tile(column, (len(trusted[rows]), 1)) for column in (all_games, all_points))
        cell = held.judge[own] - first, place[own]
        games[cell] -= held.games[own]
        points[cell] -= held.points[own]
        view.strength[rows], view.information[rows] = _climbed(
            pairs, games, points, view.strength[rows], inverse
        )
    return view


def _climbed(
    pairs: tuple[Ints, Ints], games: Floats, points: Floats, strength: Floats, inverse: Floats | None = None
) -> View:
    """The views of those who see these votes on `pairs` of players, a row each, from a strength to begin
    with; the points are those of the first of a pair. An `inverse` of information near all of theirs, where
    one judge of many is left out, spares most of the solving."""
    first, other = pairs
    rows, n = strength.shape
    of = np.arange(rows)[:, None] * n
    information = np.zeros((rows, n, n))
    for turn in range(_CHORDS + 30):
        chance = logistic(strength[:, first] - strength[:, other])
        alone = logistic(strength)
        expected = games * chance
        pull = (points - expected).ravel()
        won, lost = (np.bincount((of + side).ravel(), pull, rows * n) for side in pairs)
        gradient = (won - lost).reshape(rows, n) + PRIOR_GAMES * (0.5 - alone)
        chord = inverse if turn < _CHORDS else None
        if chord is not None:
            step = gradient @ chord
        else:
            known = _information(pairs, expected * (chance - 1), alone, information)
            step = np.asarray(np.linalg.solve(known, gradient[:, :, None])[:, :, 0], np.float64)
        strength = strength + np.clip(step, -1, 1)
        if np.abs(step).max(initial=0.0) < (1e-5 if chord is None else 1e-7):
            break
    return View(
        strength - strength.sum(axis=1, keepdims=True) / max(n, 1),
        _information(pairs, expected * (chance - 1), alone, information),
    )


def _information(pairs: tuple[Ints, Ints], curve: Floats, alone: Floats, into: Floats) -> Floats:
    """Return the information on strengths, a matrix a row, with that of the prior."""
    (first, other), players = pairs, range(into.shape[1])
    into[:, first, other] = into[:, other, first] = curve
    into[:, players, players] = 0.0
    into[:, players, players] = PRIOR_GAMES * alone * (1 - alone) - into.sum(axis=2)
    return into


def slopes(cells: VoteCells, aside: np.ndarray, strength: Floats, spreads: Floats) -> Slopes:
    """Each judge's logistic slope on these strengths, its own row each, and with a second of `spreads`, the
    priors' standard deviations around 1 and 0, a bend: a slope on their squares. Votes on players `aside`
    for a judge say nothing about its slope."""
    columns = np.stack([strength, strength**2][: len(spreads)], axis=-1)
    usual, precision = np.array([1.0, 0.0])[: len(spreads)], np.diag(spreads**-2.0)
    judge, first, other, games, points = cells.pairs.only(cells.pairs.both(~aside))
    gap = columns[judge, first] - columns[judge, other]
    square = gap[:, :, None] * gap[:, None, :]
    heard, start = np.unique(judge, return_index=True)
    value = np.tile(usual, (len(strength), 1))
    left, known = np.zeros(value.shape), np.zeros((*value.shape, len(spreads)))
    for _ in range(40):
        chance = logistic((gap * value[judge]).sum(axis=1))
        left[heard] = np.add.reduceat(gap * (points - games * chance)[:, None], start)
        known[heard] = np.add.reduceat(square * (games * chance * (1 - chance))[:, None, None], start)
        information = known + precision
        step = np.linalg.solve(information, (left - (value - usual) @ precision)[:, :, None])[:, :, 0]
        value = value + np.clip(step, -0.5, 0.5)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    return Slopes(value, np.asarray(np.linalg.inv(information)), columns)


@dataclass(frozen=True)
class JudgeAware:
    """Ratings (mean 1500, 400 points a decade for the average judge) and judges' reliabilities. `freedom` is
    as in `bradley_terry.BradleyTerry`."""

    rating: Floats
    covariance: Floats
    freedom: Floats | None
    games: Floats
    judges: tuple[str, ...]
    reliability: Floats
    reliability_error: Floats
    votes: Floats
    connected: bool

    @property
    def error(self) -> Floats:
        """Standard error of each rating, in points."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0)))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """The ratings' 95% intervals; nan where too little is known."""
        wide = Z95 if self.freedom is None else t_quantile(0.95, np.diag(self.freedom))
        return self.rating - wide * self.error, self.rating + wide * self.error

    @cached_property
    def rows(self) -> tuple[RatingRow, ...]:
        """A line for each player, by number."""
        return rows_of(self.rating, *self.bounds, self.games)

    @property
    def listed(self) -> list[tuple[str, float, float, float, float]]:
        """Each judge's name, reliability, its 95% bounds, and number of votes."""
        wide = Z95 * self.reliability_error
        return [
            (name, float(g), float(g - w), float(g + w), float(votes))
            for name, g, w, votes in zip(self.judges, self.reliability, wide, self.votes, strict=True)
        ]


def fit(history: Duels, judge: Sequence[str], *, cluster: ArrayLike | None = None) -> JudgeAware:
    """Ratings and reliabilities from a history and who judged each row. `cluster` labels the rows that hang
    together (the votes of one match)."""
    if len(judge) != len(history):
        raise ValueError(f"there are {len(judge)} judges and {len(history)} rows")
    names, code = coded(judge)
    return fit_coded(history, names, code, cluster=cluster)


@one_thread
def fit_coded(
    history: Duels,
    judges: Sequence[str],
    judge: Ints,
    *,
    cluster: ArrayLike | None = None,
    aside: np.ndarray | None = None,
) -> JudgeAware:
    """As `fit`, with the judge of each row as a place in `judges`; who judged no row has reliability 1. The
    votes of a judge on a player that are `aside` (a matrix: a favour that was found) count for nothing. Of
    its judge a vote says as much whatever part of a match it weighs: reliabilities count whole votes."""
    n, m = history.players, len(judges)
    games = np.bincount(history.first, minlength=n) + np.bincount(history.second, minlength=n)
    votes = np.bincount(judge, minlength=m)
    left_out = np.zeros((m, n), np.bool_) if aside is None else aside
    kept = ~(left_out[judge, history.first] | left_out[judge, history.second])
    history = Duels(n, history.first, history.second, history.score, np.where(kept, history.weight, 0.0))
    cells = counted(history, judge, m)
    whole = replace(history, weight=(history.weight > 0).astype(np.float64))
    reliability, error = reliabilities(counted(whole, judge, m), left_out)
    strength, information, prior, connected = _climb(cells, np.maximum(reliability, 0.0))
    quality = np.maximum(reliability, 0.0)[judge]
    chance = logistic(quality * (strength[history.first] - strength[history.second]))
    slope = history.weight * quality * (history.score - chance)
    none = np.zeros((len(history), 0))
    weight = history.weight * quality**2 * chance * (1 - chance)
    curves = Curves(slope, none, weight, none, (none, none))
    alone = logistic(strength)
    hold = max(float(np.trace(information)) / max(n, 1), 1e-300) / max(n, 1)
    posterior = information + (np.diag(prior * alone * (1 - alone)) if prior else hold)
    estimate = clustered(
        history,
        curves,
        [np.arange(len(history)) if cluster is None else cluster],
        information,
        posterior,
        prior > 0,
    )
    return JudgeAware(
        rating=1500 + strength * POINTS,
        covariance=estimate.covariance * POINTS**2,
        freedom=estimate.freedom,
        games=games.astype(np.float64),
        judges=tuple(judges),
        reliability=reliability,
        reliability_error=error,
        votes=votes.astype(np.float64),
        connected=connected,
    )


def reliabilities(cells: VoteCells, aside: np.ndarray) -> tuple[Floats, Floats]:
    """Return the discernment of each judge, 1 on average, with its standard error; votes on players `aside`
    for a judge do not count. All are 1 where nobody discerns."""
    share = cells.votes
    if not share.any():
        return np.ones(cells.judges), np.full(cells.judges, SPREAD)
    fitted = slopes(cells, aside, others(cells, ~aside).strength, np.array([10.0]))
    raw, variance = fitted.value[:, 0], fitted.inverse[:, 0, 0]
    seen = np.ones(len(raw))
    for _ in range(50 if (share > 0).sum() > 2 else 0):
        # what the others see is as steep as they are discerning
        own = share * raw * seen
        seen = np.maximum((own.sum() - own) / np.maximum(share.sum() - share, 1e-300), 0.05)
        seen = seen / (share @ seen / share.sum())
    raw, variance = raw * seen, variance * seen**2
    trust = (share > 0) / (variance + SPREAD**2)
    usual = max(float(trust @ raw / max(trust.sum(), 1e-300)), 1e-3)
    between = (SPREAD * usual) ** 2
    drawn = (raw / variance + usual / between) / (1 / variance + 1 / between)
    return drawn / usual, np.sqrt(1 / (1 / variance + 1 / between)) / usual


def _climb(cells: VoteCells, quality: Floats) -> tuple[Floats, Floats, float, bool]:
    """Strengths (mean 0) under these reliabilities, the information, the prior needed, and connectedness."""
    n = cells.players
    judge, a, b, games, points = cells.pairs
    slope = quality[judge]
    pairs, of = np.unique(a * n + b, return_inverse=True)
    won, lost = np.bincount(of, slope * points), np.bincount(of, slope * (games - points))
    first, second = np.divmod(pairs, max(n, 1))
    sums = np.stack([won, lost, np.zeros(len(won))])
    base = solve(PairTally(n, first, second, sums, sums, sums), "half")
    strength, prior = base.strength, base.prior
    information = np.zeros((n, n))
    for _ in range(100):
        chance, alone = logistic(slope * (strength[a] - strength[b])), logistic(strength)
        pull = slope * (points - games * chance)
        gradient = np.bincount(a, pull, n) - np.bincount(b, pull, n) + prior * (0.5 - alone)
        cell = np.bincount(a * n + b, games * slope**2 * chance * (1 - chance), n * n).reshape(n, n)
        cell = cell + cell.T
        information = np.diag(cell.sum(axis=1)) - cell
        hold = max(float(np.trace(information)) / max(n, 1), 1e-300) / max(n, 1)
        full = information + (np.diag(prior * alone * (1 - alone)) if prior else hold)
        step = np.linalg.solve(full, gradient)
        strength = strength + step * min(1.0, 1.0 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return strength - (strength.mean() if n else 0.0), information, prior, len(base.components) <= 1


def leaders_without(history: Duels, judge: Ints, judges: int) -> tuple[int | None, list[int | None]]:
    """Return who is first by all votes, by number, and without those of each of the `judges`; None where the
    votes left do not compare everybody. The first by all votes stays so until another is ahead."""
    whole = _first(history, np.ones(len(history), np.bool_), None)
    return whole, [_first(history, judge != at, whole) for at in range(judges)]


def _first(history: Duels, kept: NDArray[np.bool_], leader: int | None) -> int | None:
    solved = solve(tally(history.only(kept)), "half")
    if len(solved.components) != 1:
        return None
    first = int(np.argmax(solved.strength))
    near = leader is not None and solved.strength[first] - solved.strength[leader] < 1e-9
    return leader if near else first
