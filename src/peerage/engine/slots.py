"""Calls at once to a local server: as many as its slots where it states them, else what it bears. Pure.

A server that has fewer slots than calls lets the others wait, beyond their time limit perhaps; they would be
asked again while it still works on the first. So one that states nothing is first sent one call at a time.
The number doubles after some replies, and halves again, for a while, when replies take longer by that, or are
late.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

FIRST = 1
"""Calls at once to a local server that states no slots: Ollama has 1 or 4, vLLM hundreds."""
BATCH = 4
"""Replies at least between two changes."""
SLOWER = 1.5
"""Longest mean time of replies at which twice as many calls stay, as a multiple of the one before."""
REST = 8
"""Batches of replies after which more is tried again."""


@dataclass(slots=True, eq=False)
class Slots:
    """One server, which several players may share: `in_flight` of at most `limit` calls. The limit grows up
    to `most`; both are the same where the server states its slots."""

    limit: int
    most: int
    in_flight: int = 0
    _before_s: float = inf
    _replies: int = 0
    _seconds: float = 0.0
    _rest: int = 0

    def replied(self, seconds: float) -> None:
        """Take in a reply that took so long."""
        self._replies += 1
        self._seconds += seconds
        if self.limit == self.most or self._replies < max(BATCH, self.limit):
            return
        mean = self._seconds / self._replies
        self._replies, self._seconds = 0, 0.0
        if mean > SLOWER * self._before_s:
            self.limit, self._rest = self.limit // 2, REST
        elif self._rest:
            self._rest -= 1
        else:
            self.limit, self._before_s = min(self.most, 2 * self.limit), mean
            return
        self._before_s = inf  # what is known to be borne stays, however long later replies take

    def late(self) -> None:
        """Take in that no reply came in time: the limit halves and grows no more."""
        self.limit = self.most = max(1, self.limit // 2)
        self._replies, self._seconds = 0, 0.0
