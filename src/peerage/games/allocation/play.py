"""Allocation: everybody plans the same scarce resources; who comes closest to the proven optimum wins.

    A, B, C, D > {"working": "…", "plan": [1, 0, 0, 1, 1, 0]}               (1/A, 1/B, …: task 1)
    A, B, C, D > {"working": "…", "plan": [2, 1, 0, 2, 1, 1, 2]}            (2/A, 2/B, …: task 2)

All tasks are asked at once. A plan counts its worth as a share of the best plan's (a cost: the best plan's as
a share of its own), one that breaks a constraint nothing, and the mean over all tasks ranks. Whose provider
fails is unranked, while two are left.
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
    GameRules,
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
from peerage.games.allocation.tasks import FAMILIES, LEVELS, AllocationTask, broken, problem, statement, worth
from peerage.games.allocation.tasks import drawn as task_of

MOST_LINES = 20


class AllocationPlan(Struct, frozen=True):
    """A plan."""

    working: Annotated[str, Meta(description="your reasoning, as short as you like")]
    plan: Annotated[list[int], Meta(description="the choice for each line, in order", max_length=MOST_LINES)]


class AllocationRules(GameRules):
    """Settings of allocations."""

    seats: Seats = 8
    tasks: int = Field(3, ge=1, le=10, description="Tasks in a match.")
    difficulty: int = Field(3, ge=1, le=LEVELS, description="How large and tight tasks are: 1 least, 5 most.")
    max_tokens: MaxTokens = 4_000


SHARES = {
    False: "Your plan counts its worth as a share of the worth of the best possible plan, from 0 to 1.",
    True: "Your plan counts the cost of the best possible plan as a share of its own cost, from 0 to 1.",
}


def drawn(rules: AllocationRules, rng: Random) -> list[AllocationTask]:
    """The tasks of a match, of as many families as can be, with their best plans."""
    families: list[str] = []
    while len(families) < rules.tasks:
        families += rng.sample([*FAMILIES], min(len(FAMILIES), rules.tasks - len(families)))
    return [task_of(rng, family, rules.difficulty) for family in families]


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
                "share": SHARES[FAMILIES[task.family].costs],
                "score": SCORE,
            },
            rules.max_tokens,
            oracle=task,
        )
        for number, task in enumerate(tasks, 1)
    ]


def scored(rules: AllocationRules, tasks: Sequence[AllocationTask], came: Came) -> Achieved:
    """The mean share of the optimum; every plan is on record."""
    results: list[dict[str, Any]] = []
    for at, task in enumerate(tasks):
        optimum = worth(task, task.best)
        plans = {label: _result(task, plans[at], optimum) for label, plans in came.items()}
        results.append({"family": task.family, "optimum": optimum, "plans": plans})
    shares = {
        label: sum([result["plans"][label]["share"] for result in results]) / len(tasks) for label in came
    }
    decided = "by the mean share of the optimum"
    return Achieved(shares, {"decided": decided, "shares": shares, "tasks": results})


def _result(task: AllocationTask, reply: Reply, optimum: int) -> dict[str, Any]:
    """Return what one reply came to, on record."""
    if not reply.ok:
        return {"share": 0.0, "worth": None, "broken": [], "result": reply.status}
    plan = reply.value.plan
    if wrong := broken(task, plan):
        return {"share": 0.0, "worth": None, "broken": wrong, "result": "infeasible"}
    own = worth(task, plan)
    less, more = sorted((own, optimum))
    result = "optimal" if less == more else "feasible"
    return {"share": less / max(more, 1), "worth": own, "broken": [], "result": result}


CARELESS = 0.2
"""Chance with which a player without any skill keeps a change that breaks a constraint."""


def house(call: HouseCall, skill: float, rng: Random) -> AllocationPlan:
    """The best plan, each choice of which a player mistakes with a chance of 1 less its skill; as a rule it
    takes back what would break a constraint."""
    made, plan = problem(call.oracle), [*call.oracle.best]
    used = made.used(plan)
    for item, right in enumerate(plan):
        if rng.random() >= skill:
            choice = rng.randrange(made.choices)
            then = used - made.uses[:, item, right] + made.uses[:, item, choice]
            if rng.random() < CARELESS * (1 - skill) or (then <= made.limits).all():
                plan[item], used = choice, then
    return AllocationPlan("", plan)


# ----------------------------------------------------------------------------------------------------- shown


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of how near everybody came to each optimum, then each task with its plans."""
    tasks = tasks_of(fixture.drawn, AllocationTask)
    results: list[Any] = outcome.detail.get("tasks", [{}] * len(tasks))
    shares: Mapping[str, float] = outcome.detail.get("shares", {})
    wins = "Closest to the proven optimum wins, by the mean over all tasks; a plan that breaks a constraint "
    credits = {label: [result["plans"][label]["share"] for result in results] for label in shares}
    worth: dict[str, tuple[Cell, str]] = {
        label: (Bar("", share), f"{share:.1%} of the optimum on average") for label, share in shares.items()
    }
    yield from tasks_grid(outcome, f"{wins}counts 0.", "Mean", credits, worth, name="Task")
    for number, (task, task_result) in enumerate(zip(tasks, results, strict=True), 1):
        what = "cost" if FAMILIES[task.family].costs else "worth"
        yield Heading(f"Task {number}, {task.family}", anchor=f"q{number}", closed=True)
        yield TaskText(statement(task))
        listed: list[tuple[Cell, ...]] = []
        for label, result in task_result.get("plans", {}).items():
            plan = getattr(replies[f"{number}/{label}"].value, "plan", ())
            came = "; ".join(result["broken"]) or result["result"]
            listed.append((SeatName(label), _listed(plan), result["worth"], Bar("", result["share"]), came))
        if listed:
            best = (_listed(task.best), task_result["optimum"], Bar("", 1.0), "proven")
            columns = ("Player", "Plan", f">{what.capitalize()}", ">Of the optimum", "Result")
            yield Grid(columns, (*listed, ("(the best plan)", *best)), "The plans")
        yield from unusable([reply for key, reply in replies.items() if key.startswith(f"{number}/")])


def _listed(plan: Any) -> str:
    return ", ".join(map(str, plan))


GAME = same_tasks(
    AllocationTask,
    AllocationRules,
    name="allocation",
    version=4,
    texts=__package__,
    about="Everybody plans the same scarce resources; closest to the proven optimum wins.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 500,
    house=house,
    show=show,
    demo=Demo(100),
)
