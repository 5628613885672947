"""A bug hunt as blocks: the broken program, everybody's changes, how they did on hidden tests."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from msgspec import convert

from peerage.blocks import Block, Heading, Program, Replies, Task, Tone, result
from peerage.games.bug_hunt.tasks import BuggyTask
from peerage.games.run_tests import programs_shown, verdicts_shown
from peerage.match import Fixture, Outcome

_NO_RESULT = {"no_answer": "Too few programs came, since providers failed; there is no result."}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The broken program, the fixes, the tests, the result."""
    task = convert(fixture.drawn, BuggyTask)
    bugs = "one bug" if len(task.bugs) == 1 else f"{len(task.bugs)} bugs"
    yield Heading("The broken program")
    yield Task(task.statement)
    yield Program(task.source.rstrip(), note=f"with {bugs}")
    programs = outcome.detail.get("programs", {})
    yield Heading("The fixes")
    for label, one in programs.items():
        reply = replies[f"repair/{label}"]
        if isinstance(reply.value, str):
            tone: Tone = "good" if one["fixed"] == len(task.bugs) else "" if one["fixed"] else "bad"
            yield Program(
                _changes(task.source, reply.value), label, "", one["result"], tone, "what it changed"
            )
    yield from programs_shown("repair", {}, {key: one for key, one in replies.items() if one.status != "ok"})
    shows = {place: f"bug {bug}" for bug, places in enumerate(task.witnesses, 1) for place in places}
    yield from verdicts_shown(fixture, programs, task.tests, shows)
    wins = "Most bugs fixed wins, among equals the smaller edit; a program that breaks what was right fixed "
    why = {label: one["result"] for label, one in programs.items()}
    yield from result(fixture, outcome, f"{wins}nothing.", why, _NO_RESULT)


def _changes(before: str, after: str) -> str:
    """The lines that were removed and added, with one line around them."""
    old, new = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (before, after))
    changed = list(unified_diff(old, new, n=1, lineterm=""))[2:]
    return "\n".join(changed) or "(nothing)"
