"""Work in parts, done by helpers: processes of this machine.

A part is a function of a module, with arguments and a result that pickle. It reads large data itself, from
the ledger, and it says nothing of where it was done: the results are those of one process.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

Found = TypeVar("Found")
Given = ParamSpec("Given")


POLITE = 10
"""Steps by which the priority of a polite helper is below that of the process that asks."""


class Lost(Exception):
    """The helper that did a part is gone; the message says how."""


class Helpers(Executor):
    """An executor of calls elsewhere, `count` at once. A future raises what its call raises, Lost where
    the helper that did it is gone. To leave its context ends all calls that are not done."""

    count: int


def in_order(
    helpers: Helpers, work: Callable[..., Found], parts: Iterable[tuple[Any, ...]]
) -> Iterator[Found]:
    """The results of all parts, in their order; a few parts ahead are done meanwhile, no more."""
    ahead: deque[Future[Found]] = deque()
    for part in parts:
        ahead.append(helpers.submit(work, *part))
        if len(ahead) > 2 * helpers.count:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


class Processes(Helpers):
    """Processes of this machine, each started when it is first needed, and again when it died; `env` are
    further variables of theirs. `polite` ones run below this one's priority. A call that takes longer than
    `longest_s` seconds ends its process. Unlike those of `multiprocessing` they do not run the caller's main
    module again, so that a script may call what uses them, and they end with the process that started them,
    however it ended."""

    def __init__(
        self,
        count: int,
        env: Mapping[str, str] | None = None,
        *,
        polite: bool = False,
        longest_s: float = threading.TIMEOUT_MAX,
    ) -> None:
        self.count = count
        self._env = {**os.environ, **(env or {})}
        self._words = ["polite"] * polite
        self._longest_s = longest_s
        self._threads = ThreadPoolExecutor(count, "helper")
        self._mine = threading.local()
        self._started: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def submit(
        self, work: Callable[Given, Found], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Found]:
        return self._threads.submit(self._call, work, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._over = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._started):
            process.kill()
        self._threads.shutdown(wait=wait)
        for process in list(self._started):
            self._end(process)

    def _call(self, work: Callable[..., Found], args: Any, kwargs: Any) -> Found:
        process = getattr(self._mine, "process", None)
        if process is None:
            process = self._mine.process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        too_long = threading.Timer(self._longest_s, process.kill)
        too_long.daemon = True
        try:
            too_long.start()
            pickle.dump(pickle.dumps((work, args, kwargs)), process.stdin)
            process.stdin.flush()
            done, answer = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._mine.process = None
            self._end(process)
            raise Lost("a process that helps was ended from outside, or ran out of memory") from None
        finally:
            too_long.cancel()
        if not done:
            raise answer
        result: Found = answer
        return result

    def _start(self) -> subprocess.Popen[bytes]:
        # -P: one who looks at somebody else's arena runs none of its files.
        command = [sys.executable, "-P", "-m", "peerage.values.parallel", *self._words]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._env)
        self._started.add(process)
        if self._over:
            process.kill()
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End a process, close its pipes, and wait for it."""
        self._started.discard(process)
        process.kill()
        with suppress(BrokenPipeError), process:
            pass


def main() -> None:
    """Do the calls that come on standard input, and write what they give to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the one who asked, who ends us
    if "polite" in sys.argv and hasattr(os, "setsid"):
        os.setsid()  # a group of its own, to which a scheduler is fair
        os.nice(POLITE)
    gc.set_threshold(300_000, 50, 100)  # as the command line has it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    calls: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_hear, args=(calls,), daemon=True).start()
    while True:
        call = calls.get()
        try:
            work, args, kwargs = pickle.loads(call)
            answer = pickle.dumps((True, work(*args, **kwargs)))
        except Exception as error:
            answer = pickle.dumps((False, error))
        with suppress(BrokenPipeError):
            answers.write(answer)
            answers.flush()


def _hear(calls: SimpleQueue[bytes]) -> None:
    """Take in calls; leave, also in the middle of one, when nobody can ask for more."""
    with suppress(EOFError):
        while True:
            calls.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


if __name__ == "__main__":
    main()
