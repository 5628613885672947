"""The inner loops of TrueSkill, plain Python that Numba compiles for long histories (see `compiled.py`).

Messages are kept as mean and variance, so that a tie at draw probability 0, which says that two
performances were *equal*, is an ordinary message of variance 0.
"""

from __future__ import annotations

import math

import numpy as np

from peerage.ratings.arrays import Floats, Ints

_ROOT_HALF = 0.7071067811865476
_DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)
_SWEEPS = 10
# Gauss-Legendre on [-1, 1], the positive halves: 8 nodes, then 16
_NODES = (
    0.18343464249564978,
    0.525532409916329,
    0.7966664774136267,
    0.9602898564975362,
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
    0.36268378337836166,
    0.3137066458778869,
    0.22238103445337443,
    0.10122853629037706,
    0.18945061045506864,
    0.18260341504492364,
    0.16915651939500265,
    0.1495959888165767,
    0.12462897125553407,
    0.0951585116824926,
    0.062253523938647456,
    0.027152459411754176,
)
_F = tuple([1 / math.factorial(n) for n in range(18)])


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


def exp_small(x: float) -> float:
    """e^x within 1e-16 for |x| up to an eighth, by its series: the C library's takes ten times as long."""
    p = _F[6] + x * (_F[7] + x * (_F[8] + x * (_F[9] + x * _F[10])))
    return _F[0] + x * (_F[1] + x * (_F[2] + x * (_F[3] + x * (_F[4] + x * (_F[5] + x * p)))))


def cosh_small(x: float) -> float:
    """The hyperbolic cosine within 1e-15 for |x| up to 1."""
    y = x * x
    p = _F[8] + y * (_F[10] + y * (_F[12] + y * (_F[14] + y * _F[16])))
    return _F[0] + y * (_F[2] + y * (_F[4] + y * (_F[6] + y * p)))


def sinh_small(x: float) -> float:
    """The hyperbolic sine within 1e-15 for |x| up to 1."""
    y = x * x
    p = _F[9] + y * (_F[11] + y * (_F[13] + y * (_F[15] + y * _F[17])))
    return x * (_F[1] + y * (_F[3] + y * (_F[5] + y * (_F[7] + y * p))))


