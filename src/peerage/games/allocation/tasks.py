"""Allocation tasks: five families, each a small integer program in words. Pure.

A task is drawn as numbers (`AllocationTask`), put in words (`statement`), and played as a `LinearProblem`,
whose best plan is proven. In every family a plan is one whole number for each numbered line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct

from peerage.game import texts
from peerage.games.allocation.solve import LinearProblem, best

Rows: TypeAlias = tuple[tuple[int, ...], ...]

LEVELS = 5
"""Difficulties, from 1."""


class AllocationTask(Struct, frozen=True):
    """A task as it is embedded in a fixture: the numbers of each line, the limits, a best plan."""

    family: str
    rows: Rows
    limits: tuple[int, ...]
    best: tuple[int, ...] = ()


class Size(NamedTuple):
    """Size of a task: its lines, what they draw on, and the share of all demand that there is room for.

    `resources` are resources, lots of one asset, projects, machines or areas.
    """

    lines: int
    resources: int
    room: float


class TaskFamily(NamedTuple):
    """One kind of task."""

    draw: Callable[[Random, Size], tuple[Rows, tuple[int, ...]]]
    problem: Callable[[Rows, tuple[int, ...]], LinearProblem]
    statement: Callable[[str, Rows, tuple[int, ...]], str]
    costs: bool = False
    """A plan's worth is a cost: the least is best."""


def drawn(rng: Random, family: str, difficulty: int) -> AllocationTask:
    """A fresh task of that family."""
    made = FAMILIES[family]
    rows, limits = made.draw(rng, Size(*SIZES[family][difficulty - 1]))
    return AllocationTask(family, rows, limits, tuple(best(_problem_of(family, rows, limits))))


def problem(task: AllocationTask) -> LinearProblem:
    """Return what a plan gains, uses and may use."""
    return _problem_of(task.family, task.rows, task.limits)


@lru_cache(maxsize=256)
def _problem_of(family: str, rows: Rows, limits: tuple[int, ...]) -> LinearProblem:
    return FAMILIES[family].problem(rows, limits)


def worth(task: AllocationTask, plan: Sequence[int]) -> int:
    """Return what a feasible plan is worth: what it gains, or costs."""
    return abs(problem(task).gain(plan))


def statement(task: AllocationTask, own: Mapping[str, Any] | None = None) -> str:
    """The task as players read it."""
    text = (own or texts(__package__))[task.family]
    return FAMILIES[task.family].statement(text, task.rows, task.limits)


def broken(task: AllocationTask, plan: Sequence[int]) -> list[str]:
    """Each constraint that a plan breaks, and by how much; none where it is feasible."""
    made = problem(task)
    wild = [
        f"line {line} is {choice}, and only 0 to {made.choices - 1} can be chosen"
        for line, choice in enumerate(plan, 1)
        if not 0 <= choice < made.choices
    ]
    if wild:
        return wild
    return [
        f"{name}: {used}, at most {limit} ({used - limit} too many)"
        if limit >= 0
        else f"{name}: {-used}, at least {-limit} ({used - limit} too few)"
        for name, used, limit in zip(made.names, made.used(plan).tolist(), made.limits.tolist(), strict=True)
        if used > limit
    ]


def _lines(columns: Sequence[str], rows: Rows) -> str:
    """Numbered lines: `1: worth 20, weight 7`."""
    return "\n".join(
        f"{line}: " + ", ".join(f"{name} {value}" for name, value in zip(columns, row, strict=True))
        for line, row in enumerate(rows, 1)
    )


def _problem(
    gains: Sequence[Sequence[int]],
    uses: Sequence[Sequence[Sequence[int]]],
    limits: Sequence[int],
    names: Sequence[str],
    safe: int = 0,
) -> LinearProblem:
    return LinearProblem(
        np.array(gains, np.int64), np.array(uses, np.int64), np.array(limits, np.int64), tuple(names), safe
    )


# ------------------------------------------------------------------------------------------- knapsack

_RESOURCES = ("weight", "volume", "power")


