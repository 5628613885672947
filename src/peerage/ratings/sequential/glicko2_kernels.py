"""The inner loop of Glicko-2, plain Python that Numba compiles for long histories."""

from __future__ import annotations

import math

import numpy as np

from peerage.ratings.arrays import Floats, Ints

_PI2 = math.pi * math.pi


def volatility(sigma: float, phi: float, v: float, delta: float, tau: float, epsilon: float) -> float:
    """The new volatility: step 5 of the paper, by the Illinois method."""
    start = math.log(sigma * sigma)
    low = start
    if delta * delta > phi * phi + v:
        high = math.log(delta * delta - phi * phi - v)
    else:
        k = 1.0
        while slope(start - k * tau, start, phi, v, delta, tau) < 0.0:
            k += 1.0
        high = start - k * tau
    at_low = slope(low, start, phi, v, delta, tau)
    at_high = slope(high, start, phi, v, delta, tau)
    for _ in range(200):
        if abs(high - low) <= epsilon or at_high == at_low:
            break
        middle = low + (low - high) * at_low / (at_high - at_low)
        at_middle = slope(middle, start, phi, v, delta, tau)
        if at_middle * at_high <= 0.0:
            low, at_low = high, at_high
        else:
            at_low /= 2.0
        high, at_high = middle, at_middle
    return math.exp(low / 2.0)


def slope(x: float, start: float, phi: float, v: float, delta: float, tau: float) -> float:
    """f(x) of step 5."""
    e = math.exp(x)
    total = phi * phi + v + e
    return e * (delta * delta - total) / (2.0 * total * total) - (x - start) / (tau * tau)


def periods(
    mu: Floats,
    phi: Floats,
    sigma: Floats,
    first: Ints,
    second: Ints,
    score: Floats,
    weight: Floats,
    bounds: Ints,
    tau: float,
    epsilon: float,
    widest: float,
) -> None:
    """Play rating periods `bounds[p]:bounds[p + 1]` into `mu`, `phi`, `sigma`, in place; scale of step 2."""
    n = len(mu)
    g = np.empty(n)
    certainty, pull = np.empty(n), np.empty(n)
    for period in range(len(bounds) - 1):
        for i in range(n):
            g[i] = 1.0 / math.sqrt(1.0 + 3.0 * float(phi[i]) * float(phi[i]) / _PI2)
            certainty[i] = 0.0
            pull[i] = 0.0
        for row in range(int(bounds[period]), int(bounds[period + 1])):
            a, b = int(first[row]), int(second[row])
            w, s, gap = float(weight[row]), float(score[row]), float(mu[a]) - float(mu[b])
            of_a, of_b = float(g[a]), float(g[b])
            chance = 1.0 / (1.0 + math.exp(-of_b * gap))
            certainty[a] += w * of_b * of_b * chance * (1.0 - chance)
            pull[a] += w * of_b * (s - chance)
            chance = 1.0 / (1.0 + math.exp(of_a * gap))
            certainty[b] += w * of_a * of_a * chance * (1.0 - chance)
            pull[b] += w * of_a * (1.0 - s - chance)
        for i in range(n):
            wide = float(phi[i])
            if certainty[i] > 0.0:
                v = 1.0 / float(certainty[i])
                sigma[i] = volatility(float(sigma[i]), wide, v, v * float(pull[i]), tau, epsilon)
                drifted = wide * wide + float(sigma[i]) * float(sigma[i])
                after = 1.0 / (1.0 / drifted + 1.0 / v)
                mu[i] += after * float(pull[i])
                phi[i] = math.sqrt(after)
            else:
                phi[i] = min(math.sqrt(wide * wide + float(sigma[i]) * float(sigma[i])), widest)
