"""Signed notes of transparency logs: keys, checkpoints, cosignatures, proofs of one entry. Pure.

The formats are those of C2SP, so that tools of others read them:

    https://c2sp.org/signed-note       a text, a blank line, lines "— NAME base64(key id ‖ signature)"
    https://c2sp.org/tlog-checkpoint   origin, size and root of a log, as such a text
    https://c2sp.org/tlog-cosignature  what a witness signs, with its time
    https://c2sp.org/tlog-proof        the way from one entry to the root of a checkpoint

Signatures are Ed25519 (RFC 8032). Whatever is read here may be a stranger's: what is not exactly in form
raises ValueError, whose message says what was expected.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from peerage.ledger.forms.merkle import check_proof

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LOG, WITNESS = 1, 4
"""Kinds of keys: a log's, and a witness's, which signs the time as well."""

MOST_SIGNATURES = 64
LONGEST = 100_000
"""Characters of a note at most."""

PROOF = "c2sp.org/tlog-proof@v1"

_NAME = re.compile(r"[^\s+\x00-\x20]{1,200}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


class VerifierKey(NamedTuple):
    """A public key under a name; as text `NAME+ID+base64(kind ‖ key)`."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        """The first four bytes of the SHA-256 of name, line feed, kind and key."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{_text(bytes([self.kind]) + self.public)}"


class Signature(NamedTuple):
    """One line of a note: who signed, the key's id, and what the key made."""

    name: str
    id: bytes
    made: bytes

    def __str__(self) -> str:
        return f"— {self.name} {_text(self.id + self.made)}"


class Signed(NamedTuple):
    """A signature that holds: by whom, and when (Unix seconds) where a witness says so."""

    key: VerifierKey
    at_s: int | None


class Checkpoint(Struct, frozen=True):
    """The first `size` entries of the log `origin`: the root of their tree, and who signed it."""

    origin: str
    size: int
    root: bytes
    signatures: tuple[Signature, ...] = ()

    @property
    def text(self) -> str:
        """Return the text that is signed."""
        return f"{self.origin}\n{self.size}\n{_text(self.root)}\n"

    def __str__(self) -> str:
        return "\n".join([self.text, *map(str, self.signatures), ""])

    def with_signatures(self, more: Iterable[Signature]) -> Checkpoint:
        """The same with further signatures, one for each key; a newer one takes the place of an older."""
        newest = {(signature.name, signature.id): signature for signature in (*self.signatures, *more)}
        return replace(self, signatures=tuple(newest.values()))


def read_key(text: str) -> VerifierKey:
    """A public key from its text."""
    name, plus, rest = text.strip().partition("+")
    key_id, _, body = rest.partition("+")
    try:
        raw = _bytes(body)
    except ValueError:
        raw = b""
    key = VerifierKey(name, raw[0] if raw else 0, raw[1:])
    if not plus or not _NAME.fullmatch(name) or key.kind not in (LOG, WITNESS) or len(key.public) != 32:
        raise ValueError(
            f"{text.strip()[:120]!r} is no key of a log or witness: expected NAME+ID+KEY, as "
            "`peerage checkpoint --new-key` prints it, or a witness publishes it (Ed25519)"
        )
    if key.id.hex() != key_id:
        raise ValueError(f"the key {text.strip()[:120]!r} was changed: its id is {key.id.hex()}")
    return key


def read_keys(text: str) -> tuple[VerifierKey, ...]:
    """The keys in a file, one a line; blank lines and those that begin with # are passed over."""
    lines = [line.strip() for line in text.splitlines()]
    return tuple([read_key(line) for line in lines if line and not line.startswith("#")])


def read_signatures(text: str) -> tuple[Signature, ...]:
    """Signature lines, as they end a note and as a witness sends them."""
    lines = text.split("\n")
    if len(text) > LONGEST or not 1 <= len(lines) - 1 <= MOST_SIGNATURES or lines.pop():
        raise ValueError(f"expected 1 to {MOST_SIGNATURES} signature lines, each with a line feed at its end")
    signatures = []
    for line in lines:
        dash, _, rest = line.partition(" ")
        name, _, body = rest.partition(" ")
        raw = _bytes(body)
        if dash != "—" or not _NAME.fullmatch(name) or len(raw) < 5:
            raise ValueError(f"{line[:120]!r} is no signature: expected a dash (U+2014), a name, and base64")
        signatures.append(Signature(name, raw[:4], raw[4:]))
    return tuple(signatures)


