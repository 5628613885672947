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
from peerage.players.agents.processes import RunningProgram, exit_code, stop_program
from peerage.players.client import FailureKind, PlayerError

MOST_LINE = 8 * 2**20
MOST_OUTPUT = 64 * 2**20
"""Bytes that an agent may write in a line, and for a request on both streams."""
MOST_MALFORMED = 100
"""Lines of a request that are no JSON-RPC, after which the agent counts as broken."""
NO_ACCESS = -32000
"""The code of an agent that wants to be authenticated."""


class AgentProcess(RunningProgram):
    """One process of an agent with one session. `turn` is the request under way, or the last one; `system` is
    the system text that it was sent."""

    most_line = MOST_LINE

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self.turn = AgentTurn(())
        self.system: str | None = None
        self.session = ""
        self._takes: Mapping[str, Any] = {}
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last = self._written = self._malformed = 0
        self._why = ""

    @property
    def alive(self) -> bool:
        """Return whether it can be asked."""
        return self._process.returncode is None and not self._reading[0].done() and not self._why

    async def open(self, cwd: Path, servers: Sequence[Mapping[str, Any]]) -> None:
        """Open the session in a folder, with MCP servers. Raises PlayerError."""
        about = await self._send("initialize", INITIALIZE)
        if (version := about.get("protocolVersion")) != INITIALIZE["protocolVersion"]:
            raise PlayerError(
                f"speaks version {str(version)[:20]} of ACP; Peerage speaks 1", kind="permanent"
            )
        stated = about.get("agentCapabilities")
        takes = stated.get("promptCapabilities") if isinstance(stated, dict) else None
        self._takes = takes if isinstance(takes, dict) else {}
        opened = await self._send("session/new", {"cwd": str(cwd), "mcpServers": servers})
        if not isinstance(session := opened.get("sessionId"), str) or not session:
            raise PlayerError("opened no session: its answer to session/new has no sessionId")
        self.session = session

    async def prompt(
        self, turn: AgentTurn, text: str, media: Mapping[str, bytes], seconds: float, grace: float
    ) -> object:
        """Send a request, with the bytes of the pictures and sounds in it by digest, and return the stop
        reason; `turn` holds what the agent did. Raises PlayerError; TimeoutError where it has not ended in so
        many seconds, nor did in those of grace after it was told to."""
        blocks = prompt_blocks(text, media, self._takes)
        self.turn, self._written, self._malformed = turn, 0, 0
        ending = self._send("session/prompt", {"sessionId": self.session, "prompt": blocks})
        ending.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await asyncio.wait([ending], timeout=seconds)
            if ending.done():
                return ending.result().get("stopReason")
            turn.over = True
            self._write({"method": "session/cancel", "params": {"sessionId": self.session}})
            await asyncio.wait([ending], timeout=grace)
            raise TimeoutError
        finally:
            ending.cancel()

    async def end(self) -> None:
        self._why = self._why or "it was ended"
        await super().end()

    def _send(self, method: str, params: Mapping[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Call a method; the future is its result. Raises PlayerError."""
        if not self.alive:
            raise self._ended()
        self._last += 1
        waiting = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        self._write({"id": self._last, "method": method, "params": params})
        return waiting

    def _write(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self._in.write(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    async def _read_output(self) -> None:
        try:
            while line := await self._out.readline():
                self._heard(len(line))
                self._handle(line)
        except ValueError:  # a line above the stream's limit
            self._break(f"wrote a line of more than {MOST_LINE // 2**20} MiB")
        except ConnectionResetError:
            pass
        with suppress(TimeoutError):  # its last words say why it ended
            async with asyncio.timeout(1):
                await asyncio.gather(exit_code(self._process), asyncio.shield(self._reading[1]))
        self._fail_all()

    def _heard(self, size: int) -> None:
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
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        return PlayerError(self._why or self.in_words(how))

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
        if not isinstance(method, str):
            return type(number) is int and self._answered(number, message)
        if "id" in message:
            if method == "session/request_permission" and ours:
                self._write({"id": number, "result": self.turn.permission(params)})
            else:
                self.turn.note(f"refused: {method[:80]}")
                error = {"code": -32601, "message": f"{method[:80]} is not supported by this client"}
                self._write({"id": number, "error": error})
        elif method == "session/update" and ours:
            self.turn.update(params.get("update"))
        else:
            self.turn.note(f"ignored: {method[:80]}{'' if ours else ', not of this session'}")
        return True

    def _answered(self, number: int, message: dict[str, Any]) -> bool:
        """Take the answer to a request of ours, which is over by that; return whether it is one."""
        if (waiting := self._waiting.pop(number, None)) is None or waiting.done():
            return waiting is not None
        self.turn.over = True
        failed, result = message.get("error"), message.get("result")
        if failed is None and isinstance(result, dict):
            waiting.set_result(result)
            return True
        failed = failed if isinstance(failed, dict) else {"message": failed or "an answer without a result"}
        detail = f"reports: {failed.get('message')} {failed.get('data') or ''}"[:400].strip()
        kind: FailureKind = "permanent" if failed.get("code") == NO_ACCESS else "transient"
        waiting.set_exception(PlayerError(detail, kind=kind))
        return True
