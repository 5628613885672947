"""Servers that tests start: each in a folder of its own, ended with the process that started it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_S = 120


class Missing(Exception):
    """No server can be started here; the message says why."""


class OwnServer:
    """A server in `folder`. `ends_by` is the signal it is ended with, also where whoever started it was
    killed."""

    ends_by = "KILL"

    def __init__(self, prefix: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
        self._server: subprocess.Popen[bytes] | None = None

    def _begin(self, command: list[str], answers: Callable[[], bool], **how: Any) -> None:
        """Start the server, and return when it `answers`. Raises Missing."""
        guarded = f'"$@" </dev/null & cat >/dev/null; kill -{self.ends_by} $! 2>/dev/null; wait $!'
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                ["sh", "-c", guarded, "sh", *command], stdin=subprocess.PIPE, stdout=log, stderr=log, **how
            )
        until = time.monotonic() + PATIENCE_S
        while not answers():
            if self._server.poll() is not None or time.monotonic() > until:
                raise Missing(f"it does not start: {(self.folder / 'log').read_text()[-500:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End the server, and remove what it stored."""
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        if self._server is not None and self._server.stdin is not None:
            self._server.stdin.close()
            self._server.wait()
