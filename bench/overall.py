"""How often the 95% intervals of overall shares hold the truth, over simulated arenas of several games.

Eight players have strengths that differ from game to game, in games of more and of less luck; everybody plays
one match of each game a round. Usage: python -m bench.overall [ARENAS]
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.history import Game, games
from peerage.ratings.overall import combined, shares_of
from peerage.ratings.strength.evidence import Evidence, of_games
from peerage.ratings.strength.pooling import pooled

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
    """Whether the overall interval and those of single games hold, a value a player each, the mean half width
    of the overall interval, and the chance to be the best that the truly best player had."""

    overall: np.ndarray
    single: np.ndarray
    half: float
    best: float


def played(strength: Floats, rounds: int, seats: int, rng: np.random.Generator) -> Evidence:
    """Matches of so many seats, in which everybody sits once a round, at random."""
    matches = []
    for _ in range(rounds):
        for seated in rng.permutation(len(strength)).reshape(-1, seats):
            said = strength[seated] + rng.gumbel(size=seats)
            matches.append(Game(tuple([(int(one),) for one in seated]), tuple((-said).tolist())))
    return of_games(games(len(strength), matches))


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
        found.append(played(strength, case.rounds, case.seats[game % len(case.seats)], rng))
    each = [shares_of(one.draws) for one in pooled(found, seed=rng)]
    whole, true = combined(each, [1] * case.games), np.mean(truth, axis=0)
    lower, upper = whole.bounds
    return Held(
        (lower <= true) & (true <= upper),
        np.concatenate(
            [(one.bounds[0] <= t) & (t <= one.bounds[1]) for one, t in zip(each, truth, strict=True)]
        ),
        float((upper - lower).mean() / 2),
        float(whole.best[int(true.argmax())]),
    )


def main(arenas: int) -> None:
    print("| games | rounds | seats | spread | overall holds | one game holds | ± | chance of the best |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    for case in CASES:
        rng = np.random.default_rng(7)
        held = [arena(case, rng) for _ in range(arenas)]
        rates = [np.mean([getattr(one, what) for one in held]) for what in ("overall", "single", "best")]
        half = 100 * np.mean([one.half for one in held])
        seats = ", ".join(map(str, case.seats))
        print(
            f"| {case.games} | {case.rounds} | {seats} | {case.spread:g} | {rates[0]:.1%} | {rates[1]:.1%} "
            f"| {half:.1f} | {rates[2]:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
