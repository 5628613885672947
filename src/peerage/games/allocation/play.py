"""Allocation: everybody plans the same scarce resources; who comes closest to the proven optimum wins.

    A, B, C, D > {"working": "…", "plan": [1, 0, 0, 1, 1, 0]}               (1/A, 1/B, …: task 1)
    A, B, C, D > {"working": "…", "plan": [2, 1, 0, 2, 1, 1, 2]}            (2/A, 2/B, …: task 2)

All tasks are asked at once. A plan counts by how far it comes from a hasty plan's worth to the best plan's,
one that breaks a constraint nothing, and the mean over all tasks ranks. Whose provider fails is unranked,
while two are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct
from pydantic import Field

from peerage.game import (
    SCORE,
    Achieved,
    Ask,
    Bar,
    Block,
    Came,
    Cell,
    Demo,
    Fixture,
    Grid,
    Heading,
    HouseCall,
    Json,
    MaxTokens,
    Outcome,
    Replies,
    Reply,
    SeatName,
    Seats,
    TaskText,
    same_tasks,
    tasks_grid,
    tasks_of,
    texts,
    unusable,
)
from peerage.game.levels import LevelRules, chance
from peerage.games.allocation.tasks import FAMILIES, AllocationTask, broken, problem, statement, worth
from peerage.games.allocation.tasks import drawn as task_of

MOST_LINES = 60
HASTY, NEARER, OPTIMAL = 0.25, 0.5, 0.25
"""Points of a plan: for coming to the hasty plan, for the way from there to the best, for the best itself."""


class AllocationPlan(Struct, frozen=True):
    """A plan."""

    working: Annotated[str, Meta(description="your reasoning, as short as you like")]
    plan: Annotated[list[int], Meta(description="the choice for each line, in order", max_length=MOST_LINES)]


class AllocationRules(LevelRules):
    """Settings of allocations."""

    seats: Seats = 8
    tasks: int = Field(7, ge=1, le=10, description="Tasks in a match.")
    max_tokens: MaxTokens = 6_000


def drawn(rules: AllocationRules, levels: Sequence[int], rng: Random) -> list[AllocationTask]:
    """The tasks of a match, of as many families as can be, with their best plans."""
    families: list[str] = []
    while len(families) < rules.tasks:
        families += rng.sample([*FAMILIES], min(len(FAMILIES), rules.tasks - len(families)))
    return [task_of(rng, family, level) for family, level in zip(families, levels, strict=True)]


def asked(rules: AllocationRules, tasks: Sequence[AllocationTask]) -> list[Ask]:
    """All tasks of the match."""
    own = texts(__package__, rules.texts)
    return [
        own["allocate"].ask(
            "",
            str(number),
            Json(AllocationPlan, plan=Meta(min_length=len(task.rows), max_length=len(task.rows))),
            {
                "number": str(number),
                "tasks": str(rules.tasks),
                "statement": statement(task, own),
                "greedy": str(task.greedy),
                "unit": "costs" if FAMILIES[task.family].costs else "is worth",
                "score": SCORE,
            },
            rules.max_tokens,
            oracle=task,
        )
        for number, task in enumerate(tasks, 1)
    ]


def scored(rules: AllocationRules, tasks: Sequence[AllocationTask], came: Came) -> Achieved:
    """The mean points; every plan is on record."""
    results: list[dict[str, Any]] = []
    for at, task in enumerate(tasks):
        plans = {label: _result(task, plans[at]) for label, plans in came.items()}
        results.append({"family": task.family, "optimum": worth(task, task.best), "plans": plans})
    points = {label: [result["plans"][label]["points"] for result in results] for label in came}
    means = {label: sum(own) / len(tasks) for label, own in points.items()}
    solved = {
        label: [float(result["plans"][label]["result"] == "optimal") for result in results] for label in came
    }
    detail = {"decided": "by the mean of the points", "means": means, "tasks": results}
    return Achieved(means, detail, solved)


def _result(task: AllocationTask, reply: Reply) -> dict[str, Any]:
    """Return what one reply came to, on record."""
    if not reply.ok:
        return {"points": 0.0, "worth": None, "broken": [], "result": reply.status}
    plan = reply.value.plan
    if wrong := broken(task, plan):
        return {"points": 0.0, "worth": None, "broken": wrong, "result": "infeasible"}
    own = worth(task, plan)
    result = "optimal" if own == worth(task, task.best) else "feasible"
    return {"points": points(task, own), "worth": own, "broken": [], "result": result}


def points(task: AllocationTask, own: int) -> float:
    """Return what a feasible plan of that worth counts, from 0 to 1."""
    optimum, hasty = worth(task, task.best), task.greedy
    reached = hasty / own if FAMILIES[task.family].costs else own / hasty
    nearer = max(0.0, (own - hasty) / (optimum - hasty))
    return HASTY * min(1.0, reached) + NEARER * nearer + OPTIMAL * (own == optimum)


CARELESS = 0.2
"""Chance with which a player without any skill keeps a change that breaks a constraint."""


def house(call: HouseCall, skill: float, rng: Random) -> AllocationPlan:
    """The best plan with the chance of its difficulty, else one with the more mistakes the smaller that is;
    as a rule a player takes back what would break a constraint."""
    task: AllocationTask = call.oracle
    made, plan = problem(task), [*task.best]
    solves = chance(skill, task.difficulty)
    if rng.random() < solves:
        return AllocationPlan("", plan)
    gained, used, mistakes = made.gain(plan), made.used(plan), (1 - solves) ** 2 / 2
    while made.gain(plan) == gained:
        mistaken = [item for item in range(made.items) if rng.random() < mistakes]
        for item in mistaken or [rng.randrange(made.items)]:
            choice = rng.randrange(made.choices)
            then = used - made.uses[:, item, plan[item]] + made.uses[:, item, choice]
            if rng.random() < CARELESS * (1 - solves) or (then <= made.limits).all():
                plan[item], used = choice, then
    return AllocationPlan("", plan)


# ----------------------------------------------------------------------------------------------------- shown


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of how near everybody came to each optimum, then each task with its plans."""
    tasks = tasks_of(fixture.drawn, AllocationTask)
    results: list[Any] = outcome.detail.get("tasks", [{}] * len(tasks))
    means: Mapping[str, float] = outcome.detail.get("means", {})
    wins = "Closest to the proven optimum wins, by the mean over all tasks; a plan that breaks a constraint "
    credits = {label: [result["plans"][label]["points"] for result in results] for label in means}
    worth: dict[str, tuple[Cell, str]] = {
        label: (Bar("", mean), f"{mean:.3f} points a task on average") for label, mean in means.items()
    }
    yield from tasks_grid(outcome, f"{wins}counts 0.", "Mean", credits, worth, name="Task")
    for number, (task, task_result) in enumerate(zip(tasks, results, strict=True), 1):
        what = "cost" if FAMILIES[task.family].costs else "worth"
        yield Heading(f"Task {number}, {task.family}, level {task.level}", anchor=f"q{number}", closed=True)
        yield TaskText(statement(task))
        listed: list[tuple[Cell, ...]] = []
        for label, result in task_result.get("plans", {}).items():
            plan = getattr(replies[f"{number}/{label}"].value, "plan", ())
            came = "; ".join(result["broken"]) or result["result"]
            listed.append((SeatName(label), _listed(plan), result["worth"], Bar("", result["points"]), came))
        if listed:
            best = (_listed(task.best), task_result["optimum"], Bar("", 1.0), "proven")
            columns = ("Player", "Plan", f">{what.capitalize()}", ">Points", "Result")
            yield Grid(columns, (*listed, ("(the best plan)", *best)), "The plans")
        yield from unusable([reply for key, reply in replies.items() if key.startswith(f"{number}/")])


def _listed(plan: Any) -> str:
    return ", ".join(map(str, plan))


GAME = same_tasks(
    AllocationTask,
    AllocationRules,
    name="allocation",
    version=5,
    texts=__package__,
    about="Everybody plans the same scarce resources; closest to the proven optimum wins.",
    tasks=lambda rules: rules.tasks,
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 500,
    house=house,
    show=show,
    demo=Demo(100),
)
