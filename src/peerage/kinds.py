"""The kinds of reply: each declares a format, tells it to a model, and reads it back.

A kind's `parse` is total: it returns a value or raises `Unusable`, whatever a model wrote. What it reads it
reads by one stated rule; it never guesses.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct


class Unusable(Exception):
    """A reply is not in the declared format; the message says what was expected, for the repair."""


_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


@lru_cache(maxsize=64)  # a panel is shown the same few texts many times over
def visible(text: str) -> str:
    """`text` with control, zero-width and bidirectional characters replaced by a visible mark.

    Line feeds and tabs stay. What one model wrote must not steer a terminal or another model unseen.
    """
    return _INVISIBLE.sub("\ufffd", text)


class Kind(Protocol):
    """A declared format of reply. `parse` is total: it returns a value or raises `Unusable`."""

    def instruction(self) -> str:
        """The sentence that tells a model the format; a game puts it into its template."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for providers with native structured output; None for free text."""

    def parse(self, text: str) -> Any:
        """The value of a reply; raises `Unusable`."""


class Text(Struct, frozen=True, tag="text"):
    """Free text, cut after `max_chars` characters. Empty or blank is unusable."""

    max_chars: int = 20_000

    def instruction(self) -> str:
        return f"Reply with plain text of at most {self.max_chars} characters."

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str) -> str:
        if not visible(text).replace("\ufffd", "").strip():
            raise Unusable("the reply is empty; some text was expected")
        return text[: self.max_chars]


class Chosen(Struct, frozen=True, gc=False):
    """The value of a `Choice` reply."""

    choice: str
    reason: str = ""


class Choice(Struct, frozen=True, tag="choice"):
    """One of `options`, with a short reason.

    Accepted: a JSON object holding `field` (alone, or in a code fence); or a line `field: option`;
    or the option alone as the whole reply. Options are compared without case. Two different options
    in one reply are unusable: quoting somebody's "verdict: A" must never cast a vote.
    """

    field: str
    options: tuple[str, ...]
    reason_chars: int = 400

    def instruction(self) -> str:
        choices = " | ".join(f'"{option}"' for option in self.options)
        return (
            "Reply with one JSON object and nothing else: "
            f'{{"reason": "<one or two sentences>", "{self.field}": {choices}}}'
        )

    def schema(self) -> dict[str, Any] | None:
        return {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "maxLength": self.reason_chars},
                self.field: {"type": "string", "enum": list(self.options)},
            },
            "required": ["reason", self.field],
            "additionalProperties": False,
        }

    def parse(self, text: str) -> Chosen:
        found = json_object(text)
        if found is not None and self.field in found:
            reason = found.get("reason", "")
            choice = self._option(str(found[self.field]))
            if choice is None:
                raise Unusable(f"{self.field!r} is not one of {', '.join(self.options)}")
            return Chosen(choice, reason[: self.reason_chars] if isinstance(reason, str) else "")
        whole = self._option(text)
        if whole is not None:
            return Chosen(whole)
        chosen: set[str] = set()
        rest: list[str] = []
        for line in text.splitlines():
            named, colon, value = line.partition(":")
            named_so = named.strip(" *#_\"'").casefold() == self.field.casefold()
            option = self._option(value) if named_so else None
            if colon and option is not None:
                chosen.add(option)
            else:
                rest.append(line.strip())
        if len(chosen) != 1:
            what = "no" if not chosen else "more than one"
            raise Unusable(
                f'{what} {self.field} found; a JSON object with "{self.field}" set to one of '
                f"{', '.join(self.options)} was expected"
            )
        return Chosen(chosen.pop(), " ".join(filter(None, rest))[: self.reason_chars])

    def _option(self, text: str) -> str | None:
        if text in self.options:
            return text
        bare = text.strip(" \t\r\n*_`\"'.,").casefold()
        return next((option for option in self.options if option.casefold() == bare), None)


AnyKind: TypeAlias = Text | Choice

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)


def json_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that `text` is, or that stands in its only code fence; None when there is none."""
    fenced = _FENCED.findall(text) if "```" in text else []
    candidate = (fenced[0] if len(fenced) == 1 else text).strip()
    if not candidate.startswith("{"):
        return None
    try:
        found = msgspec.json.decode(candidate)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
