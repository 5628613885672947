"""Draws from the posterior of strengths: short chains side by side.

For a few spreads τ the posterior's top is climbed, and the normal there (Laplace) is where chains start and
by which they step: Hamiltonian Monte Carlo (Neal, "MCMC using Hamiltonian dynamics", 2011) over strengths and
ln ν given τ and the share q, both of which are then drawn given the strengths. Strengths and τ are also
scaled together, which leads out of the funnel near τ = 0 (Yu and Meng, JCGS 2011).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.strength import prior
from peerage.ratings.strength.likelihood import Counts

CHAINS = 32
WARM, KEPT = 12, 16
"""Sweeps before the first that is kept, and those kept."""
DENSE = 300
"""Players up to whom chains step by the whole covariance; with more, by each player's own information."""
_LEAPS = 4
_FREE = 60  # players from whom on steps are shorter, as their number's fourth root
_GRID = 41  # spreads among which one is drawn
_CELLS = 10_000  # strengths whose density is worked out at once: what fits the processor's cache
_WIDE = 0.14  # steps of that grid, in ln τ, at most
_ANCHORS = np.geomspace(0.02, 6.0, 9)


class Draws(NamedTuple):
    """Draws, one a column: `strength` in log-odds, shape (players, draws), `tie` = ln ν, `spread` τ and
    `share` q, shape (draws,)."""

    strength: Floats
    tie: Floats
    spread: Floats
    share: Floats


class Normal(NamedTuple):
    """Laplace's normal at one spread: top, a root of the covariance (or of its diagonal, shape (players,)),
    and the same of ln ν."""

    spread: float
    strength: Floats
    root: Floats
    tie: float
    tie_width: float
    log_weight: float


class Start(NamedTuple):
    """The starts of chains and the `normals` by which they step, each for spreads near its own, in order."""

    strength: Floats
    spread: Floats
    normals: tuple[Normal, ...]


def draws(counts: Counts, rng: np.random.Generator, start: Start | None = None) -> Draws:
    """Draws from the posterior, chains x KEPT of them, the chains as many as start; by default CHAINS from
    the mixture of Laplace's normals."""
    state = _State(counts, rng, _start(counts, rng) if start is None else start)
    kept: list[Draws] = []
    for sweep in range(WARM + KEPT):
        state.leap()
        state.scale()
        state.set_spread()
        state.set_share()
        if sweep >= WARM:
            kept.append(
                Draws(state.strength.copy(), state.tie.copy(), state.spread.copy(), state.share.copy())
            )
    return Draws(*(np.concatenate(column, axis=-1) for column in zip(*kept, strict=True)))


def _start(counts: Counts, rng: np.random.Generator) -> Start:
    normals: list[Normal] = []
    for spread in _ANCHORS[::-1].tolist():
        normals.append(normal(counts, spread, normals[-1] if normals else None))
    normals.reverse()
    weight = np.array([normal.log_weight for normal in normals])
    weight = np.exp(weight - weight.max())
    anchor = np.sort(rng.choice(len(normals), CHAINS, p=weight / weight.sum()))
    strength = [normals[k].strength + normals[k].root @ rng.standard_normal(counts.players) for k in anchor]
    return Start(np.stack(strength, axis=1), _ANCHORS[anchor], tuple(normals))


def normal(
    counts: Counts, spread: float, near: Normal | None = None, share: float = prior.SHARE_MEAN
) -> Normal:
    """Laplace's normal at a spread and a share, climbing from that of a spread nearby."""
    n = counts.players
    strength, tie = np.zeros(n), prior.TIE[0] if counts.tied else -np.inf
    if near is not None:
        strength, tie = near.strength, near.tie
    for _ in range(30):
        information, in_tie = counts.information(strength, tie)
        pull = prior.precision(strength, spread, share)
        information[range(n), range(n)] += pull
        slope, tie_slope = counts.slope(strength[:, None], np.array([tie]))
        step = np.linalg.solve(information, slope[:, 0] - pull * strength)
        tie_step = 0.0
        in_tie += prior.TIE[1] ** -2
        if counts.tied:
            tie_step = float(tie_slope[0] - (tie - prior.TIE[0]) / prior.TIE[1] ** 2) / in_tie
        far = max(float(np.abs(step).max(initial=0.0)), abs(tie_step))
        strength, tie = strength + step / max(1.0, far), tie + tie_step / max(1.0, far)
        if far < 1e-2:
            break
    factor = np.linalg.cholesky(information)
    log_weight = (
        float(counts.log_likelihood(strength[:, None], np.array([tie]))[0])
        + float(prior.log_prior(strength, spread, share).sum())
        - float(np.log(np.diag(factor)).sum())
        + float(prior.log_spread(spread, counts.spread_shape))
    )
    return Normal(spread, strength, np.linalg.inv(factor).T, tie, in_tie**-0.5, log_weight)


