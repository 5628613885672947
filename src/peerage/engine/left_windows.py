"""Windows that a crash left open: found by the next command, stopped, and written down."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from peerage.ledger.codec import read_reply
from peerage.ledger.store import Ledger, amend
from peerage.ledger.windows import TOPIC, Opened, Use, Window, left_open, windows
from peerage.players.host_guard import GRACE_S, STOP_S, stopped
from peerage.players.hosted import running

CRASHED = "crashed"
LOOK_S = 0.05


def stop_left_open(folder: Path, ledger: Ledger, clock: Callable[[], int]) -> list[Window]:
    """Stop the hosts that a run which died left up, and write their windows down. The caller holds the
    runner's lock, so no run goes on. `clock` gives Unix milliseconds."""
    found: list[Window] = []
    known = {(one.host, one.opened_ms) for one in windows(ledger)} if left_open(folder) else set()
    for path, opened in left_open(folder).items():
        if (opened.host, opened.opened_ms) not in known:
            stopped_ms = _awaited(path, opened)
            if stopped_ms is None:
                with path.with_suffix(".log").open("ab") as log:
                    stopped([*opened.stop], log)
                stopped_ms = clock()
            window = _as_found(ledger, opened, max(opened.opened_ms, stopped_ms))
            amend(ledger, TOPIC, [window], clock())
            found.append(window)
        path.unlink(missing_ok=True)
    return found


def _awaited(path: Path, opened: Opened) -> int | None:
    """When the guard of a window stopped the host, which it does as soon as its run has died; None when it is
    gone without."""
    gives_up = time.monotonic() + STOP_S + 2 * GRACE_S
    while opened.stopped_ms is None and opened.guard is not None and time.monotonic() < gives_up:
        alive = _is_guard(opened.guard)
        opened = left_open(path.parent).get(path, opened)
        if not alive:
            break
        time.sleep(LOOK_S)
    return opened.stopped_ms


def _is_guard(pid: int) -> bool:
    """Whether this process is a guard, as far as the system tells: numbers are given again."""
    with suppress(OSError):
        return b"host_guard" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return running(pid) and not Path("/proc/self").exists()


def _as_found(ledger: Ledger, opened: Opened, closed_ms: int) -> Window:
    """A window whose run died, from the replies on record."""
    used = {name: Use() for name in opened.players}
    matches: set[int] = set()
    first = 1 + sum(row.at_ms < opened.opened_ms for row in ledger.summaries())
    for one in ledger.exchanges(first):
        within = one.reply is not None and opened.opened_ms <= (one.at_ms or 0) <= closed_ms
        if within and one.player in used and one.reply is not None:
            was, reply = used[one.player], read_reply(one)
            seconds = was.seconds + reply.latency_ms / 1000
            used[one.player] = Use(was.calls + 1, seconds, was.billed_nano + (reply.cost_nano or 0))
            matches.add(one.match)
    return Window(
        opened.host,
        opened.opened_ms,
        closed_ms,
        CRASHED,
        opened.nano_per_hour,
        matches=len(matches),
        used=used,
    )
