"""Windows in which hosts were held: entries of the log, and the files of those that are open.

A window is on record when it has ended: from when to when the host was held, what of that its players'
calls were billed, and what is left over, which is split by use. While it is open a file beside the ledger
says so, from before the host is started: after a crash the next command finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from peerage.inputs import InputRefused, read_bytes
from peerage.ledger.store import Ledger, amended

TOPIC = "windows"
HOUR_MS = 3_600_000


class Use(Struct, frozen=True, omit_defaults=True):
    """What one player took of a window: calls, their seconds, and what they were billed, in 1e-9 dollars."""

    calls: int = 0
    seconds: float = 0.0
    billed_nano: int = 0


class Window(Struct, frozen=True, omit_defaults=True):
    """A window that has ended. `ready_ms` is when its models first could be asked, null where they never
    could, `stopping_ms` when it began to be stopped; `busy_ms` for how long at least one call was on its
    way between those two, null where a crash took that along;
    `matches` had calls in it. `nano_per_hour` is the price, null where none is known. `why` it ended: `done`,
    `longest`, `stopped` (the run was), `failed: …` or `crashed`."""

    host: str
    opened_ms: int
    closed_ms: int
    why: str
    nano_per_hour: int | None = None
    ready_ms: int | None = None
    stopping_ms: int | None = None
    busy_ms: int | None = None
    matches: int = 0
    used: dict[str, Use] = {}

    @property
    def held_nano(self) -> int:
        """What the host was paid."""
        return -(-max(0, self.closed_ms - self.opened_ms) * (self.nano_per_hour or 0) // HOUR_MS)

    @property
    def busy_share(self) -> float | None:
        """The part of the time from ready to the stop in which at least one call was on its way."""
        if self.busy_ms is None or self.ready_ms is None or self.stopping_ms is None:
            return None
        return min(1.0, self.busy_ms / max(1, self.stopping_ms - self.ready_ms))

    @property
    def unused(self) -> Mapping[str, int]:
        """What no call was billed of that, by player: split by the seconds of their calls, and evenly where
        there were none. The shares add up to the whole."""
        left = max(0, self.held_nano - sum(use.billed_nano for use in self.used.values()))
        whole = sum(use.seconds for use in self.used.values())
        shares = {
            name: int(left * use.seconds / whole) if whole else left // len(self.used)
            for name, use in self.used.items()
        }
        if shares:
            shares[min(shares)] += left - sum(shares.values())
        return shares


class Opened(Struct, frozen=True, omit_defaults=True):
    """The file of an open window. `guard` is the process that stops the host when the run has ended or died,
    and `stopped_ms` when it has."""

    host: str
    opened_ms: int
    players: tuple[str, ...] = ()
    nano_per_hour: int | None = None
    stop: tuple[str, ...] = ()
    guard: int | None = None
    stopped_ms: int | None = None


def windows(ledger: Ledger) -> Iterator[Window]:
    """All windows that have ended, in order. Raises LedgerError."""
    return amended(ledger, TOPIC, Window)


def unused(ledger: Ledger) -> dict[str, int]:
    """What hosts were held for beyond calls, by player over all windows, in 1e-9 dollars. Raises
    LedgerError."""
    found: dict[str, int] = {}
    for window in windows(ledger):
        for name, nano in window.unused.items():
            found[name] = found.get(name, 0) + nano
    return found


def record_of(folder: Path, host: str) -> Path:
    """The file that says that a host's window is open."""
    return folder / f"window-{host}.json"


def left_open(folder: Path) -> dict[Path, Opened]:
    """The windows whose files are there: of a run that goes on, or of one that died. What cannot be read is
    none of ours."""
    found: dict[Path, Opened] = {}
    for path in sorted(folder.glob("window-*.json")):
        try:
            found[path] = msgspec.json.decode(read_bytes(path), type=Opened)
        except (OSError, InputRefused, msgspec.MsgspecError):
            continue
    return found
