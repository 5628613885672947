"""The inner loop of Weng and Lin's updates, plain Python that Numba compiles for long histories."""

from __future__ import annotations

import math

from peerage.ratings.kernels import Floats, Ints

PLACKETT_LUCE, BRADLEY_TERRY = 0, 1


def games(
    mu: Floats,
    variance: Floats,
    game: Ints,
    team: Ints,
    rank: Floats,
    seat: Ints,
    share: Floats,
    weight: Floats,
    mean: Floats,
    spread: Floats,
    strength: Floats,
    omega: Floats,
    delta: Floats,
    beta: float,
    tau: float,
    kappa: float,
    model: int,
) -> None:
    """Play games into `mu` and `variance`, in place; columns of `history.Games`.

    `mean` to `delta` are room to work in, each for the most teams in a game.
    """
    for g in range(len(game) - 1):
        start = int(game[g])
        n = int(game[g + 1]) - start
        for i in range(int(team[start]), int(team[start + n])):
            variance[int(seat[i])] += tau * tau
        squares = 0.0
        most = -math.inf
        for t in range(n):
            total = 0.0
            doubt = 0.0
            for i in range(int(team[start + t]), int(team[start + t + 1])):
                total += float(mu[int(seat[i])])
                doubt += float(variance[int(seat[i])])
            mean[t], spread[t] = total, doubt
            most = max(most, total)
            squares += doubt + beta * beta
            omega[t] = delta[t] = 0.0
        if model == PLACKETT_LUCE:
            c = math.sqrt(squares)
            for t in range(n):
                strength[t] = math.exp((float(mean[t]) - most) / c)
            for t in range(n):
                total = 0.0
                tied = 0
                for i in range(n):
                    if rank[start + i] >= rank[start + t]:
                        total += float(strength[i])
                        tied += 1 if rank[start + i] == rank[start + t] else 0
                for i in range(n):
                    if rank[start + i] >= rank[start + t]:
                        p = float(strength[i]) / total
                        delta[i] += p * (1.0 - p) / tied
                        omega[i] += ((1.0 if i == t else 0.0) - p) / tied
            for t in range(n):
                gamma = math.sqrt(float(spread[t])) / c
                omega[t] *= float(spread[t]) / c
                delta[t] *= float(spread[t]) / (c * c) * gamma
        else:
            for t in range(n):
                for i in range(n):
                    if i != t:
                        c = math.sqrt(float(spread[t]) + float(spread[i]) + 2.0 * beta * beta)
                        p = 1.0 / (1.0 + math.exp((float(mean[i]) - float(mean[t])) / c))
                        score = 0.5
                        if rank[start + i] != rank[start + t]:
                            score = 1.0 if rank[start + i] > rank[start + t] else 0.0
                        gamma = math.sqrt(float(spread[t])) / c
                        omega[t] += float(spread[t]) / c * (score - p)
                        delta[t] += gamma * float(spread[t]) / (c * c) * p * (1.0 - p)
        for t in range(n):
            for i in range(int(team[start + t]), int(team[start + t + 1])):
                player = int(seat[i])
                part = max(float(share[i]), 1e-4)
                part = float(weight[g]) * (part if omega[t] >= 0.0 else 1.0 / part)
                piece = float(variance[player]) / float(spread[t]) * part
                mu[player] += piece * float(omega[t])
                variance[player] *= max(1.0 - piece * float(delta[t]), kappa)
