"""Code golf: everybody solves one task, the shortest program that passes the hidden tests wins.

    A, B, C, D > ```python
                 print(sum(int(c)**3 for c in input()))
                 ```                                                     (program/A, …)
    sandbox    > 36                                                      (A/test/1: passed)

Length is counted in UTF-8 bytes. A program that fails a test, and a reply that is no program, rank last;
equal lengths tie. Whose provider fails is unranked, while two are left. Tasks are drawn step by step
(`games.numbers`), so none comes twice. The hidden tests and what they expect enter no prompt, and the sandbox
gets nothing but the input of one test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, convert
from pydantic import Field

from peerage.game import (
    SCORE,
    Asks,
    Bar,
    Block,
    Cell,
    Code,
    Demo,
    Fixture,
    GameRules,
    GameSpec,
    GameTable,
    Grid,
    Heading,
    MaxTokens,
    Needs,
    Outcome,
    Prompt,
    Replies,
    Reply,
    Seats,
    Secrecy,
    Steps,
    TaskText,
    by_rank,
    result_grid,
    texts,
)
from peerage.game.house import programmer
from peerage.game.run_tests import Test, hidden_tests, programs_shown, tried, verdict_marks
from peerage.game.texts import toml
from peerage.games.numbers import Plan, drawn, line, outputs, program, statement
from peerage.sandbox.program import environment


class GolfTask(Struct, frozen=True):
    """A task as it is embedded in a fixture."""

    plan: Plan
    statement: str
    examples: tuple[Test, ...]
    tests: tuple[Test, ...]


def task(rng: Random, steps: int, examples: int, tests: int) -> GolfTask:
    """Draw a task of so many steps, with so many examples and hidden tests.

    All inputs are different, and one of the hidden ones is a single number. The tests have two different
    answers at least, and one for each three of them, so that no constant is right.
    """
    while True:
        plan = drawn(rng, steps)
        inputs = [line(rng).partition(" ")[0]]
        while len(inputs) < examples + tests:
            inputs = list(dict.fromkeys([*inputs, line(rng)]))
        answers = outputs(program(plan), inputs)
        if len(set(answers[:tests])) >= max(2, tests // 3):
            known = [*zip(inputs, answers, strict=True)]
            hidden = rng.sample(known[:tests], tests)
            return GolfTask(plan, statement(plan), tuple(known[tests:]), tuple(hidden))


def solutions(plan: Plan) -> tuple[str, str]:
    """A short and a plain program for a task."""
    return program(plan, form="short"), program(plan)


MOST_BYTES = 2_000
"""Longest program, in bytes of UTF-8."""
EXAMPLES, TESTS = 2, 6
"""Examples that players see, and hidden tests."""


class CodeGolfRules(GameRules):
    """Settings of code golf."""

    seats: Seats = 8
    steps: int = Field(2, ge=1, le=5, description="Steps of a task, before what is to be printed.")
    max_tokens: MaxTokens = 4_000


def play(table: GameTable) -> Steps[Outcome]:
    """One round of golf between all seats of `table`."""
    rules: CodeGolfRules = table.rules
    task = msgspec.convert(table.drawn, GolfTask)
    fill = {
        "tests": str(TESTS),
        "environment": environment(),
        "score": SCORE,
        "statement": task.statement,
        "examples": _shown(task),
    }
    oracle = {"programs": solutions(task.plan)}
    golf: Prompt = texts(__package__, rules.texts)["golf"]
    asked = golf.ask("", "program", Code(MOST_BYTES), fill, rules.max_tokens, oracle=oracle)
    results = yield from tried(table.seats, asked, task.tests)
    if not results:
        return Outcome(void="no_answer")
    programs = {label: _result(*trial) for label, trial in results.items()}
    scores = by_rank(
        {
            label: -program["bytes"] if program["result"] == "correct" else -inf
            for label, program in programs.items()
        }
    )
    return Outcome(scores=scores, detail={"decided": "by length", "programs": programs})


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


def draw(rules: CodeGolfRules, seed: str, number: int) -> dict[str, Any]:
    """The task of match `number`, hidden tests and all."""
    return {**msgspec.to_builtins(task(Random(f"{seed}/golf/{number}"), rules.steps, EXAMPLES, TESTS))}


def asks(rules: CodeGolfRules, fixture: Fixture) -> tuple[Asks, ...]:
    """Each contestant is asked once."""
    golf: Prompt = texts(__package__, rules.texts)["golf"]
    return (Asks("contestant", golf, Code(MOST_BYTES), 1, rules.max_tokens, usual_output=400),)


# ----------------------------------------------------------------------------------------------------- shown


_NO_RESULT: Mapping[str, str] = toml(__package__, "shown")["no_result"]


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The length of each program and the tests it passed; the task, the programs, the tests."""
    task = convert(fixture.drawn, GolfTask)
    programs = outcome.detail.get("programs", {})
    most = max([program["bytes"] or 0 for program in programs.values()], default=0)
    rows: dict[str, tuple[Cell, ...]] = {
        label: (
            program["result"] if program["bytes"] is None else Bar("", program["bytes"], most),
            *verdict_marks(program["tests"]),
            *[""] * (TESTS - len(program["tests"])),
        )
        for label, program in programs.items()
    }
    wins = "The shortest correct program wins; an incorrect one comes last."
    columns = (">Bytes", "Test 1", *map(str, range(2, TESTS + 1)))
    why = {
        label: program["result"] + (f", {program['bytes']:,} bytes" if program["bytes"] is not None else "")
        for label, program in programs.items()
    }
    yield from result_grid(outcome, wins, columns, rows, why, _NO_RESULT)
    yield Heading("The task")
    yield TaskText(task.statement)
    yield Grid(("Input", "Output"), task.examples, "Examples that players saw")
    yield Heading("The programs", closed=True)
    yield from programs_shown("program", programs, replies)
    yield from hidden_tests(task.tests)


GAME: GameSpec[CodeGolfRules] = GameSpec(
    name="code-golf",
    version=11,
    texts=__package__,
    about="Everybody solves one task; the shortest program that passes the hidden tests wins.",
    contestants=(2, 10),
    rules=CodeGolfRules,
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
