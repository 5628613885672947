"""A line of messages between two processes of a cluster, straight from one to the other.

A message is its length (4 bytes, little-endian) and a pickle. Who dials shows a key first, which both have
from Ray; nothing of anybody else is read. Where Ray's own lines are encrypted (`RAY_USE_TLS`), so is this
one, with the same certificates.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import pickle
import ssl
from collections.abc import Callable
from typing import Any

_LENGTH = 4


class Line(asyncio.Protocol):
    """One end. `hear(message)` is called for each that comes, `over(why)` once when no more will."""

    def __init__(self, hear: Callable[[Any], None], over: Callable[[str], None]) -> None:
        self._hear = hear
        self._over = over
        self._came = bytearray()
        self._unsent: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None

    def send(self, message: Any) -> None:
        """Send a message: now, or once there is somebody at the other end."""
        body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._write(len(body).to_bytes(_LENGTH, "little") + body)

    def close(self) -> None:
        """Send the messages that are left, and hang up."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        for message in self._unsent:
            self._write(message)
        self._unsent.clear()

    def data_received(self, data: bytes) -> None:
        came = self._came
        came += data
        at = 0
        while len(came) >= (begins := at + _LENGTH):
            ends = begins + int.from_bytes(came[at:begins], "little")
            if len(came) < ends:
                break
            with memoryview(came)[begins:ends] as body:
                message = pickle.loads(body)
            at = ends
            self._hear(message)
        del came[:at]

    def connection_lost(self, error: Exception | None) -> None:
        self._over(f"the line to it ended: {error}" if error else "the line to it ended")

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
        elif not self._transport.is_closing():
            self._transport.write(data)


class _Caller(asyncio.Protocol):
    """Somebody who has dialled, and has not shown the key yet."""

    def __init__(self, key: bytes, line: Callable[[], Line | None]) -> None:
        self._key = key
        self._line = line
        self._shown = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._shown += data
        size = len(self._key)
        if len(self._shown) < size:
            return
        line = self._line() if hmac.compare_digest(self._shown[:size], self._key) else None
        if line is None:
            self._transport.abort()
            return
        self._transport.set_protocol(line)
        line.connection_made(self._transport)
        line.data_received(self._shown[size:])


async def awaited(address: str, key: bytes, line: Line) -> int:
    """Connect `line` to the first who dials here with the key; at which port. `address` is this machine's."""

    def taken() -> Line | None:
        if not server.is_serving():
            return None
        server.close()
        return line

    here = address if address == "127.0.0.1" else "::" if ":" in address else "0.0.0.0"
    server = await asyncio.get_running_loop().create_server(
        lambda: _Caller(key, taken), here, 0, ssl=_encrypted(ssl.Purpose.CLIENT_AUTH)
    )
    return int(server.sockets[0].getsockname()[1])


async def dialled(address: str, port: int, key: bytes, line: Line) -> None:
    """Connect a line. Raises OSError."""
    loop = asyncio.get_running_loop()
    encrypted = _encrypted(ssl.Purpose.SERVER_AUTH)

    def shown() -> Line:
        line._unsent.insert(0, key)
        return line

    await loop.create_connection(
        shown, address, port, ssl=encrypted, server_hostname=address if encrypted else None
    )


def _encrypted(purpose: ssl.Purpose) -> ssl.SSLContext | None:
    """Return how Ray's own lines are encrypted; None where they are not."""
    if os.environ.get("RAY_USE_TLS", "0").lower() not in ("1", "true"):
        return None
    context = ssl.create_default_context(purpose, cafile=os.environ["RAY_TLS_CA_CERT"])
    context.load_cert_chain(os.environ["RAY_TLS_SERVER_CERT"], os.environ["RAY_TLS_SERVER_KEY"])
    context.check_hostname = False  # as Ray does not: both ends show certificates of the cluster
    context.verify_mode = ssl.CERT_REQUIRED
    return context
