"""Copies that people kept of a ledger, roots, checkpoints and proofs, and whether it still says the same.
Pure.

What `verify` prints as the root of the log, SIZE:ROOT, is a checkpoint that nobody signed: it tells of all
entries that were there. Several of them tell between which two
the past was rewritten, and a proof tells it of one match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from peerage.ledger.check.held import Found, Logged
from peerage.ledger.check.notes import (
    PROOF,
    Checkpoint,
    Signed,
    VerifierKey,
    read_checkpoint,
    read_proof,
    signers,
)
from peerage.ledger.forms.log import finished
from peerage.ledger.forms.merkle import root
from peerage.ledger.ledger import Ledger

_HEAD = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")
_NAMED = 6
"""Matches that are named one by one where they are not one after the other."""


class KeptCheckpoint(Struct, frozen=True):
    """A checkpoint that somebody kept, under the name of its file, or a root, which has no origin and is its
    own name; `entries` are texts of entries that are proven to be in it, by position. `signed` are signatures
    that hold; `wrong` says what is wrong with it by itself."""

    name: str
    checkpoint: Checkpoint
    entries: tuple[tuple[int, str], ...] = ()
    signed: tuple[Signed, ...] = ()
    wrong: str = ""


class Extension(Struct, frozen=True):
    """A kept checkpoint of `size` entries compared with this ledger: whether it `extends` that one, and by
    how many `matches` and `entries` of the log. `signed` and `cosigned` are the names whose signatures hold,
    of the log and of witnesses."""

    name: str
    size: int
    extends: bool
    matches: int
    entries: int
    signed: tuple[str, ...]
    cosigned: tuple[str, ...]


class _KeptLine(Struct):
    proof: str


def read_head(text: str) -> KeptCheckpoint:
    """The root of a log as `verify` prints it. Raises ValueError, whose message says what was expected."""
    head = _HEAD.fullmatch(text.strip().lower())
    if not head:
        raise ValueError(
            f"{text[:80]!r} is no head of a ledger: expected what `peerage verify` printed as its log root, "
            "as 412:5f0c… with all 64 hex digits"
        )
    return KeptCheckpoint(head[0], Checkpoint("", int(head[1]), bytes.fromhex(head[2])))


def read_kept(
    name: str, text: str, keys: Iterable[VerifierKey] = (), *, demanded: bool = False
) -> Iterator[KeptCheckpoint]:
    """Yield what a file holds: a checkpoint, a proof, or lines of JSON that each hold a proof. Signatures are
    checked with `keys`; when they are `demanded` one of them must be there. Raises ValueError when the file
    holds none of these."""
    keys = tuple(keys)
    if text.lstrip().startswith("{"):
        proofs = [
            msgspec.json.decode(line, type=_KeptLine).proof for line in text.splitlines() if line.strip()
        ]
    else:
        proofs = [text] if text.startswith(PROOF) else []
    if not proofs:
        yield _checked(KeptCheckpoint(name, read_checkpoint(text)), keys, demanded)
    by_note: dict[str, KeptCheckpoint] = {}
    for stored in proofs:
        proof = read_proof(stored)
        kept = by_note.get(str(proof.checkpoint)) or KeptCheckpoint(name, proof.checkpoint)
        if not proof.holds():
            kept = msgspec.structs.replace(
                kept, wrong=f"{name}: its proof of {proof.entry[:120]!r} does not lead to its checkpoint"
            )
        else:
            entry = proof.place + 1, proof.entry
            kept = msgspec.structs.replace(kept, entries=(*kept.entries, entry))
        by_note[str(proof.checkpoint)] = kept
    for kept in by_note.values():
        yield _checked(kept, keys, demanded)


def _checked(kept: KeptCheckpoint, keys: Sequence[VerifierKey], demanded: bool) -> KeptCheckpoint:
    signed, forged = signers(kept.checkpoint, keys)
    wrong = kept.wrong
    if forged:
        wrong = f"{kept.name}: it was not signed as it stands: the signature of {forged[0].name} does not fit"
    elif demanded and not signed:
        names = ", ".join([f"{line.name}+{line.id.hex()}" for line in kept.checkpoint.signatures])
        wrong = f"{kept.name}: it is signed by {names}, and by none of the keys given"
    return msgspec.structs.replace(kept, signed=tuple(signed), wrong=wrong)


def held_against(
    kept: Sequence[KeptCheckpoint], origin: str, ledger: Ledger, logged: Logged
) -> tuple[list[Extension], list[Found]]:
    """Return what each checkpoint says of the ledger whose log was read as `logged`, the shortest first, and
    what is wrong."""
    problems: list[Found] = [(None, copy.wrong) for copy in kept if copy.wrong]
    extensions: list[Extension] = []
    held: KeptCheckpoint | None = None
    broken = False
    there = len(logged.leaves)
    for copy in sorted(kept, key=lambda copy: copy.checkpoint.size):
        note = copy.checkpoint
        extends = note.size <= there and root(logged.leaves[: note.size]) == note.root
        problem = ""
        if note.origin and note.origin != origin:
            extends = False
            problem = (
                f"{copy.name} is of another arena, or this ledger was written again from its first entry: "
                f"the origin there is {note.origin}, here {origin or 'none'}"
            )
        elif not extends and broken:
            problem = f"nor does it extend {copy.name}, of {note.size} entries"
        elif not extends:
            problem, broken = _differs(copy, held, ledger, logged), True
        if problem:
            problems.append((None, problem))
        if extends:
            held = copy
        else:
            problems += _entries(copy, logged.leaves)
        extensions.append(
            Extension(
                copy.name,
                note.size,
                extends,
                sum(position > note.size for position in logged.firsts) if extends else 0,
                there - note.size if extends else 0,
                tuple([signed.key.name for signed in copy.signed if signed.at_s is None]),
                tuple([signed.key.name for signed in copy.signed if signed.at_s is not None]),
            )
        )
    return extensions, problems + [(None, what) for what in _contradictions(kept)]


def _differs(kept: KeptCheckpoint, held: KeptCheckpoint | None, ledger: Ledger, logged: Logged) -> str:
    """Return what happened to a ledger that does not extend a checkpoint; `held` is the longest it does."""
    size, there = kept.checkpoint.size, len(logged.leaves)
    agrees = f"; it agrees with {held.name}, of {held.checkpoint.size} entries" if held else ""
    another = "" if kept.checkpoint.origin else ", or it is another arena"
    if size > there:
        return (
            f"it does not extend {kept.name}: its log has {there} entries and {len(logged.firsts)} matches, "
            f"that one had {size} entries. Its end was cut off, or it is an older copy{another}{agrees}"
        )
    first = held.checkpoint.size + 1 if held else 1
    return (
        f"it does not extend {kept.name}: entries {first} to {size} ({_about(ledger, first, size)}) are not "
        f"all as they were then. Its past was rewritten{another}{agrees}"
    )


def _about(ledger: Ledger, first: int, last: int) -> str:
    """Return what some entries of the log are about."""
    matches: dict[int, None] = {}
    topics: dict[str, None] = {}
    for entry in ledger.log():
        if first <= entry.position <= last:
            if number := finished(entry.about):
                matches[number] = None
            elif " " not in entry.about or entry.about.startswith("votes "):
                topics[entry.about] = None
    numbers = sorted(matches)
    parts = []
    if len(numbers) > _NAMED or (numbers and numbers[-1] - numbers[0] == len(numbers) - 1 > 0):
        parts.append(f"matches {numbers[0]} to {numbers[-1]}")
    elif numbers:
        parts.append(f"match{'es' * (len(numbers) > 1)} {', '.join(map(str, numbers))}")
    votes = [int(about.split()[1]) for about in topics if about.startswith("votes ")]
    parts += [f"the first {max(votes)} votes of the audience"] if votes else []
    amended = [about for about in topics if " " not in about]
    parts += [f"amendments on {', '.join(amended)}"] if amended else []
    return "; ".join(parts) or "facts of the arena"


def _entries(kept: KeptCheckpoint, leaves: Sequence[bytes]) -> Iterator[Found]:
    """Entries that were proven in a checkpoint, and that are not there as they were."""
    for position, text in kept.entries:
        match = finished(text.split(" ", 2)[-1]) or None
        what = "its replies, record, costs or times were" if match else f"entry {position} of the log was"
        if position > len(leaves):
            yield match, f"{what} cut off: {kept.name} proves {'them' if match else 'it'}"
        elif leaves[position - 1] != sha256(b"\x00" + text.encode()).digest():
            yield match, f"{what} rewritten: {kept.name} proves what {'they were' if match else 'it was'}"


def _contradictions(kept: Sequence[KeptCheckpoint]) -> Iterator[str]:
    roots: dict[tuple[str, int], KeptCheckpoint] = {}
    for copy in kept:
        other = roots.setdefault((copy.checkpoint.origin, copy.checkpoint.size), copy)
        if other.checkpoint.root != copy.checkpoint.root:
            yield (
                f"{other.name} and {copy.name} contradict each other: both are of the first "
                f"{copy.checkpoint.size} entries, with different roots. If one key signed both, two "
                "histories were shown"
            )
