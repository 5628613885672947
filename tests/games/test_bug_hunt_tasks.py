"""Drawn hunts: each bug is one wrong slot, and tests say which bugs a version has, whatever the others."""

import json
from itertools import chain, combinations
from random import Random
from statistics import median
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.offline import performed

from peerage.game.levels import LEVELS, SLOPE, USUAL_LEVEL, chance
from peerage.game.programs.run_tests import same_output
from peerage.game.protocol import ran
from peerage.games.bug_hunt.house import repairer
from peerage.games.bug_hunt.tasks import BUGS, JOINT, BuggyTask, buggy, family_of


def passed(source: str, task: BuggyTask) -> set[int]:
    """The tests that a program passes."""
    printed = [ran(performed(source, given + "\n").text).stdout for given, _ in task.tests]
    return {at for at, (_, wanted) in enumerate(task.tests) if same_output(printed[at], wanted)}


def version(task: BuggyTask, has: tuple[int, ...]) -> str:
    return family_of(task.parts).program(task.parts, [task.bugs[bug] for bug in has])


def wrong(task: BuggyTask, has: tuple[int, ...]) -> set[int]:
    """The tests that a version with these bugs shall fail."""
    joint = [(test,) for first, second, test in task.joint if {first, second} & {*has}]
    return set(chain(*[task.witnesses[bug] for bug in has], *joint))


@pytest.mark.parametrize("level", range(1, LEVELS))
def test_tests_say_which_bugs_a_version_has_whatever_the_others(level: int) -> None:
    for seed in range(3):
        task = buggy(Random(seed), level)
        bugs, everything = range(BUGS[level - 1]), set(range(len(task.tests)))
        assert len(task.bugs) == len(task.witnesses) == len(bugs)
        assert len(task.joint) == JOINT[level - 1]
        assert len({bug for first, second, _ in task.joint for bug in (first, second)}) == 2 * len(task.joint)
        assert everything.difference(*task.goals), "there is a guard"
        assert len(task.tests) <= 14
        for has in chain(*(combinations(bugs, size) for size in range(len(bugs) + 1))):
            if len(bugs) < 6 or len(has) in (0, 1, len(bugs) - 1, len(bugs)) or sum(has) % 7 == seed:
                assert everything - passed(version(task, has), task) == wrong(task, has)
        assert task.source == version(task, tuple(bugs))


@pytest.mark.parametrize("level", [1, 2, 4])
def test_who_prints_the_same_whatever_it_reads_has_no_point(level: int) -> None:
    for seed in range(30):
        task = buggy(Random(f"same/{seed}"), level)
        printed = [wanted for _, wanted in task.tests]
        guards = {*range(len(printed))}.difference(*task.goals)
        assert all(len({printed[at] for at in guards.union(goal)}) > 1 for goal in task.goals)


def test_hunts_of_the_hardest_level_are_long_and_each_bug_that_is_left_makes_tests_fail() -> None:
    for seed in range(20):
        task = buggy(Random(f"hardest/{seed}"), LEVELS)
        bugs = range(len(task.bugs))
        lines = [line for line in task.source.split("\n") if line.strip()]
        assert 95 < len(lines) < 160
        assert len(task.statement + task.source) < 9_500
        assert task.source.count("\ndef ") >= 15
        versions = [*combinations(bugs, 1), *[pair[:2] for pair in task.joint], tuple(bugs)]
        assert passed(version(task, ()), task) == set(range(len(task.tests)))
        for has in versions:
            assert set(range(len(task.tests))) - passed(version(task, has), task) == wrong(task, has)


def test_a_level_takes_its_share_of_effort() -> None:
    for level in range(1, LEVELS + 1):
        hard = [buggy(Random(f"{level}/{seed}"), level).difficulty for seed in range(8)]
        assert abs(median(hard) - SLOPE * (level - USUAL_LEVEL)) < 0.4


def test_hunts_follow_from_the_seed_and_differ() -> None:
    tasks = [buggy(Random(seed), 4) for seed in range(20)]
    assert tasks[:5] == [buggy(Random(seed), 4) for seed in range(5)]
    assert len({task.statement for task in tasks}) == 20
    for task in tasks:
        assert msgspec.convert(json.loads(msgspec.json.encode(task)), BuggyTask) == task


class Call(NamedTuple):
    oracle: Any
    key: str = ""
    role: Any = "contestant"
    messages: Any = ()
    max_tokens: int = 1_000
    expects: Any = None


def test_a_house_player_repairs_all_by_the_chance_of_its_skill() -> None:
    task = buggy(Random(1), 6)
    for skill in (0.9, 0.97):
        replies = [repairer(Call(task), skill, Random(f"{skill}/{at}")) for at in range(400)]
        right = [source for source in replies if passed(source, task) == set(range(len(task.tests)))]
        assert abs(len(right) / 400 - chance(skill, task.difficulty)) < 0.08
    assert repairer(Call(task), 1.0, Random(1)) == version(task, ())
    assert repairer(Call(task), 0.0, Random(1)) == task.source
