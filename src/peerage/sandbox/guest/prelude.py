# ruff: noqa: E402
# mypy: ignore-errors
"""Run in the guest first, while the snapshot of the interpreter is made: supplies what the stock build lacks.

Its C `lru_cache` recurses on a C stack that is too small; the library's own Python fallback does not. One
call of a cached function is then two Python frames, hence the recursion limit of 3000 in place of 1000.

It has no threads. Here a thread runs to its end inside `start`, a pool's task inside `submit`, and an event
loop, which nothing outside can wake, sleeps until its next timer. What can only wait for ever raises.
"""

import sys

sys.modules["_functools"] = None
import functools

del sys.modules["_functools"]
import _functools

for _name in ("partial", "reduce", "cmp_to_key"):
    setattr(functools, _name, getattr(_functools, _name))
sys.setrecursionlimit(3000)

import _threading_local
import concurrent.futures
import selectors
import socket
import threading
import time
import types

_FOR_EVER = "waits for ever: in this sandbox a thread runs to its end when it is started, and alone"


class _Lock:
    def __init__(self):
        self._held = False

    def acquire(self, blocking=True, timeout=-1):
        if self._held and blocking and timeout < 0:
            raise RuntimeError(f"this lock {_FOR_EVER}")
        if self._held and blocking:
            time.sleep(timeout)
        taken = not self._held
        self._held = True
        return taken

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self):
        return self._held

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.release()

    def _at_fork_reinit(self):
        self._held = False


def _start(self):
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    here, outer = threading.get_ident(), threading.current_thread()
    self._tstate_lock = _Lock()
    self._tstate_lock.acquire()
    self._set_ident()
    self._started.set()
    threading._active[here] = self
    try:
        self.run()
    except BaseException:
        self._invoke_excepthook(self)
    finally:
        threading._active[here] = outer
        self._tstate_lock.release()


class _Executor(concurrent.futures.Executor):
    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        self._ended = False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn, /, *args, **kwargs):
        if self._ended:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._ended = True


class _Sleeper(selectors._BaseSelectorImpl):
    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError(f"the event loop {_FOR_EVER}")
        time.sleep(max(timeout, 0))
        return []


class _Waker:
    """One end of the pair of sockets by which another thread would wake an event loop."""

    def __init__(self, number):
        self.fileno = lambda: number
        self.setblocking = lambda flag: None
        self.send = len
        self.close = lambda: None


threading.Lock = threading._allocate_lock = _Lock
threading.Thread.start = _start
threading.local = _threading_local.local
selectors.DefaultSelector = _Sleeper
socket.socketpair = lambda *_: (_Waker(3), _Waker(4))
concurrent.futures.ThreadPoolExecutor = _Executor
concurrent.futures.thread = sys.modules["concurrent.futures.thread"] = types.ModuleType(
    "concurrent.futures.thread"
)
concurrent.futures.thread.ThreadPoolExecutor = _Executor

import asyncio  # noqa: F401  # last, since it takes over what is replaced above
