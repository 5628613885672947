"""Models we host ourselves: `gguf:PATH`, served by llama.cpp in a child process of its own.

`gguf:package:NAME/FILE` is a file that an installed Python package carries.

The child is started when the first player of a file starts and stopped when the last one closes; players
of one file share it, each with its own settings. A crash in native code ends the child, not the run: its
players' calls then fail for good, naming the end of its log.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from peerage.players.agents.processes import kill_group
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.models.provider import ProviderClient
from peerage.players.redaction import named
from peerage.settings import PlayerSettings
from peerage.values.inputs import InputRefused, opened
from peerage.values.system_errors import reason

SLOTS = 4
"""Replies that one server writes at once; further calls wait here, outside their timeout."""

CONTEXT = 16_384
"""Tokens of context, shared by the slots of a server."""

START_S = 180.0
STOP_S = 5.0

_SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL|DATABASE_URL|MONGODB_URI", re.IGNORECASE)

if find_spec("xllamacpp") is None:
    raise ModuleNotFoundError("xllamacpp is not installed", name="xllamacpp")


class Server:
    """One child serving one file, shared by its `users`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.address = ""
        self.slots = asyncio.Semaphore(SLOTS)
        self._process: asyncio.subprocess.Process | None = None
        self._log: deque[str] = deque(maxlen=12)
        self._logging: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Start once, however many wait; raises PlayerError."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        await asyncio.shield(self._starting)

    def died(self) -> str:
        """Return what its log ended with when the child is gone; empty while it lives."""
        if self._process is None or self._process.returncode is None:
            return ""
        return f"exit code {self._process.returncode}; {' | '.join(self._log) or 'its log is empty'}"

    async def stop(self) -> None:
        """End the child; it follows its standard input at once, or is killed."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            with suppress(asyncio.CancelledError, PlayerError):
                await self._starting
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            kill_group(process)
            await process.wait()
        if self._logging is not None:
            await self._logging

    async def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "peerage.players.hosted.gguf_server",
            str(self.path),
            f"--slots={SLOTS}",
            f"--context={CONTEXT}",
            # Idle OpenMP threads that spin would starve the runner of its processor.
            env=environment | {"OMP_WAIT_POLICY": "passive"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        self._logging = asyncio.create_task(self._keep_log(process.stderr))
        try:
            async with asyncio.timeout(START_S):
                async for line in process.stdout:
                    if line.startswith(b"listening "):
                        self.address = line.split()[1].decode() + "/v1"
                        return
                await process.wait()
        except TimeoutError:
            kill_group(process)
            raise PlayerError(
                f"{self.path.name} did not load within {START_S:g} s", kind="permanent"
            ) from None
        await self._logging
        raise PlayerError(f"{self.path.name} could not be served: {self.died()}", kind="permanent")

    async def _keep_log(self, stream: asyncio.StreamReader) -> None:
        while part := await stream.read(4096):
            lines = part.decode("utf-8", "replace").splitlines()
            self._log.extend(line.strip()[:200] for line in lines if line.strip())


_servers: dict[Path, Server] = {}


async def acquire(path: Path) -> Server:
    """The running server of a file, started when there is none. Give it back with `release`."""
    server = _servers.setdefault(path, Server(path))
    server.users += 1
    try:
        await server.ready()
    except BaseException:
        await release(server)
        raise
    return server


async def release(server: Server) -> None:
    """Give a server back; the last user stops it."""
    server.users -= 1
    if server.users == 0:
        _servers.pop(server.path, None)
        await server.stop()


class LocalClient:
    """One player on a shared local server. `warnings` as with any model. It `queues` calls until a slot is
    free, from when on their time counts."""

    queues = True

    def __init__(self, settings: PlayerSettings, folder: Path) -> None:
        self._settings = settings
        self._secrets: tuple[str, ...] = ()
        self._folder = folder
        self._server: Server | None = None
        self._model: ProviderClient | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self._model is None else self._model.warnings

    @property
    def left_out(self) -> list[str]:
        return [] if self._model is None else self._model.left_out

    def leave_out(self, names: Iterable[str]) -> None:
        if self._model is not None:
            self._model.leave_out(names)

    @named
    async def start(self) -> None:
        path = model_file(self._settings.model, self._folder)
        self._server = await acquire(path)
        stated = {"model": f"openai:{path.stem}", "base_url": self._server.address, "key_env": ""}
        self._model = ProviderClient(self._settings.model_copy(update=stated), {})
        await self._model.start()

    @named
    async def answer(self, call: Call) -> Answer:
        if self._server is None or self._model is None:
            raise PlayerError("asked before it was started", kind="permanent")
        async with self._server.slots:
            try:
                return await self._model.answer(call)
            except PlayerError:
                if how := self._server.died():
                    raise PlayerError(f"the local server is gone: {how}", kind="permanent") from None
                raise

    async def close(self) -> None:
        model, self._model = self._model, None
        server, self._server = self._server, None
        if model is not None:
            await model.close()
        if server is not None:
            await release(server)


def model_file(model: str, folder: Path) -> Path:
    """The file that `gguf:PATH` (against the arena's `folder`) or `gguf:package:NAME/FILE` names.

    Raises PlayerError when it is not there, or no GGUF file (its first four bytes say so).
    """
    named = model.partition(":")[2].strip()
    package = named.removeprefix("package:")
    path = (folder / Path(named).expanduser()).resolve() if package == named else _carried(package)
    try:
        with opened(path) as file:
            magic = file.read(4)
    except InputRefused as error:
        raise PlayerError(f"{error}; correct the path after `gguf:`", kind="permanent") from None
    except OSError as error:
        raise PlayerError(f"{path}: {reason(error)}; fix the path after `gguf:`", kind="permanent") from None
    if magic != b"GGUF":
        raise PlayerError(f"{path} is no GGUF file (it begins with {magic!r})", kind="permanent")
    return path


def _carried(named: str) -> Path:
    """The file NAME/FILE of an installed package, which is not imported: its own needs may be missing."""
    package, _, file = named.partition("/")
    if not package.isidentifier() or not file:
        raise PlayerError(
            f"`gguf:package:{named}` names no package and file; write `gguf:package:NAME/FILE.gguf`",
            kind="permanent",
        )
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise PlayerError(
            f"no package {package!r} is installed here, so its {file} cannot be played; install it "
            "(with pip's `--no-deps` when only the file is wanted)",
            kind="permanent",
        )
    return Path(spec.submodule_search_locations[0], file).resolve()
