"""Watching a run: a live view in a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from peerage.cli.play.seat import beside
from peerage.cli.shared.streams import drop
from peerage.engine.run.words import hint, settled, spent, troubles
from peerage.standings.leader import Leader
from peerage.values.figures import counted, exact_dollars

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from peerage.arena import Arena, OpenClient
    from peerage.engine.run.report import Progress, RunReport
    from peerage.engine.run.runner import Runner
    from peerage.game.match import MatchRecord
    from peerage.ledger import Summary

REFRESH_S = 1.0
LOOK_S = 0.25
LINE_S = 10.0
"""Seconds between two plain lines of progress."""


class Spectator:
    """What is shown while a run goes on."""

    def __init__(self, arena: Arena, batch: int | None, console: Console) -> None:
        self._arena = arena
        self._batch = batch
        self._console = console
        self.leader = Leader()
        for earlier in arena.ledger.summaries():
            self.leader.note(earlier)
        self._began = time.monotonic()
        self._first = 0
        self.void: list[tuple[int, str]] = []
        """The matches of this run that came to nothing: number and reason."""
        self._runner: Runner | None = None
        self.reader_left = False
        """Nobody reads any more, as when `head` has seen enough: that stops the run in good order."""

    def observe(self, record: MatchRecord, summary: Summary) -> None:
        """One more match is on the ledger."""
        self.leader.note(summary)
        if summary.status != "done":
            self.void.append((summary.number, summary.status))
        if self._batch and self._runner is not None and summary.number % self._batch == 0:
            self._say(self._line(self._runner.progress(), summary.number))

    async def watch(self, runner: Runner) -> None:
        """Show a run's progress, beside it, until cancelled."""
        self._runner = runner
        self._first = runner.progress().settled
        await (self._drawn if self._console.is_terminal else self._lines)(runner)

    async def _drawn(self, runner: Runner) -> None:
        from rich.live import Live

        before: list[tuple[str, str]] = []
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            try:
                while True:
                    if (now := self._view(runner.progress())) != before:
                        live.update(_drawing(now), refresh=True)
                        before = now
                    await asyncio.sleep(REFRESH_S)
            finally:  # a last view taller than the terminal would scroll, and stay above what follows
                live.update("", refresh=True)

    async def _lines(self, runner: Runner) -> None:
        last, announced = time.monotonic(), False
        while True:
            await asyncio.sleep(LOOK_S)
            progress = runner.progress()
            if progress.stopping and not announced:
                announced = True
                self._say(hint(progress))
            if not self._batch and time.monotonic() - last >= LINE_S:
                last = time.monotonic()
                self._say(self._line(progress, progress.settled))
                for line in troubles(progress):
                    self._say(f"  {line}")

    def _say(self, line: str) -> None:
        if not printed(self._console, line) and self._runner is not None and not self.reader_left:
            self.reader_left = True
            self._runner.stop()

    def _line(self, progress: Progress, number: int) -> str:
        pace = (number - self._first) / max(1e-9, time.monotonic() - self._began)
        of = f"/{progress.limit:,}" if progress.limit is not None else ""
        whole = progress.settled == progress.decided
        parts = [
            f"{number:,}{of} matches"
            if whole
            else f"{number:,} matches, {progress.decided:,}{of} with a result",
            f"{pace:.1f} a second",
            f"{counted(progress.calls_in_flight, 'call')} in flight",
            spent(progress),
        ]
        if progress.until is not None:
            known, needed = progress.until.pairs
            parts.append(f"{self._arena.settings.until}: {known} of {needed} pairs")
        if progress.retries:
            parts.append(counted(progress.retries, "retry"))
        if leader := self.leader.in_words():
            parts.append(leader)
        return " · ".join(parts)

    def _view(self, progress: Progress) -> list[tuple[str, str]]:
        """Return the lines of the live view, each with its style: how far and what is spent, who leads and
        how sure that is, who is waited for, how to stop."""
        of = f"/{progress.limit:,}" if progress.limit is not None else ""
        head = [f"{progress.decided:,}{of} matches", spent(progress)]
        if (budget := self._arena.settings.budget.arena) is not None:
            head.append(f"budget {exact_dollars(budget)}")
        sure = [self.leader.in_words()]
        if progress.until is not None:
            known, needed = progress.until.pairs
            sure.append(f"{self._arena.settings.until}: {known} of {needed} pairs")
        lines = [("bold", " · ".join(head)), ("", " · ".join(filter(None, sure)))]
        lines += [("yellow", line) for line in troubles(progress)]
        lines.append(("bold yellow" if progress.stopping else "dim italic", hint(progress)))
        return [(style, line) for style, line in lines if line]


def _drawing(lines: Sequence[tuple[str, str]]) -> Text:
    """Return lines as they are drawn: each one line of the terminal, cut where it is too long."""
    from rich.text import Text

    parts = [part for style, line in lines for part in ((line, style), "\n")]
    return Text.assemble(*parts[:-1], overflow="ellipsis", no_wrap=True)


def printed(console: Console, line: str) -> bool:
    """Write a line; False where nobody reads it: from then on what is written there goes nowhere."""
    try:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    except (SystemExit, BrokenPipeError):  # rich makes the one of the other, in its newer versions
        console.quiet = True
        drop()
        return False
    return True


def play(
    arena: Arena,
    limit: int | None,
    batch: int | None,
    clients: OpenClient | None = None,
    replan: Callable[[], None] | None = None,
    seat: str = "",
) -> tuple[RunReport, Spectator]:
    """Run the arena with a live view on standard output, or with the seat of the person called `seat`;
    `clients` and `replan` as in `Arena.run`."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    settings = arena.settings
    end = "Ctrl+C" if settings.budget.arena is None else "the budget or Ctrl+C"
    until = f"until match {limit}" if limit else f"until {end} ends it"
    if settings.until:
        until = f"until {settings.until}, or {until}"
    games = settings.game if len(settings.lineup) == 1 else counted(len(settings.lineup), "game")
    about = f"{settings.name}: {games}, {counted(len(settings.players), 'player')}, {until}"
    if not printed(console, about):
        raise BrokenPipeError
    spectator = Spectator(arena, batch, console)
    probing = settings.engine.probe and any(player.provider != "house" for player in settings.everyone)
    with console.status(f"opening {'and probing ' * probing}the players") as opening:

        async def watch(runner: Runner) -> None:
            opening.stop()
            if seat:
                await beside(runner, arena.folder, seat)
            else:
                await spectator.watch(runner)

        def observe(record: MatchRecord, summary: Summary) -> None:
            spectator.observe(record, summary)
            if seat in summary.players:
                printed(console, f"· match {settled(summary)}")

        def again() -> None:
            opening.stop()
            if replan is not None:
                replan()

        report = arena.run(limit, observe=observe, beside=watch, clients=clients, replan=again)
    return report, spectator
