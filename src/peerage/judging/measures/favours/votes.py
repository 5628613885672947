"""Evidence of a judge's votes about an author beyond the strengths that all other judges see.

A judge's orders are held against the strengths of the authors as all the *other* judges see them, with a
slope and a bend of its own (how discerning it is, and where it gives out). What is left for an author is by
how many log-odds the judge prefers it beyond that, in the scale of the signed root of the likelihood ratio:
where an author nearly always wins, or loses, a score test (Rao 1948) says too much or too little.
"""

from __future__ import annotations

import math
from math import lgamma, log

import numpy as np

from peerage.judging.marks.comparisons import SPREADS, compared, in_orders
from peerage.judging.marks.marks import Marks, Votes
from peerage.judging.measures.favours.evidence import DULL, JUDGES, FavourScores, Mute, matched, median_of
from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.merging import coded
from peerage.ratings.fits.bradley_terry import PRIOR_GAMES
from peerage.ratings.fits.judges import Slopes, View, VoteCells, logistic, others, slopes


class VoteEvidence:
    """Votes, or marks of two answers at a time."""

    worth = 0.4  # a median is worth that share of a mean

    def __init__(self, given: Marks | Votes) -> None:
        table = compared(_in_order(given))
        self.judges, self.authors = table.judges, table.authors
        self.marks, self.undecided = table.marks, table.undecided
        self._cells, self._decided = table.orders
        held = self._cells.held
        self._cell = held.judge * self.marks.shape[1] + held.author
        self._many = np.maximum(self._summed(held.games), 1)
        self._squares_of = table.squares
        self.freedom = np.full(self.marks.shape, np.inf)
        self._heard = np.zeros(0, np.bool_)
        self._squares: Floats | None = None
        self._last: tuple[Flags, View] | None = None

    def _hear(self, heard: Flags) -> None:
        if not np.array_equal(heard, self._heard):
            self._heard, self._squares = heard, None

    def _squared(self) -> Floats:
        """The squares of what is left of votes where nobody is set aside."""
        if self._squares is None:
            nobody = np.zeros(self.marks.shape, np.bool_)
            fitted = slopes(self._cells, nobody, self._seen(nobody).strength, SPREADS)
            self._squares = self._squares_of(fitted.chances)
        return self._squares

    def spread(self, scores: FavourScores, kept: Flags, part: float) -> float:
        return matched(scores, kept, np.median, median_of(part))

    def mute(self, aside: Flags, heard: Flags) -> dict[int, Mute]:
        """Return those mute where they decided: who calls a tie unless sure is harsh, and no coin."""
        self._hear(heard)
        decided = self._decided
        fitted = slopes(decided, aside, self._seen(aside).strength, SPREADS)
        slope, error = fitted.value[:, 0], np.sqrt(fitted.inverse[:, 0, 0])
        asked = heard & (decided.votes > 0)
        if asked.sum() < JUDGES:
            return {}
        highest = slope + 1.96 * error
        dull = asked & (highest < DULL * float(np.median(slope[asked]))) & ~_partial(decided, fitted)
        return {at: "contrary" if highest[at] < 0 else "coin" for at in np.flatnonzero(dull).tolist()}

    def _seen(self, aside: Flags) -> View:
        trusted = ~aside & self._heard[:, None]
        if self._last is None or not np.array_equal(self._last[0], trusted):
            self._last = trusted, others(self._cells, trusted)
        return self._last[1]

    def scores(self, aside: Flags, heard: Flags, tested: Flags) -> FavourScores:
        self._hear(heard)
        squares = self._squared()
        view, held = self._seen(aside), self._cells.held
        fitted = slopes(self._cells, aside, view.strength, SPREADS)
        chance = fitted.chances(*held[:3])
        weight = held.games * chance * (1 - chance)
        gap = fitted.columns[held.judge, held.author] - fitted.columns[held.judge, held.other]
        apart = ~aside[held.judge, held.other]
        versus, among = weight * apart, weight * (apart & ~aside[held.judge, held.author])
        noise = (squares * ~aside).sum(axis=1) / np.maximum(self._summed(among).sum(axis=1), 1e-9)
        noise = np.maximum(noise, 0.05)[:, None]
        with_own, drawn = self._gaps(versus, gap), self._gaps(among, gap)
        explained = with_own @ fitted.inverse
        lost = (explained * with_own).sum(axis=2)
        information = self._summed(versus)
        # a pair that entered the judge's slope has drawn it towards itself; one set aside has not
        variance = noise * (information + np.where(aside, lost, -lost))
        # tastes for the other authors have drawn the slope by which a pair set aside is judged
        tastes = np.swapaxes(drawn * ~aside[:, :, None], 1, 2) @ drawn
        by_slope = np.einsum("jac,jcd,jad->ja", explained, tastes, explained)
        spread = np.where(aside, np.sqrt(information**2 + by_slope), np.maximum(information - lost, 0.0))
        effect, part = self._effects(chance, aside, information)
        doubt = _doubt(
            self._cells,
            view=view,
            tested=tested,
            versus=versus,
            information=information,
            explained=explained,
            drawn=drawn,
            steepness=fitted.value[:, :1] + 2 * fitted.value[:, 1:] * view.strength,
        )
        return FavourScores(
            effect * information * part,
            spread * part,
            np.maximum(variance, 0.0) * part + doubt * part**2 + 1e-12,
            np.zeros_like(variance),
            self._summed((held.points - held.games * chance) * apart) / self._many,
        )

    def _summed(self, values: Floats) -> Floats:
        """Return sums over the cells that hold votes, for each judge and author."""
        sums = np.bincount(self._cell, values, self.marks.size)
        return np.asarray(sums, np.float64).reshape(self.marks.shape)

    def _gaps(self, weight: Floats, gap: Floats) -> Floats:
        """Return how far each author is from the others by columns: weighted sums of their gaps."""
        return np.stack([self._summed(weight * column) for column in gap.T], axis=-1)

    def _effects(self, chance: Floats, aside: Flags, information: Floats) -> tuple[Floats, Floats]:
        """By how many log-odds each judge prefers each author's answers beyond the chances expected, drawn to
        none by one tied game; and which part of the information expected those votes held."""
        held, shape = self._cells.held, self.marks.shape
        kept = ~aside[held.judge, held.other]
        cell, games, points, seen = self._cell[kept], held.games[kept], held.points[kept], chance[kept]
        odds = np.log(seen / (1 - seen))

        def summed(values: Floats) -> Floats:
            return np.asarray(np.bincount(cell, values, shape[0] * shape[1]), np.float64)

        effect = np.zeros(shape[0] * shape[1])
        for _ in range(15):
            alone, now = logistic(effect), logistic(odds + effect[cell])
            slope = summed(points - games * now) + PRIOR_GAMES * (0.5 - alone)
            curve = summed(games * now * (1 - now)) + PRIOR_GAMES * alone * (1 - alone)
            step = np.clip(slope / curve, -1, 1)
            effect += step
            if np.abs(step).max(initial=0.0) < 1e-6:
                break
        more = np.logaddexp(0, odds + effect[cell]) - np.logaddexp(0, odds)
        gained = 2 * np.maximum(effect * summed(points) - summed(games * more), 0.0)
        effect, gained = effect.reshape(shape), gained.reshape(shape)
        square = effect**2 * information
        return effect, np.divide(gained, square, out=np.ones(shape), where=square > 1e-9)


