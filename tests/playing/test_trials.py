"""Wrong commands of an owner's tasks are found before anybody is asked, by a run and by the doctor."""

from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import write_arena
from tests.games.test_workshop_forged import RIGHT, TEST, WRONG
from tests.settings.test_work_tasks import committed, git

import peerage.engine.calls.programs as programs
from peerage.arena import ArenaError, open_arena
from peerage.cli.begin import doctor
from peerage.game.work import CommandResult, ShellCommand, command_result
from peerage.players.checks import Probed
from peerage.playing import players, trials
from peerage.sandbox.program import SandboxUnavailable
from peerage.testing.commands import commanded


@pytest.fixture(autouse=True)
def commands(monkeypatch: pytest.MonkeyPatch) -> list[ShellCommand]:
    """The commands that were run, without a jail: they are all ours."""
    ran: list[ShellCommand] = []

    async def run(self: Any, command: ShellCommand) -> CommandResult:
        ran.append(command)
        return command_result(commanded(command, self._base).text)

    monkeypatch.setattr(programs.Programs, "_commanded", run)
    monkeypatch.setattr(trials, "lacking", lambda: "")
    return ran


def arena(folder: Path, **more: Any) -> Path:
    """An arena whose tasks are the newest commits of a repository: one adds, and one changes nothing."""
    repo = folder / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    committed(repo, "first", calc_py=WRONG)
    committed(repo, "Add adds", calc_py=RIGHT, checks__test_adding_py=TEST)
    committed(repo, "Say more", calc_py=f"{RIGHT}# adds\n", checks__test_adding_py=f"{TEST}#\n")
    return stated(folder, **more)


def stated(folder: Path, players: Any = 2, probe: bool = False, **more: Any) -> Path:
    tasks = {"repo": "repo", "command": "python3 -m unittest {tests}", **more}
    return write_arena(folder, players, game="workshop", rules={"tasks": tasks}, engine={"probe": probe})


def why(folder: Path) -> list[str]:
    """The reasons why a run is refused, which the doctor says, too."""
    with open_arena(folder) as opened, pytest.raises(ArenaError) as caught:
        opened.run(1)
    said = str(caught.value).split("\n")
    found = [one for one in doctor.examine(folder) if one.what == "tasks"]
    assert [(one.state, one.about) for one in found] == [("broken", line) for line in said]
    return said


def test_a_task_that_tells_nobody_apart_is_named_and_those_that_do(tmp_path: Path) -> None:
    folder = arena(tmp_path)
    same, adds = git(folder / "repo", "log", "--format=%h", "--abbrev=10", "-2").split()
    wrong, right = why(folder)
    begin = f"arena.yaml: task {same} (Say more): `python3 -m unittest checks/test_adding.py` passes before"
    assert wrong.startswith(
        f"{begin} anybody has worked, so it tells nobody apart; leave the task out (exit co"
    )
    alone = f'`commits: ["{adds}"]`'
    assert right == f"arena.yaml: nothing is wrong with {adds}; of past commits, {alone} takes these alone"


def test_a_command_that_takes_too_long_is_told_what_gives_it_more(tmp_path: Path) -> None:
    arena(tmp_path)
    tasks = {"repo": "repo", "commits": ["HEAD^"], "command": "sleep 9"}
    [said] = why(write_arena(tmp_path, 2, game="workshop", rules={"tasks": tasks, "command_seconds": 0.1}))
    assert said.endswith("(its 0.1 s were up, of which `command_seconds` gives it more)")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "no-such-runner {tests}",
            "its program is not found; install it, activate its environment, or correct `c",
        ),
        (
            "python3 -m unittest nothing",
            "fails on the commit's own files; correct `command` or `setup`, or name other",
        ),
        ("! grep -q ' - ' calc.py", "passes when hidden tests fail; let it run these, by `{tests}`"),
        (
            "false",
            "`false` fails on the commit's own files; correct `command` or `setup`, or name other `com",
        ),
    ],
)
def test_a_wrong_command_is_said_with_its_task_and_what_to_do(
    tmp_path: Path, command: str, words: str
) -> None:
    arena(tmp_path)
    [said] = why(stated(tmp_path, commits=["HEAD^"], command=command))
    assert said.startswith("arena.yaml: task ")
    assert " (Add adds): " in said
    assert words in said


def test_a_program_that_is_not_there_may_be_what_a_task_lacks(tmp_path: Path) -> None:
    folder, command = arena(tmp_path), "{ test -e tool || no-such-tool; } && ! grep raise checks/test_tool.py"
    own = [{"statement": "Add a tool.", "files": {"a": "1"}, "tests": {"b": "1"}, "command": command}]
    (wrong,) = why(write_arena(folder, 2, game="workshop", rules={"tasks": own}))
    assert wrong.startswith("arena.yaml: task 1 (Add a tool.): its program is not found; install it")
    committed(folder / "repo", "Add a tool", tool="exit 0\n", checks__test_tool_py="1\n")
    with open_arena(stated(folder, commits=["HEAD"], command=command)) as opened:
        assert opened.run(1).settled == 1


def test_nobody_is_probed_before_commands_were_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def probed(asked: Any, *_: object, **__: object) -> dict[str, Probed]:
        raise AssertionError("a probe is paid")

    monkeypatch.setattr(players, "probe_players", probed)
    paid = [
        {"name": name, "model": "http:http://localhost:9/", "price": {"input": 1, "output": 1}}
        for name in "ab"
    ]
    folder = stated(arena(tmp_path), paid, probe=True, commits=["HEAD^"], command="false")
    with open_arena(folder) as opened, pytest.raises(ArenaError, match="fails on the commit's own files"):
        opened.run(1)
    folder = stated(tmp_path, paid, probe=True, commits=["HEAD^"])
    with open_arena(folder) as opened, pytest.raises(AssertionError, match="is paid"):
        opened.run(1)


def test_what_was_tried_is_tried_again_only_in_another_environment(
    tmp_path: Path, commands: list[ShellCommand], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = arena(tmp_path, commits=["HEAD^"])

    def keys(matches: int) -> list[str]:
        commands.clear()
        with open_arena(folder) as opened:
            opened.run(matches)
            assert opened.verify().ok
        return [one.key for one in commands if one.key.rpartition("/")[2] in ("start", "solved", "control")]

    tried = ["tests/start", "tests/solved", "tests/control"]
    assert keys(1) == tried
    assert keys(2) == []
    monkeypatch.setenv("PATH", f"/nowhere:{doctor.os.environ['PATH']}")
    assert keys(2) == [], "nothing is left to play"
    assert keys(3) == tried
    found = [one for one in doctor.examine(folder) if one.what == "tasks"]
    assert [(one.state, one.about) for one in found] == [("ok", "the tests of 1 task were tried")]


def test_commands_that_cannot_be_tried_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> CommandResult:
        raise errors[0]

    errors: list[Exception] = [SandboxUnavailable("Argument list too long")]
    folder = arena(tmp_path, commits=["HEAD^"])
    monkeypatch.setattr(programs.Programs, "_commanded", broken)
    assert why(folder) == ["arena.yaml: the commands of its tasks cannot be tried: Argument list too long"]
    errors[0] = programs._Failed("/r has no commit 'abc'")
    assert why(folder)[0].endswith("(Add adds): sandbox_error: /r has no commit 'abc'")
    monkeypatch.setattr(trials, "lacking", lambda: "no Landlock")
    assert not trials.trials_of(open_arena(folder).settings)
