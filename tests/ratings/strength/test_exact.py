"""The posterior against sums over a grid: three players, every strength, spread, share and tie parameter."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pytest

from peerage.ratings.columns.history import Game, duels, games
from peerage.ratings.strength import prior
from peerage.ratings.strength.evidence import Evidence, of_duels, of_games
from peerage.ratings.strength.posterior import strengths
from peerage.ratings.table import POINTS

EDGES = np.sinh(np.linspace(-3.0, 3.0, 60))  # narrow cells near 0, where narrow priors have all their mass
SIDE = (EDGES[1:] + EDGES[:-1]) / 2
S = np.stack(np.meshgrid(SIDE, SIDE, SIDE, indexing="ij")).reshape(3, -1)
TIES = np.linspace(-4.5, 4.5, 13)


class Summed(NamedTuple):
    rating: np.ndarray
    best: np.ndarray
    better: np.ndarray
    wins: np.ndarray
    ties: float


def cells(deviation: float) -> np.ndarray:
    """A normal's chance of each cell of a side."""
    return np.diff([NormalDist(0, deviation).cdf(edge) for edge in EDGES.tolist()])


@cache
def log_prior() -> np.ndarray:
    """Of each place of the grid, spread and share summed over."""
    total = np.zeros(S.shape[1])
    for spread in np.geomspace(0.02, 6, 20).tolist():
        weight = float(np.exp(prior.log_spread(spread, 1.0)))
        near, wide = cells(spread), cells(np.hypot(spread, prior.FAR))
        for share in (np.arange(15) + 0.5) / 30:  # to 0.5
            each = (1 - share) * near + share * wide
            whole = (each[:, None, None] * each[:, None] * each).ravel()
            total += whole * weight * (1 - share) ** 8
    return np.log(np.maximum(total, 1e-300))


def outcome(a: int, b: int, nu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Chances of win, tie and loss of a against b at each place."""
    half = (S[a] - S[b]) / 2
    total = np.exp(half) + np.exp(-half) + nu
    return np.exp(half) / total, nu / total, np.exp(-half) / total


def summed(log_likelihood: dict[float, np.ndarray]) -> Summed:
    """Means over the whole grid; the log-likelihood by ln ν."""
    parts = {
        tie: log_prior() + log - ((tie - prior.TIE[0]) ** 2 / 2 if np.isfinite(tie) else 0.0)
        for tie, log in log_likelihood.items()
    }
    top = max(part.max() for part in parts.values())
    weights = {tie: np.exp(part - top) for tie, part in parts.items()}
    total = sum(weight.sum() for weight in weights.values())
    weight = sum(weights.values()) / total
    mean = weight @ (S - S.mean(axis=0)).T
    better, wins = np.full((3, 3), 0.5), np.full((3, 3), 0.5)
    for a, b in permutations(range(3), 2):
        better[a, b] = weight @ ((S[a] > S[b]) + 0.5 * (S[a] == S[b]))
        wins[a, b] = sum(
            (part @ (won + tied / 2)) / total
            for tie, part in weights.items()
            for won, tied, _ in [outcome(a, b, np.exp(tie))]
        )
    top_of = S.max(axis=0) == S
    best = (top_of / top_of.sum(axis=0)) @ weight
    ties = sum(np.exp(tie) * part.sum() for tie, part in weights.items()) / total
    return Summed(1500 + POINTS * mean, best, better, wins, float(ties))


def agree(evidence: Evidence, exact: Summed) -> None:
    found = [strengths(evidence, seed=seed) for seed in range(8)]
    assert np.mean([each.rating for each in found], axis=0) == pytest.approx(exact.rating, abs=20)
    assert np.mean([each.best for each in found], axis=0) == pytest.approx(exact.best, abs=0.02)
    assert np.mean([each.better for each in found], axis=0) == pytest.approx(exact.better, abs=0.02)
    assert np.mean([each.wins for each in found], axis=0) == pytest.approx(exact.wins, abs=0.02)
    assert np.mean([each.ties for each in found]) == pytest.approx(exact.ties, rel=0.08, abs=1e-9)


RESULTS = [
    pytest.param([(0, 1, 7, 0, 2), (1, 2, 3, 0, 4)], id="no ties"),
    pytest.param([(0, 1, 4, 5, 2), (1, 2, 1, 3, 1), (0, 2, 2, 2, 0)], id="ties"),
    pytest.param([(0, 1, 9, 0, 0), (0, 2, 6, 0, 0), (1, 2, 3, 1, 3)], id="one never lost"),
    pytest.param([(0, 1, 0, 4, 0)], id="ties alone, one never played"),
]


@pytest.mark.parametrize("results", RESULTS)
def test_duels(results: list[tuple[int, int, int, int, int]]) -> None:
    rows = [
        (a, b, score)
        for a, b, won, tied, lost in results
        for score, count in ((1.0, won), (0.5, tied), (0.0, lost))
        for _ in range(count)
    ]
    tied = any(score == 0.5 for *_, score in rows)
    logs = {}
    for tie in TIES.tolist() if tied else [-np.inf]:
        logs[tie] = sum(np.log(outcome(a, b, np.exp(tie))[round(2 - 2 * score)]) for a, b, score in rows)
    agree(of_duels(duels(3, *np.array(rows, float).T)), summed(logs))


def plackett_luce(order: tuple[int, ...]) -> np.ndarray:
    return sum(S[item] - np.logaddexp.reduce(S[list(order[at:])], axis=0) for at, item in enumerate(order))


RANKINGS = [
    pytest.param([(1, 2, 3)] * 4 + [(2, 1, 3)] * 2, id="rankings"),
    pytest.param([(1, 1, 2)] * 3 + [(1, 2, 2)] * 3 + [(3, 2, 1)], id="ties in rankings"),
    pytest.param([(1, 1, 1)] * 3 + [(1, 2, 3)], id="all of one rank"),
]


@pytest.mark.parametrize("ranks", RANKINGS)
def test_rankings(ranks: list[tuple[int, int, int]]) -> None:
    log = 0.0
    for rank in ranks:
        orders = [order for order in permutations(range(3)) if list(rank) == [rank[i] for i in range(3)]]
        orders = [order for order in orders if sorted(rank) == [rank[i] for i in order]]
        log = log + sum(plackett_luce(order) for order in orders) / len(orders)
    played = games(3, [Game(((0,), (1,), (2,)), rank) for rank in ranks])
    agree(of_games(played), summed({-np.inf: np.asarray(log)}))


def test_teams() -> None:
    """A team is as strong as the mean of its members."""
    team, alone = (S[0] + S[1]) / 2, S[2]
    won, lost = team - np.logaddexp(team, alone), alone - np.logaddexp(team, alone)
    played = games(3, [Game(((0, 1), (2,)), (1, 2))] * 5 + [Game(((0, 1), (2,)), (2, 1))])
    agree(of_games(played), summed({-np.inf: 5 * won + lost}))
