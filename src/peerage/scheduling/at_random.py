"""Random pairing: everybody plays once in a round, against anyone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from peerage.scheduling.standing import History, Standing, may_meet


def pair(
    standings: Sequence[Standing], history: History, lot: str, same_family: bool, across: bool
) -> tuple[tuple[str, str], ...]:
    """As many pairs as there can be. Of an odd number, one of those who played most sits out. Without
    `same_family` players of one family never meet, where `across` none of one group: those who may meet the
    fewest are seated first, which leaves out the fewest."""
    rng = Random(lot)
    left = rng.sample(sorted(standings), len(standings))
    if len(left) % 2:
        left.remove(max(left, key=lambda one: history.played(one.player)))
    found: list[tuple[str, str]] = []
    while left:
        barred = not same_family or across
        first = min(
            left, key=lambda one: sum(may_meet(one, other, same_family, across) for other in left) * barred
        )
        others = [one for one in left if one != first and may_meet(first, one, same_family, across)]
        left.remove(first)
        if others:
            found.append((first.player, others[0].player))
            left.remove(others[0])
    return tuple(found)
