"""How the C library deals with the memory of arrays."""

from __future__ import annotations

import ctypes
from contextlib import suppress

# Of mallopt(3), in glibc:
_TRIM, _MMAP, _ARENAS = -1, -3, -8
_LARGE = 2 << 20
_KEPT = 64 << 20


def frugal() -> None:
    """Have arrays of more than 2 MB give their memory back when they go, and smaller ones keep theirs for
    the next, in one heap for all threads.

    By itself glibc gives back the pages of each small array and fetches them again, a tenth of the time of a
    short build, and once a large one went keeps all that are no larger, in heaps that get holes. Other C
    libraries stay as they are.
    """
    with suppress(AttributeError, OSError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in ((_TRIM, _KEPT), (_MMAP, _LARGE), (_ARENAS, 1)):
            mallopt(parameter, value)
