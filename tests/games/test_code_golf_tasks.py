"""Drawn tasks: both programs are right, no lazy one is, and none comes twice."""

from collections import Counter
from random import Random
from statistics import median
from typing import Any, NamedTuple

import pytest
from tests.offline import performed

from peerage.game.levels import LEVELS, SLOPE, USUAL_LEVEL
from peerage.game.programs.run_tests import same_output
from peerage.game.protocol import Ran, ran
from peerage.games.code_golf.house import _mistaken, golfer, ladder
from peerage.games.code_golf.tasks import GolfTask, golf_task
from peerage.games.numbers import KINDS, line, program, statement
from peerage.games.parts import RAISED, drawn_part, outputs

SEEDS = range(12)


def run(source: str, stdin: str) -> Ran:
    return ran(performed(source, stdin + "\n").text)


def passes(source: str, made: GolfTask) -> bool:
    return all(
        (done := run(source, given)).status == "ok" and same_output(done.stdout, wanted)
        for given, wanted in made.tests + made.examples
    )


def test_the_short_and_the_plain_program_of_every_part_agree() -> None:
    """They are written independently of each other; so each is a check of the other."""
    rng = Random("agree")
    steps = [name for name in KINDS if "print(" not in KINDS[name]["plain"]]
    for name in [*KINDS] * 10:
        names = [*rng.sample(steps, rng.randint(0, 1)), *([name, "list"] if name in steps else [name])]
        plan = [drawn_part(each, KINDS[each], rng) for each in dict.fromkeys(names)]
        inputs = ["5", "-3 -3", *[line(rng) for _ in range(6)]]
        printed = outputs(program(plan), inputs)
        assert printed == outputs(program(plan, form="short"), inputs), statement(plan)
        assert RAISED not in printed
        assert "@" not in statement(plan) + program(plan) + program(plan, form="short")
        assert "{{" not in program(plan)


@pytest.mark.parametrize("level", range(1, LEVELS + 1))
def test_each_program_of_the_ladder_is_right_and_shorter_and_no_lazy_or_mistaken_one_is(level: int) -> None:
    for seed in range(4):
        task = golf_task(Random(seed), level, 2, 6)
        programs = ladder(task.plan)
        assert len(programs) >= min(3 + level // 2, 5)
        assert [len(source) for source in programs] == sorted({len(source) for source in programs})[::-1]
        assert all(passes(source, task) for source in programs)
        lazy = ["print(input())", "", "print(0)", *(f"print({wanted!r})" for _, wanted in task.tests)]
        assert not any(passes(source, task) for source in lazy)
        wrong = [_mistaken(task, Random(at)) for at in range(4)]
        assert not any(passes(source, task) for source in wrong)
        without = [program([*task.plan[:at], *task.plan[at + 1 :]]) for at in range(len(task.plan) - 1)]
        assert not any(passes(source, task) for source in without)


def test_a_level_takes_its_share_of_effort_and_none_comes_twice() -> None:
    statements = set[str]()
    for level in range(1, LEVELS + 1):
        tasks = [golf_task(Random(f"{level}/{seed}"), level, 2, 6) for seed in range(16)]
        assert abs(median([task.difficulty for task in tasks]) - SLOPE * (level - USUAL_LEVEL)) < 0.4
        assert tasks[0] == golf_task(Random(f"{level}/0"), level, 2, 6)
        statements |= {task.statement for task in tasks if level > 3}
    assert len(statements) == 16 * (LEVELS - 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_tests_are_hidden_and_differ(seed: int) -> None:
    task = golf_task(Random(seed), 3, 2, 6)
    hidden = [given for given, _ in task.tests]
    assert len(set(hidden)) == len(hidden) == 6
    assert not {given for given, _ in task.examples} & set(hidden)
    assert any(" " not in given for given in hidden), "a single number is among the tests"
    assert max(Counter(wanted for _, wanted in task.tests).values()) <= 2


def test_house_programs_are_right_and_short_by_skill() -> None:
    tasks = [golf_task(Random(seed), 4, 2, 6) for seed in range(12)]

    def sizes(skill: float) -> tuple[int, int]:
        written = [(golfer(_Call(task), skill, Random(at)), task) for task in tasks for at in range(6)]
        assert all(source.isascii() for source, _ in written)
        return sum(passes(*each) for each in written), sum(len(source) for source, _ in written)

    right, bytes_of = zip(*[sizes(skill) for skill in (0.3, 0.8, 0.97)], strict=True)
    assert right[0] < right[1] < right[2]
    assert bytes_of[0] > bytes_of[1] > bytes_of[2]
    perfect = [golfer(_Call(task), 1.0, Random(1)) for task in tasks]
    assert perfect == [ladder(task.plan)[-1] for task in tasks]


class _Call(NamedTuple):
    oracle: Any
    key: str = ""
    role: Any = "contestant"
    messages: Any = ()
    max_tokens: int = 1_000
    expects: Any = None


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


@pytest.mark.parametrize("level", [1, 2, 3])
def test_neither_a_constant_nor_the_input_answers_most_tests(level: int) -> None:
    for seed in range(60):
        task = golf_task(Random(f"{level}/{seed}"), level, 2, 6)
        assert sum(given == wanted for given, wanted in task.tests) <= 2
        assert max([wanted for _, wanted in task.tests].count(wanted) for _, wanted in task.tests) <= 2
