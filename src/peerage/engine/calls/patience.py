"""The patience of a run with players that fail: how it waits, and when it does without them."""

from __future__ import annotations

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
