"""A line to a server on a Unix socket that breaks and stalls, by a seed.

What befalls a connection comes after a drawn number of bytes: it is cut; what the client sends is cut in the
middle; the answer that a transaction is durable is lost, and then the line is cut; or it stalls. After a cut
the next few connections are refused.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Lock, Thread

NAME = ".s.PGSQL.5432"
FATES = ("cut", "torn", "deaf", "stall")
STALL_S = 0.1
DURABLE = b"COMMIT\0"
"""The answer that a transaction is durable."""


class Line:
    """One way to the server in `there`; clients connect in `here`. At most `faults` things happen, each after
    some `reach` bytes of a connection."""

    def __init__(self, seed: int, here: Path, there: Path, faults: int, reach: int = 15_000) -> None:
        self.struck: Counter[str] = Counter()
        self._rng = Random(f"line/{seed}")
        self._there = str(there / NAME)
        self._faults = faults
        self._reach = reach
        self._refuse = 0
        self._lock = Lock()
        self._open: set[socket.socket] = set()
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(here / NAME))
        self._listening.listen()

    @contextmanager
    def there(self) -> Iterator[Line]:
        """While the line is there."""
        accepting = Thread(target=self._accept, daemon=True)
        accepting.start()
        try:
            yield self
        finally:
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            accepting.join()
            for end in [*self._open]:
                _shut(end)

    def _draw(self) -> tuple[str, int]:
        """What befalls a new connection, and after how many bytes."""
        with self._lock:
            if self.struck.total() >= self._faults:
                return "", 0
            return self._rng.choice(FATES), int(self._rng.expovariate(1 / self._reach))

    def _strikes(self, fate: str) -> bool:
        """Whether a fate may come to pass; it is counted."""
        with self._lock:
            if self.struck.total() >= self._faults:
                return False
            self.struck[fate] += 1
            self._refuse = 0 if fate == "stall" else self._rng.choice((0, 0, 1, 3))
            return True

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                refused, self._refuse = self._refuse > 0, max(0, self._refuse - 1)
            server = socket.socket(socket.AF_UNIX)
            try:
                if refused:
                    raise ConnectionRefusedError
                server.connect(self._there)
            except OSError:
                _shut(client)
                server.close()
                continue
            self._open |= {client, server}
            connection = _Connection(self, client, server, *self._draw())
            Thread(target=connection.up, daemon=True).start()
            Thread(target=connection.down, daemon=True).start()


class _Connection:
    """A client, the server, and what befalls them."""

    def __init__(
        self, line: Line, client: socket.socket, server: socket.socket, fate: str, after: int
    ) -> None:
        self._line = line
        self._client, self._server = client, server
        self._fate, self._after = fate, after
        self._passed = 0

    def up(self) -> None:
        """What the client says."""
        self._relay(self._client, self._server, upward=True)

    def down(self) -> None:
        """What the server answers."""
        self._relay(self._server, self._client, upward=False)

    def _relay(self, source: socket.socket, target: socket.socket, *, upward: bool) -> None:
        with suppress(OSError):
            while said := source.recv(65_536):
                self._passed += len(said)
                due = self._passed > self._after and upward == (self._fate in ("torn", "stall"))
                due &= self._fate != "deaf" or DURABLE in said
                if self._fate and due and self._line._strikes(self._fate):
                    fate, self._fate = self._fate, ""
                    if fate == "stall":
                        time.sleep(STALL_S)
                        self._fate, after = self._line._draw()
                        self._after = self._passed + after
                    else:
                        target.sendall(said[: len(said) // 2] if fate == "torn" else b"")
                        break
                target.sendall(said)
        _shut(self._client)
        _shut(self._server)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
