"""A round of code golf as blocks: the task, every program, how they did on the hidden tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from peerage.blocks import (
    Block,
    Heading,
    Program,
    Quoted,
    Replies,
    Table,
    Task,
    result,
    said,
)
from peerage.challenges.drafting import drafts_of
from peerage.formats import Fields
from peerage.games.run_tests import programs_shown, verdicts_shown
from peerage.games.texts import texts
from peerage.match import Fixture, Outcome

_NO_RESULT: Mapping[str, str] = texts(__package__)["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The task, the programs, the tests, the result."""
    drawn, tests = fixture.drawn, []
    if "statement" in drawn:
        tests = drawn["tests"]
        yield Heading("The task")
        yield Task(drawn["statement"])
        examples = [(given, wanted) for given, wanted in drawn["examples"]]
        yield Table(("Input", "Output"), tuple(examples), "Examples that players saw")
    else:
        yield from _drafts(outcome, replies)
    programs = outcome.detail.get("programs", {})
    yield Heading("The programs")
    yield from programs_shown("program", programs, replies)
    yield from verdicts_shown(fixture, programs, tests)
    why = {
        label: one["result"] if one["bytes"] is None else f"{one['result']}, {one['bytes']:,} bytes"
        for label, one in programs.items()
    }
    wins = "The shortest correct program wins; an incorrect one comes last."
    yield from result(fixture, outcome, wins, why, _NO_RESULT)


def _drafts(outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The drafts that fell, then the one that stood, with the solution that proves it."""
    drafts = drafts_of(outcome)
    if not all(draft.accepted for draft in drafts):
        yield Heading("Rejected drafts")
    for draft in sorted(drafts, key=lambda draft: draft.accepted):
        reply = replies[f"task/{draft.turn}"]
        if draft.accepted:
            yield Heading("The task")
        if not isinstance(reply.value, Fields):
            yield said(reply)
        elif draft.accepted:
            yield Task(reply.value.statement, "task", (reply.label,), reply.key)
            yield Program(reply.value.solution, reply.label, note="its author's solution, which proves it")
        else:
            yield Quoted(reply.label, reply.value.statement, reply.key, "did not stand", "bad", draft.status)
