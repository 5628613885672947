"""The health of a player's calls: failures in a row, the pauses and the bench they bring. Pure; time is
passed in.

A failure counts when nothing got through since its call was sent, and once for all calls that were under way
together: so a provider that drops one call in twenty is never paused, and one that is down is asked by one
call at a time, after waits that double.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from peerage.engine.calls import patience


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
        return min(patience.PAUSE_MAX_S, patience.BACKOFF_S * 2.0 ** (self.failures - 2))

    def down_s(self, now: float) -> float:
        """Return for how long it has been failing."""
        return now - self._since if self.failures else 0.0

    @property
    def down(self) -> bool:
        """Return whether to ask by one call at a time."""
        return self.failures > 1

    @property
    def hopeless(self) -> bool:
        return self.failures >= patience.BENCH_AFTER
