"""Matches by maker: who was tried how often, and of whose many players only some are still listed.

A maker that enters many players and keeps the best looks better than it is, and so does one whose players
meet others more often (Singh and others, "The Leaderboard Illusion", 2025).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

SHOWN = 8
"""Withdrawn players that a note names."""


class MakerRow(Struct, frozen=True):
    """One maker, the part of a family before its slash.

    `players` played or are listed, of which `withdrawn` are listed no more; `matches` are their seats in
    decided matches, `share` that of all seats, `rate` the matches of one of its players over those of the
    average player; None before the first match.
    """

    maker: str
    players: int
    withdrawn: int
    matches: int
    share: float | None
    rate: float | None


def maker_of(family: str) -> str:
    """Who made the models of a family: openai of openai/gpt."""
    return family.partition("/")[0]


def makers(
    families: Mapping[str, str], listed: Collection[str], matches: Mapping[str, int]
) -> tuple[MakerRow, ...]:
    """Every maker, that of most matches first; nobody where each has one player. `matches` are the decided
    ones of each player that is `listed` or played."""
    players = {name for name, count in matches.items() if count} | {*listed}
    of = {name: maker_of(families.get(name, "")) or name for name in players}
    every, seats = sum(matches.values()), Counter[str]()
    for name in players:
        seats[of[name]] += matches.get(name, 0)
    size, gone = Counter(of.values()), Counter([of[name] for name in players if name not in listed])
    usual = every / len(players) if players else 0.0
    if len(size) == len(players):
        return ()
    return tuple(
        [
            MakerRow(
                maker,
                number,
                gone[maker],
                seats[maker],
                seats[maker] / every if every else None,
                seats[maker] / number / usual if every else None,
            )
            for maker, number in sorted(size.items(), key=lambda one: (-seats[one[0]], one[0]))
        ]
    )


def picked(families: Mapping[str, str], listed: Collection[str], played: Iterable[str]) -> Iterator[str]:
    """A note for each maker of several players of which only some are still listed."""
    of: dict[str, list[str]] = {}
    for name in sorted({*played, *listed}):
        of.setdefault(maker_of(families.get(name, "")) or name, []).append(name)
    for maker, names in of.items():
        gone = [name for name in names if name not in listed]
        left = len(names) - len(gone)
        if gone and left:
            more = f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else ""
            yield (
                f"{maker} entered {len(names)} players, of which {left} {'is' if left == 1 else 'are'} still "
                f"listed; withdrawn: {', '.join(gone[:SHOWN])}{more}. The best of several tries looks better "
                "than it is"
            )
