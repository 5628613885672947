"""Runs an arena: from its first match to its report, or until somebody stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from peerage.engine.calls.budget import Budget, whole_nano
from peerage.engine.match.driving import Drive
from peerage.engine.record.journal import Journal
from peerage.engine.record.shelf import Shelf
from peerage.engine.run.course import Course, RunSetup, Watched
from peerage.engine.run.report import Progress, RunReport
from peerage.game.protocol import SANDBOX
from peerage.ledger import Ledger

GRACE_S = 60.0
"""Seconds that a stopped run waits for calls in flight: they are paid for, so replies are worth having."""


class Runner:
    """One run of one arena, on one event loop. `inline` journals on the loop's own thread, for virtual time;
    the rest is as in `Course`."""

    def __init__(
        self,
        setup: RunSetup,
        ledger: Ledger,
        drive: Drive,
        clock: Callable[[], int],
        watched: Watched,
        *,
        inline: bool = False,
    ) -> None:
        recovered, budget = setup.recovered, setup.settings.budget
        self._limit = setup.limit
        self._left_open = recovered.left_open
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._journal = Journal(ledger, self.broken, Shelf(setup.media, ledger), inline=inline)
        self._budget = Budget(
            limit=whole_nano(budget.arena),
            per_match=whole_nano(budget.match),
            per_player=whole_nano(budget.player),
            billed=recovered.billed_nano,
            possibly=recovered.possibly_nano,
            spent_by=recovered.spent_by,
            begun=recovered.begun,
            unpriced=recovered.unpriced,
        )
        self._course = Course(setup, ledger, self._journal, self._budget, drive, clock, watched)
        self._stopping = False
        self._grace: asyncio.TimerHandle | None = None

    async def run(self) -> RunReport:
        """Play until the limit, the budget, or `stop`; raises what broke the run; all is recorded."""
        course, budget = self._course, self._budget
        try:
            course.begin()
            reason = await course.done
        finally:
            await course.stop(0.0 if self._journal.broken else GRACE_S)
            await self._journal.close()
            if self._grace is not None:
                self._grace.cancel()
        return RunReport(
            reason=reason,
            note=course.note,
            settled=course.folding.standings.number,
            decided=course.folding.decided,
            played=course.folding.played,
            calls=course.matches.now().answered,
            billed_nano=budget.billed,
            possibly_nano=budget.possibly,
            possibly_paid_twice=sum(lost.player != SANDBOX for lost in self._left_open),
            possibly_paid_nano=sum(lost.worst_nano or 0 for lost in self._left_open),
            benched=course.benched(),
            overrun=dict(budget.overrun),
            waiting=tuple(course.waits.now.values()),
            until=course.rounds.known(now=True),
            unpriced=budget.unpriced,
        )

    def stop(self) -> None:
        """Admit and send nothing more, let calls in flight return, end the run. Twice: do not wait. Where the
        ledger's server is away, it may come back within the same grace, so that what calls bring is
        written."""
        if self._stopping:
            self._course.matches.abandon()
            self._ledger.stop_waiting()
        else:
            self._ledger.stop_waiting(writes=False)
            self._grace = self._loop.call_later(GRACE_S, self._ledger.stop_waiting)
        self._stopping = True
        self._course.end("interrupted", "stopped; run again to go on")

    def broken(self, error: Exception) -> None:
        """End the run, which cannot go on for a fault that is not a player's."""
        self._course.broken(error)

    def progress(self) -> Progress:
        course, budget = self._course, self._budget
        calls = course.matches.now()
        return Progress(
            settled=course.folding.standings.number,
            decided=course.folding.decided,
            limit=self._limit,
            matches_in_flight=len(course.matches),
            calls_in_flight=calls.in_flight,
            retries=calls.retried,
            billed_nano=budget.billed,
            possibly_nano=budget.possibly,
            benched=course.benched(),
            stopping=self._stopping,
            troubles=course.matches.troubles(),
            waiting=tuple(course.waits.now.values()),
            until=course.rounds.known(),
            unpriced=budget.unpriced,
        )
