"""Hears from a ledger's server when something is committed, so that nobody need look again and again."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress

from peerage.ledger.store import Ledger, LedgerError

AGAIN_S, LONGEST_AGAIN_S = 0.5, 30.0
"""Seconds between two tries to listen where the line was lost, more from try to try."""
REST_S = 0.05
"""Seconds in which all commits are one piece of news."""

_log = logging.getLogger("peerage")


class Listener:
    """Sets `news` whenever something may be new: at every commit it hears of, and when it begins or ceases to
    hear. `hears` says whether it does; without, as with a file, one has to look. Belongs to the running event
    loop."""

    def __init__(self, ledger: Ledger) -> None:
        self.news = asyncio.Event()
        self.hears = False
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._closed = threading.Event()
        threading.Thread(target=self._listen, name="peerage-listener", daemon=True).start()

    def close(self) -> None:
        """Cease to listen, within seconds."""
        self._closed.set()

    def _listen(self) -> None:
        pause = AGAIN_S
        while not self._closed.is_set():
            try:
                with self._ledger.listening() as heard:
                    if heard is None:
                        return
                    # What was committed until now is not heard: it is looked for.
                    self._tell(hears=True)
                    pause = AGAIN_S
                    while not self._closed.is_set():
                        if heard():
                            self._tell(hears=True)
                            self._closed.wait(REST_S)
            except LedgerError as error:
                if self.hears and not self._closed.is_set():
                    _log.warning("not heard any more, so looked at again and again: %s", error)
            self._tell(hears=False)
            self._closed.wait(pause)
            pause = min(2 * pause, LONGEST_AGAIN_S)

    def _tell(self, *, hears: bool) -> None:
        self.hears = hears
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self.news.set)
