"""Stores of rows, one of SQLite, PostgreSQL and MongoDB for each address: `open_store` picks it.

`contract` says what a store offers; whatever is above uses that alone, but for the cluster, which knows
PostgreSQL. Stores import tables as data (`ledger.forms.schema`) and nothing that says what rows mean.
"""

from __future__ import annotations

from pathlib import Path

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.stores.contract import Store
from peerage.ledger.stores.server import access

__all__ = ["access", "open_store"]


def open_store(address: str, folder: Path) -> Store:
    """Return the store at an address; that of a file is relative to `folder`, or absolute. Raises
    LedgerError."""
    # A short command that needs no ledger must not wait for a database.
    if address.startswith("sqlite://"):
        from peerage.ledger.stores.sqlite import SqliteStore

        return SqliteStore(address, folder)
    if address.startswith("mongodb"):
        try:
            from peerage.ledger.stores.mongo import MongoStore
        except ImportError as error:
            raise _lacks("MongoDB", "mongo", error, "pymongo") from None
        return MongoStore(address)
    try:
        from peerage.ledger.stores.postgres import PostgresStore
    except ImportError as error:
        raise _lacks("PostgreSQL", "postgres", error, "psycopg") from None
    return PostgresStore(address)


def _lacks(server: str, extra: str, error: ImportError, package: str) -> LedgerError:
    return LedgerError(
        f"a ledger on {server} needs the extra `{extra}`, of which {error.name or package} is not installed; "
        f"run `pip install 'peerage[{extra}]'`"
    )
