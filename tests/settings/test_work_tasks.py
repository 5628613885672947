"""The owner's tasks of workshops: past commits and folders become values, and mistakes are said."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from peerage.game.protocol import Ask, Reply
from peerage.game.work import command_result
from peerage.games.workshop import GAME
from peerage.games.workshop.diffs import counting
from peerage.games.workshop.play import trial_run, verdicts
from peerage.games.workshop.rules import WorkshopRules
from peerage.games.workshop.tasks import WorkTask
from peerage.sandbox.folder import File, patch_text
from peerage.sandbox.native.repositories import files_at
from peerage.settings.reading import loads
from peerage.settings.source import SettingsError
from peerage.testing.commands import commanded
from peerage.testing.offline import fixture, play

COMMAND = "python3 tests/test_new.py"
OLD = "from pathlib import Path\nassert 'a - b' in Path('calc.py').read_text()\n"
NEW = "from pathlib import Path\nassert 'a + b' in Path('calc.py').read_text()\n"


def git(repo: Path, *words: str) -> str:
    who = ("-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    ran = subprocess.run(["git", *who, "-C", repo, *words], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


def committed(repo: Path, message: str, **files: str | None) -> str:
    for name, text in files.items():
        path = repo / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(exist_ok=True)
        path.unlink() if text is None else path.write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", message)
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    committed(path, "first", calc_py="a - b\n", tests__test_old_py=OLD, conftest_py="1\n")
    return path


def tasks_of(base: Path, tasks: Any) -> list[Any]:
    players = [{"model": f"house:0.{at}"} for at in (3, 6)]
    stated = msgspec.json.encode({"game": "workshop", "rules": {"tasks": tasks}, "players": players})
    rules = loads(stated.decode(), folder=base).lineup["workshop"].rules
    return list(WorkshopRules.model_validate(rules).tasks)


def refused(base: Path, tasks: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        tasks_of(base, tasks)
    return str(caught.value)


def solved(base: Path, task: WorkTask, patch: Mapping[str, File | None]) -> bool:
    run = trial_run("A", task, patch, WorkshopRules.model_validate({}))
    return verdicts(task, command_result(commanded(run, base).text)) == [True]


def test_a_past_commit_is_a_task_with_its_parent_as_the_start_and_its_tests_hidden(repo: Path) -> None:
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW, tests__test_old_py=None)
    [own] = tasks_of(repo.parent, {"repo": "repo", "commits": [calc[:12]], "command": COMMAND})
    task = msgspec.convert(own, WorkTask)
    assert task.id == calc[:10]
    assert task.statement == "Add adds"
    assert task.tests is not None
    assert task.folder.commit == git(repo, "rev-parse", f"{calc}^")
    assert {*task.hidden} == {"tests/test_new.py", "tests/test_old.py", "conftest.py"}
    assert not solved(repo.parent, task, {})
    assert solved(repo.parent, task, {"calc.py": File("a + b\n")})
    assert not solved(repo.parent, task, {"tests/test_new.py": File("1\n")})


def test_tests_and_their_settings_that_a_commit_removed_are_not_run(repo: Path) -> None:
    command = "! ls tests/test_old.py conftest.py && python3 tests/test_new.py"
    gone: dict[str, str | None] = {"tests__test_old_py": None, "conftest_py": None}
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW, **gone)
    [own] = tasks_of(repo.parent, {"repo": "repo", "commits": [calc], "command": command})
    task = msgspec.convert(own, WorkTask)
    assert solved(repo.parent, task, {"calc.py": File("a + b\n")})
    kept = counting({"conftest.py": File("2\n"), "tests/test_old.py": File("1\n")}, task)
    assert kept == ({}, ["conftest.py", "tests/test_old.py"])


def test_a_large_repository_s_commit_that_removes_a_test_is_a_task(repo: Path) -> None:
    for at in range(200):
        (repo / f"{at:0100}.py").write_text("")
    committed(repo, "many", tests__test_gone_py="1")
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW, tests__test_gone_py=None)
    [own] = tasks_of(repo.parent, {"repo": "repo", "commits": [calc], "command": COMMAND})
    assert len(msgspec.json.encode(own)) < 2_000
    assert solved(repo.parent, msgspec.convert(own, WorkTask), {"calc.py": File("a + b\n")})


def test_commits_are_tasks_once_and_issues_go_with_their_commits(repo: Path) -> None:
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW)
    git(repo, "tag", "v2")
    stated: dict[str, Any] = {"repo": "repo", "command": COMMAND, "issues": {calc[:9]: "Add."}}
    for commits in ([calc, "v2", calc[:7]], 3, "v2"):
        [own] = tasks_of(repo.parent, stated | {"commits": commits})
        assert (own["id"], own["statement"]) == (calc[:10], "Add.")
    first = git(repo, "rev-parse", "HEAD^")
    assert "has no commit 'nope'" in refused(repo.parent, stated | {"issues": {"nope": "Add."}})
    with_change = committed(repo, "Later", calc_py="a+b\n", tests__test_new_py=f"{NEW}#\n")
    said = refused(repo.parent, stated | {"commits": [with_change]})
    assert f"issues: {calc[:10]} is not among the commits of this task" in said
    assert "is the first of its repository" in refused(repo.parent, stated | {"issues": {first: "x"}})
    said = refused(repo.parent, stated | {"issues": {calc: " "}})
    assert f"commit {calc[:10]} has no message; say what to do by `issues: {{{calc[:10]}: TEXT}}`" in said


def test_without_commits_the_newest_eight_that_change_tests_and_something_else_are_tasks(repo: Path) -> None:
    for at in range(10):
        committed(repo, f"Change {at}", calc_py=f"{at}\n", tests__test_new_py=f"{NEW}# {at}\n")
    git(repo, "commit", "-q", "--amend", "--allow-empty-message", "-m", "")
    found = tasks_of(repo.parent, {"repo": "repo", "command": COMMAND})
    assert [task["statement"] for task in found] == [f"Change {at}" for at in range(8, 0, -1)]


def test_a_shallow_clone_says_how_it_is_completed(repo: Path) -> None:
    committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW)
    git(repo.parent, "clone", "-q", "--depth", "1", repo.as_uri(), "clone")
    for commits in (8, ["HEAD"]):
        said = refused(repo.parent, {"repo": "clone", "commits": commits, "command": COMMAND})
        assert "git fetch --unshallow" in said


def test_binary_files_submodules_and_odd_names_are_no_obstacle(repo: Path) -> None:
    git(repo, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(repo), "vendor")
    (repo / os.fsdecode(b"caf\xe9.py")).write_bytes(b"1")
    (repo / "tests/data.bin").write_bytes(b"\xff\0")
    (repo / "tests/link.py").symlink_to("../calc.py")
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW.replace("\n", "\r\n"))
    git(repo, "commit", "-q", "--allow-empty", "-m", "empty")
    git(repo, "clone", "-q", "--bare", ".", str(repo.parent / "bare"))
    (repo / "calc.py").write_text("dirty")
    for where in ("repo", "bare"):
        [own] = tasks_of(repo.parent, {"repo": where, "command": COMMAND})
        assert own["id"] == calc[:10]
        task = msgspec.convert(own, WorkTask)
        assert {"tests/data.bin", "tests/link.py"} < {*task.hidden}
        overlay = {path: content for path, _, content in files_at(repo, calc, own["tests"]["only"])}
        assert overlay["tests/link.py"] == b"a + b\n", "a link among tests to a file that is none"
        assert not solved(repo.parent, task, {})
        assert solved(repo.parent, task, {"calc.py": File("a + b\n")})


def test_a_match_in_a_repository_shows_what_changed_against_its_files(repo: Path) -> None:
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW)
    [own] = tasks_of(repo.parent, {"repo": str(repo), "commits": [calc], "command": COMMAND})
    made = fixture(GAME, ["p", "q", "r"], {"tasks": [own]})
    patches = {
        "A": {"calc.py": File("a + b\n"), "it's new.py": File("1\n")},
        "B": {"calc.py": File("a +  b\n")},
    }

    def left(ask: Ask, player: str) -> Reply:
        text = "verdict: A" if ask.role == "judge" else patch_text(patches[ask.to])
        return Reply("ok", text, cost_nano=0)

    outcome = play(GAME, msgspec.structs.replace(made, hands=("A", "B")), left).outcome
    assert outcome.scores == {"A": 1, "B": 0}
    diff = outcome.detail["work"]["A"]["diff"].splitlines()
    assert diff == [
        "diff calc.py",
        "@@ -1,1 +1,1 @@",
        "-a - b",
        "+a + b",
        "diff it's new.py",
        "@@ -1,0 +1,1 @@",
        "+1",
    ]


def test_diffs_of_a_repository_show_no_bytes_of_binary_files(repo: Path) -> None:
    for name in ("a.png", "b.png"):
        (repo / name).write_bytes(b"\x1e\0\x1eold\xff\n" * 9)
    committed(repo, "pictures", z_py="1\n")
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW)
    [own] = tasks_of(repo.parent, {"repo": str(repo), "commits": [calc], "command": COMMAND})
    made = msgspec.structs.replace(fixture(GAME, ["p", "q", "r"], {"tasks": [own]}), hands=("A", "B"))
    patch = {"a.png": File.of(b"\0\xff"), "b.png": None, "z.py": File("2\n")}
    outcome = play(GAME, made, lambda ask, player: Reply("ok", patch_text(patch), cost_nano=0)).outcome
    assert outcome.detail["work"]["A"]["diff"].splitlines() == [
        *("diff a.png", "@@ -1,1 +1,1 @@", "-(no text)", "+(2 bytes, no text)"),
        *("diff b.png (removed)", "@@ -1,1 +1,0 @@", "-(no text)"),
        *("diff z.py", "@@ -1,1 +1,1 @@", "-1", "+2"),
    ]


def test_issues_and_patterns_of_tests_are_the_owners(repo: Path) -> None:
    calc = committed(repo, "x", calc_py="a + b\n", checks_py="1\n")
    stated = {
        "repo": str(repo),
        "commits": [calc],
        "command": "true",
        "tests": "check*",
        "issues": {calc: "Add."},
    }
    [own] = tasks_of(repo.parent, stated)
    assert own["statement"] == "Add."
    assert {*own["tests"]["only"]} == {"checks.py", "conftest.py"}


def test_hidden_tests_lie_where_contestants_see_nothing(tmp_path: Path) -> None:
    arena, outside = tmp_path / "arena", tmp_path / "hidden"
    for folder in (arena, outside):
        folder.mkdir()
    (arena / "link").symlink_to(outside)
    for tests in ("../hidden", str(outside), "link"):
        stated = {"statement": "Add.", "files": {"a": "1"}, "tests": tests, "command": "true"}
        assert "contestants could read the tests" in refused(arena, [stated])
    (arena / "hidden").mkdir()
    (arena / "hidden/t.py").write_text("1")
    [own] = tasks_of(arena, [stated | {"tests": "hidden"}])
    assert {*own["tests"]["files"]} == {"t.py"}
    (arena / "hidden/sub").mkdir()
    for folder, tests in (("hidden", "hidden/sub"), (".", "hidden"), (".", None), ("..", {"t": "1"})):
        shown = {"statement": "Add.", "folder": folder, "tests": tests, "command": "true"}
        assert "contestants would get" in refused(arena, [shown])


def test_commits_that_are_no_tasks_are_refused_in_words(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    plain = committed(repo, "no tests", calc_py="a * b\n")
    git(repo, "checkout", "-q", "-b", "side", first)
    committed(repo, "side", side_py="1\n")
    git(repo, "-c", "user.name=a", "merge", "-q", "--no-edit", "main")
    merge = git(repo, "rev-parse", "HEAD")

    def why(commit: str, where: str = "repo") -> str:
        return refused(tmp_path, [{"repo": where, "commits": [commit], "command": "true"}])

    assert "rules.tasks, task 1: " in why(first)
    assert "is the first of its repository" in why(first)
    assert "merges others" in why(merge)
    assert "changes no file that `tests` matches" in why(plain)
    assert "has no commit 'abcdef1234'" in why("abcdef1234")
    assert "is no git repository" in why(first, ".")
    for key, found in (("command", ["a"]), ("setup", 5), ("repo", 7)):
        stated = {"repo": "repo", "commits": [plain], "command": "true", key: found}
        assert f"{key}: found {found}; expected text" in refused(tmp_path, stated)
    stated = {"repo": "repo", "commits": 1, "command": "true", "tests": 7}
    assert "found no commit" in refused(tmp_path, stated)
    assert "`command` is missing" in refused(tmp_path, {"repo": "repo", "commits": [plain]})
    assert "did you mean" in refused(tmp_path, {"repo": "repo", "commit": [plain], "command": "true"})


def test_a_repositorys_settings_run_nothing(repo: Path, tmp_path: Path) -> None:
    calc = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW)
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "gpg.program", "core.sshCommand"):
        git(repo, "config", key, str(evil))
    git(repo, "config", "log.showSignature", "true")
    (repo / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv"):
        git(repo, "config", key, str(evil))
    assert tasks_of(repo.parent, {"repo": "repo", "commits": [calc], "command": COMMAND})
    assert not (tmp_path / "ran").exists()


def test_folders_and_files_are_tasks_and_a_file_may_list_them(tmp_path: Path) -> None:
    (tmp_path / "todo" / "sub").mkdir(parents=True)
    (tmp_path / "todo" / "sub" / "a.py").write_text("1\n")
    (tmp_path / "todo" / "__pycache__").mkdir()
    (tmp_path / "todo" / "__pycache__" / "a.pyc").write_bytes(b"1")
    (tmp_path / "todo" / "out").symlink_to("/etc")
    (tmp_path / "todo" / "run.sh").write_text("true\n")
    (tmp_path / "todo" / "run.sh").chmod(0o755)
    one = {
        "folder": "todo",
        "statement": "Do it.",
        "tests": {"t.sh": "true\n"},
        "command": "sh t.sh",
        "id": "one",
    }
    two = {"files": {"b.py": "2\n"}, "statement": "Do that."}
    (tmp_path / "tasks.yaml").write_bytes(msgspec.yaml.encode([one, two]))
    for stated in ([one, two], "tasks.yaml"):
        first, second = tasks_of(tmp_path, stated)
        assert {*first["folder"]["files"]} == {"sub/a.py", "run.sh"}
        assert first["folder"]["files"]["run.sh"]["executable"]
        assert (first["id"], second["id"]) == ("one", "2")
        assert "tests" not in second
    drawn = {GAME.draw(WorkshopRules(tasks=(first, second)), "s", at)["task"]["id"] for at in (1, 2)}
    assert drawn == {"one", "2"}


def test_mistakes_in_tasks_are_said_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "big" / "x").write_bytes(b"x" * 1_000_001)
    good = {"statement": "Do it.", "files": {"a": "1"}}
    wrong = {
        "`statement` is missing": {"files": {"a": "1"}},
        "expected `folder: PATH` or `files": {"statement": "x"},
        "is no folder": {"statement": "x", "folder": "nowhere"},
        "holds more than": {"statement": "x", "folder": "big"},
        "leads out of the folder": {"statement": "x", "files": {"../a": "1"}},
        "is no text": {"statement": "x", "files": {"a": 1}},
        "`command` is missing": {**good, "tests": {"t": "1"}},
        "'comand' is not known; did you mean 'command'?": {**good, "comand": "x"},
        "found 'x'; expected `{COMMIT: TEXT}`": {
            "repo": ".",
            "commits": [1],
            "command": "true",
            "issues": "x",
        },
        "expected `folder` or `files`, or `repo`": 7,
    }
    said = refused(tmp_path, [good, *wrong.values()])
    for at, (words, line) in enumerate(zip(wrong, said.splitlines(), strict=True), 2):
        assert f"task {at}: " in line
        assert words in line
    assert "expected `folder` or `files`" in refused(tmp_path, 7)
    assert "stands in quotes" in refused(tmp_path, {"repo": ".", "commits": [12e45], "command": "true"})
    no_judges = {"seats": 3, "tasks": tasks_of(tmp_path, [good])}
    with pytest.raises(ValueError, match="has no tests, so judges decide"):
        WorkshopRules.model_validate(no_judges)


def test_the_newest_commits_that_change_tests_and_something_else(repo: Path) -> None:
    first = committed(repo, "Add adds", calc_py="a + b\n", tests__test_new_py=NEW)
    committed(repo, "only a test", tests__test_old_py=f"{OLD}\n")
    committed(repo, "no test", calc_py="a + b  # sum\n")
    second = committed(repo, "Both again", calc_py="a + b  # a sum\n", tests__test_new_py=f"{NEW}\n")
    found = tasks_of(repo.parent, {"repo": "repo", "commits": 2, "command": COMMAND})
    assert [task["id"] for task in found] == [second[:10], first[:10]]
    assert len(tasks_of(repo.parent, {"repo": "repo", "commits": 9, "command": COMMAND})) == 2
    [named, _] = tasks_of(repo.parent, {"repo": "repo", "commits": 2, "command": "pytest {tests} -q"})
    assert named["command"] == "pytest tests/test_new.py -q"
    for wrong in ({"commits": -1}, {"commits": 9, "tests": "spec/*"}):
        assert "found no commit" in refused(repo.parent, {"repo": "repo", "command": COMMAND, **wrong})
