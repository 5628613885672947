"""Append-only records of an arena: see `store.Ledger` for the contract, docs/ledger.md for the format."""

from __future__ import annotations

from pathlib import Path

from peerage.ledger.store import Ledger, LedgerBusy, LedgerError

__all__ = ["Ledger", "LedgerBusy", "LedgerError", "open_ledger"]


def open_ledger(address: str, folder: Path, *, create: bool) -> Ledger:
    """Open the ledger at `address`: `sqlite:///FILE`, FILE relative to the arena's folder or absolute.

    `create` makes it when it is not there. Raises LedgerError when it cannot be used: missing, not a
    ledger, of a newer version, not readable, or an address of a kind this version does not know.
    """
    scheme = address.partition("://")[0]
    if scheme != "sqlite":
        known = scheme in ("postgresql", "mongodb")
        raise LedgerError(
            f"ledger {address!r}: "
            + (f"{scheme} is not built yet in this version" if known else "this kind of address is unknown")
            + "; write for example sqlite:///arena.db"
        )
    # A short command that needs no ledger must not wait for SQLAlchemy.
    from peerage.ledger.sql import SqlLedger
    from peerage.ledger.sqlite import SqliteFile

    ledger = SqlLedger(SqliteFile(address, folder))
    try:
        ledger.prepare(create=create)
    except BaseException:
        ledger.close()
        raise
    return ledger
