"""Laws of the Merkle tree: it is RFC 9162's, every leaf and every beginning has a proof, and no other path is
accepted."""

from hashlib import sha256

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.rfc9162 import check_consistency

from peerage.ledger.forms.log import entry_leaf
from peerage.ledger.forms.merkle import check_proof, consistency, leaf, leaves, levels, proof, root
from peerage.values.sealing import seal

BODIES = st.binary() | st.integers().map(lambda value: msgspec.json.encode({"text": seal("0f" * 16, value)}))
LEAVES = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=70)


def recursive_root(leaves: list[bytes]) -> bytes:
    """RFC 9162 section 2.1.1 word for word, without its leaf hash."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + recursive_root(leaves[:split]) + recursive_root(leaves[split:])).digest()


@given(LEAVES)
def test_root_is_that_of_rfc_9162(leaves: list[bytes]) -> None:
    assert root(leaves) == recursive_root(leaves)


@given(LEAVES, st.data())
def test_every_leaf_has_a_proof_and_no_other_is_accepted(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    path, top = proof(levels(leaves), index), root(leaves)
    assert check_proof(leaves[index], index, len(leaves), path, top)
    assert not check_proof(sha256(leaves[index]).digest(), index, len(leaves), path, top)
    assert not check_proof(leaves[index], index, len(leaves), (*path, bytes(32)), top)
    assert not check_proof(leaves[index], index, len(leaves) + 1, path[1:], top) or not path
    if path:
        assert not check_proof(leaves[index], index, len(leaves), path[:-1], top)


def recursive_consistency(first: int, leaves: list[bytes], *, known: bool = True) -> list[bytes]:
    """SUBPROOF of RFC 9162 section 2.1.4.1 word for word."""
    if first == len(leaves):
        return [] if known else [recursive_root(leaves)]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if first <= split:
        return [*recursive_consistency(first, leaves[:split], known=known), recursive_root(leaves[split:])]
    return [
        *recursive_consistency(first - split, leaves[split:], known=False),
        recursive_root(leaves[:split]),
    ]


@given(LEAVES, st.data())
def test_every_beginning_is_consistent_and_no_other_is_accepted(
    leaves: list[bytes], data: st.DataObject
) -> None:
    size = len(leaves)
    first = data.draw(st.integers(1, size))
    path, was, now = consistency(leaves, first), root(leaves[:first]), root(leaves)
    assert list(path) == recursive_consistency(first, leaves)
    assert check_consistency(first, size, was, now, path)
    other = sha256(was).digest()
    assert not check_consistency(first, size, other, now, path)
    assert not check_consistency(first, size, was, other, path)
    assert not check_consistency(first, size, was, now, (*path, other))
    assert not check_consistency(0, size, was, now, path)
    assert not check_consistency(size + 1, size, was, now, path)
    for at in range(len(path)):
        assert not check_consistency(first, size, was, now, (*path[:at], *path[at + 1 :]))
        assert not check_consistency(first, size, was, now, (*path[:at], other, *path[at + 1 :]))


@given(LEAVES, st.data())
def test_a_changed_beginning_has_no_proof_from_the_new_leaves(
    leaves: list[bytes], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(leaves)))
    at = data.draw(st.integers(0, first - 1))
    changed = [*leaves]
    changed[at] = sha256(leaves[at]).digest()
    path = consistency(changed, first)
    assert not check_consistency(first, len(leaves), root(leaves[:first]), root(changed), path)


@given(
    st.tuples(st.integers(1), st.text(), st.binary(min_size=32, max_size=32)),
    st.tuples(st.integers(1), st.text(), st.binary(min_size=32, max_size=32)),
)
def test_leaves_of_the_log_are_unambiguous(
    one: tuple[int, str, bytes], other: tuple[int, str, bytes]
) -> None:
    position, about, digest = one
    said = f"{position} {digest.hex()} {about}".encode()
    assert entry_leaf(*one) == sha256(b"\x00" + said).digest()
    assert (entry_leaf(*one) == entry_leaf(*other)) == (one == other)


@given(LEAVES, st.data())
def test_any_changed_leaf_changes_the_root(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    changed = [*leaves]
    changed[index] = sha256(leaves[index]).digest()
    assert root(changed) != root(leaves)


@given(
    st.tuples(st.text(), st.text(), st.binary(), st.binary()),
    st.tuples(st.text(), st.text(), st.binary(), st.binary()),
)
def test_leaves_are_unambiguous(
    one: tuple[str, str, bytes, bytes], other: tuple[str, str, bytes, bytes]
) -> None:
    assert (leaf(*one) == leaf(*other)) == (one == other)


@given(st.lists(st.tuples(st.text(), st.text(), BODIES, BODIES)))
def test_leaves_of_many_are_those_of_each(exchanges: list[tuple[str, str, bytes, bytes]]) -> None:
    columns = [list(column) for column in zip(*exchanges, strict=True)] or [[], [], [], []]
    assert leaves(*columns) == [leaf(*one) for one in exchanges]
