"""Group commit: rows gather on the event loop, a writer thread makes each batch durable in one transaction.

Rows become durable in the order they were added. Whatever must not happen before a row is durable (to
send a request, to call an outcome standing) is a callback added after that row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf

from peerage.engine.record.shelf import Shelf
from peerage.ledger import Batch, Writes
from peerage.ledger.forms.codec import Text

Callback = Callable[[], None]


class Journal:
    """The one writer of a running arena. All methods are for the event loop's thread.

    With `inline` the loop's own thread writes: for simulation in virtual time, where no thread may wait.
    After each batch the next is gathered for `gather_s` seconds at least, so that fewer are written.
    Pictures and sounds of the `shelf` are in the first batch that refers to them.
    `failed` is called on the loop with the error when a write fails (nothing is written after that, see
    `broken`) or a callback raises.
    """

    def __init__(
        self, ledger: Writes, failed: Callable[[Exception], None], shelf: Shelf, *, inline: bool = False
    ) -> None:
        self.shelf = shelf
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
        self.gather_s = 0.0
        self._wrote = -inf
        self._idle: list[asyncio.Future[None]] = []
        self._writer = ThreadPoolExecutor(1, "ledger-writer")
        self.commits = 0

    @property
    def rows(self) -> Batch:
        """Return where rows are added; call `touch` afterwards."""
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
            left = self._wrote + self.gather_s - self._loop.time() if self.gather_s else 0.0
            if left > 0:
                self._loop.call_later(left, self._flush)
            else:
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
        if not self._inline:
            await asyncio.to_thread(self._writer.shutdown)

    def _flush(self) -> None:
        self._flushing = False
        if self._busy or self.broken or not (self._batch or self._callbacks):
            return
        batch, callbacks = self._batch, self._callbacks
        try:
            batch.media += self.shelf.due(batch)
        except Exception as error:  # nothing more can be written by the ledger of which a picture changed
            self._fail(error)
            return
        if batch.media:
            callbacks.insert(0, partial(self.shelf.written, batch))
        self._batch, self._callbacks = Batch(), []
        self._busy = True
        if self._inline:
            self._write(batch, callbacks, self._loop.call_soon)
        else:
            self._writer.submit(self._write, batch, callbacks, self._loop.call_soon_threadsafe)

    def _write(self, batch: Batch, callbacks: list[Callback], then: Callable[..., object]) -> None:
        try:
            if batch:
                self._ledger.write(batch)
        except Exception as error:
            then(self._fail, error)
        else:
            then(self._written, callbacks)

    def _written(self, callbacks: list[Callback]) -> None:
        self.commits += 1
        self._busy = False
        self._wrote = self._loop.time()
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
