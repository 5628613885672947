"""What passes between the pool and a worker: frames of `length (4 bytes, little-endian), body`.

A body is one line of JSON and, after it, raw bytes.
"""

from __future__ import annotations

import json
import os
from typing import Any

LENGTH = 4
MOST = 256 * 1024 * 1024


def encode(head: dict[str, Any], tail: bytes = b"") -> bytes:
    """A whole frame, its length first."""
    body = json.dumps(head).encode() + b"\n" + tail
    return len(body).to_bytes(LENGTH, "little") + body


def size(prefix: bytes) -> int:
    """The length of the body that follows; ValueError when it is more than any frame holds."""
    length = int.from_bytes(prefix, "little")
    if length > MOST:
        raise ValueError(f"a frame of {length} bytes; at most {MOST} were expected")
    return length


def decode(body: bytes) -> tuple[dict[str, Any], bytes]:
    """The JSON and the raw bytes of a body; ValueError when it is not one."""
    line, _, tail = body.partition(b"\n")
    head = json.loads(line)
    if not isinstance(head, dict):
        raise ValueError("a frame whose first line is not a JSON object")
    return head, tail


def receive(descriptor: int) -> tuple[dict[str, Any], bytes] | None:
    """The next frame from a pipe, waiting for it; None at the end of the stream."""
    prefix = _exactly(descriptor, LENGTH)
    if len(prefix) < LENGTH:
        return None
    body = _exactly(descriptor, size(prefix))
    return decode(body)


def send(descriptor: int, frame: bytes) -> None:
    """Write all of `frame` to a pipe."""
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _exactly(descriptor: int, count: int) -> bytes:
    parts: list[bytes] = []
    while count > 0:
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
