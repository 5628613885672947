"""Requests to contestants under a game's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from peerage.formats import Format
from peerage.protocol import Ask, Prompt, Quote


class Limits(Protocol):
    """The limits that settings put on a reply: its tokens."""

    @property
    def max_tokens(self) -> int: ...


def request(
    rules: Limits,
    to: str,
    key: str,
    prompt: Prompt,
    expects: Format,
    fill: Mapping[str, str | Quote],
    oracle: Any = None,
) -> Ask:
    """A request to a contestant; `{format}` of its prompt is filled here."""
    messages = prompt.messages({**fill, "format": expects.instruction()})
    return Ask(
        to=to,
        key=key,
        role="contestant",
        messages=messages,
        expects=expects,
        max_tokens=rules.max_tokens,
        temperature=None,
        oracle=oracle,
    )
