"""Bradley-Terry in which each judge has a reliability of its own, estimated with the ratings.

    P(judge j prefers a to b) = 1 / (1 + exp(-g_j (s_a - s_b)))

g_j = 1 is a judge of average discernment, 0 one who tosses a coin, below 0 one who prefers the worse. It is
CrowdBT's worker quality (Chen, Bennett, Collins-Thompson, Horvitz, WSDM 2013) on the log-odds scale, as
"discrimination" is in item response theory. A tie is half a win each. A judge with few votes says little
about itself, so g_j has a normal prior of mean 1 and standard deviation `prior_sd`; it also holds the
scale, which is that of the average judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from peerage.ratings.blas import one_thread
from peerage.ratings.bradley_terry import PRIOR_GAMES, solve
from peerage.ratings.history import Duels, duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.table import POINTS, Z95, Row, rank_ranges, ranks, separated
from peerage.ratings.tally import Tally

_NEAR = 0.03  # log-odds and reliability


@dataclass(frozen=True)
class JudgeAware:
    """Ratings (mean 1500, 400 points a decade for the average judge) and judges' reliabilities."""

    rating: Floats
    covariance: Floats
    games: Floats
    judges: tuple[str, ...]
    reliability: Floats
    reliability_error: Floats
    votes: Floats
    connected: bool

    @property
    def error(self) -> Floats:
        """Standard error of each rating, in points."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0)))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A line for each player, by number."""
        error, open_ranks = self.error, rank_ranges(separated(self.rating, self.covariance))
        return tuple(
            Row(
                i,
                float(at),
                float(at - Z95 * error[i]),
                float(at + Z95 * error[i]),
                rank,
                open_ranks[i],
                float(self.games[i]),
            )
            for i, (at, rank) in enumerate(zip(self.rating, ranks(self.rating), strict=True))
        )

    @property
    def listed(self) -> list[tuple[str, float, float, float, float]]:
        """Each judge's name, reliability, its 95% bounds, and number of votes."""
        wide = Z95 * self.reliability_error
        return [
            (name, float(g), float(g - w), float(g + w), float(votes))
            for name, g, w, votes in zip(self.judges, self.reliability, wide, self.votes, strict=True)
        ]

    @property
    def weights(self) -> dict[str, float]:
        """A vote weight for each judge: its reliability, nothing below 0, averaging 1 over the votes cast."""
        positive = np.maximum(self.reliability, 0)
        mean = float((positive * self.votes).sum() / max(self.votes.sum(), 1e-300))
        scale = positive / mean if mean > 0 else np.ones(len(positive))
        return dict(zip(self.judges, scale.tolist(), strict=True))


def fit(
    history: Duels, judge: Sequence[str], *, prior_sd: float = 0.5, prior_games: float = PRIOR_GAMES
) -> JudgeAware:
    """Ratings and reliabilities from a history and who judged each row.

    The posterior is climbed by Newton's method over ratings and reliabilities by turns, and both are
    covered by one covariance (Laplace's). Where not everybody can be compared `prior_games` hold the
    ratings, as in `fit`.
    """
    if len(judge) != len(history):
        raise ValueError(f"there are {len(judge)} judges and {len(history)} rows")
    names = sorted(set(judge))
    place = {name: at for at, name in enumerate(names)}
    code = np.array([place[name] for name in judge], np.int64)
    return fit_coded(history, names, code, prior_sd=prior_sd, prior_games=prior_games)


@one_thread
def fit_coded(
    history: Duels,
    judges: Sequence[str],
    judge: Ints,
    *,
    prior_sd: float = 0.5,
    prior_games: float = PRIOR_GAMES,
) -> JudgeAware:
    """As `fit`, with the judge of each row as a place in `judges`; who judged no row has reliability 1."""
    if not prior_sd > 0:
        raise ValueError(f"prior_sd is {prior_sd}: expected a number above 0")
    n, m = history.players, len(judges)
    games = np.bincount(history.first, minlength=n) + np.bincount(history.second, minlength=n)
    votes = np.bincount(judge, minlength=m)
    history, code = _by_cell(history, judge)
    base = solve(_tally(history), "half", prior_games)
    prior = base.prior
    strength, skill = base.strength - (base.strength.mean() if n else 0.0), np.ones(m)
    value = -np.inf
    step: Floats = np.zeros(n + m)
    information = np.eye(n + m)
    for _ in range(500):
        at, quality = strength + step[:n], skill + step[n:]
        gap = at[history.first] - at[history.second]
        chance = 1 / (1 + np.exp(-np.clip(quality[code] * gap, -700, 700)))
        reached = float((history.weight * _log_likelihood(history.score, quality[code] * gap)).sum())
        reached -= float(((quality - 1) ** 2).sum()) / (2 * prior_sd**2)
        reached -= prior / 2 * float((np.logaddexp(0, at) + np.logaddexp(0, -at)).sum())
        if not reached >= value - 1e-10 * abs(value):
            step = step / 2
            continue
        done = np.abs(step).max(initial=0.0) < 1e-9 and value > -np.inf
        strength, skill, value = at, quality, reached
        alone = 1 / (1 + np.exp(-strength))
        residual = history.weight * (history.score - chance)
        slope: Floats = np.concatenate(
            [_differences(history, residual * skill[code], n), np.bincount(code, residual * gap, m)],
            dtype=np.float64,
        )
        slope[:n] += prior * (0.5 - alone)
        slope[n:] -= (skill - 1) / prior_sd**2
        information = _information(
            history, code, history.weight * chance * (1 - chance), gap, skill, prior_sd
        )
        information[range(n), range(n)] += prior * alone * (1 - alone)
        if done:
            break
        step = _step(_held(information, n, prior), _crossed(history, code, residual, n, m), slope)
    inverse = np.linalg.inv(_held(information, n, prior))
    centre = np.eye(n) - 1 / max(n, 1)
    return JudgeAware(
        rating=1500 + (strength - strength.mean() if n else strength) * POINTS,
        covariance=centre @ inverse[:n, :n] @ centre * POINTS**2,
        games=games.astype(np.float64),
        judges=tuple(judges),
        reliability=skill,
        reliability_error=np.sqrt(np.diag(inverse)[n:]),
        votes=votes.astype(np.float64),
        connected=len(base.components) <= 1,
    )


