"""Policies of pairing by name. Pure.

Each is a function of what is known when the round is paired and of a lot: so the same log and secret give
the same pairs, on any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from peerage.scheduling import adaptive, groups, swiss
from peerage.scheduling.standing import BEST_FIRST, Goal, History, PolicyName, Results, Standing, may_meet


class Policy(NamedTuple):
    """A way to pair players: `width` is that of `swiss`'s strata in Elo, `goal` what `adaptive` plays for.

    `per_dollar`: it divides what a match says by what it costs.
    """

    name: PolicyName = "swiss"
    width: float = 50.0
    goal: Goal = BEST_FIRST
    per_dollar: bool = False

    @property
    def learns(self) -> bool:
        """Return whether it reads results; the others make do with ratings and who has met whom."""
        return self.name == "adaptive"

    @property
    def player(self) -> str:
        """The player in every match, where it is to place one; else empty."""
        return self.goal.player if self.learns else ""

    def pair(
        self,
        standings: Sequence[Standing],
        history: History,
        results: Results,
        lot: str,
        same_family: bool = True,
    ) -> tuple[tuple[str, str], ...]:
        """The pairs of a round, each the higher seeded first: by cost Elo, equals by name. Without
        `same_family` players of one family never meet."""
        if self.name == "swiss":
            pairs = swiss.pair(standings, history, lot, self.width, same_family)
        elif self.name == "random":
            pairs = _at_random(standings, history, lot, same_family)
        elif self.name == "round-robin":
            pairs = _round_robin(standings, history, lot, same_family)
        else:
            drawn_up = self._learnt(standings, history, results, lot, same_family)
            pairs = tuple([(a, b) for a, b in drawn_up])
        seed = {standing.player: (-standing.cost, standing.player) for standing in standings}
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
    ) -> tuple[tuple[str, ...], ...]:
        """The tables of a round of a game for more than two; see `groups.group` for `outside` and `fewest`.
        `random` seats everybody at random, `round-robin` those who have met least often."""
        if not self.learns:
            width, seated = self.width, standings
            if self.name != "swiss":
                width = self.width * (self.name == "round-robin")
                seated = [standing._replace(mu=0.0) for standing in standings]
            return groups.group(
                standings=seated,
                history=history,
                seed=lot,
                seats=seats,
                width=width,
                outside=outside,
                fewest=fewest,
            )
        size = groups.size(len(standings), seats, outside)
        count = 1 if self.player else groups.tables(len(standings), seats, outside, fewest)
        tables = self._learnt(standings, history, results, lot, True, size, max(1, count))
        return tuple([table for table in tables if len(table) >= fewest])

    def _learnt(
        self,
        standings: Sequence[Standing],
        history: History,
        results: Results,
        lot: str,
        same_family: bool,
        seats: int = 2,
        count: int | None = None,
    ) -> tuple[tuple[str, ...], ...]:
        if self.player:  # a quarter of a round, so that few matches are under way when its place is known
            count = max(1, len(standings) // 8) if seats == 2 else 1
        return adaptive.draw_up(
            standings,
            history,
            results,
            lot,
            self.goal,
            same_family=same_family,
            seats=seats,
            count=count,
            price=results.prices([standing.player for standing in standings]) if self.per_dollar else {},
        )


def _at_random(
    standings: Sequence[Standing], history: History, lot: str, same_family: bool
) -> tuple[tuple[str, str], ...]:
    """As many pairs as there can be. Of an odd number, one of those who played most sits out. Without
    `same_family` players of one family never meet: those who may meet the fewest are seated first, which
    leaves out the fewest."""
    rng = Random(lot)
    left = rng.sample(sorted(standings), len(standings))
    if len(left) % 2:
        left.remove(max(left, key=lambda seat: history.played(seat.player)))
    pairs: list[tuple[str, str]] = []
    while left:
        first = min(
            left,
            key=lambda seat: sum(may_meet(seat, other, same_family) for other in left) * (not same_family),
        )
        others = [seat for seat in left if seat != first and may_meet(first, seat, same_family)]
        left.remove(first)
        if others:
            pairs.append((first.player, others[0].player))
            left.remove(others[0])
    return tuple(pairs)


def _round_robin(
    standings: Sequence[Standing], history: History, lot: str, same_family: bool
) -> tuple[tuple[str, str], ...]:
    """The round of the circle method whose pairs have met least often, so that it goes on well when players
    join or leave: one player stays in its place, the others move on by one each round, and those who are
    opposite each other meet (Berger's tables; Kirkman 1847). `lot` decides among equals. Of an odd number one
    sits out. Without `same_family` players of one family never meet, and those who would in this round sit
    out too."""
    circle = [*sorted(standings), *[None] * (len(standings) % 2)]
    rounds = []
    for _ in circle[1:]:
        opposite = zip(circle[: len(circle) // 2], reversed(circle), strict=False)
        pairs = tuple([(a.player, b.player) for a, b in opposite if a and b and may_meet(a, b, same_family)])
        if pairs:
            rounds.append(pairs)
        circle = [circle[0], circle[-1], *circle[1:-1]]
    Random(lot).shuffle(rounds)
    return min(rounds, key=lambda pairs: sum(history.met(*both) for both in pairs) / len(pairs), default=())


SWISS = Policy()