def read_checkpoint(text: str) -> Checkpoint:
    """A signed checkpoint."""
    if len(text) > LONGEST or any(mark < " " and mark != "\n" for mark in text):
        raise ValueError("it is too long, or holds control characters; expected a checkpoint of a log")
    body, blank, signatures = text.rpartition("\n\n")
    lines = body.split("\n")
    if not blank or len(lines) < 3 or not lines[0]:
        raise ValueError(
            "it is no checkpoint: expected three lines (origin, size, root), a blank line, and signatures"
        )
    if len(lines) > 3:
        raise ValueError("it has extension lines, which nobody checks; expected origin, size and root alone")
    origin, size, root = lines
    digest = _bytes(root)
    if not _NUMBER.fullmatch(size) or len(digest) != 32:
        raise ValueError("its second line must be a size in decimal, and its third a SHA-256 in base64")
    return Checkpoint(origin, int(size), digest, read_signatures(signatures))


def signers(note: Checkpoint, keys: Iterable[VerifierKey]) -> tuple[list[Signed], list[VerifierKey]]:
    """Return who of those `keys` signed a checkpoint, and whose signature does not fit."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    held: list[Signed] = []
    wrong: list[VerifierKey] = []
    for key in dict.fromkeys(keys):
        for signature in note.signatures:
            if (signature.name, signature.id) != (key.name, key.id):
                continue
            made, signed_text, at_s = signature.made, note.text.encode(), None
            if key.kind == WITNESS:
                at_s, made = int.from_bytes(made[:8]), made[8:]
                signed_text = b"cosignature/v1\ntime %d\n%b" % (at_s, signed_text)
            try:
                Ed25519PublicKey.from_public_bytes(key.public).verify(made, signed_text)
                held.append(Signed(key, at_s))
            except (InvalidSignature, ValueError):
                wrong.append(key)
    return held, wrong


def sign(note: Checkpoint, private: Ed25519PrivateKey) -> Checkpoint:
    """The checkpoint signed by its log, whose key is named as its origin."""
    key = key_of(private, note.origin)
    return note.with_signatures([Signature(key.name, key.id, private.sign(note.text.encode()))])


def key_of(private: Ed25519PrivateKey, name: str) -> VerifierKey:
    """The public key of a log of that name."""
    return VerifierKey(name, LOG, private.public_key().public_bytes_raw())


class Proof(NamedTuple):
    """That an entry stands in a log: its text, its place from 0, the digests on the way to the root of a
    checkpoint. The text is what its leaf is the SHA-256 of, after a zero byte."""

    entry: str
    place: int
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    def holds(self) -> bool:
        """Return whether the way leads to the root."""
        leaf, note = sha256(b"\x00" + self.entry.encode()).digest(), self.checkpoint
        return check_proof(leaf, self.place, note.size, self.path, note.root)

    def __str__(self) -> str:
        extra = _text(self.entry.encode())
        lines = [PROOF, f"extra {extra}", f"index {self.place}", *map(_text, self.path), ""]
        return "\n".join([*lines, str(self.checkpoint)])


def read_proof(text: str) -> Proof:
    """The proof of one entry, with its text as what the format calls extra."""
    head, _, note = text.partition("\n\n")
    mark, extra, index, *path = [*head.split("\n"), "", ""]
    place = index.removeprefix("index ")
    if mark != PROOF or not extra.startswith("extra ") or place == index or not _NUMBER.fullmatch(place):
        raise ValueError(f"it is no proof: expected {PROOF}, `extra`, `index`, digests and a checkpoint")
    entry = _bytes(extra.removeprefix("extra ")).decode()
    return Proof(entry, int(place), tuple([_bytes(digest) for digest in path[:-2]]), read_checkpoint(note))


def witness_request(note: Checkpoint, old: int, path: Sequence[bytes]) -> bytes:
    """Return a request to cosign for a witness who knows `old` entries: https://c2sp.org/tlog-witness."""
    return "\n".join([f"old {old}", *map(_text, path), "", str(note)]).encode()


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    raw = b64decode(text, validate=True)
    if _text(raw) != text:
        raise ValueError(f"{text[:80]!r} is not base64 as it is written")
    return raw
