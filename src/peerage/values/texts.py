"""Texts of any origin as they can be stored, seen and searched. Pure."""

from __future__ import annotations

import re
from typing import Any, cast

MARK_BEGINS, MARK_ENDS = "\uf8f1", "\uf8f2"
"""The characters around a mark of a picture or a sound (`game.media`); no other text has them."""
_UNSTORABLE = re.compile(f"[\x00\ud800-\udfff{MARK_BEGINS}{MARK_ENDS}]")


def storable(text: str) -> str:
    """`text` from outside as every store can hold it: NUL, lone surrogates and the characters of marks are
    U+FFFD then."""
    if text.isascii() and "\0" not in text:  # nearly always, and fifty times faster
        return text
    return _UNSTORABLE.sub("\ufffd", text)


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
    """`text` with control, invisible and bidirectional characters and piles of marks made visible. Line feeds
    and tabs stay. The text of one model must not steer a terminal or another model unseen."""
    # Most texts hold nothing but what is printable, which is found out twice as fast; of bytes, five times.
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    if text.replace("\n", "").replace("\t", "").isprintable() and not _SUSPECT.search(text):
        return text
    return _INVISIBLE.sub("\ufffd", text)


class _Pattern:
    """One regular expression; it has the methods of the compiled one from the first use of any."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._stated = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._stated)
        for method in dir(compiled):
            if not method.startswith("_"):
                setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression whose compiling waits for its first use."""
    return cast("re.Pattern[str]", _Pattern(pattern, flags))
