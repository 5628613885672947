"""Whether a ledger extends the one whose head somebody kept. Pure.

What `verify` prints as the root of the log, SIZE:ROOT, is kept in one line. Later the first SIZE entries must
give the same root: then every match, time, cost, amendment and vote that was there is still there, as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from peerage.ledger.forms.merkle import root

_HEAD = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")


class Head(Struct, frozen=True):
    """A head that somebody kept: `size` entries of a log and their root."""

    size: int
    digest: bytes

    def __str__(self) -> str:
        return f"{self.size}:{self.digest.hex()}"


class Since(Struct, frozen=True):
    """What a kept `head` says of this ledger: whether it `extends` that one, and by how many `matches` and
    `entries` of the log, both 0 where it does not."""

    head: str
    extends: bool
    matches: int = 0
    entries: int = 0


def read_head(text: str) -> Head:
    """A head as `verify` prints it. Raises ValueError, whose message says what was expected."""
    found = _HEAD.fullmatch(text.strip().lower())
    if not found:
        raise ValueError(
            f"{text[:80]!r} is no head of a ledger: expected what `peerage verify` printed as its log root, "
            "as 412:5f0c… with all 64 hex digits"
        )
    return Head(int(found[1]), bytes.fromhex(found[2]))


def log_root(leaves: Sequence[bytes]) -> str:
    """The root of a log, as it is kept; empty for a ledger without one."""
    return str(Head(len(leaves), root(leaves))) if leaves else ""


def extends_log(head: Head, leaves: Sequence[bytes], firsts: Sequence[int]) -> tuple[Since, str]:
    """Whether a log begins with the one that was kept, and if not what differs.

    `leaves` are those of all entries, `firsts` the positions at which matches entered the log.
    """
    size = head.size
    if size > len(leaves):
        return Since(str(head), False), (
            f"it does not extend {head}: its log has {len(leaves)} entries and {len(firsts)} matches, that "
            f"one had {size} entries. Its end was cut off, it is an older copy, or it is another arena"
        )
    if root(leaves[:size]) != head.digest:
        matches = sum(position <= size for position in firsts)
        return Since(str(head), False), (
            f"it does not extend {head}: its first {size} entries, with {matches} matches, are not those of "
            "that log. Its past was rewritten, or it is another arena"
        )
    since = sum(position > size for position in firsts)
    return Since(str(head), True, since, len(leaves) - size), ""
