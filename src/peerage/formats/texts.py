"""Texts of replies: what can be stored and seen of them, code blocks, JSON; and what formats write. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Protocol, runtime_checkable

import msgspec


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
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` as every store can hold it: NUL and lone surrogates become U+FFFD."""
    if text.isascii() and "\0" not in text:  # nearly always, and fifty times faster
        return text
    return _UNSTORABLE.sub("\ufffd", text)


_ESCAPED = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""The escapes of JSON; half of a surrogate pair by itself is the group."""


def read_json(text: str | bytes) -> Any:
    """Return the value of JSON text, with U+FFFD for half of a surrogate pair, escaped or not, and for bytes
    that are no UTF-8.

    Models cut at their limit and servers that stream by the byte write such halves; all else that is no JSON
    raises msgspec.DecodeError, and what is too deep RecursionError.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        whole = storable(text if isinstance(text, str) else text.decode("utf-8", "replace"))
        paired = _ESCAPED.sub(lambda found: "\\ufffd" if found[1] else found[0], whole)
        return msgspec.json.decode(paired)


_CHOOSING = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors. One chooses how the character before it looks; a row of them hides a message."""
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Marks above and below a character. No writing has five on one; a pile covers the lines around it."""
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Printable to Unicode, and invisible."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    f"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff{_BLANK}]"
    f"|(?<=[{_CHOOSING}])[{_CHOOSING}]|(?<=[{_MARKS}]{{4}})[{_MARKS}]"
)
_SUSPECT = re.compile(f"[{_BLANK}{_CHOOSING}{_MARKS}]")


_PLAIN = bytes(range(32, 127)) + b"\n\t"


def visible(text: str) -> str:
    """`text` with control, invisible and bidirectional characters and piles of marks made visible.

    Line feeds and tabs stay. What one model wrote must not steer a terminal or another model unseen.
    """
    # Most texts hold nothing but what is printable, which is found out twice as fast; of bytes, five times.
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    if text.replace("\n", "").replace("\t", "").isprintable() and not _SUSPECT.search(text):
        return text
    return _INVISIBLE.sub("\ufffd", text)


def folded(text: str) -> str:
    """Return `text` as a person sees it: full-width letters as usual ones, any blank as a blank,
    nothing invisible."""
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
