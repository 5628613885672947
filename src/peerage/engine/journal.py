"""Group commit: rows gather on the event loop, a writer thread makes each batch durable in one transaction.

Rows become durable in the order they were added. Whatever must not happen before a row is durable (to
send a request, to call an outcome standing) is a callback added after that row.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from peerage.ledger.codec import Text
from peerage.ledger.store import Batch, Ledger

Callback = Callable[[], None]


class Journal:
    """The one writer of a running arena. All methods are for the event loop's thread.

    With `inline` the loop's own thread writes: for simulation in virtual time, where no thread may wait.
    `failed` is called on the loop with the error when a write fails (nothing is written after that, see
    `broken`) or a callback raises.
    """

    def __init__(self, ledger: Ledger, failed: Callable[[Exception], None], *, inline: bool = False) -> None:
        self._ledger = ledger
        self._failed = failed
        self._inline = inline
        self._batch = Batch()
        self._callbacks: list[Callback] = []
        self._known: set[bytes] = set()
        self._loop = asyncio.get_running_loop()
        self._flushing = False
        self._busy = False
        self.broken = False
        self._idle: list[asyncio.Future[None]] = []
        self._wake = threading.Event()
        self._work: tuple[Batch, list[Callback]] | None = None
        self._closing = False
        self._thread: threading.Thread | None = None
        if not inline:
            self._thread = threading.Thread(target=self._write_forever, name="ledger-writer", daemon=True)
            self._thread.start()
        self.commits = 0

    @property
    def rows(self) -> Batch:
        """Where rows are added; call `touch` afterwards."""
        return self._batch

    def texts(self, texts: list[Text]) -> None:
        """Add long texts that this journal has not written yet."""
        for digest, text in texts:
            if digest not in self._known:
                self._known.add(digest)
                self._batch.texts.append((digest, text))

    def then(self, callback: Callback) -> None:
        """Call back on the loop when everything added so far is durable."""
        self._callbacks.append(callback)
        self.touch()

    def touch(self) -> None:
        """Write what was added, at the end of this turn of the loop."""
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    async def drain(self) -> None:
        """Return when everything added so far is durable, or the journal is broken."""
        if self.broken or not (self._batch or self._callbacks or self._busy):
            return
        done: asyncio.Future[None] = self._loop.create_future()
        self._idle.append(done)
        self.touch()
        await done

    async def close(self) -> None:
        """Drain, then stop the writer thread."""
        await self.drain()
        self._closing = True
        if self._thread is not None:
            self._wake.set()
            await asyncio.to_thread(self._thread.join)
            self._thread = None

    def _flush(self) -> None:
        self._flushing = False
        if self._busy or self.broken or not (self._batch or self._callbacks):
            return
        work = (self._batch, self._callbacks)
        self._batch, self._callbacks = Batch(), []
        self._busy = True
        if self._inline:
            try:
                if work[0]:
                    self._ledger.write(work[0])
            except Exception as error:
                self._loop.call_soon(self._fail, error)
            else:
                self._loop.call_soon(self._written, work[1])
        else:
            self._work = work
            self._wake.set()

    def _write_forever(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._work is None:
                if self._closing:
                    return
                continue
            (batch, callbacks), self._work = self._work, None
            try:
                if batch:
                    self._ledger.write(batch)
            except Exception as error:
                self._loop.call_soon_threadsafe(self._fail, error)
            else:
                self._loop.call_soon_threadsafe(self._written, callbacks)

    def _written(self, callbacks: list[Callback]) -> None:
        self.commits += 1
        self._busy = False
        for callback in callbacks:
            try:
                callback()
            except Exception as fault:
                self._failed(fault)
        if self._batch or self._callbacks:
            self.touch()
        else:
            self._settle()

    def _fail(self, error: Exception) -> None:
        self._busy = False
        self.broken = True
        self._settle()
        self._failed(error)

    def _settle(self) -> None:
        waiting, self._idle = self._idle, []
        for done in waiting:
            if not done.done():
                done.set_result(None)
