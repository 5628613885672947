"""Every bug of every hunt, proven again by running all versions of the program."""

import json
from random import Random

import pytest
from tests.games.make_bug_hunts import printed, prove

from peerage.games.bug_hunt.mutations import KINDS, Bug, applied, mutations
from peerage.games.bug_hunt.tasks import bases, buggy, grounds, repairs
from peerage.games.run_tests import same_output


def test_there_are_twenty_programs_and_ten_kinds_of_bugs() -> None:
    assert set(grounds()) <= set(bases())
    assert len([name for name, ground in grounds().items() if ground.hunts]) >= 20
    kinds = {bug[0] for ground in grounds().values() for hunt in ground.hunts for bug in hunt.bugs}
    assert len(kinds) >= 10
    assert kinds <= set(KINDS)


@pytest.mark.parametrize("name", sorted(grounds()))
def test_every_bug_is_proven(name: str) -> None:
    base, ground = bases()[name], grounds()[name]
    assert [given for given, _ in ground.tests] == list(base.inputs)
    for given, wanted in ground.tests:
        assert same_output(printed(base.source, given) or "", wanted)
    possible = set(mutations(base.source))
    for hunt in ground.hunts:
        bugs = [Bug(*edit) for edit in hunt.bugs]
        assert set(bugs) <= possible
        witnesses, guards = prove(base.source, bugs, ground.tests)
        assert [tuple(found) for found in witnesses] == list(hunt.witnesses)
        assert tuple(guards) == hunt.guards
        assert all(witnesses)
        assert guards


def test_a_drawn_task_is_its_programs_text_with_its_bugs() -> None:
    seen = set()
    for seed in range(80):
        task = buggy(Random(seed), 1 + seed % 3)
        assert task == buggy(Random(seed), 1 + seed % 3)
        assert 1 <= len(task.bugs) <= 1 + seed % 3
        assert task.source != bases()[task.program].source
        fixed = repairs(task)
        assert fixed is not None
        assert fixed[0] == bases()[task.program].source
        assert len({*fixed, task.source}) == len(task.bugs) + 1
        assert json.loads(json.dumps(task.tests)) == [list(test) for test in task.tests]
        seen.add(task.program)
    assert len(seen) >= 15


def test_mutations_are_single_edits_that_still_compile() -> None:
    for base in bases().values():
        for bug in mutations(base.source):
            changed = applied(base.source, [bug])
            assert changed != base.source, bug
            compile(changed, "program.py", "exec")
    assert {bug.kind for base in bases().values() for bug in mutations(base.source)} == set(KINDS)