class _State:
    """The chains: `strength`, shape (players, chains), `tie`, `share` and `spread`."""

    def __init__(self, counts: Counts, rng: np.random.Generator, start: Start) -> None:
        self.counts, self.rng, self.normals = counts, rng, start.normals
        self.between = np.sqrt([a.spread * b.spread for a, b in pairwise(start.normals)])
        self.strength, self.spread = start.strength, start.spread
        chains = len(start.spread)
        self.share = np.clip(rng.beta(*prior.SHARE, chains), 1e-6, 1 - 1e-6)
        self.tie = np.array([self.normals[k].tie for k in self._anchor()])
        if counts.tied:
            self.tie = self.tie + self._tie_widths() * rng.standard_normal(chains)
        self.likelihood = counts.log_likelihood(self.strength, self.tie)
        self.slower = min(1.0, (_FREE / max(counts.players, 1)) ** 0.25)

    def _anchor(self) -> Ints:
        return np.searchsorted(self.between, self.spread)

    def _tie_widths(self) -> Floats:
        return np.array([self.normals[k].tie_width for k in self._anchor()])

    def _rooted(self, columns: Floats, *, turned: bool = False) -> Floats:
        """Each chain's column by the root of its anchor's covariance, or the root turned."""
        anchor, rooted = self._anchor(), np.empty_like(columns)
        for k in np.unique(anchor):
            root, near = self.normals[k].root, anchor == k
            if root.ndim == 1:
                rooted[:, near] = root[:, None] * columns[:, near]
            else:
                rooted[:, near] = (root.T if turned else root) @ columns[:, near]
        return rooted

    def _slope(self, strength: Floats, tie: Floats) -> tuple[Floats, Floats]:
        slope, in_tie = self.counts.slope(strength, tie)
        slope -= prior.precision(strength, self.spread, self.share) * strength
        if self.counts.tied:
            in_tie = in_tie - (tie - prior.TIE[0]) / prior.TIE[1] ** 2
        return slope, in_tie

    def _density(self, strength: Floats, tie: Floats, likelihood: Floats) -> Floats:
        density = likelihood + prior.log_prior(strength, self.spread, self.share).sum(axis=0)
        if self.counts.tied:
            density = density - ((tie - prior.TIE[0]) / prior.TIE[1]) ** 2 / 2
        return np.asarray(density)

    def leap(self) -> None:
        """One trajectory of Hamiltonian Monte Carlo in whitened coordinates."""
        chains, free = len(self.tie), bool(self.counts.tied)
        width = self._tie_widths() if free else np.zeros(chains)
        speed, tie_speed = self.rng.standard_normal(self.strength.shape), self.rng.standard_normal(chains)
        pace = self.slower * self.rng.uniform(0.25, 0.55, chains)
        begun = self._density(self.strength, self.tie, self.likelihood)
        begun = begun - (speed**2).sum(axis=0) / 2 - (tie_speed**2) / 2
        strength, tie = self.strength, self.tie
        slope, in_tie = self._slope(strength, tie)
        for leap in range(round(_LEAPS / self.slower)):
            half = pace / 2 if leap == 0 else pace
            speed = speed + half * self._rooted(slope, turned=True)
            strength = strength + pace * self._rooted(speed)
            if free:
                tie_speed = tie_speed + half * width * in_tie
                tie = tie + pace * width * tie_speed
            slope, in_tie = self._slope(strength, tie)
        speed = speed + pace / 2 * self._rooted(slope, turned=True)
        if free:
            tie_speed = tie_speed + pace / 2 * width * in_tie
        likelihood = self.counts.log_likelihood(strength, tie)
        ended = self._density(strength, tie, likelihood)
        ended = ended - (speed**2).sum(axis=0) / 2 - (tie_speed**2) / 2
        self._take(np.log(self.rng.random(chains)) < ended - begun, strength, tie, likelihood)

    def scale(self) -> None:
        """Strengths and spread by one factor."""
        chains = len(self.tie)
        step = self.rng.normal(0, 0.3 * self.slower**2, chains)
        strength = self.strength * np.exp(step)
        likelihood = self.counts.log_likelihood(strength, self.tie)
        shape = self.counts.spread_shape
        before = self._density(self.strength, self.tie, self.likelihood) + prior.log_spread(
            self.spread, shape
        )
        spread, self.spread = self.spread, self.spread * np.exp(step)
        after = self._density(strength, self.tie, likelihood) + prior.log_spread(self.spread, shape)
        after = after + self.counts.players * step
        taken = np.log(self.rng.random(chains)) < after - before
        self._take(taken, strength, self.tie, likelihood)
        self.spread = np.where(taken, self.spread, spread)

    def set_spread(self) -> None:
        """Draw the spread given strengths and share, from a grid on which the present one has any place: so
        each spread of the grid leads to the same grid as often."""
        chains = len(self.tie)
        step = min(_WIDE, 1.0 / np.sqrt(2 * max(self.counts.players, 1)))
        place = np.arange(_GRID)[:, None] - self.rng.integers(0, _GRID, chains)
        grid = self.spread * np.exp(step * place)
        log = prior.log_spread(grid, self.counts.spread_shape)
        together = max(1, _CELLS // max(self.strength.size, 1))
        for at in range(0, _GRID, together):
            some = slice(at, at + together)
            log[some] += prior.log_prior(self.strength, grid[some, None], self.share).sum(axis=1)
        luck = -np.log(-np.log(self.rng.random(log.shape)))
        self.spread = grid[np.argmax(log + luck, axis=0), np.arange(chains)]

    def set_share(self) -> None:
        """Draw the share by way of who is of the second part."""
        far = self.rng.random(self.strength.shape) < prior.far(self.strength, self.spread, self.share)
        count = far.sum(axis=0)
        drawn = self.rng.beta(prior.SHARE[0] + count, prior.SHARE[1] + self.counts.players - count)
        self.share = np.clip(drawn, 1e-6, 1 - 1e-6)

    def _take(self, taken: np.ndarray, strength: Floats, tie: Floats, likelihood: Floats) -> None:
        self.strength = np.where(taken, strength, self.strength)
        self.tie = np.where(taken, tie, self.tie)
        self.likelihood = np.where(taken, likelihood, self.likelihood)
