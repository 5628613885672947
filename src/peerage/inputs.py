"""How commands open the files that people name: a pipe or a device is refused, and none is waited for."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path


class InputRefused(Exception):
    """What was named to be read is no regular file; the message says what it is."""


_WHAT = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def opened(file: Path) -> BufferedReader:
    """Open a regular file to read. Raises InputRefused for anything else, and OSError."""
    _check(file, file.stat().st_mode)  # opening alone may do something to a device
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check(file, os.fstat(handle).st_mode)  # another may stand there by now
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(file: Path) -> bytes:
    """All of a regular file; raises as `opened` does."""
    with opened(file) as stream:
        return stream.read()


def _check(file: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = next((name for holds, name in _WHAT if holds(mode)), "no file")
        raise InputRefused(f"{file} is {what}, and a regular file was expected; save it as a file first")
