"""Bodies as they are stored: compressed with zstd, by one dictionary that is kept in the ledger.

Digests and checksums are over bodies, never over what is stored of them. The dictionary is made of the first
requests, replies, fixtures and records of the ledger itself, so it knows the forms of this arena; what was
stored before is compressed without one. A body that compression would not shorten is stored as it is.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from peerage.ledger.forms.rows import LedgerError

MAGIC = b"\x28\xb5\x2f\xfd"
"""The first bytes of a frame of zstd; no text in UTF-8 does."""
LEVEL = 3
_LONG = 0x80
"""From this descriptor on a frame's length takes four bytes or more (RFC 8878, section 3.1.1.1)."""
SHORTEST = 48
"""Bytes of the shortest body that is compressed."""
LONGEST = 2**30
"""Bytes that a stored body may come to."""
DICTIONARY_BYTES = 16_384
SAMPLE_BYTES = 8_192
"""Bytes of a body that are looked at when a dictionary is made."""


class Bodies:
    """Packs and unpacks the bodies of one ledger, in any thread. `place` names it for people."""

    def __init__(self, place: str, dictionary: bytes = b"") -> None:
        self._place = place
        self._local = threading.local()
        self.dictionary = dictionary

    def learn(self, dictionary: bytes) -> None:
        """Use the ledger's dictionary from now on."""
        # In this order: codecs that a thread makes meanwhile, without it, are forgotten.
        self.dictionary = dictionary
        self._local = threading.local()

    def packed(self, body: bytes) -> bytes:
        """Return the stored form of a body."""
        if len(body) < SHORTEST and not body.startswith(MAGIC):
            return body
        frame: bytes = self._codecs()[0](body)
        return frame if len(frame) < len(body) or body.startswith(MAGIC) else body

    def lacks(self, stored: bytes) -> bool:
        """Return whether a stored body needs a dictionary, and none is known."""
        return not self.dictionary and stored[:4] == MAGIC and len(stored) > 4 and bool(stored[4] & 3)

    def whole(self, stored: Sequence[Any]) -> list[Any]:
        """Return the bodies of which these are stored, None of None. Raises LedgerError where one is
        damaged."""
        import zstandard

        decompress = self._codecs()[1]

        def rare(body: bytes | None) -> bytes | None:
            """Return one that is as it was written, or says that it is long."""
            if body is None or body[:4] != MAGIC:
                return body
            if zstandard.frame_content_size(body) > LONGEST:
                raise zstandard.ZstdError(f"it says that it is longer than {LONGEST:,} bytes")
            whole: bytes = decompress(body, allow_extra_data=False)
            return whole

        try:
            # By position, which takes half the time: no size is given, nothing may follow the frame.
            return [
                decompress(body, 0, False, False)
                if body and body[:4] == MAGIC and body[4] < _LONG
                else rare(body)
                for body in stored
            ]
        except (zstandard.ZstdError, MemoryError, IndexError) as error:
            raise LedgerError(
                f"{self._place} is damaged: a body cannot be read ({error}). Restore it from a copy; "
                "`peerage verify` says what is whole"
            ) from error

    def _codecs(self) -> tuple[Any, Any]:
        """Return what compresses and what decompresses in this thread. A dictionary changes nothing of what
        was compressed without one."""
        codecs: tuple[Any, Any] | None = getattr(self._local, "codecs", None)
        if codecs is None:
            import zstandard

            known = zstandard.ZstdCompressionDict(self.dictionary) if self.dictionary else None
            codecs = self._local.codecs = (
                zstandard.ZstdCompressor(level=LEVEL, dict_data=known).compress,
                zstandard.ZstdDecompressor(dict_data=known).decompress,
            )
        return codecs


def dictionary_of(samples: Sequence[bytes]) -> bytes:
    """Return a dictionary for bodies like these; empty where they are too few or too much alike for one."""
    import zstandard

    cut: list[Any] = [sample[:SAMPLE_BYTES] for sample in samples]
    try:
        # Long segments: what repeats here is whole forms. Both figures are the best of those tried on duels.
        made = zstandard.train_dictionary(DICTIONARY_BYTES, cut, dict_id=1, k=1_000, d=6)
    except zstandard.ZstdError:
        return b""
    return made.as_bytes()
