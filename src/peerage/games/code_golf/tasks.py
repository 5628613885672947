"""Tasks of code golf: steps with lists of numbers, public examples, hidden tests. Pure."""

from __future__ import annotations

from random import Random

from msgspec import Struct

from peerage.games.numbers import Plan, drawn, line, outputs, program, statement
from peerage.games.run_tests import Test


class Task(Struct, frozen=True):
    """A task as it is embedded in a fixture."""

    plan: Plan
    statement: str
    examples: tuple[Test, ...]
    tests: tuple[Test, ...]


def task(rng: Random, steps: int, examples: int, tests: int) -> Task:
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
            return Task(plan, statement(plan), tuple(known[tests:]), tuple(hidden))


def solutions(plan: Plan) -> tuple[str, str]:
    """A short and a plain program for a task."""
    return program(plan, form="short"), program(plan)
