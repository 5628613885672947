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

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from random import Random

from pydantic import Field

from peerage.game import (
    SCORE,
    Achieved,
    Ask,
    Block,
    Came,
    Demo,
    Fixture,
    FormatError,
    GameRules,
    Heading,
    HouseCall,
    MaxTokens,
    Outcome,
    Quoted,
    Replies,
    SeatReply,
    Seats,
    SourceCode,
    TaskText,
    quoted,
    same_tasks,
    tasks_grid,
    tasks_of,
    texts,
)
from peerage.games.transform.output import JSON_READING, LINES_READING, Output, canonical, output
from peerage.games.transform.tasks import STEPS, TransformTask, task_of


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
    own = texts(__package__, rules.texts)
    fill = {
        "tables": own["tables"],
        "tasks": f"are {len(tasks)} tasks" if len(tasks) > 1 else "is one task",
        "score": SCORE,
    }
    return [
        own["transform"].ask(
            "",
            f"task/{at}",
            Output(task.json),
            {**fill, "task": task.text, "reading": JSON_READING if task.json else LINES_READING},
            rules.max_tokens,
            oracle=task.expected,
        )
        for at, task in enumerate(tasks, 1)
    ]


def scored(rules: TransformRules, tasks: Sequence[TransformTask], came: Came) -> Achieved:
    """Everybody's points."""
    expected = [canonical(task.expected, task.json) for task in tasks]
    credits = {
        label: [
            float(reply.ok and canonical(output(reply.value), task.json) == right)
            for task, right, reply in zip(tasks, expected, own, strict=True)
        ]
        for label, own in came.items()
    }
    points = {label: sum(own) for label, own in credits.items()}
    return Achieved(points, {"decided": "by points", "credits": credits})


def house(call: HouseCall, skill: float, rng: Random) -> str:
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


# ----------------------------------------------------------------------------------------------------- shown


_LINES, _CHARS = 150, 300
"""Part of an output that is compared for the page: so many lines, of each so many characters."""


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of who got which output exactly right, then each task with its outputs."""
    credits: Mapping[str, list[float]] = outcome.detail.get("credits", {})
    tasks = tasks_of(fixture.drawn, TransformTask)
    wins = "The player with the most points wins; equal points tie."
    yield from tasks_grid(outcome, wins, "Points", credits, name="Task")
    for at, task in enumerate(tasks):
        data, between, steps = task.text.partition(STEPS)
        yield Heading(f"Task {at + 1}", anchor=f"q{at + 1}", closed=True)
        yield TaskText((between + steps).strip())
        yield SourceCode(data.rstrip(), note="the data")
        if not outcome.void:
            yield SourceCode(task.expected, note="the right output")
        for seat in fixture.seats:
            reply = replies.get(f"task/{at + 1}/{seat.label}")
            if reply is not None:
                yield _given(task, reply, credits.get(seat.label, [])[at:])


def _given(task: TransformTask, reply: SeatReply, credits: list[float]) -> Block:
    """Return what one player gave: by its differences where there are some."""
    if not isinstance(reply.value, str):
        return quoted(reply)
    if not credits:
        return Quoted(reply.label, reply.value, reply.key)
    try:
        given = canonical(output(reply.value), task.json)
    except FormatError as error:
        return Quoted(reply.label, reply.value, reply.key, "unusable", "bad", str(error))
    if credits[0] == 1:
        return SourceCode(output(reply.value), reply.label, reply.key, "exactly right", "good")
    found = differences(canonical(task.expected, task.json), given)
    return SourceCode(found, reply.label, reply.key, "wrong", "bad", "- expected, + given", diff=True)


def differences(expected: list[str], given: list[str]) -> str:
    """Return what was expected (-) and what was given (+), as a unified diff of bounded cost."""
    right, own = ([line[:_CHARS] for line in lines[:_LINES]] for lines in (expected, given))
    diff = [*unified_diff(right, own, n=1, lineterm="")][2:]
    more = len(given) - _LINES
    return "\n".join([*diff, *([f"… and {more:,} lines more"] if more > 0 else [])])


GAME = same_tasks(
    TransformTask,
    TransformRules,
    name="transform",
    version=3,
    texts=__package__,
    about="Everybody transforms the same data by steps in plain words; most exact outputs win.",
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 500,
    house=house,
    show=show,
    demo=Demo(160),
)
