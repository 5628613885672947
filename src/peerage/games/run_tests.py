"""Trials of programs: one run for each test; what it prints is compared here, outside the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from peerage.games.same_tasks import asked_alike
from peerage.match import Seat
from peerage.protocol import Ask, Ran, Reply, Run, Steps, Together

Test: TypeAlias = tuple[str, str]
"""What a program reads from stdin, and what it must print."""

NOT_RUN = "not run"
_LIMITS = ("timeout", "fuel", "memory", "output")


def tried(
    seats: Sequence[Seat], ask: Ask, tests: Sequence[Test]
) -> Steps[dict[str, tuple[Reply, tuple[str, ...]]]]:
    """Ask every seat for a program and try each on `tests`: replies with the tests' verdicts, none for one
    without a program, by label.

    `ask` is addressed to nobody. Of fewer than two replies nothing is left, and then nothing is run.
    """
    came = yield from asked_alike(seats, [ask])
    if not came:
        return {}
    verdicts: Mapping[str, tuple[str, ...]] = yield Together(
        {label: trial(reply.value, tests) for label, (reply,) in came.items() if reply.ok}
    )
    return {label: (reply, verdicts.get(label, ())) for label, (reply,) in came.items()}


def trial(source: str, tests: Sequence[Test]) -> Steps[tuple[str, ...]]:
    """Run `source` on every test; each test's verdict, in order.

    A verdict is passed, wrong, or how the run ended (error, timeout, fuel, memory, output). A program that
    meets a limit in the first test is not run on the others and fails them. What is expected stays here.
    """
    first = yield Run("test/1", source, tests[0][0] + "\n")
    verdicts = [_verdict(first, tests[0])]
    if verdicts[0] in _LIMITS:
        return (*verdicts, *[NOT_RUN] * (len(tests) - 1))
    others: list[Reply] = yield [
        Run(f"test/{at}", source, given + "\n") for at, (given, _) in enumerate(tests[1:], 2)
    ]
    return (*verdicts, *map(_verdict, others, tests[1:]))


def _verdict(reply: Reply, test: Test) -> str:
    ran: Ran = reply.value
    if ran.status != "ok":
        return ran.status
    return "passed" if same_output(ran.stdout, test[1]) else "wrong"


def same_output(printed: str, expected: str) -> bool:
    """Equal but for white space at the end of lines and of the whole."""
    return _lines(printed) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]
