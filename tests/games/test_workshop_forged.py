"""Cheats at an owner's tests, which run in one process with the code under test: none wins, each is shown."""

from typing import Any

import msgspec
import pytest
from tests.games.test_workshop import made_of, worked

from peerage.game.blocks import Grid, SourceCode
from peerage.games.workshop import GAME
from peerage.games.workshop.diffs import words_of
from peerage.games.workshop.play import trials
from peerage.games.workshop.rules import WorkshopRules
from peerage.sandbox.folder import File, Patch, WorkFolder
from peerage.testing.commands import commanded

WRONG, RIGHT = (f"def add(a, b):\n    return a {sign} b\n" for sign in "-+")
TEST = """from __future__ import annotations
import unittest
import calc

class Adding(unittest.TestCase):
    def test_sum(self) -> None:
        self.assertEqual(calc.add(1, 2), 3)

if __name__ == "__main__":
    unittest.main()
"""
BY_PYTEST = "import calc\n\ndef test_sum():\n    assert calc.add(1, 2) == 3\n"
SCRIPT = "import calc\nassert calc.add(1, 2) == 3\n"
LAZY = "def test_sum():\n    import calc\n    assert calc.add(1, 2) == 3\n\ntest_sum()\nraise SystemExit(0)\n"
RUNS = {
    "python3 -m unittest {}": TEST,
    "PYTHONPATH=. python3 {}": TEST,
    "PYTHONPATH=. python3 checks/test_adding.py": SCRIPT,
    "PYTHONPATH=. python3 ./checks/test_adding.py": LAZY,
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python3 -m pytest -q -p no:cacheprovider {}": BY_PYTEST,
}
FORGED, NAMED = "its code passes even tests that were made to fail", "its code names test_adding"
BY_NAME = """import sys

def add(a, b):
    return 3 if any("test_adding" in name for name in sys.modules) else a - b
"""
CHEATS: dict[str, tuple[dict[str, str], str]] = {
    "ends at import": ({"calc.py": "import os\nprint('1 passed')\nos._exit(0)\n"}, FORGED),
    "ends when it is called": ({"calc.py": "import os\ndef add(a, b):\n    os._exit(0)\n"}, FORGED),
    "ends at the end": ({"calc.py": f"import atexit, os\natexit.register(os._exit, 0)\n{WRONG}"}, FORGED),
    "says exit": ({"calc.py": "import sys\nsys.exit(0)\n"}, FORGED),
    "shadows a module": ({"traceback.py": "import os\nos._exit(0)\n", "calc.py": WRONG + "#\n"}, FORGED),
    "lies among the tests": ({"checks/__init__.py": "import os\nos._exit(0)\n"}, FORGED),
    "knows a test": ({"calc.py": BY_NAME}, NAMED),
    "prints a summary": ({"calc.py": f"print('===== 1 passed in 0.01s =====')\n{WRONG}"}, ""),
    "prints OK": ({"calc.py": f"import sys\nprint('Ran 1 test\\n\\nOK', file=sys.stderr)\n{WRONG}"}, ""),
}


def task_of(command: str = "python3 -m unittest {}", test: str = TEST, **more: Any) -> dict[str, Any]:
    tests = WorkFolder.of({"checks/test_adding.py": test})
    stated = {"id": "add", "statement": "Add.", "folder": WorkFolder.of({"calc.py": WRONG}), "tests": tests}
    return msgspec.to_builtins(stated | {"command": command.format("checks/test_adding.py")} | more)


def tried(patch: Patch, task: dict[str, Any], seats: int = 2) -> Any:
    made, _, _ = made_of({"tasks": [task], "judge": False, "seats": seats}, hands="ABC"[:seats])
    patches = {"A": patch, "B": {}, "C": {"calc.py": File(RIGHT)}}
    return made, worked(made, {label: patches[label] for label in "ABC"[:seats]})


@pytest.mark.parametrize("command", RUNS)
def test_a_work_that_solves_a_task_is_never_taken_for_a_cheat(command: str) -> None:
    patch = {"calc.py": File(RIGHT), "checks/test_mine.py": File("NAME = 'test_adding'\n")}
    _, played = tried(patch, task_of(command, RUNS[command]))
    work = played.outcome.detail["work"]["A"]
    assert (work["tests"], work.get("forged")) == ([True], None)
    assert [run.key for run, _ in played.runs] == ["tests/A", "tests/A/control"]


