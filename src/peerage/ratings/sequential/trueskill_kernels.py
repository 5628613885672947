"""The inner loops of TrueSkill, plain Python that Numba compiles for long histories (see `compiled.py`).

Messages are kept as mean and variance, so that a tie at draw probability 0, which says that two
performances were *equal*, is an ordinary message of variance 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from peerage.ratings.arrays import Floats, Ints

_ROOT_HALF = 0.7071067811865476
_DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)
_SWEEPS = 10
_LEAST_SHARE = 1e-4
# Gauss-Legendre with 16 nodes on [-1, 1], the positive half
_NODES = (
    0.09501250983763744,
    0.2816035507792589,
    0.45801677765722737,
    0.6178762444026438,
    0.755404408355003,
    0.8656312023878318,
    0.9445750230732326,
    0.9894009349916499,
)
_WEIGHTS = (
    0.18945061045506864,
    0.18260341504492364,
    0.16915651939500265,
    0.1495959888165767,
    0.12462897125553407,
    0.0951585116824926,
    0.062253523938647456,
    0.027152459411754176,
)


def cdf(x: float) -> float:
    """Normal distribution function."""
    return 0.5 * math.erfc(-x * _ROOT_HALF)


def pdf(x: float) -> float:
    """Normal density."""
    return _DENSITY * math.exp(-0.5 * x * x)


def mills(z: float) -> float:
    """(1 - cdf(z)) / pdf(z) for z from 0: Mills' ratio, by its asymptotic series beyond 25."""
    if z > 25.0:
        u = 1.0 / (z * z)
        return (1.0 - u * (1.0 - u * (3.0 - u * (15.0 - u * (105.0 - u * 945.0))))) / z
    return math.erfc(z * _ROOT_HALF) / (2.0 * pdf(z))


def won(x: float) -> tuple[float, float]:
    """V and W of a win, x standard deviations beyond the draw margin. Herbrich, Minka and Graepel,
    "TrueSkill: A Bayesian Skill Rating System" (NIPS 2006), equations 7 and 8."""
    if x < -30.0:
        z = -x
        u = 1.0 / (z * z)
        return z + (1.0 - u * (2.0 - u * (10.0 - u * 74.0))) / z, 1.0 - u * (1.0 - u * (6.0 - u * 50.0))
    v = pdf(x) / cdf(x)
    return v, v * (v + x)


def tied(difference: float, margin: float) -> tuple[float, float]:
    """V and W of a tie; both arguments in standard deviations. As `margin` goes to 0: -difference and 1.
    Equations 9 and 10 of the paper, as the mean and variance of a normal cut to [-margin, margin]. Taken
    literally they cancel where the margin is small; there the two moments are integrated instead
    (Gauss-Legendre)."""
    t = abs(difference)
    if margin * t > 20.0 and t > margin:
        v, w = won(margin - t)
        v = -v
    elif margin <= 1.0 and margin * t <= 6.0:
        mass = 0.0
        first = 0.0
        second = 0.0
        for i in range(8):
            x = margin * _NODES[i]
            tilt = math.exp(t * x)
            part = _WEIGHTS[i] * math.exp(-0.5 * x * x)
            even = part * (tilt + 1.0 / tilt)
            mass += even
            first += part * (tilt - 1.0 / tilt) * x
            second += even * x * x
        mean = first / mass
        v = mean - t
        w = 1.0 - (second / mass - mean * mean)
    else:
        a = margin - t
        b = -margin - t
        if a > 0.0:
            mass = cdf(a) - cdf(b)
            v = (pdf(b) - pdf(a)) / mass
            w = v * v + (a * pdf(a) - b * pdf(b)) / mass
        else:
            fall = math.exp(-2.0 * margin * t)
            mass = mills(-a) - fall * mills(-b)
            v = (fall - 1.0) / mass
            w = v * v + (a - b * fall) / mass
    return (v if difference >= 0.0 else -v), min(w, 1.0)


class TeamGames(NamedTuple):
    """Skills, and games in columns as `GameColumns` has them; skills are written in place."""

    mu: Floats
    variance: Floats
    game: Ints
    team: Ints
    rank: Floats
    seat: Ints
    share: Floats
    weight: Floats


