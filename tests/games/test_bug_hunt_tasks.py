"""Drawn hunts: each bug is one wrong slot, proven by running all versions of the program."""

import json
from itertools import chain, combinations
from random import Random

import msgspec
import pytest
from tests.offline import performed

from peerage.game.protocol import ran
from peerage.game.run_tests import same_output
from peerage.games.bug_hunt.tasks import BuggyTask, buggy, repairs
from peerage.games.numbers import program


def passed(source: str, task: BuggyTask) -> set[int]:
    """The tests that a program passes."""
    said = [ran(performed(source, given + "\n").text).stdout for given, _ in task.tests]
    return {at for at, (_, wanted) in enumerate(task.tests) if same_output(said[at], wanted)}


@pytest.mark.parametrize("bugs", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_a_witness_tells_its_bug_whatever_the_others_do_and_guards_pass(seed: int, bugs: int) -> None:
    task = buggy(Random(seed), 3, bugs)
    assert len(task.bugs) == len(task.witnesses) == bugs
    assert len({bug[:2] for bug in task.bugs}) == bugs
    everything = set(range(len(task.tests)))
    guards = everything.difference(*task.witnesses)
    assert guards
    for has in chain(*(combinations(range(bugs), size) for size in range(bugs + 1))):
        failed = everything - passed(program(task.plan, [task.bugs[bug] for bug in has]), task)
        assert failed == set(chain(*(task.witnesses[bug] for bug in has)))
    assert task.source == program(task.plan, task.bugs)


def test_hunts_follow_from_the_seed_and_differ() -> None:
    made = [buggy(Random(seed), 4, 2) for seed in range(30)]
    assert made[:5] == [buggy(Random(seed), 4, 2) for seed in range(5)]
    assert len({one.statement for one in made}) == 30
    for one in made:
        assert msgspec.convert(json.loads(msgspec.json.encode(one)), BuggyTask) == one
        assert len({*repairs(one), one.source}) == 3
