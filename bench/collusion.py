"""How often the collusion test finds planted colluders, and how often it accuses the honest: simulated pools.

Every judge is generous, discerning and noisy in its own measure; authors differ in skill, questions in
difficulty. Two players collude: as judges they favour each other. The table of docs/judging.md. Usage:
python -m bench.collusion [POOLS]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from peerage.judging.collusion import favours
from peerage.judging.marks import Mark, Marks, tabled
from peerage.judging.residuals import Model, of_ratings, of_votes

PLANTED = {("p0", "p1"), ("p1", "p0")}


class Rates(NamedTuple):
    """Over simulated pools: the mean share of findings that are false (an honest pool with any counts 1), the
    share of pools with any false finding, and of planted favours found (nan in honest pools)."""

    false_share: float
    pools_accused: float
    found: float


def scores(
    rng: np.random.Generator, players: int, questions: int, bribe: float, clipped: bool = True
) -> Marks:
    """A tournament: everybody answers every question and scores everybody else's answers in whole points
    from 0 to 10; a colluder adds `bribe` points."""
    skill, generosity = rng.normal(0, 1.2, players), rng.normal(0, 1, players)
    slope, noise = rng.uniform(0.5, 1.3, players), rng.uniform(1, 2, players)
    marks: list[Mark] = []
    for question in range(questions):
        ease = rng.normal(0, 0.7)
        for author in range(players):
            quality = skill[author] + ease + rng.normal()
            for judge in range(players):
                if judge == author:
                    continue
                given = 5.5 + generosity[judge] + slope[judge] * quality + rng.normal(0, noise[judge])
                given += bribe * ((f"p{judge}", f"p{author}") in PLANTED)
                whole = float(min(10, max(0, round(given)))) if clipped else given
                marks.append(Mark(f"p{judge}", f"p{author}", str(question), whole))
    return tabled(marks)


def votes(rng: np.random.Generator, players: int, matches: int, bribe: float) -> Marks:
    """Duels before panels of five, in both orders; a colluder votes for the other with chance `bribe`."""
    skill, discernment = rng.normal(0, 1, players), rng.uniform(0.5, 2, players)
    marks: list[Mark] = []
    for match in range(matches):
        seated = rng.permutation(players)
        a, b, panel = int(seated[0]), int(seated[1]), seated[2:7]
        gap = skill[a] - skill[b] + rng.normal(0, 0.7)
        for judge in map(int, panel):
            chance = 1 / (1 + math.exp(-discernment[judge] * gap))
            said = [float(rng.random() < chance) for _ in range(2)]
            for ally, vote in ((a, 1.0), (b, 0.0)):
                if (f"p{judge}", f"p{ally}") in PLANTED and rng.random() < bribe:
                    said = [vote, vote]
            points = sum(said) / 2
            marks.append(Mark(f"p{judge}", f"p{a}", str(match), points))
            marks.append(Mark(f"p{judge}", f"p{b}", str(match), 1 - points))
    return tabled(marks)


def measured(
    pool: Callable[[np.random.Generator], Marks], model: Model, pools: int, planted: bool, seed: int = 1
) -> Rates:
    """Both error rates over `pools` simulated pools."""
    false_shares, found = [], 0
    for at in range(pools):
        pairs = favours(pool(np.random.default_rng([seed, at])), model, permutations=500)
        hits = {(pair.judge, pair.author) for pair in pairs if pair.found}
        truth = PLANTED if planted else set()
        false_shares.append(len(hits - truth) / max(1, len(hits)))
        found += len(hits & truth)
    share = sum(false_shares) / pools
    accused = sum(one > 0 for one in false_shares) / pools
    return Rates(share, accused, found / (2 * pools) if planted else math.nan)


class Case(NamedTuple):
    """A kind of pool, with what colluders do in words."""

    about: str
    bribe: str
    pool: Callable[[np.random.Generator], Marks]
    model: Model
    planted: bool


def _scored(players: int, questions: int, bribe: float) -> Case:
    return Case(
        f"{players} players, {questions} questions, scores",
        f"+{bribe:g} point{'s' * (bribe > 1)}" if bribe else "honest",
        lambda rng: scores(rng, players, questions, bribe),
        of_ratings,
        bribe > 0,
    )


def _voted(matches: int, bribe: float) -> Case:
    return Case(
        f"10 players, {matches} duels, votes",
        f"{bribe:.0%} of votes" if bribe else "honest",
        lambda rng: votes(rng, 10, matches, bribe),
        of_votes,
        bribe > 0,
    )


CASES = [
    *[_scored(players, questions, bribe) for players, questions in ((5, 20), (5, 100), (10, 30))
      for bribe in (0, 1, 2)],
    *[_voted(matches, bribe) for matches in (300, 1000) for bribe in (0, 0.5, 1)],
]  # fmt: skip


def main(pools: int) -> None:
    print("| pool | colluders | false findings | pools with any | planted found |")
    print("|---|---|--:|--:|--:|")
    for case in CASES:
        rates = measured(case.pool, case.model, pools, case.planted)
        found = f"{rates.found:.0%}" if case.planted else "–"
        false = f"{rates.false_share:.0%} | {rates.pools_accused:.0%}"
        print(f"| {case.about} | {case.bribe} | {false} | {found} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
