"""What each pairing policy takes to prove what is asked for, and how its intervals hold: arenas of simulated
players, with results by chance, of which pairing sees none in flight. Reported are the geometric mean of the
matches until it is proven, `MOST` for each player where it takes longer, with the share of arenas that got
there; and after 20 matches for each player the share of 95% intervals that hold the truth, and of chances to
be best the mean that the pick has beside how often it is the best.

Usage: python -m bench.policies [ARENAS]    (40: about fifteen minutes on one core)
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from random import Random

import numpy as np

from bench.arenas import POINTS, Cell, matches_of
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.scheduling.adaptive import of_goal
from peerage.scheduling.goal import settled
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal, History, PolicyName, Results, Standing

MOST = 400
STEP, LONGER_STEP = 1.15, 1.3
"""From look to look, and where each takes a posterior."""
BLIND: tuple[PolicyName, ...] = ("random", "round-robin", "swiss")
GOALS = (
    ("best", Goal("top")),
    ("first 3", Goal("top", 3)),
    ("order", Goal("order", within=100.0)),
    ("placed", Goal("placed", player="00", within=50.0)),
)
CELLS = (
    Cell(4, "one ahead", lag=8, spread=400.0),
    Cell(8, "normal", lag=32, spread=150.0),
    Cell(8, "normal", lag=32, spread=250.0),
)


def evidence(matches: Sequence[tuple[int, int, float]], players: int) -> Evidence:
    """Return matches as evidence."""
    first, second, score = zip(*matches, strict=True)
    return of_duels(duels(players, first, second, score))


def until(goal: Goal, matches: Sequence[tuple[int, int, float]], players: int) -> float:
    """Return the match with which the goal is reached, infinite where the last does not do."""
    placed, total = 0 if goal.player else None, 2.0 * players
    while total <= len(matches):
        now = evidence(matches[: int(total)], players)
        above = proven(now)
        found = strengths(now, seed=0) if goal.within else None
        rating = found.rating if found else above.sum(axis=1) - above.sum(axis=0) * 1.0
        if (settled(above, goal, found) | ~of_goal(goal, placed, rating)).all():
            return math.floor(total)
        total *= LONGER_STEP if goal.within else STEP
    return math.inf


def held(matches: Sequence[tuple[int, int, float]], skill: np.ndarray) -> tuple[float, float, bool]:
    """Return the share of intervals that hold, the pick's chance to be best, and whether it is."""
    found = strengths(evidence(matches, len(skill)), seed=0)
    truth = 1500 + POINTS * (skill - skill.mean())
    pick = int(found.best.argmax())
    inside = (found.lower <= truth) & (truth <= found.upper)
    return float(inside.mean()), float(found.best[pick]), bool(truth[pick] == truth.max())


def rows(arenas: int) -> Iterator[str]:
    """Yield the lines of the table."""
    ways = [Policy(name) for name in BLIND]
    yield "| players | pool | SD | goal | " + " | ".join([*BLIND, "adaptive"]) + " |"
    yield "|--:|---|--:|---|" + "--:|" * (len(ways) + 1)
    for cell in CELLS:
        most, kind = MOST * cell.players, f"{cell.players} | {cell.pool} | {cell.spread:g}"
        blind = [matches_of(way, cell, arenas, most) for way in ways]
        after = {way.name: played for way, played in zip(ways, blind, strict=True)}
        for name, goal in GOALS:
            if goal.places >= cell.players - 1:
                continue
            own = matches_of(Policy("adaptive", goal=goal), cell, arenas, most)
            after[f"adaptive, {name}"] = own
            cells = []
            for played in (*blind, own):
                took = np.array([until(goal, matches, cell.players) for matches in played])
                mean = np.exp(np.log(np.minimum(took, most)).mean())
                cells.append(f"{mean:,.0f} ({np.mean(took < most):.0%})")
            yield f"| {kind} | {name} | {' | '.join(cells)} |"
        for way, played in after.items():
            few = 20 * cell.players // 2
            found = [held(some[:few], skill) for some, skill in zip(played, cell.skills(arenas), strict=True)]
            inside, chance, right = np.mean(found, axis=0)
            yield f"| {kind} | {way}: intervals hold {inside:.1%}; pick {chance:.0%}, best {right:.0%} |"


def rounds_of_60() -> str:
    """Return how long a round of 60 players takes to pair, with many matches known."""
    rng, history, results = Random(1), History(), Results()
    names = [f"p{at:02}" for at in range(60)]
    for _ in range(3000):
        pair = rng.sample(names, 2)
        history.remember(pair)
        results.note(pair, rng.choice([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]))
    standings = [Standing(name, name, 1500.0, 1500.0 + at) for at, name in enumerate(names)]
    told = []
    for policy in (*map(Policy, BLIND), Policy("adaptive")):
        times = []
        for lot in range(11):
            begun = time.process_time()
            policy.pair(standings, history, results, str(lot))
            times.append(time.process_time() - begun)
        told.append(f"{policy.name} {1000 * sorted(times)[5]:.1f} ms")
    return f"A round of 60 players is paired in (median): {', '.join(told)}."


def main(arenas: int = 40) -> None:
    print(rounds_of_60(), flush=True)
    for row in rows(arenas):
        print(row, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
