"""Commands run once, each in a fresh copy of a folder, in a jail without network or keys."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from peerage.sandbox.folder import Patch, WorkFolder
from peerage.sandbox.native.confined import END_S, Ended
from peerage.sandbox.native.places import PatchTooLarge, WorkPlace, placed
from peerage.sandbox.program import SandboxUnavailable
from peerage.values.system_errors import reason

_TIMED_OUT = 124
_free: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class CommandEnd(NamedTuple):
    """The end of a command, as `game.work.CommandResult` has it."""

    status: Literal["ok", "error", "timeout", "size"]
    code: int
    output: str
    patch: str = ""


async def run_command(
    command: str,
    folder: WorkFolder,
    patch: Patch,
    overlay: WorkFolder | None,
    *,
    keeps: bool,
    seconds: float,
    output: int,
    base: Path,
    hidden: Sequence[Path] = (),
) -> CommandEnd:
    """Run `command` by `sh` in a copy of `folder` with `patch` laid over it, then the files of `overlay`.

    It is killed with all that it started after so many `seconds`; of what it writes `output` bytes are kept.
    It sees neither `base`, the arena's folder, nor what is `hidden` elsewhere. With `keeps` the patch that is
    then in the folder is returned, in which the files of `overlay` are as they were before that. As many run
    at once as there are cores. Raises ValueError where the files cannot be had, and SandboxUnavailable where
    there is no jail.
    """

    files = folder, base, patch, overlay
    async with _free.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(os.cpu_count() or 1)):
        try:
            place = await placed(lambda place: place.lay_out(*files))
            try:
                end = await _run(place, command, seconds, output, [base, *hidden])
                kept = await asyncio.to_thread(place.patch_beneath, *files) if keeps else ""
                return end._replace(patch=kept)
            except PatchTooLarge as error:
                return end._replace(status="size", output=f"{end.output}\n{error}\n")
            finally:
                await asyncio.shield(asyncio.to_thread(place.remove))
        except OSError as error:
            raise SandboxUnavailable(f"a command cannot be run: {reason(error)}") from None


async def _run(
    place: WorkPlace, command: str, seconds: float, output: int, hidden: Sequence[Path]
) -> CommandEnd:
    read, written = os.pipe()
    with open(read, "rb") as report:
        try:
            process = await asyncio.create_subprocess_exec(
                *place.launcher(hidden, report=written),
                *("sh", "-c", command),
                cwd=place.work,
                env=place.environment({"PYTHONHASHSEED": "0", "TZ": "UTC"}),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[written],
            )
        finally:
            os.close(written)
        assert process.stdout is not None
        reading = asyncio.ensure_future(_both_ends(process.stdout, output))
        waiting = asyncio.ensure_future(process.wait())
        try:
            late = (await asyncio.wait([reading, waiting], timeout=seconds))[1]
        finally:
            await _stop(process)
        text = place.without_its_path((await reading).decode("utf-8", "replace").replace("\0", "\ufffd"))
        ended = msgspec.json.decode(report.readline() or b"null", type=Ended | None)
    if late:
        return CommandEnd("timeout", _TIMED_OUT, text)
    if ended is None or ended["end"] == "jail":
        raise SandboxUnavailable(ended["why"] if ended else f"a command's jail broke: {text[-400:]}")
    code = ended["code"]
    return CommandEnd("size" if ended["end"] == "size" else "error" if code else "ok", code, text)


async def _both_ends(stream: asyncio.StreamReader, most: int) -> bytes:
    """Read a stream to its end, and return so many bytes of its start and of its end."""
    head, tail, cut = b"", bytearray(), 0
    while part := await stream.read(65_536):
        room = most // 2 - len(head)
        head += part[:room]
        tail += part[room:]
        over = max(0, len(tail) - (most - most // 2))
        del tail[:over]
        cut += over
    return head + (f"\n[… {cut:,} bytes are left out …]\n".encode() if cut else b"") + tail


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Let the launcher end all that it started, and wait for that."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            # `process.terminate` would take its exit code from those who wait for it.
            os.kill(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()  # with it goes the first process of its namespace, and so all others
