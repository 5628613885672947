"""Transform: everybody transforms the same data; who gives the exact output most often is first.

    A, B, C, D > [{"city": "Oslo", "count": 3}, {"city": "Lima", "count": 1}]                  (task/1/A, …)
    A, B, C, D > Oslo: 14 …                                                                  (task/2/A, …)

A task is a table drawn from the arena's secret, steps in plain words and the shape of the result, so none
comes twice, and the output is computed with it. Outputs are compared after one canonicalization
(`tasks.canonical`), as a whole or, where the settings say so, by the share of lines that are right. Equal
points tie; a reply that is missing or not in the stated shape counts nothing. Whose provider fails is
unranked, while two are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from pydantic import Field

from peerage.games.game import Demo, GameRules
from peerage.games.house import Call
from peerage.games.ranking import SCORE
from peerage.games.same_tasks import Came, Scored, same_tasks
from peerage.games.section import MaxTokens, Seats
from peerage.games.texts import texts
from peerage.games.transform.output import (
    JSON_READING,
    LINES_READING,
    Output,
    canonical,
    output,
)
from peerage.games.transform.show import show
from peerage.games.transform.tasks import TABLES, TransformTask, task_of
from peerage.protocol import Ask, Prompt

TRANSFORM: Prompt = texts(__package__)["transform"]


class TransformRules(GameRules):
    """Settings of transformations."""

    seats: Seats = 8
    tasks: int = Field(2, ge=1, le=10, description="Tasks in a match, each a request of its own.")
    steps: int = Field(
        3, ge=1, le=8, description="Steps of a task: how difficult it is. Tables grow with them."
    )
    max_tokens: MaxTokens = 6_000


def drawn(rules: TransformRules, rng: Random) -> list[TransformTask]:
    """The tasks of a match, with the right outputs."""
    return [task_of(rng, rules.steps) for _ in range(rules.tasks)]


def asked(rules: TransformRules, tasks: Sequence[TransformTask]) -> list[Ask]:
    """All tasks of the match."""
    fill = {
        "tables": TABLES,
        "tasks": f"are {len(tasks)} tasks" if len(tasks) > 1 else "is one task",
        "score": SCORE,
    }
    return [
        TRANSFORM.ask(
            "",
            f"task/{at}",
            Output(task.json),
            {**fill, "task": task.text, "reading": JSON_READING if task.json else LINES_READING},
            rules.max_tokens,
            oracle=task.expected,
        )
        for at, task in enumerate(tasks, 1)
    ]


def scored(rules: TransformRules, tasks: Sequence[TransformTask], came: Came) -> Scored:
    """Everybody's points."""
    expected = [canonical(one.expected, one.json) for one in tasks]
    credits = {
        label: [
            float(reply.ok and canonical(output(reply.value), one.json) == right)
            for one, right, reply in zip(tasks, expected, mine, strict=True)
        ]
        for label, mine in came.items()
    }
    points = {label: sum(mine) for label, mine in credits.items()}
    return Scored(points, {"decided": "by points", "credits": credits})


def house(call: Call, skill: float, rng: Random) -> str:
    """The right output with a chance of the skill, else one with the more wrong digits the less skill."""
    lines: list[str] = call.oracle.split("\n")
    if rng.random() < skill:
        return call.oracle  # type: ignore[no-any-return]
    wrong = {at for at in range(len(lines)) if rng.random() > skill} | {rng.randrange(len(lines))}
    made = "\n".join([_mistaken(line) if at in wrong else line for at, line in enumerate(lines)])
    return made if made != call.oracle else "\n".join(lines[:-1]) or "?"


def _mistaken(line: str) -> str:
    """A line with another last digit, never 0: JSON stays JSON."""
    at = max([place for place, sign in enumerate(line) if sign in "0123456789"], default=None)
    return line if at is None else f"{line[:at]}{int(line[at]) % 9 + 1}{line[at + 1 :]}"


GAME = same_tasks(
    TransformTask,
    TransformRules,
    name="transform",
    version=2,
    about="Everybody transforms the same data by steps in plain words; most exact outputs win.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 500,
    house=house,
    show=show,
    demo=Demo(160),
)
