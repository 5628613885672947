"""The budget: what a call costs at its worst is reserved before it is sent. Pure.

Three limits hold at once: the arena's, each match's, each player's. A call goes when its worst case fits all
three next to what was spent and what is reserved for calls in flight; so no limit is ever exceeded, in any
order of replies. A call that fits only if calls in flight cost less than their worst waits for them. One that
would not fit even if they cost nothing is refused for good, because what was spent never shrinks: by the
limit of its match or player it gets no reply, by the arena's its match stops where it is.

A match begins when it and the matches under way can probably all be paid to their end. What each will cost
starts from the plan's estimate and follows what each player's calls cost so far; how far above that it may
end is what nineteen in twenty of its game did not exceed, so that near the end fewer are under way. When
money is short the lowest numbers go first: what they may still cost is kept from those behind them. The
lowest match under way waits for calls in flight alone, so somebody can always go on.

All sums are integers of 1e-9 dollars; expectations are floats and decide only who goes when.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import ceil

from peerage.engine.calls.call_costs import Share
from peerage.values.figures import exact_dollars

NANO = 1_000_000_000
MATCH_BUDGET = "match_budget"
PLAYER_BUDGET = "player_budget: "
ARENA_BUDGET = "arena_budget"
"""Statuses of a match that could not be paid for; after the second comes the player."""

GUESS_WEIGHT = 0.2
"""Matches of a player that the plan's estimate counts for next to what they really cost."""
DOUBT = 2.0
"""Limit of a match's cost as a multiple of its expected cost, while little is known of its game."""
SURE = 0.95
"""Share of a game's matches whose cost stays within the reserve of one match."""
REMEMBERED = 64
"""Last matches of a game from which it is known how much dearer than expected they end."""


def whole_nano(dollars: float | None) -> int | None:
    """A limit in dollars as whole billionths, rounded down; None stays None."""
    return None if dollars is None else int(dollars * NANO)


def dollars(nano: float) -> str:
    return exact_dollars(nano / NANO)


class Affordable(Enum):
    """May a match begin, a call be sent? `WAIT_…`: not now, for want of money under that limit."""

    YES = "yes"
    WAIT_ARENA = "wait for the arena"
    WAIT_MATCH = "wait for the match"
    WAIT_PLAYER = "wait for the player"
    ARENA = ARENA_BUDGET
    MATCH = MATCH_BUDGET
    PLAYER = "player_budget"


WAITS = (Affordable.WAIT_ARENA, Affordable.WAIT_MATCH, Affordable.WAIT_PLAYER)


@dataclass(slots=True)
class _Open:
    """A match under way: its game and plan, what it has paid and reserves, what of its plan is to come."""

    game: str
    shares: Mapping[str, Share]
    paid: int
    held: int = 0
    paid_by: dict[str, int] = field(default_factory=dict)
    done: dict[str, float] = field(default_factory=dict)
    left: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        self.left = {player: share.nano for player, share in self.shares.items()}


@dataclass(slots=True)
class _Pace:
    """Costs of a player's calls next to the plan of them, in 1e-9 dollars; `guess` weighs the plan."""

    guess: float
    planned: float = 0.0
    paid: float = 0.0

    @property
    def factor(self) -> float:
        """Return how much dearer than planned."""
        weighed = self.guess + self.planned
        return (self.guess + self.paid) / weighed if weighed > 0 else 1.0


