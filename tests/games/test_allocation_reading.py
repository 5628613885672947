"""A second reading of allocation tasks: from the printed statement alone, every plan is tried, and none is
worth more than the plan that the arena takes for best.
"""

import re
from collections.abc import Sequence
from itertools import product
from random import Random

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from peerage.games.allocation.tasks import FAMILIES, drawn, statement, worth


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"\d+", text)]


def lines(text: str) -> list[str]:
    return re.findall(r"^\d+: (.*)$", text, re.MULTILINE)


def limits(text: str, what: str) -> dict[str, int]:
    return {name: int(most) for name, most in re.findall(rf"({what}) at most (\d+)", text)}


def knapsack(text: str, plan: Sequence[int]) -> int | None:
    items = [dict(re.findall(r"(\w+) (\d+)", line)) for line in lines(text)]
    for name, most in limits(text, r"total \w+").items():
        if sum(int(item[name.split()[1]]) for item, one in zip(items, plan, strict=True) if one) > most:
            return None
    return sum(int(item["worth"]) for item, one in zip(items, plan, strict=True) if one)


def portfolio(text: str, plan: Sequence[int]) -> int | None:
    assets = [numbers(line) for line in lines(text)]
    gained, price, risk = (sum(a[at] * lots for a, lots in zip(assets, plan, strict=True)) for at in range(3))
    most = limits(text, r"total \w+|lots of all assets together")
    fits = price <= most["total price"] and risk <= most["total risk"]
    return gained if fits and sum(plan) <= most["lots of all assets together"] else None


def assignment(text: str, plan: Sequence[int]) -> int | None:
    workers = [re.findall(r"project (\d+) achieves (\d+) in (\d+) hours", line) for line in lines(text)]
    hours, total = dict.fromkeys(limits(text, r"hours of project \d+"), 0), 0
    for worker, project in zip(workers, plan, strict=True):
        for number, achieved, needed in worker:
            if int(number) == project:
                hours[f"hours of project {number}"] += int(needed)
                total += int(achieved)
    most = limits(text, r"hours of project \d+")
    return total if all(hours[name] <= most[name] for name in most) else None


def scheduling(text: str, plan: Sequence[int]) -> int | None:
    jobs = [numbers(line) for line in lines(text)]
    starts = [int(hour) for hour in re.findall(r"achine \d+ starts at hour (\d+)", text)]
    for machine in {*plan} - {0}:
        now, done = starts[machine - 1], set()
        for at in sorted(range(len(jobs)), key=lambda at: jobs[at][2]):
            _, hours, deadline, *before = jobs[at]
            if plan[at] == machine:
                now += hours
                if now > deadline or not {*before} <= done:
                    return None
                done.add(at + 1)
    return sum(job[0] for job, on in zip(jobs, plan, strict=True) if on)


def covering(text: str, plan: Sequence[int]) -> int | None:
    sites = [re.fullmatch(r"cost (\d+), serves areas? (.*)", line) for line in lines(text)]
    opened = [site for site, one in zip(sites, plan, strict=True) if one and site]
    served = {area for site in opened for area in numbers(site[2])}
    areas = int(re.search(r"areas 1 to (\d+)", text)[1])  # type: ignore[index]
    return -sum(int(site[1]) for site in opened) if served >= {*range(1, areas + 1)} else None


WORTH = {one.__name__: one for one in (knapsack, portfolio, assignment, scheduling, covering)}


def choices(text: str) -> int:
    most = re.search(r"from 0 to (\d+)|to (\d+) projects", text)
    machines = len(re.findall(r"achine \d+ starts", text))
    return max(int(number) for number in most.groups() if number) if most else machines or 1


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_plan_that_the_statement_allows_outdoes_the_best_one(family: str, level: int) -> None:
    for seed in range(5):
        task = drawn(Random(f"read/{seed}"), family, level)
        text = statement(task)
        plans = product(range(choices(text) + 1), repeat=len(lines(text)))
        best = max(value for plan in plans if (value := WORTH[family](text, plan)) is not None)
        assert WORTH[family](text, task.best) == best
        assert abs(best) == worth(task, task.best)


Table = list[list[int]]
"""A number for each choice of each line."""


def constraints(family: str, text: str) -> tuple[Table, list[tuple[Table, int]]]:
    """The gains of choices, and what they take of what there is at most, by the statement alone."""
    each = [numbers(line) for line in lines(text)]
    options = range(choices(text) + 1)
    if family == "knapsack":
        most = [*limits(text, r"total \w+").values()]
        return [[0, item[0]] for item in each], [
            ([[0, item[at]] for item in each], limit) for at, limit in enumerate(most, 1)
        ]
    if family == "portfolio":
        most = [*limits(text, r"total \w+|lots of all assets together").values()]
        counted = [(*asset, 1) for asset in each]
        takes = [[[asset[at] * lots for lots in options] for asset in counted] for at in range(4)]
        return takes[0], [*zip(takes[1:], most, strict=True)]
    if family == "assignment":
        most = [*limits(text, r"hours of project \d+").values()]
        return [[0, *worker[1::3]] for worker in each], [
            ([[worker[3 * at - 1] if project == at else 0 for project in options] for worker in each], limit)
            for at, limit in enumerate(most, 1)
        ]
    if family == "covering":
        areas = int(re.search(r"areas 1 to (\d+)", text)[1])  # type: ignore[index]
        return [[0, -site[0]] for site in each], [
            ([[0, -(area in site[1:])] for site in each], -1) for area in range(1, areas + 1)
        ]
    starts = [int(hour) for hour in re.findall(r"achine \d+ starts at hour (\d+)", text)]
    held: list[tuple[Table, int]] = []
    for machine, start in enumerate(starts, 1):
        for due in {job[2] for job in each}:
            takes = [[job[1] * (job[2] <= due and on == machine) for on in options] for job in each]
            held.append((takes, due - start))
        for at, (_, _, _, *before) in enumerate(each, 1):
            for other in before:
                sign = {at: 1, other: -1}
                takes = [
                    [sign.get(job, 0) * (on == machine) for on in options] for job in range(1, len(each) + 1)
                ]
                held.append((takes, 0))
    return [[0] + [job[0]] * len(starts) for job in each], held


INFEASIBLE = 2
"""Status of scipy's solver."""


def outdone(family: str, text: str, worth: int) -> bool:
    """Return whether scipy's solver, from the statement alone, can make a plan of this worth."""
    gains, held = constraints(family, text)
    takes = np.array([takes for takes, _ in held]).reshape(len(held), -1)
    found = milp(
        np.zeros(np.size(gains)),
        constraints=[
            LinearConstraint(np.kron(np.eye(len(gains)), np.ones(len(gains[0]))), 1, 1),
            LinearConstraint(takes, ub=[limit for _, limit in held]),
            LinearConstraint(np.ravel(gains), worth),
        ],
        integrality=1,
        bounds=Bounds(0, 1),
    )
    return bool(found.status != INFEASIBLE)


@pytest.mark.parametrize("family", FAMILIES)
def test_at_the_hardest_level_another_solver_finds_no_better_plan(family: str) -> None:
    for seed in range(3):  # of each 20 were tried so, which takes minutes
        task = drawn(Random(f"read/{seed}"), family, 10)
        text = statement(task)
        best = WORTH[family](text, task.best)
        assert best is not None
        assert not outdone(family, text, best + 1)
        assert len(task.best) <= 100
    assert outdone(family, text, best)
