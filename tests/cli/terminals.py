"""A real pseudo-terminal, and what a person types there."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping

PATIENCE_S = 60


class Terminal:
    """`peerage` with these words in a terminal of its own. `seen` is all that it wrote so far."""

    def __init__(self, *words: str, env: Mapping[str, str] = {}) -> None:
        import pty

        self._window, inside = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "peerage.cli.main", *words],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "120", **env},
            start_new_session=True,
        )
        os.close(inside)
        self.seen = ""
        self._read = 0

    def waits_for(self, *texts: str) -> str:
        """Wait until one of these texts is written, after what was waited for before; which."""
        until = time.monotonic() + PATIENCE_S
        while True:
            places = {text: self.seen.find(text, self._read) for text in texts}
            there = {text: at for text, at in places.items() if at >= 0}
            if there:
                first = min(there, key=lambda text: there[text])
                self._read = there[first] + len(first)
                return first
            left = until - time.monotonic()
            assert left > 0, f"none of {texts} was written in time:\n{self.seen[-3000:]}"
            assert self._take(left), f"it ended before one of {texts} was written:\n{self.seen[-3000:]}"

    def types(self, *lines: str) -> None:
        """Type these lines."""
        for line in lines:
            os.write(self._window, f"{line}\n".encode())

    def presses(self, key: bytes) -> None:
        """Press a key: b"\\x03" is Ctrl+C, which the terminal makes a signal of."""
        if key == b"\x03":
            os.killpg(self.process.pid, signal.SIGINT)
        else:
            os.write(self._window, key)

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        until = time.monotonic() + PATIENCE_S
        while self._take(until - time.monotonic()):
            assert time.monotonic() < until, f"it did not end in time:\n{self.seen[-3000:]}"
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._window)

    def _take(self, seconds: float) -> bool:
        """Read what is there; False when nobody writes any more."""
        if not select.select([self._window], [], [], max(0.0, seconds))[0]:
            return True
        try:
            part = os.read(self._window, 65_536)
        except OSError:  # the other end is closed
            return False
        self.seen += part.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(part)
