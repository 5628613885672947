"""A round of code golf as blocks: the task, every program, how they did on the hidden tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import convert

from peerage.blocks import Block, Heading, Replies, Table, result
from peerage.blocks import Task as TaskBlock
from peerage.games.code_golf.tasks import Task
from peerage.games.run_tests import programs_shown, verdicts_shown
from peerage.games.texts import texts
from peerage.match import Fixture, Outcome

_NO_RESULT: Mapping[str, str] = texts(__package__)["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The task, the programs, the tests, the result."""
    task = convert(fixture.drawn, Task)
    yield Heading("The task")
    yield TaskBlock(task.statement)
    yield Table(("Input", "Output"), task.examples, "Examples that players saw")
    programs = outcome.detail.get("programs", {})
    yield Heading("The programs")
    yield from programs_shown("program", programs, replies)
    yield from verdicts_shown(fixture, programs, task.tests)
    why = {
        label: one["result"] if one["bytes"] is None else f"{one['result']}, {one['bytes']:,} bytes"
        for label, one in programs.items()
    }
    wins = "The shortest correct program wins; an incorrect one comes last."
    yield from result(fixture, outcome, wins, why, _NO_RESULT)
