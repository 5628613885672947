"""A match of transformations as blocks: each task, the right output, how each one given differs from it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from peerage.blocks import Block, Heading, Program, Quoted, Replies, SeatReply, Task, result, said
from peerage.formats import FormatError
from peerage.games.same_tasks import tasks_of
from peerage.games.transform.output import canonical, output
from peerage.games.transform.tasks import STEPS, TransformTask
from peerage.match import Fixture, Outcome

_LINES, _CHARS = 150, 300
"""Part of an output that is compared for the page: so many lines, of each so many characters."""


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The tasks, the outputs, the result."""
    credits = outcome.detail.get("credits", {})
    for at, task in enumerate(tasks_of(fixture.drawn, TransformTask)):
        yield Heading(f"Task {at + 1}")
        data, between, steps = task.text.partition(STEPS)
        yield Program(data.rstrip(), note="the data")
        yield Task(between + steps)
        if not outcome.void:
            yield Program(task.expected, note="the right output")
        for seat in fixture.seats:
            reply = replies.get(f"task/{at + 1}/{seat.label}")
            if reply is not None:
                yield _given(task, reply, credits.get(seat.label, ())[at:])
    why = {label: f"{sum(mine):g} of {len(mine)} points" for label, mine in credits.items()}
    yield from result(fixture, outcome, "The player with the most points wins; equal points tie.", why)


def _given(task: TransformTask, reply: SeatReply, credits: list[float]) -> Block:
    """Return what one player gave: by its differences where there are some."""
    if not isinstance(reply.value, str):
        return said(reply)
    if not credits:
        return Quoted(reply.label, reply.value, reply.key)
    try:
        given = canonical(output(reply.value), task.json)
    except FormatError as error:
        return Quoted(reply.label, reply.value, reply.key, "unusable", "bad", str(error))
    if credits[0] == 1:
        return Program(output(reply.value), reply.label, reply.key, "exactly right", "good")
    found = differences(canonical(task.expected, task.json), given)
    return Program(found, reply.label, reply.key, "wrong", "bad", "- expected, + given")


def differences(expected: list[str], given: list[str]) -> str:
    """Return what was expected (-) and what was given (+), as a unified diff of bounded cost."""
    right, mine = ([line[:_CHARS] for line in lines[:_LINES]] for lines in (expected, given))
    found = [*unified_diff(right, mine, n=1, lineterm="")][2:]
    more = len(given) - _LINES
    return "\n".join([*found, *([f"… and {more:,} lines more"] if more > 0 else [])])
