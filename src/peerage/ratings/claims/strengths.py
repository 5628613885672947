"""Bets on all strengths at once, one of the two kinds of `ratings.claims.proven`. Pure."""

from __future__ import annotations

from itertools import product
from math import log
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.claims.closing import closed
from peerage.ratings.claims.meetings import Meetings

THRESHOLD = 20.0
PRECISIONS = np.array([2.0, 8.0, 32.0])
"""λ: of strengths around those to be refuted, per squared log-odds."""
PARTS = np.array([0.6, 0.25, 0.15])
"""Part of the bet on all strengths at once that each precision has."""
TOGETHER = 0.75
"""Part of the capital that is bet on all strengths at once, where more than two players met."""
_HELD = 1e-4  # precision around 0, which keeps strengths finite where nobody ever lost
_LEVEL = 0.1  # likewise of s⁰: where somebody never lost, the least M is not at the best fit but near this
_STEPS, _LONGEST, _CLOSE = 40, 2.0, 1e-6  # of Newton's method: how many, the longest, the last
_LEVELLED = 1e-4  # likewise the last to s⁰: its square is what is left
_CHORDS = 25  # steps by the information at the best fit, which needs no solving
_PEAK_STEPS, _NEAR = 8, 0.005  # likewise to a peak; what is missed of its height is of second order
_MARGIN = 2.0  # of ln M, by which an estimate must be short of a claim, or beyond it
_PLACES = 128  # strengths at which two players are tried
_FEW, _KNOWN = 60, 20.0  # more players, and more information on both, for a claim by an estimate alone
_NEGLIGIBLE = 12.0  # of ln M: a precision that brings so much less than another
_LITTLE, _MOST = 1e-300, 700.0  # bounds of numbers, and of their logarithms
_AT_ONCE = 2_000_000  # numbers of matrices worked on at a time


class _Top(NamedTuple):
    """The best fit: `strength`, log-likelihood, information, and for each of `PRECISIONS` ½ ln det(1 + V/λ),
    the `doubt`."""

    strength: Floats
    value: float
    information: Floats
    doubt: Floats

    @property
    def known(self) -> Floats:
        """The information on each strength with all others held."""
        return np.diag(self.information)

    def covariance(self, precision: float) -> Floats:
        """The inverse of the information, with so much more on each strength."""
        whole = self.information + precision * np.eye(len(self.strength))
        return np.asarray(np.linalg.inv(whole), np.float64)

    def reach(self, gain: Floats, wider: Floats) -> Floats:
        """ln M as far as it goes without its peak, for each of `PRECISIONS`, from Λ and |Cc|²/v."""
        doubt = self.doubt.reshape(-1, *[1] * gain.ndim)
        return gain / (1 + PRECISIONS.reshape(doubt.shape) * wider) - doubt


class _PairPlaces(NamedTuple):
    """A `grid` of strengths, and there: with all others held, each player's log-likelihood (`value`) and
    information (`known`); ln(eˣ + eˢ) with each player's s (`losing`), and with each place as s (`both`)."""

    grid: Floats
    losing: Floats
    value: Floats
    known: Floats
    both: Floats


class _Level(NamedTuple):
    """Fits in which two players share one strength, an element each: the strengths of all, log-likelihood,
    its slope and information, and the `contrast` c."""

    strength: Floats
    value: Floats
    slope: Floats
    information: Floats
    contrast: Floats


