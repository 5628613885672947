"""The tasks of reasoning-gym that are on the list: each is what a puzzle must be.

They need the extra `puzzles`; without it the last tests alone run: one line says which extra is missing.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import pytest
from msgspec.structs import astuple
from tests.games.gym_solvers import SOLVERS
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.games.logic import GAME, play
from peerage.games.logic.gym import GYM_FAMILIES, HARDEST, TASKS, dataset, fenced
from peerage.games.logic.puzzles import ANSWER_CHARS, solves

needs_gym = pytest.mark.skipif(find_spec("reasoning_gym") is None, reason="needs the extra `puzzles`")
every_task = pytest.mark.parametrize("task", TASKS)
MANY = 60


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What the library warns of is its own matter."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def drawn(task: str, seeds: range = range(MANY), level: int = 3) -> list[tuple[str, str]]:
    draw = GYM_FAMILIES[f"reasoning-gym:{task}"]
    puzzles = [draw(Random(f"{seed}"), level) for seed in seeds]
    return [(puzzle.text, puzzle.answer) for puzzle in puzzles]


def unproven(task: str, count: int) -> list[str]:
    """The texts of so many puzzles of each level to which a solver finds another answer, several or none."""
    return [
        text
        for level in range(1, HARDEST + 1)
        for text, answer in drawn(task, range(count), level)
        for answers in [{str(answer) for answer in SOLVERS[task](text)}]
        if len(answers) != 1 or not solves(answers.pop(), answer)
    ]


@needs_gym
@every_task
def test_a_solver_of_its_text_finds_the_answer_and_no_other(task: str) -> None:
    assert unproven(task, 20) == []


@needs_gym
@every_task
@pytest.mark.slow
def test_a_solver_of_its_text_finds_the_answer_and_no_other_in_many(task: str) -> None:
    assert unproven(task, 100) == []


@needs_gym
def test_levels_above_the_hardest_take_it_and_say_so() -> None:
    puzzle = GYM_FAMILIES["reasoning-gym:spiral_matrix"](Random(1), 10)
    assert puzzle == GYM_FAMILIES["reasoning-gym:spiral_matrix"](Random(1), HARDEST)
    assert (puzzle.level, puzzle.difficulty) == (5, 1.4)


@needs_gym
@every_task
def test_each_level_is_larger_than_the_one_before(task: str) -> None:
    levels = [drawn(task, level=level) for level in range(1, HARDEST + 1)]
    sizes = [sum(len(text) + len(answer) for text, answer in level) for level in levels]
    assert sizes == sorted({*sizes})


def test_tasks_that_ask_for_what_cannot_be_are_not_on_the_list() -> None:
    assert not {"simple_geometry", "maze", "color_cube_rotation", "needle_haystack"} & TASKS.keys()
    assert TASKS.keys() == SOLVERS.keys()


def told_by(code: str, hashes: str) -> str:
    """What another process prints."""
    env = {**os.environ, "PYTHONHASHSEED": hashes}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@needs_gym
@every_task
def test_the_reference_answer_scores_full_and_junk_nothing(task: str) -> None:
    items = dataset(task, 3)
    for seed in range(MANY):
        text, answer = drawn(task, range(seed, seed + 1))[0]
        with fenced():
            item = items[Random(f"{seed}").randrange(10**9)]
        assert item["question"].strip() == text
        assert items.score_answer(item["answer"], item) == 1
        assert solves(item["answer"], answer), "the reference, as the library writes it"
        assert len(answer) <= ANSWER_CHARS
        for junk in (
            "",
            "?",
            "junk",
            "I do not know",
            "0.5",
            f"{answer} or so",
            "[]",
            "9" * 20,
        ):
            assert not solves(junk, answer)


@needs_gym
@every_task
def test_the_same_seed_gives_the_same_task_whatever_else_was_drawn(task: str) -> None:
    random.seed(1)
    np.random.seed(1)
    before, numpys = random.getstate(), np.random.get_state()
    first = drawn(task)
    assert random.getstate() == before
    assert str(np.random.get_state()) == str(numpys)
    random.seed(2)
    np.random.seed(2)
    assert drawn(task)[::-1] == drawn(task, range(MANY - 1, -1, -1)) == first[::-1]


@needs_gym
@every_task
def test_a_task_hardly_comes_twice_and_no_answer_is_right_too_often(task: str) -> None:
    found = drawn(task)
    answers = [answer for _, answer in found]
    assert len({*found}) == MANY
    assert max(map(answers.count, {*answers})) <= 0.4 * MANY


@needs_gym
def test_another_process_draws_the_same() -> None:
    """Neither the order of hashes nor the order of imports decides."""
    code = (
        "import json\nfrom msgspec.structs import astuple\nfrom random import Random\n"
        "from peerage.games.logic.gym import GYM_FAMILIES\n"
        "print(json.dumps([[*map(str, astuple(draw(Random('7'), 1)))] for draw in GYM_FAMILIES.values()]))"
    )
    told = told_by(code, "77")
    here = [[*map(str, astuple(draw(Random("7"), 1)))] for draw in GYM_FAMILIES.values()]
    assert json.loads(told) == here


@needs_gym
def test_importing_the_library_leaves_shared_randomness_alone() -> None:
    code = (
        "import random\nbefore = random.getstate()\nfrom random import Random\n"
        "from peerage.games.logic.gym import GYM_FAMILIES\n"
        "GYM_FAMILIES['reasoning-gym:chain_sum'](Random(1), 1)\nprint(random.getstate() == before)"
    )
    assert told_by(code, "0") == "True\n"


@needs_gym
def test_a_match_is_drawn_from_them() -> None:
    rules = GAME.rules(families=["reasoning-gym", "zebra"], puzzles=20)
    names = {one["family"] for number in range(1, 7) for one in GAME.draw(rules, "secret", number)["tasks"]}
    assert names == {*GYM_FAMILIES, "zebra"}
    assert GAME.needs.extra(rules) == ""


def test_without_the_extra_a_run_says_which_and_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "installed", lambda: False)
    stated = (
        "game: logic\nrules: {families: ['reasoning-gym:spiral_matrix']}\nplayers: [house:0.1, house:0.2]\n"
    )
    (tmp_path / "arena.yaml").write_text(stated, "utf-8")
    shown = CliRunner().invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "1"])
    assert shown.exit_code == 2
    assert 'pip install "peerage[puzzles]"' in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_our_own_families_need_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "installed", lambda: False)
    assert GAME.needs.extra(GAME.rules()) == ""
    assert GAME.needs.extra(GAME.rules(families=["reasoning-gym"])) == "puzzles"
    with pytest.raises(ValueError, match="did you mean 'reasoning-gym:spiral_matrix'"):
        GAME.rules(families=["reasoning-gym:spiral_matrixs"])
