"""Agents on this machine: a program that is run for every call, and a Python function.

The objects that pass are described in `agent_protocol`. A program runs in a session of its own, in the
arena's folder, with a scrubbed environment, and is killed with all that it started when its time is up. That
keeps keys from leaking and processes from lingering; it is no sandbox: run only agents you trust.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from peerage.game.work import AgentStep, Trace
from peerage.players.agents.agent_protocol import ended_of, reply_from, reply_from_bytes, request_of
from peerage.players.agents.processes import (
    TIME_UP,
    BadEnds,
    RunningProgram,
    cannot_run,
    child_environment,
    exit_code,
    located,
    patch_left,
    place_with,
    stop_program,
)
from peerage.players.client import MAX_BODY, Answer, Call, FailureKind, PlayerError
from peerage.players.redaction import named
from peerage.sandbox.folder import WorkFolder
from peerage.sandbox.jail import supported
from peerage.sandbox.native.confined import available, launcher
from peerage.sandbox.native.kept_modes import kept_modes
from peerage.sandbox.native.places import WorkPlace, lacking, places_in_use
from peerage.settings import FILE_NAME, PlayerSettings
from peerage.values.system_errors import reason

AGENT_FOLDER = "PEERAGE_AGENT_DIR"
"""The variable that names the folder in which a program may keep its memory."""

_log = logging.getLogger("peerage")


class CommandRun(RunningProgram):
    """A program that is sent one request, writes its `reply` and ends with exit code `code`."""

    code, reply = 0, b""

    async def _read_output(self) -> None:
        reply = bytearray()
        while part := await self._out.read(65_536):
            if len(reply) > MAX_BODY:
                stop_program(self._process)  # and read on to the end: a pipe that nobody reads is not closed
            else:
                reply += part
        self.reply = bytes(reply)

    async def finish(self, request: bytes) -> None:
        """Send the request, and wait for the end. Raises PlayerError for a reply that is too long."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._in.write(request)
            await self._in.drain()
        self._in.close()
        self.code = await exit_code(self._process)
        await asyncio.gather(*self._reading)
        if len(self.reply) > MAX_BODY:
            raise PlayerError(f"wrote more than {MAX_BODY // 2**20} MiB", maybe_paid=True)

    def failure(self, kind: FailureKind) -> PlayerError:
        """Return what another exit code than 0 means."""
        return PlayerError(self.in_words(f"exit code {self.code}"), kind=kind, maybe_paid=True)


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
        self._words: list[str] = []
        self._environment = child_environment(env, settings.key_env)
        self._secrets = (env.get(settings.key_env, "") if settings.key_env else "",)
        self._running: set[CommandRun] = set()
        self._bad_ends = BadEnds()

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
        self._words = located(self._settings.words, self._folder, self._environment)

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
            run = await self._run(request, place)
        if run.code:
            raise run.failure(self._bad_ends.count())
        self._bad_ends.worked()
        return reply_from_bytes(run.reply, clock() - started)

    async def _in_folder(self, call: Call, folder: WorkFolder) -> Answer:
        """Let the program work in a copy of a folder until it ends or its time is up: its answer is the patch
        that it left there, what it wrote a step on the way."""
        place = await place_with(folder, self._folder)
        try:
            request = request_of(call, self._settings) | {"folder": str(place.work)}
            try:
                said = await self._replied(request, place)
            except TimeoutError:
                said = Answer("", self._settings.timeout_s, truncated=True, note=TIME_UP)
            left, note = await patch_left(place, folder, self._folder)
            step = AgentStep("text", detail=said.text)
            return replace(said, text=left, note=note or said.note, trace=Trace((step,) if said.text else ()))
        finally:
            await asyncio.shield(asyncio.to_thread(place.remove))

    @named
    async def ended(self, seed: str, seat: str) -> None:
        run = await self._run(ended_of(seed, seat, self._settings))
        if run.code:  # a program that makes nothing of it is not broken
            raise run.failure("transient")

    async def close(self) -> None:
        await asyncio.gather(*[program.end() for program in tuple(self._running)])

    async def _run(self, request: dict[str, Any], place: WorkPlace | None = None) -> CommandRun:
        """Run the program once, and return it when it has ended. Raises PlayerError."""
        env, cwd = self._environment, self._folder
        if place is not None:
            env, cwd = place.environment(env), place.work
            env.pop(AGENT_FOLDER, None)  # what it kept would help in a task that comes again
        kept = [self._folder, self._folder / FILE_NAME, *map(Path, self._hidden)] if self._hidden else []
        said = "%s, or an agent that ran at the same time, changed the permissions of %s; they are set back"
        with kept_modes.kept(kept, partial(_log.warning, said, self._settings.name)):
            program = await CommandRun.start([*self._launcher(place), *self._words], cwd, env)
            self._running.add(program)
            try:
                await program.finish(msgspec.json.encode(request))
            finally:
                await program.end()
                self._running.discard(program)
        return program

    def _launcher(self, place: WorkPlace | None) -> Sequence[str]:
        """Return what runs the program so that nothing it started outlives the call; that cannot read what is
        hidden, nor what other agents keep or work on, and in the arena's folder can change only what it keeps
        itself. One that works in a place sees nothing of the arena's folder but what its own words name."""
        if place is not None and not lacking():
            return place.launcher([self._folder, *map(Path, self._hidden)], words=self._words, network=True)
        if not supported():
            return ()
        held: tuple[list[str], ...] = ([], [], [])
        if self._hidden and available():
            own = Path(self._environment[AGENT_FOLDER])
            others = [str(other) for other in own.parent.iterdir() if other != own] + places_in_use()
            fixed = [*self._hidden, str(self._folder.absolute()), *places_in_use()]
            held = ([*self._hidden, *others], fixed, [str(own), *([str(place.path)] if place else [])])
        arguments = [json.dumps(argument) for argument in (os.getpid(), *held)]
        return *launcher("native.confined", "-P"), *arguments, "--"


def own_folder(folder: Path, name: str) -> Path:
    """Return where the agent called `name` keeps what it remembers, below the arena's folder."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]
    return folder.absolute() / "agents" / f"{readable}-{sha256(name.encode()).hexdigest()[:8]}"


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
    done = Future[Any]()
    done.set_running_or_notify_cancel()  # from now on nobody cancels it: the thread goes on

    def work() -> None:
        try:
            done.set_result(function(request))
        except BaseException as raised:
            ends = isinstance(raised, StopIteration | SystemExit)  # which no future may raise
            done.set_exception(RuntimeError(str(raised)) if ends else raised)

    threading.Thread(target=work, daemon=True, name="peerage-player").start()
    return await asyncio.wrap_future(done)
