"""The append-only ledger of an arena; docs/ledger.md has its format.

`forms` says what is stored, `stores` keep rows, and what these mean is written once above: `ledger`, over
`opening`, `tables`, `writer`, `lineup` and `holding`. Above it `matches`, `topics`, `check`, `out`. It
imports shared nouns and settings, never players or the engine.
"""

from __future__ import annotations

import os
from pathlib import Path

from peerage.ledger.forms.rows import (
    COPY,
    MENDED,
    Amendment,
    Batch,
    Columns,
    Entry,
    Exchange,
    Failure,
    FailureRow,
    FixtureRow,
    IntentRow,
    LedgerAway,
    LedgerBusy,
    LedgerError,
    LedgerMissing,
    MatchRows,
    RecordRow,
    ReplyRow,
    Summary,
    Writes,
)
from peerage.ledger.ledger import Ledger, amend, amended
from peerage.ledger.opening import prepare
from peerage.values.environment import environment

__all__ = [
    "COPY", "MENDED", "Amendment", "Batch", "Columns", "Entry", "Exchange", "Failure", "FailureRow",
    "FixtureRow", "IntentRow", "Ledger", "LedgerAway", "LedgerBusy", "LedgerError", "LedgerMissing",
    "MatchRows", "RecordRow", "ReplyRow", "Summary", "Writes", "amend", "amended", "open_ledger",
]  # fmt: skip


def open_ledger(address: str, folder: Path, *, create: bool) -> Ledger:
    """Open the ledger at `address`: `sqlite:///FILE`, FILE relative to the arena's folder or absolute;
    `postgresql://HOST/DATABASE`; `mongodb://HOST/DATABASE`; or `$NAME`, the variable of the environment or of
    `.env` that holds one. `create` makes it when it is not there. Raises LedgerError when it cannot be used:
    missing, not a ledger, of a newer version, not readable, or an address of a kind this version does not
    know."""
    if address.startswith("$"):
        stated = environment(folder, os.environ).get(address[1:], "")
        if not stated:
            raise LedgerError(
                f"ledger {address}: {address[1:]} is set neither in the environment nor in "
                f"{folder / '.env'}; write it there, as postgresql://USER:PASSWORD@HOST/DATABASE"
            )
        address = stated
    scheme, _, rest = address.partition("://")
    if scheme not in ("sqlite", "postgresql", "postgres", "mongodb", "mongodb+srv"):
        shown = f"{scheme}://{rest.rpartition('@')[2]}" if rest else address
        raise LedgerError(
            f"ledger {shown!r}: this kind of address is unknown; write for example sqlite:///arena.db"
        )
    # A short command that needs no ledger must not wait for a database.
    from peerage.ledger.stores import open_store

    store = open_store(address, folder)
    try:
        prepare(store, create=create)
    except BaseException:
        store.close()
        raise
    return Ledger(store)
