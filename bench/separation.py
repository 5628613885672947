"""How many matches a game takes until eight house players of known skill are in their right order.

The players meet in rounds, at tables (of two: pairs) drawn at random, and are ranked by their mean score.
Some arenas are played, with the levels that `difficulty: auto` finds, and others draw theirs from them: the
first rounds from first rounds, since levels have still to find the players, and later ones from later ones.
The players' means are moved onto a curve over ability, so that no figure hangs on the luck of two neighbors
in few rounds. The figure is the fewest matches after which, and from then on, the order is right in 95% of
the arenas; beside it are the share of ties among those who met, and what share of tasks the best solved.

Pools: `wide` has skills from 0.95 to 0.20, `strong` those of today's strong models, 0.995 to 0.93, and in
`equals` all but the best are equal, and the right order has the best one first.

Usage: python -m bench.separation GAME [RULES…] [--pool NAME] [--rounds N]    RULES: JSON, a row each
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from random import Random
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from peerage.game.spec import GameSpec
from peerage.games import GAMES
from peerage.testing.offline import fixture, house, play

POOLS: Mapping[str, tuple[float, ...]] = {
    "wide": (0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.2),
    "strong": (0.995, 0.99, 0.985, 0.98, 0.97, 0.96, 0.945, 0.93),
    "equals": (0.98, *[0.93] * 7),
}
SKILLS = POOLS["wide"]
MODELS = {f"p{skill}": f"house:{skill}" for skill in SKILLS}
PLAYERS = tuple(MODELS)
"""The best first."""
ROUNDS = 500
PLAYED, FIRST = 10, 10
"""Arenas that are played, and their first rounds."""
ARENAS, LONGEST = 400, 2_000
"""Arenas that draw from them, and rounds in each."""
ENOUGH = 0.95


class Separation(NamedTuple):
    """`matches` until the order is right, None when it is not after `LONGEST` rounds; the share of ties, and
    of the tasks that the best player solved, None of a game without tasks."""

    matches: int | None
    ties: float
    solved: float | None = None


def separation(
    spec: GameSpec[Any], rules: Mapping[str, Any], rounds: int = ROUNDS, skills: Sequence[float] = SKILLS
) -> Separation:
    """What a game takes under these rules, from so many rounds."""
    seats = min(spec.seats(spec.rules.model_validate(rules)), len(skills))
    long = max(rounds // PLAYED, FIRST + 2)
    arenas = [_arena(spec, rules, seats, long, number, skills) for number in range(max(1, rounds // long))]
    each = len(skills) // seats
    scores = np.array([[_scores(tables, len(skills)) for tables in arena.rounds] for arena in arenas])
    met = [
        table[a] == table[b]
        for arena in arenas
        for tables in arena.rounds
        for table in tables
        for a, b in combinations(table, 2)
    ]
    abilities = np.array([log(skill / (1 - skill)) for skill in skills])
    apart = np.unique(abilities)
    means = np.nanmean(scores, axis=(0, 1))
    curve = np.polyfit(abilities, means, min(3, len(apart) - 1))
    scores = scores + np.polyval(curve, abilities) - means
    random, right = np.random.default_rng(1), np.zeros(LONGEST)
    for _ in range(ARENAS):
        arena = random.integers(len(arenas), size=LONGEST)
        at = np.where(np.arange(LONGEST) < FIRST, np.arange(LONGEST), random.integers(FIRST, long, LONGEST))
        drawn = scores[arena, at]
        played = np.cumsum(~np.isnan(drawn), axis=0)
        sums = np.nancumsum(drawn, axis=0) / np.maximum(played, 1)
        if len(apart) == len(skills):
            right += np.all(np.diff(sums, axis=1) < 0, axis=1)
        else:
            right += sums[:, 0] > sums[:, 1:].max(axis=1)
    last_wrong = int(np.flatnonzero(right < ENOUGH * ARENAS).max(initial=-1))
    solved = [share for arena in arenas for share in arena.solved[FIRST:]]
    return Separation(
        matches=None if last_wrong == LONGEST - 1 else (last_wrong + 2) * each,
        ties=sum(met) / len(met),
        solved=sum(solved) / len(solved) if solved else None,
    )


class _Arena(NamedTuple):
    """An arena: the tables of each round, with scores by place in the pool, and what the best solved."""

    rounds: list[list[dict[int, float]]]
    solved: list[float]


def _scores(tables: Sequence[Mapping[int, float]], players: int) -> list[float]:
    return [next((table[at] for table in tables if at in table), np.nan) for at in range(players)]


def _arena(
    spec: GameSpec[Any],
    rules: Mapping[str, Any],
    seats: int,
    rounds: int,
    number: int,
    skills: Sequence[float],
) -> _Arena:
    """Play an arena; everybody has ½ where there is no result."""
    parsed = spec.rules.model_validate(rules)
    memory = spec.memory.make(parsed) if spec.memory and spec.remembers(parsed) else None
    players = {f"p{at}-{skill}": at for at, skill in enumerate(skills)}
    models = {player: f"house:{skills[at]}" for player, at in players.items()}
    arena = _Arena([], [])
    for round in range(rounds):
        order = [*players]
        Random(f"separation/{number}/{round}").shuffle(order)
        tables, facts = [], []
        for at in range(0, len(order) - seats + 1, seats):
            seated = order[at : at + seats]
            officials = [player for player in players if player not in seated]
            match = number * 10_000 + round + 1
            seed = f"separation/{number}/{round}/{at}"
            made = fixture(spec, [*seated, *officials], rules, number=match, seed=seed)
            if memory is not None:
                made = replace(made, drawn=memory.draw(f"arena/{at}", match, ""))
            outcome = play(spec, made, house(models, made.seed)).outcome
            tables.append({players[seat.player]: outcome.scores.get(seat.label, 0.5) for seat in made.seats})
            facts.append((match, outcome.facts))
            best = f"p0-{skills[0]}"
            for fact in outcome.facts:
                if fact.get("fact") == "tasks" and best in fact["credits"]:
                    arena.solved.append(sum(fact["credits"][best]) / len(fact["levels"]))
        if memory is not None:
            for learnt in facts:
                memory.learn(*learnt)
        arena.rounds.append(tables)
    return arena


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.separation", description=__doc__)
    parser.add_argument("game")
    parser.add_argument("rules", nargs="*", type=json.loads)
    parser.add_argument("--pool", choices=[*POOLS, "all"], default="wide", help="whom it is to put in order")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that are played")
    given = parser.parse_args()
    spec = GAMES[given.game]
    print(
        f"{spec.name} version {spec.version}: eight house players, {given.rounds} rounds played", flush=True
    )
    for rules in given.rules or [{}]:
        for pool in POOLS if given.pool == "all" else [given.pool]:
            found = separation(spec, rules, given.rounds, POOLS[pool])
            matches = f"more than {LONGEST} rounds" if found.matches is None else f"{found.matches:,} matches"
            best = "" if found.solved is None else f"   the best solved {found.solved:.0%}"
            print(
                f"  {json.dumps(rules):40} {pool:7} {matches:>22}   ties {found.ties:.0%}{best}", flush=True
            )


if __name__ == "__main__":
    main()
