"""Whether the file of a ledger is still the one that was opened.

SQLite goes on reading a file that was deleted or replaced by another of the same name. A server that did so
would show an arena that is no longer there, beside pages of the one that is.
"""

from __future__ import annotations

from pathlib import Path

from peerage.ledger.store import LedgerError


class LedgerGone(LedgerError):
    """The ledger was deleted, or replaced by another."""


class LedgerFile:
    """The file at a ledger's `address`, as it is when this is made."""

    def __init__(self, address: str) -> None:
        self._path = Path(address.removeprefix("sqlite:///"))
        self._opened = self._identity()

    def check(self) -> None:
        """Raises LedgerGone when another file, or none, has its place."""
        if self._identity() != self._opened:
            raise LedgerGone(
                f"{self._path} was deleted or replaced while it was served; put it back, or start "
                "`peerage serve` again"
            )

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
