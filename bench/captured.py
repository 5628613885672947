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

from bench import pools
from bench.pools import Setup, drawn, honest
from peerage.judging.marks.marks import Votes
from peerage.judging.measures.favours.search import favours
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.judges import JudgeAware, fit_coded
from peerage.ratings.simulation import tau
from peerage.ratings.table import POINTS

PLAYERS = 10


def judged(votes: Votes) -> JudgeAware:
    """The track: favours found are left out, and judges weigh by their reliability."""
    aside = np.zeros((len(votes.judges), len(votes.players)), np.bool_)
    for pair in favours(votes).favours:
        if pair.found:
            aside[votes.judges.index(pair.judge), votes.players.index(pair.author)] = True
    return fit_coded(votes.history, votes.judges, votes.judge, cluster=votes.matches, aside=aside)


class Outcome(NamedTuple):
    """One pool: the order's Kendall tau with the truth, plain and corrected; how many points the planted
    moved the two colluders' (or the leader's) rating, plain and corrected; whether a colluder was the best
    judge."""

    tau: float
    tau_corrected: float
    moved: float
    moved_corrected: float
    best_judge: bool


def outcome(seed: int, spread: float, ring: bool, matches: int = 600) -> Outcome:
    """The same pool with and without the plant: draws are common, so what differs is the plant's."""
    pool, luck = drawn(Setup(PLAYERS, matches, spread=spread * POINTS, seed=8), seed)
    plant = pools.ring(pool) if ring else pools.friends(pool)
    assert plant is not None, "600 duels are enough for either"
    assert plant.fault is not None
    dirty, clean = pool.votes(luck, plant.fault(luck.sold)), pool.votes(luck, honest(pool.schedule))
    fitted, without = judged(dirty), judged(clean)
    plain, before = fit_duels(dirty.history), fit_duels(clean.history)
    whom = list(plant.whom)
    return Outcome(
        tau(plain.rating, pool.skill),
        tau(fitted.rating, pool.skill),
        float((plain.rating - before.rating)[whom].mean()),
        float((fitted.rating - without.rating)[whom].mean()),
        fitted.judges[int(np.argmax(fitted.reliability))] in {judge for judge, _ in plant.pairs},
    )


def main(pools: int) -> None:
    print(
        "| plant | skills' SD | tau, plain | tau, corrected | moved, plain | moved, corrected | best judge |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for about, ring in (("2 friends", False), ("4 of 9 against the leader", True)):
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
