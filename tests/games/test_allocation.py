"""Allocation: the optimum is proven, closer plans rank higher, and what breaks a constraint says so."""

import json
from collections.abc import Mapping
from itertools import count, product
from random import Random
from statistics import mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.offline import fixture, play, scripted

from peerage.game.match import Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.allocation import GAME as ALLOCATION
from peerage.games.allocation import solve
from peerage.games.allocation.solve import LinearProblem, greedy
from peerage.games.allocation.tasks import (
    FAMILIES,
    AllocationTask,
    broken,
    drawn,
    problem,
    statement,
    worth,
)

PLAYERS = [f"p{at}" for at in range(10)]
SIZES = [(family, size) for family in FAMILIES for size in (1, 3, 5)]


def by_milp(made: LinearProblem) -> int:
    """What the best plan gains, by scipy's solver."""
    each = LinearConstraint(np.kron(np.eye(made.items), np.ones(made.choices)), 1, 1)
    limits = LinearConstraint(made.uses.reshape(len(made.limits), -1), ub=made.limits)
    found = milp(
        -made.gains.ravel(),
        constraints=[each, limits],
        integrality=1,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    return -round(found.fun)


@pytest.mark.parametrize(("family", "size"), SIZES)
def test_the_optimum_is_that_of_an_independent_solver(family: str, size: int) -> None:
    for seed in range(12):
        task = drawn(Random(seed), family, size)
        assert broken(task, task.best) == []
        assert problem(task).gain(task.best) == by_milp(problem(task))
        assert worth(task, task.best) > 0


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 3), st.integers(1, 3))
def test_nothing_outdoes_the_best_plan_of_any_problem(
    seed: int, items: int, choices: int, resources: int
) -> None:
    """Every plan of a small problem is tried; some uses are needs, as in covering."""
    rng = np.random.default_rng(seed)
    uses = rng.integers(0, 9, (resources, items, choices))
    uses[0] *= rng.choice([-1, 1])
    uses[:, :, 0] = np.minimum(uses[:, :, 0], 0)
    limits = np.maximum(
        uses[:, :, 0].sum(axis=1), (rng.random(resources) * 9 * np.sign(uses[:, 0, 1])).astype(int)
    )
    made = LinearProblem(rng.integers(-9, 20, (items, choices)), uses, limits, ("",) * resources)
    plans = product(range(choices), repeat=items)
    feasible = [plan for plan in plans if (made.used(plan) <= limits).all()]
    for plan in (solve.best(made), greedy(made)):
        assert tuple(plan) in feasible
    assert made.gain(solve.best(made)) == max(map(made.gain, feasible))


def played(replies: Mapping[str, Any], family: str = "") -> tuple[Outcome, AllocationTask]:
    """One task of that many players, each with its reply; of a `family`, where one is named."""
    rules = {"seats": len(replies), "tasks": 1}
    matches = (fixture(ALLOCATION, PLAYERS, rules, number=number) for number in count(1))
    made = next(one for one in matches if one.drawn["tasks"][0]["family"] in (family or FAMILIES))

    def answer(ask: Ask, player: str) -> str | Reply:
        reply = replies[ask.to]
        return json.dumps({"working": "", "plan": reply}) if isinstance(reply, list) else reply

    (task,) = made.drawn["tasks"]
    return play(ALLOCATION, made, scripted(answer)).outcome, convert(task, AllocationTask)


def test_closer_plans_rank_higher_and_those_that_break_a_constraint_last() -> None:
    _, task = played({"A": "", "B": ""}, "knapsack")
    top, everything = [*task.best], [1] * len(task.rows)
    worse = [*top]
    worse[top.index(1)] = 0
    outcome, _ = played(
        {"A": worse, "B": everything, "C": top, "D": "no plan", "E": Reply("refused")}, "knapsack"
    )
    assert outcome.scores == {"C": 1, "A": 0.75, "B": 0.25, "D": 0.25, "E": 0.25}
    (told,) = outcome.detail["tasks"]
    results = {label: one["result"] for label, one in told["plans"].items()}
    assert results == {"A": "feasible", "B": "infeasible", "C": "optimal", "D": "invalid", "E": "refused"}
    assert told["plans"]["A"]["share"] == worth(task, worse) / worth(task, top)
    weight, limit = sum(row[1] for row in task.rows), task.limits[0]
    assert told["plans"]["B"]["broken"][0] == (
        f"total weight: {weight}, at most {limit} ({weight - limit} too many)"
    )


