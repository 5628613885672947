"""Commands in folders: fresh copies, bounded output, an end for everything."""

import asyncio
import os
import pwd
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import pytest
from tests.sandbox.native.needs import needs_jail

from peerage.sandbox.folder import File, Patch, WorkFolder, read_patch
from peerage.sandbox.native.commands import CommandEnd, run_command
from peerage.sandbox.native.places import WorkPlace

pytestmark = needs_jail

TASK = WorkFolder.of({"src/app.py": "one\n", "tests/test.py": "visible\n"})
HIDDEN = WorkFolder.of({"tests/test.py": "hidden\n", "tests/more/test.py": "hidden\n"})


async def run(command: str, **how: Any) -> CommandEnd:
    usual: dict[str, Any] = {"folder": TASK, "patch": {}, "overlay": None, "base": Path("/nowhere")}
    return await run_command(command, **{**usual, "keeps": False, "seconds": 20.0, "output": 2000, **how})


def ran(command: str, **how: Any) -> CommandEnd:
    return asyncio.run(run(command, **how))


def test_a_command_sees_the_patch_and_then_the_hidden_tests() -> None:
    patch = {"src/app.py": File("two\n"), "tests/test.py": File("easy\n"), "tests/more": File("in the way")}
    end = ran("cat src/app.py tests/test.py tests/more/test.py; exit 4", patch=patch, overlay=HIDDEN)
    assert end == CommandEnd("error", 4, "two\nhidden\nhidden\n", "")


def test_the_patch_that_it_leaves_holds_no_hidden_test() -> None:
    patch = {"tests/test.py": File("mine\n"), "old": File("x")}
    command = (
        "echo new > made; rm old src/app.py; echo changed >> tests/test.py; mkdir -p a/.git; cp made a/.git/b"
    )
    end = ran(command, patch=patch, overlay=HIDDEN, keeps=True)
    assert end.status == "ok"
    assert read_patch(end.patch) == {
        "made": File("new\n"),
        "src/app.py": None,
        "tests/test.py": File("mine\n"),
    }


def test_its_world_is_the_same_in_every_run() -> None:
    command = (
        "pwd; env | sort | grep -v ^PATH; python3 -c 'print(hash(\"a\"))'; cat no; ls /tmp | wc -l; echo $$"
    )
    first, second = ran(command), ran(command)
    assert first == second
    assert "/work\n" in first.output
    assert "HOME=/home\n" in first.output
    assert "KEY" not in first.output


def test_it_sees_no_variable_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in ran("env; cat /proc/*/environ").output


def test_it_sees_no_ledger_that_lies_elsewhere() -> None:
    with TemporaryDirectory(dir=pwd.getpwuid(os.getuid()).pw_dir) as elsewhere:
        ledger = Path(elsewhere, "arena.db")
        ledger.write_text("secret")
        assert ran(f"cat {ledger}").output == "secret"
        assert "secret" not in ran(f"cat {ledger}", hidden=[ledger]).output


def test_both_streams_are_kept_and_their_middle_is_cut() -> None:
    end = ran("printf start; yes | head -c 20000000; printf end >&2", output=20)
    assert end == CommandEnd("ok", 0, "starty\ny\ny\n[… 19,999,988 bytes are left out …]\n\ny\ny\ny\nend", "")


@pytest.mark.parametrize(
    "command", ["sleep 30", "yes", "exec >&- 2>&-; sleep 30", "trap '' TERM; (setsid sleep 30 &); sleep 30"]
)
def test_it_ends_at_its_deadline(command: str) -> None:
    started = time.monotonic()
    end = ran(f"echo begun; echo x > left; {command}", seconds=0.7, keeps=True)
    assert time.monotonic() - started < 8
    assert (end.status, end.output[:6]) == ("timeout", "begun\n")
    assert read_patch(end.patch) == {"left": File("x\n")}


def test_what_it_leaves_in_the_background_does_not_keep_it() -> None:
    started = time.monotonic()
    assert ran("(setsid sleep 30 &) ; sleep 31 & echo done") == CommandEnd("ok", 0, "done\n", "")
    assert time.monotonic() - started < 8


def test_a_folder_too_large_to_keep_is_said() -> None:
    end = ran("head -c 200000 /dev/zero | tr '\\0' x > large", keeps=True)
    assert (end.status, end.patch) == ("size", "")
    assert "too large to keep" in end.output


def test_files_that_are_not_those_that_are_meant_are_an_error_in_words() -> None:
    with pytest.raises(ValueError, match="digest"):
        ran("true", folder=WorkFolder("0", files={"a": File("x")}))


def test_a_cancelled_command_leaves_nothing() -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(run("echo $$ > x; sleep 30"))
        await asyncio.sleep(0.4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - started < 8


def test_a_command_that_is_cancelled_as_its_files_are_laid_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, made, laid = Event(), list[WorkPlace](), WorkPlace.lay

    def lay(place: WorkPlace, patch: Patch) -> None:
        made.append(place)
        begun.set()
        time.sleep(0.3)
        laid(place, {"late": File("x")})

    async def cancelled() -> None:
        task = asyncio.create_task(run("true"))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not made[0].path.exists()

    monkeypatch.setattr(WorkPlace, "lay", lay)
    asyncio.run(cancelled())


def test_at_most_as_many_run_at_once_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)

    async def several() -> float:
        started = time.monotonic()
        await asyncio.gather(*[run("sleep 0.3") for _ in range(3)])
        return time.monotonic() - started

    assert asyncio.run(several()) > 0.9
