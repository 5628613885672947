"""Permissions of files that no agent may change: Landlock cannot keep the owner's programs from `chmod`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class KeptModes:
    """The permissions of files as they were before the first of the agents that run now was started.

    A file that was replaced meanwhile is another one, whose permissions are learnt when the next is started.
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, int, int]] = {}
        self._running = 0

    @contextmanager
    def kept(self, paths: Iterable[Path], report: Callable[[str], None]) -> Iterator[None]:
        """Keep the permissions of these files and folders while an agent runs: what is changed is set back
        when it has ended, and reported."""
        if not self._running:
            self._known.clear()
        self._running += 1
        for path in paths:
            place = path.resolve()
            with suppress(OSError):
                status = place.stat()
                known = self._known.get(place)
                if known is None or known[:2] != (status.st_dev, status.st_ino):
                    self._known[place] = status.st_dev, status.st_ino, stat.S_IMODE(status.st_mode)
        try:
            yield
        finally:
            self._running -= 1
            self._set_back(report)

    def _set_back(self, report: Callable[[str], None]) -> None:
        for place, (device, inode, mode) in sorted(self._known.items()):
            with suppress(OSError):
                status = place.stat()
                now = stat.S_IMODE(status.st_mode)
                if (status.st_dev, status.st_ino) == (device, inode) and now != mode:
                    os.chmod(place, mode)
                    report(f"{place} from {mode:03o} to {now:03o}")


kept_modes = KeptModes()
"""Those of this process: agents that run at the same time share the files."""