class GameNoise(NamedTuple):
    """Variances of a performance and of the drift between games, the draw margin for a pair of one seat in
    all, and the largest move at which message passing stops."""

    performance: float
    drift: float
    unit_margin: float
    tolerance: float


# Columns of the messages of one game, each with room for its seats, its teams and one more: of each seat,
SKILL, DOUBT, PART = 0, 1, 2
# of each team its performance, how far it may be from its centre, and that truncated difference,
MEAN, SPREAD, WIDTH, OFF, OFF_VARIANCE = 3, 4, 5, 6, 7
# of each place its first team, the seats of a team there, and its centre without its neighbours,
FIRST, SIZE, CENTRE, WIDE_CENTRE, PRECISION, PRECISION_MEAN = 8, 9, 10, 11, 12, 13
# messages from the place above and the one below, as precision and mean,
ABOVE, ABOVE_MEAN, BELOW, BELOW_MEAN = 14, 15, 16, 17
# and the truncated difference with the next place; an infinite variance is silence.
CUT_MEAN, CUT_VARIANCE = 18, 19
COLUMNS = 20


def games(of: TeamGames, noise: GameNoise, chain: Floats) -> None:
    """Play games of any number of teams, by message passing along the chain of places; of two teams by the
    closed form. `chain` has room for the messages, shape (seats or teams and one more, `COLUMNS`).

    A place is one team, or a centre between teams that tied: each performs within the draw margin of it, and
    the chain compares centres. So no order in which tied teams are listed moves them; the chain of teams of
    the `trueskill` package does (sublee/trueskill, issues 13 and 15). The schedule (sweeps there and back
    until no truncated difference moves by more than the tolerance, ten at most, more with centres) is that
    package's.
    """
    mu, variance, game, team, rank, seat, share, weight = of
    for g in range(len(game) - 1):
        start = game[g]
        teams = game[g + 1] - start
        if teams != 2:
            places = seated(of, chain, noise, start, teams)
            for _ in range(_SWEEPS if places == teams else 5 * _SWEEPS):
                moved = tied_teams(chain, places) if places < teams else 0.0
                if max(moved, swept(chain, noise.unit_margin, places, teams)) <= noise.tolerance:
                    break
            ended(chain, places)
            learned(of, chain, noise.performance, g, places)
            continue
        begin, middle, end = team[start], team[start + 1], team[start + 2]
        gap, wide = 0.0, 0.0
        for i in range(begin, end):
            player, part = seat[i], max(share[i], _LEAST_SHARE)
            doubt = variance[player] + noise.drift
            wide += part * part * (doubt + noise.performance)
            chain[i - begin, PART] = part = part if i < middle else -part
            chain[i - begin, DOUBT] = doubt
            gap += part * mu[player]
        s = math.sqrt(wide)
        margin = noise.unit_margin * math.sqrt(end - begin) / s
        v, w = tied(gap / s, margin) if rank[start] == rank[start + 1] else won(gap / s - margin)
        for i in range(begin, end):
            variance[seat[i]] = chain[i - begin, DOUBT]
        for i in range(begin, end):
            player, part, doubt = seat[i], chain[i - begin, PART], chain[i - begin, DOUBT]
            left = 1.0 - part * part * doubt / wide * w
            kept = left + weight[g] * (1.0 - left)  # the message to the power of the weight
            mu[player] += weight[g] * part * doubt / s * v / kept
            variance[player] *= left / kept


