"""Chances from each player's own distribution, all others held at a draw (Rao and Blackwell).

Counts of draws know nothing of chances below one in a thousand. Given the others' strengths, a player's
density is known but for a constant: on a grid, with the logarithm linear between its points, it gives the
chance to be above any strength, however small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.strength import prior
from peerage.ratings.strength.chain import Draws
from peerage.ratings.strength.likelihood import Counts, Segments

_POINTS = 24
_NOTHING = np.zeros(0)
_REACH = 6.0  # standard deviations to either side, of a strength against the mean of the others
_LEAST = 600.0  # of a log density
_NEAR = 1e-9  # slopes below this are none
_WORK = 6_000_000  # numbers to be computed, which bounds the draws
_FEWEST = 24
_ERFC = (
    *(0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807),
    *(-0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223),
)


@dataclass(frozen=True, eq=False)
class Conditionals(ABC):
    """The distribution of each player given the others, at draws of `strength`, shape (players, draws)."""

    strength: Floats

    @abstractmethod
    def above(self, player: slice | int, strength: Floats) -> Floats:
        """Return the chance that each `player`, given the others of each draw, is stronger than `strength`,
        shape (players, draws)."""

    def better(self) -> Floats:
        """Return the chance that i is stronger than j, shape (players, players)."""
        n = len(self.strength)
        chances = [self.above(i, self.strength).mean(axis=-1) for i in range(n)]
        return np.array(chances, np.float64).reshape(n, n)


@dataclass(frozen=True, eq=False)
class DensityGrid(Conditionals):
    """Densities on a grid even in u, from `lowest` in steps, where a strength is `centre` + `scale` · sinh u:
    dense where the density is high, and yet wide. `density` has shape (points, players, draws), `slope` is
    that of its logarithm by the step, `beyond` the mass beyond each point, that of all being `beyond[0]`."""

    centre: Floats
    scale: Floats
    lowest: Floats
    step: Floats
    density: Floats
    slope: Floats
    beyond: Floats

    @classmethod
    def of(cls, counts: Counts, draws: Draws) -> DensityGrid:
        """The conditionals at as many of the draws as the work allows, spread evenly over them."""
        rows = 2 * len(counts.a) + 2 * counts.players + len(counts.stages.player)
        rows += 2 * sum([ladder.player.size for ladder in counts.ladders])
        most = draws.strength.shape[1]
        kept = int(np.clip(_WORK / (_POINTS * max(rows, 1)), min(_FEWEST, most), most))
        some = np.linspace(0, most - 1, kept).round().astype(np.int64)
        draws = Draws(draws.strength[:, some], draws.tie[some], draws.spread[some], draws.share[some])
        centre, scale, reach = _places(counts, draws)
        lowest = -np.arcsinh(reach / scale)
        bare = cls(
            strength=draws.strength,
            centre=centre,
            scale=scale,
            lowest=lowest,
            step=-2 * lowest / (_POINTS - 1),
            density=_NOTHING,
            slope=_NOTHING,
            beyond=_NOTHING,
        )
        log = _log_densities(counts, draws, bare)
        log = np.maximum(log - log.max(axis=0), -_LEAST)
        slope, density = np.diff(log, axis=0), np.exp(log)
        beyond = np.zeros_like(log)
        mass = np.maximum(density[:-1], density[1:]) * _grown(-np.abs(slope))
        beyond[:-1] = np.cumsum(mass[::-1], axis=0)[::-1]
        return replace(bare, density=density, slope=slope, beyond=beyond)

    def above(self, player: slice | int, strength: Floats) -> Floats:
        even = np.arcsinh((strength - self.centre[player]) / self.scale[player])
        place = (even - self.lowest[player]) / self.step[player]
        cell = np.clip(np.floor(place), 0, _POINTS - 2).astype(np.int64)
        part = np.clip(place - cell, 0.0, 1.0)
        if isinstance(player, slice):
            at = (cell, np.arange(strength.shape[0])[:, None], np.arange(strength.shape[1]))
        else:
            at = (cell, np.full(1, player), np.arange(strength.shape[1]))
        left = self.beyond[at] - self.density[at] * part * _grown(self.slope[at] * part)
        return np.asarray(np.clip(left / self.beyond[0, player], 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Normals(Conditionals):
    """Normal distributions: each player's `mean` given the others of each draw, shape (players, draws), and
    its `width`, of that shape or (players, 1)."""

    mean: Floats
    width: Floats

    def above(self, player: slice | int, strength: Floats) -> Floats:
        return upper_tail((strength - self.mean[player]) / self.width[player])


def upper_tail(score: Floats) -> Floats:
    """The chance that a standard normal is above the score, to 2e-7 of itself (Press and others, "Numerical
    Recipes", 1992, section 6.2, erfcc)."""
    z = np.abs(score) / np.sqrt(2.0)
    t = 1 / (1 + z / 2)
    series = np.zeros_like(t)
    for term in _ERFC:
        series = series * t + term
    half = t * np.exp(np.maximum(series - z * z, -700.0)) / 2
    return np.asarray(np.where(score >= 0, half, 1 - half))


def _grown(slope: Floats) -> Floats:
    """∫ e^(slope·t) dt from 0 to 1."""
    safe = np.where(np.abs(slope) < _NEAR, _NEAR, slope)
    return np.asarray(np.expm1(safe) / safe)


def _places(counts: Counts, draws: Draws) -> tuple[Floats, Floats, Floats]:
    """Near where each player's density given the others is highest, how wide it is there, and how far it may
    reach: a Newton step from the draw, and the spread over draws against the mean of the others."""
    n, strength = counts.players, draws.strength
    rest = (strength.sum(axis=0) - strength) / max(n - 1, 1)
    apart = strength - rest
    wide = np.maximum(apart.std(axis=1, keepdims=True), 1e-3)
    pull = prior.precision(strength, draws.spread, draws.share)
    information = counts.own_information(strength, draws.tie) + pull
    toward = (counts.slope(strength, draws.tie)[0] - pull * strength) / information
    around = rest + apart.mean(axis=1, keepdims=True)
    centre = np.clip(strength + toward, around - 2 * wide, around + 2 * wide)
    return centre, 1.2 * information**-0.5, _REACH * wide


def _log_densities(counts: Counts, draws: Draws, grid: DensityGrid) -> Floats:
    """Each player's log density at each point, given the others, but for a constant of player and draw."""
    strength = draws.strength
    densities = np.empty((_POINTS, *strength.shape))
    nu = np.exp(draws.tie)
    own, other = np.concatenate([counts.a, counts.b]), np.concatenate([counts.b, counts.a])
    segments = Segments.of(own)
    own, other = own[segments.order], other[segments.order]
    met = np.tile(counts.met, 2)[segments.order][:, None]
    ordered = Segments(np.arange(len(own)), segments.starts, segments.whom)
    half = np.exp(-strength / 2)[other]
    for point in range(_POINTS):
        even = grid.lowest + point * grid.step
        x = grid.centre + grid.scale * np.sinh(even)
        value = counts.linear[:, None] * x + prior.log_prior(x, draws.spread, draws.share)
        value += np.log(np.cosh(even))
        if len(own):
            ratio = np.exp(x / 2)[own] * half
            total = ratio + 1 / ratio
            total += nu
            np.log(total, out=total)
            total *= met
            ordered.add(value, total, -1.0)
        if len(counts.stages):
            value -= _of_stages(counts, strength, x)
        for ladder in counts.ladders:
            value -= ladder.moved(strength, x)
        densities[point] = value
    return densities


def _of_stages(counts: Counts, strength: Floats, x: Floats) -> Floats:
    """Return what rankings subtract from each player's log density at `x`, the others at `strength`."""
    stages, density = counts.stages, np.zeros_like(strength)
    members = stages.members(strength)
    total = np.add.reduceat(members, stages.starts, axis=0)[stages.stage]
    weight = stages.weight[stages.stage][:, None]
    if stages.teams is None:
        moved = total - members + stages.coefficient[:, None] * np.exp(x)[stages.player]
        stages.by_player.add(density, weight * np.log(moved))
        return density
    for player in range(counts.players):
        part = stages.teams[stages.player, player]
        held = np.flatnonzero(part)
        shift = np.exp(part[held, None] * (x[player] - strength[player])) - 1
        moved = total[held] + members[held] * shift
        density[player] = (weight[held] * np.log(moved)).sum(axis=0)
    return density
