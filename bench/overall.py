"""How often the 95% intervals of overall shares hold the truth, over simulated arenas of several games.

Eight players have strengths that differ from game to game, in games of more and of less luck; everybody plays
one match of each game a round. Usage: python -m bench.overall [ARENAS]
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from peerage.ratings.history import Game, games, pairings
from peerage.ratings.kernels import Floats
from peerage.ratings.overall import GameHistory, combined, shares
from peerage.ratings.table import Z95, separated

PLAYERS = 8


class Case(NamedTuple):
    """So many games and rounds; game g has `seats[g]` contestants, in turn; `spread` is how far apart players
    are, in log-odds."""

    games: int
    rounds: int
    seats: tuple[int, ...]
    spread: float


CASES = (
    Case(3, 10, (2,), 1.0),
    Case(3, 30, (2,), 2.5),
    Case(10, 7, (2,), 1.0),
    Case(10, 20, (2,), 2.5),
    Case(10, 7, (4, 8), 1.0),
    Case(10, 20, (2, 4, 8), 2.0),
    Case(12, 40, (2, 4, 8), 2.0),
    Case(10, 20, (2,), 0.0),
)


class Held(NamedTuple):
    """Whether the overall interval and those of single games hold, a value a player each, the mean standard
    error of the overall share, and whether anybody was wrongly said to be above somebody."""

    overall: np.ndarray
    single: np.ndarray
    error: float
    wrong: bool


def played(strength: Floats, rounds: int, seats: int, rng: np.random.Generator) -> GameHistory:
    """Matches of so many seats, in which everybody sits once a round, at random."""
    matches = []
    for _ in range(rounds):
        for seated in rng.permutation(len(strength)).reshape(-1, seats):
            said = strength[seated] + rng.gumbel(size=seats)
            matches.append(Game(tuple([(int(one),) for one in seated]), tuple((-said).tolist())))
    history, sources = pairings(games(len(strength), matches))
    return GameHistory(history, None if seats == 2 else sources)


def arena(case: Case, rng: np.random.Generator) -> Held:
    """One arena, played and rated."""
    general = rng.normal(size=PLAYERS)
    found, truth = [], []
    for game in range(case.games):
        luck = rng.uniform(0.2, 1.5)
        strength = case.spread * luck * (general + rng.normal(size=PLAYERS)) / np.sqrt(2)
        chance = 1 / (1 + np.exp(strength[None, :] - strength[:, None]))
        np.fill_diagonal(chance, 0)
        truth.append(chance.sum(axis=1) / (PLAYERS - 1))
        history = played(strength, case.rounds, case.seats[game % len(case.seats)], rng)
        found.append(shares(history, case.games))
    whole, true = combined(found, [1] * case.games), np.mean(truth, axis=0)
    above = separated(whole.share, whole.covariance)
    return Held(
        np.abs(whole.share - true) < Z95 * whole.error,
        np.concatenate([abs(one.share - t) < Z95 * one.error for one, t in zip(found, truth, strict=True)]),
        float(whole.error.mean()),
        bool((above & (true[:, None] <= true[None, :])).any()),
    )


def main(arenas: int) -> None:
    print("| games | rounds | seats | spread | overall holds | one game holds | error | wrong separations |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    for case in CASES:
        rng = np.random.default_rng(7)
        held = [arena(case, rng) for _ in range(arenas)]
        rates = [np.mean([getattr(one, what) for one in held]) for what in ("overall", "single", "wrong")]
        error = 100 * np.mean([one.error for one in held])
        seats = ", ".join(map(str, case.seats))
        print(
            f"| {case.games} | {case.rounds} | {seats} | {case.spread:g} | {rates[0]:.1%} | {rates[1]:.1%} "
            f"| {error:.1f} | {rates[2]:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
