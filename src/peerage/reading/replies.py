"""Everybody's replies, counted over many matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from peerage.game.protocol import REPAIR, ROOM, first_key
from peerage.reading.match import Step


class Replies(Struct):
    """One player's replies: `calls` by role, `waits` counts those as a contestant by latency in
    milliseconds; the rest as in `views.stats.players.PlayerStats`."""

    calls: dict[str, int] = {}
    waits: dict[int, int] = {}
    statuses: dict[str, int] = {}
    repaired: int = 0
    lost: int = 0
    cut: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    models: dict[str, int] = {}
    asked: dict[str, int] = {}
    failed: dict[str, int] = {}


class ReplyCounts:
    """Counts replies, match by match, by player, role, status, repair and cut, since most are alike."""

    def __init__(self) -> None:
        self._replies: Counter[tuple[str, str, str, bool, bool]] = Counter()
        self._waits: Counter[tuple[str, int]] = Counter()
        self._tokens: Counter[tuple[str, str]] = Counter()
        self._models: Counter[tuple[str, str]] = Counter()
        self._in_roles: Counter[tuple[str, str, bool]] = Counter()

    def add(self, asked: Sequence[Step]) -> None:
        """Count what was asked in one match."""
        self._replies.update(_counted(asked))
        failed: dict[tuple[str, str], bool] = {}
        for step in asked:
            player, role = step.player, step.role
            failed[player, role] = failed.get((player, role), False) or step.status == "void"
            if (reply := step.stored) is None:
                continue
            self._tokens[player, "reasoning_tokens"] += reply.reasoning_tokens or 0
            self._tokens[player, "cached_tokens"] += reply.cached_tokens or 0
            if reply.model:
                self._models[player, reply.model] += 1
            if role == "contestant" and step.status != "void":
                self._waits[player, step.row.latency_ms or 0] += 1
        self._in_roles.update([(*of, no_reply) for of, no_reply in failed.items()])

    def by_player(self) -> dict[str, Replies]:
        """Return the sums."""
        players: dict[str, Replies] = {}
        for (player, role, status, repair, cut), count in self._replies.items():
            replies = players.setdefault(player, Replies())
            if status == "waiting":
                replies.lost += count
                continue
            replies.calls[role] = replies.calls.get(role, 0) + count
            replies.statuses[status] = replies.statuses.get(status, 0) + count
            replies.repaired += count * repair
            replies.cut += count * cut
        for (player, latency), count in self._waits.items():
            players[player].waits[latency] = count
        for (player, field), count in self._tokens.items():
            setattr(players[player], field, count)
        for (player, model), count in self._models.items():
            players[player].models[model] = count
        for (player, role, failed), count in self._in_roles.items():
            replies = players[player]
            replies.asked[role] = replies.asked.get(role, 0) + count
            replies.failed[role] = replies.failed.get(role, 0) + count * failed
        return players


def _counted(asked: Sequence[Step]) -> Iterator[tuple[str, str, str, bool, bool]]:
    """Of each reply its player, role and status, whether it is a repair, and whether it was cut. The status
    is `asked again` where the other reply of two decides: the second, or the first when it was cut and could
    be used and the second, with more room, cannot."""
    statuses = {step.key: step.status for step in asked if step.stored is not None}
    for step in asked:
        status = step.status
        if f"{step.key}{REPAIR}" in statuses:
            status = "asked again"
        elif f"{step.key}{ROOM}" in statuses:
            status = "asked again" if status != "ok" or statuses[f"{step.key}{ROOM}"] == "ok" else status
        elif step.key.endswith(ROOM) and status != "ok" and statuses.get(first_key(step.key)) == "ok":
            status = "asked again"
        yield (
            step.player,
            step.role,
            "waiting" if step.stored is None else status,
            step.key.endswith(REPAIR),
            step.stored is not None and step.stored.truncated,
        )
