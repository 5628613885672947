"""The bytes of pictures and sounds that a run asks about: held, fetched, and written down once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import chain
from typing import Protocol

import msgspec

from peerage.game.match import Fixture
from peerage.game.media import MediaShelf, digests_in, fetched
from peerage.ledger import Batch
from peerage.settings import ArenaError
from peerage.values.texts import MARK_BEGINS

HELD = 64 * 2**20
"""Bytes that are held in memory: those of the last used, which the next match may show again."""


class HoldsMedia(Protocol):
    """A ledger, or a worker's."""

    def media(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of pictures and sounds by digest (hex), of those that are there."""


class Shelf:
    """The pictures and sounds of a run: `beside` the arena's settings and in its `ledger`, where
    `stored` are. For one thread."""

    def __init__(self, beside: MediaShelf, ledger: HoldsMedia) -> None:
        self.stored: set[str] = set()
        self._beside = beside
        self._ledger = ledger
        self._new: dict[str, bytes] = {}
        self._held: dict[str, bytes] = {}
        self._size = 0

    def get(self, digest: str) -> bytes | None:
        """Return the bytes of a digest (hex); None where nobody has them. Raises LedgerError where those in
        the ledger changed."""
        if digest in self._new:
            return self._new[digest]
        body = self._held.pop(digest, None)
        if body is None:
            body = self._beside.get(digest)
            if body is None or sha256(body).hexdigest() != digest:
                if (body := self._ledger.media([digest]).get(digest)) is None:
                    return None
                self.stored.add(digest)
            self._size += len(body)
        self._held[digest] = body
        while self._size > HELD and len(self._held) > 1:
            self._size -= len(self._held.pop(next(iter(self._held))))
        return body

    def taken_in(self, issued: Iterable[tuple[Fixture, Mapping[str, bytes]]]) -> list[Fixture]:
        """Hold what was drawn with new fixtures, by digest, until it is written; return these. Raises
        ArenaError where one shows what nobody has: all that follow would."""
        fixtures = list[Fixture]()
        for fixture, drawn in issued:
            self._new |= {digest: body for digest, body in drawn.items() if digest not in self.stored}
            fixtures.append(fixture)
            if lost := self.lost(fixture):
                raise ArenaError(
                    f"match {fixture.number} of {fixture.game} would show what is neither in the ledger nor "
                    f"in the arena's folder ({lost}); put the files back that its tasks name, and run again"
                )
        return fixtures

    def lost(self, fixture: Fixture) -> str:
        """Return which pictures and sounds of a fixture are nowhere; empty for none. Raises LedgerError."""
        return fetched([msgspec.json.encode(fixture.drawn).decode()], self)[1]

    def due(self, batch: Batch) -> Iterator[tuple[bytes, bytes]]:
        """Yield what a batch refers to and was not written before, which it must hold itself then."""
        texts = (text.encode() for _, text in batch.texts if MARK_BEGINS in text)
        issued, asked = (row.body for row in batch.fixtures), (row.body for row in batch.intents)
        for digest in dict.fromkeys(chain.from_iterable(map(digests_in, chain(texts, issued, asked)))):
            if digest not in self.stored and (body := self.get(digest)) is not None:
                if digest not in self.stored:  # where it may have been found
                    yield bytes.fromhex(digest), body
                self.stored.add(digest)

    def written(self, batch: Batch) -> None:
        """A batch is durable."""
        for digest, _ in batch.media:
            self._new.pop(digest.hex(), None)
