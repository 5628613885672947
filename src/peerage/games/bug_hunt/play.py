"""Bug hunt: everybody repairs the same programs; who fixes most bugs and breaks nothing wins.

    A, B, C, D > ```python
                 …the whole program, repaired…
                 ```                                                     (repair/1/A, …)
    sandbox    > ok                                                      (A/0/test/1: passed)

Programs are drawn step by step, so none comes twice, and each bug is proven to fail tests of its own
(`bug_hunt.tasks`). A bug is fixed when all its witnesses pass. A player that breaks a test that the given
program passed counts as having fixed nothing. Among equals the smaller edit ranks higher. Whose provider
fails is unranked, while two are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher, unified_diff
from random import Random
from typing import Any

import msgspec
from pydantic import Field

from peerage.game import (
    SCORE,
    Ask,
    Asks,
    Bar,
    Block,
    Cell,
    CellMark,
    Code,
    Demo,
    Fixture,
    GameSpec,
    GameTable,
    Grid,
    Heading,
    LevelRules,
    MaxTokens,
    Needs,
    Outcome,
    Prompt,
    Replies,
    Reply,
    SeatName,
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
from peerage.game.levels import by_level, fact
from peerage.game.programs.run_tests import hidden_tests, programs_shown, tried
from peerage.game.same_tasks import TASKS, bounds, tasks_of
from peerage.games.bug_hunt.house import repairer
from peerage.games.bug_hunt.tasks import BuggyTask, buggy
from peerage.sandbox.program import environment
from peerage.values.figures import counted

MOST_BYTES = 12_000
"""Longest program, in bytes of UTF-8."""


class BugHuntRules(LevelRules):
    """Settings of bug hunts."""

    seats: Seats = 8
    tasks: int = Field(4, ge=1, le=6, description="Programs of a match.")
    max_tokens: MaxTokens = 6_000


def play(table: GameTable) -> Steps[Outcome]:
    """One hunt of all seats of `table` in the same programs."""
    tasks = tasks_of(table.drawn, BuggyTask)
    came = yield from tried(table.seats, asked(table.rules, tasks), [task.tests for task in tasks])
    if not came:
        return Outcome(void="no_answer")
    programs = {
        label: [_result(task, *trial) for task, trial in zip(tasks, trials, strict=True)]
        for label, trials in came.items()
    }
    credits = {
        label: [float(each["points"] == len(task.goals)) for task, each in zip(tasks, own, strict=True)]
        for label, own in programs.items()
    }
    return Outcome(
        scores=by_rank({label: _achieved(own) for label, own in programs.items()}),
        facts=(fact(table.seats, [task.level for task in tasks], credits),),
        detail={"decided": "by bugs fixed", "programs": programs},
    )


def asked(rules: BugHuntRules, tasks: Sequence[BuggyTask]) -> list[Ask]:
    """Return what every seat is asked, addressed to nobody."""
    prompt: Prompt = texts(__package__, rules.texts)["hunt"]
    return [
        prompt.ask(
            "",
            f"repair/{at}",
            Code(MOST_BYTES),
            {
                "task": str(at),
                "tasks": str(len(tasks)),
                "bugs": counted(len(task.bugs), "bug"),
                "pairs": str(len(task.joint)),
                "statement": task.statement,
                "source": task.source.rstrip(),
                "tests": str(len(task.tests)),
                "environment": environment(),
                "score": SCORE,
            },
            rules.max_tokens,
            oracle=task,
        )
        for at, task in enumerate(tasks, 1)
    ]


def _achieved(programs: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return the points of a player, and how small its edits are. An untouched program has the smallest edit
    of all, so edits count only where something was fixed."""
    edits = [program["edit"] for program in programs if program["points"]]
    return sum(program["points"] for program in programs), -sum(edits)


def _result(task: BuggyTask, reply: Reply, verdicts: tuple[str, ...]) -> dict[str, Any]:
    """One program on record."""
    reached, kept = _repairs(task, verdicts)
    fixed, together = reached[: len(task.bugs)], reached[len(task.bugs) :]
    size = edit_size(task.source, reply.value) if reply.ok else 0
    pairs = f", {sum(together)} of {counted(len(together), 'pair')}" if together else ""
    harm = "" if kept else ", but something broken"
    what = f"{sum(fixed)} of {len(fixed)} fixed{pairs}{harm}, {counted(size, 'line')} edited"
    return {
        "bytes": len(reply.value.encode()) if reply.ok else None,
        "tests": list(verdicts),
        "points": sum(reached) if kept else 0,
        "edit": size,
        "result": what if reply.ok else reply.status,
    }


def _repairs(task: BuggyTask, verdicts: Sequence[str]) -> tuple[list[bool], bool]:
    """Return which bugs a program fixed, and which pairs of them, and whether it kept what was right."""
    passed = {place for place, verdict in enumerate(verdicts) if verdict == "passed"}
    guards = set(range(len(task.tests))).difference(*task.goals)
    return [passed.issuperset(places) for places in task.goals], guards <= passed


def edit_size(before: str, after: str) -> int:
    """Lines removed plus lines added; white space at the end of lines and of the whole does not count."""
    old, new = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (before, after))
    size = 0
    for change, i, j, k, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if change != "equal":
            size += j - i + n - k
    return size


