"""Bug hunt: everybody repairs the same program; who fixes most bugs and breaks nothing wins.

    A, B, C, D > ```python
                 …the whole program, repaired…
                 ```                                                     (repair/A, …)
    sandbox    > ok                                                      (A/test/1: passed)

Programs are drawn step by step, so none comes twice, and each bug is proven to fail tests of its own
(`bug_hunt.tasks`). A bug is fixed when all its witnesses pass. A player that breaks a test that the given
program passed counts as having fixed nothing. Among equals the smaller edit ranks higher. Whose provider
fails is unranked, while two are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from random import Random
from typing import Any

import msgspec
from msgspec import convert
from pydantic import Field

from peerage.game import (
    SCORE,
    Asks,
    Bar,
    Block,
    Cell,
    CellMark,
    Code,
    Demo,
    Fixture,
    GameRules,
    GameSpec,
    GameTable,
    Heading,
    MaxTokens,
    Needs,
    Outcome,
    Prompt,
    Replies,
    Reply,
    Seats,
    Secrecy,
    SourceCode,
    Steps,
    TaskText,
    Tone,
    by_rank,
    credit_mark,
    result_grid,
    texts,
)
from peerage.game.house import programmer
from peerage.game.run_tests import hidden_tests, programs_shown, tried
from peerage.games.bug_hunt.tasks import BUGS, BuggyTask, buggy, repairs
from peerage.sandbox.program import environment
from peerage.values.figures import counted

MOST_BYTES = 6_000
"""Longest program, in bytes of UTF-8."""


class BugHuntRules(GameRules):
    """Settings of bug hunts."""

    seats: Seats = 8
    steps: int = Field(4, ge=2, le=6, description="Steps of a program, before what it prints.")
    max_tokens: MaxTokens = 6_000


def play(table: GameTable) -> Steps[Outcome]:
    """One hunt of all seats of `table` in the same program."""
    rules: BugHuntRules = table.rules
    task = msgspec.convert(table.drawn, BuggyTask)
    fill = {
        "bugs": "one bug" if len(task.bugs) == 1 else f"{len(task.bugs)} bugs",
        "statement": task.statement,
        "source": task.source.rstrip(),
        "tests": str(len(task.tests)),
        "environment": environment(),
        "score": SCORE,
    }
    oracle = {"programs": repairs(task)}
    hunt: Prompt = texts(__package__, rules.texts)["hunt"]
    asked = hunt.ask("", "repair", Code(MOST_BYTES), fill, rules.max_tokens, oracle=oracle)
    results = yield from tried(table.seats, asked, task.tests)
    if not results:
        return Outcome(void="no_answer")
    programs = {label: _result(task, *outcome) for label, outcome in results.items()}
    # an untouched program has the smallest edit of all, so edits count only where something was fixed
    scores = by_rank(
        {
            label: (program["fixed"], -program["edit"] if program["fixed"] else 0)
            for label, program in programs.items()
        }
    )
    detail = {"decided": "by bugs fixed", "programs": programs}
    return Outcome(scores=scores, detail=detail)


def _result(task: BuggyTask, reply: Reply, verdicts: tuple[str, ...]) -> dict[str, Any]:
    """One program on record."""
    fixed, kept = _repairs(task, verdicts)
    size = edit_size(task.source, reply.value) if reply.ok else 0
    harm = "" if kept else ", but something broken"
    what = f"{sum(fixed)} of {len(task.bugs)} fixed{harm}, {size} lines edited"
    return {
        "bytes": len(reply.value.encode()) if reply.ok else None,
        "tests": list(verdicts),
        "fixed": sum(fixed) if kept else 0,
        "edit": size,
        "result": what if reply.ok else reply.status,
    }


def _repairs(task: BuggyTask, verdicts: Sequence[str]) -> tuple[list[bool], bool]:
    """Return which bugs a program fixed, and whether it kept what was right."""
    passed = {place for place, verdict in enumerate(verdicts) if verdict == "passed"}
    guards = set(range(len(task.tests))).difference(*task.witnesses)
    return [passed.issuperset(places) for places in task.witnesses], guards <= passed


def edit_size(before: str, after: str) -> int:
    """Lines removed plus lines added; white space at the end of lines and of the whole does not count."""
    old, new = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (before, after))
    size = 0
    for change, i, j, k, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if change != "equal":
            size += j - i + n - k
    return size


def draw(rules: BugHuntRules, seed: str, number: int) -> dict[str, Any]:
    """The program of match `number`, its bugs and its tests."""
    return {**msgspec.to_builtins(buggy(Random(f"{seed}/bugs/{number}"), rules.steps, BUGS))}


def asks(rules: BugHuntRules, fixture: Fixture) -> tuple[Asks, ...]:
    """Each contestant is asked once."""
    hunt: Prompt = texts(__package__, rules.texts)["hunt"]
    return (Asks("contestant", hunt, Code(MOST_BYTES), 1, rules.max_tokens, usual_output=700),)


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT = {"no_answer": "Too few programs came, since providers failed; there is no result."}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The bugs that each player fixed and what it broke; what each changed, the program given, the tests."""
    task = convert(fixture.drawn, BuggyTask)
    programs = outcome.detail.get("programs", {})
    edits = max([program["edit"] for program in programs.values()], default=0)
    rows: dict[str, tuple[Cell, ...]] = {
        label: (*_repaired(task, program["tests"]), Bar("", program["edit"], edits))
        for label, program in programs.items()
    }
    wins = "Most bugs fixed wins, among equals the smaller edit; a program that breaks what was right fixed "
    why = {label: program["result"] for label, program in programs.items()}
    bugs = [f"Bug {at}" for at in range(1, len(task.bugs) + 1)]
    columns = (*bugs, "The rest", ">Lines edited")
    yield from result_grid(outcome, f"{wins}nothing.", columns, rows, why, _NO_RESULT)
    yield Heading("The task")
    yield TaskText(task.statement)
    yield Heading("The program given", closed=True)
    yield SourceCode(task.source.rstrip(), note=f"with {counted(len(task.bugs), 'bug')}")
    yield Heading("What each changed")
    for label, program in programs.items():
        reply = replies[f"repair/{label}"]
        if isinstance(reply.value, str):
            tone: Tone = "good" if program["fixed"] == len(task.bugs) else "" if program["fixed"] else "bad"
            changed = _changes(task.source, reply.value)
            yield SourceCode(changed, label, "", program["result"], tone, diff=True)
    yield from programs_shown(
        "repair", {}, {key: reply for key, reply in replies.items() if reply.status != "ok"}
    )
    shows = {place: f"bug {bug}" for bug, places in enumerate(task.witnesses, 1) for place in places}
    yield from hidden_tests(task.tests, shows)


