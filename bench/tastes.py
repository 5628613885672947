"""How often honest judges who differ in taste are said to favour somebody, and how often real favour is
found.

A judge sees the gap of two answers in log-odds: of the players' skills (standard deviation 1), of the match's
luck, and of its own tastes, one number for each judge and player with `taste` times the standard deviation of
the skills. Tastes are independent, or half of their variance is shared: by a `style` (one number for each
judge times one for each player), or by one of two `school`s of judges. A planted family or ring adds so many
standard deviations of the skills to what its members see of each other.
The tables of docs/judging-figures.md. Usage: python -m bench.tastes [POOLS [PART]]"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from peerage.judging.marks.marks import Marks
from peerage.judging.measures.favours.search import favours


class Pool(NamedTuple):
    """So many `votes` of `judges` on duels of `players`; where `peers`, the players themselves judge. Each is
    asked in both orders, or `once`; where `lopsided`, some play and judge ten times as often as others.
    `favour` is what the first `members` judges add for each other (`peers` alone), in standard deviations of
    the skills. The first `liars` agree on a `lie`: the order `reversed`, or `another` one."""

    judges: int
    players: int
    votes: int
    taste: float = 0.0
    shared: str = ""
    lopsided: bool = False
    once: bool = False
    members: int = 0
    favour: float = 0.0
    liars: int = 0
    lie: str = ""

    @property
    def peers(self) -> bool:
        return self.judges == self.players


class Drawn(NamedTuple):
    """The marks of a pool, and whom its first members favour: judges and authors."""

    marks: Marks
    planted: frozenset[tuple[str, str]]


def drawn(pool: Pool, rng: np.random.Generator) -> Drawn:
    """A pool of that kind."""
    judges, players = pool.judges, pool.players
    skill = rng.normal(0, 1, players)
    taste = rng.normal(0, 1, (judges, players))
    if pool.shared == "style":
        taste = (taste + rng.normal(0, 1, (judges, 1)) * rng.normal(0, 1, (1, players))) / math.sqrt(2)
    elif pool.shared == "school":
        taste = (taste + rng.normal(0, 1, (2, players))[rng.integers(0, 2, judges)]) / math.sqrt(2)
    seen = skill + pool.taste * taste
    ring = [(one, other) for one in range(pool.members) for other in range(pool.members) if one != other]
    for one, other in ring:
        seen[one, other] += pool.favour
    if pool.liars:
        seen[: pool.liars] = -seen[: pool.liars] if pool.lie == "reversed" else rng.normal(0, 1, players)
    discernment = rng.uniform(0.7, 1.4, judges)
    panel = min(5, judges - 2 if pool.peers else judges)
    matches = max(1, pool.votes // panel)
    often = np.geomspace(1, 10, players) if pool.lopsided else np.ones(players)
    asked = np.geomspace(1, 10, judges)[::-1] if pool.lopsided else np.ones(judges)
    lots = np.argsort(rng.exponential(1, (matches, players)) / often, axis=1)
    a, b = lots[:, 0], lots[:, 1]
    turn = rng.exponential(1, (matches, judges)) / asked
    if pool.peers:
        turn[np.arange(matches), a] = turn[np.arange(matches), b] = np.inf
    judge = np.argsort(turn, axis=1)[:, :panel]
    luck = rng.normal(0, 0.5, (matches, 1))
    gap = discernment[judge] * (seen[judge, a[:, None]] - seen[judge, b[:, None]] + luck)
    points = (rng.random((*gap.shape, 1 if pool.once else 2)) < 1 / (1 + np.exp(-gap))[:, :, None]).mean(
        axis=2
    )
    match = np.broadcast_to(np.arange(matches)[:, None], judge.shape)
    columns = [
        np.concatenate([one.ravel(), other.ravel()])
        for one, other in (
            (judge, judge),
            (np.broadcast_to(a[:, None], judge.shape), np.broadcast_to(b[:, None], judge.shape)),
            (match, match),
            (points, 1 - points),
        )
    ]
    named = [
        tuple(f"{letter}{at:02}" for at in range(many)) for letter, many in (("p", players), ("j", judges))
    ]
    contests = tuple(f"{at:06}" for at in range(matches))
    order = np.lexsort((columns[1], columns[2], columns[0]))
    sides = [column[order] for column in columns]
    by = named[0] if pool.peers else named[1]
    marks = Marks(by, named[0], contests, *sides, np.full(len(order), math.nan))
    return Drawn(marks, frozenset([(by[one], named[0][other]) for one, other in ring]))


class Rates(NamedTuple):
    """Over pools: the share in which a judge is said to favour anybody, or do it down, whom it does not; of
    the planted favours the share named, and of pools with any the share in which one is."""

    accused: float
    named: float
    noticed: float


def measured(pool: Pool, pools: int, seed: int = 1) -> Rates:
    accused = named = noticed = planted = 0
    for at in range(pools):
        made = drawn(pool, np.random.default_rng([seed, at]))
        hits = {(pair.judge, pair.author) for pair in favours(made.marks).favours if pair.found}
        accused += bool(hits - made.planted)
        named += len(hits & made.planted)
        noticed += bool(hits & made.planted)
        planted += len(made.planted)
    return Rates(accused / pools, named / planted if planted else math.nan, noticed / pools)


SIZES = [
    *((4, 5, 100), (5, 5, 1000), (6, 6, 300), (8, 8, 1000), (10, 10, 600), (10, 10, 5000), (5, 20, 2000)),
    *((20, 8, 2000), (20, 20, 5000)),
]
"""Judges, players and votes: of 10 judges and players and the like the players judge."""
KINDS: dict[str, dict[str, Any]] = {
    "none": {},
    "0.25": {"taste": 0.25},
    "0.5": {"taste": 0.5},
    "0.5, half by style": {"taste": 0.5, "shared": "style"},
    "0.5, two schools": {"taste": 0.5, "shared": "school"},
    "0.5, lopsided": {"taste": 0.5, "lopsided": True},
    "0.5, asked once": {"taste": 0.5, "once": True},
}
HONEST = [Pool(*size, **kind) for kind in KINDS.values() for size in SIZES]
PLANTED = [
    Pool(*size, taste, members=members, favour=favour)
    for members in (2, 3)
    for favour in (1.0, 2.0)
    for size in ((8, 8, 1000), (10, 10, 600), (10, 10, 5000), (20, 20, 5000))
    for taste in (0.0, 0.25, 0.5)
]
LYING = [
    Pool(judges, 10, votes, 0.25, liars=liars, lie=lie)
    for lie in ("reversed", "another")
    for judges, liars in ((5, 3), (8, 5), (20, 12))
    for votes in (300, 1000, 5000)
]


class Told(NamedTuple):
    """Over pools in which judges lie: the share in which the two blocks are named as they are, and that in
    which a judge is said to toss a coin or to prefer the worse."""

    blocks: float
    faulty: float


def told(pool: Pool, pools: int, seed: int = 1) -> Told:
    blocks = faulty = 0
    for at in range(pools):
        examined = favours(drawn(pool, np.random.default_rng([seed, at])).marks)
        sides = set() if examined.blocks is None else {len(side) for side in examined.blocks}
        blocks += sides == {pool.liars, pool.judges - pool.liars}
        faulty += bool(examined.faulty)
    return Told(blocks / pools, faulty / pools)


def main(pools: int, part: str = "") -> None:
    if part in ("", "honest"):
        print(f"| judges | players | votes | {' | '.join(KINDS)} |\n|--:|--:|--:|{'--:|' * len(KINDS)}")
        for size in SIZES:
            rates = [measured(Pool(*size, **kind), pools).accused for kind in KINDS.values()]
            print(f"| {_sized(size)} | {' | '.join(f'{rate:.0%}' for rate in rates)} |", flush=True)
    if part in ("", "planted"):
        print(
            "\n| judges | players | votes | members | favour | taste | a false one | each named | any named |"
        )
        print("|" + "--:|" * 9)
        for pool in PLANTED:
            rates = [f"{rate:.0%}" for rate in measured(pool, pools)]
            how = f"{pool.members} | {pool.favour:g} | {pool.taste:g}"
            print(f"| {_sized(pool[:3])} | {how} | {' | '.join(rates)} |", flush=True)
    if part in ("", "lying"):
        print("\n| judges | liars | votes | the order they agree on | blocks named | called coins |")
        print("|--:|--:|--:|---|--:|--:|")
        for pool in LYING:
            rates = [f"{rate:.0%}" for rate in told(pool, pools)]
            how = f"{pool.judges} | {pool.liars} | {pool.votes:,} | {pool.lie}"
            print(f"| {how} | {' | '.join(rates)} |", flush=True)


def _sized(size: tuple[int, int, int]) -> str:
    judges, players, votes = size
    return f"{judges} | {players} | {votes:,}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:3])
