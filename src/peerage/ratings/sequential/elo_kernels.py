"""The inner loops of the sequential ratings, written once for Python and for Numba.

Every function here is plain Python over floats and float64 arrays, so it runs as it is; `compiled.py` has
Numba compile the same source when a history is long. Both ways give the same bits: only `+ - * /`, rounding
to an integer and a power of two are used, in a fixed order. The exponential is our own for that reason:
`exp` of the C library and of NumPy differ in the last bit between machines, and a rating that anybody may
recompute must not.
"""

from __future__ import annotations

import math

import numpy as np

from peerage.ratings.arrays import Floats, Ints

_INV_LN2 = 1.4426950408889634
_LN2_HIGH = 0.6931471803691238  # the leading 33 bits of ln 2: a whole number times it is exact
_LN2_LOW = 1.9082149292705877e-10
_LN10_400 = 0.005756462732485115  # ln(10) / 400
_C2, _C3, _C4, _C5 = 1 / 2, 1 / 6, 1 / 24, 1 / 120
_C6, _C7, _C8, _C9 = 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880
_POWERS = np.ldexp(1.0, np.arange(-1023, 1024))
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, left in the low bits
_TO_EXPONENT = 1023 - 0x4338000000000000  # from the bits of a number so rounded to those of 2 to its power
_EIGHTH_TURNS = 8 * 1.4426950408889634
_EIGHTH_LN2 = 0.6931471805599453 / 8


def exp_scalar(x: float) -> float:
    """e^x within 1e-15, the same bits on every machine; x is held within ±700."""
    x = min(max(x, -700.0), 700.0)
    k = math.floor(x * _INV_LN2 + 0.5)
    r = ((x - k * _LN2_HIGH) - k * _LN2_LOW) * 0.25
    p = 1.0 + r * (
        1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * (_C8 + r * _C9)))))))
    )
    p = p * p
    return p * p * float(_POWERS[int(k) + 1023])  # looked up: Numba would call the C library for it


def exp_array(x: Floats) -> Floats:
    """`exp_scalar` of each element, bit for bit."""
    x = np.clip(x, -700.0, 700.0)
    k = np.floor(x * _INV_LN2 + 0.5)
    r = ((x - k * _LN2_HIGH) - k * _LN2_LOW) * 0.25
    p = 1.0 + r * (
        1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * (_C8 + r * _C9)))))))
    )
    p = p * p
    return np.asarray(np.ldexp(p * p, k.astype(np.int64)))


def gaussian_shares(position: Floats, width: float, a: int, b: int) -> tuple[Floats, Floats]:
    """The weights of players `a` and `b` in everybody's row of the Gaussian kernel, each row summing to 1.
    The kernel is exp(-(x_m - x_n)^2 / (2 width^2)), within 1e-12 and 0 below 1e-307. Its exponential is
    written out in steps that NumPy takes over the whole matrix, in place where it can;
    `gaussian_shares_loops` takes the very same steps element by element. Rows are summed in player order."""
    scaled = position * (0.25 / width)
    y = scaled.reshape(-1, 1) - scaled.reshape(1, -1)
    y *= y  # an eighth of the exponent
    turns = y * -_EIGHTH_TURNS
    turns += _ROUND
    power = turns.view(np.int64) + _TO_EXPONENT
    turns -= _ROUND
    turns *= _EIGHTH_LN2
    y += turns
    np.negative(y, out=y)
    p = y * _C6
    p += _C5
    p *= y
    p += _C4
    p *= y
    p += _C3
    p *= y
    p += _C2
    p *= y
    p += 1.0
    p *= y
    p += 1.0
    p *= p
    p *= p
    p *= p
    np.maximum(power, 0, out=power)
    power <<= 52
    p *= power.view(np.float64)
    total = p.sum(axis=0)
    return p[a] / total, p[b] / total