@one_thread
def _doubt(
    cells: VoteCells,
    *,
    view: View,
    tested: Flags,
    versus: Floats,
    information: Floats,
    explained: Floats,
    drawn: Floats,
    steepness: Floats,
) -> Floats:
    """Return how uncertain the others' view makes the scores of the pairs that are tested, as a variance: to
    solve for every pair would take all time. `versus` weighs the cells that hold votes."""
    held, doubt, (judges, authors) = cells.held, np.zeros(tested.shape), np.nonzero(tested)
    row, asked = np.zeros(tested.shape, np.int64), tested[held.judge, held.author]
    row[judges, authors] = np.arange(len(judges))
    change = np.zeros((len(judges), cells.players))
    change[row[held.judge[asked], held.author[asked]], held.other[asked]] = -versus[asked]
    change[row[judges, authors], authors] += information[judges, authors]
    for judge in np.unique(judges).tolist():
        own = slice(*np.searchsorted(judges, (judge, judge + 1)))
        moved = (change[own] - explained[judge, authors[own]] @ drawn[judge].T) * steepness[judge]
        reach = np.linalg.solve(view.information[judge], moved.T).T
        doubt[judge, authors[own]] = np.maximum((reach * moved).sum(axis=1), 0.0)
    return doubt


def _in_order(given: Marks | Votes) -> Marks | Votes:
    """Return what was given, without the pairs of players who beat each other in circles: no strengths
    explain those, and who judged them is not to blame."""
    votes = given if isinstance(given, Votes) else in_orders(given)
    history, match = votes.history, coded(votes.matches)[1]
    circular = circles(history, match)
    if not circular:
        return given
    apart = np.zeros((history.players, history.players), np.bool_)
    for circle in circular:
        for player, next_one in zip(circle, (*circle[1:], circle[0]), strict=True):
            apart[player, next_one] = apart[next_one, player] = True
    left = apart[history.first, history.second]
    if isinstance(given, Marks):
        going = np.zeros(len(given.contests), np.bool_)
        going[votes.matches[left]] = True
        return given.only(~going[given.contest])
    kept = ~left
    return given._replace(
        history=history.only(kept),
        judge=given.judge[kept],
        matches=given.matches[kept],
        shown=given.shown[kept],
    )


