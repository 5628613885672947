"""Transform: everybody transforms the same data; who gives the right outputs most often is first.

    A, B, C, D > [{"city": "Oslo", "count": 3}, {"city": "Lima", "count": 1}]                  (task/1/A, …)
    A, B, C, D > Oslo: 14 …                                                                  (task/2/A, …)

A task is a table drawn from the arena's secret, steps in plain words and the shape of the result, so none
comes twice, and the output is computed with it. Outputs are compared after one canonicalization
(`output.canonical`): one that is exactly right counts a point, any other half the share of its lines that
are right. Equal points tie; a reply that is missing or not in the stated shape counts nothing. Whose provider
fails is unranked, while two are left.
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
    Cell,
    Demo,
    Fixture,
    FormatError,
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
from peerage.game.levels import LevelRules, chance
from peerage.games.transform.output import JSON_READING, LINES_READING, Output, canonical, output, share_right
from peerage.games.transform.tasks import STEPS, TransformTask, task_of


class TransformRules(LevelRules):
    """Settings of transformations."""

    seats: Seats = 8
    tasks: int = Field(4, ge=1, le=10, description="Tasks in a match, each a request of its own.")
    max_tokens: MaxTokens = 8_000


WRONG_AT_MOST = 0.5
"""Points of an output that is not exactly right, where all of its lines are."""


def drawn(rules: TransformRules, levels: Sequence[int], rng: Random) -> list[TransformTask]:
    """The tasks of a match, with the right outputs."""
    return [task_of(rng, level) for level in levels]


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
            oracle=task,
        )
        for at, task in enumerate(tasks, 1)
    ]


def scored(rules: TransformRules, tasks: Sequence[TransformTask], came: Came) -> Achieved:
    """Everybody's points."""
    expected = [canonical(task.expected, task.json) for task in tasks]
    credits = {
        label: [
            _credit(right, canonical(output(reply.value), task.json)) if reply.ok else 0.0
            for task, right, reply in zip(tasks, expected, own, strict=True)
        ]
        for label, own in came.items()
    }
    points = {label: round(sum(own), 4) for label, own in credits.items()}
    exact = {label: [float(credit == 1) for credit in own] for label, own in credits.items()}
    return Achieved(points, {"decided": "by points", "credits": credits}, exact)


def _credit(right: Sequence[str], given: Sequence[str]) -> float:
    return 1.0 if right == given else round(WRONG_AT_MOST * share_right(right, given), 4)


def house(call: HouseCall, skill: float, rng: Random) -> str:
    """The right output with the chance of its difficulty, else one with the more wrong digits the smaller
    that is."""
    task: TransformTask = call.oracle
    solves, lines = chance(skill, task.difficulty), task.expected.split("\n")
    if rng.random() < solves:
        return task.expected
    wrong = {at for at in range(len(lines)) if rng.random() > solves} | {rng.randrange(len(lines))}
    made = "\n".join([_mistaken(line) if at in wrong else line for at, line in enumerate(lines)])
    return made if made != task.expected else "\n".join(lines[:-1]) or "?"


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
    wins = (
        "The player with the most points wins; an output that is not exactly right counts half the share of "
    )
    worth: dict[str, tuple[Cell, str]] = {
        label: (f"{sum(own):.2f}", f"{sum(own):.2f} points") for label, own in credits.items()
    }
    yield from tasks_grid(outcome, f"{wins}its right lines.", "Points", credits, worth, name="Task")
    for at, task in enumerate(tasks):
        data, between, steps = task.text.partition(STEPS)
        yield Heading(f"Task {at + 1}, level {task.level}", anchor=f"q{at + 1}", closed=True)
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
    worth = f"wrong, {credits[0]:.2f} points"
    return SourceCode(found, reply.label, reply.key, worth, "bad", "- expected, + given", diff=True)


def differences(expected: list[str], given: list[str]) -> str:
    """Return what was expected (-) and what was given (+), as a unified diff of bounded cost."""
    right, own = ([*_pieces(lines)] for lines in (expected, given))
    diff = [*unified_diff(right[:_LINES], own[:_LINES], n=1, lineterm="")][2:]
    more = len(own) - _LINES
    return "\n".join([*diff, *([f"… and {more:,} lines more"] if more > 0 else [])])


def _pieces(lines: list[str]) -> Iterator[str]:
    """Return the lines, long ones in pieces of a dozen values, so that what differs far into one is shown."""
    for line in lines:
        values = line.split(", ")
        dozen = 12 if len(line) > _CHARS else len(values)
        yield from (", ".join(values[at : at + dozen])[:_CHARS] for at in range(0, len(values), dozen))


GAME = same_tasks(
    TransformTask,
    TransformRules,
    name="transform",
    version=4,
    texts=__package__,
    about="Everybody transforms the same data by steps in plain words; most right outputs win.",
    tasks=lambda rules: rules.tasks,
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 500,
    house=house,
    show=show,
    demo=Demo(160),
)
