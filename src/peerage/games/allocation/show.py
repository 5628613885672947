"""A match of allocation as blocks: each task, everybody's plan, what it was worth and what it broke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from peerage.blocks import Block, Heading, Replies, Table, Task, names, result, unusable
from peerage.games.allocation.tasks import FAMILIES, AllocationTask, statement
from peerage.games.same_tasks import tasks_of
from peerage.match import Fixture, Outcome


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The tasks with their plans, then the ranking."""
    tasks = tasks_of(fixture.drawn, AllocationTask)
    results: list[Any] = outcome.detail.get("tasks", [{}] * len(tasks))
    players = names(fixture)
    for number, (task, found) in enumerate(zip(tasks, results, strict=True), 1):
        what = "cost" if FAMILIES[task.family].costs else "worth"
        yield Heading(f"Task {number} of {len(tasks)}: {task.family}")
        yield Task(statement(task))
        rows = []
        for label, one in found.get("plans", {}).items():
            plan = getattr(replies[f"{number}/{label}"].value, "plan", ())
            came = "; ".join(one["broken"]) or one["result"]
            rows.append((players[label], _listed(plan), one["worth"], f"{one['share']:.1%}", came))
        if rows:
            rows.append(("(the best plan)", _listed(task.best), found["optimum"], "100.0%", "proven"))
            columns = ("Player", "Plan", f">{what.capitalize()}", ">Of the optimum", "Result")
            yield Table(columns, tuple(rows), "The plans")
        yield from unusable([one for key, one in replies.items() if key.startswith(f"{number}/")])
    shares = outcome.detail.get("shares", {})
    why = {label: f"{share:.1%} of the optimum on average" for label, share in shares.items()}
    wins = "Closest to the proven optimum wins, by the mean over all tasks; a plan that breaks a constraint "
    yield from result(fixture, outcome, f"{wins}counts 0.", why)


def _listed(plan: Any) -> str:
    return ", ".join(map(str, plan))
