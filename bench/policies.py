"""The matches that adaptive pairing takes, as a share of random pairing's, until the goal is proven
(`ratings.claims`), and until the posterior gives its pick a chance of 90% to be best.

Arenas of one cell play in lockstep, with results by chance, of which pairing sees none in flight, until
both are reached; at most `MOST` matches for each player, which then count. Ratios are of geometric means over
arenas. At the match of the 90%, the table has how often the pick is right, and how many 95% intervals held.

From `SINGLY` matches for each player on, a pair that meets does so several times, so that a round has 2% of
the matches so far. The posterior is asked where the normal of pairing's own fit gives the pick `NEARLY`: that
normal's prior is wider, so it is sure too early. A proof is looked for where each pair's z² is above the
number of players and five: in all of these cells none came sooner.

Usage: python -m bench.policies [ARENAS]    (200: about half an hour on one core)
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import numpy as np

from bench.arenas import POINTS, Cell, Counts
from peerage.ratings.arrays import Floats
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.scheduling import adaptive
from peerage.scheduling.goal import far_enough, settled
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import BEST, Goal, History, Results, Standing
from peerage.scheduling.strengths import PairingStrengths, fit

MOST = 1500
SINGLY = 50
"""Matches for each player up to which every match is paired by itself."""
STEP = 1.08
"""From look to look."""
SURE, NEARLY = 0.9, 0.8
ORDER, PLACED = Goal("order", within=100.0), Goal("placed", player="0", within=50.0)
CELLS = (
    (Cell(6, "equals", lag=32, lead=400.0), BEST),
    (Cell(6, "normal", lag=8, lead=200.0), BEST),
    (Cell(8, "normal", lag=8, lead=50.0), BEST),
    (Cell(8, "equals", lag=8, lead=100.0), BEST),
    (Cell(8, "normal", lag=32, lead=400.0, ties=0.0), BEST),
    (Cell(12, "normal", lag=32, lead=100.0, ties=0.4), BEST),
    (Cell(20, "equals", lag=8, lead=200.0), BEST),
    (Cell(20, "normal", lag=32, lead=100.0, spread=250.0), BEST),
    (Cell(40, "normal", lag=32, lead=400.0), BEST),
    (Cell(4, "normal", lag=8, spread=150.0), BEST),
    (Cell(4, "equals", lag=8, lead=100.0), BEST),
    (Cell(4, "equals", lag=8), ORDER),
    (Cell(8, "equals", lag=32), ORDER),
    (Cell(8, "normal", lag=32, spread=150.0), ORDER),
    (Cell(8, "normal", lag=32, spread=150.0), PLACED),
)


class Took(NamedTuple):
    """Of each arena the match at which the goal was `proven` and the pick `sure`, and then whether the pick
    was `right` and the share of intervals that held, NaN where it never was."""

    proven: Floats
    sure: Floats
    right: Floats
    held: Floats


class Lockstep:
    """Arenas of one kind, those that are `on`: each round is paired, played, and learned from `lag` matches
    later."""

    def __init__(self, policy: Policy, cell: Cell, arenas: int) -> None:
        self.policy, self.cell, self.on, self.matches = policy, cell, np.arange(arenas), 0
        self.skills, self._rng = cell.skills(arenas), np.random.default_rng([cell.players, 1])
        self.counts, self._known = Counts(arenas, cell.players), Counts(arenas, cell.players)
        self._played = np.zeros((arenas, cell.players), dtype=int)
        self._waiting: deque[tuple[int, np.ndarray, Floats, Floats]] = deque()
        self._rounds, self._placed = 0, int(policy.player) if policy.player else None

    def play(self) -> None:
        """Play a round."""
        self._rounds += 1
        while self._waiting and self.matches - self._waiting[0][0] >= (self.cell.lag or 0):
            _, arenas, won, tied = self._waiting.popleft()
            self._known.wins[arenas] += won
            self._known.ties[arenas] += tied
        size, count = self.cell.players, max(1, self.cell.players // (8 if self.policy.player else 2))
        times = max(1, self.matches // (50 * count)) if self.matches > SINGLY * size else 1
        seated = self._learnt(count) if self.policy.learns else self._at_random(count)
        won, tied = np.zeros((2, len(self.on), size, size))
        every = np.arange(len(self.on))
        nu = 2 * self.cell.ties / (1 - self.cell.ties)
        for a, b in np.moveaxis(seated, 0, -1):
            up = np.exp((self.skills[self.on, a] - self.skills[self.on, b]) / 2)
            odds = np.stack([up, 1 / up, nu + 0 * up], axis=1)
            first, second, ties = self._rng.multinomial(times, odds / odds.sum(axis=1, keepdims=True)).T
            won[every, a, b] += first
            won[every, b, a] += second
            tied[every, a, b] += ties
            tied[every, b, a] += ties
            self._played[self.on, a] += times
            self._played[self.on, b] += times
        self.counts.wins[self.on] += won
        self.counts.ties[self.on] += tied
        self.matches += times * count
        self._waiting.append((self.matches, self.on, won, tied))

    def _learnt(self, count: int) -> np.ndarray:
        size, known = self.cell.players, self._known
        flying = (self.counts.met - known.met)[self.on]
        return adaptive.seat(
            strengths=fit(known.wins[self.on], known.ties[self.on], flying),
            played=self._played[self.on],
            free=np.broadcast_to(~np.eye(size, dtype=bool), flying.shape),
            price=np.ones((len(self.on), size)),
            lots=[Random(f"{arena}/{self._rounds}") for arena in self.on],
            goal=self.policy.goal,
            placed=self._placed,
            count=count,
        )

    def _at_random(self, count: int) -> np.ndarray:
        """Pairs as policy `random` has them; of a round that is shorter, the first."""
        order = self._rng.permuted(np.tile(np.arange(self.cell.players), (len(self.on), 1)), axis=1)
        return np.stack([order[:, : 2 * count : 2], order[:, 1 : 2 * count : 2]], axis=2)

    def evidence(self, arena: int) -> Evidence:
        """Return all matches of an arena."""
        won, tied = self.counts.wins[arena].astype(int), np.triu(self.counts.ties[arena]).astype(int)
        pairs = np.concatenate([np.argwhere(won), np.argwhere(tied)])
        times = np.concatenate([won[won > 0], tied[tied > 0]])
        score = np.repeat([1.0, 0.5], [won.sum(), tied.sum()])
        return of_duels(duels(self.cell.players, *pairs.repeat(times, axis=0).T, score))


def chances(found: PairingStrengths, rng: np.random.Generator) -> Floats:
    """Return the pick's chance to be best in each arena, by the normal."""
    root = np.linalg.cholesky(found.covariance)
    drawn = found.mean[:, :, None] + root @ rng.standard_normal((found.mean.shape[1], 1000))
    best = drawn.argmax(axis=1)
    return np.array([np.bincount(row).max() / len(row) for row in best])


