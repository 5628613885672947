"""Bradley-Terry ratings from counts, with robust intervals.

    >>> table = fit([Pair(0, 1, 6, 2, 2), Pair(1, 2, 5, 4, 1), Pair(0, 2, 7, 3, 0)], players=3)
    >>> [round(row.rating) for row in table.rows], table.connected
    ([1598, 1463, 1439], True)

P(a beats b) = 1 / (1 + 10^((R_b - R_a) / 400)), fitted by Newton's method (Hunter, "MM algorithms for
generalized Bradley-Terry models", Annals of Statistics 2004, for the model); a tie is half a win each. The
mean rating is 1500: only differences mean anything, and intervals are those of a player against that mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from peerage.ratings.elo import DuelResult
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS, Z95, Row, rank_ranges, ranks, separated

PRIOR_GAMES = 1.0


@dataclass(frozen=True, slots=True)
class Pair:
    """How often `a` beat `b`, `b` beat `a`, and they tied; parts of a game are allowed."""

    a: int
    b: int
    wins_a: float
    wins_b: float
    ties: float = 0.0

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise ValueError(f"player {self.a} meets itself: a pair has two different players")
        for name in ("wins_a", "wins_b", "ties"):
            count = getattr(self, name)
            if not 0 <= count < float("inf"):
                raise ValueError(f"{name} of players {self.a} and {self.b} is {count}: expected 0 or more")


@dataclass(frozen=True)
class BradleyTerry:
    """Ratings (400 points a decade, mean 1500) with their joint distribution.

    `covariance` is in rating points, of each player against the mean; `lower` and `upper` are 95 %
    intervals from it. `connected` says whether everybody could be compared: whether, for every way to
    divide the players into two groups, somebody of each beat or tied somebody of the other (Ford 1957).
    When not, no finite ratings fit; `components` are then the groups within which the data do compare, and
    `prior_games` is above 0: every player was given that many tied games against a phantom of average
    strength, and the intervals are the posterior's.
    """

    rating: Floats
    covariance: Floats
    games: Floats
    connected: bool
    components: tuple[tuple[int, ...], ...]
    prior_games: float

    @cached_property
    def error(self) -> Floats:
        """Standard error of each rating, in points."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def lower(self) -> Floats:
        return self.rating - Z95 * self.error

    @property
    def upper(self) -> Floats:
        return self.rating + Z95 * self.error

    @cached_property
    def above(self) -> np.ndarray:
        """Boolean matrix: [i, j] when i is above j at 95 %, for all pairs together."""
        return separated(self.rating, self.covariance)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A line for each player, in the order of their numbers."""
        lower, upper, open_ranks = self.lower, self.upper, rank_ranges(self.above)
        return tuple(
            Row(i, float(rating), float(lower[i]), float(upper[i]), rank, open_ranks[i], float(self.games[i]))
            for i, (rating, rank) in enumerate(zip(self.rating, ranks(self.rating), strict=True))
        )


def aggregate(results: Iterable[DuelResult]) -> list[Pair]:
    """Duels counted by unordered pair, the lower number first, in order of number.

    A score above ½ is a win for A, below ½ a loss, ½ a tie.
    """
    counts: dict[tuple[int, int], list[float]] = {}
    for result in results:
        a, b, score = result.a, result.b, result.score
        if a > b:
            a, b, score = b, a, 1.0 - score
        counts.setdefault((a, b), [0.0, 0.0, 0.0])[0 if score > 0.5 else 1 if score < 0.5 else 2] += 1.0
    return [Pair(a, b, *counts[a, b]) for a, b in sorted(counts)]


def fit(pairs: Sequence[Pair], players: int, *, prior_games: float = PRIOR_GAMES) -> BradleyTerry:
    """Ratings of players 0 … `players`-1 from counted results.

    `prior_games` is used only where no finite ratings fit the data (see `BradleyTerry`); a player without
    games is then rated 1500 or near it, with a wide interval. One player alone is 1500 exactly.
    """
    a = np.array([p.a for p in pairs], np.int64)
    b = np.array([p.b for p in pairs], np.int64)
    if len(a) and (min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= players):
        worst = next(p for p in pairs if not (0 <= p.a < players and 0 <= p.b < players))
        raise ValueError(f"a pair names players {worst.a} and {worst.b}: there are {players}, counted from 0")
    if not prior_games > 0:
        raise ValueError(f"prior_games is {prior_games}: expected a number above 0")
    wins = np.zeros((players, players))
    ties = np.zeros((players, players))
    np.add.at(wins, (a, b), [p.wins_a for p in pairs])
    np.add.at(wins, (b, a), [p.wins_b for p in pairs])
    np.add.at(ties, (a, b), [p.ties for p in pairs])
    np.add.at(ties, (b, a), [p.ties for p in pairs])
    return fit_matrix(wins, ties, prior_games=prior_games)


def fit_matrix(wins: Floats, ties: Floats, *, prior_games: float = PRIOR_GAMES) -> BradleyTerry:
    """As `fit`, from matrices: `wins[i, j]` of i over j, `ties` symmetric; shape (players, players)."""
    n = len(wins)
    total = wins + wins.T + ties
    components = strong_components((wins + ties) > 0)
    connected = len(components) <= 1
    prior = 0.0 if connected else prior_games
    points = wins + ties / 2
    strength = _newton(points, total, prior)
    information, chance = _information(strength, total, prior)
    inverse = _inverse(information, prior)
    if prior:
        covariance = inverse
    else:
        leverage = _pair_variance(inverse) * chance * (1 - chance)
        squares = wins * (1 - chance) ** 2 + wins.T * chance**2 + ties * (0.5 - chance) ** 2
        covariance = inverse @ _laplacian(squares / np.maximum(1 - leverage, 0.01)) @ inverse
    centre = np.eye(n) - 1 / max(n, 1)
    covariance = centre @ covariance @ centre * POINTS**2
    return BradleyTerry(
        rating=1500 + (strength - strength.mean() if n else strength) * POINTS,
        covariance=covariance,
        games=total.sum(axis=1),
        connected=connected,
        components=components,
        prior_games=prior,
    )


def strong_components(beats: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """Groups of players between whom `beats` leads both ways, each sorted, in order of their first player."""
    unplaced = np.ones(len(beats), bool)
    groups = []
    for first in range(len(beats)):
        if unplaced[first]:
            group = _reach(beats, first, unplaced) & _reach(beats.T, first, unplaced)
            unplaced &= ~group
            groups.append(tuple(np.flatnonzero(group).tolist()))
    return tuple(groups)


def _reach(edges: np.ndarray, first: int, within: np.ndarray) -> np.ndarray:
    seen = np.zeros(len(edges), bool)
    seen[first] = True
    frontier = seen
    while frontier.any():
        frontier = edges[frontier].any(axis=0) & within & ~seen
        seen = seen | frontier
    return seen


def _chances(strength: Floats) -> Floats:
    return 1 / (1 + np.exp(np.clip(strength[None, :] - strength[:, None], -700, 700)))


def _laplacian(weight: Floats) -> Floats:
    return np.diag(weight.sum(axis=1)) - weight


def _information(strength: Floats, total: Floats, prior: float) -> tuple[Floats, Floats]:
    chance = _chances(strength)
    information = _laplacian(total * chance * (1 - chance))
    if prior:
        alone = 1 / (1 + np.exp(-strength))
        information = information + np.diag(prior * alone * (1 - alone))
    return information, chance


def _inverse(information: Floats, prior: float) -> Floats:
    """Inverse, or without a prior the inverse within the differences of ratings (the mean is held)."""
    n = len(information)
    if prior or n == 0:
        return np.asarray(np.linalg.inv(information))
    hold = max(float(np.trace(information)) / n, 1e-300) / n
    return np.asarray(np.linalg.inv(information + hold)) - 1 / (n * n * hold)


def _pair_variance(covariance: Floats) -> Floats:
    spread = np.diag(covariance)
    return np.asarray(spread[:, None] + spread[None, :] - 2 * covariance)


def _newton(points: Floats, total: Floats, prior: float) -> Floats:
    n = len(points)
    strength = np.zeros(n)
    value = -np.inf
    step = np.zeros(n)
    for _ in range(100):
        attempt = strength + step
        gap = attempt[:, None] - attempt[None, :]
        reached = -float((points * np.logaddexp(0, -gap)).sum())
        reached -= prior / 2 * float((np.logaddexp(0, attempt) + np.logaddexp(0, -attempt)).sum())
        if reached < value - 1e-9 * abs(value):
            step = step / 2
            continue
        strength, value = attempt, reached
        if 0 < np.abs(step).max(initial=0.0) < 1e-9:
            break
        information, chance = _information(strength, total, prior)
        slope = (points - total * chance).sum(axis=1)
        if prior:
            slope = slope + prior * (0.5 - 1 / (1 + np.exp(-strength)))
        step = _inverse(information, prior) @ slope
        if np.abs(step).max(initial=0.0) < 1e-14:
            break
    return strength
