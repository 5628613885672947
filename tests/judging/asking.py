"""Drive a protocol without a match: replies from a function, their values read by the declared kind."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from peerage.game.protocol import Ask, FormatError, Reply, Steps, Together


def ask_all(steps: Steps[Any], answer: Callable[[Ask], str | Reply]) -> tuple[Any, list[Ask]]:
    """What the protocol returns, and everything it asked, its keys in full."""
    asked: list[Ask] = []
    return _run(steps, answer, asked, ""), asked


def _run(steps: Steps[Any], answer: Callable[[Ask], str | Reply], asked: list[Ask], prefix: str) -> Any:
    value: Any = None
    while True:
        try:
            yielded = steps.send(value)
        except StopIteration as stop:
            return stop.value
        if isinstance(yielded, Together):
            value = {
                name: _run(branch, answer, asked, f"{prefix}{name}/")
                for name, branch in yielded.branches.items()
            }
        elif isinstance(yielded, Ask):
            value = _reply(yielded, answer, asked, prefix)
        else:
            todo = deque(yielded)  # type: ignore[arg-type]
            value = [_reply(ask, answer, asked, prefix) for ask in todo]  # type: ignore[arg-type]


def _reply(ask: Ask, answer: Callable[[Ask], str | Reply], asked: list[Ask], prefix: str) -> Reply:
    ask = msgspec.structs.replace(ask, key=prefix + ask.key)
    asked.append(ask)
    found = answer(ask)
    reply = Reply("ok", found) if isinstance(found, str) else found
    if reply.status != "ok":
        return reply
    try:
        return msgspec.structs.replace(reply, key=ask.key, value=ask.expects.parse(reply.text))
    except FormatError as unusable:
        return Reply("invalid", reply.text, reason=str(unusable), key=ask.key)
