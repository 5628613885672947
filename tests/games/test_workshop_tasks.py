"""Drawn tasks of workshops: what fails at first passes when the work is done, also in real processes."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.offline import tried_here

from peerage.game.programs.run_tests import same_output
from peerage.game.work import command_result
from peerage.games.parts import RAISED
from peerage.games.workshop.play import trial_run, verdicts
from peerage.games.workshop.rules import WorkshopRules
from peerage.games.workshop.tasks import CHECK, Reference, WorkTask, package, printed, work_task
from peerage.sandbox.folder import File
from peerage.testing.commands import commanded

RULES = WorkshopRules.model_validate({})


def task_of(level: int, seed: int = 0) -> tuple[WorkTask, Reference]:
    task = work_task(Random(f"{level}/{seed}"), level)
    assert task.reference is not None
    return task, task.reference


def done(made: Reference, *, without: int = 0) -> dict[str, File | None]:
    """The patch that does all of the work but the last few bugs or parts."""
    bugs = made.bugs[len(made.bugs) - without :] if without else ()
    lacking = made.lacking[len(made.lacking) - without :] if without else ()
    return {path: File(text) for path, text in package(made.parts, bugs, lacking).items()}


def passes(task: WorkTask, patch: dict[str, File | None]) -> list[bool]:
    return verdicts(task, command_result(commanded(trial_run("A", task, patch, RULES)).text))


@pytest.mark.parametrize("level", range(1, 11))
def test_tests_fail_before_and_pass_after(level: int) -> None:
    for seed in range(4):
        task, made = task_of(level, seed)
        given = [each for each, _ in made.tests]
        right = printed(given, made.parts)
        before = printed(given, made.parts, made.bugs, made.lacking)
        assert [expected for _, expected in made.tests] == right
        assert RAISED not in right
        fails = [at for at, old in enumerate(before) if not same_output(old, made.tests[at][1])]
        assert fails == list(made.failing)
        assert 0 < len(fails) < len(right)
        modules = [path for path in task.folder.files if path.startswith("program/")]
        assert 1 <= len(modules) <= 5
        assert made.level == level


def test_half_of_the_tasks_have_bugs_and_half_lack_parts() -> None:
    sorts = [bool(task_of(3, seed)[1].bugs) for seed in range(16)]
    assert 3 <= sum(sorts) <= 13


@pytest.mark.parametrize("level", [1, 4, 7, 10])
def test_real_processes_say_the_same(level: int) -> None:
    task, made = task_of(level, 1)
    assert passes(task, {}) == [at not in made.failing for at in range(len(made.tests))]
    assert all(passes(task, done(made)))
    main = package(made.parts)["main.py"]
    others: list[dict[str, File | None]] = [{path: None} for path in done(made)]
    others += [{"main.py": File(first + main)} for first in ("print(balance)\n", "from main import no\n")]
    for patch in ({}, done(made), done(made, without=1), *others):
        command = trial_run("A", task, patch, RULES)
        here, there = (command_result(ends(command).text) for ends in (tried_here, commanded))
        ended, real = ([json.loads(line) for line in each.output.splitlines()] for each in (here, there))
        assert [printed if code == 0 else "" for code, printed in real] == [printed for _, printed in ended]
        assert [code == 0 for code, _ in ended] == [code == 0 for code, _ in real]
        assert verdicts(task, here) == verdicts(task, there)


def test_half_of_the_work_passes_some_of_what_failed() -> None:
    for seed in range(3):
        task, made = task_of(8, seed)
        part = passes(task, done(made, without=1))
        gained = [at for at in made.failing if part[at]]
        assert 0 < len(gained) < len(made.failing)


def test_what_is_to_be_printed_is_nowhere_in_the_folder_and_examples_are_other_inputs() -> None:
    for level in (3, 9):
        task, made = task_of(level)
        assert task.tests is not None
        files = {**task.folder.files, **task.tests.files}
        shown = json.loads(files["examples.json"].text)
        assert not {given for given, _ in shown} & {given for given, _ in made.tests}
        assert json.loads(files[".hidden/inputs.json"].text) == [given for given, _ in made.tests]
        assert not any(path.startswith(".hidden") for path in task.folder.files)
        long = [text for _, text in made.tests if len(text) > 9 and text not in files["examples.json"].text]
        assert not [text for text in long for file in files.values() if text in file.text]


def test_a_contestant_can_run_the_examples(tmp_path: Path) -> None:
    task, made = task_of(5)

    def checked(files: dict[str, File | None]) -> tuple[int, list[str]]:
        for path, file in {**task.folder.files, **files}.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(file.text if file else "")
        ran = subprocess.run([sys.executable, "check.py"], cwd=tmp_path, capture_output=True, text=True)
        lines = [line for line in ran.stdout.splitlines() if line.startswith(("ok ", "not ok "))]
        return ran.returncode, lines

    assert task.check == CHECK
    code, lines = checked({})
    assert code == 1
    assert lines[0] == "not ok 1"
    assert lines[-1].startswith("ok ")
    assert checked(done(made)) == (0, [f"ok {at}" for at in range(1, len(lines) + 1)])


def test_a_program_that_never_ends_or_floods_fails_its_tests_alone() -> None:
    task, made = task_of(2)
    right = package(made.parts)["main.py"]
    flood = "while True:\n    print('x' * 999)\n"
    assert not any(passes(task, {"main.py": File(flood)}))
    first = made.tests[0][0]
    some = f"import io, sys\nread = sys.stdin.read()\nif read.strip() == {first!r}:\n    sys.exit(3)\n"
    some += "sys.stdin = io.StringIO(read)\n" + right
    came = passes(task, done(made) | {"main.py": File(some)})
    assert came == [False, *[True] * (len(made.tests) - 1)]
