"""Which database an address is of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from peerage.ledger.database import Database, VoteStore
from peerage.ledger.sql_database import SqlStore
from peerage.ledger.sqlite import SqliteFile
from peerage.ledger.store import LedgerError

if TYPE_CHECKING:
    from peerage.ledger.mongo import Mongo


def database(address: str, folder: Path) -> Database:
    """The database at an address; of a file relative to `folder`, or absolute. Raises LedgerError."""
    if is_mongo(address):
        return _mongo(address)
    from peerage.ledger.sql import SqlDatabase

    return SqlDatabase(sql_store(address, folder))


def vote_store(address: str, file: Path) -> VoteStore:
    """Where the votes on a ledger are: beside one on a server, or in a file of their own. Raises
    LedgerError."""
    if is_mongo(address):
        try:
            from peerage.ledger.mongo_votes import MongoVotes
        except ImportError as error:
            raise _lacks_mongo(error) from None
        return MongoVotes(address)
    from peerage.ledger.sql_votes import SqlVotes

    if address.startswith("sqlite:///"):
        return SqlVotes(SqliteFile(f"sqlite:///{file}", file.parent))
    return SqlVotes(sql_store(address, file.parent))


def is_mongo(address: str) -> bool:
    """Whether an address is of MongoDB."""
    return address.startswith(("mongodb://", "mongodb+srv://"))


def _mongo(address: str) -> Mongo:
    try:
        from peerage.ledger.mongo import Mongo
    except ImportError as error:
        raise _lacks_mongo(error) from None
    return Mongo(address)


def _lacks_mongo(error: ImportError) -> LedgerError:
    return LedgerError(
        f"a ledger on MongoDB needs the extra `mongo`, of which {error.name or 'pymongo'} is not installed; "
        "run `pip install 'peerage[mongo]'`"
    )


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
    if is_mongo(address):
        from peerage.ledger.mongo_words import access as to_mongo

        return to_mongo(address)
    from peerage.ledger.postgres import Postgres

    return Postgres(address).access()
