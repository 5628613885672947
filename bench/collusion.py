"""How often the test of favours finds planted ones, and how often it accuses the honest: simulated pools.

Judges differ in discernment, generosity and noise; authors differ in skill, answers and questions by
chance. Among the honest are judges that always pick the first answer, judges that toss a coin, harsh ones,
such as love to give 8 to 10, and two camps about the best author. Planted are two that always vote for each
other, two that give each other more points, one that gives another more or less, and four that vote the
leader down. A false accusation is a favour, or a judge said to say nothing, that is none. The tables of
docs/judging-figures.md. Usage: python -m bench.collusion [POOLS [PART]]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bench import tournaments
from bench.tournaments import Scored, Sway, drawn
from peerage.judging.marks.marks import Marks
from peerage.judging.measures.favours.search import favours

Rng = np.random.Generator
Pair = tuple[str, str]
FRIENDS: set[Pair] = {("p00", "p01"), ("p01", "p00")}


class Pool(NamedTuple):
    """What judges marked, which favours were planted (judge and author), and which judges say nothing."""

    marks: Marks
    planted: set[Pair]
    idle: frozenset[str] = frozenset()


def _name(number: int) -> str:
    return f"p{number:02}"


def marks_of(
    players: int, judge: np.ndarray, author: np.ndarray, contest: np.ndarray, value: np.ndarray
) -> Marks:
    """Marks from columns of numbers."""
    names = tuple(_name(at) for at in range(players))
    contests = tuple(f"{at:06}" for at in range(int(contest.max(initial=-1)) + 1))
    order = np.lexsort((author, contest, judge))
    chars = np.full(len(order), math.nan)
    return Marks(
        names, names, contests, judge[order], author[order], contest[order], value[order].astype(float), chars
    )


def votes(
    rng: Rng,
    players: int,
    matches: int,
    *,
    spread: float = 1.0,
    lazy: int = 0,
    random: int = 0,
    friends: float = 0.0,
    ring: int = 0,
    once: bool = False,
) -> Pool:
    """Duels before panels of up to five, in both orders or `once`, skills of standard deviation `spread`.

    The last `lazy` players always vote for what stands first, the `random` before them toss coins. The
    first two vote for each other with chance `friends`; `ring` judges vote against the best.
    """
    skill, discernment = rng.normal(0, spread, players), rng.uniform(0.5, 2, players)
    panel = min(5, players - 2)
    seated = rng.permuted(np.tile(np.arange(players), (matches, 1)), axis=1)[:, : panel + 2]
    a, b, judge = seated[:, 0, None], seated[:, 1, None], seated[:, 2:]
    gap = skill[a] - skill[b] + rng.normal(0, 0.7 * min(1.0, spread), (matches, 1))
    said = rng.random((matches, panel, 2)) < 1 / (1 + np.exp(-discernment[judge] * gap))[:, :, None]
    coin = (judge >= players - lazy - random) & (judge < players - lazy)
    said = np.where(coin[:, :, None], rng.random(said.shape) < 0.5, said)
    first = np.stack([np.ones((matches, panel)), np.zeros((matches, panel))], axis=2)
    if once:  # which answer stands first is drawn
        first = np.broadcast_to((rng.random((matches, panel, 1)) < 0.5), said.shape)
    said = np.where((judge >= players - lazy)[:, :, None], first, said).astype(float)
    planted: set[Pair] = set()
    if friends:
        planted = FRIENDS
        for mine, ally in ((0, 1), (1, 0)):
            bought = (judge == mine) & ((a == ally) | (b == ally)) & (rng.random(judge.shape) < friends)
            said = np.where(bought[:, :, None], (a == ally)[:, :, None], said)
    if ring:
        best = int(np.argmax(skill))
        members = [at for at in range(players) if at != best][:ring]
        planted = {(_name(at), _name(best)) for at in members}
        against = np.isin(judge, members) & ((a == best) | (b == best))
        said = np.where(against[:, :, None], (b == best)[:, :, None], said)
    points = said[:, :, 0] if once else said.mean(axis=2)
    match = np.broadcast_to(np.arange(matches)[:, None], judge.shape)
    columns = [np.broadcast_to(column, judge.shape).ravel() for column in (judge, a, match, points)]
    twice = [np.concatenate([columns[0], columns[0]])]
    twice.append(np.concatenate([columns[1], np.broadcast_to(b, judge.shape).ravel()]))
    twice += [np.concatenate([columns[2], columns[2]]), np.concatenate([columns[3], 1 - columns[3]])]
    silent = frozenset([_name(at) for at in range(players - lazy - random, players)])
    return Pool(marks_of(players, *twice), planted, silent)


def scores(
    rng: Rng,
    players: int,
    questions: int,
    *,
    bribe: float = 0.0,
    favour: float = 0.0,
    generous: float = 0.0,
    lazy: int = 0,
    random: int = 0,
    harsh: int = 0,
    sides: float = 0.0,
) -> Pool:
    """A tournament (`bench.tournaments`): everybody scores everybody else's answer to every question
    in whole points from 0 to 10.

    The first two give each other `bribe` points more, or the first gives the second `favour` more (or less);
    all scores are `generous` points up, where the scale ends at 10. The last `lazy` always give the same, the
    `random` before them anything, and the `harsh` before those 2.5 points less. Half of the judges give the
    best author `sides` points more, half less.
    """
    made, chances = drawn(Scored(players, questions, generous=generous, seed=int(rng.integers(2**31))), 0)
    of, at = made.marks, np.arange(players)
    towards = favour * ((of.judge == 0) & (of.author == 1))
    towards = towards + bribe * ((of.judge < 2) & (of.author < 2))
    if sides:
        towards = towards + tournaments.sides(made, sides)
    first = players - lazy - random
    towards = towards - 2.5 * ((of.judge < first) & (of.judge >= first - harsh))
    idle = (at >= first) & (at < players - lazy)
    sway = Sway(towards, np.where(idle, 0.0, 1.0), at >= players - lazy)
    planted = FRIENDS if bribe else {("p00", "p01")} if favour else set()
    return Pool(made.scored(chances, sway), planted, frozenset([_name(one) for one in range(first, players)]))


class Case(NamedTuple):
    """A kind of pool, in words; `make` draws one."""

    about: str
    plant: str
    make: Callable[[Rng], Pool]


def _voted(players: int, matches: int, plant: str, **how: float) -> Case:
    about = f"{players} players, {matches:,} duels"
    return Case(about, plant, lambda rng: votes(rng, players, matches, **how))  # type: ignore[arg-type]


def _scored(players: int, questions: int, plant: str, **how: float) -> Case:
    about = f"{players} players, {questions} questions scored"
    return Case(about, plant, lambda rng: scores(rng, players, questions, **how))  # type: ignore[arg-type]


SCORING: dict[str, dict[str, float]] = {
    "": {},
    "; loves 8 to 10": {"generous": 3.0},
    "; 1 lazy, 1 random, 1 harsh": {"lazy": 1, "random": 1, "harsh": 1},
    "; two camps about the best": {"sides": 1.5},
}
SCORED: dict[str, dict[str, float]] = {
    "1 gives another 2 points more": {"favour": 2.0},
    "1 gives another 2 points less": {"favour": -2.0},
    "2 friends, +2": {"bribe": 2.0},
    "2 friends, +1": {"bribe": 1.0},
}
HONEST = [
    *[_voted(players, matches, "none") for players in (4, 6, 10, 20) for matches in (100, 600, 3000)],
    *[
        _voted(players, matches, "none; 2 lazy, 1 random", lazy=2, random=1)
        for players in (6, 10, 20)
        for matches in (100, 600, 3000)
    ],
    _voted(10, 600, "none; 2 lazy, 1 random, asked once", lazy=2, random=1, once=True),
    _voted(10, 600, "none; skills alike", spread=0.1),
    *[
        _scored(players, questions, f"none{about}", **how)
        for about, how in SCORING.items()
        for players in (5, 6, 10, 20)
        for questions in (20, 150, 600)
    ],
]
PLANTED = [
    *[
        _voted(players, matches, "2 friends", friends=1.0)
        for players, matches in ((5, 150), (6, 250), (10, 250), (10, 550), (20, 2400))
    ],
    _voted(10, 550, "2 friends, half of votes", friends=0.5),
    _voted(10, 2200, "2 friends, half of votes", friends=0.5),
    _voted(10, 550, "2 friends; skills alike", friends=1.0, spread=0.2),
    _voted(10, 550, "2 friends; 2 lazy, 1 random", friends=1.0, lazy=2, random=1),
    _voted(10, 550, "4 against the leader", ring=4),
    *[
        _scored(players, questions, f"{about}{of}", **how, **scale)
        for about, how in SCORED.items()
        for players, questions in ((5, 60), (6, 60), (10, 60), (20, 60), (5, 240))
        for of, scale in (("", {}), ("; loves 8 to 10", {"generous": 3.0}))
    ],
]


class Rates(NamedTuple):
    """Over simulated pools: the share in which somebody was accused falsely, and of planted favours the share
    found (nan without any)."""

    accused: float
    found: float


def measured(case: Case, pools: int, seed: int = 1) -> Rates:
    accused = found = planted = 0
    for at in range(pools):
        pool = case.make(np.random.default_rng([seed, at]))
        examined = favours(pool.marks)
        hits = {(pair.judge, pair.author) for pair in examined.favours if pair.found}
        accused += bool(hits - pool.planted or examined.faulty - pool.idle)
        found += len(hits & pool.planted)
        planted += len(pool.planted)
    return Rates(accused / pools, found / planted if planted else math.nan)


def main(pools: int, part: str = "") -> None:
    print("| pool | planted | pools with a false accusation | planted found |")
    print("|---|---|--:|--:|")
    for case in HONEST + PLANTED:
        if part in f"{case.about} {case.plant}":
            rates = measured(case, pools)
            found = "–" if math.isnan(rates.found) else f"{rates.found:.0%}"
            print(f"| {case.about} | {case.plant} | {rates.accused:.0%} | {found} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:3])
