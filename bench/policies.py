"""What it takes to know the order, by pairing policy: matches until the ordering loss is 2 Elo, the mean over
all pairs of the gap between two players whom the ratings have in the wrong order; and until the first three
are in their order in 95 of 100 arenas. Results are drawn by chance, and pairing sees none of those in flight.

Usage: python -m bench.policies [SIZE]    (1: some minutes; simulated arenas grow in proportion)
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np

from peerage.ratings.elo import expected
from peerage.ratings.kernels import Floats
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, Results, Standing
from peerage.scheduling.strengths import fit

POINTS = 400 / math.log(10)
SPREAD = 120.0  # standard deviation of skills, Elo
LOSS = 2.0  # Elo
STEP = 1.06  # from look to look
Measure = Callable[[Floats, Floats], float]


class Cell(NamedTuple):
    """Arenas of one kind: `ties` is the share of them between equals, `lag` the matches in flight, `most` how
    many matches a player is given at most on average."""

    players: int
    pool: str
    ties: float
    lag: int
    most: int = 300

    def skills(self, number: int) -> Floats:
        """In log-odds."""
        rng = np.random.default_rng([self.players, number])
        even = np.arange(self.players) / math.sqrt((self.players**2 - 1) / 12)
        if self.pool == "equals":
            return np.zeros(self.players)
        skills = rng.permutation(even) if self.pool == "even gaps" else rng.normal(0, 1, self.players)
        return np.asarray(skills * SPREAD / POINTS)

    @property
    def looks(self) -> list[int]:
        last, found = self.players * self.most // 2, [3.0 * self.players]
        while found[-1] * STEP < last:
            found.append(found[-1] * STEP)
        return list(map(int, found))


def arena(policy: Policy, cell: Cell, number: int, measure: Measure) -> list[float]:
    """What is measured at each look."""
    skills, size = cell.skills(number), cell.players
    wins, ties = np.zeros((size, size)), np.zeros((size, size))
    found, looks = [], cell.looks
    for matches, (a, b, score) in enumerate(played(policy, cell, number), 1):
        if score == 0.5:
            ties[a, b] = ties[b, a] = ties[a, b] + 1
        else:
            wins[(a, b) if score else (b, a)] += 1
        if matches == looks[len(found)]:
            found.append(measure(fit(wins, ties, np.zeros((size, size))).mean, skills))
            if len(found) == len(looks):
                break
    return found


def played(policy: Policy, cell: Cell, number: int) -> Iterator[tuple[int, int, float]]:
    """Match after match of an arena, without end: two players and the score of the first."""
    skills, rng, size = cell.skills(number), Random(f"{cell.players}/{number}"), cell.players
    nu = 2 * cell.ties / (1 - cell.ties)
    history, results, elo = History(), Results(), [1500.0] * size
    lag = max(1, math.ceil(cell.lag / (size // 2)))
    waiting: list[list[tuple[int, int, float]]] = []
    matches = 0
    while True:
        if len(waiting) == lag:
            for a, b, score in waiting.pop(0):
                results.note((f"{a:02}", f"{b:02}"), (score, 1 - score))
                moved = 16 * (score - expected(elo[a], elo[b]))
                elo[a], elo[b] = elo[a] + moved, elo[b] - moved
        standings = [Standing(f"{at:02}", f"{at:02}", one, one) for at, one in enumerate(elo)]
        fresh = []
        for pair in policy.pair(standings, history, results, f"{number}/{matches}"):
            history.remember(pair)
            a, b = map(int, pair)
            up = math.exp((skills[a] - skills[b]) / 2)
            lot = rng.random() * (up + 1 / up + nu)
            score = 1.0 if lot < up else 0.5 if lot < up + nu else 0.0
            fresh.append((a, b, score))
            matches += 1
            yield a, b, score
        waiting.append(fresh)


def loss(rating: Floats, skill: Floats) -> float:
    """Mean gap, over all pairs, of those in the wrong order; Elo."""
    pairs = list(combinations(range(len(skill)), 2))
    gaps = [
        abs(skill[a] - skill[b]) * ((rating[a] - rating[b]) * (skill[a] - skill[b]) <= 0) for a, b in pairs
    ]
    return POINTS * sum(gaps) / len(pairs)


def first_three(rating: Floats, skill: Floats) -> float:
    """1 where the first three are not in their order."""
    return float(np.argsort(-rating)[:3].tolist() != np.argsort(-skill)[:3].tolist())


def until(cell: Cell, curves: Sequence[Sequence[float]], goal: float) -> float:
    """Matches at which the mean curve is at the goal for good, between two looks; nan where it never is."""
    mean = np.mean(curves, axis=0)
    above = np.flatnonzero(mean > goal)
    if not len(above) or above[-1] == len(mean) - 1:
        return math.nan
    at, looks = above[-1], cell.looks
    part = (mean[at] - goal) / (mean[at] - mean[at + 1])
    return looks[at] * (looks[at + 1] / looks[at]) ** part


def row(cell: Cell, policies: Sequence[Policy], arenas: int, measure: Measure, goal: float) -> list[float]:
    return [until(cell, [arena(p, cell, n, measure) for n in range(arenas)], goal) for p in policies]


def table(
    cells: Sequence[Cell],
    policies: Sequence[Policy],
    arenas: Callable[[int], int],
    measure: Measure,
    goal: float,
) -> Iterator[str]:
    names = [one.name for one in policies]
    yield f"| players | pool | ties | in flight | arenas | {' | '.join(names)} | to random | to swiss |"
    yield f"|--:|---|--:|--:|--:|{'--:|' * (len(names) + 2)}"
    ratios = []
    for cell in cells:
        count = arenas(cell.players)
        found = dict(zip(names, row(cell, policies, count, measure, goal), strict=True))
        ratios.append([found[names[-1]] / found[name] for name in ("random", "swiss")])
        cells_of = (cell.players, cell.pool, f"{cell.ties:.0%}", cell.lag, count)
        told = [f"{one:,.0f}" for one in found.values()] + [f"{one:.2f}" for one in ratios[-1]]
        yield f"| {' | '.join(map(str, (*cells_of, *told)))} |"
    means = np.exp(np.mean(np.log(ratios), axis=0))
    yield f"\nGeometric means of {names[-1]}: {means[0]:.2f} to random, {means[1]:.2f} to swiss."


def rounds_of_40() -> str:
    """How long a round of 40 players takes to pair, with many matches known."""
    rng, history, results = Random(1), History(), Results()
    names = [f"p{at:02}" for at in range(40)]
    for _ in range(2000):
        pair = rng.sample(names, 2)
        history.remember(pair)
        results.note(pair, rng.choice([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]))
    standings = [Standing(name, name, 1500.0, 1500.0 + at) for at, name in enumerate(names)]
    told = []
    for name in ("swiss", "order", "top", "random", "round-robin"):
        times = []
        for lot in range(20):
            begun = time.perf_counter()
            Policy(name, places=3).pair(standings, history, results, str(lot))
            times.append(time.perf_counter() - begun)
        told.append(f"{name} {1000 * sorted(times)[10]:.1f} ms")
    return f"A round of 40 players is paired in (median): {', '.join(told)}."


def main(size: float) -> None:
    def arenas(players: int) -> int:
        return max(4, round(size * {6: 60, 12: 24, 20: 10, 40: 4}[players]))

    cells = [
        Cell(6, "even gaps", 0.2, 32),
        Cell(6, "normal", 0.2, 32),
        Cell(12, "even gaps", 0.2, 32),
        Cell(12, "normal", 0.2, 32),
        Cell(12, "normal", 0.0, 32),
        Cell(12, "normal", 0.2, 1),
        Cell(20, "normal", 0.2, 32),
        Cell(40, "even gaps", 0.2, 32),
        Cell(40, "normal", 0.2, 32),
    ]
    print(rounds_of_40(), flush=True)
    print(f"\nMatches to an ordering loss of {LOSS:g} Elo; skills have a standard deviation of {SPREAD:g}:\n")
    for line in table(cells, [Policy("random"), Policy("swiss"), Policy("order")], arenas, loss, LOSS):
        print(line, flush=True)
    print("\nMatches until the first three are in their order in 95% of arenas:\n")
    three = [Policy("random"), Policy("swiss"), Policy("order"), Policy("top", places=3)]
    even = [Cell(12, "even gaps", 0.2, 32, 700)]
    for line in table(even, three, lambda _: round(size * 40), first_three, 0.05):
        print(line, flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
