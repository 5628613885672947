"""Programs that work in a copy of a folder: what they find there, and what they leave is their reply."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.players.agents.test_agents import CALL

from peerage.game.work import AgentStep, Trace
from peerage.players import open_client
from peerage.players.agents import programs
from peerage.players.client import Answer, PlayerError
from peerage.sandbox.folder import File, WorkFolder, read_patch
from peerage.sandbox.native.confined import available
from peerage.sandbox.native.places import WorkPlace
from peerage.sandbox.native.repositories import folder_at
from peerage.settings import PlayerSettings

FOLDER = WorkFolder.of({"src/greet.py": "print('helo')\n", "old.txt": "gone soon\n"})
HEAD = "import json, os, sys, time\nasked = json.load(sys.stdin)\n"
MEND = """
assert os.path.realpath(asked["folder"]) == os.getcwd()
open("src/greet.py", "w").write("print('hello')\\n")
os.remove("old.txt")
"""

LOOK = """
seen = []
for path in PATHS:
    try:
        seen.append(open(path).read())
    except OSError:
        pass
open("seen", "w").write(str([seen, os.listdir(HOME), os.environ.get("PEERAGE_AGENT_DIR")]))
"""
NOTHING = {"seen": File("[[], ['agent.py'], None]")}


def looking(home: Path, *paths: Path) -> str:
    """A program that looks for these files, and for what is in the arena's folder."""
    return f"PATHS, HOME = {[str(path) for path in paths]}, {str(home)!r}\n{LOOK}"


async def worked(
    base: Path, source: str, folder: WorkFolder = FOLDER, hidden: Sequence[Path] = (), **stated: Any
) -> Answer:
    """Return the reply of a program that works in a folder, named by a path below the arena's."""
    (base / "agent.py").write_text(HEAD + source)
    settings = PlayerSettings.model_validate({"command": [sys.executable, "agent.py"], **stated})
    client = open_client(settings, dict(os.environ), base, hidden)
    try:
        await client.start()
        return await client.answer(replace(CALL, folder=folder, seat="A"))
    finally:
        await client.close()


async def test_the_reply_is_the_patch_that_it_left(tmp_path: Path) -> None:
    told = "print(json.dumps({'text': 'Mended.', 'input_tokens': 7, 'cost_usd': 0.5, 'model': 'm-1'}))"
    answer = await worked(tmp_path, MEND + told)
    assert read_patch(answer.text) == {"src/greet.py": File("print('hello')\n"), "old.txt": None}
    assert answer.trace == Trace((AgentStep("text", detail="Mended."),))
    assert (answer.input_tokens, answer.cost_usd, answer.snapshot) == (7, 0.5, "m-1")
    assert not answer.truncated
    assert sorted(os.listdir(tmp_path)) == ["agent.py"]


@pytest.mark.skipif(not available(), reason="needs Landlock")
async def test_without_namespaces_it_sees_no_folder_of_another_seat_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "lacking", lambda: "no namespaces")
    other = WorkPlace()
    (other.work / "answer").write_text("the answer")
    (tmp_path / "home").mkdir()
    spoil = f"\ntry: open({str(other.work / 'spoilt')!r}, 'w')\nexcept OSError: open('kept', 'w')"
    source = looking(tmp_path / "home", other.work / "answer") + spoil
    answer = await worked(tmp_path, source, WorkFolder.of({}), hidden=[tmp_path / "arena.db"])
    assert read_patch(answer.text) == {"seen": File("[[], [], None]"), "kept": File("")}
    other.remove()


async def test_who_changes_nothing_leaves_an_empty_patch(tmp_path: Path) -> None:
    answer = await worked(tmp_path, "")
    assert (answer.text, answer.trace) == ("{}", Trace())


async def test_when_its_time_is_up_what_is_in_the_folder_counts(tmp_path: Path) -> None:
    answer = await worked(tmp_path, MEND + "time.sleep(60)", timeout_s=1.0)
    assert read_patch(answer.text).keys() == {"src/greet.py", "old.txt"}
    assert answer.truncated
    assert answer.note == "its time was up; what was in the folder then counts"


async def test_too_large_a_patch_is_no_reply_and_says_why(tmp_path: Path) -> None:
    answer = await worked(tmp_path, "open('big', 'w').write('x' * 400_000)")
    assert answer.text == ""
    assert "too large to keep" in answer.note


async def test_a_program_that_ends_badly_gave_no_reply(tmp_path: Path) -> None:
    with pytest.raises(PlayerError, match="exit code 3"):
        await worked(tmp_path, MEND + "sys.exit(3)")


async def test_files_that_cannot_be_had_are_no_fault_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(PlayerError, match="lacking") as caught:
        await worked(tmp_path, "", WorkFolder("0" * 64, repo="lacking", commit="0" * 40))
    assert (caught.value.kind, caught.value.maybe_paid) == ("request", False)


@pytest.mark.skipif(not available(), reason="needs Landlock")
async def test_it_sees_neither_the_arena_nor_another_seat_s_folder(tmp_path: Path) -> None:
    other, names = WorkPlace(), ("arena.db", "arena.yaml", "tests/test_hidden.py", ".env")
    (tmp_path / "tests").mkdir()
    secrets = [tmp_path / name for name in names]
    for secret in secrets:
        secret.write_text("secret")
    other.lay({"theirs.py": File("secret")})
    theirs = other.work / "theirs.py"
    try:
        assert theirs.read_text() == "secret"
        answer = await worked(tmp_path, looking(tmp_path, *secrets, theirs), hidden=secrets[:1])
    finally:
        other.remove()
    assert read_patch(answer.text) == NOTHING


@pytest.mark.skipif(not available(), reason="needs Landlock")
@pytest.mark.parametrize("where", ["repo", "."])
async def test_what_a_repository_holds_after_the_commit_is_hidden(tmp_path: Path, where: str) -> None:
    repo, ledger = tmp_path / where, tmp_path / "arena.db"
    repo.mkdir(exist_ok=True)
    ledger.write_text("x")
    (repo / "app.py").write_text("before")
    commit = ("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "x")
    for git in (("git", "init", "-q"), ("git", "add", "app.py"), commit):
        subprocess.run(git, cwd=repo, check=True)
    folder = folder_at(where, tmp_path, "HEAD")
    (repo / ".git/later").write_text("the answer")
    answer = await worked(tmp_path, looking(tmp_path, repo / ".git/later"), folder, hidden=[ledger])
    assert read_patch(answer.text) == NOTHING
