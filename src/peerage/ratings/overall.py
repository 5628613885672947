"""One number for several games: the share of wins that a player can expect, each game counting alike.

In each game alone Bradley-Terry gives the chance that one player beats another. A player's *share* in a game
is the mean of its chances against all others, 0 to 1, whoever it met there; its overall share is the mean of
its shares over the games, by their weights. So a game of pure luck, in which everybody's share is near one
half, moves nobody far, and one in which the better player always wins moves nobody by more than one game's
part: rating points, which have no bounds, would let it drown the others.

    >>> from peerage.ratings.history import duels
    >>> chess = duels(2, [0] * 8, [1] * 8, [1, 1, 1, 1, 1, 1, 0, 0])
    >>> coins = duels(2, [0] * 8, [1] * 8, [1, 1, 1, 1, 0, 0, 0, 0])
    >>> overall([GameHistory(chess), GameHistory(coins)]).share.round(3).tolist()
    [0.625, 0.375]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from peerage.ratings.bradley_terry import BradleyTerry, fit_duels, solve
from peerage.ratings.clusters import FEWEST
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.rows import fit_clustered
from peerage.ratings.table import POINTS
from peerage.ratings.tally import tally

UNKNOWN = 12**-0.5
"""Standard error of a share of which nothing is known: that of a number drawn evenly from 0 to 1."""


class GameHistory(NamedTuple):
    """The results of one game: `sources` name the match of each duel, None where every match is one duel."""

    history: Duels
    sources: Ints | None = None
    weight: float = 1.0


class Shares(NamedTuple):
    """Expected shares of wins, 0 to 1, shape (players,), and their joint covariance."""

    share: Floats
    covariance: Floats

    @property
    def error(self) -> Floats:
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def overall(games: Sequence[GameHistory]) -> Shares:
    """The weighted mean of the shares in each game; all histories number the same two players or more."""
    return combined([shares(one, len(games)) for one in games], [one.weight for one in games])


def combined(found: Sequence[Shares], weights: Sequence[float]) -> Shares:
    """The weighted mean of shares in games played apart from each other."""
    part = np.array(weights) / sum(weights)
    share = sum(w * one.share for w, one in zip(part, found, strict=True))
    covariance = sum(w * w * one.covariance for w, one in zip(part, found, strict=True))
    return Shares(np.asarray(share), np.asarray(covariance))


def shares(game: GameHistory, games: int = 1) -> Shares:
    """Shares in one of so many `games`, by the delta method from the Bradley-Terry fit.

    Where the results alone do not compare everybody, each player gets a tied game against an average one, or
    the part of it that leaves one over all `games`: else what no player could earn would add up.
    """
    table = _fit(game, 1 / games)
    players = len(table.rating)
    strength = table.rating / POINTS
    chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
    slope = chance * (1 - chance)
    np.fill_diagonal(chance, 0.0)
    np.fill_diagonal(slope, 0.0)
    turn = (np.diag(slope.sum(axis=1)) - slope) / (players - 1)
    covariance = turn @ (table.covariance / POINTS**2) @ turn.T
    error = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    within = np.minimum(1.0, UNKNOWN / error)
    return Shares(chance.sum(axis=1) / (players - 1), covariance * np.outer(within, within))


def _fit(game: GameHistory, prior_games: float) -> BradleyTerry:
    """The fit of one game. Matches of many hang together: where they are too few to tell how much, each
    counts as one match for each of its players, which is at least as wide."""
    if game.sources is None:
        return fit_duels(game.history, prior_games=prior_games)
    if len(np.unique(game.sources)) >= FEWEST:
        return fit_clustered(game.history, game.sources, prior_games=prior_games)
    solved = solve(tally(game.history), "half", prior_games)
    return solved.table(solved.inverse)
