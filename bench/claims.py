"""How often an arena ever makes a false claim, how soon a true one is made, and how often the best is out.

Simulated players are paired by each policy, with 32 matches in flight, and looked at again and again: forty
looks from 2 to 100 matches a player. Counted are arenas in which any look proves one player above another
who is as good or better (`ratings.claims.proven`; 5% are allowed), and in which the truly best is ever
out (`strength.posterior`; 2% are allowed), looked at after every round. Of equals each is the best. The
posterior takes long, so it is asked only where a quick fit has the best `NEAR` errors behind its leader.

`panels`: three votes on each match, each of which agrees with its result in three of four matches and is a
toss of a coin in the others. `prompts`: 40 tasks, on each of which each player is better or worse by 200 Elo
(standard deviation); a claim is about tasks like these. `tables`: of four seats. `sides`: of seven players
five win together, or the other two.

Usage: python -m bench.claims [ARENAS]    (200: about an hour on one core)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from bench.arenas import POINTS, Cell, matches_of, played
from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import Duels, Game, duels, free_for_all, games
from peerage.ratings.strength.evidence import Evidence, of_duels, of_games
from peerage.ratings.strength.posterior import sort_out, strengths
from peerage.scheduling.adaptive import between
from peerage.scheduling.policies import Policy
from peerage.scheduling.strengths import fit

LAG, LOOKS, A_PLAYER = 32, 40, 100
NEAR = 1.6  # of a player nearer than this the chance to be better is far above that of one who is out
PROMPTS, ON_PROMPTS = 40, 200.0
POLICIES = tuple(map(Policy, ("random", "swiss", "adaptive")))


class Look(NamedTuple):
    """An arena's matches of two, in order, and the true strengths, in log-odds."""

    first: Ints
    second: Ints
    score: Floats
    skill: Floats

    def history(self, matches: int) -> Duels:
        columns = (column[:matches] for column in (self.first, self.second, self.score))
        return duels(len(self.skill), *columns)


Seen = Callable[[Look, np.random.Generator], Iterator[Evidence]]
"""What of an arena is looked at, look after look."""


def arenas_of(policy: Policy, cell: Cell, arenas: int, matches: int) -> Iterator[Look]:
    for listed, skill in zip(matches_of(policy, cell, arenas, matches), cell.skills(arenas), strict=True):
        first, second, score = map(np.array, zip(*listed, strict=True))
        yield Look(first, second, score, skill)


def looks(players: int, count: int = LOOKS) -> list[int]:
    return sorted({int(at) for at in np.geomspace(players, A_PLAYER * players / 2, count)})


def ever_false(evidence_at: Iterator[Evidence], skill: Floats) -> bool:
    wrong = skill[:, None] <= skill
    return any((proven(evidence) & wrong).any() for evidence in evidence_at)


def of_two(arena: Look, _: np.random.Generator) -> Iterator[Evidence]:
    yield from (of_duels(arena.history(at)) for at in looks(len(arena.skill)))


