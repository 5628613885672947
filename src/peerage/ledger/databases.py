"""Which database an address is of."""

from __future__ import annotations

from pathlib import Path

from peerage.ledger.database import Database
from peerage.ledger.sql_database import SqlStore
from peerage.ledger.sqlite import SqliteFile
from peerage.ledger.store import LedgerError


def database(address: str, folder: Path) -> Database:
    """The database at an address; of a file relative to `folder`, or absolute. Raises LedgerError."""
    from peerage.ledger.sql import SqlDatabase

    return SqlDatabase(sql_store(address, folder))


def sql_store(address: str, folder: Path) -> SqlStore:
    """The SQL store at an address. Raises LedgerError."""
    if address.startswith("sqlite://"):
        return SqliteFile(address, folder)
    try:
        from peerage.ledger.postgres import Postgres
    except ImportError as error:
        raise LedgerError(
            "a ledger on PostgreSQL needs the extra `postgres`, of which "
            f"{error.name or 'psycopg'} is not installed; run `pip install 'peerage[postgres]'`"
        ) from None
    return Postgres(address)


def access(address: str) -> dict[str, str]:
    """The variables with which a child process of ours opens an address that was opened here."""
    if address.startswith("sqlite://"):
        return {}
    from peerage.ledger.postgres import Postgres

    return Postgres(address).access()
