"""The ledger: what is in it, its heads, what was changed, who signed it, and how to check it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from peerage.game.blocks import Heading, Sentence, SourceCode
from peerage.ledger.forms.log import entry_leaf, log_root
from peerage.ledger.topics.settings_log import settings_changes
from peerage.reading.results.outside import in_words
from peerage.render.blocks import (
    Column,
    Facts,
    Link,
    Links,
    LoneFigure,
    Notes,
    Rows,
    ViewBlock,
    numbers,
    texts,
)
from peerage.values.figures import moment, whole
from peerage.values.texts import visible
from peerage.views.arena.tables import ArenaTables

ENTRIES = {
    "arena": "The arena's secret, committed",
    "audience": "Votes of the audience, so far",
    "batches": "Batches at providers",
    "benches": "Players paused or back",
    "challenges": "Statements on challenges",
    "models": "Models that providers named",
    "outside": "Entries of outside results",
    "players": "Players registered",
    "probes": "Probes of players",
    "public": "Scores of people outside",
    "settings": "Settings, with later changes",
    "uptimes": "Uptimes of hosts",
    "waits": "Matches that waited",
}
"""What entries of the log beside the records are, by their topic."""

LEDGER = (
    "The ledger records each match reply by reply, and chains each record to the one before it. A head is "
    "the value at the end of a chain: anyone who has kept one can tell whether anything before it was "
    "altered."
)

HEADS = (
    "The play head covers what was played, without times; the log root covers every entry of the ledger, "
    "with its time."
)

CHANGES = (
    "The log holds the settings of match 1, and each later change of rules, pairing, budget and players."
)

CHECKPOINTS = (
    "A checkpoint is a log root that the publisher signed. Keep one, with the public key from where you "
    "trust it: `peerage verify --checkpoint FILE` tells later whether anything that it covers was "
    "rewritten, cut off or re-dated. A witness signs only after it has seen that the log grew and nothing "
    "else happened to it."
)

CHECK = """pip install peerage
peerage verify     # every stored byte against its digest
peerage replay     # every outcome and rating from the replies, offline"""

CHAIN = (
    "A record's chain value is SHA-256 of the byte 02, the value before it, and SHA-256 of the record; the "
    "first record follows 32 zero bytes. A record holds the digest of its fixture and the root of its "
    "exchanges, SHA-256 of the byte 05 and their digests by key. Each match shows its own values."
)

COPY = (
    "Sealed values are in them as commitments, so a copy verifies: save `arena.db` in a folder, run "
    "`peerage verify` there, and compare both heads."
)

TOO_LONG = (
    "The whole ledger is too long for a static arena. Where the arena is, `peerage challenges redact FILE` "
    "writes it as SQLite, with sealed values as commitments, and `peerage export` as JSONL; `peerage serve` "
    "offers both."
)


class SignedCheckpoint(NamedTuple):
    """A checkpoint: who signed it, and which witnesses did, with the time (Unix milliseconds)."""

    path: str
    size: int
    matches: int
    signed: Sequence[str]
    witnessed: Sequence[tuple[str, int]]


class Download(NamedTuple):
    """A copy of the ledger that is offered: its path, its format, and what is in it."""

    path: str
    name: str
    about: str


def about_ledger(
    arena: ArenaTables, checkpoints: Sequence[SignedCheckpoint], offered: Sequence[Download]
) -> Iterator[ViewBlock]:
    """Yield what is in the ledger, its heads, the checkpoints of it, and how to check and to copy it."""
    topics = sorted(arena.moment.topics().items())
    signed = max([one.matches for one in checkpoints], default=0)
    seals = f", {signed:,} of them signed" if signed else ""
    yield Heading(
        f"{in_words(arena.results(arena.number))} on a ledger that anyone can check{seals}",
        1,
        notes=(LEDGER,),
    )
    entries = [LoneFigure(ENTRIES.get(topic, topic.capitalize()), whole(count)) for topic, count in topics]
    yield Facts([LoneFigure("Records", whole(arena.number)), *entries])
    yield Heading("Heads", notes=(HEADS,))
    yield Sentence(f"Play head: `{arena.chain}`")
    if root := log_root([entry_leaf(one.position, one.about, one.digest) for one in arena.moment.log()]):
        yield Sentence(f"Log root: `{root}`")
    if changes := [visible(change.in_words) for change in settings_changes(arena.moment)]:
        yield Heading("What was changed", notes=(CHANGES,))
        yield Notes(changes)
    if checkpoints:
        yield Heading("Checkpoints", notes=(CHECKPOINTS,))
        yield Links([Link("The public keys", ("file", "checkpoints/keys.txt"))])
        yield Rows(checkpoints, _CHECKPOINTS, name="checkpoints")
    yield Heading("Check it", notes=(CHAIN,))
    yield SourceCode(CHECK)
    yield Heading("Download")
    there = [one.name for one in offered]
    columns = [Column("name", "File", link=lambda one: ("file", one.path)), *texts(about="What it is")]
    yield Rows(offered, columns, name="download", sorts=False)
    yield Sentence(COPY if "SQLite" in there else TOO_LONG)
    if "Parquet" not in there:
        yield Sentence("Parquet is offered where pyarrow is installed: `pip install pyarrow`.", "quiet")


_CHECKPOINTS = (
    Column("path", "Checkpoint", link=lambda one: ("file", one.path)),
    *numbers(whole, size="Entries", matches="Matches"),
    *texts(lambda names: ", ".join(names) or "nobody whose key is here", signed="Signed by"),
    *texts(
        lambda by: ", ".join([f"{name} ({moment(at_ms)})" for name, at_ms in by]) or "nobody yet",
        witnessed="Witnessed by",
    ),
)
