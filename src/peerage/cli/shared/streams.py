"""Standard output and error on every terminal: what cannot be shown is spelt plainly, never a crash."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

READER_LEFT = 141
"""The exit code of a command whose reader left, as `head` does: that of a program which SIGPIPE ended."""

_PLAIN = str.maketrans(
    {
        "–": "-",
        "—": "-",
        "─": "-",
        "━": "-",
        "·": "|",
        "…": "...",
        "→": "->",
        "✓": "+",
        "✗": "x",
        "“": '"',
        "”": '"',
    }
    | {"τ": "tau", "μ": "mu", "σ": "sigma", "×": "x", "≤": "<=", "≥": ">=", "↑": "^", "↓": "v"}
    | dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """An error handler for encoding: the nearest characters of old, else a question mark each."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wanted = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(char if char.isascii() else "?" for char in wanted), error.end


def prepare() -> None:
    """Let both streams spell plainly what their encoding lacks, as on an old console.

    ASCII is taken for a locale that nobody has set, and written as UTF-8: as Python and typer do. A stream
    that was closed before we began (`<&-`, `>&-`) is an empty one.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    codecs.register_error("peerage.plainly", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            unset = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if unset else None, errors="peerage.plainly")


def drop() -> None:
    """Nobody reads standard output any more: what is still written there goes nowhere."""
    with suppress(OSError, ValueError):  # a stream that is no file has nothing to drop
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def exact(to: TextIO) -> TextIO:
    """The same stream in UTF-8: data for programs must not depend on the locale."""
    if isinstance(to, TextIOWrapper) and codecs.lookup(to.encoding).name != "utf-8":
        to.reconfigure(encoding="utf-8")
    return to
