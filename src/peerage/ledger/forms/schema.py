"""The tables of a ledger as data: the only place where a column is declared. Pure.

`docs/ledger.md` describes them for readers of the file. Bodies and texts are stored as bytes, so that no
store re-encodes what was hashed. `checksum` says which row an accident changed, and covers what no record
covers yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from peerage.ledger.forms.rows import Summary

KINDS: Mapping[str, type] = {
    name: kind
    for kind, names in {
        int: "at_ms attempt checksum cost_nano id intent latency_ms match number position round sequence "
        "spent_nano worst_nano",
        str: "about cost_elo costs game key player players raw reason scores status topic value voter",
        bytes: "body chain digest",
    }.items()
    for name in names.split()
}
"""The kind of value in a column, by its name, in every table."""
NULLABLE = ("cost_nano", "worst_nano")


@dataclass(frozen=True, eq=False)
class StoredTable:
    """One table.

    The first of its `columns` is its primary key; a key named `id` is given by the store and counts on
    without a gap. `unique` and `indexes` are by name.
    """

    name: str
    columns: tuple[str, ...]
    unique: Mapping[str, Sequence[str]] = field(default_factory=dict)
    indexes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    again: Literal["refused", "kept", "replaced"] = "refused"
    """The fate of a row whose key is there already when it is written again."""
    of: tuple[str, StoredTable] | None = None
    """A column that holds the key of a row of another table, and that table."""
    inherits: tuple[str, ...] = ()
    """Columns of the row to which a row belongs, by which rows of this table are found and summed."""
    summed: str = ""
    """The column that is summed, by what is inherited."""

    @property
    def key(self) -> str:
        return self.columns[0]


DICTIONARIES = StoredTable("dictionaries", ("number", "body"))
"""The one by which bodies are compressed: see `ledger.forms.bodies`."""
MEDIA = StoredTable("media", ("digest", "body"), again="kept")
"""Pictures and sounds by the SHA-256 of their bytes, which are stored as they are."""
META = StoredTable("meta", ("key", "value"), again="replaced")
TEXTS = StoredTable("texts", ("digest", "body"), again="kept")
FIXTURES = StoredTable("fixtures", ("number", "round", "checksum", "body"))
INTENTS = StoredTable(
    "intents",
    ("id", "match", "key", "attempt", "player", "worst_nano", "checksum", "body"),
    unique={"intents_once": ("match", "key", "attempt")},
)
_BY_REQUEST = ("match", "player")
REPLIES = StoredTable(
    "replies",
    ("id", "intent", "cost_nano", "at_ms", "latency_ms", "checksum", "body"),
    unique={"replies_once": ("intent",)},
    of=("intent", INTENTS),
    inherits=_BY_REQUEST,
    summed="cost_nano",
)
FAILURES = StoredTable(
    "failures",
    ("id", "intent", "reason", "cost_nano", "at_ms"),
    unique={"failures_once": ("intent",)},
    of=("intent", INTENTS),
    inherits=_BY_REQUEST,
    summed="cost_nano",
)
RECORDS = StoredTable("records", ("number", "chain", "at_ms", "body"))
SUMMARIES = StoredTable(
    "summaries",
    Summary.__struct_fields__,
    of=("number", RECORDS),
)
SNAPSHOTS = StoredTable("snapshots", ("number", "checksum", "body"), again="replaced")
LOG = StoredTable("log", ("position", "about", "digest", "chain"))
"""See `ledger.forms.log`."""
ENTRIES = StoredTable(
    "entries",
    ("position", "topic", "at_ms", "body"),
    indexes={"entries_topic": ("topic", "position")},
)
"""The entries of the log about a topic."""

TABLES = (
    DICTIONARIES,
    ENTRIES,
    FAILURES,
    FIXTURES,
    INTENTS,
    LOG,
    MEDIA,
    META,
    RECORDS,
    REPLIES,
    SNAPSHOTS,
    SUMMARIES,
    TEXTS,
)
"""The tables of a ledger."""

VOTES = StoredTable(
    "votes",
    ("sequence", "match", "voter", "chain", "at_ms", "body"),
    unique={"one_vote_per_item": ("voter", "match")},
)
"""Votes of people, in a file of their own or next to a ledger's tables on a server."""

BESIDE = (VOTES.name, "runner", "workers", "leases")
"""Tables that may stand next to a ledger's own: also those of the runner's lock and of a cluster."""
