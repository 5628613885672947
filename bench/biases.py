"""How far planted biases of judges move ratings, before and after corrections.

Ten players whose skills have a standard deviation of 150 points, 600 or 150 duels before panels of five. Each
plant is drawn alone, in the same arenas as without it: who meets whom, who judges and all chances are common,
so the difference is the plant's. Shown is the mean shift of those it is about. Where it is about nobody in
particular, it is the mean distance of a rating from what ten times as many honest votes make of it, beyond
that without the plant. The table of docs/judging.md. Usage: python -m bench.biases [ARENAS]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from peerage.judging.corrections import CORRECTIONS, Correction, Recorded, corrected
from peerage.judging.planted import Schedule, cast, honest
from peerage.judging.style import Style
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS

PLAYERS, DUELS, FEW, PANEL = 10, 600, 150, 5


class Plant(NamedTuple):
    """A plant, in words; `whom` it is about (empty: everybody), and how strong it is, in log-odds."""

    about: str
    whom: str = ""
    length: float = 0.0
    constant: bool = False
    family: float = 0.0
    friends: float = 0.0
    ring: bool = False
    once: bool = False
    first: float = 0.0
    lazy: int = 0


PLANTS = (
    Plant("all judges prefer the longer answer, one player writes twice as much", "verbose", length=1.2),
    Plant("the same, and each player's answers are all of one length", "verbose", length=1.2, constant=True),
    Plant("three of a family prefer its answers", "family", family=1.5),
    Plant("2 friends always vote for each other", "friends", friends=1.0),
    Plant("2 friends, in half of their votes", "friends", friends=0.5),
    Plant("4 always vote the leader down", "leader", ring=True),
    Plant("asked once, all judges lean to the first answer", once=True, first=1.5),
    Plant("3 of 10 always pick the first answer, both orders asked", lazy=3),
    Plant("the same, asked once", once=True, lazy=3),
)


def arena(seed: int, plant: Plant, *, planted: bool, many: int) -> tuple[Recorded, Floats]:
    """The votes of an arena, with or without what is planted, and the players' skills in log-odds."""
    rng = np.random.default_rng([16, seed])
    skill, discernment = rng.normal(0, 150 / POINTS, PLAYERS), rng.uniform(0.5, 2, PLAYERS)
    verbosity = np.where(np.arange(PLAYERS) == 0, 1.0, 0.0) + rng.normal(0, 0.25, PLAYERS)
    seated = rng.permuted(np.tile(np.arange(PLAYERS), (many, 1)), axis=1)[:, : PANEL + 2]
    around = rng.normal(0, 0.0 if plant.constant else 0.4, (2, many))
    chars = np.round(1000 * 2 ** (verbosity[seated[:, :2].T] + around))
    judge, match = seated[:, 2:].ravel(), np.repeat(np.arange(many), PANEL)
    a, b = seated[match, 0], seated[match, 1]
    stood, sold = rng.random(len(judge)) < 0.5, rng.random(len(judge))
    shown = np.where(stood, 1, -1) if plant.once else np.zeros(len(judge), np.int64)
    names = tuple(f"p{at}" for at in range(PLAYERS))
    schedule = Schedule(names, names, a, b, judge, match, shown)
    best = int(np.argmax(skill))
    ring = np.flatnonzero(np.arange(PLAYERS) != best)[:4]
    fault = honest(schedule)
    if planted:
        towards = plant.length * (np.log2(chars[0]) - np.log2(chars[1]))[match]
        towards += plant.family * (judge < 3) * ((a < 3) * 1.0 - (b < 3))
        always = np.zeros(len(judge), np.int64)
        for mine, ally in ((3, 4), (4, 3)):
            always += ((judge == mine) & (sold < plant.friends)) * ((a == ally) * 1 - (b == ally))
        always += (np.isin(judge, ring) & plant.ring) * ((b == best) * 1 - (a == best))
        lazy = np.arange(PLAYERS) >= PLAYERS - plant.lazy
        fault = replace(fault, towards=towards, always=always, first_shown=np.where(lazy, 99.0, plant.first))
    votes = schedule.recorded(cast(rng, schedule, skill, discernment, fault))
    styles = [(Style(int(one), 0, 0, 0), Style(int(other), 0, 0, 0)) for one, other in chars.T]
    families = {name: "one" if at < 3 else f"own {at}" for at, name in enumerate(names)}
    return replace(votes, styles=dict(enumerate(styles)), families=families), skill


def moved(
    seed: int, plant: Plant, wanted: Sequence[Correction] = CORRECTIONS, many: int = DUELS
) -> tuple[float, float]:
    """The plant's shift in one arena, as the votes are and corrected."""
    dirty, skill = arena(seed, plant, planted=True, many=many)
    clean, _ = arena(seed, plant, planted=False, many=many)
    with_it, without = corrected(dirty, wanted), corrected(clean, wanted)
    if not plant.whom:
        honest = corrected(arena(seed, plant, planted=False, many=10 * many)[0], wanted)
        far = np.array(
            [
                [
                    np.abs(found.before.rating - honest.before.rating).mean(),
                    np.abs(found.after.rating - honest.after.rating).mean(),
                ]
                for found in (with_it, without)
            ]
        )
        return float(far[0, 0] - far[1, 0]), float(far[0, 1] - far[1, 1])
    whom = {
        "verbose": [0],
        "family": [0, 1, 2],
        "friends": [3, 4],
        "leader": [int(np.argmax(skill))],
    }[plant.whom]
    before = with_it.before.rating - without.before.rating
    after = with_it.after.rating - without.after.rating
    return float(before[whom].mean()), float(after[whom].mean())


def main(arenas: int) -> None:
    print(f"| plant | {DUELS} duels: shift before | after | {FEW} duels: before | after |")
    print("|---|--:|--:|--:|--:|")
    for plant in PLANTS:
        cells = []
        for many in (DUELS, FEW):
            found = np.array([moved(seed, plant, many=many) for seed in range(arenas)])
            (before, after), error = found.mean(axis=0), found[:, 1].std(ddof=1) / np.sqrt(arenas)
            cells.append(f"{before:+.0f} | {after:+.0f} ± {error:.0f}")
        print(f"| {plant.about} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