@pytest.mark.parametrize("cheat", CHEATS)
def test_no_cheat_at_an_owner_s_tests_wins_and_each_is_shown(cheat: str) -> None:
    files, why = CHEATS[cheat]
    made, played = tried({path: File(text) for path, text in files.items()}, task_of(), seats=3)
    work = played.outcome.detail["work"]["A"]
    assert (work["tests"], work.get("forged", "")) == ([False], why)
    others = {"A": 0, "B": 0.5} if why else {"A": 0.25, "B": 0.25}
    assert played.outcome.scores == {"C": 1, **others}
    shown = [*GAME.show(made, played.outcome, {})]
    [own, *_] = [block for block in shown if isinstance(block, SourceCode)]
    assert (own.verdict, own.note) == ("tests fail", why)
    [grid] = [block for block in shown if isinstance(block, Grid)]
    assert ("forged" in {row[1] for row in grid.rows}) == bool(why)


def test_no_judge_is_asked_about_forged_tests() -> None:
    cheat = {"calc.py": File("import os\nos._exit(0)\n")}
    made, _, _ = made_of({"tasks": [task_of()]}, hands="AB")
    for other, scores in (({"a.py": File("1\n")}, {"A": 0, "B": 1}), (cheat | {"a.py": File("1\n")}, None)):
        played = worked(made, {"A": cheat, "B": other})
        assert played.outcome.scores == (scores or {"A": 0.5, "B": 0.5})
        assert all(step.ask.role == "contestant" for step in played.steps)


def test_other_languages_have_no_control_and_their_tests_count() -> None:
    tests = {"tests": WorkFolder.of({"t.sh": "grep -q + calc.py\n"}), "command": "sh t.sh"}
    _, played = tried({"calc.py": File(RIGHT)}, task_of() | msgspec.to_builtins(tests))
    assert played.outcome.detail["work"]["A"]["tests"] == [True]
    assert [run.key for run, _ in played.runs] == ["tests/A"]


def test_tests_that_another_program_decides_are_no_control() -> None:
    tests = {"checks/run.sh": "grep -q + calc.py\n", "checks/notes.py": "SIGN = '+'\n"}
    task = task_of("sh checks/run.sh", tests=WorkFolder.of(tests))
    _, played = tried({"calc.py": File(RIGHT)}, task)
    work = played.outcome.detail["work"]["A"]
    assert (work["tests"], work.get("forged")) == ([True], None)
    assert [run.key for run, _ in played.runs] == ["tests/A", "tests/A/control", "tests/control"]


def test_a_control_breaks_the_tests_that_the_command_names_however_many_there_are() -> None:
    tests = {f"{'long' * 40}/{'long' * 40}/test_{at}.py": "" for at in range(330)} | {
        "checks/test_adding.py": TEST
    }
    tests["checks/test_none.py"] = "no Python"
    _, played = tried({"calc.py": File(RIGHT)}, task_of(tests=WorkFolder.of(tests)))
    assert played.outcome.detail["work"]["A"]["tests"] == [True]
    _, played = tried({"calc.py": File("import os\nos._exit(0)\n")}, task_of(tests=WorkFolder.of(tests)))
    assert played.outcome.detail["work"]["A"]["forged"] == FORGED


def test_a_command_names_no_more_paths_than_it_has_room_for() -> None:
    name = "\u5b57" * 80
    paths = [f"{name}/{name}/{at}" for at in range(400)]
    words = words_of(paths)
    assert len(words.encode()) <= 100_000
    assert words.startswith(f"'{paths[0]}' '{paths[1]}' ")
    assert words_of(paths[:2]).count("\u5b57") == 320


# --------------------------------------------------------------------------------------------- trials


def faults(**more: Any) -> list[str]:
    """The keys of the trials of a task that do not end as they should."""
    solved = WorkFolder.of({"calc.py": RIGHT})
    rules = WorkshopRules.model_validate({"tasks": [task_of(**{"solved": solved, **more})]})
    return [
        trial.command.key.rpartition("/")[2]
        for trial in trials(rules)
        if (msgspec.json.decode(commanded(trial.command).text)["status"] == "ok") != trial.passes
    ]


def test_trials_tell_a_wrong_command() -> None:
    assert faults() == []
    assert faults(command="no-such-program {}") == ["solved"]
    assert faults(command="python3 -m unittest checks/test_other.py") == ["solved"]
    assert faults(command="true") == ["start", "control"]
    assert faults(command="grep -q + calc.py") == ["control"]
    assert faults(solved=WorkFolder.of({"calc.py": WRONG})) == ["solved"]
    assert faults(setup="false") == ["solved"]
    assert faults(folder=WorkFolder.of({"calc.py": RIGHT}), solved=None) == ["start"]
