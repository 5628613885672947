"""Who runs away with `judge-aware` ratings: two colluders, or four against the leader, among ten players.

Skills have a standard deviation from 17 to 170 points. Shown are Kendall's tau of the order with the truth,
by plain Bradley-Terry on all votes and by the track; by how many points the plant moves the ratings of
those it is about; and how often a planted judge is taken for the best one (by chance 20% and 40%). Usage:
python -m bench.captured [POOLS]
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from bench.collusion import Pool, votes
from peerage.judging.favours import favours
from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.history import Duels
from peerage.ratings.judges import JudgeAware, fit_coded
from peerage.ratings.kernels import Floats

PLAYERS = 10


def history_of(pool: Pool) -> tuple[Duels, np.ndarray, np.ndarray]:
    """The votes of a pool, who cast each, and on which match; those of a match weigh one together."""
    marks = pool.marks
    one, two = marks.pairs
    match = marks.contest[one]
    weight = 1 / np.bincount(match)[match]
    history = Duels(len(marks.authors), marks.author[one], marks.author[two], marks.value[one], weight)
    return history, marks.judge[one], match


def judged(pool: Pool) -> JudgeAware:
    """The track: favours found are left out, and judges weigh by their reliability."""
    history, judge, match = history_of(pool)
    aside = np.zeros((len(pool.marks.judges), history.players), np.bool_)
    names = list(pool.marks.authors)
    for pair in favours(pool.marks).favours:
        if pair.found:
            aside[names.index(pair.judge), names.index(pair.author)] = True
    return fit_coded(history, pool.marks.judges, judge, cluster=match, aside=aside)


class Outcome(NamedTuple):
    """One pool: the order's Kendall tau with the truth, plain and corrected; how many points the planted
    moved the two colluders' (or the leader's) rating, plain and corrected; whether a colluder was the best
    judge."""

    tau: float
    tau_corrected: float
    moved: float
    moved_corrected: float
    best_judge: bool


def tau(one: Floats, other: Floats) -> float:
    upper = np.triu_indices(len(one), 1)
    signs = [np.sign(each[:, None] - each[None, :])[upper] for each in (one, other)]
    return float((signs[0] * signs[1]).mean())


def outcome(seed: int, spread: float, ring: int, matches: int = 600) -> Outcome:
    """The same pool with and without the plant: draws are common, so what differs is the plant's."""
    plant = {"ring": ring} if ring else {"friends": 1.0}
    dirty = votes(np.random.default_rng([8, seed]), PLAYERS, matches, spread=spread, **plant)  # type: ignore[arg-type]
    clean = votes(np.random.default_rng([8, seed]), PLAYERS, matches, spread=spread)
    skill = np.random.default_rng([8, seed]).normal(0, spread, PLAYERS)
    fitted, honest = judged(dirty), judged(clean)
    plain, before = fit_duels(history_of(dirty)[0]), fit_duels(history_of(clean)[0])
    whom = [int(np.argmax(skill))] if ring else [0, 1]
    crooks = {int(judge[1:]) for judge, _ in dirty.planted}
    return Outcome(
        tau(plain.rating, skill),
        tau(fitted.rating, skill),
        float((plain.rating - before.rating)[whom].mean()),
        float((fitted.rating - honest.rating)[whom].mean()),
        int(np.argmax(fitted.reliability)) in crooks,
    )


def main(pools: int) -> None:
    print(
        "| plant | skills' SD | tau, plain | tau, corrected | moved, plain | moved, corrected | best judge |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for about, ring in (("2 friends", 0), ("4 against the leader", 4)):
        for spread in (0.1, 0.2, 0.35, 0.6, 1.0):
            found = np.array([outcome(seed, spread, ring) for seed in range(pools)])
            mean = found.mean(axis=0)
            print(
                f"| {about} | {spread:g} | {mean[0]:.2f} | {mean[1]:.2f} | {mean[2]:+.0f} | {mean[3]:+.0f} | "
                f"{mean[4]:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
