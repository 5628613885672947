"""The patience of a run with players that fail: when it asks again, pauses them, and does without them.

A failure counts when nothing got through since its call was sent, and once for all calls that were under way
together: so a provider that drops one call in twenty is never paused, and one that is down is asked by one
call at a time, after waits that double. Times are in seconds of any one clock, which are passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from typing import Any

from peerage.engine.calls.dispatch import Dispatcher
from peerage.players.client import PlayerError

BACKOFF_S = 1.0
"""Seconds before the first retry of a call, and of the first pause of a player; each next one is twice as
long."""
BACKOFF_MAX_S = 60.0
"""Seconds before a retry at most."""
PAUSE_MAX_S = 300.0
"""Seconds of a pause at most, and between two probes of a player that no probe got through to."""
BENCH_AFTER = 10
"""Failures of a player in a row, over all its calls or those in one role, that bench it. Half as many matches
without its reply do where they are over a quarter of those it contests."""
GIVE_UP_AFTER = 20
"""Matches in a row without a result, after which a run ends."""
GIVE_UP_FIRST = 3
"""The same at an arena's beginning, where no player failed: such as judges whose replies nobody can use."""


@dataclass(slots=True)
class Health:
    """One player's. Times in seconds of any one clock.

    `failures` in a row so far. From the second on each is followed by a pause, which doubles up to the
    longest.
    """

    failures: int = 0
    _since: float = 0.0
    _worked_at: float = -inf
    _failed_at: float = -inf

    def worked(self, now: float) -> None:
        """A call got through."""
        self.failures = 0
        self._worked_at = now

    def failed(self, now: float, sent: float) -> float:
        """A call sent at `sent` failed; how long the player pauses."""
        if sent <= self._worked_at or sent < self._failed_at:
            return 0.0
        self._failed_at = now
        self.failures += 1
        if self.failures == 1:
            self._since = now
        if self.failures < 2:
            return 0.0
        return min(PAUSE_MAX_S, BACKOFF_S * 2.0 ** (self.failures - 2))

    def down_s(self, now: float) -> float:
        """Return for how long it has been failing."""
        return now - self._since if self.failures else 0.0

    @property
    def down(self) -> bool:
        """Return whether to ask by one call at a time."""
        return self.failures > 1

    @property
    def hopeless(self) -> bool:
        return self.failures >= BENCH_AFTER


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
        counts = {group: past.failures for (name, group), past in self._by_role.items() if name == player}
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


def stated_wait(seconds: float | None) -> float:
    """Return a provider's retry-after, when it is one; nobody can mean more than a day."""
    return min(seconds, 86_400.0) if seconds is not None and seconds > 0 else 0.0


def backoff(lot: str, tries: int, retry_after_s: float) -> float:
    """Return the seconds to wait after so many tries: exponential, half of it jitter seeded by `lot`, never
    under the provider's retry-after."""
    whole = min(BACKOFF_MAX_S, BACKOFF_S * 2.0 ** (tries - 1))
    share = int.from_bytes(sha256(f"{lot}/{tries}".encode()).digest()[:8], "big") / 2**64
    return max(whole * (0.5 + 0.5 * share), retry_after_s)
