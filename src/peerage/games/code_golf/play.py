"""Code golf: everybody solves one task, the shortest program that passes the hidden tests wins.

    A, B, C, D > ```python
                 print(sum(int(c)**3 for c in input()))
                 ```                                                     (program/A, …)
    sandbox    > 36                                                      (A/test/1: passed)

Length is counted in UTF-8 bytes. A program that fails a test, and a reply that is no program, rank last;
equal lengths tie. Whose provider fails is unranked, while two are left. Tasks are drawn step by step
(`games.numbers`), so none comes twice, or written by a player who then watches (`code_golf.drafts`). The
hidden tests and what they expect enter no prompt, and the sandbox gets nothing but the input of one test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from random import Random
from typing import Any, Literal

import msgspec
from pydantic import Field

from peerage.formats import Code
from peerage.games.code_golf.drafts import (
    INPUT_CHARS,
    OUTPUT_CHARS,
    TASK,
    TASK_CHARS,
    WRITE,
    offers,
    written,
)
from peerage.games.code_golf.house import house
from peerage.games.code_golf.show import show
from peerage.games.code_golf.tasks import Task, solutions
from peerage.games.code_golf.tasks import task as drawn_task
from peerage.games.game import (
    QUOTE,
    Asks,
    Demo,
    GameRules,
    GameSpec,
    Needs,
    RoleRequirement,
    Seating,
    Secrecy,
)
from peerage.games.ranking import SCORE, by_rank
from peerage.games.run_tests import tried
from peerage.games.section import MaxTokens, Seats
from peerage.games.texts import texts
from peerage.match import Fixture, Outcome, Table
from peerage.protocol import Prompt, Quote, Reply, Steps
from peerage.sandbox.program import environment

GOLF: Prompt = texts(__package__)["golf"]
GOLF_BY_PLAYERS: Prompt = texts(__package__)["golf_by_players"]


MOST_BYTES = 2_000
"""Longest program, in bytes of UTF-8."""
EXAMPLES = 2
"""Examples that players see."""
AUTHORS = 2
"""Players who may try to write a task, one after another, until one stands."""


class CodeGolfRules(GameRules):
    """How code golf is played."""

    seats: Seats = 8
    tasks: Literal["steps", "players"] = Field(
        "steps",
        description="Where tasks come from: drawn step by step, or from a player who then does not compete.",
    )
    steps: int = Field(2, ge=1, le=5, description="Steps of a drawn task, before what is to be printed.")
    tests: int = Field(6, ge=2, le=50, description="Hidden tests.")
    max_tokens: MaxTokens = 4_000


def play(table: Table) -> Steps[Outcome]:
    """One round of golf between all seats of `table`."""
    rules: CodeGolfRules = table.rules
    detail: dict[str, Any] = {}
    fill: dict[str, str | Quote] = {
        "tests": str(rules.tests),
        "environment": environment(),
        "score": SCORE,
    }
    known: Sequence[str]
    if rules.tasks == "steps":
        task, prompt = msgspec.convert(table.drawn, Task), GOLF
        fill |= {"statement": task.statement, "examples": _shown(task)}
        known = solutions(task.plan)
    else:
        ideas = offers(table.rng("offers"), rules.steps, 4 * (EXAMPLES + rules.tests))
        authors, numbers = table.officials["author"], table.rng("inputs")
        made = yield from written(authors, EXAMPLES, rules.tests, rules.max_tokens, numbers, ideas)
        detail["drafts"] = [msgspec.to_builtins(draft) for draft in made.drafts]
        if made.task is None:
            return Outcome(void="no_challenge", detail=detail)
        task, prompt, known = made.task, GOLF_BY_PLAYERS, made.programs
        detail["task"] = task.statement
        fill |= {"statement": Quote("task", task.statement), "examples": Quote("examples", _shown(task))}
    oracle = {"programs": known}
    asked = prompt.ask("", "program", Code(MOST_BYTES), fill, rules.max_tokens, oracle=oracle)
    found = yield from tried(table.seats, asked, task.tests)
    if not found:
        return Outcome(void="no_answer", detail=detail)
    programs = {label: _result(*one) for label, one in found.items()}
    scores = by_rank(
        {label: -one["bytes"] if one["result"] == "correct" else -inf for label, one in programs.items()}
    )
    detail |= {"decided": "by length", "programs": programs}
    if rules.tasks == "players" and all(one["result"] != "correct" for one in programs.values()):
        # nobody but its author has shown that the statement says what is to be done
        return Outcome(void="unsolved", detail=detail)
    return Outcome(scores=scores, detail=detail)


def _shown(task: Task) -> str:
    return "\n\n".join(f"Input:\n{given}\nOutput:\n{wanted}" for given, wanted in task.examples)


def _result(reply: Reply, verdicts: tuple[str, ...]) -> dict[str, Any]:
    """One program on record."""
    correct = bool(verdicts) and all(verdict == "passed" for verdict in verdicts)
    return {
        "bytes": len(reply.value.encode()) if reply.ok else None,
        "tests": list(verdicts),
        "result": "correct" if correct else "incorrect" if reply.ok else reply.status,
    }


def officials(rules: CodeGolfRules) -> tuple[RoleRequirement, ...]:
    """Authors, who never sit at the table they write for."""
    if rules.tasks == "steps":
        return ()
    return (RoleRequirement("author", AUTHORS, 1),)


def draw(rules: CodeGolfRules, seed: str, number: int) -> dict[str, Any]:
    """The task of match `number`, hidden tests and all; nothing when a player is to write it."""
    if rules.tasks == "players":
        return {}
    made = drawn_task(Random(f"{seed}/golf/{number}"), rules.steps, EXAMPLES, rules.tests)
    plain: dict[str, Any] = msgspec.to_builtins(made)
    return plain


def asks(rules: CodeGolfRules, fixture: Fixture) -> Iterator[Asks]:
    """Each contestant is asked once; authors as well."""
    authors = len(fixture.officials.get("author", ()))
    shown = TASK_CHARS + EXAMPLES * (INPUT_CHARS + OUTPUT_CHARS + 20) + 2 * QUOTE if authors else 0
    code, most = Code(MOST_BYTES), rules.max_tokens
    yield Asks("contestant", (GOLF, GOLF_BY_PLAYERS), code, 1, most, shown, usual_output=400)
    yield Asks("author", WRITE, TASK, 1, most, usual=1.1 / max(authors, 1), usual_output=600)


GAME: GameSpec[CodeGolfRules] = GameSpec(
    name="code-golf",
    version=9,
    about="Everybody solves one task; the shortest program that passes the hidden tests wins.",
    contestants=(2, 10),
    rules=CodeGolfRules,
    play=play,
    officials=officials,
    draw=draw,
    asks=asks,
    survives=True,
    house=house,
    show=show,
    seating=Seating(slots=True),
    secrecy=Secrecy(hides=True),
    needs=Needs(sandbox=lambda rules: True),
    demo=Demo(60),
)