def _draw_knapsack(rng: Random, size: Size) -> tuple[Rows, tuple[int, ...]]:
    """Items worth about what they take, so that no single ratio tells the best."""
    uses = [[rng.randint(5, 40) for _ in range(size.resources)] for _ in range(size.lines)]
    rows = tuple([(sum(use) // size.resources + rng.randint(5, 20), *use) for use in uses])
    return rows, tuple([int(size.room * sum(column)) for column in zip(*uses, strict=True)])


def _knapsack(rows: Rows, limits: tuple[int, ...]) -> LinearProblem:
    uses = [[(0, row[at]) for row in rows] for at in range(1, len(limits) + 1)]
    return _problem(
        [(0, row[0]) for row in rows], uses, limits, [f"total {name}" for name in _RESOURCES][: len(limits)]
    )


def _state_knapsack(text: str, rows: Rows, limits: tuple[int, ...]) -> str:
    names = _RESOURCES[: len(limits)]
    bounds = ", ".join(f"total {name} at most {limit}" for name, limit in zip(names, limits, strict=True))
    return text.format(lines=_lines(["worth", *names], rows), limits=bounds)


# ------------------------------------------------------------------------------------------ portfolio


def _draw_portfolio(rng: Random, size: Size) -> tuple[Rows, tuple[int, ...]]:
    """Assets sold in lots: return, price and risk of one; limits of budget, risk and lots of one asset."""
    rows = []
    for _ in range(size.lines):
        price, risk = rng.randint(8, 40), rng.randint(1, 20)
        rows.append(((price + 2 * risk) // 4 + rng.randint(2, 8), price, risk))
    spent, risked = (sum(row[at] for row in rows) * size.resources for at in (1, 2))
    return tuple(rows), (int(size.room * spent), int(size.room * risked), size.resources)


def _portfolio(rows: Rows, limits: tuple[int, ...]) -> LinearProblem:
    budget, risk, most = limits
    gains, *uses = [[[lots * row[at] for lots in range(most + 1)] for row in rows] for at in range(3)]
    return _problem(gains, uses, (budget, risk), ("total price", "total risk"))


def _state_portfolio(text: str, rows: Rows, limits: tuple[int, ...]) -> str:
    budget, risk, most = limits
    return text.format(most=most, lines=_lines(("return", "price", "risk"), rows), budget=budget, risk=risk)


# ----------------------------------------------------------------------------------------- assignment


def _draw_assignment(rng: Random, size: Size) -> tuple[Rows, tuple[int, ...]]:
    """Workers by projects: what each would achieve there, then the hours each would need there."""
    hours = [[rng.randint(5, 25) for _ in range(size.resources)] for _ in range(size.lines)]
    rows = tuple([(*[hour // 2 + rng.randint(5, 20) for hour in row], *row) for row in hours])
    room = size.room / size.resources
    return rows, tuple([int(room * sum(column)) for column in zip(*hours, strict=True)])


def _assignment(rows: Rows, limits: tuple[int, ...]) -> LinearProblem:
    count = len(limits)
    uses = [
        [[row[count + at] if choice == at + 1 else 0 for choice in range(count + 1)] for row in rows]
        for at in range(count)
    ]
    names = [f"hours of project {at}" for at in range(1, count + 1)]
    return _problem([(0, *row[:count]) for row in rows], uses, limits, names)


def _state_assignment(text: str, rows: Rows, limits: tuple[int, ...]) -> str:
    count = len(limits)
    lines = "\n".join(
        f"{line}: "
        + ", ".join(f"project {at + 1} achieves {row[at]} in {row[count + at]} hours" for at in range(count))
        for line, row in enumerate(rows, 1)
    )
    bounds = ", ".join(f"hours of project {at} at most {limit}" for at, limit in enumerate(limits, 1))
    return text.format(count=count, lines=lines, limits=bounds)


# ----------------------------------------------------------------------------------------- scheduling


def _draw_scheduling(rng: Random, size: Size) -> tuple[Rows, tuple[int, ...]]:
    """Jobs with worth, hours and deadline; a few deadlines, up to the time that is there."""
    hours = [rng.randint(2, 9) for _ in range(size.lines)]
    last = max(10, int(size.room * sum(hours) / size.resources))
    deadlines = [max(hour, last * rng.randint(2, 5) // 5) for hour in hours]
    return (
        tuple([(hour + rng.randint(2, 10), hour, due) for hour, due in zip(hours, deadlines, strict=True)]),
        (size.resources,),
    )


def _scheduling(rows: Rows, limits: tuple[int, ...]) -> LinearProblem:
    (machines,) = limits
    places = [
        (machine, due) for machine in range(1, machines + 1) for due in sorted({row[2] for row in rows})
    ]
    uses = [
        [
            [row[1] if choice == machine and row[2] <= due else 0 for choice in range(machines + 1)]
            for row in rows
        ]
        for machine, due in places
    ]
    names = [f"hours of machine {machine} for jobs due by hour {due}" for machine, due in places]
    return _problem([[0, *[row[0]] * machines] for row in rows], uses, [due for _, due in places], names)


def _state_scheduling(text: str, rows: Rows, limits: tuple[int, ...]) -> str:
    machines = "1 machine" if limits[0] == 1 else f"{limits[0]} equal machines"
    return text.format(machines=machines, lines=_lines(("worth", "hours", "deadline"), rows))


# ------------------------------------------------------------------------------------------- covering


def _draw_covering(rng: Random, size: Size) -> tuple[Rows, tuple[int, ...]]:
    """Sites with a cost and, for each area, 1 where they serve it; two sites at least serve each area."""
    serves = [[int(rng.random() < size.room) for _ in range(size.resources)] for _ in range(size.lines)]
    for area in range(size.resources):
        for site in rng.sample(range(size.lines), 2):
            serves[site][area] = 1
    return tuple([(4 * sum(row) + rng.randint(3, 15), *row) for row in serves]), (1,) * size.resources


def _covering(rows: Rows, limits: tuple[int, ...]) -> LinearProblem:
    uses = [[(0, -row[at]) for row in rows] for at in range(1, len(limits) + 1)]
    names = [f"open sites that serve area {at}" for at in range(1, len(limits) + 1)]
    return _problem([(0, -row[0]) for row in rows], uses, [-limit for limit in limits], names, 1)


def _state_covering(text: str, rows: Rows, limits: tuple[int, ...]) -> str:
    lines = "\n".join(
        f"{line}: cost {cost}, serves {'area' if sum(serves) == 1 else 'areas'} "
        + ", ".join([str(at) for at, serving in enumerate(serves, 1) if serving])
        for line, (cost, *serves) in enumerate(rows, 1)
    )
    return text.format(lines=lines, areas=len(limits))


SIZES = {
    "knapsack": ((6, 1, 0.6), (8, 2, 0.55), (10, 2, 0.5), (13, 3, 0.45), (16, 3, 0.4)),
    "portfolio": ((4, 2, 0.6), (5, 2, 0.55), (6, 2, 0.5), (7, 3, 0.45), (8, 3, 0.4)),
    "assignment": ((4, 2, 0.9), (5, 2, 0.85), (7, 3, 0.8), (8, 3, 0.75), (9, 4, 0.7)),
    "scheduling": ((6, 1, 0.7), (7, 1, 0.6), (8, 2, 0.6), (9, 2, 0.55), (10, 2, 0.5)),
    "covering": ((6, 5, 0.3), (7, 6, 0.3), (9, 8, 0.25), (11, 10, 0.25), (13, 11, 0.2)),
}
"""The `Size` of a family's tasks by difficulty."""
FAMILIES: dict[str, TaskFamily] = {
    "knapsack": TaskFamily(_draw_knapsack, _knapsack, _state_knapsack),
    "portfolio": TaskFamily(_draw_portfolio, _portfolio, _state_portfolio),
    "assignment": TaskFamily(_draw_assignment, _assignment, _state_assignment),
    "scheduling": TaskFamily(_draw_scheduling, _scheduling, _state_scheduling),
    "covering": TaskFamily(_draw_covering, _covering, _state_covering, costs=True),
}