class Budget:
    """Running account. `limit`, `per_match`, `per_player` are None for no limit.

    `billed` is what is known to have been billed, `possibly` what may have been in addition: failed calls and
    calls left open by a crash at their worst, replies of unknown cost. Both count against every limit.
    `unpriced` counts calls of players without a known price, which are in neither.
    `spent_by` is their sum by player, `begun` by match for those still to be finished. `overrun` is what
    players were billed beyond the worst case of their calls, as by a provider that ignores `max_tokens`: what
    was in flight then cannot be helped, and nothing more is asked of them.
    """

    def __init__(
        self,
        limit: int | None,
        per_match: int | None,
        per_player: int | None,
        billed: int = 0,
        possibly: int = 0,
        spent_by: Mapping[str, int] | None = None,
        begun: Mapping[int, int] | None = None,
        unpriced: int = 0,
    ) -> None:
        self.limit = limit
        self.per_match = per_match
        self.per_player = per_player
        self.billed = billed
        self.possibly = possibly
        self.unpriced = unpriced
        self.spent_by = dict(spent_by or {})
        self.held = 0
        self.overrun: dict[str, int] = {}
        self._begun = dict(begun or {})
        self._held_by: dict[str, int] = {}
        self._open: dict[int, _Open] = {}
        self._stopped: dict[int, _Open] = {}
        self._paces: dict[str, _Pace] = {}
        self._ends: dict[str, deque[float]] = {}
        self._left: set[int] = set()

    @property
    def bounded(self) -> bool:
        return not (self.limit is None and self.per_match is None and self.per_player is None)

    @property
    def spent(self) -> int:
        """Billed and possibly billed: what counts against the limits."""
        return self.billed + self.possibly

    @property
    def left(self) -> int:
        """Return what the arena's limit leaves."""
        return max(0, (self.limit or 0) - self.spent)

    def set_aside(self, nano: int) -> int:
        """Reserve the cost of a host outside calls; return how much of it there is: with a limit half of what
        is left at most, so that calls can be paid. Negative: give it back."""
        if self.limit is not None and nano > 0:
            nano = min(nano, max(0, self.left - self.held) // 2)
        self.held += nano
        return nano

    def hold(self, player: str, nano: int) -> bool:
        """Reserve so much for a player's only call, outside of matches; False where the limits leave less."""
        lefts = [self.left - self.held] if self.limit is not None else []
        if self.per_player is not None:
            lefts.append(self.per_player - self.spent_by.get(player, 0))
        if nano > max(0, min(lefts, default=nano)):
            return False
        self.held += nano
        return True

    def pay_held(self, player: str, billed: int, possibly: int | None, held: int) -> None:
        """Count what a call outside of matches was billed, and may have been beyond that (None: unknown), and
        give back what was held for it."""
        self.held -= held
        self.billed += billed
        self.possibly += possibly or 0
        self.spent_by[player] = self.spent_by.get(player, 0) + billed + (possibly or 0)
        self.unpriced += possibly is None

    def charge(self, costs: Mapping[str, int]) -> None:
        """Count what was billed outside of calls, by player."""
        for player, nano in costs.items():
            self.billed += nano
            self.spent_by[player] = self.spent_by.get(player, 0) + nano

    # -------------------------------------------------------------------------------------- expectations

    def seen(self, plan: Mapping[str, Share], paid: Mapping[str, int], game: str = "") -> None:
        """Learn from a finished match of an earlier run: its plan, and what it cost by player."""
        self._ended(game, plan, sum(paid.values()))
        for player, share in plan.items():
            pace = self._pace(player, share)
            pace.planned += share.nano
            pace.paid += paid.get(player, 0)

    def recall(self, number: int, player: str, nano: int) -> None:
        """Take in a call made before its match was opened; its cost is in `spent_by` and `begun`. One
        that an earlier run made teaches what calls cost."""
        match = self._open.get(number)
        if match is not None and player in match.shares:
            learnt = number not in self._left
            self._made(match, player, learnt)
            self._paces[player].paid += nano if learnt else 0
            match.paid_by[player] = match.paid_by.get(player, 0) + nano

    def expected(self, plan: Mapping[str, Share]) -> dict[str, float]:
        """Return what a match will cost, by player, as far as is known."""
        return {p: share.nano * self._pace(p, share).factor for p, share in plan.items()}

    def surely(self, game: str, doubt: float = DOUBT) -> float:
        """Return how many times what is expected `SURE` of a game's matches cost at most; `doubt` stands for
        one match more than there were."""
        ends: list[float] = sorted([*self._ends.get(game, ()), doubt])
        return max(1.0, ends[ceil(SURE * len(ends)) - 1])

    def _ended(self, game: str, plan: Mapping[str, Share], paid: int) -> None:
        """Learn how much dearer than expected a match was."""
        if expected := sum(self.expected(plan).values()):
            self._ends.setdefault(game, deque(maxlen=REMEMBERED)).append(paid / expected)

    def _coming(self, match: _Open, sure: float) -> dict[str, float]:
        """Return what a match under way may still cost, by player: what of its calls has not been made, or
        what `sure` times its expected cost leaves."""
        coming: dict[str, float] = {}
        for player, left in match.left.items():
            factor = self._paces[player].factor
            whole = sure * factor * match.shares[player].nano
            coming[player] = max(factor * left, whole - match.paid_by.get(player, 0))
        return coming

    def _pace(self, player: str, share: Share) -> _Pace:
        pace = self._paces.get(player)
        if pace is None:
            pace = self._paces[player] = _Pace(GUESS_WEIGHT * share.nano)
        return pace

    def _made(self, match: _Open, player: str, learnt: bool = True) -> None:
        share = match.shares[player]
        each = share.nano / max(share.calls, 1e-9)
        match.done[player] = match.done.get(player, 0.0) + each
        if player in match.left:
            match.left[player] = max(0.0, match.left[player] - each)
        self._paces[player].planned += each if learnt else 0.0

    def _ahead(self, number: int, player: str | None) -> float:
        """Return what matches before `number` may still cost, as far as that is known, and their costliest
        call at its worst; or a player's part of it."""
        total, reach = 0.0, 0
        sure = {game: self.surely(game, 1.0) for game in {match.game for match in self._open.values()}}
        for other, match in self._open.items():
            if other < number:
                for name, nano in self._coming(match, sure[match.game]).items():
                    if player is None or name == player:
                        total += nano
                        reach = max(reach, match.shares[name].reach)
        return total + reach

    # ------------------------------------------------------------------------------------------- matches

    def admit(self, plan: Mapping[str, Share], game: str = "") -> tuple[Affordable, str]:
        """Return whether a match of this plan may begin, and the player who cannot pay for it.

        Alone it must fit at twice its expected cost and its costliest call at its worst. Next to others it
        waits until all of them fit at what nearly all matches of their games cost at most, with that call.
        """
        plan = self._asked(plan)
        alone = self.expected(plan)
        total, reach = sum(alone.values()), max([share.reach for share in plan.values()], default=0)
        if self.per_match is not None and total + max(total, reach) > self.per_match:
            return Affordable.MATCH, ""
        if self.per_player is not None:
            for player, nano in alone.items():
                need = nano + max(nano, plan[player].reach)
                if nano and self.spent_by.get(player, 0) + need > self.per_player:
                    return Affordable.PLAYER, player
        if self.limit is not None and total and self.spent + total + max(total, reach) > self.limit:
            return Affordable.ARENA, ""
        if not self._open or (self.limit is None and self.per_player is None):
            return Affordable.YES, ""
        sure = {name: self.surely(name) for name in {game, *[match.game for match in self._open.values()]}}
        coming = [self._coming(match, sure[match.game]) for match in self._open.values()]
        if self.per_player is not None:
            for player, nano in alone.items():
                need = sure[game] * nano + sum([match.get(player, 0.0) for match in coming])
                need += plan[player].reach
                if nano and self.spent_by.get(player, 0) + need > self.per_player:
                    return Affordable.WAIT_PLAYER, player
        if self.limit is not None:
            need = sure[game] * total + sum([sum(match.values()) for match in coming]) + reach
            if total and self.spent + need > self.limit:
                return Affordable.WAIT_ARENA, ""
        return Affordable.YES, ""

    def open(self, number: int, plan: Mapping[str, Share], game: str = "") -> None:
        """Begin a match, or go on with one."""
        plan = self._asked(plan)
        for player, share in plan.items():
            self._pace(player, share)
        self._open[number] = _Open(game, plan, self._begun.pop(number, 0))

    def _asked(self, plan: Mapping[str, Share]) -> Mapping[str, Share]:
        """A plan without those who are asked nothing more."""
        return {player: share for player, share in plan.items() if player not in self.overrun}

    def stop(self, number: int) -> None:
        """Keep nothing for a match that the arena's limit has stopped; its calls in flight may return."""
        self._stopped[number] = self._open.pop(number)

    def leave(self, number: int) -> None:
        """Keep nothing for a match that waits, and has no call in flight, until it is opened again."""
        match = self._open.pop(number, None)
        if match is not None:
            self._begun[number] = match.paid
            self._left.add(number)

    def has_stopped(self, number: int) -> bool:
        return number in self._stopped

    def close(self, number: int, *, decided: bool) -> None:
        """End a match. A decided one took all the calls it wanted: they stand for its whole plan."""
        self._stopped.pop(number, None)
        match = self._open.pop(number, None)
        if match is None or not decided:
            return
        for player, share in match.shares.items():
            self._paces[player].planned += share.nano - match.done.get(player, 0.0)
        self._ended(match.game, match.shares, match.paid)

    # --------------------------------------------------------------------------------------------- calls

    def reserve(self, number: int, player: str, worst: int) -> Affordable:
        """Set a call's worst case aside, on YES; else say why not."""
        if player in self.overrun:
            return Affordable.PLAYER
        if not worst:
            return Affordable.YES
        match = self._open[number]
        spent = self.spent_by.get(player, 0)
        if self.per_match is not None and match.paid + worst > self.per_match:
            return Affordable.MATCH
        if self.per_player is not None and spent + worst > self.per_player:
            return Affordable.PLAYER
        if self.limit is not None and self.spent + worst > self.limit:
            return Affordable.ARENA
        if self.per_match is not None and match.paid + match.held + worst > self.per_match:
            return Affordable.WAIT_MATCH
        if self.per_player is not None:
            free = self.per_player - spent - worst
            if free < self._held_by.get(player, 0) or free < self._ahead(number, player):
                return Affordable.WAIT_PLAYER
        if self.limit is not None:
            free = self.limit - self.spent - worst
            if free < self.held or free < self._ahead(number, None):
                return Affordable.WAIT_ARENA
        self._hold(match, player, worst)
        return Affordable.YES

    def pay(
        self, number: int, player: str, nano: int, reserved: int, *, known: bool, answered: bool = True
    ) -> None:
        """Count what a call has cost, or may have (`known` False), and give back what was reserved for it."""
        if known:
            self.billed += nano
        else:
            self.possibly += nano
            self.unpriced += not nano
        if known and nano > reserved and self.bounded:
            self.overrun[player] = self.overrun.get(player, 0) + nano - reserved
            for other in self._open.values():
                other.left.pop(player, None)
        if nano:
            self.spent_by[player] = self.spent_by.get(player, 0) + nano
        match = self._open.get(number)
        if match is not None and player in match.shares:
            self._paces[player].paid += nano
            match.paid_by[player] = match.paid_by.get(player, 0) + nano
            if answered:
                self._made(match, player)
        match = match or self._stopped.get(number)
        if match is not None:
            match.paid += nano
            if reserved:
                self._hold(match, player, -reserved)

    def _hold(self, match: _Open, player: str, nano: int) -> None:
        match.held += nano
        self.held += nano
        self._held_by[player] = self._held_by.get(player, 0) + nano
