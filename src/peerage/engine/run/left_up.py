"""Hosts that a crash left up: found by the next command, stopped, and their uptimes written down."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from peerage.ledger import Ledger, amend
from peerage.ledger.forms.codec import read_reply
from peerage.ledger.topics.uptimes import TOPIC, HostUp, Uptime, Use, hosts_up, uptimes
from peerage.players.hosted.host_guard import GRACE_S, STOP_S, stopped
from peerage.players.hosted.on_host import running

CRASHED = "crashed"
LOOK_S = 0.05


def stop_left_up(folder: Path, ledger: Ledger, clock: Callable[[], int]) -> list[Uptime]:
    """Stop the hosts that a run which died left up, and write their uptimes down. The caller holds the
    runner's lock, so no run goes on. `clock` gives Unix milliseconds."""
    ended: list[Uptime] = []
    left = hosts_up(folder)
    known = {(uptime.host, uptime.started_ms) for uptime in uptimes(ledger)} if left else set()
    for path, up in left.items():
        if (up.host, up.started_ms) not in known:
            stopped_ms = _awaited(path, up)
            if stopped_ms is None:
                with path.with_suffix(".log").open("ab") as log:
                    stopped([*up.stop], log)
                stopped_ms = clock()
            uptime = _from_replies(ledger, up, max(up.started_ms, stopped_ms))
            amend(ledger, TOPIC, [uptime], clock())
            ended.append(uptime)
        path.unlink(missing_ok=True)
    return ended


def _awaited(path: Path, up: HostUp) -> int | None:
    """Return when the guard stopped the host, as it does once its run has died; None when it just went."""
    gives_up = time.monotonic() + STOP_S + 2 * GRACE_S
    while up.stopped_ms is None and up.guard is not None and time.monotonic() < gives_up:
        alive = _is_guard(up.guard)
        up = hosts_up(path.parent).get(path, up)
        if not alive:
            break
        time.sleep(LOOK_S)
    return up.stopped_ms


def _is_guard(pid: int) -> bool:
    """Return whether this process is a guard, as far as the system shows: numbers are used again."""
    with suppress(OSError):
        return b"host_guard" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return running(pid) and not Path("/proc/self").exists()


def _from_replies(ledger: Ledger, up: HostUp, stopped_ms: int) -> Uptime:
    """The uptime of a host whose run died, by the replies on record."""
    used = {name: Use() for name in up.players}
    matches: set[int] = set()
    first = 1 + sum(row.at_ms < up.started_ms for row in ledger.summaries())
    for exchange in ledger.exchanges(first):
        within = exchange.reply is not None and up.started_ms <= (exchange.at_ms or 0) <= stopped_ms
        if within and exchange.player in used and exchange.reply is not None:
            was, reply = used[exchange.player], read_reply(exchange)
            seconds = was.seconds + reply.latency_ms / 1000
            used[exchange.player] = Use(was.calls + 1, seconds, was.billed_nano + (reply.cost_nano or 0))
            matches.add(exchange.match)
    return Uptime(up.host, up.started_ms, stopped_ms, CRASHED, up.nano_per_hour, len(matches), used)
