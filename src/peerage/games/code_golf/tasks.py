"""Tasks of code golf: lists of numbers that are changed step by step, of ten levels. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from msgspec import Struct

from peerage.game.levels import difficulty
from peerage.game.programs.run_tests import Test
from peerage.games.numbers import Plan, drawn, followed, line, program, statement
from peerage.games.parts import DrawnPart, effort, outputs, work_at

USUAL_WORK = 3_000
"""Effort of a plain program at level 3."""
MOST_ALIKE = 1 / 3
"""Share of the tests that have the same answer, at most: so no constant does better."""


class GolfTask(Struct, frozen=True):
    """A task as it is embedded in a fixture. `difficulty` is in logits above a usual task of level 3."""

    level: int
    difficulty: float
    plan: tuple[DrawnPart, ...]
    statement: str
    examples: tuple[Test, ...]
    tests: tuple[Test, ...]


def golf_task(rng: Random, level: int, examples: int, tests: int) -> GolfTask:
    """Draw a task of a level, with so many examples and hidden tests.

    All inputs are different, and one of the hidden ones is a single number. Leaving out any step makes the
    answer to some hidden test wrong, and neither a constant nor the input itself answers most of them.
    """
    while True:
        plan = drawn(rng, work_at(level, USUAL_WORK))
        inputs = [line(rng).partition(" ")[0]]
        while len(inputs) < examples + tests:
            inputs = list(dict.fromkeys([*inputs, line(rng)]))
        answers = outputs(program(plan), inputs)
        [(_, alike)] = Counter(answers[:tests]).most_common(1)
        copied = sum([answer == given for answer, given in zip(answers[:tests], inputs, strict=False)])
        if max(alike, copied) <= MOST_ALIKE * tests and _each_step_tells(plan, inputs[:tests]):
            known = [*zip(inputs, answers, strict=True)]
            hidden = tuple(rng.sample(known[:tests], tests))
            hard = difficulty(work=effort(program(plan)), usual_work=USUAL_WORK)
            return GolfTask(level, hard, plan, statement(plan), tuple(known[tests:]), hidden)


def _each_step_tells(plan: Plan, inputs: Sequence[str]) -> bool:
    stages = [[*inputs]]
    for step in plan[:-1]:
        stages.append(followed(step, stages[-1]))
    end = program(plan[-1:])
    for left_out in range(len(plan) - 1):
        lists = stages[left_out]
        for at in range(left_out + 1, len(plan) - 1):
            lists = followed(plan[at], lists)
            if lists == stages[at + 1]:
                return False
        if outputs(end, lists) == outputs(end, stages[-1]):
            return False
    return True
