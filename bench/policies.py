"""What it takes to know the order, by pairing policy: matches until the ordering loss is 2 Elo, the mean over
all pairs of the gap between two players whom the ratings have in the wrong order; until the first three are
in their order in 95 of 100 arenas; and dollars, where the dearest seat costs 30 times the cheapest. Results
are drawn by chance, and pairing sees none of those in flight.

Usage: python -m bench.policies [ARENAS [TABLE]]    (200: about half an hour on one core; TABLE 1 to 4)
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from bench.arenas import FOLD, POINTS, SPREAD, Cell, Counts, played
from peerage.ratings.kernels import Floats
from peerage.scheduling import order, strengths
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, Results, Standing

LOSS = 2.0  # Elo
STEP = 1.06  # from look to look
DRAWN = 100  # resamplings of the arenas, for the error of a ratio
Measure = Callable[[Floats, Floats], Floats]


class Way(NamedTuple):
    """A policy, and whether it divides what a match says by its price."""

    policy: Policy
    per_dollar: bool = False

    @property
    def name(self) -> str:
        return self.policy.name + " per dollar" * self.per_dollar


RANDOM, SWISS, ORDER = (Way(Policy(name)) for name in ("random", "swiss", "order"))


class Course(NamedTuple):
    """At each look the matches and mean dollars so far, and what is measured: shape (looks, arenas)."""

    matches: Floats
    dollars: Floats
    measured: Floats

    def until(self, goal: float, at: np.ndarray | slice, *, dollars: bool = False) -> float:
        """Matches, or dollars, at which the mean of these arenas is at the goal for good; nan where it never
        is."""
        mean, x = self.measured[:, at].mean(axis=1), self.dollars if dollars else self.matches
        above = np.flatnonzero(mean > goal)
        if not len(above) or above[-1] == len(mean) - 1:
            return math.nan
        last = above[-1]
        part = (mean[last] - goal) / (mean[last] - mean[last + 1])
        return float(x[last] * (x[last + 1] / x[last]) ** part)


def course(way: Way, cell: Cell, arenas: int, measure: Measure, goal: float, most: int) -> Course:
    """All arenas, looked at again and again until they are well beyond the goal, or have `most` matches."""
    counts, skills = Counts(arenas, cell.players), cell.skills(arenas)
    prices, look, matches, dollars = cell.prices, 1.5 * cell.players, 0, 0.0
    found: list[tuple[int, float, Floats]] = []
    for seated, scores in played(way.policy, cell, arenas, per_dollar=way.per_dollar):
        counts.add(seated, scores)
        matches += seated.shape[1]
        dollars += float(prices[seated].sum()) / arenas
        if matches >= look:
            look = matches * STEP
            found.append((matches, dollars, measure(counts.strengths(), skills)))
            if matches > most or all(one[2].mean() < 0.85 * goal for one in found[-3:]):
                break
    return Course(*map(np.array, zip(*found, strict=True)))


def loss(rating: Floats, skill: Floats) -> Floats:
    """Mean gap, over all pairs, of those in the wrong order; Elo."""
    gap = skill[:, :, None] - skill[:, None, :]
    wrong = (rating[:, :, None] - rating[:, None, :]) * gap <= 0
    pairs = skill.shape[1] * (skill.shape[1] - 1)
    return np.asarray(POINTS * (np.abs(gap) * wrong).sum(axis=(1, 2)) / pairs)


def first_three(rating: Floats, skill: Floats) -> Floats:
    """1 where the first three are not in their order."""
    return np.asarray((np.argsort(-rating)[:, :3] != np.argsort(-skill)[:, :3]).any(axis=1), float)


def table(
    cells: Sequence[Cell],
    ways: Sequence[Way],
    arenas: int,
    measure: Measure,
    goal: float,
    *,
    most: int = 500,
    dollars: bool = False,
) -> Iterator[str]:
    """Rows of what each way needs, and what the last one needs of each other; `most` is matches a player."""
    names = [one.name for one in ways]
    heads = ["players", "seats", "pool", "ties", "noise", *names, *[f"to {name}" for name in names[:-1]]]
    yield f"| {' | '.join(heads)} |"
    yield f"|--:|--:|---|--:|--:|{'--:|' * (2 * len(names) - 1)}"
    ratios: list[list[float]] = []
    for cell in cells:
        limit = most * cell.players // cell.seats
        courses = [course(way, cell, arenas, measure, goal, limit) for way in ways]
        found = [one.until(goal, slice(None), dollars=dollars) for one in courses]
        rng = np.random.default_rng(0)
        errors = []
        for _ in range(DRAWN):
            at = rng.integers(0, arenas, arenas)
            again = [one.until(goal, at, dollars=dollars) for one in courses]
            errors.append([again[-1] / one for one in again[:-1]])
        ratios.append([found[-1] / one for one in found[:-1]])
        spread = np.nanstd(errors, axis=0)
        told = [f"${one:,.2f}" if dollars else f"{one:,.0f}" for one in found]
        told += [f"{one:.2f} ± {error:.2f}" for one, error in zip(ratios[-1], spread, strict=True)]
        kind = (cell.players, cell.seats, cell.pool, f"{cell.ties:.0%}", f"{cell.noise:.0%}")
        yield f"| {' | '.join(map(str, (*kind, *told)))} |"
    means = np.exp(np.nanmean(np.log(ratios), axis=0))
    said = [f"{mean:.2f} to {name}" for mean, name in zip(means, names, strict=False)]
    yield f"\nGeometric means of {names[-1]}: {', '.join(said)}."


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
            begun = time.process_time()
            Policy(name, places=3).pair(standings, history, results, str(lot))
            times.append(time.process_time() - begun)
        told.append(f"{name} {1000 * sorted(times)[10]:.1f} ms")
    return f"A round of 40 players is paired in (median): {', '.join(told)}."


def main(arenas: int = 200, only: int = 0) -> None:
    # Many arenas at once: the same but for last bits, and faster.
    order.product, strengths.inverse = np.matmul, np.linalg.inv
    duels = [Cell(players, pool) for players in (6, 12, 20, 40) for pool in ("even gaps", "normal")]
    duels += [Cell(12, "normal", ties=0.0), Cell(12, "normal", noise=0.3), Cell(12, "normal", lag=32)]
    tables = [Cell(12, "even gaps", seats=4), Cell(12, "normal", seats=4), Cell(18, "normal", seats=6)]
    priced = [Cell(6, "normal"), Cell(12, "even gaps"), Cell(12, "normal"), Cell(20, "normal")]
    three = [RANDOM, SWISS, ORDER, Way(Policy("top", places=3))]
    dollar = [RANDOM, ORDER, Way(ORDER.policy, per_dollar=True)]
    every = [
        (
            f"Matches to an ordering loss of {LOSS:g} Elo",
            table(duels, [RANDOM, SWISS, ORDER], arenas, loss, LOSS),
        ),
        ("The same, at tables of many", table(tables, [RANDOM, SWISS, ORDER], arenas, loss, LOSS)),
        (
            "Matches until the first three are in their order in 95% of arenas",
            table([Cell(12, "even gaps")], three, arenas, first_three, 0.05, most=800),
        ),
        (
            f"Dollars to an ordering loss of {LOSS:g} Elo, seats costing 1 to {FOLD}",
            table(priced, dollar, arenas, loss, LOSS, dollars=True, most=2000),
        ),
    ]
    print(f"Skills have a standard deviation of {SPREAD:g} Elo; {arenas} arenas in each row.", flush=True)
    for number, (title, lines) in enumerate(every, 1):
        if only in (0, number):
            print(f"\n{title}:\n", flush=True)
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    print(rounds_of_40(), flush=True)
    main(*map(int, sys.argv[1:]))
