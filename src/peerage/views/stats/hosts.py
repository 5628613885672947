"""Hosts: which are up, hours held and what they cost, and each player's part of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from peerage.ledger import Ledger
from peerage.ledger.topics.uptimes import hosts_up, uptimes
from peerage.views.shown import Shown


class HostRow(Shown, frozen=True):
    """One host that was started: since when it is up (Unix milliseconds, null where it is not), how many
    matches are `waiting` for its players; of its past uptimes how many `starts` there were, the hours held,
    what they cost (null where the price is unknown), the matches with calls in them and how many an hour, and
    why the last one ended: done, longest, stopped, crashed, or failed with the reason."""

    host: str
    up_since_ms: int | None
    waiting: int
    starts: int
    hours: float
    cost_usd: float | None
    matches: int
    matches_per_hour: float | None
    ended: str


class HostedStats(Struct, frozen=True):
    """One player's part of the uptimes of its host: its calls and their seconds, the hours that are its share
    of those held, what its calls were billed, and its share of what no call was billed (start, waiting,
    stop), which is in no match and no other sum here. Dollars; None where the price is unknown."""

    player: str
    host: str
    calls: int
    seconds: float
    hours: float
    billed_usd: float | None
    unused_usd: float | None


def host_rows(ledger: Ledger, folder: Path, waiting: Mapping[str, int]) -> tuple[HostRow, ...]:
    """A row for each host that was ever started, by name; `waiting` are matches that wait, by player. Raises
    LedgerError."""
    up = {one.host: one for one in hosts_up(folder).values()}
    past, players = list(uptimes(ledger)), dict[str, set[str]]()
    for one in past:
        players.setdefault(one.host, set()).update(one.used)
    for host, running in up.items():
        players.setdefault(host, set()).update(running.players)
    rows = []
    for host, served in sorted(players.items()):
        ended = [one for one in past if one.host == host]
        hours, matches = sum(one.hours for one in ended), sum(one.matches for one in ended)
        known = any(one.nano_per_hour is not None for one in ended)
        rows.append(
            HostRow(
                host=host,
                up_since_ms=up[host].started_ms if host in up else None,
                waiting=sum(waiting.get(player, 0) for player in served),
                starts=len(ended),
                hours=hours,
                cost_usd=sum(one.held_nano for one in ended) / 1e9 if known else None,
                matches=matches,
                matches_per_hour=matches / hours if hours else None,
                ended=ended[-1].why if ended else "",
            )
        )
    return tuple(rows)


def hosted_stats(ledger: Ledger) -> tuple[HostedStats, ...]:
    """Each player's part of its host's uptimes, by name. Raises LedgerError."""
    hosts, priced = dict[str, str](), set[str]()
    calls, seconds, hours = Counter[str](), dict[str, float](), dict[str, float]()
    billed, unused = Counter[str](), Counter[str]()
    for one in uptimes(ledger):
        whole = sum(use.seconds for use in one.used.values())
        unused.update(one.unused)
        for player, use in one.used.items():
            hosts[player] = one.host
            calls[player] += use.calls
            seconds[player] = seconds.get(player, 0.0) + use.seconds
            share = use.seconds / whole if whole else 1 / len(one.used)
            hours[player] = hours.get(player, 0.0) + one.hours * share
            billed[player] += use.billed_nano
            if one.nano_per_hour is not None:
                priced.add(player)
    return tuple(
        [
            HostedStats(
                player=player,
                host=hosts[player],
                calls=calls[player],
                seconds=seconds[player],
                hours=hours[player],
                billed_usd=billed[player] / 1e9 if player in priced else None,
                unused_usd=unused[player] / 1e9 if player in priced else None,
            )
            for player in sorted(hosts)
        ]
    )
