"""One number for several games: the share of wins that a player can expect, each game counting alike.

A player's *share* in a game is the mean of its chances against all others, 0 to 1, not only those it met
there; its overall share is the mean of its shares over the games, by their weights. So a game of pure luck,
in which everybody's share is near one half, moves nobody far, and one in which the better player always wins
moves nobody by more than one game's part: rating points, which have no bounds, would let it drown the others.

Shares are computed draw by draw from the posterior of strengths in each game (`ratings.strength`), so their
intervals and chances need no formula of their own.

    >>> chess, coins = np.log([[3.0, 1.0]]), np.zeros((1, 2))
    >>> combined([shares_of(chess), shares_of(coins)], [1, 1]).share.round(3).tolist()
    [0.625, 0.375]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import erf, sqrt

import numpy as np

from peerage.ratings.arrays import Floats

_AT_ONCE = 4_000_000
"""Chances of pairs computed at once, for memory."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Expected shares of wins, 0 to 1, as posterior `draws` of shape (draws, players)."""

    draws: Floats

    @cached_property
    def share(self) -> Floats:
        """The mean of each player's share."""
        return np.asarray(self.draws.mean(axis=0))

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The lower and upper bounds of shares at 95%."""
        lower, upper = np.quantile(self.draws, [0.025, 0.975], axis=0)
        return np.asarray(lower), np.asarray(upper)

    @cached_property
    def better(self) -> Floats:
        """The chance that player i has a higher share than player j, [i, j], by a normal curve."""
        spread = np.cov(self.draws, rowvar=False).reshape((len(self.share),) * 2)
        own = np.diag(spread)
        apart = np.sqrt(np.maximum(own[:, None] + own - 2 * spread, 1e-18))
        return _normal((self.share[:, None] - self.share) / apart)

    @cached_property
    def best(self) -> Floats:
        """The chance of each player to have the highest share. How far it is ahead of all others in each
        draw is smoothed by a normal kernel (Silverman's rule); below one draw a normal curve takes its place,
        so that small chances are not lost."""
        count, n = self.draws.shape
        if n < 2:
            return np.ones(n)
        ordered = np.partition(self.draws, n - 2, axis=1)
        highest, second = ordered[:, -1:], ordered[:, -2:-1]
        ahead = self.draws - np.where(self.draws == highest, second, highest)
        width = 1.06 * count**-0.2 * np.maximum(ahead.std(axis=0), 1e-9)
        chance = _normal(ahead / width).mean(axis=0)
        far = _normal(ahead.mean(axis=0) / np.maximum(ahead.std(axis=0), 1e-9))
        chance = np.minimum(np.where(chance < 1 / count, far, chance), self.better_than_all)
        return np.asarray(chance / chance.sum())

    @property
    def better_than_all(self) -> Floats:
        """The smallest chance of each player to be better than another one, which bounds that to be best."""
        return np.asarray(np.where(np.eye(len(self.share), dtype=bool), 1.0, self.better).min(axis=1))

    def gives_up(self, player: int) -> float:
        """Return the 95% bound of how far its share is below the highest one."""
        return float(np.quantile(self.draws.max(axis=1) - self.draws[:, player], 0.95))


def shares_of(strengths: Floats) -> Shares:
    """Shares from draws of strengths in log-odds, of shape (draws, players)."""
    count, n = strengths.shape
    shares = np.full((count, n), 0.5)
    step = max(1, _AT_ONCE // max(n * n, 1))
    for at in range(0, count if n > 1 else 0, step):
        some = strengths[at : at + step]
        chance = 1 / (1 + np.exp(some[:, None, :] - some[:, :, None]))
        shares[at : at + step] = (chance.sum(axis=2) - 0.5) / (n - 1)
    return Shares(shares)


def combined(shares: Sequence[Shares], weights: Sequence[float]) -> Shares:
    """The weighted mean of shares in games that were played apart from each other."""
    part = np.array(weights, np.float64) / sum(weights)
    fewest = min(len(game.draws) for game in shares)
    return Shares(np.tensordot(part, np.stack([game.draws[:fewest] for game in shares]), 1))


def _normal(value: Floats) -> Floats:
    """The normal distribution's cumulative curve of each value."""
    return np.asarray(np.vectorize(lambda x: (1 + erf(x / sqrt(2))) / 2, otypes=[float])(value))
