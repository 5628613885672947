"""Signals that end a command: a closed terminal and SIGTERM as Ctrl+C does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def leaving_terminal() -> Callable[[], None]:
    """Return what sends elsewhere all that is written to this terminal: once it is gone nobody reads that,
    and writing to it would be an error."""
    terminals = [number for number in (1, 2) if os.isatty(number)]

    def leave() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in terminals:
            os.dup2(nowhere, number)
        os.close(nowhere)

    return leave


@contextmanager
def ended_as_interrupted() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end what runs now as Ctrl+C does, where nothing else catches them: while a plan
    is confirmed, players are probed, tables are printed. Children get none of this."""
    owner, leave = os.getpid(), leaving_terminal()

    def interrupt(number: int, _: object) -> None:
        if os.getpid() != owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        if number != signal.SIGTERM:
            leave()
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # ignored, as in what a script starts with `&`
            raise KeyboardInterrupt

    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    caught = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in caught:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
