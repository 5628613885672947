"""Progress of a run, and its final report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from peerage.engine.calls.troubles import Trouble
from peerage.ledger.topics.waits import Waiting
from peerage.scheduling.goal import GoalState


@dataclass(frozen=True)
class Progress:
    """Progress of a run, as a spectator sees it.

    Money in 1e-9 dollars, over all runs: `billed_nano` is known, `possibly_nano` may have been billed in
    addition (failed calls, replies of unknown cost). `unpriced` calls have no known price, and are in
    neither.

    `decided` of the `settled` matches came to a result; `limit` counts these. `benched` says why, by player.
    `troubles` are those of each player's calls now; `stopping` holds from the first Ctrl+C on.
    `waiting` are the matches that left their rounds to go on later, `until` is how much is known of what the
    run is to find out.
    """

    settled: int
    decided: int
    limit: int | None
    matches_in_flight: int
    calls_in_flight: int
    retries: int
    billed_nano: int
    possibly_nano: int
    benched: Mapping[str, str]
    stopping: bool
    troubles: tuple[Trouble, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    until: GoalState | None = None
    unpriced: int = 0

    @property
    def so_far(self) -> tuple[int, int] | None:
        """Return how far the run is, of how far: in pairs known of those that it is to find out, else in
        matches of its limit; None where it has neither."""
        if self.until is not None:
            return self.until.pairs
        return (self.decided, self.limit) if self.limit else None


@dataclass(frozen=True)
class RunReport:
    """The end of a run.

    `reason` is `limit`, `known` (what it was to find out, of which `until` says what is known and what is
    not, or all there is to compare), `budget`, `players` (too few are left that can be reached), `no_result`
    (match after match came to nothing), `waiting` (nothing is left to do but `waiting` matches, which go on
    later) or `interrupted`; `note` says more, for people. `settled` counts matches of the arena, `decided`
    those of them with a result, `played` and `calls` those of this run. `billed_nano`,
    `possibly_nano` and `unpriced` are over all runs, as in `Progress`. `possibly_paid_twice` counts calls
    that the run before left open, as a crash does, and that had to be asked again; `possibly_paid_nano` what
    they may have cost. `benched` says why players are, by name; `overrun` is by player what it was billed
    beyond the worst case of its calls, in spite of a budget.
    """

    reason: str
    note: str
    settled: int
    decided: int
    played: int
    calls: int
    billed_nano: int
    possibly_nano: int
    possibly_paid_twice: int
    possibly_paid_nano: int
    benched: Mapping[str, str] = field(default_factory=dict)
    overrun: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    until: GoalState | None = None
    unpriced: int = 0

    @property
    def spent_nano(self) -> int:
        """Billed and possibly billed: what counts against the budget."""
        return self.billed_nano + self.possibly_nano
