"""Allocation: everybody plans the same scarce resources; who comes closest to the proven optimum wins.

    A, B, C, D > {"working": "…", "plan": [1, 0, 0, 1, 1, 0]}               (1/A, 1/B, …: task 1)
    A, B, C, D > {"working": "…", "plan": [2, 1, 0, 2, 1, 1, 2]}            (2/A, 2/B, …: task 2)

All tasks are asked at once. A plan counts its worth as a share of the best plan's (a cost: the best plan's as
a share of its own), one that breaks a constraint nothing, and the mean over all tasks ranks. Whose provider
fails is unranked, while two are left.
"""

from __future__ import annotations

from random import Random
from typing import Annotated, Any, get_args

from msgspec import Meta, Struct, convert, to_builtins
from pydantic import Field

from peerage.formats import Json
from peerage.games.allocation.show import show
from peerage.games.allocation.tasks import (
    FAMILIES,
    LEVELS,
    AllocationTask,
    FamilyName,
    broken,
    drawn,
    problem,
    statement,
    worth,
)
from peerage.games.game import Asks, GameRules, GameSpec
from peerage.games.house import Call
from peerage.games.ranking import by_rank
from peerage.games.run_tests import SCORE
from peerage.games.same_tasks import asked_alike
from peerage.games.section import Seats, Temperature
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Ask, Prompt, Reply, Steps

MOST_LINES = 20


class Plan(Struct, frozen=True):
    """A plan."""

    working: Annotated[str, Meta(description="your reasoning, as short as you like")]
    plan: Annotated[list[int], Meta(description="the choice for each line, in order", max_length=MOST_LINES)]


class AllocationRules(GameRules):
    """How resources are allocated."""

    seats: Seats = 8
    tasks: int = Field(3, ge=1, le=10, description="Tasks in a match.")
    families: tuple[FamilyName, ...] = Field(
        get_args(FamilyName), min_length=1, description="Families of tasks; a match takes as many as it can."
    )
    difficulty: int = Field(3, ge=1, le=LEVELS, description="How large and tight tasks are: 1 least, 5 most.")
    max_tokens: int = Field(
        4_000, ge=1, description="Tokens an answer may take, beside what is thought before it."
    )
    temperature: Temperature = None


ALLOCATE = Prompt(
    """\
You play a game of allocation: several language models plan the same scarce resources, and whoever comes \
closest to the best possible plans wins.""",
    """\
Task {number} of {tasks}.

{statement}

Reply with a plan: one whole number for each numbered line, in order. {share} A plan that breaks a \
constraint, or a reply that is no plan, counts 0. Players are ranked by their mean over all tasks. {score}
{format}""",
)
SHARES = {
    False: "Your plan counts its worth as a share of the worth of the best possible plan, from 0 to 1.",
    True: "Your plan counts the cost of the best possible plan as a share of its own cost, from 0 to 1.",
}

FORMAT = Json(Plan)


def play(table: Table) -> Steps[Outcome]:
    """All tasks of the match, for all seats of `table` at once."""
    rules: AllocationRules = table.rules
    tasks = [convert(one, AllocationTask) for one in table.drawn["tasks"]]
    asked = [_ask(rules, task, number) for number, task in enumerate(tasks, 1)]
    replies = yield from asked_alike(table.seats, asked)
    if not replies:
        return Outcome(void="no_answer")
    optima = [worth(task, task.best) for task in tasks]
    plans = [
        {label: _result(task, mine[at], optimum) for label, mine in replies.items()}
        for at, (task, optimum) in enumerate(zip(tasks, optima, strict=True))
    ]
    shares = {label: sum([one[label]["share"] for one in plans]) / len(tasks) for label in replies}
    told = [
        {"family": task.family, "optimum": optimum, "plans": mine}
        for task, optimum, mine in zip(tasks, optima, plans, strict=True)
    ]
    detail = {"decided": "by the mean share of the optimum", "shares": shares, "tasks": told}
    return Outcome(scores=by_rank(shares), detail=detail)


def _ask(rules: AllocationRules, task: AllocationTask, number: int) -> Ask:
    """Task `number`, addressed to nobody."""
    lines = len(task.rows)
    expects = Json(Plan, plan=Meta(min_length=lines, max_length=lines))
    fill = {
        "number": str(number),
        "tasks": str(rules.tasks),
        "statement": statement(task),
        "share": SHARES[FAMILIES[task.family].costs],
        "score": SCORE,
        "format": expects.instruction(),
    }
    told = ALLOCATE.messages(fill)
    return Ask("", str(number), "contestant", told, expects, rules.max_tokens, rules.temperature, task)


def _result(task: AllocationTask, reply: Reply, optimum: int) -> dict[str, Any]:
    """What one reply came to, on record."""
    if not reply.ok:
        return {"share": 0.0, "worth": None, "broken": [], "result": reply.status}
    plan = reply.value.plan
    if wrong := broken(task, plan):
        return {"share": 0.0, "worth": None, "broken": wrong, "result": "infeasible"}
    mine = worth(task, plan)
    less, more = sorted((mine, optimum))
    result = "optimal" if less == more else "feasible"
    return {"share": less / max(more, 1), "worth": mine, "broken": [], "result": result}


def draw(rules: AllocationRules, secret: str, number: int) -> dict[str, Any]:
    """The tasks of match `number`, of as many families as can be, with their best plans."""
    rng = Random(f"{secret}/allocation/{number}")
    families: list[str] = []
    while len(families) < rules.tasks:
        families += rng.sample(rules.families, min(len(rules.families), rules.tasks - len(families)))
    tasks = [drawn(rng, family, rules.difficulty) for family in families]
    return {"tasks": to_builtins(tasks)}


def asks(rules: AllocationRules, fixture: Fixture) -> tuple[Asks, ...]:
    """Each contestant is asked once for each task."""
    return (Asks("contestant", ALLOCATE, FORMAT, rules.tasks, rules.max_tokens, usual_output=500),)


CARELESS = 0.2
"""How often a player without any skill keeps a change that breaks a constraint."""


def house(call: Call, skill: float, rng: Random) -> Plan:
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
    return Plan("", plan)


GAME: GameSpec[AllocationRules] = GameSpec(
    name="allocation",
    about="Everybody plans the same scarce resources; closest to the proven optimum wins.",
    contestants=(2, 10),
    rules=AllocationRules,
    play=play,
    draw=draw,
    asks=asks,
    survives=True,
    slots=True,
    house=house,
    show=show,
    hides=True,
    demo=100,
)
