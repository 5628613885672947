"""Grades a submitted program or function. What is expected never enters the sandbox.

Each case runs in a guest of its own, which is given the input alone. Its answer leaves as plain JSON and is
compared here, by exact type and value: an object that equals everything, a subclass of int, a forged
"passed", an early exit or a patched `print` can only ever be a wrong answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from peerage.sandbox.pool import Pool
from peerage.sandbox.program import Limits, Program, RunResult, Status

Json: TypeAlias = Any
"""None, bool, int, finite float, str, list of Json, or dict of str to Json; no subclass of these."""

Grade: TypeAlias = Literal["passed", "wrong", "no_answer"] | Status
"""passed · wrong: another answer · no_answer: it ended without one plain JSON answer · else how the run
ended. A `sandbox_error` says nothing about the submission: whoever grades voids the match."""


@dataclass(frozen=True, slots=True)
class FunctionCase:
    """A case for a function: positional arguments, and what it must return."""

    arguments: tuple[Json, ...]
    expected: Json


@dataclass(frozen=True, slots=True)
class ProgramCase:
    """A case for a program: what it reads from stdin, and what it must print.

    White space at the end of a line and at the end of the output does not count.
    """

    stdin: str
    expected: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One case's grade. `answer` is what a function returned or a program printed, None without one."""

    grade: Grade
    answer: Json
    run: RunResult

    @property
    def passed(self) -> bool:
        return self.grade == "passed"


async def grade_function(
    pool: Pool, source: str, function: str, cases: Sequence[FunctionCase], limits: Limits | None = None
) -> tuple[Verdict, ...]:
    """Call `function` of `source` once for each case. ValueError when a case is not plain JSON."""
    harness = (files("peerage.sandbox.guest") / "call.py").read_text("utf-8")
    for case in cases:
        for value in (*case.arguments, case.expected):
            _check_plain(value)

    async def one(case: FunctionCase) -> Verdict:
        request = {"source": source, "function": function, "arguments": case.arguments}
        run = await pool.run(Program(harness, json.dumps(request), limits or Limits()))
        if not run.ok:
            return Verdict(run.status, None, run)
        try:
            answer = json.loads(run.stdout, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return Verdict("no_answer", None, run)
        return Verdict("passed" if same(answer, case.expected) else "wrong", answer, run)

    return tuple(await asyncio.gather(*map(one, cases)))


async def grade_program(
    pool: Pool, source: str, cases: Sequence[ProgramCase], limits: Limits | None = None
) -> tuple[Verdict, ...]:
    """Run `source` once for each case and compare what it prints."""

    async def one(case: ProgramCase) -> Verdict:
        run = await pool.run(Program(source, case.stdin, limits or Limits()))
        if not run.ok:
            return Verdict(run.status, None, run)
        right = _trimmed(run.stdout) == _trimmed(case.expected)
        return Verdict("passed" if right else "wrong", run.stdout, run)

    return tuple(await asyncio.gather(*map(one, cases)))


def same(answer: Json, expected: Json) -> bool:
    """Equal in value and in type at every place: 1, 1.0 and True are three different answers."""
    if type(answer) is not type(expected):
        return False
    if type(answer) is list:
        return len(answer) == len(expected) and all(map(same, answer, expected))
    if type(answer) is dict:
        return answer.keys() == expected.keys() and all(same(answer[key], expected[key]) for key in answer)
    return bool(answer == expected)


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_plain(value: Json) -> None:
    if not same(json.loads(json.dumps(value, allow_nan=False)), value):
        raise ValueError(f"a case must be plain JSON; found {value!r:.200}")