def _repaired(task: BuggyTask, verdicts: Sequence[str]) -> list[CellMark]:
    """Return a mark for each bug, and one for what was right; dashes where no program came."""
    if not verdicts:
        return [credit_mark(None)] * (len(task.bugs) + 1)
    fixed, kept = _repairs(task, verdicts)
    *marks, rest = [credit_mark(right, opens="tests") for right in (*fixed, kept)]
    return [*marks, msgspec.structs.replace(rest, text=f"{rest.text} {'kept' if kept else 'broken'}")]


def _changes(before: str, after: str) -> str:
    """The lines that were removed and added, with one line around them."""
    old, new = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (before, after))
    changed = list(unified_diff(old, new, n=1, lineterm=""))[2:]
    return "\n".join(changed) or "(nothing)"


GAME: GameSpec[BugHuntRules] = GameSpec(
    name="bug-hunt",
    version=9,
    texts=__package__,
    about="Everybody repairs the same program; most bugs fixed with nothing broken wins.",
    contestants=(2, 10),
    rules=BugHuntRules,
    play=play,
    draw=draw,
    asks=asks,
    survives=True,
    house=programmer,
    show=show,
    secrecy=Secrecy(hides=True),
    needs=Needs(sandbox=lambda rules: True),
    demo=Demo(60),
)
