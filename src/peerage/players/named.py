"""How a failure is told: which player, in one short printable line; and that no key is in what is said."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

import msgspec

from peerage.players.client import Answer, PlayerError
from peerage.protocol import visible

LONGEST = 600
SHORTEST_SECRET = 6
"""A stated key shorter than this is a placeholder ("none", "x"); replacing it would garble the message."""

PART = 10
"""Characters by which the beginning or end of a key is known where a message was cut in the middle of it."""


def named_failure(error: PlayerError, player: str, secrets: Iterable[str]) -> PlayerError:
    """`error` with the player's name in front, shortened, printable, its keys replaced by `[key]`."""
    told = str(error)
    for secret in _worth_hiding(secrets):
        told = _without_parts(told.replace(secret, "[key]"), secret)
    told = " ".join(visible(told).split())
    if not told.startswith(f"{player}: "):
        told = f"{player}: {told}"
    return PlayerError(
        told if len(told) <= LONGEST else told[: LONGEST - 1] + "…",
        kind=error.kind,
        retry_after_s=error.retry_after_s,
        maybe_paid=error.maybe_paid,
    )


def keyless(answer: Answer, secrets: Iterable[str]) -> Answer:
    """`answer` with the player's keys, should it repeat one, replaced by `[key]`: replies are published."""
    for secret in _worth_hiding(secrets):
        if secret in answer.text or secret in answer.snapshot:
            answer = msgspec.structs.replace(
                answer,
                text=answer.text.replace(secret, "[key]"),
                snapshot=answer.snapshot.replace(secret, "[key]"),
            )
    return answer


def _worth_hiding(secrets: Iterable[str]) -> list[str]:
    return [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]


def _without_parts(told: str, secret: str) -> str:
    """`told` without what a cut left of a key: what begins or ends like it, as far as it does."""
    if len(secret) <= PART:
        return told
    for head, tail in ((secret[:PART], secret[PART:]), (secret[-PART:][::-1], secret[:-PART][::-1])):
        backwards = not secret.startswith(head)
        text = told[::-1] if backwards else told
        pieces = text.split(head)
        for place, rest in enumerate(pieces[1:], 1):
            same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(rest, tail, strict=False)))
            pieces[place] = ("]yek[" if backwards else "[key]") + rest[same:]
        text = "".join(pieces)
        told = text[::-1] if backwards else text
    return told
