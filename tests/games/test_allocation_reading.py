"""A second reading of allocation tasks: from the printed statement alone, every plan is tried, and none is
worth more than the plan that the arena takes for best.
"""

import re
from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

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
    most = limits(text, r"total \w+")
    return gained if price <= most["total price"] and risk <= most["total risk"] else None


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
    for machine in {*plan} - {0}:
        now = 0
        mine = [job for job, on in zip(jobs, plan, strict=True) if on == machine]
        for _, hours, deadline in sorted(mine, key=lambda job: job[2]):
            now += hours
            if now > deadline:
                return None
    return sum(job[0] for job, on in zip(jobs, plan, strict=True) if on)


def covering(text: str, plan: Sequence[int]) -> int | None:
    sites = [re.fullmatch(r"cost (\d+), serves areas? (.*)", line) for line in lines(text)]
    opened = [site for site, one in zip(sites, plan, strict=True) if one and site]
    served = {area for site in opened for area in numbers(site[2])}
    areas = int(re.search(r"areas 1 to (\d+)", text)[1])  # type: ignore[index]
    return -sum(int(site[1]) for site in opened) if served >= {*range(1, areas + 1)} else None


WORTH = {one.__name__: one for one in (knapsack, portfolio, assignment, scheduling, covering)}


def choices(text: str) -> int:
    most = re.search(r"from 0 to (\d+)|to (\d+) projects|on (\d+) (?:equal )?machine", text)
    return max(int(one) for one in most.groups() if one) if most else 1


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_plan_that_the_statement_allows_outdoes_the_best_one(family: str, level: int) -> None:
    for seed in range(10):
        task = drawn(Random(f"read/{seed}"), family, level)
        text = statement(task)
        plans = product(range(choices(text) + 1), repeat=len(lines(text)))
        best = max(value for plan in plans if (value := WORTH[family](text, plan)) is not None)
        assert WORTH[family](text, task.best) == best
        assert abs(best) == worth(task, task.best)