def _by_cell(history: Duels, judge: Ints) -> tuple[Duels, Ints]:
    """One row for all votes of a judge on two players, with the mean of their scores and the sum of their
    weights, and its judge: the likelihood is the same. Votes that weigh nothing are left out."""
    n = history.players
    turned = history.first > history.second
    low, high = np.where(turned, [history.second, history.first], [history.first, history.second])
    cells, of = np.unique((judge * n + low) * n + high, return_inverse=True)
    score = np.where(turned, 1 - history.score, history.score)
    weight, won = np.bincount(of, history.weight), np.bincount(of, history.weight * score)
    cells, weight, won = cells[weight > 0], weight[weight > 0], won[weight > 0]
    by, pair = np.divmod(cells, max(n * n, 1))
    first, second = np.divmod(pair, max(n, 1))
    return duels(n, first, second, np.minimum(won / weight, 1.0), weight), by


def _tally(history: Duels) -> Tally:
    """Whatever the judge: wins and losses of each pair, a tie being half of both."""
    n = history.players
    pairs, of = np.unique(history.first * n + history.second, return_inverse=True)
    won = np.bincount(of, history.weight * history.score)
    lost = np.bincount(of, history.weight * (1 - history.score))
    sums = np.stack([won, lost, np.zeros(len(won))])
    first, second = np.divmod(pairs, max(n, 1))
    return Tally(n, first, second, sums, sums, sums)


def _crossed(history: Duels, code: Ints, residual: Floats, n: int, m: int) -> Floats:
    """What the observed information has less than the expected one, by strength and reliability."""
    first = np.bincount(history.first * m + code, residual, n * m)
    return np.asarray(first - np.bincount(history.second * m + code, residual, n * m)).reshape(n, m)


def _step(information: Floats, crossed: Floats, slope: Floats) -> Floats:
    """A step upwards: Fisher's scoring, whose expected information is positive everywhere; near the top, to
    which that only creeps up, Newton's with the observed one."""
    scoring = np.asarray(np.linalg.solve(information, slope), np.float64)
    if np.abs(scoring).max(initial=0.0) > _NEAR:
        return scoring
    n = len(crossed)
    observed = information.copy()
    observed[:n, n:] -= crossed
    observed[n:, :n] -= crossed.T
    try:
        np.linalg.cholesky(observed)
    except np.linalg.LinAlgError:
        return scoring
    return np.asarray(np.linalg.solve(observed, slope), np.float64)


def _log_likelihood(score: Floats, gap: Floats) -> Floats:
    return np.asarray((score - 1) * gap - np.logaddexp(0, -gap))


def _differences(history: Duels, value: Floats, n: int) -> Floats:
    return np.asarray(np.bincount(history.first, value, n) - np.bincount(history.second, value, n))


def _information(
    history: Duels, code: np.ndarray, weight: Floats, gap: Floats, skill: Floats, prior_sd: float
) -> Floats:
    """Expected information of strengths and reliabilities; prior of the latter included."""
    n, m = history.players, len(skill)
    matrix = np.zeros((n + m, n + m))
    pair = np.bincount(history.first * n + history.second, weight * skill[code] ** 2, n * n).reshape(n, n)
    pair = pair + pair.T
    matrix[:n, :n] = np.diag(pair.sum(axis=1)) - pair
    cross = weight * skill[code] * gap
    both = np.bincount(history.first * m + code, cross, n * m) - np.bincount(
        history.second * m + code, cross, n * m
    )
    matrix[:n, n:] = both.reshape(n, m)
    matrix[n:, :n] = matrix[:n, n:].T
    matrix[range(n, n + m), range(n, n + m)] = np.bincount(code, weight * gap**2, m) + 1 / prior_sd**2
    return matrix


def _held(information: Floats, n: int, prior: float) -> Floats:
    if prior or not n:
        return information
    held = information.copy()
    held[:n, :n] += max(float(np.trace(information[:n, :n])) / n, 1e-300) / n
    return held
