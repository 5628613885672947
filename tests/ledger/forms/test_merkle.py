"""Digests checked against their written definition and against RFC 9162's recursion."""

from hashlib import sha256

import pytest
from tests.ledger.rfc9162 import check_consistency

from peerage.ledger.forms.merkle import (
    EMPTY_ROOT,
    GENESIS,
    check_proof,
    consistency,
    leaf,
    levels,
    link,
    match_root,
    proof,
    root,
    stream_genesis,
)


def test_leaf_is_one_hash_over_length_prefixed_fields() -> None:
    sizes = b"".join(len(part).to_bytes(8, "big") for part in ("schlüssel".encode(), b"ada", b"q", b"rr"))
    assert (
        leaf("schlüssel", "ada", b"q", b"rr")
        == sha256(b"\x00" + sizes + "schlüssel".encode() + b"ada" + b"q" + b"rr").digest()
    )


def test_moving_a_byte_between_fields_changes_the_leaf() -> None:
    seen = {
        leaf("ab", "c", b"d", b""),
        leaf("a", "bc", b"d", b""),
        leaf("ab", "", b"cd", b""),
        leaf("ab", "c", b"", b"d"),
    }
    assert len(seen) == 4


def test_the_root_of_a_match_is_one_hash_over_its_leaves_by_key() -> None:
    a, b = (sha256(x).digest() for x in (b"a", b"b"))
    assert match_root({}) == sha256(b"\x05").hexdigest()
    assert match_root({"ä": a, "z": b}) == match_root({"z": b, "ä": a}) == sha256(b"\x05" + b + a).hexdigest()


def test_small_roots_by_hand() -> None:
    a, b, c = (sha256(x).digest() for x in (b"a", b"b", b"c"))

    def node(x: bytes, y: bytes) -> bytes:
        return sha256(b"\x01" + x + y).digest()

    assert root([]) == EMPTY_ROOT == sha256(b"").digest()
    assert root([a]) == a
    assert root([a, b]) == node(a, b)
    assert root([a, b, c]) == node(node(a, b), c)
    assert levels([a, b]) == [[a, b], [node(a, b)]]
    assert levels([a, b, c]) == [[a, b, c], [node(a, b), c], [root([a, b, c])]]


def test_proof_of_a_leaf_that_is_not_there() -> None:
    with pytest.raises(IndexError, match=r"^leaf 1 of 1$"):
        proof(levels([b"x" * 32]), 1)
    assert not check_proof(b"x" * 32, 1, 1, (), b"x" * 32)
    assert not check_proof(b"x" * 32, -1, 1, (), b"x" * 32)


@pytest.mark.parametrize("first", [0, 3])
def test_no_proof_of_a_beginning_that_is_none(first: int) -> None:
    with pytest.raises(IndexError, match=rf"^the first {first} of 2 leaves$"):
        consistency([b"x" * 32, b"y" * 32], first)


def test_a_whole_tree_needs_no_proof_of_its_beginning() -> None:
    one = b"x" * 32
    assert consistency([one], 1) == ()
    assert check_consistency(1, 1, one, one, ())
    assert not check_consistency(1, 1, one, one, (one,))


def test_the_proofs_of_rfc_9162_by_its_own_example() -> None:
    """Section 2.1.5: seven leaves, and what proves the trees over 3, 4 and 6 of them."""
    a, b, c, d, e, f, j = (sha256(bytes([at])).digest() for at in range(7))

    def node(x: bytes, y: bytes) -> bytes:
        return sha256(b"\x01" + x + y).digest()

    g, h, i = node(a, b), node(c, d), node(e, f)
    k, left = node(i, j), node(g, h)
    tree = [a, b, c, d, e, f, j]
    assert root(tree) == node(left, k)
    assert proof(levels(tree), 0) == (b, h, k)
    assert proof(levels(tree), 6) == (i, left)
    assert consistency(tree, 3) == (c, d, g, k)
    assert consistency(tree, 4) == (k,)
    assert consistency(tree, 6) == (i, j, left)


def test_link_and_beginnings() -> None:
    assert link(GENESIS, b"body") == sha256(b"\x02" + bytes(32) + sha256(b"body").digest()).digest()
    assert stream_genesis("votes") == sha256(b"\x03votes").digest()
