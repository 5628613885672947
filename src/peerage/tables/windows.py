"""Windows of hosts: what is planned, what was held, and what of that each player used."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from msgspec import Struct

from peerage.ledger.store import Ledger
from peerage.ledger.waits import waits
from peerage.ledger.windows import HOUR_MS, left_open, windows
from peerage.settings import ArenaSettings
from peerage.tables import Shown


class HostPlan(Shown, frozen=True):
    """One host of arena.yaml: its players, how many matches are `waiting` for them and with how many it is
    started (`starts_at`) while others can play, how many hours a window lasts at most and what that costs.
    `open` says that a window is open. `expected_hours` is for the matches that wait, by the pace of earlier
    windows; null before there were any."""

    host: str
    players: tuple[str, ...]
    waiting: int
    starts_at: int
    longest_hours: float
    most_usd: float | None
    expected_hours: float | None
    open: bool


class WindowRow(Shown, frozen=True):
    """One window that has ended: when it was opened, its models could first be asked, and it was closed (Unix
    milliseconds; `ready_ms` null where that never was), hours held and what they cost, in which part of the
    time from ready to the stop at least one call was on its way (null after a crash), matches with calls in
    it, and how many an hour. `why` it ended: done, longest, stopped, crashed, or failed with the reason."""

    host: str
    opened_ms: int
    ready_ms: int | None
    closed_ms: int
    hours: float
    cost_usd: float | None
    busy_share: float | None
    matches: int
    matches_per_hour: float | None
    why: str


class Windows(Shown, frozen=True):
    """What is planned, a host each, and all windows that have ended, in order."""

    plan: tuple[HostPlan, ...]
    past: tuple[WindowRow, ...]


class HostedStats(Struct, frozen=True):
    """What one player took of the windows of its host: its calls and their seconds, the hours that are its
    share of what was held, what its calls were billed, and its share of what no call was billed (start,
    waiting, stop), which is in no match and no other sum here. Dollars; None where the price is unknown."""

    player: str
    host: str
    calls: int
    seconds: float
    hours: float
    billed_usd: float | None
    unused_usd: float | None


def shown_windows(ledger: Ledger | None, settings: ArenaSettings, folder: Path) -> Windows:
    """What `peerage windows` shows; before the first run there is no ledger. Raises LedgerError."""
    past = tuple(
        [
            WindowRow(
                one.host,
                one.opened_ms,
                one.ready_ms,
                one.closed_ms,
                (hours := (one.closed_ms - one.opened_ms) / HOUR_MS),
                None if one.nano_per_hour is None else one.held_nano / 1e9,
                one.busy_share,
                one.matches,
                one.matches / hours if hours else None,
                one.why,
            )
            for one in (windows(ledger) if ledger else ())
        ]
    )
    waiting = Counter([one.player for one in waits(ledger).now.values()] if ledger else ())
    opened = {one.host for one in left_open(folder).values()}
    plan = []
    for name, host in settings.hosts.items():
        players = tuple([one.name for one in settings.players if one.host == name])
        wait = sum(waiting[player] for player in players)
        held, played = (
            sum(getattr(row, key) for row in past if row.host == name) for key in ("hours", "matches")
        )
        plan.append(
            HostPlan(
                name,
                players,
                wait,
                host.matches,
                host.longest,
                None if host.usd_per_hour is None else host.longest * host.usd_per_hour,
                wait * held / played if played else None,
                name in opened,
            )
        )
    return Windows(tuple(plan), past)


def hosted_stats(ledger: Ledger) -> tuple[HostedStats, ...]:
    """What each player took of windows, by name. Raises LedgerError."""
    found: dict[str, HostedStats] = {}
    for one in windows(ledger):
        unused, hours = one.unused, (one.closed_ms - one.opened_ms) / HOUR_MS
        whole = sum(use.seconds for use in one.used.values())
        priced = one.nano_per_hour is not None
        for player, use in one.used.items():
            was = found.get(player, HostedStats(player, one.host, 0, 0.0, 0.0, None, None))
            found[player] = HostedStats(
                player,
                one.host,
                was.calls + use.calls,
                was.seconds + use.seconds,
                was.hours + hours * (use.seconds / whole if whole else 1 / len(one.used)),
                (was.billed_usd or 0.0) + use.billed_nano / 1e9 if priced else was.billed_usd,
                (was.unused_usd or 0.0) + unused[player] / 1e9 if priced else was.unused_usd,
            )
    return tuple([found[player] for player in sorted(found)])
