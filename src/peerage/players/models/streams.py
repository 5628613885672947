"""A streamed chat completion (server-sent events), put together as the whole one that it stands for. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from peerage.formats import read_json
from peerage.players.client import PlayerError


def is_stream(content: bytes) -> bool:
    """Return whether a body is a stream of events and not one JSON value, whatever its content type."""
    return content.lstrip()[:8].startswith((b"data:", b":", b"event:", b"id:", b"retry:"))


def read_stream(content: bytes) -> dict[str, Any]:
    """The chat completion of a stream's first choice, with the last usage that was reported.

    An error in the middle of it becomes the whole: `{"error": …}`, as a server says it without a stream.
    Raises PlayerError for a stream that broke off, msgspec.DecodeError for one whose events are no JSON.
    """
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": None}
    chosen = done = False
    for kind, data in _events(content):
        if data == b"[DONE]":
            done = True
            break
        chunk = read_json(data)
        if not isinstance(chunk, dict):
            raise msgspec.DecodeError("an event is no object")
        if chunk.get("error") or kind == b"error" or chunk.get("object") == "error":
            return {"error": chunk.get("error") or chunk, "choices": [choice] if chosen else []}
        whole |= {name: value for name, value in chunk.items() if value is not None and name != "choices"}
        choices = chunk.get("choices")
        for part in choices if isinstance(choices, list) else ():
            if not isinstance(part, dict) or part.get("index", 0) != 0:
                continue
            chosen = True
            _add(message, part.get("delta") or part.get("message") or {})
            choice |= {
                name: value
                for name, value in part.items()
                if value is not None and name not in ("delta", "message", "logprobs", "index")
            }
    if not done and choice["finish_reason"] is None:
        raise PlayerError("the server's stream broke off", maybe_paid=True)
    return whole | {"object": "chat.completion", "choices": [choice] if chosen else []}


def _events(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The kind and the data of each event. Some servers leave the blank line between events out."""
    kind, lines = b"", list[bytes]()
    for line in (*content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), b""):
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.strip())
        elif name == b"event":
            kind = value.strip()
        elif not line:
            whole = all(line.endswith((b"}", b"]")) and line.startswith((b"{", b"[")) for line in lines)
            yield from ((kind, data) for data in (lines if whole else [b"\n".join(lines)]))
            kind, lines = b"", []


def _add(message: dict[str, Any], delta: Any) -> None:
    """Add one more piece to a message: texts and lists are joined."""
    if not isinstance(delta, dict):
        raise msgspec.DecodeError("a piece of the message is no object")
    for name, value in delta.items():
        if value is None or name == "role":
            continue
        if name == "tool_calls":
            _add_calls(message.setdefault(name, []), value)
            continue
        before = message.get(name)
        both = (isinstance(before, str) and isinstance(value, str)) or (
            isinstance(before, list) and isinstance(value, list)
        )
        message[name] = before + value if both else value


def _add_calls(calls: list[Any], pieces: Any) -> None:
    """Put pieces of tool calls together, each by its index."""
    for piece in pieces if isinstance(pieces, list) else ():
        if not isinstance(piece, dict):
            continue
        at = piece.get("index", 0)
        if not isinstance(at, int) or not 0 <= at <= len(calls) or at > 100:
            at = len(calls)
        if at == len(calls):
            calls.append({"type": "function", "id": "", "function": {"name": "", "arguments": ""}})
        call, function = calls[at], piece.get("function")
        call["id"] = piece.get("id") or call["id"]
        for name, value in function.items() if isinstance(function, dict) else ():
            if name in ("name", "arguments") and isinstance(value, str):
                call["function"][name] += value