def seated(of: TeamGames, chain: Floats, noise: GameNoise, start: int, teams: int) -> int:
    """Seat the teams of a game, without any message yet, and return how many places they took."""
    mu, variance, _, team, rank, seat, share, _ = of
    base, places = team[start], 0
    for t in range(teams):
        low, high = team[start + t] - base, team[start + t + 1] - base
        total, noisy = 0.0, 0.0
        for i in range(low, high):
            player, own = seat[base + i], max(share[base + i], _LEAST_SHARE)
            chain[i, SKILL], chain[i, PART] = mu[player], own
            chain[i, DOUBT] = variance[player] + noise.drift
            total += own * chain[i, SKILL]
            noisy += own * own * (chain[i, DOUBT] + noise.performance)
        chain[t, MEAN], chain[t, SPREAD] = total, noisy
        # as far from the centre as makes two of a place as far apart as a tie of two
        chain[t, WIDTH] = noise.unit_margin * math.sqrt(high - low)
        chain[t, OFF], chain[t, OFF_VARIANCE] = 0.0, chain[t, WIDTH] * chain[t, WIDTH] / 3.0
        if t == 0 or rank[start + t] != rank[start + t - 1]:
            chain[places, FIRST], chain[places, SIZE] = t, 0.0
            places += 1
        chain[places - 1, SIZE] += high - low
    chain[places, FIRST] = teams
    for x in range(places):
        t, tied_there = int(chain[x, FIRST]), chain[x + 1, FIRST] - chain[x, FIRST]
        chain[x, SIZE] /= tied_there
        if tied_there > 1:
            find_centre(chain, x)
        else:
            chain[x, CENTRE], chain[x, WIDE_CENTRE] = chain[t, MEAN], chain[t, SPREAD]
        chain[x, ABOVE] = chain[x, ABOVE_MEAN] = 0.0
        chain[x, BELOW] = chain[x, BELOW_MEAN] = 0.0
        chain[x, CUT_MEAN], chain[x, CUT_VARIANCE] = 0.0, math.inf
    return places


def find_centre(chain: Floats, x: int) -> None:
    """Find the centre of a place's teams, by its precision too."""
    pi, pi_mean = 0.0, 0.0
    for t in range(int(chain[x, FIRST]), int(chain[x + 1, FIRST])):
        precision = 1.0 / (chain[t, SPREAD] + chain[t, OFF_VARIANCE])
        pi += precision
        pi_mean += precision * (chain[t, MEAN] - chain[t, OFF])
    chain[x, PRECISION], chain[x, PRECISION_MEAN] = pi, pi_mean
    chain[x, CENTRE], chain[x, WIDE_CENTRE] = pi_mean / pi, 1.0 / pi


def tied_teams(chain: Floats, places: int) -> float:
    """Cut the differences of tied teams, all of a place at once; return the largest move of the centre."""
    moved = 0.0
    for x in range(places):
        low, high = int(chain[x, FIRST]), int(chain[x + 1, FIRST])
        if high - low == 1:
            continue
        pi = chain[x, PRECISION] + (chain[x, ABOVE] + chain[x, BELOW])
        pi_mean = chain[x, PRECISION_MEAN] + (
            chain[x, ABOVE] * chain[x, ABOVE_MEAN] + chain[x, BELOW] * chain[x, BELOW_MEAN]
        )
        for t in range(low, high):
            precision = 1.0 / (chain[t, SPREAD] + chain[t, OFF_VARIANCE])
            rest = max(pi - precision, 1e-12 * pi)
            gap = chain[t, MEAN] - (pi_mean - precision * (chain[t, MEAN] - chain[t, OFF])) / rest
            wide = chain[t, SPREAD] + 1.0 / rest
            s = math.sqrt(wide)
            v, w = tied(gap / s, chain[t, WIDTH] / s)
            now, variance = 0.0, 1e9 * wide  # a margin beyond all doubt says nothing
            if w > 1e-9:
                now, variance = gap + s * v / w, wide * (1.0 - w) / w
            moved = max(moved, change(now, variance, chain[t, OFF], chain[t, OFF_VARIANCE]))
            chain[t, OFF], chain[t, OFF_VARIANCE] = now, variance
        find_centre(chain, x)
    return moved


def change(mean: float, variance: float, was_mean: float, was_variance: float) -> float:
    """Return how far a message moved, in precision and in mean times that; 0 where it was or is certain."""
    if variance > 0.0 and was_variance > 0.0:
        moved = math.sqrt(abs(1.0 / variance - 1.0 / was_variance))
        return max(moved, abs(mean / variance - was_mean / was_variance))
    return 0.0


def without_below(chain: Floats, x: int) -> tuple[float, float]:
    """Return the precision and the mean of a place by itself and the places above it."""
    pi = 1.0 / chain[x, WIDE_CENTRE] + chain[x, ABOVE]
    return pi, (chain[x, CENTRE] / chain[x, WIDE_CENTRE] + chain[x, ABOVE] * chain[x, ABOVE_MEAN]) / pi


