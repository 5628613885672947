"""Texts of replies: code blocks, JSON; and what formats write. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Protocol, runtime_checkable

import msgspec

from peerage.values.texts import storable


class FormatError(Exception):
    """A reply is not in the declared format; the message says what was expected, for the repair."""


DECORATION = " \t\r\n*_`~#\"'“”‘’«»()[]{}.,!;:"
"""Marks around a name or a value that do not count."""
_FOLDED = {
    **{0xFF01 + at: 0x21 + at for at in range(94)},
    **dict.fromkeys(map(ord, "\u00a0\u1680\u202f\u205f\u3000"), " "),
    **dict.fromkeys(range(0x2000, 0x200B), " "),
    **dict.fromkeys(map(ord, "\u2028\u2029\x85\x0b\x0c"), "\n"),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\ufe0e\ufe0f\r"), None),
}
_UNFOLDED = re.compile("[" + re.escape("".join(map(chr, _FOLDED))) + "]")


_ESCAPED = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""The escapes of JSON; half of a surrogate pair by itself is the group."""


def read_json(text: str | bytes) -> Any:
    """Return the value of JSON text, with U+FFFD for half of a surrogate pair, escaped or not, and for bytes
    that are no UTF-8. Models cut at their limit and servers that stream by the byte write such halves; all
    else that is no JSON raises msgspec.DecodeError, and what is too deep RecursionError."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        whole = storable(text if isinstance(text, str) else text.decode("utf-8", "replace"))
        paired = _ESCAPED.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], whole)
        return msgspec.json.decode(paired)


def folded(text: str) -> str:
    """Return `text` as people see it: full-width letters as usual ones, plain blanks, nothing invisible."""
    return text.translate(_FOLDED) if _UNFOLDED.search(text) else text


def blocks(text: str) -> Iterator[str]:
    """The contents of each Markdown code block, without its last line feed."""
    inside: list[str] | None = None
    for line in text.split("\n"):
        bare = line.strip(" \t")
        if inside is None:
            if bare.startswith("```") and "`" not in bare[3:]:
                inside = []
        elif bare == "```":
            yield "\n".join(inside)
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        raise FormatError("the code block does not end; a line of ``` was expected after the program")


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema in which every property is required and no other allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def words(rng: Random, chars: int) -> str:
    """A few random words, of at most so many characters."""
    made = " ".join(["".join(rng.choices("aeiourstlnmd", k=5)) for _ in range(4)])
    return made[:chars].rstrip()


def unix(text: str) -> str:
    return text.replace("\r\n", "\n")


@runtime_checkable
class Format(Protocol):
    """A declared format of replies: immutable, hashable, and the same for equal settings."""

    def __hash__(self) -> int: ...

    def instruction(self) -> str:
        """The sentence that tells a model the format; a game puts it into its template."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for providers with native structured output; None for free text."""

    def parse(self, text: str) -> Any:
        """The value of a reply. Total: raises `FormatError` for whatever it cannot read."""

    def write(self, value: Any) -> str:
        """Return how a perfect player writes the reply that says `value`: `parse` gives it back."""

    def sample(self, rng: Random) -> Any:
        """A random well-formed value, for players without ideas of their own."""
