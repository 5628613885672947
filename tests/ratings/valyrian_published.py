"""TrueSkill as the Valyrian leaderboard publishes it, rounding error included, to hold ours against.

The leaderboard is the `trueskill` package's table without SciPy, at draw probability 0. Its normal
distribution is then a polynomial with errors up to 1.2e-7 (Numerical Recipes, erfcc), and a tie's V and W
are quotients of such errors: published skills lie up to 0.36 mu from the exact limit that `trueskill.rate`
takes, and depend on the order of every addition. So this module repeats the package's arithmetic, step by
step, for single players. It is for reproducing that publication; nothing else should use it.
"""

from __future__ import annotations

import math

import numpy as np

from peerage.ratings.columns.history import GameColumns
from peerage.ratings.sequential.trueskill import TrueSkillSettings, TrueSkillTable

SETTINGS = TrueSkillSettings(draw_probability=0.0)

Normal = tuple[float, float]  # precision, precision times mean
_NOTHING: Normal = (0.0, 0.0)


def rate(played: GameColumns) -> TrueSkillTable:
    """Skills after games between single players, in order, with the package's default constants."""
    mu, sigma = ([value] * played.players for value in _kept(SETTINGS.mu, SETTINGS.sigma))
    if len(played.seat) != len(played.rank):
        raise ValueError("the published table is of single players: a game here has a team")
    for g in range(len(played)):
        part = slice(int(played.game[g]), int(played.game[g + 1]))
        seated = played.seat[part].tolist()
        after = _one_game([mu[p] for p in seated], [sigma[p] for p in seated], played.rank[part].tolist())
        for player, (new_mu, new_sigma) in zip(seated, after, strict=True):
            mu[player], sigma[player] = new_mu, new_sigma
    return TrueSkillTable(SETTINGS, np.array(mu), np.array(sigma), played.played())


def _one_game(mus: list[float], sigmas: list[float], ranks: list[float]) -> list[tuple[float, float]]:
    """New (mu, sigma) of players in order of rank."""
    noise = SETTINGS.beta**2
    margin = _quantile((SETTINGS.draw_probability + 1) / 2.0) * math.sqrt(2) * SETTINGS.beta
    rating, performance, team = [], [], []
    for mu, sigma in zip(mus, sigmas, strict=True):
        pi = math.sqrt(sigma**2 + SETTINGS.tau**2) ** -2
        rating.append((pi, pi * mu))
        a = 1.0 / (1.0 + noise * pi)
        performance.append((a * rating[-1][0], a * rating[-1][1]))
        team.append(_sum([(1.0, performance[-1])]))
    from_performance = list(team)
    n = len(team) - 1
    gap = [_NOTHING] * n
    from_teams, from_cut = [_NOTHING] * n, [_NOTHING] * n
    to_upper, to_lower = [_NOTHING] * n, [_NOTHING] * n

    def compare(x: int) -> float:
        upper, lower = _over(team[x], to_upper[x]), _over(team[x + 1], to_lower[x])
        message = _sum([(1.0, upper), (-1.0, lower)])
        gap[x] = _times(_over(gap[x], from_teams[x]), message)
        from_teams[x] = message
        rest = _over(gap[x], from_cut[x])
        root = math.sqrt(rest[0])
        v, w = (_tied if ranks[x] == ranks[x + 1] else _won)(rest[1] / root, margin * root)
        value = (rest[0] / (1.0 - w), (rest[1] + root * v) / (1.0 - w))
        from_cut[x] = _over(_times(value, from_cut[x]), gap[x])
        moved = max(abs(gap[x][1] - value[1]), math.sqrt(abs(gap[x][0] - value[0])))
        gap[x] = value
        return moved

    def tell_upper(x: int) -> None:
        message = _sum([(1.0, _over(gap[x], from_teams[x])), (1.0, _over(team[x + 1], to_lower[x]))])
        team[x] = _times(_over(team[x], to_upper[x]), message)
        to_upper[x] = message

    def tell_lower(x: int) -> None:
        message = _sum([(1.0, _over(team[x], to_upper[x])), (-1.0, _over(gap[x], from_teams[x]))])
        team[x + 1] = _times(_over(team[x + 1], to_lower[x]), message)
        to_lower[x] = message

    for _ in range(10):
        moved = compare(0) if n == 1 else 0.0
        for x in range(n - 1):
            moved = max(moved, compare(x))
            tell_lower(x)
        for x in range(n - 1, 0, -1):
            moved = max(moved, compare(x))
            tell_upper(x)
        if moved <= SETTINGS.tolerance:
            break
    tell_upper(0)
    tell_lower(n - 1)
    after = []
    for i in range(n + 1):
        own = _over(
            _times(performance[i], _sum([(1.0, _over(team[i], from_performance[i]))])), performance[i]
        )
        a = 1.0 / (1.0 + noise * own[0])
        pi, tau = _times(rating[i], (a * own[0], a * own[1]))
        after.append(_kept(tau / pi, math.sqrt(1 / pi)))
    return after


def _kept(mu: float, sigma: float) -> tuple[float, float]:
    """mu and sigma as they read after being stored as a precision."""
    pi = sigma**-2
    return pi * mu / pi, math.sqrt(1 / pi)


def _times(one: Normal, other: Normal) -> Normal:
    return one[0] + other[0], one[1] + other[1]


def _over(one: Normal, other: Normal) -> Normal:
    return one[0] - other[0], one[1] - other[1]


def _sum(terms: list[tuple[float, Normal]]) -> Normal:
    mean = 0.0
    variance = 0.0
    for coefficient, (pi, tau) in terms:
        mean += coefficient * (tau / pi if pi else 0.0)
        variance += coefficient**2 / pi if pi else math.inf
    pi = 1.0 / variance
    return pi, pi * mean


def _erfc(x: float) -> float:
    z = abs(x)
    t = 1.0 / (1.0 + z / 2.0)
    series = 0.0
    for coefficient in (
        0.17087277,
        -0.82215223,
        1.48851587,
        -1.13520398,
        0.27886807,
        -0.18628806,
        0.09678418,
        0.37409196,
        1.00002368,
    ):
        series = t * (coefficient + series)
    r = t * math.exp(-z * z - 1.26551223 + series)
    return 2.0 - r if x < 0 else r


def _cdf(x: float) -> float:
    return 0.5 * _erfc(-x / math.sqrt(2))


def _pdf(x: float) -> float:
    return 1 / math.sqrt(2 * math.pi) * math.exp(-(x**2 / 2))


def _quantile(p: float) -> float:
    """Inverse of `_cdf` for p from ½ to below 1: a rational guess and two Halley steps."""
    y = 2 - 2 * p
    t = math.sqrt(-2 * math.log(y / 2.0))
    x = -0.70711 * ((2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)) - t)
    for _ in range(2):
        error = _erfc(x) - y
        x += error / (1.12837916709551257 * math.exp(-(x**2)) - x * error)
    return math.sqrt(2) * x


def _won(difference: float, margin: float) -> tuple[float, float]:
    x = difference - margin
    mass = _cdf(x)
    v = _pdf(x) / mass if mass else -x
    return v, v * (v + x)


def _tied(difference: float, margin: float) -> tuple[float, float]:
    a, b = margin - abs(difference), -margin - abs(difference)
    mass = _cdf(a) - _cdf(b)
    v = (_pdf(b) - _pdf(a)) / mass if mass else a
    w = v**2 + (a * _pdf(a) - b * _pdf(b)) / mass
    return (v if difference >= 0 else -v), w