def draw(rules: BugHuntRules, levels: Sequence[int], secret: str, number: int) -> dict[str, Any]:
    """The programs of match `number`, their bugs and tests."""
    tasks = [buggy(Random(f"{secret}/bugs/{number}/{at}"), level) for at, level in enumerate(levels)]
    return {TASKS: msgspec.to_builtins(tasks)}


def asks(rules: BugHuntRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant is asked once for each program."""
    yield from bounds(asked(rules, tasks_of(fixture.drawn, BuggyTask)), usual_output=900)


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT = {"no_answer": "Too few programs came, since providers failed; there is no result."}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The points of each player; of each program the bugs that players fixed and what they broke, what each
    changed, the program given, the tests."""
    tasks = tasks_of(fixture.drawn, BuggyTask)
    programs: Mapping[str, Sequence[Mapping[str, Any]]] = outcome.detail.get("programs", {})
    edits = {label: sum(program["edit"] for program in own) for label, own in programs.items()}
    rows: dict[str, tuple[Cell, ...]] = {}
    for label, own in programs.items():
        reached = [f"{each['points']} of {len(task.goals)}" for task, each in zip(tasks, own, strict=True)]
        rows[label] = (*reached, Bar("", edits[label], max(edits.values())))
    wins = (
        "Each bug fixed is a point, and each pair of bugs that show together; most points win, among equals "
        "the smaller edits. In a program that breaks what was right nothing counts as fixed."
    )
    why = {label: "; ".join([each["result"] for each in own]) for label, own in programs.items()}
    columns = (*[f"Program {at}" for at in range(1, len(tasks) + 1)], ">Lines edited")
    yield from result_grid(outcome, wins, columns, rows, why, _NO_RESULT)
    for at, task in enumerate(tasks, 1):
        yield from _task_shown(at, task, {label: own[at - 1] for label, own in programs.items()}, replies)


def _task_shown(
    at: int, task: BuggyTask, programs: Mapping[str, Mapping[str, Any]], replies: Replies
) -> Iterator[Block]:
    yield Heading(f"Program {at}, of level {task.level}")
    yield TaskText(task.statement)
    if programs:
        bugs = [f"Bug {bug}" for bug in range(1, len(task.bugs) + 1)]
        pairs = [f"{first + 1} and {second + 1}" for first, second, _ in task.joint]
        marks: list[tuple[Cell, ...]] = [
            (SeatName(label), *_repaired(task, each["tests"], f"tests{at}"))
            for label, each in programs.items()
        ]
        yield Grid(("Player", *bugs, *pairs, "The rest"), tuple(marks))
    yield Heading(f"Program {at} as given", closed=True)
    yield SourceCode(task.source.rstrip(), note=f"with {counted(len(task.bugs), 'bug')}")
    yield Heading(f"Changes of program {at}")
    for label, program in programs.items():
        reply = replies[f"repair/{at}/{label}"]
        if isinstance(reply.value, str):
            tone: Tone = (
                "good" if program["points"] == len(task.goals) else "" if program["points"] else "bad"
            )
            changed = _changes(task.source, reply.value)
            yield SourceCode(changed, label, "", program["result"], tone, diff=True)
    unused = {key: reply for key, reply in replies.items() if reply.status != "ok"}
    yield from programs_shown(f"repair/{at}", {}, unused)
    shows = {place: f"bug {bug}" for bug, places in enumerate(task.witnesses, 1) for place in places}
    shows |= {test: f"bugs {first + 1} and {second + 1}" for first, second, test in task.joint}
    yield from hidden_tests(task.tests, f"tests{at}", shows)


def _repaired(task: BuggyTask, verdicts: Sequence[str], opens: str) -> list[CellMark]:
    """Return a mark for each bug and pair, and one for what was right; dashes where no program came."""
    if not verdicts:
        return [credit_mark(None)] * (len(task.goals) + 1)
    fixed, kept = _repairs(task, verdicts)
    *marks, rest = [credit_mark(right, opens=opens) for right in (*fixed, kept)]
    return [*marks, msgspec.structs.replace(rest, text=f"{rest.text} {'kept' if kept else 'broken'}")]


def _changes(before: str, after: str) -> str:
    """The lines that were removed and added, with one line around them."""
    old, new = ([line.rstrip() for line in text.rstrip().split("\n")] for text in (before, after))
    changed = list(unified_diff(old, new, n=1, lineterm=""))[2:]
    return "\n".join(changed) or "(nothing)"


GAME: GameSpec[BugHuntRules] = GameSpec(
    name="bug-hunt",
    version=11,
    texts=__package__,
    about="Everybody repairs the same programs; most bugs fixed with nothing broken win.",
    contestants=(2, 10),
    rules=BugHuntRules,
    play=play,
    asks=asks,
    survives=True,
    house=repairer,
    show=show,
    secrecy=Secrecy(hides=True, alike=True, unshown=(TASKS,)),
    needs=Needs(sandbox=lambda rules: True),
    demo=Demo(40, {"tasks": 1}),
    **by_level(draw, lambda rules: rules.tasks),
)
