"""The tables of an SQL ledger.

`docs/ledger.md` describes them for readers of the file. Bodies and texts are stored as bytes, so that
no store re-encodes what was hashed. `checksum` is the CRC-32 of `body`: it says which row an accident
changed, and covers what no record covers yet.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
)

from peerage.ledger.store import SCHEMA_VERSION, LedgerError

SCHEMA = MetaData()

# SQLite appends only to a key declared INTEGER; elsewhere it must be 64 bits wide.
ROWID = BigInteger().with_variant(Integer(), "sqlite")

# In the order of their bytes, in every database.
KEY = Text().with_variant(Text(collation="C"), "postgresql")

META = Table(
    "meta",
    SCHEMA,
    Column("key", Text, primary_key=True, nullable=False),
    Column("value", Text, nullable=False),
)
TEXTS = Table(
    "texts",
    SCHEMA,
    Column("digest", LargeBinary, primary_key=True, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
FIXTURES = Table(
    "fixtures",
    SCHEMA,
    Column("number", ROWID, primary_key=True, autoincrement=False),
    Column("round", BigInteger, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
INTENTS = Table(
    "intents",
    SCHEMA,
    Column("id", ROWID, primary_key=True, autoincrement=False),
    Column("match", BigInteger, nullable=False),
    Column("key", KEY, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("player", Text, nullable=False),
    Column("worst_nano", BigInteger),
    Column("checksum", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("match", "key", "attempt", name="intents_once"),
)
REPLIES = Table(
    "replies",
    SCHEMA,
    Column("id", ROWID, primary_key=True, autoincrement=False),
    Column("intent", BigInteger, nullable=False),
    Column("cost_nano", BigInteger),
    Column("at_ms", BigInteger, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("intent", name="replies_once"),
    # The sum of all costs must not read every page of replies.
    Index("replies_cost", "intent", "cost_nano"),
)
FAILURES = Table(
    "failures",
    SCHEMA,
    Column("id", ROWID, primary_key=True, autoincrement=False),
    Column("intent", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("cost_nano", BigInteger),
    Column("at_ms", BigInteger, nullable=False),
    UniqueConstraint("intent", name="failures_once"),
)
RECORDS = Table(
    "records",
    SCHEMA,
    Column("number", ROWID, primary_key=True, autoincrement=False),
    Column("chain", LargeBinary, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
SUMMARIES = Table(
    "summaries",
    SCHEMA,
    Column("number", ROWID, primary_key=True, autoincrement=False),
    Column("round", BigInteger, nullable=False),
    Column("game", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("players", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("scores", Text, nullable=False),
    Column("costs", Text, nullable=False),
    Column("spent_nano", BigInteger, nullable=False),
    Column("raw", Text, nullable=False),
    Column("cost_elo", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)
SNAPSHOTS = Table(
    "snapshots",
    SCHEMA,
    Column("number", ROWID, primary_key=True, autoincrement=False),
    Column("checksum", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
ENTRIES = Table(
    "entries",
    SCHEMA,
    Column("position", ROWID, primary_key=True, autoincrement=False),
    Column("topic", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
"""What the log's entries about a topic say. A ledger without it is of an earlier form, and has the next."""
AMENDMENTS = Table(
    "amendments",
    SCHEMA,
    Column("id", ROWID, primary_key=True, autoincrement=False),
    Column("stream", Text, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("stream", "sequence", name="amendments_once"),
)
LOG = Table(
    "log",
    SCHEMA,
    Column("position", ROWID, primary_key=True, autoincrement=False),
    Column("about", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
)
"""See `ledger.log`. Ledgers of version 0.1.0 lack it, until somebody writes to them."""

LATER = [LOG, ENTRIES]
"""Tables that a ledger of an earlier form lacks until somebody writes to it."""

BESIDE = ("runner", "votes", "workers", "leases")
"""Tables that may stand beside a ledger's own: see `ledger.postgres`, `ledger.votes`, `ledger.leases`."""


def make_tables(connection: Connection) -> None:
    """Make a ledger in an empty store, inside the caller's transaction."""
    SCHEMA.create_all(connection, [table for table in SCHEMA.sorted_tables if table is not AMENDMENTS])
    connection.execute(META.insert().values(key="schema", value=str(SCHEMA_VERSION)))


def schema_version(connection: Connection, place: object) -> int:
    """The schema version of an opened ledger, 0 when the store holds nothing at all.

    Raises LedgerError, naming `place`, when the store holds something else than a ledger, or a newer one.
    """
    names = [name for name in inspect(connection).get_table_names() if name not in BESIDE]
    if not names:
        return 0
    found = None
    if META.name in names:
        found = connection.execute(select(META.c.value).where(META.c.key == "schema")).scalar()
        if found is not None and not (isinstance(found, str) and found.isdecimal() and int(found[:9]) > 0):
            raise LedgerError(
                f"{place} is damaged: the schema version in its table meta is {found!r}, expected a number "
                "from 1. Restore it from a copy"
            )
    if found is None:
        raise LedgerError(
            f"{place} is a database, but not a ledger of Peerage: it holds {', '.join(names[:5])} and no "
            "schema version. Name another file in arena.yaml"
        )
    version = int(found[:9])
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"{place} has schema version {version}, this Peerage knows versions up to {SCHEMA_VERSION}; "
            "use the Peerage that wrote it or a newer one: pip install --upgrade peerage"
        )
    return version
