"""Start a run from synchronous code, with a progress bar.

Where an event loop already runs, as in a notebook, the run gets a thread and a loop of its own.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from peerage.engine.run import process as awake
from peerage.engine.run.report import Progress, RunReport
from peerage.engine.run.words import spent
from peerage.values.figures import counted

if TYPE_CHECKING:
    from peerage.engine.run.runner import Runner

Beside: TypeAlias = "Callable[[Runner], Awaitable[None]]"
Play: TypeAlias = "Callable[[Beside | None], Coroutine[Any, Any, RunReport]]"

REFRESH_S = 0.25


class ProgressBar(Protocol):
    """Shows how far a run is."""

    def draw(self, progress: Progress) -> None:
        """Show this moment of the run."""

    def end(self, report: RunReport | None) -> None:
        """Show how the run ended; None where an error ended it."""


def run(play: Play, bar: ProgressBar | None) -> RunReport:
    """Play to the end, `play` being given what watches the run beside it. Ctrl+C, or the interrupt of a
    notebook, stops the run in good order, here as on a loop of the caller's."""
    report = None
    try:
        if _loop_runs():
            report = _on_a_thread(play, bar)
        else:
            report = awake.run(play(None if bar is None else _watching(bar.draw)))
        return report
    finally:
        if bar is not None:
            bar.end(report)


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _watching(draw: Callable[[Progress], None]) -> Beside:
    async def watch(runner: Runner) -> None:
        while True:
            draw(runner.progress())
            await asyncio.sleep(REFRESH_S)

    return watch


def both(first: Beside | None, other: Beside | None) -> Beside | None:
    """Two that watch a run, as one."""
    if first is None or other is None:
        return first or other

    async def watch(runner: Runner) -> None:
        await asyncio.gather(first(runner), other(runner))

    return watch


class _Run:
    """A run on a thread of its own, as the thread that waits for it sees it."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runner: Runner | None = None
        self._asked_to_stop = False
        self.progress: Progress | None = None
        self.report: RunReport | None = None
        self.error: BaseException | None = None
        self.done = threading.Event()

    def work(self) -> None:
        try:
            self.report = awake.run(self._main())
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def stop(self) -> None:
        """As `Runner.stop`; before there is a runner nothing has been sent but probes, which are given up."""
        self._asked_to_stop = True  # first, so that either the loop is here or `_main` sees it
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if self._runner is not None:
            self._runner.stop()
        elif self._task is not None:
            self._task.cancel()

    async def _main(self) -> RunReport:
        self._task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
        if self._asked_to_stop:
            raise asyncio.CancelledError
        return await self._play(self._beside)

    async def _beside(self, runner: Runner) -> None:
        self._runner = runner
        await _watching(self._keep)(runner)

    def _keep(self, progress: Progress) -> None:
        self.progress = progress


def _on_a_thread(play: Play, bar: ProgressBar | None) -> RunReport:
    """Wait for a run on another thread; the bar is drawn here, where a notebook knows its cell."""
    run = _Run(play)
    with _interrupted(run.stop):
        threading.Thread(target=run.work, name="peerage run", daemon=True).start()
        while not run.done.wait(REFRESH_S):
            if bar is not None and run.progress is not None:
                bar.draw(run.progress)
    if isinstance(run.error, asyncio.CancelledError):
        raise KeyboardInterrupt from None
    if run.error is not None:
        raise run.error
    assert run.report is not None
    return run.report


@contextmanager
def _interrupted(stop: Callable[[], None]) -> Iterator[None]:
    """Let SIGINT stop a run: a handler of the loop that runs here already would only cancel its own task."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def bar() -> ProgressBar | None:
    """The progress bar of this place: of a notebook's cell, of a terminal, or none."""
    if in_notebook():
        return _CellBar()
    return _TerminalBar() if sys.stderr is not None and sys.stderr.isatty() else None


def in_notebook() -> bool:
    """Return whether a notebook's kernel runs this program."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _TerminalBar:
    """A line of standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Live

        self._live = Live(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=Console(stderr=True)
        )
        self._task = self._live.add_task("starting", total=None)

    def draw(self, progress: Progress) -> None:
        self._live.start()
        done, total = progress.so_far or (progress.decided, None)
        self._live.update(self._task, description=_line(progress), total=total, completed=done)

    def end(self, report: RunReport | None) -> None:
        if report is not None:
            self._live.update(
                self._task, description=_ended(report), total=report.decided, completed=report.decided
            )
        self._live.stop()


class _CellBar:
    """The output of a notebook's cell, replaced as the run goes on."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html = HTML
        self._shown = display(HTML("<p>starting</p>"), display_id=True)

    def draw(self, progress: Progress) -> None:
        if progress.so_far:
            done, total = progress.so_far
            bar = f'<progress value="{done}" max="{total}"></progress>'
        else:
            bar = "<progress></progress>"
        self._shown.update(self._html(f"<p>{bar} {escape(_line(progress))}</p>"))

    def end(self, report: RunReport | None) -> None:
        if report is not None:
            self._shown.update(self._html(f"<p>{escape(_ended(report))}</p>"))


def _line(progress: Progress) -> str:
    of = f"/{progress.limit:,}" if progress.limit is not None else ""
    stopping = "stopping: calls in flight return" if progress.stopping else ""
    calls = f"{counted(progress.calls_in_flight, 'call')} in flight"
    known = ""
    if progress.until is not None:
        pairs, needed = progress.until.pairs
        known = f"{pairs:,} of {needed:,} pairs known"
    return " · ".join(
        filter(None, (f"{progress.decided:,}{of} matches", known, spent(progress), calls, stopping))
    )


def _ended(report: RunReport) -> str:
    parts = (counted(report.decided, "match"), f"{report.played:,} in this run", spent(report))
    return " · ".join(filter(None, (*parts, report.note)))