def took(policy: Policy, goal: Goal, cell: Cell, arenas: int) -> Took:
    """Return what arenas took until the goal was proven and, where it is who is best, the pick was sure."""
    play, rng, most = Lockstep(policy, cell, arenas), np.random.default_rng(2), float(MOST * cell.players)
    placed = int(goal.player) if goal.player else None
    found = Took(*np.full((4, arenas), np.nan))
    ask, look = np.zeros(arenas), 2.0 * cell.players
    if goal != BEST:
        found.sure[:] = most
    while play.matches < most and len(play.on):
        play.play()
        if play.matches < look:
            continue
        look, now = play.matches * STEP, play.matches
        fitted = fit(
            play.counts.wins[play.on], play.counts.ties[play.on], np.zeros_like(play.counts.wins[play.on])
        )
        gap = np.abs(fitted.mean[:, :, None] - fitted.mean[:, None, :]) + goal.within / POINTS
        apart = far_enough(cell.players) if goal.within else math.sqrt(cell.players + 5)
        clear = gap / np.sqrt(adaptive.between(fitted.covariance)) > apart
        near = (clear | ~adaptive.of_goal(goal, placed, fitted.mean)).all(axis=(1, 2))
        chance = chances(fitted, rng) if goal == BEST else np.zeros(len(near))
        for at, arena in enumerate(play.on.tolist()):
            if near[at] and np.isnan(found.proven[arena]):
                seen = play.evidence(arena)
                above, posterior = proven(seen), strengths(seen, seed=0) if goal.within else None
                order = above.sum(axis=1) - above.sum(axis=0) * 1.0 if posterior is None else posterior.rating
                if (settled(above, goal, posterior) | ~adaptive.of_goal(goal, placed, order)).all():
                    found.proven[arena] = now
            if chance[at] > NEARLY and now >= ask[arena] and np.isnan(found.sure[arena]):
                posterior = strengths(play.evidence(arena), seed=0)
                pick, skill = int(posterior.best.argmax()), play.skills[arena]
                ask[arena] = now * (1.02 + SURE - posterior.best[pick])  # the less sure, the later again
                if posterior.best[pick] >= SURE:
                    truth = 1500 + POINTS * (skill - skill.mean())
                    held = (posterior.lower <= truth) & (truth <= posterior.upper)
                    found.sure[arena], found.held[arena] = now, held.mean()
                    found.right[arena] = skill[pick] == skill.max()
        play.on = play.on[np.isnan(found.proven[play.on]) | np.isnan(found.sure[play.on])]
    return found._replace(
        proven=np.nan_to_num(found.proven, nan=most), sure=np.nan_to_num(found.sure, nan=most)
    )


