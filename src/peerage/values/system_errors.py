"""Errors of the operating system as people read them: what is wrong, and what to do about it."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress
from pathlib import Path

REMEDIES = {
    errno.EMFILE: "too many open files: this process may open no more; raise its limit, as with "
    "`ulimit -n 4096`",
    errno.ENFILE: "too many open files on this machine; close other programs, or raise the system's limit",
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EDQUOT: "the disk quota is used up; free some space and run again",
    errno.EROFS: "the file system is read-only; name a folder that can be written",
    errno.EACCES: "permission denied; give yourself permission, or name another place",
    errno.EPERM: "the system does not permit it; name another place, or ask who runs this machine",
    errno.ELOOP: "its symbolic links lead in a circle; name the file itself",
    errno.ENAMETOOLONG: "its name is too long; choose a shorter one",
    errno.EIO: "the disk failed; check it",
}
"""By error number; see errno(3)."""

SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
"""Errors of what this machine lacks for now: no fault of the player that was to be asked."""

_FILES = 4
"""Files that a ledger on SQLite has open at once: the database, its log, that log's index, its lock."""


def reason(error: OSError) -> str:
    """Return what is wrong and how to fix it, without the name of the file."""
    return REMEDIES.get(error.errno or 0) or error.strerror or str(error)


def why_not_opened(path: Path) -> str:
    """Return why a file, or as many as a ledger needs, cannot be opened now; empty where they can be. SQLite
    says only that it could not."""
    try:
        place = path
        try:
            path.lstat()
        except FileNotFoundError:
            place = path.parent
        with ExitStack() as stack:
            for _ in range(_FILES):
                handle = os.open(place, os.O_RDONLY)
                stack.callback(os.close, handle)
    except OSError as error:
        return reason(error)
    return ""


def is_read_only(path: Path) -> bool:
    """Return whether the file system of a file, or of its folder, is mounted read-only."""
    with suppress(OSError, AttributeError):
        return bool(os.statvfs(path if path.exists() else path.parent).f_flag & os.ST_RDONLY)
    return False
