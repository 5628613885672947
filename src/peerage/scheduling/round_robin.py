"""Everybody meets everybody else, then all over again. Pure.

The rounds are those of the circle method: one player stays in its place, the others move on by one each
round, and those who are opposite each other meet (Berger's tables; Kirkman 1847). Next comes the round
whose pairs have met least often, so that it goes on well when players join or leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from peerage.scheduling.standing import History, Standing, may_meet


def pair(
    standings: Sequence[Standing], history: History, lot: str, same_family: bool, across: bool
) -> tuple[tuple[str, str], ...]:
    """The next round; `lot` decides among equals. Of an odd number one sits out. Without `same_family`
    players of one family never meet, where `across` none of one group, and who would in this round sits out
    too."""
    circle = [*sorted(standings), *[None] * (len(standings) % 2)]
    rounds = []
    for _ in circle[1:]:
        opposite = zip(circle[: len(circle) // 2], reversed(circle), strict=False)
        pairs = tuple(
            [(a.player, b.player) for a, b in opposite if a and b and may_meet(a, b, same_family, across)]
        )
        if pairs:
            rounds.append(pairs)
        circle = [circle[0], circle[-1], *circle[1:-1]]
    Random(lot).shuffle(rounds)
    return min(rounds, key=lambda pairs: sum(history.met(*both) for both in pairs) / len(pairs), default=())
