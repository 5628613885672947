"""How much a server may have open at once, from how many files the system lets its process open."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

RESERVED = 112
"""Files for all that is no connection: the ledger and the votes in each thread, the processes that make pages
and copies, and downloads."""
LEAST = 32
"""Connections without which there is no sense in serving."""


class Room(NamedTuple):
    """The most connections, and among them the most event streams and downloads, that are open at once."""

    connections: int
    streams: int
    downloads: int


WHOLE = Room(connections=4_000, streams=2_000, downloads=16)


class NoRoom(Exception):
    """The process may open too few files."""


def room() -> Room:
    """What there is room for here; raises this process's limit of open files as far as that helps.

    Raises NoRoom.
    """
    wanted = WHOLE.connections + RESERVED
    files = _files(wanted)
    if files < RESERVED + LEAST:
        raise NoRoom(
            f"this process may open {files} files; `peerage serve` needs at least {RESERVED + LEAST}. "
            "Raise the limit with `ulimit -n`"
        )
    connections = min(files, wanted) - RESERVED
    # A quarter stays for those who ask for a page.
    return WHOLE._replace(connections=connections, streams=min(WHOLE.streams, connections * 3 // 4))


def _files(wanted: int) -> int:
    try:
        import resource
    except ModuleNotFoundError:  # Windows, which has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else max(soft, min(wanted, hard))
        with suppress(OSError, ValueError):  # a system that allows less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
