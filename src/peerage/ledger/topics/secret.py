"""The arena's secret: draws, fences, ids and salts follow from it, and no player may know it.

It is made before the first match and committed in the log's first entry about the `arena`, so that those who
run an arena cannot try other draws unseen. A copy that others see holds the commitment alone, until the last
entry about it discloses the secret and ends the arena:

    {"entry": "begin", "seed": null, "after_match": 0, "secret": {"~salt": "…", "value": "…"}}
    {"entry": "disclose", "after_match": 412}

Two keys follow from it and neither reveals the secret: the key of each match, disclosed when the match is
over, and the key that salts of sealed values follow from.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from peerage.ledger.forms.codec import read_issued
from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.ledger import Ledger, amend
from peerage.values.figures import counted
from peerage.values.sealing import Sealed, match_key, salt, seal, sealing_key, unseal

TOPIC = "arena"
NO_SECRET = "{} is a copy without the arena's secret: it can be verified, not played on"


class Secret(Struct, frozen=True):
    """The secret of an arena in its ledger. `value` is the secret, empty where only its commitment is there;
    `seed` is the stated seed that it follows from, None for a random one. `disclosed` says that the arena is
    over and its secret open."""

    value: str
    seed: int | None
    disclosed: bool


class _SecretEntry(Struct):
    entry: str
    seed: int | None = None
    secret: Mapping[str, str] = {}


_read = msgspec.json.Decoder(_SecretEntry).decode


def read_secret(ledger: Ledger) -> Secret | None:
    """None for a ledger in which nothing was played yet. Raises LedgerError."""
    try:
        entries = [_read(row.body) for row in ledger.amendments(TOPIC)]
        begun = next((entry for entry in entries if entry.entry == "begin"), None)
        if begun is None:
            return None
        try:
            value = str(unseal(begun.secret))
        except Sealed:
            value = ""
    except msgspec.MsgspecError as error:
        raise LedgerError(
            f"{ledger.address}: the entry about its secret cannot be read ({error}); restore it from a copy"
        ) from error
    return Secret(value, begun.seed, any(entry.entry == "disclose" for entry in entries))


def arena_secret(ledger: Ledger, seed: int | None = None, *, at_ms: int = 0) -> str:
    """The secret, made and committed when there is none; the caller holds the runner's lock. It follows from
    `seed` where one is given, which is for arenas of house players alone; else it is random. Raises
    LedgerError for a copy that does not hold it."""
    secret = read_secret(ledger)
    if secret is not None:
        if not secret.value:
            raise LedgerError(NO_SECRET.format(ledger.address.removeprefix("sqlite:///")))
        return secret.value
    value = str(seed) if seed is not None else secrets.token_hex(32)
    body: dict[str, Any] = {
        "entry": "begin",
        "seed": seed,
        "secret": seal(salt(sealing_key(value), "arena"), value),
    }
    amend(ledger, TOPIC, [body], at_ms)
    return value


def disclose(ledger: Ledger, at_ms: int) -> Secret:
    """Open the secret for every later copy and end the arena; the caller holds the runner's lock. Raises
    LedgerError when matches are under way, when nothing was played, and for a copy without the secret."""
    issued, done = ledger.heads()
    secret = read_secret(ledger)
    if secret is None or not secret.value:
        raise LedgerError(f"{ledger.address} holds no secret to disclose")
    if issued > done:
        raise LedgerError(
            f"{ledger.address}: {counted(issued - done, 'match is', 'matches are')} under way; let "
            "`peerage run` go on first"
        )
    if not secret.disclosed:
        amend(ledger, TOPIC, [{"entry": "disclose", "after_match": done}], at_ms)
    return msgspec.structs.replace(secret, disclosed=True)


_KEY = re.compile(r"[0-9a-f]{64}")


def strange_keys(ledger: Ledger, last: int) -> Iterator[int]:
    """The matches up to `last` whose key does not follow from the secret: somebody chose what they drew.
    Matches entered from recordings have a name of their own in place of a key. Nothing can be said where the
    secret is not open."""
    secret = read_secret(ledger)
    if secret is None or not secret.value:
        return
    for row in ledger.fixtures(1, last):
        key = read_issued(row.body).seed
        if _KEY.fullmatch(key) and key != match_key(secret.value, row.number):
            yield row.number
