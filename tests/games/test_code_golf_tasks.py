"""Drawn tasks: both programs are right, no lazy one is, and none comes twice."""

from random import Random

import pytest
from tests.offline import performed

from peerage.game.house import WRONG
from peerage.game.protocol import Ran, ran
from peerage.game.run_tests import same_output
from peerage.games.code_golf.play import GolfTask, solutions, task
from peerage.games.numbers import bugs, drawn, kinds, line, outputs, program, statement

SEEDS = range(12)


def run(source: str, stdin: str) -> Ran:
    return ran(performed(source, stdin + "\n").text)


def passes(source: str, made: GolfTask) -> bool:
    return all(
        (done := run(source, given)).status == "ok" and same_output(done.stdout, wanted)
        for given, wanted in made.tests + made.examples
    )


def test_the_short_and_the_plain_program_of_every_step_agree() -> None:
    """They are written independently of each other; so each is a check of the other."""
    seen = set()
    for seed in range(400):
        rng = Random(seed)
        plan = drawn(rng, 1 + seed % 4)
        inputs = ["5", "-3 -3", *[line(rng) for _ in range(8)]]
        said = outputs(program(plan), inputs)
        assert said == outputs(program(plan, form="short"), inputs), statement(plan)
        assert "an exception" not in said
        assert "@" not in statement(plan) + program(plan) + program(plan, form="short")
        seen.update(step.name for step in plan)
    assert seen == {*kinds()["steps"], *kinds()["endings"]}


def test_every_bug_changes_what_some_input_gives() -> None:
    rng = Random(1)
    inputs = [line(rng) for _ in range(300)]
    plans = [drawn(rng, 1) for _ in range(60)]
    found = [
        outputs(program(plan, [bug]), inputs) != outputs(program(plan), inputs)
        for plan in plans
        for bug in bugs(plan)
    ]
    assert sum(found) / len(found) > 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_both_programs_solve_the_task_and_lazy_ones_do_not(seed: int) -> None:
    made = task(Random(seed), 1 + seed % 4, 2, 8)
    short, plain = solutions(made.plan)
    assert passes(short, made)
    assert passes(plain, made)
    assert len(short) < len(plain)
    lazy = [*WRONG, *(f"print({wanted!r})" for _, wanted in made.tests)]
    assert not any(passes(one, made) for one in lazy)


@pytest.mark.parametrize("seed", SEEDS)
def test_tests_are_hidden_and_differ(seed: int) -> None:
    made = task(Random(seed), 2, 2, 5)
    hidden = [given for given, _ in made.tests]
    assert len(set(hidden)) == len(hidden) == 5
    assert not {given for given, _ in made.examples} & set(hidden)
    assert any(" " not in given for given in hidden), "a single number is among the tests"
    assert len({wanted for _, wanted in task(Random(seed), 2, 1, 2).tests}) == 2


def test_tasks_are_drawn_from_the_seed_and_none_comes_twice() -> None:
    made = [task(Random(seed), 2, 2, 4) for seed in range(300)]
    assert made[:20] == [task(Random(seed), 2, 2, 4) for seed in range(20)]
    assert len({one.statement for one in made}) >= 299


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("1 2\n", "1 2", True),
        ("1 2  \n3\n\n", "1 2\n3", True),
        ("1  2", "1 2", False),
        (" 1", "1", False),
        ("1\n\n2", "1\n2", False),
        ("", "", True),
    ],
)
def test_only_white_space_at_ends_does_not_count(printed: str, expected: str, same: bool) -> None:
    assert same_output(printed, expected) is same
