"""Simulated arenas, many of a kind in lockstep: what the benches of pairing and of claims play."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from random import Random
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.sequential.elo_kernels import expected
from peerage.ratings.strength.prior import FAR, SHARE, WIDTH
from peerage.scheduling import adaptive
from peerage.scheduling.groups import tables
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, Results, Standing
from peerage.scheduling.strengths import fit, table_share
from peerage.settings.pairing import usual_window

POINTS = 400 / math.log(10)
SPREAD = 120.0  # standard deviation of skills, Elo
CONCURRENCY = 8
FOLD = 30  # between the cheapest seat and the dearest


class Cell(NamedTuple):
    """Arenas of one kind: `ties` is the share of them between equals, `noise` that of results which are the
    toss of a coin, `lag` the matches in flight, by default those of an arena with eight under way at once.
    Skills have the standard deviation `spread`, in Elo; of a pool "one ahead", its lead. Where there is a
    `lead`, the best is so far ahead of the second, in Elo.
    """

    players: int
    pool: str
    ties: float = 0.2
    noise: float = 0.0
    lag: int | None = None
    seats: int = 2
    spread: float = SPREAD
    lead: float | None = None

    def skills(self, arenas: int) -> Floats:
        """In log-odds; shape (arenas, players)."""
        rng = np.random.default_rng(self.players)
        even = np.arange(self.players) / math.sqrt((self.players**2 - 1) / 12)
        drawn = {
            "equals": lambda: np.zeros(self.players),
            "even gaps": lambda: rng.permutation(even),
            "normal": lambda: rng.normal(0, 1, self.players),
            "one ahead": lambda: np.eye(self.players)[0],
            "prior": lambda: _from_prior(self.players, rng),
        }
        found = np.array([drawn[self.pool]() for _ in range(arenas)])
        found *= POINTS if self.pool == "prior" else self.spread
        if self.lead is not None:
            best = np.eye(self.players, dtype=bool)[found.argmax(axis=1)]
            found[best] = np.where(best, -np.inf, found).max(axis=1) + self.lead
        return np.asarray(found / POINTS)

    @property
    def prices(self) -> Floats:
        """What a seat of each player costs, in dollars; skills have nothing to do with it."""
        return np.asarray(0.01 * np.geomspace(1, FOLD, self.players))

    @property
    def per_round(self) -> int:
        """Matches."""
        return self.players // 2 if self.seats == 2 else tables(self.players, self.seats)

    @property
    def rounds(self) -> int:
        """In flight."""
        lag = self.lag or usual_window(CONCURRENCY, self.per_round)
        return max(1, math.ceil(lag / self.per_round))


def _from_prior(players: int, rng: np.random.Generator) -> Floats:
    """Strengths in log-odds as `ratings.strength.prior` has them."""
    spread, share = rng.exponential(WIDTH), rng.beta(*SHARE)
    far = rng.random(players) < share
    return np.asarray(rng.normal(0, np.where(far, np.hypot(spread, FAR), spread)))


class Counts:
    """What ended how, pair by pair, in each arena; a table counts as all of its pairs."""

    def __init__(self, arenas: int, players: int) -> None:
        self.wins, self.ties = np.zeros((2, arenas, players, players))
        self._every = np.arange(arenas)

    def add(self, seated: np.ndarray, scores: Floats) -> None:
        """Matches of one round; both of shape (arenas, matches, seats)."""
        for match in range(seated.shape[1]):
            for a in range(seated.shape[2]):
                for b in range(a):
                    one, other = seated[:, match, a], seated[:, match, b]
                    gap = scores[:, match, a] - scores[:, match, b]
                    np.add.at(self.wins, (self._every, one, other), gap > 0)
                    np.add.at(self.wins, (self._every, other, one), gap < 0)
                    np.add.at(self.ties, (self._every, one, other), gap == 0)
                    np.add.at(self.ties, (self._every, other, one), gap == 0)

    @property
    def met(self) -> Floats:
        """How often each pair has met."""
        return np.asarray(self.wins + self.wins.swapaxes(1, 2) + self.ties)

    def strengths(self) -> Floats:
        """Shape (arenas, players), in log-odds."""
        return fit(self.wins, self.ties, np.zeros_like(self.wins)).mean


def played(
    policy: Policy, cell: Cell, arenas: int, *, per_dollar: bool = False
) -> Iterator[tuple[np.ndarray, Floats]]:
    """Round after round, without end: who sat where and the scores, both (arenas, matches, seats)."""
    skills, rng = cell.skills(arenas), np.random.default_rng([cell.players, cell.seats, 1])
    learns = policy.learns
    drawn = _learning(policy, cell, arenas, per_dollar) if learns else _each(policy, cell, arenas)
    next(drawn)
    waiting: list[tuple[np.ndarray, Floats]] = []
    known: Ended = None
    while True:
        seated = drawn.send(known)
        scores = _scores(np.take_along_axis(skills[:, None, :], seated, axis=2), cell, rng)
        yield seated, scores
        waiting.append((seated, scores))
        known = waiting.pop(0) if len(waiting) == cell.rounds else None


def matches_of(policy: Policy, cell: Cell, arenas: int, count: int) -> list[list[tuple[int, int, float]]]:
    """So many matches of two of each arena, in order: the players and the score of the first."""
    found: list[list[tuple[int, int, float]]] = [[] for _ in range(arenas)]
    for seated, scores in played(policy, cell, arenas):
        for matches, pairs, points in zip(found, seated.tolist(), scores[..., 0].tolist(), strict=True):
            matches += [(a, b, score) for (a, b), score in zip(pairs, points, strict=True)]
        if len(found[0]) >= count:
            return [matches[:count] for matches in found]
    return []


def _scores(skill: Floats, cell: Cell, rng: np.random.Generator) -> Floats:
    """By chance: matches of two as in Davidson's model, tables ranked as in Plackett's and Luce's."""
    coin = rng.random((*skill.shape[:2], 1)) < cell.noise
    skill = np.where(coin, 0.0, skill)
    if cell.seats > 2:
        return np.asarray(skill + rng.gumbel(size=skill.shape))
    up = np.exp((skill[..., 0] - skill[..., 1]) / 2)
    nu = np.where(coin[..., 0], 0.0, 2 * cell.ties / (1 - cell.ties))
    lot = rng.random(up.shape) * (up + 1 / up + nu)
    score = np.where(lot < up, 1.0, np.where(lot < up + nu, 0.5, 0.0))
    return np.stack([score, 1 - score], axis=2)


