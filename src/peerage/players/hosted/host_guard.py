"""The process that starts a host and stops it, also after a crash; started by `hosted`, never by hand.

Its first line of input is what to do, as JSON: `start` and `stop` (lists of words), `records` (the files
that say that the host is up) and `log`. It prints `started`, and `exited CODE` when the start command ends.
When its input ends, because a run is done with the host or has died, it runs `stop`, ends what `start` left
running, writes the time into the records and ends. With the argument `apart` it goes on as nobody's child.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from peerage.values.system_errors import reason

STOP_S = 120.0
"""Seconds that the stop command may take."""
GRACE_S = 10.0
"""Seconds that what `start` left running has to end by itself."""


def main() -> None:
    if sys.argv[1:] == ["apart"] and os.fork():
        os._exit(0)
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        if hasattr(signal, name):
            # Not SIG_IGN, which what we start would inherit, and then not heed when it is to end.
            signal.signal(getattr(signal, name), lambda *_: None)
    order = json.loads(sys.stdin.buffer.readline())
    with Path(order["log"]).open("ab") as log:
        process = _started(order["start"], log)
        if process is not None:
            threading.Thread(target=_watch, args=(process,), daemon=True).start()
        sys.stdin.buffer.read()
        stopped(order["stop"], log)
        if process is not None:
            _end(process)
        for record in order["records"]:
            finished(Path(record))
    os._exit(0)


def stopped(words: list[str], log: IO[bytes]) -> bool:
    """Run a stop command; whether it ended well."""
    if not words:
        return True
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=STOP_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.write(f"the stop command failed: {error}\n".encode())
        return False
    if done.returncode:
        log.write(f"the stop command ended with exit code {done.returncode}\n".encode())
    return done.returncode == 0


def finished(record: Path) -> None:
    """Write down when the host was stopped."""
    with suppress(OSError, ValueError):
        uptime: dict[str, Any] = json.loads(record.read_bytes())
        write(record, uptime | {"stopped_ms": time.time_ns() // 1_000_000})


def write(record: Path, uptime: dict[str, Any]) -> None:
    """Write a record, whole or not at all, for its owner alone."""
    fresh = record.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(json.dumps(uptime).encode())
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(record)


def _started(words: list[str], log: IO[bytes]) -> subprocess.Popen[bytes] | None:
    if not words:
        _say("started")
        return None
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    except OSError as error:
        log.write(f"{words[0]}: {reason(error)}\n".encode())
        _say("exited 127")
        return None
    _say("started")
    return process


def _watch(process: subprocess.Popen[bytes]) -> None:
    _say(f"exited {process.wait()}")


def _say(line: str) -> None:
    with suppress(OSError):
        print(line, flush=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what the start command left running: its whole session's group, gently first."""
    for number, seconds in ((signal.SIGTERM, GRACE_S), (getattr(signal, "SIGKILL", signal.SIGTERM), 5.0)):
        try:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.terminate()
        except (ProcessLookupError, PermissionError):
            return
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and _alive(process):
            time.sleep(0.05)


def _alive(process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is None:
        return True
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError, AttributeError):
        return False
    return True


if __name__ == "__main__":
    main()