def gaussian_shares_loops(position: Floats, width: float, a: int, b: int) -> tuple[Floats, Floats]:
    """`gaussian_shares`, bit for bit, in the form that Numba turns into vector instructions."""
    scaled = position * (0.25 / width)
    n = len(position)
    total, p, turns = np.zeros(n), np.empty(n), np.empty(n)
    near_a, near_b = np.empty(n), np.empty(n)
    power = turns.view(np.int64)
    for j in range(n):
        for i in range(n):
            y = scaled[i] - scaled[j]
            y = y * y
            turn = y * -_EIGHTH_TURNS + _ROUND
            turns[i] = turn
            y = -(y + (turn - _ROUND) * _EIGHTH_LN2)
            q = 1.0 + y * (1.0 + y * (_C2 + y * (_C3 + y * (_C4 + y * (_C5 + y * _C6)))))
            q = q * q
            q = q * q
            p[i] = q * q
        for i in range(n):
            power[i] = max(power[i] + _TO_EXPONENT, 0) << 52
        for i in range(n):
            p[i] = p[i] * turns[i]
            total[i] += p[i]
        if j == a:
            near_a[:] = p
        if j == b:
            near_b[:] = p
    return near_a / total, near_b / total


def expected(own: float, other: float) -> float:
    """Expected score of a player rated `own` against one rated `other`: 1 / (1 + 10^((other - own) / 400)).
    The same bits on every machine; beyond some 120,000 points of difference it stays at its last value."""
    return 1.0 / (1.0 + exp_scalar((other - own) * _LN10_400))


def adjusted_score(score: float, cost_own: float, cost_other: float, tau: float) -> float:
    """A contestant's score after the costs of both: S - τ·C/(C_A + C_B) (UNER, stage 6). The two sum to 1 -
    τ, so the pool's mean sinks by K·τ/2 per contestant. Only the ratio of the costs counts, whatever their
    unit; a pair that cost nothing is half a share each."""
    total = cost_own + cost_other
    return score - tau * (cost_own / total if total > 0.0 else 0.5)


def elo_fold(
    raw: Floats,
    cost: Floats,
    first: Ints,
    second: Ints,
    score: Floats,
    cost_first: Floats,
    cost_second: Floats,
    k_factor: float,
    tau: float,
    width: float,
    share: float,
) -> None:
    """Play a history of duels into `raw` and `cost`, in place. A cost of NaN is unknown. `width` 0 switches
    propagation off."""
    for i in range(len(first)):
        a, b = int(first[i]), int(second[i])
        s = float(score[i])
        was_a, was_b = float(raw[a]), float(raw[b])
        raw_a = k_factor * (s - expected(was_a, was_b))
        raw_b = k_factor * ((1.0 - s) - expected(was_b, was_a))
        cost_a = 0.0
        cost_b = 0.0
        spent_a, spent_b = float(cost_first[i]), float(cost_second[i])
        if spent_a == spent_a and spent_b == spent_b:
            adjusted_a = adjusted_score(s, spent_a, spent_b, tau)
            adjusted_b = adjusted_score(1.0 - s, spent_b, spent_a, tau)
            was_a, was_b = float(cost[a]), float(cost[b])
            cost_a = k_factor * (adjusted_a - expected(was_a, was_b))
            cost_b = k_factor * (adjusted_b - expected(was_b, was_a))
        if width > 0.0:
            near_a, near_b = gaussian_shares(cost, width, a, b)
            raw += near_a * (share * raw_a) + near_b * (share * raw_b)
            cost += near_a * (share * cost_a) + near_b * (share * cost_b)
            kept = 1.0 - share
        else:
            kept = 1.0
        raw[a] += kept * raw_a
        raw[b] += kept * raw_b
        cost[a] += kept * cost_a
        cost[b] += kept * cost_b


def elo_pass(
    rating: Floats, first: Ints, second: Ints, score: Floats, weight: Floats, k_factor: float
) -> None:
    """Play duels into `rating` in their order, in place."""
    for i in range(len(first)):
        a, b = int(first[i]), int(second[i])
        gain = float(score[i]) - expected(float(rating[a]), float(rating[b]))
        step = k_factor * float(weight[i]) * gain
        rating[a] += step
        rating[b] -= step
