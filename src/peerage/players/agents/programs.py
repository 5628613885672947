"""Agents on this machine: a program that is run for every call, and a Python function.

The objects that pass are described in `agent_protocol`. A program runs in a session of its own, in the
arena's folder, with a scrubbed environment, and is killed with all that it started when its time is up. That
keeps keys from leaking and processes from lingering; it is no sandbox: run only agents you trust.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from peerage.game.work import AgentStep, Trace
from peerage.players.agents.agent_protocol import ended_of, reply_from, reply_from_bytes, request_of
from peerage.players.client import MAX_BODY, Answer, Call, FailureKind, PlayerError
from peerage.players.redaction import named, without_traceback
from peerage.sandbox.folder import WorkFolder, patch_text
from peerage.sandbox.jail import supported
from peerage.sandbox.native.confined import END_S, available, launcher
from peerage.sandbox.native.kept_modes import kept_modes
from peerage.sandbox.native.places import PatchTooLarge, WorkPlace, lacking
from peerage.settings import FILE_NAME, PlayerSettings
from peerage.values.system_errors import SCARCE, reason

ALLOWED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ",
    "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
    "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
"""Variables a program inherits. Nothing else of the environment reaches it, but the player's `key_env`."""

AGENT_FOLDER = "PEERAGE_AGENT_DIR"
"""The variable that names the folder in which a program may keep its memory."""

STDERR_KEPT = 65_536
"""Bytes of standard error, from its end, in which a traceback is found."""
LAST_WORDS = 400
"""Characters of them that a message quotes."""

_log = logging.getLogger("peerage")

BROKEN_AFTER = 3
"""Exit codes other than 0, before its first success, after which a program counts as broken."""


