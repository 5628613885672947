"""How often an arena makes a false claim, looked at again and again: that one player is better than another
who is as good or better. Arenas of simulated players are paired by each policy, with matches in flight, and
looked at every 32 matches, 1,280 in all. Counted are arenas in which any look makes a false claim (5% are
allowed): by what holds at one look, by Robbins' boundary for each pair by itself, at 5% over the number of
pairs, and by `ratings.claims`. Beside it what claims are worth: the share of gaps above 50 Elo that the last
look claims.

`votes`: ratings are of three votes on each match, each of which agrees with its result in three of four
matches and is a toss of a coin in the others, so that they hang together. `trueskill` and `elo` are those
tracks' tables of the same matches.

Usage: python -m bench.claims [ARENAS [PART PARTS]]    (200: about 40 minutes on one core)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from bench.arenas import Cell, matches_of
from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.claims import told_apart
from peerage.ratings.elo import EloSettings, in_order
from peerage.ratings.elo_error import elo_error
from peerage.ratings.history import Duels, duels, met_by_pair
from peerage.ratings.kernels import Floats
from peerage.ratings.regression import fit_clustered
from peerage.ratings.table import POINTS, separated
from peerage.ratings.trueskill import TrueSkillSettings, rate_duels
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal

EVERY, MATCHES = 32, 1280
GAP = 50.0  # Elo
SKILL = TrueSkillSettings()

Estimate = tuple[Floats, Floats, Floats | None, float]
"""Ratings, their covariance, degrees of freedom, and points in one unit of log-odds."""


def by_matches(history: Duels) -> Estimate:
    table = fit_duels(history)
    return table.rating, table.covariance, table.freedom, POINTS


def by_votes(history: Duels) -> Estimate:
    table = fit_clustered(history, np.arange(len(history)) // 3)
    return table.rating, table.covariance, table.freedom, POINTS


def by_trueskill(history: Duels) -> Estimate:
    table = rate_duels(history, SKILL)
    return table.mu, np.diag(table.sigma**2), None, 2**0.5 * SKILL.beta / 1.702


def by_elo(history: Duels) -> Estimate:
    rating = in_order(history, EloSettings(propagation_width=None))
    met = met_by_pair(history, history.weight)
    return *elo_error(rating, met, EloSettings(propagation_width=None)).strengths(), None, POINTS


class Found(NamedTuple):
    """Of one arena: whether any look made a false claim, and the share of large gaps that the last look
    claims: by what holds at one look, pair by pair, and at every look."""

    once: bool
    by_pair: bool
    ever: bool
    power_once: float
    power_by_pair: float
    power: float


def by_pair(rating: Floats, covariance: Floats, unit: float) -> np.ndarray:
    """Claims by Robbins' boundary for each pair by itself."""
    own = np.diag(covariance)
    variance = np.maximum(own[:, None] + own - 2 * covariance, 1e-12)
    doubt, pairs = 3 * variance / unit**2, len(own) * (len(own) - 1) / 2
    needed = variance * (1 + doubt) * (np.log1p(1 / doubt) + 2 * np.log(pairs / 0.05))
    return np.asarray(rating[:, None] - rating > np.sqrt(needed))


Match = tuple[int, int, float]


def arena(
    matches: Sequence[Match], skill: Floats, estimate: Callable[[Duels], Estimate], number: int
) -> Found:
    """One arena, looked at every so many matches."""
    size = len(skill)
    if estimate is by_votes:
        rng = Random(number)
        matches = [
            (a, b, score if rng.random() < 0.75 else float(rng.random() < 0.5))
            for a, b, score in matches
            for _ in range(3)
        ]
    first, second, score = map(np.array, zip(*matches, strict=True))
    each = len(matches) // MATCHES
    wrong = skill[:, None] <= skill
    false = [False] * 3
    claimed: list[np.ndarray] = []
    for last in range(EVERY * each, len(matches) + 1, EVERY * each):
        rating, covariance, freedom, unit = estimate(duels(size, first[:last], second[:last], score[:last]))
        claimed = [
            separated(rating, covariance, freedom),
            by_pair(rating, covariance, unit),
            told_apart(rating, covariance, freedom, unit=unit),
        ]
        false = [was or bool((one & wrong).any()) for was, one in zip(false, claimed, strict=True)]
    large = (skill[:, None] - skill) * POINTS > GAP
    power = [float((one & large).sum() / max(large.sum(), 1)) for one in claimed]
    return Found(*false, *power)


POLICIES = (
    *map(Policy, ("swiss", "random", "round-robin", "adaptive")),
    Policy("adaptive", goal=Goal("order", within=50.0)),
)
POOLS = (Cell(8, "equals", lag=32), Cell(12, "normal", lag=32))


def table(arenas: int, part: int = 0, parts: int = 1) -> Iterator[str]:
    """The table's lines, or a part of them; a pool of gaps has a quarter of the arenas."""
    yield "| ratings | policy | players | pool | arenas | one look | by pair | every look | found |"
    yield "|---|---|--:|---|--:|--:|--:|--:|---|"
    ways = {"bt": by_matches, "bt of votes": by_votes, "trueskill": by_trueskill, "elo": by_elo}
    cells = [("bt", policy, pool) for policy in POLICIES for pool in POOLS]
    cells += [(way, policy, pool) for way in ways if way != "bt" for policy in POLICIES[:2] for pool in POOLS]
    for way, policy, pool in cells[part::parts]:
        count = arenas if pool.pool == "equals" else arenas // 4
        played = matches_of(policy, pool, count, MATCHES)
        found = [
            arena(matches, skill, ways[way], number)
            for number, (matches, skill) in enumerate(zip(played, pool.skills(count), strict=True))
        ]
        *false, power_once, _, power = np.mean(found, axis=0)
        worth = f"{power:.0%} ({power_once:.0%} at one look)" if pool.pool != "equals" else ""
        told = (
            way,
            policy.name + f" until {policy.goal}" * policy.learns,
            pool.players,
            pool.pool,
            len(found),
            *[f"{one:.1%}" for one in false],
            worth,
        )
        yield f"| {' | '.join(map(str, told))} |"


def main(arenas: int = 200, part: int = 1, parts: int = 1) -> None:
    for line in table(arenas, part - 1, parts):
        print(line, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