def without_above(chain: Floats, x: int) -> tuple[float, float]:
    """Return the precision and the mean of a place by itself and the places below it."""
    pi = 1.0 / chain[x, WIDE_CENTRE] + chain[x, BELOW]
    return pi, (chain[x, CENTRE] / chain[x, WIDE_CENTRE] + chain[x, BELOW] * chain[x, BELOW_MEAN]) / pi


def swept(chain: Floats, unit_margin: float, places: int, teams: int) -> float:
    """Compare neighbouring places from the first to the last and back; return the largest move."""
    if places == 1:
        return 0.0
    last, moved = places - 2, 0.0
    for turn in range(max(2 * last, 1)):
        x = turn if turn < last else 2 * last - turn
        y = x + 1
        pi_x, mean_x = without_below(chain, x)
        pi_y, mean_y = without_above(chain, y)
        gap, wide = mean_x - mean_y, 1.0 / pi_x + 1.0 / pi_y
        s = math.sqrt(wide)
        v, w = won(gap / s - unit_margin * math.sqrt(chain[x, SIZE] + chain[y, SIZE]) / s)
        mean, variance = 0.0, math.inf
        if w > 0.0:
            mean, variance = gap + s * v / w, wide * (1.0 - w) / w
        moved = max(moved, change(mean, variance, chain[x, CUT_MEAN], chain[x, CUT_VARIANCE]))
        chain[x, CUT_MEAN], chain[x, CUT_VARIANCE] = mean, variance
        if turn < last or places < teams:
            chain[y, ABOVE], chain[y, ABOVE_MEAN] = 1.0 / (variance + 1.0 / pi_x), mean_x - mean
        if (turn >= last and last) or places < teams:
            chain[x, BELOW], chain[x, BELOW_MEAN] = 1.0 / (variance + 1.0 / pi_y), mean + mean_y
    return moved


def ended(chain: Floats, places: int) -> None:
    """Bring the messages to the first place and to the last up to date."""
    last = places - 2
    if last < 0:
        return
    pi, mean = without_above(chain, 1)
    chain[0, BELOW] = 1.0 / (chain[0, CUT_VARIANCE] + 1.0 / pi)
    chain[0, BELOW_MEAN] = chain[0, CUT_MEAN] + mean
    pi, mean = without_below(chain, last)
    chain[last + 1, ABOVE] = 1.0 / (chain[last, CUT_VARIANCE] + 1.0 / pi)
    chain[last + 1, ABOVE_MEAN] = mean - chain[last, CUT_MEAN]


def learned(of: TeamGames, chain: Floats, performance: float, g: int, places: int) -> None:
    """Write what a game's messages at the end say of each player's skill."""
    mu, variance, game, team, _, seat, _, weight = of
    start = game[g]
    base = team[start]
    for i in range(team[game[g + 1]] - base):
        variance[seat[base + i]] = chain[i, DOUBT]
    for x in range(places):
        for t in range(int(chain[x, FIRST]), int(chain[x + 1, FIRST])):
            precision = chain[x, ABOVE] + chain[x, BELOW]
            level = chain[x, ABOVE] * chain[x, ABOVE_MEAN] + chain[x, BELOW] * chain[x, BELOW_MEAN]
            if chain[x + 1, FIRST] - chain[x, FIRST] > 1:
                own = 1.0 / (chain[t, SPREAD] + chain[t, OFF_VARIANCE])
                precision += 1.0 / chain[x, WIDE_CENTRE] - own
                level += chain[x, CENTRE] / chain[x, WIDE_CENTRE] - own * (chain[t, MEAN] - chain[t, OFF])
                level = level / precision + chain[t, OFF]
                precision = 1.0 / (1.0 / precision + chain[t, OFF_VARIANCE])
            elif precision == 0.0:
                continue
            else:
                level /= precision
            for i in range(team[start + t] - base, team[start + t + 1] - base):
                player, p, own = seat[base + i], chain[i, PART], chain[i, DOUBT] + performance
                message = (level - (chain[t, MEAN] - p * chain[i, SKILL])) / p
                others = 1.0 / precision + (chain[t, SPREAD] - p * p * own)
                message_pi = weight[g] / (others / (p * p) + performance)
                kept = 1.0 / (1.0 + variance[player] * message_pi)
                mu[player] = (mu[player] + variance[player] * message_pi * message) * kept
                variance[player] *= kept
