"""Files that users name, and those of an arena: only regular files are opened, and reads have a limit.

A pipe, a device, a socket or a folder is refused before it is opened, so that no command waits for one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from errno import ELOOP
from io import BufferedReader
from pathlib import Path
from typing import TextIO

from peerage.values.system_errors import reason

MOST_BYTES = 1 << 28
"""Bytes of a file that is read as a whole, where its reader states no other limit."""
LONGEST_LINE = 1 << 28
"""Characters of a line or a row in a file that is read piece by piece."""


class InputRefused(Exception):
    """A file that is not read; the message says what it is and what was expected."""


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check(file: Path) -> os.stat_result:
    """Look at a regular file without opening it. Raises InputRefused for anything else, and OSError."""
    try:
        status = file.stat()
    except OSError as error:
        if error.errno != ELOOP:
            raise
        raise InputRefused(f"{file}: {reason(error)}") from None
    _check(file, status.st_mode)
    return status


def real(file: Path) -> Path:
    """The place of a file, links followed; a circular link is its own place, which `check` refuses."""
    return Path(os.path.realpath(file))


def opened(file: Path) -> BufferedReader:
    """Open a regular file to read. Raises InputRefused for anything else, and OSError."""
    check(file)  # opening alone may do something to a device
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check(file, os.fstat(handle).st_mode)  # another may stand there by now
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(file: Path, most: int = MOST_BYTES) -> bytes:
    """All of a regular file. Raises InputRefused where it has more than `most` bytes, else as `opened`."""
    with opened(file) as stream:
        body = stream.read(most + 1)
    if len(body) > most:
        size = max(len(body), file.stat().st_size)
        raise InputRefused(f"{file} has {size:,} bytes, and at most {most:,} are read; make it smaller")
    return body


def read_text(file: Path, most: int = MOST_BYTES) -> str:
    """All of a text in UTF-8, without a byte-order mark. Raises InputRefused for other bytes, which it names,
    else as `read_bytes`."""
    body = read_bytes(file, most)
    if body.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in body[:2]:
        raise InputRefused(f"{file} is written in UTF-16; save it as UTF-8")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line, column = before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1
        raise InputRefused(
            f"{file}, line {line}, column {column}: found the byte 0x{body[error.start]:02x}, which is not "
            "UTF-8; save the file as UTF-8"
        ) from None


def lines(text: TextIO, name: str) -> Iterator[str]:
    """The lines of a text of that name. Raises InputRefused for one longer than `LONGEST_LINE`."""
    number = 0
    while line := text.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InputRefused(
                f"{name}, line {number} has more than {LONGEST_LINE:,} characters, and no longer one is read"
            )
        yield line


def _check(file: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for holds, name in _KINDS if holds(mode)), "no file")
        raise InputRefused(f"{file} is {kind}, and a regular file was expected; save it as a file first")
