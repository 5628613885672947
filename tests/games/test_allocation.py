"""Allocation: the optimum is proven, closer plans rank higher, and what breaks a constraint says so."""

import json
from collections.abc import Mapping
from itertools import count, product
from random import Random
from statistics import mean, median
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.offline import fixture, play, scripted

from peerage.game.levels import chance
from peerage.game.match import Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.allocation import GAME as ALLOCATION
from peerage.games.allocation import solve
from peerage.games.allocation.play import house, points
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
SIZES = [(family, level) for family in FAMILIES for level in (1, 3, 5)]


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
    for seed in range(6):
        task = drawn(Random(seed), family, size)
        assert broken(task, task.best) == []
        assert problem(task).gain(task.best) == by_milp(problem(task))
        assert worth(task, task.best) > 0
    assert drawn(Random(seed), family, size) == task, "a task follows from its seed"


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
    proven = solve.best(made, 10_000)
    assert proven is not None
    for plan in (proven.plan, greedy(made)):
        assert tuple(plan) in feasible
    assert made.gain(proven.plan) == max(map(made.gain, feasible))
    assert proven.work >= items


def test_a_proof_is_given_up_where_it_is_too_long() -> None:
    made = problem(drawn(Random(1), "knapsack", 8))
    assert solve.best(made, 100) is None
    assert solve.best(made, 1 << 15) is not None


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
    assert told["plans"]["A"]["points"] == points(task, worth(task, worse)) < 1
    assert outcome.detail["means"]["C"] == told["plans"]["C"]["points"] == 1
    assert outcome.facts[0]["credits"] == {"p0": [0], "p1": [0], "p2": [1], "p3": [0], "p4": [0]}
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
    assert plans["A"]["points"] == task.greedy / sum(row[0] for row in task.rows) / 4
    assert plans["B"]["broken"][0] == "open sites that serve area 1: 0, at least 1 (1 too few)"
    assert plans["D"]["broken"][0] == "line 1 is 2, and only 0 to 1 can be chosen"


def test_a_schedule_is_late_by_its_deadlines_and_in_their_order() -> None:
    task = AllocationTask("scheduling", ((5, 3, 5, 0), (5, 3, 7, 0), (9, 2, 5, 0)), (1,))
    assert broken(task, [1, 1, 0]) == []
    assert broken(task, [1, 0, 1]) == ["hours of machine 1 for jobs due by hour 5: 5, at most 4 (1 too many)"]
    assert solve.best(problem(task), 100) == ([0, 1, 1], 8)


def test_a_job_after_another_is_done_on_its_machine() -> None:
    task = AllocationTask("scheduling", ((5, 3, 5, 0), (5, 3, 9, 1)), (0, 0))
    assert broken(task, [2, 2]) == []
    assert broken(task, [1, 2]) == ["job 2 on machine 2 without job 1: 1, at most 0 (1 too many)"]
    assert broken(task, [0, 1]) == ["job 2 on machine 1 without job 1: 1, at most 0 (1 too many)"]


@pytest.mark.parametrize(("family", "level"), SIZES)
def test_points_rise_with_the_worth_from_a_hasty_plan_to_the_best(family: str, level: int) -> None:
    task = drawn(Random(level), family, level)
    top = worth(task, task.best)
    step = 1 if top > task.greedy else -1
    assert points(task, task.greedy) == 0.25
    assert points(task, top) == 1
    earned = [points(task, own) for own in range(task.greedy, top + step, step)]
    assert earned == sorted(earned)
    assert max(earned[:-1]) < 0.75
    assert 0 < points(task, task.greedy - step) < 0.25


def test_a_lost_contestant_is_unranked_while_two_are_left() -> None:
    outcome, _ = played({"A": Reply("void"), "B": "no plan", "C": Reply("refused")})
    assert outcome.scores == {"B": 0.5, "C": 0.5}
    assert outcome.detail["unranked"] == ["A"]
    assert played({"A": Reply("void"), "B": "no plan"})[0].void == "no_answer"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_level_is_as_difficult_as_it_says(family: str) -> None:
    """The median measured difficulty rises with the level, within 0.4 of 0.7 logits for each."""
    medians = [
        median([drawn(Random(f"{level}/{seed}"), family, level).difficulty for seed in range(15)])
        for level in range(1, 8)
    ]
    assert medians == sorted(medians)
    assert all(abs(each - 0.7 * (level - 3)) < 0.4 for level, each in enumerate(medians, 1))


def test_a_house_player_solves_by_its_skill_and_the_level() -> None:
    """At level 3 about the share that its skill is, and fewer of harder ones; a wrong plan is worse."""
    easy, hard = drawn(Random(1), "knapsack", 3), drawn(Random(1), "knapsack", 8)

    def solved(task: AllocationTask, skill: float) -> float:
        call: Any = SimpleNamespace(oracle=task)
        plans = [house(call, skill, Random(seed)).plan for seed in range(300)]
        return mean(not broken(task, plan) and worth(task, plan) == worth(task, task.best) for plan in plans)

    for task in (easy, hard):
        for skill in (0.5, 0.9):
            assert abs(solved(task, skill) - chance(skill, task.difficulty)) < 0.07


def test_a_match_has_as_many_families_as_it_can_and_no_task_comes_twice() -> None:
    tasks = [
        fixture(ALLOCATION, PLAYERS, {"tasks": 5, "difficulty": 3}, number=number).drawn["tasks"]
        for number in range(1, 41)
    ]
    assert all({task["family"] for task in match} == set(FAMILIES) for match in tasks)
    assert len({json.dumps(task) for match in tasks for task in match}) == 200


@pytest.mark.parametrize(("family", "size"), SIZES)
def test_random_constant_and_greedy_plans_rank_as_the_page_says(family: str, size: int) -> None:
    """Greedy plans are close to the optimum and seldom there; the others are far from it."""
    each: dict[str, list[float]] = {"greedy": [], "constant": [], "random": []}
    for seed in range(60):
        task, rng = drawn(Random(seed), family, size), Random(seed)
        made = problem(task)
        plans = {
            "greedy": greedy(made),
            "constant": [made.safe] * made.items,
            "random": [rng.randrange(made.choices) for _ in range(made.items)],
        }
        for name, plan in plans.items():
            each[name].append(0.0 if broken(task, plan) else points(task, worth(task, plan)))
    assert {*each["greedy"]} == {0.25}
    assert mean(each["random"]) < 0.2
    assert mean(each["constant"]) < 0.15


def test_a_statement_tells_every_number_of_its_task() -> None:
    for family, size in SIZES:
        task = drawn(Random(7), family, size)
        lines = [line for line in statement(task).split("\n") if line[:1].isdigit()]
        assert len(lines) == len(task.rows)
        for line, row in zip(lines, task.rows, strict=True):
            shown = row
            if family == "covering":
                shown = (row[0], *[area for area, serving in enumerate(row[1:], 1) if serving])
            if family == "scheduling" and not row[3]:
                shown = row[:3]
            assert all(str(number) in line for number in shown)
