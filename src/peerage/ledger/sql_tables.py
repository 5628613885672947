"""The tables of a ledger, and the rows that a batch puts into them.

`docs/ledger.md` describes them for readers of the file. Bodies and texts are stored as bytes, so that
no store re-encodes what was hashed. `checksum` says which row an accident changed, and covers what no record
covers yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from peerage.ledger.database import Row
from peerage.ledger.merkle import checksum
from peerage.ledger.narrow import flat
from peerage.ledger.store import Batch, Exchange

KINDS: Mapping[str, type] = {
    name: kind
    for kind, names in {
        int: "at_ms attempt checksum cost_nano id intent latency_ms match number position round sequence "
        "spent_nano worst_nano",
        str: "about cost_elo costs game key player players raw reason scores status stream topic topic value "
        "voter",
        bytes: "body chain digest reply request",
    }.items()
    for name in names.split()
}
"""What a column holds, by its name, in every table and query."""
NULLABLE = ("cost_nano", "worst_nano")


@dataclass(frozen=True, eq=False)
class SqlTable:
    """A table: its columns, the first of which is its primary key, and by name what is unique or indexed."""

    name: str
    columns: tuple[str, ...]
    unique: Mapping[str, Sequence[str]] = field(default_factory=dict)
    indexes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def statements(self, kind: Callable[[str], str]) -> Iterator[str]:
        """What makes the table where there is none. `kind` is a column's type in SQL."""
        parts = [
            f"{name} {kind(name)}{'' if name in NULLABLE else ' NOT NULL'}{' PRIMARY KEY' if first else ''}"
            for name, first in zip(self.columns, (True, *[False] * len(self.columns)), strict=False)
        ]
        parts += [f"CONSTRAINT {name} UNIQUE ({', '.join(those)})" for name, those in self.unique.items()]
        yield f"CREATE TABLE IF NOT EXISTS {self.name} ({', '.join(parts)})"
        for name, those in self.indexes.items():
            yield f"CREATE INDEX IF NOT EXISTS {name} ON {self.name} ({', '.join(those)})"


META = SqlTable("meta", ("key", "value"))
TEXTS = SqlTable("texts", ("digest", "body"))
FIXTURES = SqlTable("fixtures", ("number", "round", "checksum", "body"))
INTENTS = SqlTable(
    "intents",
    ("id", "match", "key", "attempt", "player", "worst_nano", "checksum", "body"),
    {"intents_once": ("match", "key", "attempt")},
)
REPLIES = SqlTable(
    "replies",
    ("id", "intent", "cost_nano", "at_ms", "latency_ms", "checksum", "body"),
    {"replies_once": ("intent",)},
    # The sum of all costs must not read every page of replies.
    {"replies_cost": ("intent", "cost_nano")},
)
FAILURES = SqlTable(
    "failures", ("id", "intent", "reason", "cost_nano", "at_ms"), {"failures_once": ("intent",)}
)
RECORDS = SqlTable("records", ("number", "chain", "at_ms", "body"))
SUMMARIES = SqlTable(
    "summaries",
    (
        "number",
        "round",
        "game",
        "topic",
        "players",
        "status",
        "scores",
        "costs",
        "spent_nano",
        "raw",
        "cost_elo",
        "at_ms",
    ),
)
SNAPSHOTS = SqlTable("snapshots", ("number", "checksum", "body"))
LOG = SqlTable("log", ("position", "about", "digest", "chain"))
"""See `ledger.log`."""
ENTRIES = SqlTable("entries", ("position", "topic", "at_ms", "body"))
"""What the log's entries about a topic say."""

TABLES = (ENTRIES, FAILURES, FIXTURES, INTENTS, LOG, META, RECORDS, REPLIES, SNAPSHOTS, SUMMARIES, TEXTS)
"""The tables of a ledger."""

BESIDE = ("runner", "votes", "workers", "leases")
"""Tables that may stand beside a ledger's own: see `ledger.postgres`, `ledger.votes`, `ledger.leases`."""


def rows_of(batch: Batch) -> Mapping[SqlTable, Sequence[Row]]:
    """The rows of a batch, but for amendments and attempts as they are: of each table its columns in order,
    without an `id`, and with match, key and attempt in place of an `intent`."""
    return {
        TEXTS: [(digest, text.encode()) for digest, text in batch.texts],
        FIXTURES: [(r.number, r.round, checksum(r.body), r.body) for r in batch.fixtures],
        INTENTS: [
            (r.match, r.key, r.attempt, r.player, r.worst_nano, checksum(r.body), r.body)
            for r in batch.intents
        ],
        REPLIES: [
            (r.match, r.key, r.attempt, r.cost_nano, r.at_ms, r.latency_ms, checksum(r.body), r.body)
            for r in batch.replies
        ],
        FAILURES: [(r.match, r.key, r.attempt, r.reason, r.cost_nano, r.at_ms) for r in batch.failures],
        RECORDS: [(r.number, r.chain, r.at_ms, r.body) for r in batch.records],
        SUMMARIES: [flat(summary) for summary in batch.summaries],
        SNAPSHOTS: [(number, checksum(body), body) for number, body in batch.snapshots],
        META: list(batch.meta.items()),
    }


def rows_as_they_are(attempts: Sequence[Exchange]) -> Mapping[SqlTable, Sequence[Row]]:
    """The rows of attempts, every column of them."""
    asked, replied, failed = list[Row](), list[Row](), list[Row]()
    for row in attempts:
        of = row.match, row.key, row.attempt, row.player, row.worst_nano
        asked.append((row.id, *of, row.checksum, row.request))
        if row.reply is not None:
            said = row.cost_nano, row.at_ms, row.latency_ms, row.reply_checksum, row.reply
            replied.append((row.reply_id, row.id, *said))
        if row.failure is not None:
            failed.append((row.failure.id, row.id, *row.failure[1:]))
    return {INTENTS: asked, REPLIES: replied, FAILURES: failed}