def panels(arena: Look, rng: np.random.Generator) -> Iterator[Evidence]:
    toss = rng.random((len(arena.score), 3)) < 0.25
    votes = np.where(toss, rng.random(toss.shape) < 0.5, arena.score[:, None]).ravel()
    three = Look(arena.first.repeat(3), arena.second.repeat(3), votes, arena.skill)
    for at in looks(len(arena.skill)):
        yield of_duels(three.history(3 * at), np.arange(3 * at) // 3)


def prompts(arena: Look, rng: np.random.Generator) -> Iterator[Evidence]:
    """The same pairings, on prompts at random, with results of their own."""
    task = rng.integers(0, PROMPTS, len(arena.score))
    skill = arena.skill + rng.normal(0, ON_PROMPTS / POINTS, (PROMPTS, len(arena.skill)))
    gap = skill[task, arena.first] - skill[task, arena.second]
    own = arena._replace(score=(rng.random(len(gap)) < 1 / (1 + np.exp(-gap))).astype(float))
    for at in looks(len(arena.skill)):
        yield of_duels(own.history(at), task[:at])


def tables(arenas: int, policy: Policy) -> list[bool]:
    cell = Cell(8, "equals", lag=LAG, seats=4)
    rounds = played(policy, cell, arenas)
    seated, ranks = map(np.concatenate, zip(*[_flat(next(rounds)) for _ in range(100)], strict=True))
    return [
        ever_false(
            (of_games(free_for_all(8, s[:at], r[:at])) for at in looks(8) if at <= len(s)), np.zeros(8)
        )
        for s, r in zip(seated.swapaxes(0, 1), ranks.swapaxes(0, 1), strict=True)
    ]


def _flat(one_round: tuple[np.ndarray, Floats]) -> tuple[np.ndarray, np.ndarray]:
    seated, scores = one_round
    return seated.swapaxes(0, 1), -scores.swapaxes(0, 1)


def sides(arenas: int) -> list[bool]:
    found = []
    for number in range(arenas):
        rng = np.random.default_rng([7, number])
        listed = []
        for _ in range(looks(7)[-1]):
            ranks = (np.arange(7) < 5) ^ (rng.random() < 0.5)
            seats = tuple((int(player),) for player in rng.permutation(7))
            listed.append(Game(seats, tuple(ranks.astype(float).tolist())))
        whole = (of_games(games(7, listed[:at])) for at in looks(7))
        found.append(ever_false(whole, np.zeros(7)))
    return found


def until_proven(arena: Look) -> tuple[float, float]:
    """Matches, and decided ones, until the best is proven above all others; infinite where never."""
    for at in range(1, len(arena.score) + 1):
        if at % max(len(arena.skill) // 2, 1) == 0:
            above = proven(of_duels(arena.history(at)))
            if above[int(np.argmax(arena.skill))].sum() == len(arena.skill) - 1:
                return at, np.count_nonzero(arena.score[:at] != 0.5)
    return float("inf"), float("inf")


def best_ever_out(arena: Look) -> Floats:
    """Whether each of the best, who of equals are all, is ever out: 1 or 0."""
    n, best = len(arena.skill), np.flatnonzero(arena.skill == arena.skill.max())
    at = np.arange(n, A_PLAYER * n // 2 + 1, max(n // 2, 1))
    wins, ties = np.zeros((2, len(at), n, n))
    for look, matches in enumerate(at):
        first, second, score = arena.first[:matches], arena.second[:matches], arena.score[:matches]
        np.add.at(wins[look], (first, second), score == 1)
        np.add.at(wins[look], (second, first), score == 0)
        np.add.at(ties[look], (first, second), score == 0.5)
        np.add.at(ties[look], (second, first), score == 0.5)
    quick = fit(wins, ties, np.zeros_like(wins))
    every, leader = np.arange(len(at)), quick.mean.argmax(axis=1)
    behind = quick.mean[every, leader][:, None] - quick.mean[:, best]
    errors = np.sqrt(between(quick.covariance)[every, leader][:, best])
    far, ever = behind > NEAR * errors, np.zeros(len(best))
    for look, matches in enumerate(at.tolist()):
        if (far[look] > ever).any():
            seen = strengths(of_duels(arena.history(matches)), seed=1)
            bins = sort_out(seen.best, seen.better)
            ever = np.maximum(ever, [bins[player] == "out" for player in best.tolist()])
    return ever


def false_claims(arenas: int) -> Iterator[str]:
    yield "| arenas of | players | policy | ever a false claim |"
    yield "|---|--:|---|--:|"
    equals = {players: Cell(players, "equals", lag=LAG) for players in (2, 4, 8, 20)}
    cells: list[tuple[str, Cell, Seen]] = [
        (f"equals, {cell.ties:.0%} ties", cell, of_two) for cell in equals.values()
    ]
    cells += [
        (f"equals, {cell.ties:.0%} ties", cell, of_two)
        for cell in (equals[8]._replace(ties=0.0), equals[8]._replace(ties=0.5))
    ]
    cells += [
        ("equals, panels of three votes", equals[8], panels),
        ("equals, 40 prompts", equals[8], prompts),
    ]
    cells += [("gaps of 120 Elo", Cell(8, "normal", lag=LAG), of_two)]
    for name, cell, seen in cells:
        for policy in POLICIES:
            whole = arenas_of(policy, cell, arenas, looks(cell.players)[-1])
            false = [
                ever_false(seen(arena, np.random.default_rng([5, number])), arena.skill)
                for number, arena in enumerate(whole)
            ]
            yield f"| {name} | {cell.players} | {policy.name} | {sum(false)} of {len(false)} |"
    for policy in POLICIES:
        false = tables(arenas, policy)
        yield f"| equals, tables of four | 8 | {policy.name} | {sum(false)} of {len(false)} |"
    false = sides(arenas)
    yield f"| equals, five win or two | 7 | random | {sum(false)} of {len(false)} |"


def soon(arenas: int) -> Iterator[str]:
    yield "| best player | players | policy | median matches until it is proven | decided |"
    yield "|---|--:|---|--:|--:|"
    for players, ahead, limit in ((2, 600.0, 100), (4, 400.0, 400)):
        for ties in (0.0, 0.2):
            cell = Cell(players, "one ahead", ties=ties, lag=8, spread=ahead)
            for policy in POLICIES:
                needed = [until_proven(arena) for arena in arenas_of(policy, cell, arenas, limit)]
                of = f"{ahead:.0f} Elo ahead, {ties:.0%} ties"
                count, decided = np.median(needed, axis=0)
                yield f"| {of} | {players} | {policy.name} | {count:.0f} | {decided:.0f} |"


def out(arenas: int) -> Iterator[str]:
    yield "| arenas of | players | policy | the best ever out |"
    yield "|---|--:|---|--:|"
    for players in (4, 8, 20):
        for pool in ("normal", "equals", "one ahead"):
            cell = Cell(players, pool, lag=LAG)
            for policy in POLICIES[::2]:
                whole = arenas_of(policy, cell, arenas, looks(players)[-1])
                ever = [best_ever_out(arena).mean() for arena in whole]
                kind = pool if pool == "equals" else f"{pool}, {cell.spread:.0f} Elo"
                yield f"| {kind} | {players} | {policy.name} | {np.mean(ever):.1%} of {len(ever)} arenas |"


def main(arenas: int = 200) -> None:
    for part in (false_claims(arenas), soon(arenas), out(arenas // 2)):
        for line in part:
            print(line, flush=True)
        print(flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
