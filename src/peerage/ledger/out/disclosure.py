"""The part of a ledger with sealed values that others may see: all of it, with commitments in their place.

Retiring a challenge discloses what belongs to it: its reference answer, what was said on the way to it, and
every attempt at it. The digests stay the same, so `verify` works on a redacted ledger as on the whole one.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec

from peerage.challenges.pool import (
    STREAM,
    Action,
    read_challenge_detail,
    read_challenge_entry,
    read_challenge_facts,
)
from peerage.game.media import digests_in
from peerage.ledger.check.audit import texts_of
from peerage.ledger.forms.codec import by_hex, fixture_texts, read_fixture, read_header, reply_salt
from peerage.ledger.forms.codec_requests import request_salt
from peerage.ledger.forms.log import facts_in, finished
from peerage.ledger.forms.rows import COPY, Amendment, Batch, Exchange, FixtureRow, LedgerError, RecordRow
from peerage.ledger.ledger import Ledger
from peerage.ledger.opening import prepare
from peerage.ledger.out.copying import at_pin
from peerage.ledger.stores.sqlite import SqliteStore
from peerage.ledger.topics.secret import read_secret
from peerage.values.sealing import MARK, Sealed, committed

Row = TypeVar("Row", FixtureRow, RecordRow, Amendment, Exchange)
BLOCK = 100
"""Matches written at a time."""


class _Everything(Collection[str]):
    """The salts of an arena whose secret is open: all there are."""

    def __contains__(self, salt: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1


_DIGEST = re.compile(rb"[0-9a-f]{64}")
_KEY = re.compile(rb'"seed":\{"~salt":"([0-9a-f]{32})"')


def redacted(row: Row, revealed: Collection[str] = ()) -> Row:
    """A row of a finished match as others see it: its key and values with `revealed` salts stay opened."""
    if isinstance(row, FixtureRow) and (key := _KEY.search(row.body)):
        revealed = {key[1].decode(), *revealed} if not isinstance(revealed, _Everything) else revealed
    if isinstance(row, Exchange):
        if MARK not in row.request and (row.reply is None or MARK not in row.reply):
            return row
        request = committed(row.request, revealed)
        reply = None if row.reply is None else committed(row.reply, revealed)
        return msgspec.structs.replace(row, request=request, reply=reply)
    body = committed(row.body, revealed)
    return row if body is row.body else msgspec.structs.replace(row, body=body)


def acted(ledger: Ledger, action: Action) -> frozenset[str]:
    """The ids of the challenges of which an amendment says `action`."""
    entries = [read_challenge_entry(row.body) for row in ledger.amendments(STREAM)]
    return frozenset([entry.challenge_id for entry in entries if entry.action == action])


def disclosed(ledger: Ledger) -> Collection[str]:
    """The salts of all values that belong to retired challenges; of everything when the secret is open."""
    opened = read_secret(ledger)
    if opened is not None and opened.disclosed:
        return _Everything()
    over = acted(ledger, "retire")
    if not over:
        return frozenset()
    imported = [read_challenge_entry(row.body) for row in ledger.amendments(STREAM)]
    salts = {salt for entry in imported if entry.challenge_id in over for salt in entry.seals}
    steps: dict[int, tuple[str, ...]] = {}
    for row in ledger.records():
        outcome = read_header(row.body).outcome
        facts = [fact for fact in read_challenge_facts(outcome.facts) if fact.challenge_id in over]
        salts |= {salt for fact in facts for salt in fact.seals}
        detail = read_challenge_detail(outcome.detail)
        known = (*detail.challenges, *detail.attempts)
        if prefixes := tuple([f"{step.key}/" for step in known if step.challenge_id in over]):
            steps[row.number] = prefixes
    texts = by_hex(ledger.texts())
    for number, prefixes in steps.items():
        rows = ledger.match(number)
        if rows is None:
            raise LedgerError(f"match {number} has a record and no fixture; `peerage verify` says more")
        try:
            secret = read_fixture(rows.fixture.body, texts).secret
        except Sealed:
            continue
        for exchange in rows.exchanges:
            if exchange.key.startswith(prefixes):
                salts |= {request_salt(secret, exchange.key), reply_salt(secret, exchange.key)}
    return frozenset(salts - {""})


def texts_until(ledger: Ledger, last: int) -> dict[bytes, str]:
    """The long texts to which the matches at places 1..last refer, in the order of their digests: those of
    matches under way, which hold what their players must not know, are not among them."""
    return _texts(ledger, ledger.fixtures(1, last), ledger.exchanges(1, last))


def _texts(ledger: Ledger, fixtures: Iterable[FixtureRow], exchanges: Iterable[Exchange]) -> dict[bytes, str]:
    """The long texts to which these rows refer, in the order of their digests."""
    named = {digest for row in fixtures for digest in fixture_texts(row.body)}
    for row in exchanges:
        named |= texts_of(row.request)
    digests = [bytes.fromhex(digest.decode()) for digest in sorted(named) if _DIGEST.fullmatch(digest)]
    return dict(sorted(ledger.texts(digests).items()))


def _copy(ledger: Ledger, to: Ledger) -> None:
    """Write all that others may see of a ledger into an empty one: its finished matches, what is sealed as
    commitments, and its log as it is, so that the copy has both heads of the original. A run may go on: what
    comes after the log was read is left out. The caller holds the runner's lock of `to`."""
    revealed = disclosed(ledger)
    pin, facts = ledger.moment(lambda rows: (rows.pin(), rows.facts()))
    log = [entry for entry in ledger.log() if entry.position <= pin.log]
    done = len({finished(entry.about) for entry in log} - {0})
    amendments = [redacted(row, revealed) for row in ledger.amendments() if row.position <= len(log)]
    to.write(Batch(meta={**facts_in(log, facts), COPY: "redacted"}, amendments=amendments, log=log))
    copied: set[bytes] = set()
    for first in range(1, done + 1, BLOCK):
        last = min(first + BLOCK - 1, done)
        fixtures = list(ledger.fixtures(first, last))
        exchanges = list(at_pin(ledger.exchanges(first, last), pin))
        texts = [item for item in _texts(ledger, fixtures, exchanges).items() if item[0] not in copied]
        copied.update([digest for digest, _ in texts])
        fixtures = [redacted(row, revealed) for row in fixtures]
        exchanges = [redacted(row, revealed) for row in exchanges]
        shown = [row.body for row in fixtures] + [row.request for row in exchanges]
        for digest in digests_in(b"".join([*shown, *[text.encode() for _, text in texts]])):
            if (media := bytes.fromhex(digest)) not in copied and (held := ledger.media([digest])):
                to.write(Batch(media=[(media, held[digest])], log=()))
                copied.add(media)
        batch = Batch(
            texts=texts,
            fixtures=fixtures,
            attempts=exchanges,
            records=[redacted(row, revealed) for row in ledger.records(first, last)],
            summaries=list(ledger.summaries(first, last)),
            log=(),
        )
        to.write(batch)
    newest = ledger.snapshot(done)
    if newest is not None:
        to.write(Batch(snapshots=[newest], log=()))


def write_redacted(ledger: Ledger, file: Path) -> None:
    """Write all that others may see of a ledger into the SQLite file `file`, which must not be there. That it
    is on the disk is the caller's to see to. Raises LedgerError."""
    store = SqliteStore(f"sqlite:///{file.name}", file.parent, durable=False)
    prepare(store, create=True)
    with closing(Ledger(store)) as to, to.runner():
        _copy(ledger, to)
    # Those who read it later leave no files of a log beside it.
    with closing(sqlite3.connect(file)) as copy:
        copy.execute("PRAGMA journal_mode=DELETE")
