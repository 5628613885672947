"""Sessions of the audience: cookies that only a server of this arena can make.

A session is a random name and its HMAC-SHA256 under a key of the arena's own, `arena.votes.key` beside
`arena.votes.db`, which its owner alone may read. It is a file and not a secret in memory, so that one vote
per session and match holds over a restart and over two servers of one arena. Without it all voters are new.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from peerage.ledger.store import LedgerError

_KEY_BYTES = 32
_WRITTEN_S = 1.0
_whole = re.compile(r"([A-Za-z0-9_-]{32})\.([0-9a-f]{64})").fullmatch


class Sessions:
    """Makes and recognizes the sessions of one arena."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        # Browsers send cookies to every port of a machine: each arena has a name of its own there.
        self.cookie = f"peerage-voter-{sha256(b'peerage session ' + key).hexdigest()[:12]}"

    @classmethod
    def beside(cls, votes: Path) -> Sessions:
        """Those of the arena whose votes are kept at `votes`; the first call draws the key.

        Raises LedgerError when the key cannot be kept, or others may read it.
        """
        path = votes.with_suffix(".key")
        with suppress(OSError):
            _write(path)
        try:
            return cls(_read(path))
        except OSError as error:
            raise LedgerError(
                f"cannot keep the key of the voters' sessions in {path}: {error.strerror or error}; "
                "its folder must exist and be writable by you"
            ) from error

    def new(self) -> str:
        """The cookie of a new session."""
        name = secrets.token_urlsafe(24)
        return f"{name}.{self._sign(name)}"

    def genuine(self, cookie: str) -> bool:
        """Whether a server of this arena made this cookie."""
        found = _whole(cookie)
        return found is not None and hmac.compare_digest(found[2], self._sign(found[1]))

    def _sign(self, name: str) -> str:
        return hmac.new(self._key, b"peerage voter " + name.encode(), sha256).hexdigest()


def _write(path: Path) -> None:
    """Draw a key, where there is none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(_KEY_BYTES))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise LedgerError(
                f"others may read {path}, the key of the voters' sessions; delete it, and a new one is drawn "
                "(every voter is then a new one)"
            )
        # Another server may be just writing it.
        until = time.monotonic() + _WRITTEN_S
        while len(key := file.read(_KEY_BYTES + 1)) == 0 and time.monotonic() < until:
            time.sleep(_WRITTEN_S / 100)
            file.seek(0)
    if len(key) != _KEY_BYTES:
        raise LedgerError(
            f"{path} holds no key of {_KEY_BYTES} bytes; delete it, and a new one is drawn "
            "(every voter is then a new one)"
        )
    return key
