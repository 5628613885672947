"""How evenly players meet the topics of the duel, five of them: arenas by pairing policy, 50 rounds each,
paired two rounds after results are in. The table has the standard deviation of the number of a player's
matches on a topic around the player's own mean, and by how many a player's most frequent topic is ahead of
its rarest at worst: as paired, and with topics given out by lot.

Usage: python -m bench.topics [ARENAS]    (12: about two minutes on one core)
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterator
from random import Random
from unittest.mock import patch

import numpy as np

from peerage.games import GAMES
from peerage.ratings.sequential.elo_kernels import expected
from peerage.scheduling import fixtures as pairing
from peerage.scheduling.fixtures import Scheduler, next_round, remember
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, PolicyName, Results, Standing

TOPICS = [f"topic {at}" for at in range(5)]
ROUNDS, LAG, GAP = 50, 2, 30.0
POLICIES: tuple[PolicyName, ...] = ("swiss", "adaptive")


def counts(policy: PolicyName, players: int, arena: int) -> np.ndarray:
    """Matches by player and topic; players are `GAP` Elo apart."""
    rules = GAMES["duel"].rules(topics=TOPICS)  # type: ignore[call-arg]
    scheduler = Scheduler(GAMES["duel"], rules, f"secret {arena}", Policy(policy))
    names = [f"p{at:02}" for at in range(players)]
    skill = {name: 1500.0 + GAP * at for at, name in enumerate(names)}
    elo = dict.fromkeys(names, 1500.0)
    rng, number, found = Random(arena), 1, Counter[tuple[str, str]]()
    history, results, waiting = History(), Results(), deque[list[tuple[str, str, float]]]()
    for round in range(1, ROUNDS + 1):
        for a, b, score in waiting.popleft() if len(waiting) > LAG else ():
            results.note((a, b), (score, 1 - score))
            change = 24.0 * (score - expected(elo[a], elo[b]))
            elo[a], elo[b] = elo[a] + change, elo[b] - change
        of_all = [Standing(name, name, elo[name], elo[name]) for name in names]
        issued = next_round(
            scheduler, of_all, history, number=number, round=round, snapshot=0, results=results
        )
        remember(history, issued)
        number += len(issued)
        ended = []
        for one in issued:
            a, b = (seat.player for seat in one.seats)
            found.update([(a, one.topic), (b, one.topic)])
            ended.append((a, b, float(rng.random() < expected(skill[a], skill[b]))))
        waiting.append(ended)
    return np.array([[found[name, topic] for topic in TOPICS] for name in names])


def spread(policy: PolicyName, players: int, arenas: int) -> tuple[float, int]:
    each = [counts(policy, players, arena) for arena in range(arenas)]
    deviation = np.mean([np.std(one - one.mean(axis=1, keepdims=True)) for one in each])
    return float(deviation), max(int(np.ptp(one, axis=1).max()) for one in each)


def table(arenas: int) -> Iterator[str]:
    yield "| players | policy | deviation | at worst | by lot | at worst |"
    yield "|--:|---|--:|--:|--:|--:|"
    for players in (6, 12, 40):
        for policy in POLICIES:
            own, widest = spread(policy, players, arenas)
            with patch.object(pairing, "by_topic", lambda tables, *_: list(tables)):
                lot, by_lot = spread(policy, players, arenas)
            yield f"| {players} | {policy} | {own:.2f} | {widest} | {lot:.2f} | {by_lot} |"


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 12):
        print(line, flush=True)
