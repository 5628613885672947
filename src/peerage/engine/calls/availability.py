"""Times at which players may be asked: within their hours, while their day's money lasts, while their host is
up.

A call to a player that may not be asked now is put off before anything is written or sent: its match does
all else that it can, then leaves its round (`engine.run.waiting`). The worst case of a call counts against
the day in which it is sent until its cost is known, so that no day costs more than was stated.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from peerage.engine.calls.budget import dollars, whole_nano
from peerage.engine.calls.pending import PendingCall
from peerage.engine.record.probed import TOPIC as PROBES
from peerage.engine.record.probed import probe_costs
from peerage.ledger import Ledger
from peerage.ledger.topics.uptimes import uptimes
from peerage.ledger.topics.waits import Waiting
from peerage.settings import PlayerSettings
from peerage.settings.players.hours import Hours, closed_until, read_hours

DAY_MS = 86_400_000
OUT_OF_HOURS = "out of hours"
DAILY_BUDGET = "daily_budget"
"""Reason of a reply that is not there, where one call may cost more than its player's whole day."""


_DAY = "its day's "


class Away(NamedTuple):
    """The reason why a player may not be asked now, and until when (Unix milliseconds; None: unknown)."""

    why: str
    until_ms: int | None


class Availability:
    """The times from which each of the `players` may be asked. `clock` gives Unix milliseconds; `spent` is
    what each player with a daily budget has cost today; `host` says why a player's host does not serve it
    now. For the event loop's thread alone."""

    def __init__(
        self,
        players: Iterable[PlayerSettings],
        clock: Callable[[], int],
        spent: Mapping[str, int] = {},
        host: Callable[[str], Away | None] = lambda _: None,
    ) -> None:
        players = list(players)
        self._hours: dict[str, Hours] = {
            player.name: read_hours(player.available) for player in players if player.available
        }
        self._daily = {
            player.name: limit for player in players if (limit := whole_nano(player.daily_budget)) is not None
        }
        self._clock = clock
        self._host = host
        self._day = clock() // DAY_MS
        self._spent = Counter(spent)
        self._held: Counter[str] = Counter()
        self._short: dict[str, deque[PendingCall]] = {}
        self.paused: dict[str, str] = {}
        """Players that no probe got through to, and why: set and taken back by the run."""

    def out_of_hours(self, player: str) -> int | None:
        """Return until when a player is out of its hours, in Unix milliseconds; None within them."""
        hours = self._hours.get(player)
        return None if hours is None else closed_until(hours, self._clock())

    def away(self, player: str) -> Away | None:
        """Return why a player may not be asked now."""
        if (why := self.paused.get(player)) is not None:
            return Away(why, None)
        if (until := self.out_of_hours(player)) is not None:
            return Away(OUT_OF_HOURS, until)
        limit = self._daily.get(player)
        if limit is not None and self._today()[player] >= limit:
            return self._until_tomorrow(player)
        return self._host(player)

    def goes_on(self, wait: Waiting) -> int:
        """Return from when on a match that waited in an earlier run may go on, in Unix milliseconds: its
        player's hours and daily budget are those of now, and may be none; what the player said holds. 0: at
        once."""
        if wait.why == OUT_OF_HOURS:
            return self.out_of_hours(wait.player) or 0
        other_budget = wait.why.startswith(_DAY) and wait.why != self._spent_up(wait.player)
        return 0 if other_budget else wait.until_ms or 0

    def reserve(self, pending: PendingCall) -> Away | bool:
        """Set the worst case of a call aside for the day. False: it waits for calls in flight, which may cost
        less (`paid`)."""
        player, worst = pending.player, pending.worst or 0
        if (away := self.away(player)) is not None:
            return away
        limit = self._daily.get(player)
        if limit is None:
            return True
        if self._today()[player] + worst > limit:
            return self._until_tomorrow(player)
        if self._spent[player] + self._held[player] + worst > limit:
            self._short.setdefault(player, deque()).append(pending)
            return False
        self._held[player] += worst
        pending.of_day = worst
        return True

    def never(self, pending: PendingCall) -> str:
        """Return why no day can pay for a call; empty where one can."""
        limit = self._daily.get(pending.player)
        if limit is None or (pending.worst or 0) <= limit:
            return ""
        worst = dollars(pending.worst or 0)
        return f"{DAILY_BUDGET}: one call may cost up to {worst}, a day at most {dollars(limit)}"

    def paid(self, pending: PendingCall, nano: int) -> Iterable[PendingCall]:
        """Count what a call has cost, or may have. The calls that waited for it; they are to be reserved
        again."""
        player, held = pending.player, pending.of_day
        if player not in self._daily:
            return ()
        self._held[player] -= held
        self._today()[player] += nano
        pending.of_day = 0
        return self._short.pop(player, ()) if held else ()

    def charge(self, costs: Mapping[str, int]) -> None:
        """Count the cost of players today outside calls: their hosts' start and idle time."""
        today = self._today()
        for player in costs.keys() & self._daily.keys():
            today[player] += costs[player]

    def may_probe(self, player: str, nano: int) -> bool:
        """Return whether a probe may be sent now that costs so much at most."""
        limit = self._daily.get(player)
        affordable = limit is None or self._today()[player] + self._held[player] + nano <= limit
        return affordable and self.out_of_hours(player) is None

    def recall(self, unwanted: Callable[[PendingCall], bool]) -> list[PendingCall]:
        """Take waiting calls back."""
        taken = [pending for pending in chain.from_iterable(self._short.values()) if unwanted(pending)]
        for player, waiting in self._short.items():
            self._short[player] = deque(pending for pending in waiting if not unwanted(pending))
        return taken

    def _today(self) -> Counter[str]:
        day = self._clock() // DAY_MS
        if day != self._day:
            self._day = day
            self._spent.clear()
        return self._spent

    def _until_tomorrow(self, player: str) -> Away:
        return Away(self._spent_up(player), (self._day + 1) * DAY_MS)

    def _spent_up(self, player: str) -> str:
        """Return why a player whose daily budget is spent is not asked."""
        return f"{_DAY}{dollars(self._daily.get(player, 0))} are spent"


def spent_today(ledger: Ledger, players: Iterable[PlayerSettings], now_ms: int) -> Counter[str]:
    """Return what each player with a daily budget has cost, or may have, since midnight UTC, in 1e-9 dollars.
    A call that a crash left open counts for the day on which that is found."""
    daily = {player.name for player in players if player.daily_budget is not None}
    spent: Counter[str] = Counter()
    if not daily:
        return spent
    midnight = now_ms // DAY_MS * DAY_MS
    before = sum(row.at_ms < midnight for row in ledger.amendments(PROBES))
    spent.update({p: cost.most_nano for p, cost in probe_costs(ledger, after=before).items() if p in daily})
    for uptime in uptimes(ledger):
        if uptime.stopped_ms >= midnight:  # what calls were billed of it is counted with them
            spent.update({player: nano for player, nano in uptime.unused.items() if player in daily})
    first = 1 + sum(row.at_ms < midnight for row in ledger.summaries())
    for exchange in ledger.exchanges(first):
        at_ms = exchange.failure.at_ms if exchange.failure is not None else exchange.at_ms
        if exchange.player in daily and (at_ms is None or at_ms >= midnight):
            spent[exchange.player] += (
                exchange.cost_nano if exchange.reply is not None else exchange.lost_nano
            ) or 0
    return spent
