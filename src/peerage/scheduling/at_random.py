"""Pairing by lot: everybody plays once in a round, against anyone. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from peerage.scheduling.standing import History, Standing


def pair(
    standings: Sequence[Standing], history: History, lot: str, kin: bool = True
) -> tuple[tuple[str, str], ...]:
    """As many pairs as there can be. Of an odd number, one of those who played most sits out. Without `kin`
    players of one family never meet: the largest family is seated first, which leaves out the fewest."""
    rng = Random(lot)
    family = {one.player: one.player if kin else one.family for one in sorted(standings)}
    left = rng.sample(list(family), len(family))
    if len(left) % 2:
        left.remove(max(left, key=history.played))
    found: list[tuple[str, str]] = []
    while left:
        sizes = Counter(family[one] for one in left)
        first = max(left, key=lambda one: sizes[family[one]])
        others = [one for one in left if family[one] != family[first]]
        if not others:
            break
        found.append((first, others[0]))
        left = [one for one in left if one not in found[-1]]
    return tuple(found)
