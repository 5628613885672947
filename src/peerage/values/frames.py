"""Messages between this process and those it starts: `length (4 bytes, little-endian), MessagePack`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import msgspec

if TYPE_CHECKING:
    import asyncio

Message = TypeVar("Message")

_LENGTH = 4
MOST = 256 * 2**20


def frame(message: Any) -> bytes:
    """A whole message, its length first."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(_LENGTH, "little") + body


async def receive(stream: asyncio.StreamReader, kind: type[Message]) -> Message:
    """The next message. IncompleteReadError at the end of the stream; ValueError for what is not `kind`."""
    return _read(await stream.readexactly(_size(await stream.readexactly(_LENGTH))), kind)


def give(file: BinaryIO, message: Any) -> None:
    """Write a message to a buffered file, and out of it."""
    file.write(frame(message))
    file.flush()


def take(file: BinaryIO, kind: type[Message]) -> Message | None:
    """The next message from a buffered file, waiting for it; None at its end."""
    prefix = file.read(_LENGTH)
    return _read(file.read(_size(prefix)), kind) if len(prefix) == _LENGTH else None


def _size(prefix: bytes) -> int:
    if (size := int.from_bytes(prefix, "little")) > MOST:
        raise ValueError(f"a message of {size} bytes; at most {MOST} were expected")
    return size


def _read(body: bytes, kind: type[Message]) -> Message:
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from None
