"""Uptimes of hosts: entries of the log, and the files of hosts that are up.

An uptime is on record when it has ended: from when to when the host was held, what of that its players' calls
were billed, and what is left over, which is split by use. While a host is up a file beside the ledger says
so, from before it is started: after a crash the next command finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from peerage.ledger.ledger import Ledger, amended
from peerage.values.inputs import InputRefused, read_bytes

TOPIC = "uptimes"
HOUR_MS = 3_600_000


class Use(Struct, frozen=True, omit_defaults=True):
    """One player's use of an uptime: calls, their seconds, and what they were billed, in 1e-9 dollars."""

    calls: int = 0
    seconds: float = 0.0
    billed_nano: int = 0


class Uptime(Struct, frozen=True, omit_defaults=True):
    """One time that a host was up, from its start to its stop (Unix milliseconds). `matches` had calls in it.
    `nano_per_hour` is the price, null where none is known. `why` it ended: `done`, `longest`, `stopped` (the
    run was), `failed: …` or `crashed`."""

    host: str
    started_ms: int
    stopped_ms: int
    why: str
    nano_per_hour: int | None = None
    matches: int = 0
    used: dict[str, Use] = {}

    @property
    def hours(self) -> float:
        """Hours held."""
        return max(0, self.stopped_ms - self.started_ms) / HOUR_MS

    @property
    def held_nano(self) -> int:
        """Return what the host was paid."""
        return -(-max(0, self.stopped_ms - self.started_ms) * (self.nano_per_hour or 0) // HOUR_MS)

    @property
    def unused(self) -> Mapping[str, int]:
        """Return what no call was billed of that, by player: split by the seconds of their calls, and evenly
        where there were none. The shares add up to the whole."""
        left = max(0, self.held_nano - sum(use.billed_nano for use in self.used.values()))
        whole = sum(use.seconds for use in self.used.values())
        shares = {
            name: int(left * use.seconds / whole) if whole else left // len(self.used)
            for name, use in self.used.items()
        }
        if shares:
            shares[min(shares)] += left - sum(shares.values())
        return shares


class HostUp(Struct, frozen=True, omit_defaults=True):
    """The file of a host that is up. `guard` is the process that stops the host when the run has ended or
    died, and `stopped_ms` when it has."""

    host: str
    started_ms: int
    players: tuple[str, ...] = ()
    nano_per_hour: int | None = None
    stop: tuple[str, ...] = ()
    guard: int | None = None
    stopped_ms: int | None = None


def uptimes(ledger: Ledger) -> Iterator[Uptime]:
    """All uptimes that have ended, in order. Raises LedgerError."""
    return amended(ledger, TOPIC, Uptime)


def unused(ledger: Ledger) -> dict[str, int]:
    """Return what hosts cost beyond calls, by player over all uptimes, 1e-9 dollars. Raises LedgerError."""
    nano_by_player: dict[str, int] = {}
    for uptime in uptimes(ledger):
        for name, nano in uptime.unused.items():
            nano_by_player[name] = nano_by_player.get(name, 0) + nano
    return nano_by_player


def record_of(folder: Path, host: str) -> Path:
    """The file that says that a host is up."""
    return folder / f"host-{host}.json"


def hosts_up(folder: Path) -> dict[Path, HostUp]:
    """The hosts whose files are there: up, or left up by a dead run. A file that cannot be read is none."""
    hosts: dict[Path, HostUp] = {}
    for path in sorted(folder.glob("host-*.json")):
        try:
            hosts[path] = msgspec.json.decode(read_bytes(path), type=HostUp)
        except (OSError, InputRefused, msgspec.MsgspecError):
            continue
    return hosts
