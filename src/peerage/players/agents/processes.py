"""Programs of agents as processes: where they are, what they see, how they end, and what they leave."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from peerage.players.client import FailureKind, PlayerError
from peerage.players.redaction import without_traceback
from peerage.sandbox.folder import WorkFolder, patch_text
from peerage.sandbox.jail import supported
from peerage.sandbox.native.confined import END_S
from peerage.sandbox.native.places import PatchTooLarge, WorkPlace, placed
from peerage.values.system_errors import SCARCE, reason

ALLOWED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ",
    "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
    "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""Variables a program inherits. Nothing else of the environment reaches it, but the player's `key_env`."""
STDERR_KEPT = 65_536
"""Bytes of standard error, from its end, in which a traceback is found."""
LAST_WORDS = 400
"""Characters of them that a message quotes."""
BROKEN_AFTER = 3
"""Bad ends, before its first success, after which a program counts as broken."""
TIME_UP = "its time was up; what was in the folder then counts"


class BadEnds:
    """The bad ends of a program that never worked: after so many it is not there, or cannot run here."""

    def __init__(self) -> None:
        self._left: int | None = BROKEN_AFTER

    def worked(self) -> None:
        self._left = None

    def count(self) -> FailureKind:
        """Count one more, and return what kind of failure it is."""
        self._left = self._left and self._left - 1
        return "permanent" if self._left == 0 else "transient"


class RunningProgram:
    """A running program, whose output is read as `_read_output` says, in lines of `most_line` bytes at
    most."""

    most_line = 2**16

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process, self._in = process, process.stdin
        self._out, self._errors = process.stdout, process.stderr
        self._complaint = b""
        self._reading = [asyncio.ensure_future(read()) for read in (self._read_output, self._read_complaints)]

    @classmethod
    async def start(
        cls, words: Sequence[str], cwd: Path, env: Mapping[str, str], passed: Sequence[int] = ()
    ) -> Self:
        """Start a program, which inherits the descriptors `passed`. Raises OSError."""
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *words,
                cwd=cwd,
                env=env,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=cls.most_line,
                start_new_session=True,
                pass_fds=passed,
            )
        )

    async def _read_output(self) -> None:
        raise NotImplementedError

    async def _read_complaints(self) -> None:
        with suppress(ConnectionResetError):
            while part := await self._errors.read(65_536):
                self._complaint = (self._complaint + part)[-STDERR_KEPT:]
                self._heard(len(part))

    def _heard(self, size: int) -> None:
        """Count what it wrote to standard error."""

    def in_words(self, end: str) -> str:
        """Return how it ended, with the end of its standard error; of a traceback its last words."""
        words = without_traceback(self._complaint.decode("utf-8", "replace")).strip()
        words = words if len(words) <= LAST_WORDS else f"…{words[-LAST_WORDS:]}"
        return f"{end}: {words}" if words else end

    async def end(self) -> None:
        """End it with everything that it started, and wait for that; safe to call twice."""
        stop_program(self._process)
        if supported():
            with suppress(TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(END_S + 1):
                    await exit_code(self._process)
        kill_group(self._process)
        with suppress(asyncio.CancelledError):
            await asyncio.shield(self._process.wait())
        # To the end of both pipes, now that nobody is left to write there: so they are closed.
        for task in (await asyncio.wait(self._reading, timeout=END_S))[1]:
            task.cancel()


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a program and everything it started."""
    if os.name == "nt":
        with suppress(ProcessLookupError):
            process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def stop_program(process: asyncio.subprocess.Process) -> None:
    """Let the launcher kill what the program started, in whatever session; without one, kill its group."""
    if not supported():
        kill_group(process)
    elif process.returncode is None:
        with suppress(ProcessLookupError):
            # `process.terminate` would take its exit code from those who wait for it.
            os.kill(process.pid, signal.SIGTERM)


async def exit_code(process: asyncio.subprocess.Process) -> int:
    """Wait until the program itself has ended.

    `Process.wait` returns only when its pipes are closed too, and a child left behind holds them open.
    """
    pause = 0.001
    while process.returncode is None:
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.05)
    return process.returncode


def cannot_run(error: OSError) -> PlayerError:
    """Return the failure of a program whose process or folder this system does not give."""
    kind: FailureKind = "transient" if error.errno in SCARCE else "permanent"
    return PlayerError(f"cannot be run: {error.filename or ''} {reason(error)}", kind=kind)


def located(words: Sequence[str], folder: Path, env: Mapping[str, str], install: str = "") -> list[str]:
    """Return a command with its program, and the files of the arena's folder among its words, by their whole
    paths. Raises PlayerError; `install` is what installs the program."""
    files = [folder.absolute() / word for word in words]
    program = str(files[0]) if files[0].is_file() else shutil.which(words[0], path=env.get("PATH"))
    if program is None:
        how = f"; `{install}` installs it" if install else ""
        where = f"the program {words[0]!r} is neither in {folder} nor on PATH"
        raise PlayerError(where + how, kind="permanent")
    if not os.access(program, os.X_OK):
        raise PlayerError(f"{program} may not be executed; `chmod +x {program}` allows it", kind="permanent")
    own = zip(files[1:], words[1:], strict=True)
    return [program, *[str(file) if file.is_file() else word for file, word in own]]


def child_environment(env: Mapping[str, str], key_env: str) -> dict[str, str]:
    """Return what a program sees of the environment: `ALLOWED`, and the variable its player names."""
    return {name: value for name, value in env.items() if name in ALLOWED or (key_env and name == key_env)}


async def place_with(folder: WorkFolder | None, base: Path) -> WorkPlace:
    """Return a place to work in, with the files of a task, if there are any. Raises PlayerError where they
    cannot be had."""
    try:
        return await placed(lambda place: place.fill(folder, base) if folder is not None else None)
    except ValueError as error:
        raise PlayerError(str(error), kind="request") from None


async def patch_left(place: WorkPlace, folder: WorkFolder, base: Path) -> tuple[str, str]:
    """Return the patch that stands in a place, as a text. One that is too large to keep is none, and a note
    says so: who leaves too much has not solved the task, and voids no match. Raises OSError."""
    try:
        return patch_text(await asyncio.to_thread(place.patch, folder, base)), ""
    except PatchTooLarge as error:
        return "", str(error)
