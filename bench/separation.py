"""How many matches a game takes until eight house players of known skill are in their right order.

The players meet in rounds, at tables (of two: pairs) drawn at random, and are ranked by their mean score.
Some rounds are played, and arenas draw theirs from them; the players' means are moved onto a cubic curve over
skill, so that no figure hangs on the luck of two neighbors in few rounds. The figure is the fewest matches
after which, and from then on, the order of all eight is right in 95% of the arenas; beside it is the share of
ties among those who met.

Usage: python -m bench.separation GAME [RULES…] [--rounds N]    RULES: JSON, a row each; none: the defaults
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import numpy as np

from peerage.game.spec import GameSpec
from peerage.games import GAMES
from peerage.testing.offline import fixture, house, play

SKILLS = (0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.2)
MODELS = {f"p{skill}": f"house:{skill}" for skill in SKILLS}
PLAYERS = tuple(MODELS)
"""The best first."""
ROUNDS = 500
ARENAS, LONGEST = 400, 2_000
"""Arenas, and rounds in each."""
ENOUGH = 0.95


class Separation(NamedTuple):
    """`matches` until the order is right, None when it is not after `LONGEST` rounds; the share of ties."""

    matches: int | None
    ties: float


def separation(spec: GameSpec[Any], rules: Mapping[str, Any], rounds: int = ROUNDS) -> Separation:
    """What a game takes under these rules, from so many rounds."""
    seats = min(spec.seats(spec.rules.model_validate(rules)), len(PLAYERS))
    tables = [table for number in range(rounds) for table in _round(spec, rules, seats, number)]
    each = len(PLAYERS) // seats
    scores = np.array(
        [
            [next((t[player] for t in tables[at : at + each] if player in t), np.nan) for player in PLAYERS]
            for at in range(0, len(tables), each)
        ]
    )
    met = [table[a] == table[b] for table in tables for a, b in combinations(table, 2)]
    means = np.nanmean(scores, axis=0)
    scores += np.polyval(np.polyfit(SKILLS, means, 3), SKILLS) - means
    random, right = np.random.default_rng(1), np.zeros(LONGEST)
    for _ in range(ARENAS):
        drawn = scores[random.integers(rounds, size=LONGEST)]
        played = np.cumsum(~np.isnan(drawn), axis=0)
        means = np.nancumsum(drawn, axis=0) / np.maximum(played, 1)
        right += np.all(np.diff(means, axis=1) < 0, axis=1)
    last_wrong = int(np.flatnonzero(right < ENOUGH * ARENAS).max(initial=-1))
    return Separation(None if last_wrong == LONGEST - 1 else (last_wrong + 2) * each, sum(met) / len(met))


def _round(spec: GameSpec[Any], rules: Mapping[str, Any], seats: int, number: int) -> list[dict[str, float]]:
    """The scores at each full table of a round, by player; ½ for everybody where there is no result."""
    players = list(PLAYERS)
    Random(f"separation/{number}").shuffle(players)
    tables = []
    for at in range(0, len(players) - seats + 1, seats):
        seated = players[at : at + seats]
        officials = [player for player in PLAYERS if player not in seated]
        made = fixture(
            spec, [*seated, *officials], rules, number=number + 1, seed=f"separation/{number}/{at}"
        )
        outcome = play(spec, made, house(MODELS, made.seed)).outcome
        tables.append({seat.player: outcome.scores.get(seat.label, 0.5) for seat in made.seats})
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.separation", description=__doc__)
    parser.add_argument("game")
    parser.add_argument("rules", nargs="*", type=json.loads)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that are played")
    given = parser.parse_args()
    spec = GAMES[given.game]
    print(
        f"{spec.name} version {spec.version}: eight house players, {given.rounds} rounds played", flush=True
    )
    for rules in given.rules or [{}]:
        found = separation(spec, rules, given.rounds)
        matches = f"more than {LONGEST} rounds" if found.matches is None else f"{found.matches:,} matches"
        print(f"  {json.dumps(rules):60} {matches:>22}   ties {found.ties:.0%}", flush=True)


if __name__ == "__main__":
    main()
