"""Dollars beyond the replies of finished matches: of probes, of matches that go on, of idle hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from peerage.engine.record.probed import probe_costs
from peerage.game.protocol import SANDBOX
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import read_reply
from peerage.ledger.topics.uptimes import uptimes
from peerage.render.blocks import Rows, numbers, texts
from peerage.values.figures import dollars, hundredths, whole
from peerage.views.stats.players import PLAYER, POSSIBLY

_BILLED = (*numbers(dollars, cost_usd="Billed"), POSSIBLY)


class ProbeStats(Struct, frozen=True):
    """The `probes` of one player, the small questions before runs, and what they cost in dollars: billed, and
    beyond that possibly billed (no usage reported, or a crash). They belong to no match and are in no other
    sum here. Both are None while the price of any probe is unknown."""

    player: str
    probes: int
    cost_usd: float | None
    possibly_usd: float | None


class UnfinishedStats(Struct, frozen=True):
    """The `calls` of one player in matches that have not ended yet, and what they cost in dollars: billed,
    and beyond that possibly billed (failed calls, calls in flight or left open by a crash, no usage
    reported). They are in no other sum here."""

    player: str
    calls: int
    cost_usd: float
    possibly_usd: float


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


def probe_stats(ledger: Ledger) -> tuple[ProbeStats, ...]:
    """Return what was spent on probes, by player in the order of names."""
    return tuple(
        [
            ProbeStats(
                player,
                cost.probes,
                None if cost.unknown else cost.billed_nano / 1e9,
                None if cost.unknown else cost.possibly_nano / 1e9,
            )
            for player, cost in sorted(probe_costs(ledger).items())
        ]
    )


def unfinished_stats(ledger: Ledger) -> tuple[UnfinishedStats, ...]:
    """Return what was spent in matches that have not ended yet, by player in the order of names."""
    first = ledger.heads()[1] + 1
    sums: dict[str, list[int]] = {}

    def add(player: str, billed: int, possibly: int | None) -> None:
        for place, more in enumerate((1, billed, possibly or 0)):
            sums.setdefault(player, [0, 0, 0])[place] += more

    for one in ledger.exchanges(first):
        if one.reply is not None and one.player != SANDBOX:
            known = read_reply(one).cost_nano
            add(one.player, known or 0, one.cost_nano if known is None else 0)
        elif one.player != SANDBOX:
            add(one.player, 0, one.lost_nano)
    return tuple(
        [
            UnfinishedStats(player, calls, billed / 1e9, possibly / 1e9)
            for player, (calls, billed, possibly) in sorted(sums.items())
        ]
    )


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


def probes(rows: Sequence[ProbeStats]) -> Rows:
    """Return the table of probes."""
    columns = [PLAYER, *numbers(whole, probes="Probes"), *_BILLED]
    title = "Probes: small questions before runs, in no match and no other sum here"
    return Rows(rows, columns, title=title, name="probes")


def unfinished(rows: Sequence[UnfinishedStats]) -> Rows:
    """Return the table of calls in matches that go on."""
    columns = [PLAYER, *numbers(whole, calls="Calls"), *_BILLED]
    title = "Matches that have not ended: their calls so far, in no other sum here"
    return Rows(rows, columns, title=title, name="unfinished")


def hosted(rows: Sequence[HostedStats]) -> Rows:
    """Return what players took of the hours for which hosts were held."""
    columns = [
        PLAYER,
        *texts(host="Host"),
        *numbers(whole, calls="Calls"),
        *numbers(hundredths, hours="Hours"),
        *numbers(dollars, billed_usd="Billed to calls", unused_usd="Start and idle"),
    ]
    about = "what players took of the hours held; what no call was billed is in no other sum here"
    return Rows(rows, columns, title=f"On hosts: {about}", name="hosted")
