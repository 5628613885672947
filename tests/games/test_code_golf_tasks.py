"""Every family of tasks: its two programs are right, and no lazy program is."""

from random import Random

import pytest
from tests.offline import performed

from peerage.games.code_golf.house import WRONG
from peerage.games.code_golf.tasks import FAMILIES, Task, solutions, task
from peerage.games.run_tests import same_output
from peerage.protocol import Ran, ran


def run(source: str, stdin: str) -> Ran:
    return ran(performed(source, stdin + "\n").text)


def passes(source: str, made: Task) -> bool:
    return all(
        (done := run(source, given)).status == "ok" and same_output(done.stdout, wanted)
        for given, wanted in made.tests + made.examples
    )


def drawn(name: str, seed: int, **sizes: int) -> Task:
    return task(Random(f"{name}/{seed}"), [name], **{"examples": 2, "tests": 8, **sizes})


def test_there_are_at_least_twenty_families() -> None:
    assert len(FAMILIES) >= 20


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", range(4))
def test_both_programs_solve_the_task_and_lazy_ones_do_not(name: str, seed: int) -> None:
    made = drawn(name, seed)
    programs = solutions(name, made.params)
    assert programs is not None
    short, plain = programs
    assert passes(short, made)
    assert passes(plain, made)
    assert len(short) < len(plain)
    assert "@" not in made.statement + short + plain
    lazy = [*WRONG, *(f"print({wanted!r})" for _, wanted in made.tests)]
    assert not any(passes(program, made) for program in lazy)


@pytest.mark.parametrize("name", FAMILIES)
def test_tests_are_hidden_and_differ(name: str) -> None:
    made = drawn(name, 1, tests=5)
    shown = {given for given, _ in made.examples}
    hidden = [given for given, _ in made.tests]
    assert len(set(hidden)) == len(hidden) == 5
    assert not shown & set(hidden)
    assert set(FAMILIES[name].edges) <= {*shown, *hidden}


def test_tasks_are_drawn_from_the_seed_and_seldom_alike() -> None:
    names = list(FAMILIES)
    made = [task(Random(seed), names, 2, 4) for seed in range(60)]
    assert made == [task(Random(seed), names, 2, 4) for seed in range(60)]
    assert len({(one.family, tuple(one.params.items()), one.tests) for one in made}) == 60
    assert len({one.family for one in made}) > 15


@pytest.mark.parametrize("name", FAMILIES)
def test_a_constant_that_fits_two_tests_is_still_wrong(name: str) -> None:
    for seed in range(20):
        assert len({wanted for _, wanted in drawn(name, seed, tests=2).tests}) == 2


def test_the_largest_task_is_drawn_of_families_with_so_many_inputs() -> None:
    """`stairs` has twelve inputs; all others have enough for every task that settings allow."""
    for name in set(FAMILIES) - {"stairs"}:
        assert len(drawn(name, 1, examples=10, tests=50).tests) == 50
    assert {task(Random(seed), ["stairs", "fizz"], 10, 50).family for seed in range(8)} == {"fizz"}
    assert len(drawn("stairs", 1, examples=2, tests=10).tests) == 10
    with pytest.raises(
        ValueError, match="stairs has fewer different inputs than 13 examples and hidden tests"
    ):
        drawn("stairs", 1, examples=2, tests=11)


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
