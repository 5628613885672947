"""Who meets whom in matches of two: the policies by name. Pure.

Each is a function of what is known when the round is paired and of a lot: so the same log and secret give
the same pairs, on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from peerage.scheduling import at_random, certify, order, place, round_robin, swiss, top
from peerage.scheduling.standing import History, PolicyName, Results, Standing

LEARNING: tuple[PolicyName, ...] = ("order", "top", "certify", "place")


class Policy(NamedTuple):
    """How players are paired: `width` is that of `swiss`'s strata in Elo, `places` counts the first places
    that `top` has in view, `player` is whom `place` is about."""

    name: PolicyName = "swiss"
    width: float = 50.0
    places: int = 1
    player: str = ""

    @property
    def learns(self) -> bool:
        """Whether it reads results; the others make do with ratings and who has met whom."""
        return self.name in LEARNING

    def pair(
        self,
        standings: Sequence[Standing],
        history: History,
        results: Results,
        lot: str,
        kin: bool = True,
        once: bool = False,
    ) -> tuple[tuple[str, str], ...]:
        """The pairs of a round, each the higher seeded first: by cost Elo, equals by name. Without `kin`
        players of one family never meet; where `once`, nobody plays twice in it."""
        if self.name == "swiss":
            return swiss.pair(standings, history, lot, self.width, kin).pairs
        if self.name == "random":
            pairs = at_random.pair(standings, history, lot, kin)
        elif self.name == "round-robin":
            pairs = round_robin.pair(standings, history, lot, kin)
        elif self.name == "place":
            pairs = place.pair(self.player, standings, history, results, lot, kin, once)
        else:
            losses = {"order": order.of_order, "certify": certify.loss, "top": top.loss(self.places)}
            pairs = order.pair(standings, history, results, lot, kin, once, losses[self.name])
        seed = {one.player: (-one.cost, one.player) for one in standings}
        return tuple([(a, b) if seed[a] < seed[b] else (b, a) for a, b in pairs])


SWISS = Policy()
