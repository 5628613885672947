"""The posterior of strengths, behind every number about strength that is printed.

    >>> from peerage.ratings.columns.history import duels
    >>> from peerage.ratings.strength.evidence import of_duels
    >>> seen = strengths(of_duels(duels(2, [0] * 20, [1] * 20, [1] * 17 + [0] * 3)), seed=1)
    >>> bool(seen.best[0] > 0.98), bool(0.7 < seen.wins[0, 1] < 0.95)
    (True, True)

`prior` has the prior, `likelihood` the model, `chain` draws from both; `docs/ratings.md` explains. A
posterior depends on results alone, not on who was chosen to meet whom or when one looked (Rubin, "Inference
and missing data", Biometrika 1976).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.strength import chain, sparse
from peerage.ratings.strength.canonical import Canonical, canonical
from peerage.ratings.strength.clustering import thinned
from peerage.ratings.strength.conditional import Conditionals, DensityGrid, upper_tail
from peerage.ratings.strength.evidence import Evidence
from peerage.ratings.strength.likelihood import Pairs, counted, paired
from peerage.ratings.table import POINTS

_WINS = 128  # draws over which the chances to win are taken
_WINS_AT_ONCE = 20_000_000
_SIDE = np.linspace(-4.5, 4.5, 37)  # standard deviations between which the bounds are looked for
_AT_ONCE = 2_000_000  # numbers held at a time


@dataclass(frozen=True, eq=False)
class Strengths:
    """The posterior of strengths, in log-odds, and in Elo points with mean 1500. `draws` has shape (draws,
    players), each draw centred to mean 0; `tie_draws` are those of Davidson's ν, 0 where no two ever tied."""

    draws: Floats
    tie_draws: Floats
    _conditionals: Conditionals
    _order: Canonical
    _pairs: Pairs

    @property
    def players(self) -> int:
        return int(self.draws.shape[1])

    @property
    def ties(self) -> float:
        """The mean of ν."""
        return float(self.tie_draws.mean())

    @cached_property
    def rating(self) -> Floats:
        """The mean of each strength, in points; that of all players is 1500."""
        return np.asarray(1500 + POINTS * self._order.averaged(self.draws.mean(axis=0)))

    @cached_property
    def lower(self) -> Floats:
        """The 2.5% quantile of each strength, in points."""
        return np.asarray(self._bounds[0])

    @cached_property
    def upper(self) -> Floats:
        """The 97.5% quantile of each strength, in points."""
        return np.asarray(self._bounds[1])

    @cached_property
    def best(self) -> Floats:
        """The chance of each player to be the best, shape (players,), small ones right in proportion too."""
        strength = self._conditionals.strength
        n = len(strength)
        if n < 2:
            return np.ones(n)
        top, second = np.argmax(strength, axis=0), np.partition(strength, n - 2, axis=0)[n - 2]
        others = np.broadcast_to(strength.max(axis=0), strength.shape).copy()
        others[top, np.arange(len(top))] = second
        chance = self._conditionals.above(slice(None), others).mean(axis=-1)
        return self._order.averaged((chance / chance.sum())[self._order.number])

    @cached_property
    def better(self) -> Floats:
        """The chance that i is stronger than j, shape (players, players), ½ on the diagonal."""
        if self.players > chain.DENSE:
            return self._better_of_many()
        better = self._conditionals.better()
        better = (better + 1 - better.T) / 2
        np.fill_diagonal(better, 0.5)
        return self._order.averaged_pairs(better[np.ix_(self._order.number, self._order.number)], self._pairs)

    def _better_of_many(self) -> Floats:
        """The same where there are so many players that each difference is taken to be normal."""
        mean, n = self.draws.mean(axis=0), self.players
        apart = self.draws - mean
        own, better = (apart**2).sum(axis=0), np.empty((n, n))
        for some in np.array_split(np.arange(n), -(-n * n // _AT_ONCE)):
            variance = own[some, None] + own - 2 * apart[:, some].T @ apart
            error = np.sqrt(np.maximum(variance / len(self.draws), 1e-12))
            better[some] = upper_tail((mean - mean[some, None]) / error)
        return better

    @cached_property
    def wins(self) -> Floats:
        """The chance that i beats j in one match, a tie half a win, shape (players, players)."""
        n = self.players
        count = int(np.clip(_WINS_AT_ONCE / max(n * n, 1), 16, _WINS))
        some = np.linspace(0, len(self.draws) - 1, count).astype(np.int64)
        wins = np.zeros((n, n))
        for draw in np.array_split(some, -(-len(some) * n * n // _AT_ONCE) or 1):
            up = np.exp(self.draws[draw] / 2)
            ratio = up[:, :, None] / up[:, None, :]
            nu = self.tie_draws[draw, None, None]
            wins += ((ratio + nu / 2) / (ratio + 1 / ratio + nu)).sum(axis=0)
        wins /= len(some)
        return self._order.averaged_pairs(wins, self._pairs)

    def gives_up(self, player: int) -> float:
        """Return the 95% bound of how many points the best player is above this one."""
        return float(self._gaps[player])

    @cached_property
    def _gaps(self) -> Floats:
        if not self.players:
            return np.zeros(0)
        gap = self.draws.max(axis=1, keepdims=True) - self.draws
        return np.asarray(POINTS * self._order.averaged(np.quantile(gap, 0.95, axis=0)))

    @cached_property
    def _bounds(self) -> Floats:
        """Bounds of the centred strengths, each from its player's distribution given the others'."""
        strength = self._conditionals.strength
        n = len(strength)
        if n < 2:
            wide = POINTS * np.quantile(self.draws, [0.025, 0.975], axis=0)
            return np.asarray(1500 + wide)
        centre, wide = self.draws.mean(axis=0), np.maximum(self.draws.std(axis=0), 1e-6)
        order = np.argsort(self._order.number)
        rest = (strength.sum(axis=0) - strength) / (n - 1)
        chance = np.empty((len(_SIDE), n))
        at = centre[order] + _SIDE[:, None] * wide[order]
        for row, place in enumerate(at):
            chance[row] = self._conditionals.above(slice(None), rest + (place * n / (n - 1))[:, None]).mean(
                -1
            )
        limits = np.empty((2, n))
        for i, number in enumerate(self._order.number.tolist()):
            rising = np.maximum.accumulate(1 - chance[:, number])
            limits[:, i] = np.interp([0.025, 0.975], rising, at[:, number])
        return np.array([1500 + POINTS * self._order.averaged(side) for side in limits])


@one_thread
def strengths(evidence: Evidence, *, seed: int | np.random.Generator) -> Strengths:
    """The posterior of strengths from evidence. The same evidence, in any order of matches and with the
    players in any order, gives the same numbers for the same seed (up to 300 players)."""
    rng = np.random.default_rng(seed)
    pairs = paired(evidence)
    order = canonical((pairs, evidence.rankings))
    counts = thinned(evidence, counted(pairs, evidence.rankings, order.number), order.number)
    drawn = chain.draws(counts, rng, sparse.start(counts, rng) if counts.players > chain.DENSE else None)
    strength = drawn.strength[order.number]
    return Strengths(
        draws=np.ascontiguousarray((strength - strength.sum(axis=0) / max(counts.players, 1)).T),
        tie_draws=np.exp(drawn.tie),
        _conditionals=DensityGrid.of(counts, drawn),
        _order=order,
        _pairs=pairs,
    )


Bin = Literal["pick", "may be as good", "unlikely", "out"]
AS_GOOD = 0.05
"""The chance to be better than the pick from which on a player may be as good."""
OUT = 0.01
"""The chance to be better than the pick below which a player is out, if it is hardly the best either."""
NEVER_BEST = 0.02
"""Share of arenas in which the truly best is ever out, at most: its (1 - P)/P is a martingale that begins at
n - 1 and so ever reaches (n - 1)/share with that chance (Ville 1939)."""


def sort_out(best: Floats, better: Floats) -> tuple[Bin, ...]:
    """The bin of each player, from its chance to be `best` and, [i, j], that i is `better` than j. The pick
    has the highest chance to be best; between equal chances the first. A player is out whose chance to be
    better than the pick is below 1% and whose chance to be best is below 2%/(n - 1)."""
    n = len(best)
    if not n:
        return ()
    pick = int(np.argmax(best))
    bins: list[Bin] = []
    for player in range(n):
        ahead = better[player, pick]
        if player == pick:
            bins.append("pick")
        elif ahead >= AS_GOOD:
            bins.append("may be as good")
        elif ahead < OUT and best[player] < NEVER_BEST / (n - 1):
            bins.append("out")
        else:
            bins.append("unlikely")
    return tuple(bins)