def rows(arenas: int) -> Iterator[str]:
    """Yield the lines of the table, and then the means over pools of six or more."""
    columns = ("proven: random", "adaptive", "ratio", "90%: random", "adaptive", "ratio", "right", "held")
    yield f"| pool | goal | {' | '.join(columns)} |"
    yield "|---|---|" + "--:|" * len(columns)
    ratios = []
    for cell, goal in CELLS:
        own = Policy("adaptive") if goal == BEST else Policy("adaptive", goal=goal)
        ways = [took(way, goal, cell, arenas) for way in (Policy("random"), own)]
        means = np.exp([[np.log(row).mean() for row in way[:2]] for way in ways])
        ratio = means[1] / means[0]
        there = [f" ({np.mean(way.proven < MOST * cell.players):.0%})" for way in ways]
        cells = [f"{mean:,.0f}{share}" for mean, share in zip(means[:, 0], there, strict=True)]
        cells.append(f"{ratio[0]:.2f}")
        if goal == BEST:
            cells += [*[f"{mean:,.0f}" for mean in means[:, 1]], f"{ratio[1]:.2f}"]
            cells += [
                " / ".join(f"{np.nanmean(row):.1%}" for row in both)
                for both in zip(*[way[2:] for way in ways], strict=True)
            ]
            if cell.players >= 6:
                ratios.append(ratio)
        lead = "" if cell.lead is None else f", best {cell.lead:g} ahead"
        spread = f"SD {cell.spread:g}" if cell.pool == "normal" else "equals"
        pool = f"{cell.players}, {spread}{lead}, ties {cell.ties:g}, {cell.lag} in flight"
        yield f"| {pool} | {goal} | {' | '.join(cells)} |"
    both, worst = np.exp(np.log(ratios).mean(axis=0)), np.max(ratios, axis=0)
    for what, mean, most in zip(("proven", "the pick has 90%"), both, worst, strict=True):
        yield f"Six players or more, until {what}: {mean:.0%} of random's matches, {most:.0%} at most."


def paired_in(players: int) -> str:
    """Return how long a round takes to pair, with 50 matches for each player known."""
    rng, history, results = Random(1), History(), Results()
    names = [f"p{at:02}" for at in range(players)]
    for _ in range(25 * players):
        pair = rng.sample(names, 2)
        history.remember(pair)
        results.note(pair, rng.choice([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]))
    standings = [Standing(name, name, 1500.0, 1500.0 + at) for at, name in enumerate(names)]
    times = []
    for lot in range(11):
        begun = time.process_time()
        Policy("adaptive").pair(standings, history, results, str(lot))
        times.append(time.process_time() - begun)
    return f"A round of {players} players is paired in {1000 * sorted(times)[5]:.1f} ms (median, CPU)."


def main(arenas: int = 200) -> None:
    for players in (40, 60):
        print(paired_in(players), flush=True)
    for row in rows(arenas):
        print(row, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
