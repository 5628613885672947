"""Matches until a run ends because its goal is known: arenas of simulated players, each paired by a policy as
it is, and by one that plays for the goal (`until:`). Told are the geometric mean of the matches, `MOST` where
it took longer, and how many arenas got there.

Usage: python -m bench.goals [ARENAS]    (24: about 15 minutes on one core)
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from bench.arenas import Cell, matches_of
from peerage.ratings.bradley_terry import Pair, fit
from peerage.ratings.claims import gap_needed
from peerage.scheduling.aim import Aim
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal, PolicyName

MOST = 4_000
STEP = 1.05
NAMES: tuple[PolicyName, ...] = ("random", "swiss", "order", "top", "certify")
GOALS = (
    Goal("top"),
    Goal("top", 3, within=50.0),
    Goal("order", within=100.0),
    Goal("placed", player="00", within=50.0),
)
POOLS = ((8, 120.0), (8, 350.0), (16, 200.0))
"""Players, and the standard deviation of their skills in Elo."""


def until(goal: Goal, matches: Sequence[tuple[int, int, float]], players: int) -> float:
    """The match with which it is known, the last at the latest."""
    aim = Aim(goal.kind, goal.places, 0, goal.within)
    counts: Counter[tuple[int, int, int]] = Counter()
    every, total = iter(matches), 0
    while total < len(matches):
        more = max(players, min(int(total * (STEP - 1)), len(matches) - total))
        for a, b, score in islice(every, more):
            counts[a, b, 0 if score == 1 else 1 if score == 0 else 2] += 1
        total += more
        met = sorted({(a, b) for a, b, _ in counts})
        table = fit([Pair(a, b, *[counts[a, b, result] for result in range(3)]) for a, b in met], players)
        if aim.reached(table.rating, gap_needed(table.covariance)):
            break
    return float(total)


def rows(arenas: int) -> Iterator[str]:
    yield f"| players | SD | goal | {' | '.join(NAMES)} | played for |"
    yield f"|--:|--:|---|{'--:|' * (len(NAMES) + 1)}"
    for players, spread in POOLS:
        cell = Cell(players, "normal", lag=32, spread=spread)
        as_they_are = [matches_of(Policy(name), cell, arenas, MOST) for name in NAMES]
        for goal in GOALS:
            ways = [*as_they_are, matches_of(Policy("order", goal=goal), cell, arenas, MOST)]
            told = []
            for way in ways:
                took = np.array([until(goal, matches, players) for matches in way])
                told.append(f"{np.exp(np.log(took).mean()):,.0f} ({np.mean(took < MOST):.0%})")
            named = str(goal._replace(player="NAME" if goal.player else ""))
            yield f"| {players} | {spread:g} | {named} | {' | '.join(told)} |"


def main(arenas: int = 24) -> None:
    for row in rows(arenas):
        print(row, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