class CommandClient:
    """A program run for every call: the request on standard input, the reply on standard output, exit code 0.

    Any other exit code is a transient failure, until it is plain that the program cannot run here; the end of
    standard error goes into its message, of a traceback its last words.
    """

    def __init__(
        self, settings: PlayerSettings, env: Mapping[str, str], folder: Path, hidden: Sequence[Path] = ()
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._hidden = [str(path.absolute()) for path in hidden]
        self._arguments = list(settings.words)
        self._environment = child_environment(env, settings.key_env)
        self._secrets = (env.get(settings.key_env, "") if settings.key_env else "",)
        self._running: set[asyncio.subprocess.Process] = set()
        self._worked = False
        self._broken = 0

    @named
    async def start(self) -> None:
        if self._hidden:
            own = own_folder(self._folder, self._settings.name)
            try:
                own.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise PlayerError(f"its memory cannot be kept: {reason(error)}", kind="permanent") from None
            self._environment[AGENT_FOLDER] = str(own)
            if available():
                self._environment["TMPDIR"] = str(own)
        program = self._arguments[0]
        here = self._folder / program
        if here.is_file():
            self._arguments[0] = str(here.absolute())
        elif shutil.which(program, path=self._environment.get("PATH")) is None:
            raise PlayerError(
                f"the program {program!r} is neither in {self._folder} nor on PATH", kind="permanent"
            )

    @named
    async def answer(self, call: Call) -> Answer:
        try:
            if call.folder is not None:
                return await self._in_folder(call, call.folder)
            return await self._replied(request_of(call, self._settings))
        except TimeoutError:
            raise
        except OSError as error:
            raise cannot_run(error) from None

    async def _replied(self, request: dict[str, Any], place: WorkPlace | None = None) -> Answer:
        clock = asyncio.get_running_loop().time
        started = clock()
        async with asyncio.timeout(self._settings.timeout_s):
            content = await self._run(msgspec.json.encode(request), place=place)
        return reply_from_bytes(content, clock() - started)

    async def _in_folder(self, call: Call, folder: WorkFolder) -> Answer:
        """Let the program work in a copy of a folder until it ends or its time is up: its answer is the patch
        that it left there, what it wrote a step on the way."""
        place, late = await asyncio.to_thread(WorkPlace), self._settings.timeout_s
        try:
            await asyncio.to_thread(place.fill, folder, self._folder)
            request = request_of(call, self._settings) | {"folder": str(place.work)}
            try:
                said = await self._replied(request, place)
            except TimeoutError:
                note = "its time was up; what was in the folder then counts"
                said = Answer("", late, truncated=True, note=note)
            left, note = await patch_left(place, folder, self._folder)
            step = AgentStep("text", detail=said.text)
            return replace(said, text=left, note=note or said.note, trace=Trace((step,) if said.text else ()))
        except ValueError as error:  # of files that cannot be had
            raise PlayerError(str(error), kind="request") from None
        finally:
            await asyncio.shield(asyncio.to_thread(place.remove))

    @named
    async def ended(self, seed: str, seat: str) -> None:
        # A program that makes nothing of it is not broken.
        await self._run(msgspec.json.encode(ended_of(seed, seat, self._settings)), counts=0)

    async def close(self) -> None:
        await asyncio.gather(*[end_program(process) for process in tuple(self._running)])

    async def _run(self, request: bytes, counts: int = 1, place: WorkPlace | None = None) -> bytes:
        if self._hidden:
            kept_modes.starts([self._folder, self._folder / FILE_NAME, *map(Path, self._hidden)])
        try:
            return await self._converse(request, counts, place)
        finally:
            for change in kept_modes.ended() if self._hidden else ():
                _log.warning(
                    "%s, or an agent that ran at the same time, changed the permissions of %s; they are set "
                    "back",
                    self._settings.name,
                    change,
                )

    async def _converse(self, request: bytes, counts: int, place: WorkPlace | None) -> bytes:
        words, env = self._arguments, self._environment
        if place is not None:
            words, env = [*map(self._found, words)], place.environment(env)
            env.pop(AGENT_FOLDER, None)  # what it kept would help in a task that comes again
        process = await asyncio.create_subprocess_exec(
            *self._launcher(words, place),
            *words,
            cwd=self._folder if place is None else place.work,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._running.add(process)
        reading = [
            asyncio.ensure_future(_head(process.stdout, process)),
            asyncio.ensure_future(_tail(process.stderr)),
        ]
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                process.stdin.write(request)
                await process.stdin.drain()
            process.stdin.close()
            code = await exit_code(process)
            content, complaint = await asyncio.gather(*reading)
        finally:
            await end_program(process)
            # To the end of both pipes, now that nobody is left to write there: so they are closed.
            for task in (await asyncio.wait(reading, timeout=END_S))[1]:
                task.cancel()
            self._running.discard(process)
        if len(content) > MAX_BODY:
            raise PlayerError(f"wrote more than {MAX_BODY // 2**20} MiB", maybe_paid=True)
        if code != 0:
            end = without_traceback(complaint.decode("utf-8", "replace")).strip()
            end = end if len(end) <= LAST_WORDS else f"…{end[-LAST_WORDS:]}"
            self._broken += counts
            # A program that never worked and ends badly again and again is not there, or cannot run here.
            hopeless = not self._worked and self._broken >= BROKEN_AFTER
            raise PlayerError(
                f"exit code {code}{f': {end}' if end else ''}",
                kind="permanent" if hopeless else "transient",
                maybe_paid=True,
            )
        self._worked = True
        return content

    def _found(self, word: str) -> str:
        """Return a word of the command as it is written elsewhere than in the arena's folder."""
        file = self._folder.absolute() / word
        return str(file) if file.is_file() else word

    def _launcher(self, words: Sequence[str], place: WorkPlace | None) -> Sequence[str]:
        """Return what runs the program so that nothing it started outlives the call; that cannot read what is
        hidden, nor what other agents keep, and can change nothing in the arena's folder but what it keeps
        itself. One that works in a place sees nothing of the arena's folder but its own `words`."""
        if place is not None and not lacking():
            return place.launcher([self._folder, *map(Path, self._hidden)], words=words, network=True)
        if not supported():
            return ()
        held: tuple[list[str], ...] = ([], [], [])
        if self._hidden and available():
            own = Path(self._environment[AGENT_FOLDER])
            others = [str(other) for other in own.parent.iterdir() if other != own]
            held = ([*self._hidden, *others], [*self._hidden, str(self._folder.absolute())], [str(own)])
        arguments = [msgspec.json.encode(argument).decode() for argument in (os.getpid(), *held)]
        return *launcher("confined", "-P"), *arguments, "--"


async def patch_left(place: WorkPlace, folder: WorkFolder, base: Path) -> tuple[str, str]:
    """Return the patch that stands in a place, as a text. One that is too large to keep is none, and a note
    says so: who leaves too much has not solved the task, and voids no match. Raises OSError."""
    try:
        return patch_text(await asyncio.to_thread(place.patch, folder, base)), ""
    except PatchTooLarge as error:
        return "", str(error)


def cannot_run(error: OSError) -> PlayerError:
    """Return the failure of a program whose process or folder this system does not give."""
    kind: FailureKind = "transient" if error.errno in SCARCE else "permanent"
    return PlayerError(f"cannot be run: {error.filename or ''} {reason(error)}", kind=kind)


def own_folder(folder: Path, name: str) -> Path:
    """Return where the agent called `name` keeps what it remembers, below the arena's folder."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]
    return folder.absolute() / "agents" / f"{readable}-{sha256(name.encode()).hexdigest()[:8]}"


def child_environment(env: Mapping[str, str], key_env: str) -> dict[str, str]:
    """Return what a program sees of the environment: `ALLOWED`, and the variable its player names."""
    return {name: value for name, value in env.items() if name in ALLOWED or (key_env and name == key_env)}


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
            process.terminate()


async def end_program(process: asyncio.subprocess.Process) -> None:
    """End a program with everything it started, and wait for that."""
    stop_program(process)
    if supported():
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(END_S + 1):
                await exit_code(process)
    kill_group(process)
    with suppress(asyncio.CancelledError):
        await asyncio.shield(process.wait())


async def exit_code(process: asyncio.subprocess.Process) -> int:
    """Wait until the program itself has ended.

    `Process.wait` returns only when its pipes are closed too, and a child left behind holds them open.
    """
    pause = 0.001
    while process.returncode is None:
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.05)
    return process.returncode


async def _head(stream: asyncio.StreamReader, process: asyncio.subprocess.Process) -> bytes:
    content = bytearray()
    while part := await stream.read(65_536):
        if len(content) > MAX_BODY:
            stop_program(process)  # and read on to the end: a pipe that nobody reads is never closed
        else:
            content += part
    return bytes(content)


async def _tail(stream: asyncio.StreamReader) -> bytes:
    end = b""
    while part := await stream.read(65_536):
        end = (end + part)[-STDERR_KEPT:]
    return end


class FunctionClient:
    """`python:module:function`: called with the request; returns the reply, an object or plain text.

    A plain function runs in a thread of its own, which nothing can stop: one that never returns lingers
    until the run ends. An OSError or TimeoutError it raises is transient, anything else permanent.
    """

    def __init__(self, settings: PlayerSettings, env: Mapping[str, str], folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._secrets = (env.get(settings.key_env, "") if settings.key_env else "",)
        self._function: Callable[[dict[str, Any]], Any] | None = None

    @named
    async def start(self) -> None:
        module, _, name = self._settings.model.partition(":")[2].partition(":")
        folder = str(self._folder.absolute())
        if folder not in sys.path:
            # Last, so that a file of the arena never hides an installed module.
            sys.path.append(folder)
        try:
            function: Any = importlib.import_module(module)
            for part in name.split("."):
                function = getattr(function, part)
        except Exception as error:
            raise PlayerError(
                f"cannot import {module}:{name}: {type(error).__name__}: {error}", kind="permanent"
            ) from None
        if not callable(function):
            raise PlayerError(f"{module}:{name} cannot be called", kind="permanent")
        self._function = function

    @named
    async def answer(self, call: Call) -> Answer:
        request = request_of(call, self._settings)
        clock = asyncio.get_running_loop().time
        started = clock()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                reply = await self._called(request)
            return reply_from(reply, clock() - started)
        except PlayerError:
            raise
        except Exception as error:
            raise PlayerError(
                f"{type(error).__name__}: {error or 'no reply in time'}",
                kind="transient" if isinstance(error, OSError) else "request",
                maybe_paid=True,
            ) from None

    async def ended(self, seed: str, seat: str) -> None:
        await self._called(ended_of(seed, seat, self._settings))

    async def _called(self, request: dict[str, Any]) -> Any:
        if self._function is None:
            raise PlayerError("asked before it was started", kind="permanent")
        if inspect.iscoroutinefunction(self._function):
            return await self._function(request)
        return await in_thread(self._function, request)

    async def close(self) -> None:
        self._function = None


async def in_thread(function: Callable[[dict[str, Any]], Any], request: dict[str, Any]) -> Any:
    """Run `function(request)` in a daemon thread, which cannot keep the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not done.done():
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)

    def work() -> None:
        value, error = None, None
        try:
            value = function(request)
        except BaseException as raised:
            error = RuntimeError(str(raised)) if isinstance(raised, StopIteration | SystemExit) else raised
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, daemon=True, name="peerage-player").start()
    return await done
