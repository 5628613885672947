"""What a run says about itself: while it goes on, and at its end."""

from __future__ import annotations

from dataclasses import dataclass

from peerage.standings import Standings


@dataclass(frozen=True)
class Progress:
    """What a spectator may know at any moment. Money in 1e-9 dollars; `spent_nano` over all runs.

    `trouble` is why the last call that failed did; `stopping` holds from the first Ctrl+C on.
    """

    settled: int
    limit: int | None
    matches_in_flight: int
    calls_in_flight: int
    calls_waiting: int
    calls_answered: int
    retries: int
    trouble: str
    spent_nano: int
    held_nano: int
    standings: Standings
    stopping: bool


@dataclass(frozen=True)
class RunReport:
    """How a run ended.

    `reason` is `limit`, `budget` or `interrupted`; `note` says more, for people. `settled` counts matches of
    the arena, `played` and `calls` those of this run. `possibly_paid_twice` counts calls that the run before
    left open, as a crash does, and that had to be asked again; `possibly_paid_nano` what they may have cost.
    """

    reason: str
    note: str
    settled: int
    played: int
    calls: int
    spent_nano: int
    possibly_paid_twice: int
    possibly_paid_nano: int