Ended = tuple[np.ndarray, Floats] | None
Drawn = Generator[np.ndarray, Ended, None]
"""Takes in what ended and gives who sits where, of all arenas; the first one is empty."""


def _learning(policy: Policy, cell: Cell, arenas: int, per_dollar: bool) -> Drawn:
    """Tables of all arenas at once, by the functions that `adaptive` is made of."""
    placed = int(policy.player) if policy.player else None
    share, size = table_share(cell.seats), cell.players
    known, issued = Counts(arenas, size), np.zeros((arenas, size, size))
    matches = np.zeros((arenas, size), dtype=int)
    price = np.broadcast_to(cell.prices if per_dollar else np.ones(size), (arenas, size))
    every = np.arange(arenas)
    ended = yield np.zeros(0)
    for number in range(10**9):
        if ended:
            known.add(*ended)
        flying = issued - known.met
        found = fit(share * known.wins, share * known.ties, share * flying)
        found = found._replace(information=share * found.information)
        count = cell.per_round
        seated = adaptive.seat(
            strengths=found,
            played=matches,
            free=np.broadcast_to(~np.eye(size, dtype=bool), (arenas, size, size)),
            price=price,
            lots=[Random(f"{arena}/{number}") for arena in every],
            goal=policy.goal,
            placed=placed,
            count=count,
            seats=cell.seats,
        )
        for match in range(count):
            for a in range(cell.seats):
                matches[every, seated[:, match, a]] += 1
                for b in range(cell.seats):
                    issued[every, seated[:, match, a], seated[:, match, b]] += a != b
        ended = yield seated


def _each(policy: Policy, cell: Cell, arenas: int) -> Drawn:
    """Tables of one arena after the other, by policies that need no fit."""
    names = [f"{at:02}" for at in range(cell.players)]
    histories = [History() for _ in range(arenas)]
    elo = np.full((arenas, cell.players), 1500.0)
    ended = yield np.zeros(0)
    for number in range(10**9):
        for arena, (seated, scores) in enumerate(zip(*ended, strict=True) if ended else ()):
            for table, points in zip(seated.tolist(), scores.tolist(), strict=True):
                _moved(elo[arena], table, points)
        drawn = []
        for arena, history in enumerate(histories):
            standings = [
                Standing(name, name, one, one, one / 48)
                for name, one in zip(names, elo[arena].tolist(), strict=True)
            ]
            lot = f"{arena}/{number}"
            if cell.seats == 2:
                found = policy.pair(standings, history, Results(), lot)
            else:
                found = policy.seat(standings, history, Results(), lot, cell.seats)
            for table in found:
                history.remember(table)
            drawn.append([[int(name) for name in table] for table in found])
        ended = yield np.array(drawn)


def _moved(elo: Floats, table: list[int], points: list[float]) -> None:
    """Elo after a match; a table is all its pairs, each with its share."""
    before, k = elo.copy(), 16 / (len(table) - 1)
    for a, own in zip(table, points, strict=True):
        for b, other in zip(table, points, strict=True):
            if a != b:
                elo[a] += k * ((own > other) + (own == other) / 2 - expected(before[a], before[b]))
