"""Hunts: programs with bugs, and the tests that show which of the bugs are there. Pure.

A witness of a bug is a test that fails in every version of the program that has the bug and passes in every
version that has not, whatever the other bugs; a guard passes in all versions. All versions are run when a
hunt is drawn, and only one is played in which each bug has a witness and there is a guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from random import Random
from typing import cast

from msgspec import Struct

from peerage.game.run_tests import Test
from peerage.games import numbers
from peerage.games.numbers import Plan, Slot

BUGS = 3
_INPUTS = 40
_TRIES = 60
"""Choices of bugs that are tried before another program is drawn."""
_KEPT = 2
"""Witnesses of each bug, and guards, at most."""


class BuggyTask(Struct, frozen=True):
    """A task as it is embedded in a fixture. `witnesses` are places in `tests`, bug by bug; the others guard.
    `bugs` are wrong values of slots of `plan`, which is empty in matches of version 2."""

    statement: str
    source: str
    bugs: tuple[tuple[str | int, ...], ...]
    tests: tuple[Test, ...]
    witnesses: tuple[tuple[int, ...], ...]
    plan: Plan = ()


def buggy(rng: Random, steps: int, bugs: int) -> BuggyTask:
    """Draw a program of so many steps with so many bugs, each in a slot of its own."""
    while True:
        plan = numbers.drawn(rng, steps)
        versions = _Versions(plan, list(dict.fromkeys([numbers.line(rng) for _ in range(_INPUTS)])))
        apart = [bug for bug in numbers.bugs(plan) if 0 < len(versions.fails((bug,))) <= _INPUTS // 2]
        rng.shuffle(apart)
        for chosen in islice(combinations(apart, bugs), _TRIES):
            if len({bug[:2] for bug in chosen}) == bugs and (proof := versions.proven(chosen)):
                tests, witnesses = proof
                source = numbers.program(plan, chosen)
                return BuggyTask(numbers.statement(plan), source, chosen, tests, witnesses, plan)


class _Versions:
    """A program with any of its bugs, run on the same inputs."""

    def __init__(self, plan: Plan, inputs: Sequence[str]) -> None:
        self._plan = plan
        self._right = dict(zip(inputs, numbers.outputs(numbers.program(plan), inputs), strict=True))
        self._fails: dict[tuple[Slot, ...], set[str]] = {(): set()}

    def fails(self, bugs: tuple[Slot, ...]) -> set[str]:
        """The inputs that a program with these bugs gets wrong."""
        if bugs not in self._fails:
            printed = numbers.outputs(numbers.program(self._plan, bugs), [*self._right])
            of = zip(self._right.items(), printed, strict=True)
            self._fails[bugs] = {given for (given, right), output in of if output != right}
        return self._fails[bugs]

    def proven(self, bugs: tuple[Slot, ...]) -> tuple[tuple[Test, ...], tuple[tuple[int, ...], ...]] | None:
        """Tests and each bug's witnesses among them; None where a bug has none, or no test guards."""
        by_bug = {bug: self.fails((bug,)) for bug in bugs}
        alone = [by_bug[bug].difference(*[by_bug[other] for other in bugs if other != bug]) for bug in bugs]
        if not all(alone):
            return None
        for size in range(2, len(bugs) + 1):
            for some in combinations(bugs, size):
                failing = self.fails(some)
                alone = [
                    given & failing if bug in some else given - failing
                    for bug, given in zip(bugs, alone, strict=True)
                ]
        failing_any = [fails for has, fails in self._fails.items() if {*has} <= {*bugs}]
        guards = set(self._right).difference(*failing_any)
        if not (guards and all(alone)):
            return None
        kept = [given for some in (*alone, guards) for given in sorted(some)[:_KEPT]]
        witnesses = [tuple([kept.index(given) for given in sorted(some)[:_KEPT]]) for some in alone]
        return tuple([(given, self._right[given]) for given in kept]), tuple(witnesses)


def repairs(task: BuggyTask) -> list[str]:
    """Programs with ever fewer of a task's bugs fixed, the correct one first."""
    bugs = cast(tuple[Slot, ...], task.bugs)
    return [numbers.program(task.plan, bugs[len(bugs) - left :]) for left in range(len(bugs))]
