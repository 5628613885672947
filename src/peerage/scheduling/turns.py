"""Whose turn it is to be a contestant, where players have priorities. Pure.

A player with priority p, where the highest is h, is paired in p of h rounds, drawn at random; the others of a
round can still be authors, committee members and judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from peerage.scheduling.standing import Standing


def in_turn(standings: Sequence[Standing], seed: str, least: int, *, pairs: bool) -> Sequence[Standing]:
    """The contestants of a round, in the order given: at least so many, where there are. For `pairs` their
    number is even: one more takes part, or one sits out, as `seed` draws."""
    highest = max([one.priority for one in standings], default=1)
    if all(one.priority == highest for one in standings):
        return standings
    rng = Random(seed)
    draws = {one.player: rng.random() * highest / one.priority for one in sorted(standings)}
    order = sorted(standings, key=lambda one: (one.priority < highest, draws[one.player]))
    wanted = sum(draws[one.player] < 1 for one in standings)
    if pairs and wanted % 2:
        wanted += rng.choice((-1, 1)) if wanted < len(standings) else -1
    chosen = set(order[: max(wanted, least)])
    return [one for one in standings if one in chosen]
