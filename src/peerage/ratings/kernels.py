"""The inner loops of the sequential ratings, written once for Python and for Numba.

Every function here is plain Python over floats and float64 arrays, so it runs as it stands; `compiled.py` has
Numba compile the same source when a history is long. Both ways give the same bits: only `+ - * /`, rounding to
an integer and a power of two are used, in a fixed order. The exponential is our own for that reason: `exp` of the
C library and of NumPy differ in the last bit between machines, and a rating that anybody may recompute must not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LINEAR, BALANCED, EXPONENTIAL = 0, 1, 2

_INV_LN2 = 1.4426950408889634
_LN2_HIGH = 0.6931471803691238  # the leading 33 bits of ln 2: a whole number times it is exact
_LN2_LOW = 1.9082149292705877e-10
_LN10_400 = 0.005756462732485115  # ln(10) / 400
_QUARTER = 0.25
_C2, _C3, _C4, _C5 = 1 / 2, 1 / 6, 1 / 24, 1 / 120
_C6, _C7, _C8, _C9 = 1 / 720, 1 / 5040, 1 / 40320, 1 / 362880


def exp_scalar(x: float) -> float:
    """e^x within 1e-15, the same bits on every machine; x is held within ±700."""
    x = min(max(x, -700.0), 700.0)
    k = math.floor(x * _INV_LN2 + 0.5)
    r = ((x - k * _LN2_HIGH) - k * _LN2_LOW) * _QUARTER
    p = 1.0 + r * (
        1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * (_C8 + r * _C9)))))))
    )
    p = p * p
    return math.ldexp(p * p, k)


def exp_array(x: Floats) -> Floats:
    """e^x of each element, as `exp_scalar`; x is held within ±700."""
    x = np.minimum(np.maximum(x, -700.0), 700.0)
    k = np.floor(x * _INV_LN2 + 0.5)
    r = ((x - k * _LN2_HIGH) - k * _LN2_LOW) * _QUARTER
    p = 1.0 + r * (
        1.0 + r * (_C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * (_C8 + r * _C9)))))))
    )
    p = p * p
    bits = (k.astype(np.int64) + 1023) << 52
    return p * p * bits.view(np.float64)


def expected(own: float, other: float) -> float:
    """Expected score of `own` against `other`: 1 / (1 + 10^((other - own) / 400))."""
    return 1.0 / (1.0 + exp_scalar((other - own) * _LN10_400))


def adjusted_score(score: float, cost_own: float, cost_other: float, tau: float, mode: int) -> float:
    """A contestant's cost-adjusted score; `elo.adjusted_scores` states the rules of the three modes."""
    if mode == EXPONENTIAL:
        if score == 0.0 or score == 1.0:
            return score
        return score / (score + (1.0 - score) * exp_scalar((cost_own - cost_other) / tau))
    total = cost_own + cost_other
    share = cost_own / total if total > 0.0 else 0.5
    if mode == BALANCED:
        share = share - 0.5
    return score - tau * share


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
    mode: int,
    width: float,
    share: float,
    trail: Floats,
) -> None:
    """Play a history of duels into `raw` and `cost`, in place.

    A cost of NaN is unknown. `width` 0 switches propagation off. `trail`, when it has rows, receives the ratings
    after each duel: shape (duels, 2, players).
    """
    for i in range(len(first)):
        a, b = first[i], second[i]
        s = score[i]
        raw_a = k_factor * (s - expected(raw[a], raw[b]))
        raw_b = k_factor * ((1.0 - s) - expected(raw[b], raw[a]))
        cost_a = 0.0
        cost_b = 0.0
        spent_a, spent_b = cost_first[i], cost_second[i]
        if spent_a == spent_a and spent_b == spent_b:
            adjusted_a = adjusted_score(s, spent_a, spent_b, tau, mode)
            adjusted_b = adjusted_score(1.0 - s, spent_b, spent_a, tau, mode)
            cost_a = k_factor * (adjusted_a - expected(cost[a], cost[b]))
            cost_b = k_factor * (adjusted_b - expected(cost[b], cost[a]))
        if width > 0.0:
            gap = (cost.reshape(-1, 1) - cost.reshape(1, -1)) / width
            kernel = exp_array(-0.5 * (gap * gap))
            total = kernel.sum(axis=0)
            near_a = share * kernel[a] / total
            near_b = share * kernel[b] / total
            raw += near_a * raw_a + near_b * raw_b
            cost += near_a * cost_a + near_b * cost_b
            kept = 1.0 - share
        else:
            kept = 1.0
        raw[a] += kept * raw_a
        raw[b] += kept * raw_b
        cost[a] += kept * cost_a
        cost[b] += kept * cost_b
        if len(trail) > 0:
            trail[i, 0] = raw
            trail[i, 1] = cost