def _partial(decided: VoteCells, fitted: Slopes) -> Flags:
    """The judges that take sides for some authors or against them, whatever their slope: what a coin gives
    each author scatters no more than chance does (Pearson's χ², at 99%; more where the median judge's does),
    and who prefers its family is no coin."""
    held, chance, shape = decided.held, fitted.chances(*decided.held[:3]), fitted.seen.shape
    left, noise = (
        np.bincount(held.judge * shape[1] + held.author, values, math.prod(shape)).reshape(shape)
        for values in (held.points - held.games * chance, held.games * chance * (1 - chance))
    )
    known = (noise > 1e-9).sum(axis=1)
    squares = np.divide(left**2, noise, out=np.zeros_like(noise), where=noise > 1e-9).sum(axis=1)
    free = np.maximum(known - 2.0, 1.0)
    spread = 2 / (9 * free)  # of the cube root (Wilson, Hilferty 1931)
    most = (1 - spread + 2.33 * np.sqrt(spread)) ** 3
    ratio = squares * (1 - 1 / np.maximum(known, 2)) / free
    return np.asarray(
        ratio > most * max(1.0, float(np.median(ratio[known > 2])) if (known > 2).any() else 1.0)
    )


_LEVEL = 0.05


def circles(history: Duels, match: Ints) -> list[tuple[int, int, int]]:
    """Return the circles of a history: three players by number, each of whom beats the next and the last the
    first. No strengths explain those, and judges who saw some of them look as if they favoured somebody: in a
    third of simulated arenas of six players with a circle an honest judge was accused. `match` numbers what
    each duel is of, from 0, and what was said of two players in one match counts once, by its majority.
    The chance that any is found where there is none is `_LEVEL`.

    A circle is three claims, that each is more likely to win than to lose against the next. Where nothing
    goes round one of them is false, whatever the others are and however unequal judges and players: so three
    sign tests, and the largest of their p is the circle's (Berger, "Multiparameter hypothesis testing and
    acceptance sampling", Technometrics 1982). It is multiplied by the number of circles tested: those whose
    pairs met often enough to be found at all (Tarone, "A modified Bonferroni method for discrete data",
    Biometrics 1990).
    """
    n = history.players
    wins = _wins(history, match)
    met = wins + wins.T
    ahead = wins > met / 2
    for fewest in range(1, 64):
        often = (met >= fewest).astype(np.float64)
        tested = max(float(np.trace(often @ often @ often) / 3), 1.0)  # each way round
        if tested <= _LEVEL * 2.0**fewest:
            break
    p = np.ones((n, n))
    testable = ahead & (met >= fewest)
    for many in np.unique(met[testable]).tolist():
        here = testable & (met == many)
        p[here] = _at_least(many)[wins[here]]
    sure = p * tested <= _LEVEL
    listed: list[tuple[int, int, int]] = []
    for first in np.flatnonzero(sure.any(axis=1)).tolist():
        # the lowest number comes first, so that each circle is seen once
        near = np.flatnonzero(sure[first] & (np.arange(n) > first))
        far = np.flatnonzero(sure[:, first] & (np.arange(n) > first))
        for two, three in np.argwhere(sure[np.ix_(near, far)]).tolist():
            listed.append((first, int(near[two]), int(far[three])))
    return listed


def _wins(history: Duels, match: Ints) -> Ints:
    """[i, j] counts matches that i won against j."""
    n = history.players
    low, high = np.minimum(history.first, history.second), np.maximum(history.first, history.second)
    side = np.where(history.first == low, 1.0, -1.0)
    cells, place = np.unique((match * n + low) * n + high, return_inverse=True)
    net = np.bincount(place, side * history.weight * (history.score - 0.5), len(cells))
    i, j = cells // n % n, cells % n
    wins = np.zeros((n, n), np.int64)
    even = 1e-9  # sums of weights that cancel
    np.add.at(wins, (i[net > even], j[net > even]), 1)
    np.add.at(wins, (j[net < -even], i[net < -even]), 1)
    return wins


def _at_least(many: int) -> Floats:
    """The chance of at least 0, 1, … `many` heads in so many tosses of a coin."""
    chances = [lgamma(many + 1) - lgamma(k + 1) - lgamma(many - k + 1) for k in range(many + 1)]
    return np.asarray(np.minimum(np.cumsum(np.exp(np.array(chances[::-1]) - many * log(2)))[::-1], 1.0))