def test_a_cost_is_shared_the_other_way_and_a_need_says_how_much_is_missing() -> None:
    _, task = played({"A": "", "B": ""}, "covering")
    lines, top = len(task.rows), [*task.best]
    outcome, _ = played({"A": [1] * lines, "B": [0] * lines, "C": top, "D": [2] * lines}, "covering")
    assert outcome.scores == {"C": 1, "A": 2 / 3, "B": 1 / 6, "D": 1 / 6}
    plans = outcome.detail["tasks"][0]["plans"]
    assert plans["A"]["share"] == worth(task, top) / sum(row[0] for row in task.rows)
    assert plans["B"]["broken"][0] == "open sites that serve area 1: 0, at least 1 (1 too few)"
    assert plans["D"]["broken"][0] == "line 1 is 2, and only 0 to 1 can be chosen"


def test_a_schedule_is_late_by_its_deadlines_and_in_their_order() -> None:
    task = AllocationTask("scheduling", ((5, 3, 4), (5, 3, 6), (9, 2, 4)), (1,))
    assert broken(task, [1, 1, 0]) == []
    assert broken(task, [1, 0, 1]) == ["hours of machine 1 for jobs due by hour 4: 5, at most 4 (1 too many)"]
    assert solve.best(problem(task)) == [0, 1, 1]


def test_a_lost_contestant_is_unranked_while_two_are_left() -> None:
    outcome, _ = played({"A": Reply("void"), "B": "no plan", "C": Reply("refused")})
    assert outcome.scores == {"B": 0.5, "C": 0.5}
    assert outcome.detail["unranked"] == ["A"]
    assert played({"A": Reply("void"), "B": "no plan"})[0].void == "no_answer"


def test_a_match_has_as_many_families_as_it_can_and_no_task_comes_twice() -> None:
    tasks = [
        fixture(ALLOCATION, PLAYERS, {"tasks": 5}, number=number).drawn["tasks"] for number in range(1, 101)
    ]
    assert all({task["family"] for task in match} == set(FAMILIES) for match in tasks)
    assert len({json.dumps(task) for match in tasks for task in match}) == 500


@pytest.mark.parametrize(("family", "size"), SIZES)
def test_random_constant_and_greedy_plans_rank_as_the_page_says(family: str, size: int) -> None:
    """Greedy plans are close to the optimum and seldom there; the others are far from it."""
    shares: dict[str, list[float]] = {"greedy": [], "constant": [], "random": []}
    for seed in range(60):
        task, rng = drawn(Random(seed), family, size), Random(seed)
        made = problem(task)
        plans = {
            "greedy": greedy(made),
            "constant": [made.safe] * made.items,
            "random": [rng.randrange(made.choices) for _ in range(made.items)],
        }
        for name, plan in plans.items():
            less, more = sorted((worth(task, plan), worth(task, task.best)))
            shares[name].append(0.0 if broken(task, plan) else less / more)
    assert 0.85 < mean(shares["greedy"]) < 0.98
    assert sum(share == 1 for share in shares["greedy"]) < 45
    assert mean(shares["random"]) < 0.6
    assert mean(shares["constant"]) < 0.6


def test_a_statement_tells_every_number_of_its_task() -> None:
    for family, size in SIZES:
        task = drawn(Random(7), family, size)
        lines = [line for line in statement(task).split("\n") if line[:1].isdigit()]
        assert len(lines) == len(task.rows)
        for line, row in zip(lines, task.rows, strict=True):
            shown = (
                row if family != "covering" else (row[0], *[at for at, one in enumerate(row[1:], 1) if one])
            )
            assert all(str(number) in line for number in shown)