class StrengthBets:
    """The likelihood of the strengths of those who have `met`: wins by weight, [i, j] those of i over j."""

    def __init__(self, met: Ints, bets: Meetings) -> None:
        n = self._players = len(met)
        self._eye = np.eye(n)
        self._above, self._below = np.searchsorted(met, bets.above), np.searchsorted(met, bets.below)
        self._share = bets.share
        self._cluster = None if bets.cluster is None else np.unique(bets.cluster, return_inverse=True)[1]
        self._wins = (
            np.bincount(self._above * n + self._below, self._share, n * n).reshape(n, n).astype(float)
        )
        self._met = self._wins + self._wins.T
        self._pairs = np.nonzero(np.triu(self._met))

    def ratios(self, capital: Floats, *, all_pairs: bool) -> Floats:
        """M of each pair, [i, j] for i above j, or a bound that is too low for a claim; 0 where the `capital`
        of other bets is enough and, unless `all_pairs`, where a claim follows from others."""
        top = self._top()
        needed = np.log(np.maximum(THRESHOLD - capital, _LITTLE) / TOGETHER)
        logs, wanted = np.zeros_like(capital), np.zeros(capital.shape, np.bool_)
        i, j = np.nonzero((top.strength[:, None] > top.strength) & (capital < THRESHOLD))
        estimate, sure = self._estimated(i, j, top)
        short = estimate < needed[i, j] - _MARGIN
        open_still = ~short & ~(sure & (estimate > needed[i, j] + _MARGIN))
        logs[i, j] = np.where(open_still, 0.0, np.exp(np.minimum(estimate, _MOST)))
        wanted[i, j] = open_still
        place = np.argsort(np.argsort(-top.strength, kind="stable"))
        apart = place - place[:, None]
        claimed = TOGETHER * logs + capital >= THRESHOLD
        near = 1
        while (wanted & (apart >= near)).any():  # neighbours first: most others follow from them
            far = len(apart) if all_pairs else 2 * near
            if not all_pairs:
                claimed = closed(claimed)
                wanted &= ~claimed
            i, j = np.nonzero(wanted & (apart >= near) & (apart < far))
            at_once = max(1, _AT_ONCE // len(apart) ** 2)
            for at in range(0, len(i), at_once):
                a, b = i[at : at + at_once], j[at : at + at_once]
                logs[a, b] = np.exp(
                    np.minimum(self._of_pairs(a, b, needed[a, b], top, all_pairs=all_pairs), _MOST)
                )
            claimed[i, j] = TOGETHER * logs[i, j] + capital[i, j] >= THRESHOLD
            near = far
        return logs

    def _at(self, strength: Floats) -> tuple[Floats, Floats]:
        """The log-likelihood's slope and the information at many places, of shape (places, players)."""
        up = np.exp(strength)
        chance = up[:, :, None] + up[:, None, :]
        np.divide(up[:, :, None], chance, out=chance)
        information = self._met * chance
        slope = self._wins.sum(axis=1) - information.sum(axis=2)
        chance -= 1
        information *= chance
        information[:, range(self._players), range(self._players)] -= information.sum(axis=2)
        return slope, information

    def _slope(self, strength: Floats) -> Floats:
        """The log-likelihood's slope at many places."""
        up = np.exp(strength)
        pull = up[:, :, None] + up[:, None, :]
        np.divide(self._met, pull, out=pull)
        return np.asarray(self._wins.sum(axis=1) - up * pull.sum(axis=2))

    def _value(self, strength: Floats) -> Floats:
        """The log-likelihood at many places."""
        i, j = self._pairs
        up = np.exp(strength)
        return np.asarray(strength @ self._wins.sum(axis=1) - np.log(up[:, i] + up[:, j]) @ self._met[i, j])

    def _top(self) -> _Top:
        strength = np.zeros((1, self._players))
        for _ in range(_STEPS):
            slope, information = self._at(strength)
            step = _solved(information + _HELD * self._eye, slope - _HELD * strength)
            step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), _LITTLE))
            strength = strength + step
            if np.abs(step).max() < _CLOSE:
                break
        _, information = self._at(strength)
        spread = np.maximum(np.linalg.eigvalsh(information[0]), 0.0)
        doubt = np.log1p(spread / PRECISIONS[:, None]).sum(axis=1) / 2
        return _Top(strength[0], float(self._value(strength)[0]), information[0], doubt)

    def _estimated(self, i: Ints, j: Ints, top: _Top) -> tuple[Floats, np.ndarray]:
        """ln M of claims, had no strength but the two players' room to move, times what the others' room
        takes of a gain; and which of these are off by less than `_MARGIN`: a claim can be made."""
        strength, covariance = top.strength, top.covariance(_HELD)
        own, cross = np.diag(covariance), top.information[i, j]
        a, b = top.known[i] + _HELD, top.known[j] + _HELD
        left = (a + b + 2 * cross) / (a * b - cross**2) / (own[i] + own[j] - 2 * covariance[i, j])
        few = self._players <= _FEW
        if few:  # no more than what cannot be a claim is left out
            left = np.maximum(left, 1.0)
        grid = np.linspace(strength.min(initial=0.0), strength.max(initial=0.0), _PLACES)
        chance, losing = _chance(grid[:, None] - strength), np.logaddexp(grid, strength[:, None])
        places = _PairPlaces(
            grid=grid,
            losing=losing,
            value=self._wins.sum(axis=1)[:, None] * grid - self._met @ losing,
            known=self._met @ (chance * (1 - chance)).T + _HELD,
            both=np.logaddexp(grid[:, None], grid),
        )
        logs, firm, step = np.zeros(len(i)), np.zeros(len(i)), _AT_ONCE // 20 // _PLACES
        for some in [slice(at, at + step) for at in range(0, len(i), step)]:
            logs[some], firm[some] = self._alone(i[some], j[some], left[some], top, places)
        return logs, (firm > _KNOWN) & (not few and self._cluster is None)

    def _alone(self, i: Ints, j: Ints, left: Floats, top: _Top, places: _PairPlaces) -> tuple[Floats, Floats]:
        """ln M of some pairs with all others held, where so much is `left` of a gain; and the lesser
        information on the two where they are level."""
        grid, losing, value, known, both = places
        pairs, met = np.arange(len(i)), self._met[i, j][:, None]
        won, lost = self._wins[i, j][:, None], self._wins[j, i][:, None]
        ours, theirs = value[i] - won * grid + met * losing[j], value[j] - lost * grid + met * losing[i]
        level = (ours + theirs).argmax(axis=1)  # at one strength their own matches are worth as much
        least = (ours + theirs)[pairs, level] - met[:, 0] * log(2)
        ours, theirs = ours + won * grid, theirs + lost * grid
        a, b = known[i, level], known[j, level]
        variance, squares = 1 / a + 1 / b, 1 / a**2 + 1 / b**2
        logs = []
        for precision, doubt, part in zip(PRECISIONS, top.doubt, PARTS, strict=True):
            held, up, down = precision / 2 * (grid - grid[level][:, None]) ** 2, level, level
            for _ in range(3):
                up = (ours - held - met * both[down]).argmax(axis=1)
                down = (theirs - held - met * both[up]).argmax(axis=1)
            gain = ours[pairs, up] + theirs[pairs, down] - met[:, 0] * both[up, down] - least
            gain -= held[pairs, up] + held[pairs, down]
            share = (
                variance**2 / (variance + precision * squares) / (1 / (a + precision) + 1 / (b + precision))
            )
            there, here = (known[i, up], known[j, down]), (top.known[i], top.known[j])
            more = sum(np.log(precision + at) for at in there) - sum(np.log(precision + at) for at in here)
            logs.append(share * gain * left - doubt - more / 2 + log(part))
        return np.asarray(np.logaddexp.reduce(logs)), np.minimum(a, b)

    def _of_pairs(self, i: Ints, j: Ints, needed: Floats, top: _Top, *, all_pairs: bool) -> Floats:
        """ln M of the claims that each of `i` is above each of `j`, or a bound: that is short of `needed`,
        or that is as much, unless `all_pairs`."""
        pairs = np.arange(len(i))
        contrast = np.zeros((len(i), self._players))
        contrast[pairs, i], contrast[pairs, j] = 1.0, -1.0
        strength = self._level(i, j, contrast, top)
        value, (slope, information) = self._value(strength), self._at(strength)
        level = _Level(strength, value, slope, information, contrast)
        across = _solved(information + _HELD * self._eye, contrast)
        variance = (contrast * across).sum(axis=1)
        effect = self._design(across, variance, strength)
        wider = (across**2).sum(axis=1) / variance
        reach = top.reach(np.maximum(top.value - value, 0.0) / effect, wider)
        best = reach.max(axis=0)
        logs = np.minimum(best, needed - _MARGIN)
        near = np.flatnonzero(best > needed - _MARGIN)
        peaks = np.full((len(PRECISIONS), len(i)), -np.inf)
        promising = np.argsort(-reach, axis=0)
        for place, row in product(range(len(PRECISIONS)), range(len(PRECISIONS))):
            some = near[(promising[place, near] == row) & (reach[row, near] > best[near] - _NEGLIGIBLE)]
            if not all_pairs:  # of a claim no more is wanted than that it is one
                some = some[np.logaddexp.reduce(peaks[:, some], axis=0) < needed[some]]
            if len(some):
                precision, part = float(PRECISIONS[row]), _Level(*[column[some] for column in level])
                gain, doubt = self._peak(part, precision, top)
                shrunk = _solved(part.information + precision * self._eye, part.contrast)
                across_peak = (part.contrast * shrunk).sum(axis=1)
                share = variance[some] / (1 + precision * wider[some]) / across_peak
                peaks[row, some] = share * gain / effect[some] - doubt + log(PARTS[row])
        logs[near] = np.logaddexp.reduce(peaks[:, near], axis=0)
        return np.where(slope[pairs, i] > slope[pairs, j], logs, -np.inf)

    def _level(self, i: Ints, j: Ints, contrast: Floats, top: _Top) -> Floats:
        """The best fits in which each of `i` is as strong as each of `j`; shape (pairs, players)."""
        pairs = np.arange(len(i))
        level = np.tile(top.strength, (len(i), 1))
        a, b = top.known[i] + _CLOSE, top.known[j] + _CLOSE
        level[pairs, i] = level[pairs, j] = (a * top.strength[i] + b * top.strength[j]) / (a + b)
        covariance, going = top.covariance(_LEVEL), pairs
        for turn in range(_CHORDS + _STEPS):
            there, toward = level[going], contrast[going]
            if turn < _CHORDS:
                free, across = (self._slope(there) - _LEVEL * there) @ covariance, toward @ covariance
            else:
                slope, information = self._at(there)
                both = np.stack([slope - _LEVEL * there, toward], axis=2)
                free, across = np.moveaxis(np.linalg.solve(information + _LEVEL * self._eye, both), 2, 0)
            share = (toward * free).sum(axis=1) / (toward * across).sum(axis=1)
            step = free - share[:, None] * across
            longest = np.abs(step).max(axis=1)
            level[going] += step * np.minimum(1.0, _LONGEST / np.maximum(longest, _LITTLE))[:, None]
            going = going[longest >= _LEVELLED]
            if not len(going):
                break
        return level

    def _peak(self, level: _Level, precision: float, top: _Top) -> tuple[Floats, Floats]:
        """The greatest ℓ(s) - ℓ(s⁰) - λ/2 |s - s⁰|², and ½ ln det(1 + V/λ) there."""
        covariance, going = top.covariance(precision), np.arange(len(level.strength))
        moved = (top.strength - level.strength) @ (self._eye - precision * covariance)
        for turn in range(_CHORDS + _PEAK_STEPS):
            so_far, there = moved[going], level.strength[going] + moved[going]
            if turn < _CHORDS:
                step = (self._slope(there) - precision * so_far) @ covariance
            else:
                slope, information = self._at(there)
                step = _solved(information + precision * self._eye, slope - precision * so_far)
            longest = np.abs(step).max(axis=1)
            moved[going] += step * np.minimum(1.0, _LONGEST / np.maximum(longest, _LITTLE))[:, None]
            going = going[longest >= _NEAR]
            if not len(going):
                break
        _, information = self._at(level.strength + moved)
        gain = self._value(level.strength + moved) - level.value - precision / 2 * (moved**2).sum(axis=1)
        return np.maximum(gain, 0.0), np.linalg.slogdet(self._eye + information / precision)[1] / 2

    def _design(self, across: Floats, variance: Floats, level: Floats) -> Floats:
        """The design effect of each contrast."""
        if self._cluster is None:
            return np.ones(len(across))
        squares = np.zeros(len(across))
        for pair, (toward, strength) in enumerate(zip(across, level, strict=True)):
            surprise = self._share * _chance(strength[self._below] - strength[self._above])
            each = surprise * (toward[self._above] - toward[self._below])
            squares[pair] = (np.bincount(self._cluster, each) ** 2).sum()
        return np.maximum(squares / variance, 1.0)


def _chance(gap: Floats) -> Floats:
    """The chance to win with so many log-odds more."""
    return np.asarray(1 / (1 + np.exp(np.minimum(-gap, 690.0))))


def _solved(matrix: Floats, right: Floats) -> Floats:
    """The solutions of many systems of equations, one a row."""
    return np.asarray(np.linalg.solve(matrix, right[:, :, None])[:, :, 0])
