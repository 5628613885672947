"""Do the intervals of sequential Elo hold? Histories of known strengths, each played again and again.

For each setting: how often a rating's 95% interval holds the mean rating over all plays of the same duels,
and how far the ratings had come. Usage: python -m bench.elo_error [ARENAS] [PLAYS]
"""

from __future__ import annotations

import sys

import numpy as np

from peerage.ratings.sequential.elo import DuelResult, EloSettings, fold
from peerage.ratings.sequential.elo_error import elo_error
from peerage.ratings.table import Z95

SETTINGS = (
    ("5 players, 40 duels", 5, 40, 0, 200.0),
    ("10 players, 300 duels", 10, 300, 0, 200.0),
    ("10 players, 300 duels, far apart", 10, 300, 0, 450.0),
    ("9 players, 300 duels, a newcomer with 4", 10, 300, 4, 200.0),
    ("10 players, 2,000 duels", 10, 2000, 0, 200.0),
)


def measured(
    players: int, duels: int, newcomer: int, spread: float, settings: EloSettings, arenas: int, plays: int
) -> tuple[float, float]:
    """Coverage, and the share settled."""
    rng = np.random.default_rng(1)
    held, settled = [], []
    for _ in range(arenas):
        truth = rng.normal(0, spread, players)
        old = players - 1 if newcomer else players
        first = rng.integers(0, old, duels)
        second = (first + rng.integers(1, old, duels)) % old
        first = np.append(first, np.full(newcomer, players - 1))
        second = np.append(second, rng.integers(0, old, newcomer))
        met = np.zeros((players, players))
        np.add.at(met, (first, second), 1.0)
        met = met + met.T
        ratings, errors = [], []
        for _ in range(plays):
            order = np.append(rng.permutation(duels), np.arange(duels, duels + newcomer))
            wins = rng.random(len(first)) < 1 / (1 + 10 ** ((truth[second] - truth[first]) / 400))
            results = [
                DuelResult(int(first[i]), int(second[i]), float(wins[i]), 1.0, 1.0) for i in order.tolist()
            ]
            state = fold(players, results, settings)
            raw = np.array(state.raw)
            found = elo_error(raw, met, settings, np.array(state.cost))
            ratings.append(raw - raw.mean())
            errors.append(found.error)
            settled.append(found.settled.mean())
        off = np.abs(np.array(ratings) - np.mean(ratings, axis=0)) / np.sqrt(1 - 1 / plays)
        held.append((off < Z95 * np.array(errors)).mean())
    return float(np.mean(held)), float(np.mean(settled))


def main(arenas: int = 10, plays: int = 40) -> None:
    print("| K = 16 | propagation | interval holds | settled |")
    print("|---|---|--:|--:|")
    for name, players, duels, newcomer, spread in SETTINGS:
        for on in (False, True):
            settings = EloSettings(propagation_width=50.0 if on else None)
            shares = measured(players, duels, newcomer, spread, settings, arenas, plays)
            cells = " | ".join(f"{share:.1%}" for share in shares)
            print(f"| {name} | {'on' if on else 'off'} | {cells} |", flush=True)


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]])
