"""One number for several games: the share of wins that a player can expect, each game counting alike.

In each game alone Bradley-Terry gives the chance that one player beats another. A player's *share* in a game
is the mean of its chances against all others, 0 to 1, not only those it met there; its overall share is the
mean of its shares over the games, by their weights. So a game of pure luck, in which everybody's share is
near one half, moves nobody far, and one in which the better player always wins moves nobody by more than one
game's part: rating points, which have no bounds, would let it drown the others.

    >>> from peerage.ratings.history import duels
    >>> chess = duels(2, [0] * 8, [1] * 8, [1, 1, 1, 1, 1, 1, 0, 0])
    >>> coins = duels(2, [0] * 8, [1] * 8, [1, 1, 1, 1, 0, 0, 0, 0])
    >>> found = [shares(GameHistory(game), games=2) for game in (chess, coins)]
    >>> combined(found, [1, 1]).share.round(3).tolist()
    [0.625, 0.375]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from peerage.ratings.bradley_terry import BradleyTerry, fit_duels, solve
from peerage.ratings.clusters import FEWEST
from peerage.ratings.history import Duels, duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.regression import fit_clustered
from peerage.ratings.table import POINTS
from peerage.ratings.tally import tally

UNKNOWN = 12**-0.5
"""Standard error of a share of which nothing is known: that of a number drawn evenly from 0 to 1."""
TIES = 2.0
"""Tied games that each player gets for its standard error alone: of seven wins in seven games the share is
nearly 1, and its error is not nearly 0 (Agresti and Coull, The American Statistician 1998, for one share)."""


class GameHistory(NamedTuple):
    """The results of one game: `sources` name the match of each duel, None where every match is one duel."""

    history: Duels
    sources: Ints | None = None


class Shares(NamedTuple):
    """Expected shares of wins, 0 to 1, shape (players,), and their joint covariance; `connected` says whether
    the results alone compare everybody."""

    share: Floats
    covariance: Floats
    connected: bool = True

    @property
    def error(self) -> Floats:
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def combined(found: Sequence[Shares], weights: Sequence[float]) -> Shares:
    """The weighted mean of shares in games that were played apart from each other."""
    part = np.array(weights, np.float64) / sum(weights)
    share = np.tensordot(part, [one.share for one in found], 1)
    covariance = np.tensordot(part**2, [one.covariance for one in found], 1)
    return Shares(share, covariance, all(one.connected for one in found))


def shares(game: GameHistory, games: int = 1) -> Shares:
    """Shares in one of so many `games` of two players or more, by the delta method from Bradley-Terry fits.

    Where the results alone do not compare everybody, each player gets a tied game against an average one, or
    the part of it that leaves one over all `games`: else what nobody could earn would add up.
    """
    history = game.history
    fitted = fit_duels(history, prior_games=1 / games)
    chances = _chances(fitted).sum(axis=1) / (history.players - 1)
    covariance = _covariance(game)
    error = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    within = np.minimum(1.0, UNKNOWN / error)
    return Shares(np.asarray(chances), covariance * np.outer(within, within), fitted.connected)


def _chances(table: BradleyTerry) -> Floats:
    """The chance of each player against each other, nothing against itself."""
    strength = table.rating / POINTS
    chance = np.asarray(1 / (1 + np.exp(strength[None, :] - strength[:, None])))
    np.fill_diagonal(chance, 0.0)
    return chance


def _covariance(game: GameHistory) -> Floats:
    """The covariance of shares. Matches of many hang together: where they are too few to tell how much, each
    counts as one match for each of its players, which is wider."""
    history = game.history
    if game.sources is not None and len(np.unique(game.sources)) >= FEWEST:
        return _turned(fit_clustered(history, game.sources))
    n = history.players
    first, second = np.triu_indices(n, 1)
    tied = np.full(len(first), TIES / (n - 1))
    shrunk = duels(
        n,
        np.concatenate([history.first, first]),
        np.concatenate([history.second, second]),
        np.concatenate([history.score, np.full(len(first), 0.5)]),
        np.concatenate([history.weight, tied]),
    )
    solved = solve(tally(shrunk), "half", 1.0)
    covariance = _turned(solved.table(solved.inverse))
    played = np.bincount(history.first, history.weight, n) + np.bincount(history.second, history.weight, n)
    lent = np.sqrt((played + TIES) / np.maximum(played, 1e-9))  # the ties are no matches
    matches = played.sum() / 2
    left = max(matches - (n - 1), matches / 4)  # a fit of few matches strays further than its curve says
    return np.asarray(covariance * np.outer(lent, lent) * (matches / left))


def _turned(table: BradleyTerry) -> Floats:
    """The covariance of shares from that of ratings."""
    chance = _chances(table)
    slope = chance * (1 - chance)
    turn = (np.diag(slope.sum(axis=1)) - slope) / (len(table.rating) - 1)
    return np.asarray(turn @ (table.covariance / POINTS**2) @ turn.T)
