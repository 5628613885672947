"""Every policy at tables of many: whole tables, everybody plays, and those who learn need fewer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from bench.arenas import Cell, Counts, played
from tests.engine.arenas import head, house, paced, play, write_arena
from tests.scheduling.test_policies import NAMES, standings

from peerage.games.code_golf import GAME
from peerage.scheduling.fixtures import Scheduler, next_round, remember
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal, History, PolicyName, Results
from peerage.scheduling.strengths import table_share

GOLF = replace(GAME, draw=lambda rules, secret, number: {}, memory=None)
"""A game at tables of many, whose tasks nobody needs here."""

every_policy = pytest.mark.parametrize("name", NAMES)


@every_policy
@pytest.mark.parametrize(("players", "seats"), [(3, 4), (9, 3), (10, 4), (12, 6)])
def test_tables_are_whole_and_everybody_plays(name: PolicyName, players: int, seats: int) -> None:
    scheduler = Scheduler(GOLF, GOLF.rules(seats=seats), "7", Policy(name))
    pool, history, results, rng, number = standings(players), History(), Results(), Random(1), 1
    seen: Counter[str] = Counter()
    for round in range(1, 31):
        fixtures = next_round(
            scheduler, pool, history, number=number, round=round, snapshot=0, results=results
        )
        number += len(fixtures)
        remember(history, fixtures)
        for one in fixtures:
            names = [seat.player for seat in one.seats]
            assert len({*names}) == len(names) >= min(players, seats) - 1
            seen.update(names)
            results.note(names, [rng.gauss(-0.2 * int(name[1:]), 1) for name in names])
    assert set(seen) == {one.player for one in pool}
    assert min(seen.values()) >= max(5, sum(seen.values()) / players // 4)
    shuffled = rng.sample(pool, players)
    again = [Policy(name).seat(order, history, results, "lot", seats) for order in (pool, shuffled)]
    assert again[0] == again[1]


def test_a_table_that_stays_too_small_is_none() -> None:
    assert Policy("adaptive").seat(standings(3), History(), Results(), "lot", 6, 0, 5) == ()


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_a_table_says_of_its_pairs_what_a_ranking_does(seats: int) -> None:
    """The information on strengths of Plackett and Luce's model among equals, over all rankings."""
    scores = []
    for ranking in permutations(range(seats)):
        score = np.zeros(seats)
        for at in range(seats - 1):
            score[ranking[at]] += 1
            score[[*ranking[at:]]] -= 1 / (seats - at)
        scores.append(score)
    information = np.mean([np.outer(one, one) for one in scores], axis=0)
    assert information[0, 1] == pytest.approx(-table_share(seats) / 4)


def test_tables_by_order_need_fewer_matches_than_by_lot() -> None:
    cell, arenas = Cell(12, "even gaps", seats=4), 40
    skill = cell.skills(arenas)
    wrong = {}
    for name, policy in (("order", Policy("adaptive", goal=Goal("order"))), ("random", Policy("random"))):
        counts, matches = Counts(arenas, 12), 0
        for seated, scores in played(policy, cell, arenas):
            counts.add(seated, scores)
            matches += seated.shape[1]
            if matches >= 120:
                break
        gap = skill[:, :, None] - skill[:, None, :]
        strengths = counts.strengths()
        wrong[name] = np.abs(gap)[(strengths[:, :, None] - strengths[:, None, :]) * gap < 0].sum()
    assert wrong["order"] < 0.9 * wrong["random"]


@pytest.mark.parametrize("policy", ["adaptive", "round-robin"])
def test_tables_are_drawn_up_alike_at_any_concurrency(tmp_path: Path, policy: str) -> None:
    heads = []
    for concurrency in (1, 64):
        folder = write_arena(
            tmp_path / str(concurrency),
            house(6),
            game="trivia",
            rules={"seats": 3},
            pairing={"policy": policy, "window": 4},
            engine={"concurrency": concurrency},
        )
        play(folder, 14, clients=paced(concurrency))
        heads.append(head(folder))
    assert heads[0] == heads[1]
