"""A running agent: JSON-RPC over its standard streams, what it does for a request, its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from peerage.formats import read_json
from peerage.players.agents.acp_protocol import INITIALIZE, AgentTurn, prompt_blocks
from peerage.players.agents.programs import LAST_WORDS, STDERR_KEPT, end_program, exit_code, stop_program
from peerage.players.client import FailureKind, PlayerError
from peerage.players.redaction import without_traceback

MOST_LINE = 8 * 2**20
MOST_OUTPUT = 64 * 2**20
"""Bytes that an agent may write in a line, and for a request on both streams."""
MOST_MALFORMED = 100
"""Lines of a request that are no JSON-RPC, after which the agent counts as broken."""
NO_ACCESS = -32000
"""The code of an agent that wants to be authenticated."""


class AgentProcess:
    """One process of an agent with one session. `turn` is the request under way, or the last one."""

    def __init__(self, process: asyncio.subprocess.Process, allow: Sequence[str]) -> None:
        self.turn = AgentTurn(allow)
        self.system: str | None = None
        self.session = ""
        self._takes: Mapping[str, Any] = {}
        self._allow = allow
        self._process = process
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last = 0
        self._written = self._malformed = 0
        self._why = ""
        self._complaint = b""
        self._reading = [
            asyncio.ensure_future(read()) for read in (self._read_messages, self._read_complaints)
        ]

    @classmethod
    async def start(
        cls,
        words: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        allow: Sequence[str],
        passed: Sequence[int] = (),
    ) -> AgentProcess:
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
                limit=MOST_LINE,
                start_new_session=True,
                pass_fds=passed,
            ),
            allow,
        )

    @property
    def alive(self) -> bool:
        """Return whether it can be asked."""
        return self._process.returncode is None and not self._reading[0].done() and not self._why

    async def open(self, cwd: Path, servers: Sequence[Mapping[str, Any]], auth: str) -> None:
        """Open the session in a folder, with MCP servers, and with the method `auth` to authenticate by, if
        any is needed. Raises PlayerError."""
        about = await self.request("initialize", INITIALIZE)
        if (version := about.get("protocolVersion")) != INITIALIZE["protocolVersion"]:
            raise PlayerError(
                f"speaks version {str(version)[:20]} of ACP; Peerage speaks 1", kind="permanent"
            )
        stated = about.get("agentCapabilities")
        takes = stated.get("promptCapabilities") if isinstance(stated, dict) else None
        self._takes = takes if isinstance(takes, dict) else {}
        if auth:
            await self.request("authenticate", {"methodId": auth})
        opened = await self.request("session/new", {"cwd": str(cwd), "mcpServers": servers})
        if not isinstance(session := opened.get("sessionId"), str) or not session:
            raise PlayerError("opened no session: its answer to session/new has no sessionId")
        self.session = session

    async def prompt(self, text: str, media: Mapping[str, bytes]) -> object:
        """Send a request, with the bytes of the pictures and sounds in it by digest, and return the stop
        reason; `turn` holds what the agent did. Raises PlayerError."""
        self.turn, self._written, self._malformed = AgentTurn(self._allow), 0, 0
        blocks = prompt_blocks(text, media, self._takes)
        ended = await self.request("session/prompt", {"sessionId": self.session, "prompt": blocks})
        return ended.get("stopReason")

    def cancel(self) -> None:
        """Tell the agent to stop its work."""
        self.turn.cancelled = True
        self._write({"method": "session/cancel", "params": {"sessionId": self.session}})

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method and return its result. Raises PlayerError."""
        if not self.alive:
            raise self._ended()
        self._last += 1
        waiting = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        self._write({"id": self._last, "method": method, "params": params})
        return await waiting  # type: ignore[no-any-return]

    async def end(self) -> None:
        """End it with everything that it started, and wait for that; safe to call twice."""
        self._why = self._why or "it was ended"
        await end_program(self._process)
        for task in (await asyncio.wait(self._reading, timeout=1))[1]:
            task.cancel()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):
            self._process.stdin.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    async def _read_messages(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            while line := await stream.readline():
                self._count(len(line))
                self._handle(line)
        except ValueError:  # a line above the stream's limit
            self._break(f"wrote a line of more than {MOST_LINE // 2**20} MiB")
        except ConnectionResetError:
            pass
        with suppress(TimeoutError):  # its last words say why it ended
            async with asyncio.timeout(1):
                await asyncio.gather(exit_code(self._process), asyncio.shield(self._reading[1]))
        self._fail_all()

    async def _read_complaints(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        with suppress(ConnectionResetError):
            while part := await stream.read(65_536):
                self._complaint = (self._complaint + part)[-STDERR_KEPT:]
                self._count(len(part))

    def _count(self, size: int) -> None:
        self._written += size
        if self._written > MOST_OUTPUT:
            self._break(f"wrote more than {MOST_OUTPUT // 2**20} MiB for one request")

    def _break(self, why: str) -> None:
        """End the process for a fault of its own; every request that waits for it fails."""
        if not self._why:
            self._why = why
            stop_program(self._process)
            self._fail_all()

    def _fail_all(self) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._ended())

    def _ended(self) -> PlayerError:
        if self._why:
            return PlayerError(self._why)
        words = without_traceback(self._complaint.decode("utf-8", "replace")).strip()
        words = words if len(words) <= LAST_WORDS else f"…{words[-LAST_WORDS:]}"
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        return PlayerError(f"{how}{f': {words}' if words else ''}")

    def _handle(self, line: bytes) -> None:
        if self._why or not line.strip():
            return
        try:
            message = read_json(line)
            if isinstance(message, dict) and self._take(message):
                return
        except (msgspec.DecodeError, RecursionError):
            pass
        self._malformed += 1
        self.turn.note(f"a line that is no message: {line[:80].decode('utf-8', 'replace').strip()}")
        if self._malformed >= MOST_MALFORMED:
            self._break(f"wrote {MOST_MALFORMED} lines that are no JSON-RPC")

    def _take(self, message: dict[str, Any]) -> bool:
        """Take a message of the agent; return whether it is one."""
        method, number, params = message.get("method"), message.get("id"), message.get("params")
        params = params if isinstance(params, dict) else {}
        ours = params.get("sessionId") == self.session
        if method == "session/request_permission" and ours and "id" in message:
            self._write({"id": number, "result": self.turn.permission(params)})
        elif isinstance(method, str) and "id" in message:
            self.turn.note(f"refused: {method[:80]}")
            error = {"code": -32601, "message": f"{method[:80]} is not supported by this client"}
            self._write({"id": number, "error": error})
        elif method == "session/update" and ours:
            self.turn.update(params.get("update"))
        elif isinstance(method, str):
            self.turn.note(f"ignored: {method[:80]}{'' if ours else ', not of this session'}")
        elif type(number) is int and (waiting := self._waiting.pop(number, None)) is not None:
            failed, result = message.get("error"), message.get("result")
            with suppress(asyncio.InvalidStateError):  # nobody waits any more
                if isinstance(failed, dict):
                    detail = f"reports: {failed.get('message')} {failed.get('data') or ''}"[:400].strip()
                    kind: FailureKind = "permanent" if failed.get("code") == NO_ACCESS else "transient"
                    waiting.set_exception(PlayerError(detail, kind=kind))
                else:
                    waiting.set_result(result if isinstance(result, dict) else {})
        else:
            return False
        return True
