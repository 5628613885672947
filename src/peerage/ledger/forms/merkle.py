"""Digests of the ledger: leaves, the log's tree, what proves it, the chain of records. Pure; SHA-256 alone.

Every hash begins with a byte that says what it is of, so that none can stand for another:
0x00 a leaf, 0x01 two subtrees, 0x02 a link of a chain, 0x03 the beginning of an amendment stream, 0x04 a link
of the log, 0x05 the leaves of a match.

The leaves of a match are its answered exchanges in order of their keys, compared as UTF-8; nobody proves some
without the others, so its root is over all of them at once. The log's tree, over all its entries in order
(`log.entry_leaf`), is that of RFC 9162 section 2.1 (a left subtree is the largest power of two below the
whole). An exchange begins with a zero byte, an entry with a digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import repeat
from struct import Struct
from zlib import crc32

from peerage.values.sealing import MARK, committed

GENESIS = bytes(32)
"""The link of the first record of a ledger."""

EMPTY_ROOT = sha256(b"").digest()
"""The root of no leaves (RFC 9162 section 2.1.1)."""

_LENGTHS = Struct(">B4Q").pack


def leaf(key: str, player: str, request: bytes, reply: bytes) -> bytes:
    """The digest of one exchange.

    SHA-256 of 0x00, the four lengths in bytes as unsigned big-endian 64-bit integers, then key and
    player as UTF-8, and the stored bytes of request and reply, sealed values as their commitments.
    """
    if MARK in request or MARK in reply:
        request, reply = committed(request), committed(reply)
    name, who = key.encode(), player.encode()
    lengths = _LENGTHS(0, len(name), len(who), len(request), len(reply))
    return sha256(b"".join((lengths, name, who, request, reply))).digest()


def leaves(
    keys: Sequence[str], players: Sequence[str], requests: Sequence[bytes], replies: Sequence[bytes]
) -> list[bytes]:
    """The digests of many exchanges, each as `leaf` says."""
    if MARK in b"".join(requests) or MARK in b"".join(replies):
        requests, replies = [*map(committed, requests)], [*map(committed, replies)]
    # Columns, for verifying a large ledger spends its time here.
    columns = [*map(str.encode, keys)], [*map(str.encode, players)], requests, replies
    lengths = map(_LENGTHS, repeat(0), *[map(len, column) for column in columns])
    return [sha256(row).digest() for row in map(b"".join, zip(lengths, *columns, strict=True))]


def match_root(leaves: Mapping[str, bytes]) -> str:
    """The root of a match, in hex: SHA-256 of 0x05 and the leaves of its answered exchanges, by key."""
    return sha256(b"\x05" + b"".join([leaves[key] for key in sorted(leaves)])).hexdigest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The Merkle root of leaves in order; `EMPTY_ROOT` for none."""
    if not leaves:
        return EMPTY_ROOT
    level = list(leaves)
    while len(level) > 1:
        level = _above(level)
    return level[0]


def levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """The tree over leaves in order: they themselves, what is above them, and so on to the root."""
    tree = [list(leaves)]
    while len(tree[-1]) > 1:
        tree.append(_above(tree[-1]))
    return tree


def proof(tree: Sequence[Sequence[bytes]], index: int) -> tuple[bytes, ...]:
    """The siblings on the way from leaf `index` to the root of a tree (`levels`), nearest first (RFC 9162
    section 2.1.3).

    Raises IndexError when there is no such leaf.
    """
    if not 0 <= index < len(tree[0]):
        raise IndexError(f"leaf {index} of {len(tree[0])}")
    siblings = [(level, (index >> height) ^ 1) for height, level in enumerate(tree)]
    return tuple([level[at] for level, at in siblings if at < len(level)])


def check_proof(leaf: bytes, index: int, count: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return whether `path` shows that `leaf` is leaf `index` of `count` under `root`."""
    if not 0 <= index < count:
        return False
    siblings = iter(path)
    digest = leaf
    while count > 1:
        if index ^ 1 < count:
            sibling = next(siblings, None)
            if sibling is None:
                return False
            digest = _node(sibling, digest) if index & 1 else _node(digest, sibling)
        index //= 2
        count = (count + 1) // 2
    return digest == root and next(siblings, None) is None


def consistency(leaves: Sequence[bytes], first: int) -> tuple[bytes, ...]:
    """Return what shows that the tree over all `leaves` continues the tree over the `first` of them (RFC 9162
    section 2.1.4): empty when it is the same.

    Raises IndexError unless `first` is from 1 to the number of leaves.
    """
    if not 1 <= first <= len(leaves):
        raise IndexError(f"the first {first} of {len(leaves)} leaves")
    low, high, known = 0, len(leaves), True  # `known`: the checker has the root of all that is left of low
    path: list[bytes] = []
    while first < high:
        split = low + (1 << (high - low - 1).bit_length() - 1)
        if first <= split:
            path.append(root(leaves[split:high]))
            high = split
        else:
            path.append(root(leaves[low:split]))
            low, known = split, False
    if not known:
        path.append(root(leaves[low:high]))
    return tuple(reversed(path))


def link(previous: bytes, body: bytes) -> bytes:
    """The chain value of a record or amendment: SHA-256 of 0x02, the value before it, the body's digest."""
    return sha256(b"\x02" + previous + sha256(committed(body)).digest()).digest()


def checksum(body: bytes) -> int:
    """The CRC-32 of stored bytes, sealed values as their commitments."""
    return crc32(committed(body))


def digest(body: bytes) -> str:
    """The SHA-256 of the stored bytes of a fixture or record, sealed values as their commitments, in hex."""
    return sha256(committed(body)).hexdigest()


def stream_genesis(stream: str) -> bytes:
    """Return what the first amendment of a stream is linked to: SHA-256 of 0x03 and the stream's name."""
    return sha256(b"\x03" + stream.encode()).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def _above(level: list[bytes]) -> list[bytes]:
    # An odd node moves up unchanged: level by level this builds RFC 9162's split.
    nodes = iter(level)
    above = [sha256(b"\x01" + a + b).digest() for a, b in zip(nodes, nodes, strict=False)]
    return above if len(level) % 2 == 0 else [*above, level[-1]]
