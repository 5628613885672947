"""Laws of the Merkle tree: it is RFC 6962's, every leaf has a proof, and no other path is accepted."""

from hashlib import sha256

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from peerage.ledger.merkle import check_proof, leaf, leaves, proof, root
from peerage.sealing import seal

BODIES = st.binary() | st.integers().map(lambda value: msgspec.json.encode({"text": seal("0f" * 16, value)}))
LEAVES = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=70)


def recursive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1 word for word, without its leaf hash."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + recursive_root(leaves[:split]) + recursive_root(leaves[split:])).digest()


@given(LEAVES)
def test_root_is_that_of_rfc_6962(leaves: list[bytes]) -> None:
    assert root(leaves) == recursive_root(leaves)


@given(LEAVES, st.data())
def test_every_leaf_has_a_proof_and_no_other_is_accepted(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    path, top = proof(leaves, index), root(leaves)
    assert check_proof(leaves[index], index, len(leaves), path, top)
    assert not check_proof(sha256(leaves[index]).digest(), index, len(leaves), path, top)
    assert not check_proof(leaves[index], index, len(leaves), (*path, bytes(32)), top)
    assert not check_proof(leaves[index], index, len(leaves) + 1, path[1:], top) or not path
    if path:
        assert not check_proof(leaves[index], index, len(leaves), path[:-1], top)


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
