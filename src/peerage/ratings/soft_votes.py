"""Judges' votes as the probability that people prefer the first answer: calibrated soft votes.

    logit P(people prefer A) = sum over judges of b_j v_j,   v_j = 1 for A, -1 for B, 0 for a tie or no vote

fitted where people voted. Swapping the answers swaps the probability, so there is no intercept. The b_j are
drawn towards a common b, so a judge of few shared votes counts as the average judge does (a ridge: standard
deviation 1 of b around 0.7, ½ of each around b). A duel's probability never comes from a fit that its own
votes of people went into: duels are in ten folds, and those without people's votes take the mean of the ten
fits (Zrnic and Candès, "Cross-prediction-powered inference", PNAS 2024).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from peerage.ratings.kernels import Floats, Ints

FOLDS = 10
_COMMON, _WIDE, _SPREAD = 0.7, 1.0, 0.5  # of the prior


class SoftVotes(NamedTuple):
    """`probability` that people prefer the first answer, one a duel; `weight` of a vote of each judge, in
    log-odds, by all the votes of people."""

    probability: Floats
    weight: Floats


def calibrate(duel: Ints, judge: Ints, score: Floats, people: Floats, judges: int) -> SoftVotes:
    """Soft votes from votes: `duel` and `judge` number what each vote is on and whose it is, `score` is the
    first answer's (1, ½, 0); `people` is people's of each duel, NaN where there is none."""
    voted = ~np.isnan(people)
    known = np.flatnonzero(voted)
    row = np.cumsum(voted) - 1
    votes = np.zeros((len(known), judges))
    here = voted[duel]
    votes[row[duel[here]], judge[here]] = 2 * score[here] - 1
    prior: Floats = np.full((judges, judges), _WIDE**2) + np.eye(judges) * _SPREAD**2
    inverse = np.asarray(np.linalg.inv(prior), np.float64)
    fold = np.arange(len(known)) % FOLDS
    probability: Floats = np.zeros(len(people))
    folds = min(FOLDS, max(len(known), 1))
    for at in range(folds):
        weight = _fit(votes[fold != at], people[known[fold != at]], inverse)
        pull = np.bincount(duel, (2 * score - 1) * weight[judge], len(people))
        each = _logistic(pull.astype(np.float64))
        probability[~voted] += each[~voted] / folds
        probability[known[fold == at]] = each[known[fold == at]]
    return SoftVotes(probability, _fit(votes, people[known], inverse))


def _fit(votes: Floats, people: Floats, inverse: Floats) -> Floats:
    weight = np.full(votes.shape[1], _COMMON)
    for _ in range(50):
        chance = _logistic(votes @ weight)
        slope = votes.T @ (people - chance) - inverse @ (weight - _COMMON)
        step = np.linalg.solve(votes.T @ (votes * (chance * (1 - chance))[:, None]) + inverse, slope)
        weight = weight + np.clip(step, -1, 1)
        if np.abs(step).max(initial=0.0) < 1e-8:
            break
    return weight


def _logistic(value: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -30, 30))))
