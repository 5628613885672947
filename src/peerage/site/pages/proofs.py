"""What an arena's pages carry to be checked by strangers: its checkpoints, and the proof of each match.

    checkpoints/412.txt     a checkpoint, with the signatures of the arena and of witnesses
    checkpoints/keys.txt    their public keys
    checkpoints/list.txt    the names of all of them, the shortest first
    proofs/21.jsonl         matches 21 to 40: all that was asked and replied, and how that is in a checkpoint

A match is proven in the first checkpoint that covers it, so its proof stays as it is when others are signed.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain

import msgspec

from peerage.ledger.check.checkpoints import FOLDER, KEYS
from peerage.ledger.check.notes import Proof
from peerage.ledger.forms.log import entry_text, record_rows
from peerage.ledger.forms.merkle import GENESIS, proof
from peerage.ledger.forms.rows import Attempts
from peerage.site.addresses import BUNDLE, first_of, number_in
from peerage.site.reading import Site
from peerage.values.inputs import read_bytes
from peerage.views.arena.ledger import SignedCheckpoint

LIST = f"{FOLDER}/list.txt"


def paths(site: Site) -> Iterator[str]:
    yield from stored(site)
    if site.checkpoints:
        yield LIST
    yield from (f"proofs/{first}.jsonl" for first in range(1, site.covered(site.signed_to) + 1, BUNDLE))


def view(site: Site, path: str) -> bytes | None:
    first = number_in(path, "proofs", ".jsonl")
    if first is not None:
        proven = first == first_of(first, BUNDLE) and first <= site.covered(site.signed_to)
        return b"".join(_bundle(site, first)) if proven else None
    if path == LIST and site.checkpoints:
        return "".join([f"{one.checkpoint.size}.txt\n" for one in site.checkpoints]).encode()
    return read_bytes(site.folder / path) if path in stored(site) else None


def stored(site: Site) -> list[str]:
    """Return where checkpoints and their keys are, in the arena's folder as on pages."""
    names = [f"{one.checkpoint.size}.txt" for one in site.checkpoints]
    return [f"{FOLDER}/{name}" for name in (*names, KEYS)] if names else []


def shown(site: Site) -> list[SignedCheckpoint]:
    """The checkpoints as a page lists them, the newest first."""
    return [
        SignedCheckpoint(
            f"{FOLDER}/{one.checkpoint.size}.txt",
            one.checkpoint.size,
            site.covered(one.checkpoint.size),
            [by.key.name for by in one.signed if by.at_s is None],
            [(by.key.name, by.at_s * 1000) for by in one.signed if by.at_s is not None],
        )
        for one in reversed(site.checkpoints)
    ]


class _ProofLine(msgspec.Struct):
    """A match in the bytes that are stored, and its proof; docs/ledger.md says how to check it."""

    match: int
    fixture: str
    record: str
    chain_before: str
    rows: str
    exchanges: list[tuple[str, str, str, str]]
    proof: str


def _bundle(site: Site, first: int) -> Iterator[bytes]:
    """The lines of some matches: of those that are in a checkpoint."""
    ledger, last = site.moment, min(first + BUNDLE - 1, site.number)
    fixtures = {row.number: row for row in ledger.fixtures(first, last)}
    asked = dict(chain.from_iterable(part.by_match() for part in ledger.attempts(first, last)))
    before = next((row.chain for row in ledger.records(first - 1, first - 1)), GENESIS)
    for record in ledger.records(first, last):
        previous, before = before, record.chain
        entries, attempts = site.entries.get(record.number), asked.get(record.number, Attempts())
        if not entries:
            continue
        at, digest = entries[-1].position, entries[-1].digest
        rows = record_rows(record.at_ms, record.chain, attempts)
        note = next((one.checkpoint for one in site.checkpoints if at <= one.checkpoint.size), None)
        if note is None or sha256(rows).digest() != digest:
            continue
        text = entry_text(at, f"record {record.number}", digest)
        found = Proof(text, at - 1, proof(site.tree(note.size), at - 1), note)
        if not found.holds():  # of another ledger, or this one was written again
            continue
        replied = [
            (row.key, row.player, row.request.decode(), row.reply.decode())
            for row in attempts.rows()
            if row.reply is not None
        ]
        line = _ProofLine(
            record.number,
            fixtures[record.number].body.decode(),
            record.body.decode(),
            previous.hex(),
            rows.decode(),
            replied,
            str(found),
        )
        yield msgspec.json.encode(line) + b"\n"
