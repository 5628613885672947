"""Pictures and sounds held against what refers to them: the part of `verify` about their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from peerage.game.media import digests_in
from peerage.ledger.check.held import Found
from peerage.ledger.forms.rows import COPY
from peerage.ledger.ledger import Ledger
from peerage.values.figures import counted


class MediaFound(Struct, frozen=True):
    """The pictures and sounds that a ledger holds, their bytes, and how many it shows and does not hold."""

    number: int = 0
    bytes: int = 0
    missing: int = 0


def in_texts(texts: Mapping[bytes, str], needed: Mapping[bytes, int]) -> dict[str, int]:
    """Return the digests (hex) in those of the `texts` that are `needed`, each with a match that needs it."""
    found = dict[str, int]()
    for digest, text in texts.items():
        if (match := needed.get(digest.hex().encode())) is not None:
            found |= dict.fromkeys(digests_in(text.encode()), match)
    return found


def held(ledger: Ledger, needed: Mapping[str, int]) -> tuple[list[Found], MediaFound]:
    """Return what is wrong with the pictures and sounds of a ledger, of which matches show those `needed`. In
    a copy for others none need be there."""
    problems, size, there = list[Found](), 0, ledger.media_digests()
    for digest in there:
        body = ledger.media([digest]).get(digest, b"")
        size += len(body)
        if sha256(body).hexdigest() != digest:
            problems.append((needed.get(digest), f"the picture or sound {digest} changed"))
    lost = sorted([needed[digest] for digest in needed.keys() - {*there}])
    if lost and COPY not in ledger.meta():
        how_many = counted(len(lost), "picture or sound is", "pictures or sounds are")
        problems.append((lost[0], f"{how_many} missing, which it or a later match shows"))
    return problems, MediaFound(len(there), size, len(lost))