def won(x: float) -> tuple[float, float]:
    """V and W of a win, x standard deviations beyond the draw margin.

    Herbrich, Minka and Graepel, "TrueSkill: A Bayesian Skill Rating System" (NIPS 2006), equations 7 and 8.
    """
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
    (Gauss-Legendre).
    """
    t = abs(difference)
    if margin * t > 20.0 and t > margin:
        v, w = won(margin - t)
        v = -v
    elif margin <= 0.5 and margin * t <= 1.0:
        mass = 0.0
        first = 0.0
        second = 0.0
        for i in range(4):
            x = margin * _NODES[i]
            part = _WEIGHTS[i] * exp_small(-0.5 * x * x)
            even = part * cosh_small(t * x)
            mass += even
            first += part * sinh_small(t * x) * x
            second += even * x * x
        mean = first / mass
        v = mean - t
        w = 1.0 - (second / mass - mean * mean)
    elif margin <= 1.0 and margin * t <= 6.0:
        mass = 0.0
        first = 0.0
        second = 0.0
        for i in range(4, 12):
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


def games(
    mu: Floats,
    variance: Floats,
    game: Ints,
    team: Ints,
    rank: Floats,
    seat: Ints,
    share: Floats,
    weight: Floats,
    beta: float,
    tau: float,
    unit_margin: float,
    tolerance: float,
    teams: int,
    seats: int,
) -> None:
    """Play games of any number of teams, as `duels`, by message passing along the chain of places.

    A place is one team, or a centre between teams that tied: each performs within the draw margin of it, and
    the chain compares centres. So no order in which tied teams are listed moves them; the chain of teams of
    the `trueskill` package does (sublee/trueskill, issues 13 and 15). Two teams alone tie as `duels` have it.
    The schedule (sweeps there and back until no truncated difference moves by more than `tolerance`, ten at
    most, more with centres) is that package's. `unit_margin` is the draw margin for a pair of one seat in
    all; `teams` and `seats` are the largest numbers in a game.
    """
    noise = beta * beta
    skill, doubt, part = np.empty(seats), np.empty(seats), np.empty(seats)
    mean, spread, width = np.empty(teams), np.empty(teams), np.empty(teams)
    # which teams share a place, from and to
    first = np.empty(teams + 1, np.int64)
    # how far a tied team is from its centre: mean and variance of that truncated difference
    off, off_variance = np.empty(teams), np.empty(teams)
    # of each place, without its neighbours: mean, variance, and the seats of a team there
    centre, wide_centre, size = np.empty(teams), np.empty(teams), np.empty(teams)
    # what the difference with the place above, and the one below, tells a place: precision and mean
    above, above_mean = np.empty(teams), np.empty(teams)
    below, below_mean = np.empty(teams), np.empty(teams)
    # what a truncated difference says; an infinite variance is silence
    cut_mean, cut_variance = np.empty(teams), np.empty(teams)
    for g in range(len(game) - 1):
        start = int(game[g])
        n = int(game[g + 1]) - start
        base = int(team[start])
        for i in range(int(team[start + n]) - base):
            player = int(seat[base + i])
            skill[i] = mu[player]
            doubt[i] = variance[player] + tau * tau
            part[i] = max(float(share[base + i]), 1e-4)
        places = 0
        for t in range(n):
            total = 0.0
            noisy = 0.0
            for i in range(int(team[start + t]) - base, int(team[start + t + 1]) - base):
                total += float(part[i]) * float(skill[i])
                noisy += float(part[i]) * float(part[i]) * (float(doubt[i]) + noise)
            mean[t], spread[t] = total, noisy
            seated = int(team[start + t + 1]) - int(team[start + t])
            # as far from the centre as makes two of a place as far apart as a tie of two
            width[t] = unit_margin * math.sqrt(seated)
            off[t], off_variance[t] = 0.0, width[t] * width[t] / 3.0
            if t == 0 or n == 2 or rank[start + t] != rank[start + t - 1]:
                first[places] = t
                size[places] = 0.0
                places += 1
            size[places - 1] += seated
        first[places] = n
        for x in range(places):
            size[x] /= float(first[x + 1] - first[x])
            above[x] = below[x] = above_mean[x] = below_mean[x] = cut_mean[x] = 0.0
            cut_variance[x] = math.inf
        last = places - 2
        for _ in range(_SWEEPS if places == n else 5 * _SWEEPS):
            moved = 0.0
            for x in range(places):
                low, high = int(first[x]), int(first[x + 1])
                if high - low == 1:
                    centre[x], wide_centre[x] = mean[low], spread[low]
                    continue
                for again in range(2):  # before and after the differences are cut anew, all of them at once
                    pi, pi_mean = 0.0, 0.0
                    for t in range(low, high):
                        precision = 1.0 / (float(spread[t]) + float(off_variance[t]))
                        pi += precision
                        pi_mean += precision * (float(mean[t]) - float(off[t]))
                    centre[x], wide_centre[x] = pi_mean / pi, 1.0 / pi
                    if again:
                        break
                    pi += float(above[x]) + float(below[x])
                    pi_mean += float(above[x]) * float(above_mean[x]) + float(below[x]) * float(below_mean[x])
                    for t in range(low, high):
                        precision = 1.0 / (float(spread[t]) + float(off_variance[t]))
                        rest = max(pi - precision, 1e-12 * pi)
                        gap = float(mean[t]) - (pi_mean - precision * (float(mean[t]) - float(off[t]))) / rest
                        wide = float(spread[t]) + 1.0 / rest
                        s = math.sqrt(wide)
                        v, w = tied(gap / s, float(width[t]) / s)
                        now_mean, now_variance = 0.0, 1e9 * wide  # a margin beyond all doubt says nothing
                        if w > 1e-9:
                            now_mean, now_variance = gap + s * v / w, wide * (1.0 - w) / w
                        if now_variance > 0.0 and off_variance[t] > 0.0:
                            moved = max(
                                moved,
                                abs(now_mean / now_variance - float(off[t]) / float(off_variance[t])),
                                math.sqrt(abs(1.0 / now_variance - 1.0 / float(off_variance[t]))),
                            )
                        off[t], off_variance[t] = now_mean, now_variance
            for turn in range(max(2 * last, 1) if places > 1 else 0):
                x = turn if turn < last else 2 * last - turn
                pi_x = 1.0 / float(wide_centre[x]) + float(above[x])
                mu_x = (
                    float(centre[x]) / float(wide_centre[x]) + float(above[x]) * float(above_mean[x])
                ) / pi_x
                y = x + 1
                pi_y = 1.0 / float(wide_centre[y]) + float(below[y])
                mu_y = (
                    float(centre[y]) / float(wide_centre[y]) + float(below[y]) * float(below_mean[y])
                ) / pi_y
                gap = mu_x - mu_y
                wide = 1.0 / pi_x + 1.0 / pi_y
                s = math.sqrt(wide)
                margin = unit_margin * math.sqrt(float(size[x]) + float(size[y])) / s
                if rank[start + first[x]] == rank[start + first[y]]:
                    v, w = tied(gap / s, margin)
                else:
                    v, w = won(gap / s - margin)
                was_mean, was_variance = float(cut_mean[x]), float(cut_variance[x])
                now_mean, now_variance = 0.0, math.inf
                if w > 0.0:
                    now_mean, now_variance = gap + s * v / w, wide * (1.0 - w) / w
                if now_variance > 0.0 and was_variance > 0.0:
                    change = abs(now_mean / now_variance - was_mean / was_variance)
                    change_pi = math.sqrt(abs(1.0 / now_variance - 1.0 / was_variance))
                    moved = max(moved, change, change_pi)
                cut_mean[x], cut_variance[x] = now_mean, now_variance
                if turn < last or places < n:
                    above[y] = 1.0 / (now_variance + 1.0 / pi_x)
                    above_mean[y] = mu_x - now_mean
                if (turn >= last and last) or places < n:
                    below[x] = 1.0 / (now_variance + 1.0 / pi_y)
                    below_mean[x] = now_mean + mu_y
            if moved <= tolerance or n == 2:
                break
        if places > 1:
            pi_y = 1.0 / wide_centre[1] + below[1]
            below[0] = 1.0 / (cut_variance[0] + 1.0 / pi_y)
            below_mean[0] = cut_mean[0] + (centre[1] / wide_centre[1] + below[1] * below_mean[1]) / pi_y
            pi_x = 1.0 / wide_centre[last] + above[last]
            above[places - 1] = 1.0 / (cut_variance[last] + 1.0 / pi_x)
            above_mean[places - 1] = (
                centre[last] / wide_centre[last] + above[last] * above_mean[last]
            ) / pi_x - cut_mean[last]
        for i in range(int(team[start + n]) - base):
            variance[int(seat[base + i])] = doubt[i]
        for x in range(places):
            for t in range(int(first[x]), int(first[x + 1])):
                precision = float(above[x]) + float(below[x])
                level = float(above[x]) * float(above_mean[x]) + float(below[x]) * float(below_mean[x])
                if first[x + 1] - first[x] > 1:
                    own = 1.0 / (float(spread[t]) + float(off_variance[t]))
                    precision += 1.0 / float(wide_centre[x]) - own
                    level += float(centre[x]) / float(wide_centre[x]) - own * (float(mean[t]) - float(off[t]))
                    level = level / precision + float(off[t])
                    precision = 1.0 / (1.0 / precision + float(off_variance[t]))
                elif precision == 0.0:
                    continue
                else:
                    level /= precision
                for i in range(int(team[start + t]) - base, int(team[start + t + 1]) - base):
                    p, own = float(part[i]), float(doubt[i]) + noise
                    message = (level - (float(mean[t]) - p * float(skill[i]))) / p
                    message_pi = 1.0 / (
                        (1.0 / precision + (float(spread[t]) - p * p * own)) / (p * p) + noise
                    )
                    message_pi *= float(weight[g])
                    player = int(seat[base + i])
                    kept = 1.0 / (1.0 + float(variance[player]) * message_pi)
                    mu[player] = (float(mu[player]) + float(variance[player]) * message_pi * message) * kept
                    variance[player] *= kept
