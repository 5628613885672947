"""Commands as requests: driven, run offline, stored, and read back."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.games import FIXTURE, NoRules, ask, drive, game, yes

from peerage.engine.calls.programs import opened
from peerage.engine.match.driver import Driver, GameError
from peerage.game.match import Outcome
from peerage.game.protocol import SANDBOX, Reply, Run, Together
from peerage.game.spec import Needs
from peerage.game.work import CommandResult, ShellCommand, command_result
from peerage.ledger.forms.codec import by_hex
from peerage.ledger.forms.codec_requests import read_ran, read_request, read_shown, request_body
from peerage.sandbox.folder import File, WorkFolder, patch_text, read_patch
from peerage.sandbox.native.confined import available
from peerage.testing.commands import commanded
from peerage.values.sealing import committed

FOLDER = WorkFolder.of({"greet.py": "print('hello')\n", "tests/one": "1\n"})
OVERLAY = WorkFolder.of({"tests/hidden": "2\n"})
OK = Reply("ok", '{"status":"ok","output":"42\\n"}')
HI = File("echo hi\n", executable=True)
WIN = Outcome(scores={"A": 1.0, "B": 0.0})


def driver(play: Any, **needs: Any) -> Driver:
    return Driver(dataclasses.replace(game(play), needs=Needs(**needs)), FIXTURE, NoRules())


def commands(rules: object) -> bool:
    return True


def test_a_command_is_driven_like_a_question_and_its_value_is_how_it_ended() -> None:
    seen: list[Any] = []

    def play(table: Any) -> Any:
        seen.append((yield ShellCommand("one", FOLDER, "ls")))
        seen.extend((yield [ask("q"), ShellCommand("two", FOLDER, "ls")]))
        seen.append((yield Together({"side": side()})))
        return WIN

    def side() -> Any:
        return (yield ShellCommand("three", FOLDER, "ls"))

    match = driver(play, commands=commands)
    (first,) = match.start()
    assert (first.key, first.to) == ("one", SANDBOX)
    match.feed("one", OK)
    match.feed("two", OK)
    (third,) = match.feed("q", yes())
    assert third.key == "side/three"
    match.feed("side/three", Reply("ok", '{"status":"error","code":3}'))
    assert match.outcome == WIN
    values = [reply.value for reply in (seen[0], seen[2], seen[3]["side"])]
    assert values == [CommandResult("ok", output="42\n")] * 2 + [CommandResult("error", 3)]


def test_a_jail_that_fails_voids_the_match() -> None:
    def play(table: Any) -> Any:
        yield ShellCommand("one", FOLDER, "ls")
        return WIN

    match = driver(play, commands=commands)
    match.start()
    match.feed("one", Reply("void", reason="sandbox_error: no jail"))
    assert match.outcome == Outcome(void="sandbox_error")


@pytest.mark.parametrize(
    ("request_made", "needs", "word"),
    [
        (ShellCommand("one", FOLDER, "ls"), {"sandbox": commands}, "a ShellCommand, but `commands`"),
        (Run("one", "print()"), {"commands": commands}, "a Run, but `sandbox`"),
    ],
)
def test_a_game_that_needs_the_one_gets_not_the_other(request_made: Any, needs: Any, word: str) -> None:
    def play(table: Any) -> Any:
        yield request_made
        return WIN

    with pytest.raises(GameError, match=word):
        driver(play, **needs).start()
    with pytest.raises(GameError, match="never does"):
        drive(play).start()


def test_a_reply_that_no_command_gives_is_refused() -> None:
    def play(table: Any) -> Any:
        yield ShellCommand("one", FOLDER, "ls")
        return WIN

    match = driver(play, commands=commands)
    match.start()
    with pytest.raises(GameError, match="not what a run gives"):
        match.feed("one", Reply("ok", '{"status":"passed"}'))


PATHS = st.lists(st.text("abc-_é", min_size=1, max_size=4), min_size=1, max_size=3).map("/".join)
FILES = st.builds(File.of, st.binary(max_size=300), st.booleans())
FOLDERS = st.dictionaries(PATHS, FILES, max_size=3).map(WorkFolder.of) | st.builds(
    WorkFolder, st.just("0" * 64), repo=st.text(max_size=5), commit=st.just("c0ffee"), only=st.tuples(PATHS)
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=400)
COMMANDS = st.builds(
    ShellCommand,
    key=st.just("k"),
    folder=FOLDERS,
    command=TEXTS,
    patch=st.dictionaries(PATHS, st.none() | FILES, max_size=2).map(patch_text) | TEXTS,
    overlay=st.none() | FOLDERS,
    keeps=st.booleans(),
    seconds=st.floats(0.1, 600),
    output=st.integers(1, 10**6),
)


@given(COMMANDS, st.sampled_from(["", "secret"]))
def test_a_command_reads_back_as_it_was_asked(command: ShellCommand, secret: str) -> None:
    body, texts = request_body(command, secret)
    assert read_request("k", body, by_hex(dict(texts)), {}.__getitem__) == command
    assert read_shown(body) is None
    assert not (secret and texts)
    if not secret:
        assert len(body) < 4_000
        return
    hidden = read_request("k", committed(body), by_hex({}), {}.__getitem__)
    assert isinstance(hidden, ShellCommand)
    assert hidden.folder == WorkFolder("")
    assert (hidden.seconds, hidden.keeps) == (command.seconds, command.keeps)


def test_long_folders_and_patches_are_texts_of_their_own() -> None:
    folder = WorkFolder.of({"long.txt": "x" * 9_000})
    first, second = (ShellCommand(key, folder, "make", "{}", folder) for key in "ab")
    body, texts = request_body(first)
    assert len(body) < 400
    assert len({digest for digest, _ in texts}) == 1
    assert request_body(second) == (body, texts)


def test_the_bytes_do_not_tell_a_whole_number_from_a_float() -> None:
    whole, fraction = (ShellCommand("k", FOLDER, "ls", seconds=seconds) for seconds in (60, 60.0))
    assert request_body(whole) == request_body(fraction)


def test_the_value_of_a_stored_reply_follows_from_what_was_asked() -> None:
    command, _ = request_body(ShellCommand("k", FOLDER, "ls"))
    run, _ = request_body(Run("k", "print(1)"))
    assert read_ran(command, '{"status":"size"}') == CommandResult("size")
    assert type(read_ran(run, '{"status":"ok"}')).__name__ == "Ran"
    with pytest.raises(msgspec.MsgspecError):
        read_ran(run, '{"status":"size"}')


def ended(command: str, patch: str = "", overlay: WorkFolder | None = None, **more: Any) -> CommandResult:
    return command_result(commanded(ShellCommand("k", FOLDER, command, patch, overlay, **more)).text)


def test_offline_a_command_sees_the_folder_the_patch_and_what_is_laid_over_both() -> None:
    patch = patch_text({"tests/hidden": File("cheat\n"), "tests/one": None, "run": File("echo hi\n")})
    assert ended("ls tests; cat tests/*") == CommandResult("ok", output="one\n1\n")
    shown = ended("ls . tests; cat tests/hidden", patch, OVERLAY)
    assert shown.output == ".:\ngreet.py\nrun\ntests\n\ntests:\nhidden\n2\n"
    assert ended("cat lacking 2>&1 >/dev/null; exit 4").code == 4
    assert ended("sleep 9", seconds=0.1) == CommandResult("timeout", 124)


def test_offline_a_command_keeps_what_it_changed() -> None:
    kept = ended("rm tests/one; echo new > tests/two; chmod +x tests/two", keeps=True)
    assert read_patch(kept.patch) == {"tests/one": None, "tests/two": File("new\n", executable=True)}
    assert ended("true", keeps=True).patch == "{}"


@pytest.mark.skipif(not available(), reason="needs Landlock")
async def test_the_jail_and_offline_come_to_the_same(tmp_path: Path) -> None:
    patch = patch_text({"tests/hidden": File("cheat\n"), "tests/one": None, "run.sh": HI})
    commands = [
        ShellCommand("k", FOLDER, "./run.sh; ls . tests; cat tests/hidden", patch, OVERLAY, keeps=True),
        ShellCommand("k", FOLDER, "echo new > tests/hidden; rm greet.py; exit 7", patch, OVERLAY, keeps=True),
        ShellCommand("k", FOLDER, "pwd >&2; mkdir -p a/b; touch a/b/c", keeps=True),
        ShellCommand("k", FOLDER, "sleep 9", seconds=0.3),
    ]
    async with opened(tmp_path, programs=False) as programs:
        jailed = [command_result((await programs.perform(command)).text) for command in commands]
    offline = [command_result(commanded(command).text) for command in commands]
    assert [each.status for each in jailed] == ["ok", "error", "ok", "timeout"]
    assert [(each.code, each.patch) for each in jailed] == [(each.code, each.patch) for each in offline]
    assert jailed[:2] == offline[:2]
    assert read_patch(jailed[0].patch) == read_patch(patch)
