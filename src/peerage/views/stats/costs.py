"""Matches for their money, by player and by kind of match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from peerage.reading.results.discrimination import matches_to_tell
from peerage.reading.results.played import PlayedMatches
from peerage.render.blocks import Rows, numbers, texts
from peerage.standings.accounts import NOTHING, Account
from peerage.values.figures import dollars, hundredths, rounded, tenths, whole
from peerage.views.leaderboard.overall import FEW
from peerage.views.stats.players import PLAYER
from peerage.views.stats.spending import HostedStats


class CostStats(Struct, frozen=True):
    """What one player's matches brought, and what the player cost.

    `matches` had a result with it as a contestant. `cost_usd` is what it was billed in every role, start and
    idle time of its host included; None while the cost of no call is known. `gpu_hours` are its share of the
    hours that its host was held, None where it has no host. What is per dollar or hour is None where nothing
    was spent, or not all of it is known.
    """

    player: str
    matches: int
    cost_usd: float | None
    matches_per_usd: float | None
    gpu_hours: float | None
    matches_per_gpu_hour: float | None


class KindStats(Struct, frozen=True):
    """What the matches of one kind brought: of a game, or where there is but one game of a topic. `matches`
    had a result; `cost_usd` is what all of them are known to have cost, roles included, hosts' idle time not,
    None where that is nothing and some cost is unknown; what is per dollar is None where nothing was spent
    or not all is known. `told_after` is about how many matches tell two typical players apart with 95%, None
    of a topic, and where too few were played."""

    by: Literal["game", "topic"]
    kind: str
    matches: int
    cost_usd: float | None
    matches_per_usd: float | None
    told_after: float | None = None


def cost_stats(
    names: Sequence[str], accounts: Mapping[str, Account], hosted: Sequence[HostedStats]
) -> tuple[CostStats, ...]:
    """A row for each of `names`."""
    hosts = {one.player: one for one in hosted}
    return tuple([_of_player(name, accounts.get(name, NOTHING), hosts.get(name)) for name in names])


def _of_player(name: str, account: Account, host: HostedStats | None) -> CostStats:
    hours = host.hours if host else None
    cost = account.cost_usd
    if cost is not None and host is not None:
        cost += host.unused_usd or 0.0
    return CostStats(
        player=name,
        matches=account.matches,
        cost_usd=cost,
        matches_per_usd=_per(account.matches, cost if not account.unknown_costs else None),
        gpu_hours=hours,
        matches_per_gpu_hour=_per(account.matches, hours),
    )


def kind_stats(
    played: PlayedMatches, unknown: bool, of_game: Callable[[str], PlayedMatches]
) -> Iterator[KindStats]:
    """A row for each game, or each topic of the only one where it has any, in the order of names; `unknown`
    says that not every cost is known, `of_game` gives the matches of one."""
    alone = len({one.game for one in played.finished}) == 1 and any(one.topic for one in played.finished)
    by: Literal["game", "topic"] = "topic" if alone else "game"
    matches, nano = Counter[str](), Counter[str]()
    for one in played.finished:
        nano[getattr(one, by)] += one.spent_nano
    for one in played.decided:
        matches[getattr(one, by)] += 1
    for kind in sorted(nano):
        usd = nano[kind] / 1e9
        all_usd, known = (None, usd or None) if unknown else (usd, usd)
        yield KindStats(
            by=by,
            kind=kind,
            matches=matches[kind],
            cost_usd=known,
            matches_per_usd=_per(matches[kind], all_usd),
            told_after=_told_after(of_game(kind)) if by == "game" and matches[kind] >= FEW else None,
        )


def _told_after(played: PlayedMatches) -> float | None:
    return matches_to_tell(played.alone, played.count)


def _per(number: float, spent: float | None) -> float | None:
    return number / spent if spent else None


def by_player(rows: Sequence[CostStats]) -> Rows:
    """Return what each player's dollars and hours bought."""
    columns = [
        PLAYER,
        *_BOUGHT,
        *numbers(hundredths, gpu_hours="Hours held ~1"),
        *numbers(rounded, matches_per_gpu_hour="Matches/h ~1"),
    ]
    return Rows(rows, columns, title="Players: what dollars and hours bought", name="costs")


def by_kind(rows: Sequence[KindStats]) -> Rows:
    """Return what a dollar buys in each game or topic."""
    columns = [
        *texts(kind="Topic or game"),
        *_BOUGHT,
        *numbers(tenths, told_after="Matches to tell two apart ~1"),
    ]
    return Rows(rows, columns, title="Topics, or games: what a dollar buys in each", name="kinds")


_BOUGHT = (
    *numbers(dollars, cost_usd="Cost"),
    *numbers(whole, matches="Matches"),
    *numbers(rounded, matches_per_usd="Matches/$"),
)
