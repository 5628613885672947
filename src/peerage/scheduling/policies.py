"""Who meets whom: the policies by name. Pure.

Each is a function of what is known when the round is paired and of a lot: so the same log and secret give
the same pairs, on any machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from peerage.scheduling import at_random, certify, groups, order, place, round_robin, swiss, top
from peerage.scheduling.standing import LEARNING, History, PolicyName, Results, Standing


class Policy(NamedTuple):
    """How players are paired: `width` is that of `swiss`'s strata in Elo, `places` counts the first places
    that `top` has in view, `player` is whom `place` is about. `per_dollar`: those who learn divide what a
    match says by what it costs."""

    name: PolicyName = "swiss"
    width: float = 50.0
    places: int = 1
    player: str = ""
    per_dollar: bool = False

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
        pairs: Sequence[Sequence[str]]
        if self.name == "swiss":
            return swiss.pair(standings, history, lot, self.width, kin).pairs
        if self.name == "random":
            pairs = at_random.pair(standings, history, lot, kin)
        elif self.name == "round-robin":
            pairs = round_robin.pair(standings, history, lot, kin)
        else:
            pairs = self._learnt(standings, history, results, lot, kin, once)
        seed = {one.player: (-one.cost, one.player) for one in standings}
        return tuple([(a, b) if seed[a] < seed[b] else (b, a) for a, b in pairs])

    def seat(
        self,
        standings: Sequence[Standing],
        history: History,
        results: Results,
        lot: str,
        seats: int,
        outside: int = 0,
        fewest: int = 2,
        slots: Mapping[str, int] = {},
        once: bool = False,
    ) -> tuple[tuple[str, ...], ...]:
        """The tables of a round of a game for more than two; see `groups.group` for `outside`, `fewest` and
        `slots`. `random` seats everybody by lot, `round-robin` those who have met least often."""
        if not self.learns:
            width, seated = self.width, standings
            if self.name != "swiss":
                width = self.width * (self.name == "round-robin")
                seated = [one._replace(mu=0.0) for one in standings]
            return groups.group(seated, history, lot, seats, width, outside, fewest, slots)
        size = groups.size(len(standings), seats, outside)
        count = 1 if self.player else groups.tables(len(standings), seats, outside, fewest)
        found = self._learnt(standings, history, results, lot, True, once, size, max(1, count))
        return groups.filled(found, seats, fewest, lot, slots)

    def _learnt(
        self,
        standings: Sequence[Standing],
        history: History,
        results: Results,
        lot: str,
        kin: bool,
        once: bool,
        seats: int = 2,
        count: int | None = None,
    ) -> tuple[tuple[str, ...], ...]:
        price = results.prices([one.player for one in standings]) if self.per_dollar else {}
        if self.name == "place":
            return place.draw_up(self.player, standings, history, results, lot, kin, once, seats, price)
        losses = {"order": order.of_order, "certify": certify.loss, "top": top.loss(self.places)}
        return order.draw_up(
            standings,
            history,
            results,
            lot,
            losses[self.name],
            kin=kin,
            once=once,
            seats=seats,
            count=count,
            price=price,
        )


SWISS = Policy()
