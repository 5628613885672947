"""Witnesses and published checkpoints, over HTTP.

A witness keeps one checkpoint of each log it knows and signs a further one, with the time, when it is shown
that the log only grew: https://c2sp.org/tlog-witness. Anyone who trusts a witness need not trust the
publisher to show the same history to everybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

from peerage.ledger.check.notes import (
    WITNESS,
    Checkpoint,
    VerifierKey,
    read_signatures,
    signers,
    witness_request,
)
from peerage.ledger.forms.merkle import consistency

PATIENCE_S = 30.0
LONGEST = 64_000_000
"""Bytes of an answer that are read at most."""


class WitnessError(Exception):
    """A witness or a published checkpoint cannot be had; the message says why and how to fix it."""


class Rewritten(WitnessError):
    """A witness has cosigned another history of this log, or a longer one."""


def fetch(address: str) -> bytes:
    """Return what is at a web address. Raises WitnessError."""
    status, body = _asked(address, None)
    if status != 200:
        raise WitnessError(f"{address} answers {status}; a checkpoint was expected there")
    return body


def listed(site: str) -> list[str]:
    """The addresses of a published site's checkpoints. Raises WitnessError."""
    at = urljoin(site if site.endswith("/") else f"{site}/", "checkpoints/")
    names = fetch(urljoin(at, "list.txt")).decode("utf-8", "replace").split()
    return [urljoin(at, name) for name in names if re.fullmatch(r"[0-9]{1,18}\.txt", name)]


def cosigned(
    note: Checkpoint, leaves: Sequence[bytes], address: str, keys: Sequence[VerifierKey]
) -> Checkpoint:
    """The checkpoint with the cosignature of the witness at `address`, one of whose `keys` made it. `leaves`
    are those of the log, of which the witness may know a shorter part. Raises WitnessError."""
    to = f"{address.rstrip('/')}/add-checkpoint"
    status, body = _asked(to, witness_request(note, 0, ()))
    if status == 409:
        old = _size(to, body)
        if not 1 <= old <= note.size:
            raise Rewritten(
                f"{address} has cosigned {old} entries of this log, and this checkpoint is of {note.size}: "
                "the ledger was cut off, or is an older copy. Ask `peerage verify` with a later checkpoint"
            )
        status, body = _asked(to, witness_request(note, old, consistency(leaves[: note.size], old)))
    if status != 200:
        kind = Rewritten if status in (409, 422) else WitnessError
        raise kind(f"{address} does not cosign: {_WHY.get(status, f'it answers {status}')}")
    try:
        witnessed = note.with_signatures(read_signatures(body.decode()))
    except ValueError as error:
        raise WitnessError(f"{address} answers with something else than a cosignature: {error}") from error
    held, wrong = signers(witnessed, [key for key in keys if key.kind == WITNESS])
    sent = {(one.key.name, one.key.id) for one in held}
    if wrong or not sent - {(one.name, one.id) for one in note.signatures}:
        names = sorted(_ids(witnessed) - _ids(note))
        raise WitnessError(
            f"{address} signs as {', '.join(names) or 'nobody'}, which none of the witnesses' keys at hand "
            f"{'fits' if wrong else 'is'}: give its public key with --witness-key"
        )
    return note.with_signatures([one for one in witnessed.signatures if (one.name, one.id) in sent])


_WHY = {
    403: "it has another key for this log. Give it the public key that `peerage checkpoint` prints",
    404: "it does not know this log. Ask who runs it to add origin and public key of the log",
    409: "it has cosigned another root of the same size: two histories were signed",
    422: "what it cosigned before is not the beginning of this log: its past was rewritten",
}


def _ids(note: Checkpoint) -> set[str]:
    return {f"{one.name}+{one.id.hex()}" for one in note.signatures}


def _size(to: str, body: bytes) -> int:
    text = body.decode("ascii", "replace").strip()
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise WitnessError(f"{to} answers 409 without the size that it knows, and so against the protocol")
    return int(text)


def _asked(address: str, body: bytes | None) -> tuple[int, bytes]:
    """Status and body of the answer to a request."""
    if not re.match("https?://", address):
        raise WitnessError(f"{address!r} is no web address; https://… was expected")
    try:
        with urlopen(Request(address, body, {"User-Agent": "peerage"}), timeout=PATIENCE_S) as answer:
            return int(answer.status), answer.read(LONGEST)
    except HTTPError as error:
        with error:
            return error.code, error.read(LONGEST)
    except (URLError, OSError, HTTPException, ValueError) as error:
        raise WitnessError(f"{address} cannot be reached: {getattr(error, 'reason', error)}") from error
