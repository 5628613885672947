"""How RFC 9162 has a witness check that a log only grew."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def check_consistency(
    first: int, second: int, first_root: bytes, second_root: bytes, path: Sequence[bytes]
) -> bool:
    """Whether `path` shows that the tree of `second` leaves continues that of the `first` of them
    (RFC 9162 section 2.1.4.2)."""
    if not 1 <= first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    siblings = [first_root, *path] if first & (first - 1) == 0 else list(path)
    if not siblings:
        return False
    at, last = first - 1, second - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    was = now = siblings[0]
    for sibling in siblings[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            was, now = node(sibling, was), node(sibling, now)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            now = node(now, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and was == first_root and now == second_root
