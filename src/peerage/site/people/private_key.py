"""Keys that a server draws for itself: a file beside the ledger that its owner alone may read."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from peerage.ledger import LedgerError
from peerage.values.inputs import opened
from peerage.values.system_errors import reason

_BYTES = 32
_WRITTEN_S = 1.0


def private_key(path: Path, about: str, lost: str) -> bytes:
    """The key in `path`; the first call draws it. `about` says what it is, `lost` what follows without it.
    Raises LedgerError when the key cannot be kept, or others may read it."""
    with suppress(OSError):
        _write(path)
    try:
        return _read(path, about, lost)
    except OSError as error:
        raise LedgerError(
            f"cannot keep {about} in {path}: {reason(error)}; its folder must exist and be writable by you"
        ) from error


def _write(path: Path) -> None:
    """Draw a key, where there is none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(_BYTES))


def _read(path: Path, about: str, lost: str) -> bytes:
    with opened(path) as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise LedgerError(f"others may read {path}, {about}; delete it, and a new one is drawn ({lost})")
        # Another server may be just writing it.
        until = time.monotonic() + _WRITTEN_S
        while len(key := file.read(_BYTES + 1)) == 0 and time.monotonic() < until:
            time.sleep(_WRITTEN_S / 100)
            file.seek(0)
    if len(key) != _BYTES:
        raise LedgerError(
            f"{path} holds no key of {_BYTES} bytes; delete it, and a new one is drawn ({lost})"
        )
    return key
