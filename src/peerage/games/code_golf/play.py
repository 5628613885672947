"""Code golf: everybody solves the same tasks, the shortest programs that pass the hidden tests win.

    A, B, C, D > ```python
                 print(sum(int(c)**3 for c in input()))
                 ```                                                     (program/1/A, …)
    sandbox    > 36                                                      (A/0/test/1: passed)

A correct program gets the length of the shortest one, in UTF-8 bytes, divided by its own; an incorrect one
nothing. Points of all tasks add up, and among equals more tests passed rank higher. Whose provider fails is
unranked, while two are left. Tasks are drawn step by step (`games.numbers`), so none comes twice. The hidden
tests and what they expect enter no prompt, and the sandbox gets nothing but the input of one test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    Steps,
    TaskText,
    by_rank,
    result_grid,
    texts,
)
from peerage.game.levels import by_level, fact
from peerage.game.programs.run_tests import hidden_tests, programs_shown, tried, verdict_marks
from peerage.game.same_tasks import TASKS, bounds, tasks_of
from peerage.game.texts import toml
from peerage.games.code_golf.house import golfer
from peerage.games.code_golf.tasks import GolfTask, golf_task
from peerage.sandbox.program import environment

MOST_BYTES = 6_000
"""Longest program, in bytes of UTF-8."""
EXAMPLES, TESTS = 2, 6
"""Examples that players see, and hidden tests of a task."""
POINT_DIGITS = 3
"""Digits after the point of points."""


class CodeGolfRules(LevelRules):
    """Settings of code golf."""

    seats: Seats = 8
    tasks: int = Field(6, ge=1, le=10, description="Tasks of a match.")
    max_tokens: MaxTokens = 4_000


def play(table: GameTable) -> Steps[Outcome]:
    """One round of golf between all seats of `table`."""
    tasks = tasks_of(table.drawn, GolfTask)
    came = yield from tried(table.seats, asked(table.rules, tasks), [task.tests for task in tasks])
    if not came:
        return Outcome(void="no_answer")
    programs = {label: [_result(*trial) for trial in trials] for label, trials in came.items()}
    for at in range(len(tasks)):
        correct = [each[at]["bytes"] for each in programs.values() if each[at]["result"] == "correct"]
        for each in programs.values():
            right = each[at]["result"] == "correct"
            each[at]["points"] = round(min(correct) / each[at]["bytes"], POINT_DIGITS) if right else 0
    credits = {label: [float(each["points"] > 0) for each in own] for label, own in programs.items()}
    return Outcome(
        scores=by_rank({label: _achieved(own) for label, own in programs.items()}),
        facts=(fact(table.seats, [task.level for task in tasks], credits),),
        detail={"decided": "by length", "programs": programs},
    )


def asked(rules: CodeGolfRules, tasks: Sequence[GolfTask]) -> list[Ask]:
    """Return what every seat is asked, addressed to nobody."""
    prompt: Prompt = texts(__package__, rules.texts)["golf"]
    return [
        prompt.ask(
            "",
            f"program/{at}",
            Code(MOST_BYTES),
            {
                "task": str(at),
                "tasks": str(len(tasks)),
                "tests": str(TESTS),
                "environment": environment(),
                "score": SCORE,
                "statement": task.statement,
                "examples": _shown(task),
            },
            rules.max_tokens,
            oracle=task,
        )
        for at, task in enumerate(tasks, 1)
    ]


def _achieved(programs: Sequence[Mapping[str, Any]]) -> tuple[float, int]:
    """Return the points of a player, and the tests that its programs passed."""
    passed = [verdict == "passed" for program in programs for verdict in program["tests"]]
    return round(sum(program["points"] for program in programs), POINT_DIGITS), sum(passed)


def _shown(task: GolfTask) -> str:
    return "\n\n".join(f"Input:\n{given}\nOutput:\n{wanted}" for given, wanted in task.examples)


def _result(reply: Reply, verdicts: tuple[str, ...]) -> dict[str, Any]:
    """One program on record."""
    correct = bool(verdicts) and all(verdict == "passed" for verdict in verdicts)
    return {
        "bytes": len(reply.value.encode()) if reply.ok else None,
        "tests": list(verdicts),
        "result": "correct" if correct else "incorrect" if reply.ok else reply.status,
    }


def draw(rules: CodeGolfRules, levels: Sequence[int], secret: str, number: int) -> dict[str, Any]:
    """The tasks of match `number`, hidden tests and all."""
    rngs = [Random(f"{secret}/golf/{number}/{at}") for at in range(len(levels))]
    drawn = [golf_task(rng, level, EXAMPLES, TESTS) for rng, level in zip(rngs, levels, strict=True)]
    return {TASKS: msgspec.to_builtins(drawn)}


def asks(rules: CodeGolfRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant is asked once for each task."""
    yield from bounds(asked(rules, tasks_of(fixture.drawn, GolfTask)), usual_output=400)


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT: Mapping[str, str] = toml(__package__, "shown")["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The length of each program; each task, the tests that programs for it passed, the programs."""
    tasks = tasks_of(fixture.drawn, GolfTask)
    programs: Mapping[str, Sequence[Mapping[str, Any]]] = outcome.detail.get("programs", {})
    most = [max([own[at]["bytes"] or 0 for own in programs.values()], default=0) for at in range(len(tasks))]
    rows: dict[str, tuple[Cell, ...]] = {
        label: (
            f"{sum(program['points'] for program in own):.3f}",
            *[
                Bar("", program["bytes"], most[at]) if program["points"] else program["result"]
                for at, program in enumerate(own)
            ],
        )
        for label, own in programs.items()
    }
    wins = (
        "A correct program gets the shortest one's length divided by its own, an incorrect one nothing; "
        "most points win, among equals most tests passed."
    )
    why = {label: f"{row[0]} points" for label, row in rows.items()}
    columns = (">Points", *[f">Bytes {at}" for at in range(1, len(tasks) + 1)])
    yield from result_grid(outcome, wins, columns, rows, why, _NO_RESULT)
    for at, task in enumerate(tasks, 1):
        own = {label: each[at - 1] for label, each in programs.items()}
        yield Heading(f"Task {at}, of level {task.level}")
        yield TaskText(task.statement)
        yield Grid(("Input", "Output"), task.examples, "Examples that players saw")
        if own:
            marks: list[tuple[Cell, ...]] = [
                (
                    SeatName(label),
                    *(verdict_marks(each["tests"], f"tests{at}") if each["tests"] else [""] * TESTS),
                )
                for label, each in own.items()
            ]
            yield Grid(("Player", "Test 1", *map(str, range(2, TESTS + 1))), tuple(marks))
        yield Heading(f"The programs for task {at}", closed=True)
        yield from programs_shown(f"program/{at}", own, replies)
        yield from hidden_tests(task.tests, f"tests{at}")


GAME: GameSpec[CodeGolfRules] = GameSpec(
    name="code-golf",
    version=13,
    texts=__package__,
    about="Everybody solves the same tasks; the shortest programs that pass hidden tests win.",
    contestants=(2, 10),
    rules=CodeGolfRules,
    play=play,
    asks=asks,
    survives=True,
    house=golfer,
    show=show,
    secrecy=Secrecy(hides=True, alike=True, unshown=(TASKS,)),
    needs=Needs(sandbox=lambda rules: True),
    demo=Demo(40, {"tasks": 2}),
    **by_level(draw, lambda rules: rules.tasks),
)
