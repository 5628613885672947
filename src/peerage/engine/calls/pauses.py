"""The players of a run that pause since their calls fail, and those that are failing for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from peerage.engine.calls.dispatch import Dispatcher
from peerage.engine.calls.health import Health
from peerage.engine.calls.pending import stated_wait
from peerage.players.client import PlayerError

LONG_PAUSE_S = 600.0
"""Seconds that a player must have failed, its pause included, for matches to leave their rounds."""


def role_group(role: str) -> str:
    """The roles whose failures count together, in words: who contests, who makes challenges, who judges."""
    if role == "contestant":
        return "a contestant"
    return "a judge" if role == "judge" else "an author or committee member"


class Pauses:
    """Lets a `dispatcher` pause players and send them one call at a time. Players of this process, which
    compute their replies, never pause. `paused()` is called when a player does; `clock` gives seconds."""

    def __init__(
        self,
        dispatcher: Dispatcher[Any],
        clock: Callable[[], float],
        paused: Callable[[], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._clock = clock
        self._paused = paused
        self._health: dict[str, Health] = {}
        self._by_role: dict[tuple[str, str], Health] = {}
        self._long: dict[str, str] = {}

    def watch(self, player: str) -> None:
        """From now on this player may pause."""
        self._health[player] = Health()

    def worked(self, player: str, role: str) -> None:
        """A call got through to a player in this role: failures in others still count."""
        if (in_role := self._by_role.get((player, role_group(role)))) is not None:
            in_role.worked(self._clock())
        if (health := self._health.get(player)) is not None:
            health.worked(self._clock())
            self._long.pop(player, None)
            self._dispatcher.singly(player, False)

    def failed(self, player: str, role: str, sent: float, error: PlayerError, reason: str) -> str:
        """A call sent at `sent` failed: why its player is to be benched; empty where it is not."""
        asked = stated_wait(error.retry_after_s)
        health = self._health.get(player)
        if health is not None:
            now, group = self._clock(), role_group(role)
            pause = health.failed(now, sent)
            in_role = self._by_role.setdefault((player, group), Health())
            in_role.failed(now, sent)
            self._dispatcher.singly(player, health.down)
            if asked or (pause and error.kind == "transient"):
                self._dispatcher.pause(player, asked or pause)
                if health.down_s(now) + (asked or pause) >= LONG_PAUSE_S:
                    self._long[player] = reason
                self._paused()
        if error.kind == "permanent":
            return reason
        if health is not None and (in_role.hopeless or health.hopeless):
            return f"failures in a row: {self._in_words(player)}; the last: {reason}"[:500]
        return ""

    def _in_words(self, player: str) -> str:
        """By role how often a player has failed since it last replied in that role."""
        counts = {group: one.failures for (name, group), one in self._by_role.items() if name == player}
        return ", ".join([f"{count} as {group}" for group, count in counts.items() if count])

    def left_s(self, player: str) -> float:
        """Return for how many seconds a player pauses still."""
        return self._dispatcher.paused_s(player) if player in self._health else 0.0

    @property
    def any_long(self) -> bool:
        """Return whether a player is failing for long."""
        return bool(self._long)

    @property
    def long(self) -> set[str]:
        """The players that are failing for long and pause now."""
        return {player for player in self._long if self.left_s(player)}

    def why(self, player: str) -> str:
        """Return why a player that is failing for long pauses."""
        return f"paused: {self._long.get(player, '')}"
