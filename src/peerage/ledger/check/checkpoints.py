"""Checkpoints of an arena: its origin, the key that signs them, and the folder in which they are kept.

The key is nowhere near the ledger: one who can write the one must not be able to sign it with the other. The
folder `checkpoints` next to `arena.yaml` holds every checkpoint that was signed, `SIZE.txt`, with the
signatures of witnesses, and `keys.txt`, the public keys. Sites and published repositories carry it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from peerage.ledger.check.kept_checkpoints import KeptCheckpoint, read_kept
from peerage.ledger.check.notes import Checkpoint, VerifierKey, read_keys
from peerage.ledger.forms.log import entry_leaf
from peerage.ledger.forms.rows import COPY, Batch, LedgerBusy, LedgerError
from peerage.ledger.ledger import Ledger
from peerage.ledger.topics.votes import PeopleVotes
from peerage.values.inputs import read_bytes
from peerage.values.outputs import replacing
from peerage.values.system_errors import reason

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FOLDER = "checkpoints"
KEYS = "keys.txt"
_NOT_NAMING = ("fact", "run")


def origin(ledger: Ledger) -> str:
    """Return the name of a log among all others: `peerage/` and 32 hex digits, the digest of its first entry
    that is about more than facts. Empty while there is none."""
    for entry in ledger.log():
        if entry.about.partition(" ")[0] not in _NOT_NAMING:
            return f"peerage/{entry.digest.hex()[:32]}"
    return ""


def new_key(path: Path) -> Ed25519PrivateKey:
    """Draw a key and write it to `path`, where no file may be, for its owner alone to read. Raises
    LedgerError."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = Ed25519PrivateKey.generate()
    body = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
    except FileExistsError:
        raise LedgerError(f"{path} exists, and a key is never replaced; move it away first") from None
    except OSError as error:
        raise LedgerError(f"cannot write a key to {path}: {reason(error)}") from error
    return private


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """The key in `path`. Raises LedgerError when there is none, or others may read it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise LedgerError(
                f"others may read the key in {path}: run `chmod 600 {path}`, or draw another if they did"
            )
        body = read_bytes(path)
    except FileNotFoundError:
        raise LedgerError(
            f"there is no key in {path}: `peerage checkpoint --new-key` draws one; --key FILE or "
            "PEERAGE_CHECKPOINT_KEY names another file"
        ) from None
    with suppress(ValueError, TypeError):
        private = load_pem_private_key(body, None)
        if isinstance(private, Ed25519PrivateKey):
            return private
    raise LedgerError(f"{path} holds no Ed25519 key in PEM without a passphrase")


def take_in_votes(ledger: Ledger, votes: PeopleVotes) -> int:
    """Take the newest votes of the audience into the log, unless a run holds the ledger, which does so
    itself; how many are still outside of it."""
    head = votes.head()
    logged = [int(entry.about.split()[1]) for entry in ledger.log() if entry.about.startswith("votes ")]
    newer = head[0] - max(logged, default=0) if head else 0
    if not newer:
        return 0
    try:
        with ledger.runner():
            ledger.write(Batch(votes=head))
    except LedgerBusy:
        return newer
    return 0


def unsigned(ledger: Ledger, log_root: str) -> Checkpoint:
    """The checkpoint of a ledger whose log root `verify` found, to be signed. Raises LedgerError."""
    name = origin(ledger)
    if COPY in ledger.meta():
        raise LedgerError("this is a copy for others: who has the ledger signs it")
    if not name or not log_root:
        raise LedgerError("there is nothing to sign yet: no match is on record")
    size, _, digest = log_root.partition(":")
    return Checkpoint(name, int(size), bytes.fromhex(digest))


def leaves_of(ledger: Ledger) -> list[bytes]:
    """The leaves of all entries of the log."""
    return [entry_leaf(entry.position, entry.about, entry.digest) for entry in ledger.log()]


def kept_in(folder: Path) -> list[KeptCheckpoint]:
    """The checkpoints in an arena's folder, the shortest first. Raises LedgerError for a file without one."""
    keys = read_public_keys(folder / FOLDER / KEYS)
    kept: list[KeptCheckpoint] = []
    for file in (folder / FOLDER).glob("*.txt"):
        if file.name != KEYS:
            kept += read_file(file, keys)
    return sorted(kept, key=lambda each: each.checkpoint.size)


def read_file(file: Path, keys: Sequence[VerifierKey], *, demanded: bool = False) -> Iterator[KeptCheckpoint]:
    """Yield what a file holds; see `read_kept`. Raises LedgerError for neither checkpoint nor proof."""
    yield from read_text(str(file), read_bytes(file), keys, demanded=demanded)


def read_text(
    name: str, body: bytes, keys: Sequence[VerifierKey], *, demanded: bool = False
) -> Iterator[KeptCheckpoint]:
    """The same of bytes that came from a place of that name."""
    try:
        yield from read_kept(name, body.decode(), keys, demanded=demanded)
    except ValueError as error:  # also of its form as UTF-8 and JSON
        raise LedgerError(f"{name}: {error}") from error


def read_public_keys(file: Path) -> tuple[VerifierKey, ...]:
    """The public keys in a file, none where it is not there. Raises LedgerError."""
    try:
        return read_keys(read_bytes(file).decode())
    except FileNotFoundError:
        return ()
    except ValueError as error:
        raise LedgerError(f"{file}: {error}") from error


def keep(folder: Path, note: Checkpoint, keys: Sequence[VerifierKey]) -> Path:
    """Write a signed checkpoint and new keys into an arena's folder; where it is. Earlier signatures stay."""
    file = folder / FOLDER / f"{note.size}.txt"
    file.parent.mkdir(exist_ok=True)
    for before in read_file(file, ()) if file.exists() else ():
        note = before.checkpoint.with_signatures(note.signatures)
    every = dict.fromkeys([*read_public_keys(file.with_name(KEYS)), *keys])
    for path, text in ((file, str(note)), (file.with_name(KEYS), "".join([f"{key}\n" for key in every]))):
        with replacing(path) as part:
            part.write_text(text, "utf-8", newline="\n")
    return file
