"""How a failure is told: which player, in one short printable line, without its keys."""

from __future__ import annotations

from collections.abc import Iterable

from peerage.players.client import PlayerError
from peerage.protocol import visible

LONGEST = 600
SHORTEST_SECRET = 6
"""A stated key shorter than this is a placeholder ("none", "x"); replacing it would garble the message."""


def named_failure(error: PlayerError, player: str, secrets: Iterable[str]) -> PlayerError:
    """`error` with the player's name in front, shortened, printable, its keys replaced by `[key]`."""
    told = str(error)
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            told = told.replace(secret, "[key]")
    told = " ".join(visible(told).split())
    if not told.startswith(f"{player}: "):
        told = f"{player}: {told}"
    return PlayerError(
        told if len(told) <= LONGEST else told[: LONGEST - 1] + "…",
        kind=error.kind,
        retry_after_s=error.retry_after_s,
        maybe_paid=error.maybe_paid,
    )
