"""The budget as a promise: worst-case cost is set aside before a match starts, in match order. Pure.

The rule is sequential and so the same at any concurrency: match m may start when what all earlier matches
really cost, plus the most that m can cost, fits. It may start before earlier matches have ended when it
would fit even if each of those cost its worst; otherwise it waits for them.

The worst case of a whole match (every draft rejected, every reply of greatest length and repaired) is a
hundred times what it usually costs. So a match that fits only usually is played *lean*: nothing is set aside
for it beforehand, and each of its calls is covered at its own worst case before it is sent, in the order the
game asks, waiting for those before it; replies are taken in that order, too. Under a budget of the arena or
of players a lean match is played alone, which keeps the rule sequential. All sums are integers of 1e-9
dollars.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

NANO = 1_000_000_000


def whole_nano(dollars: float | None) -> int | None:
    """A limit in dollars as whole billionths, rounded down; None stays None."""
    return None if dollars is None else int(dollars * NANO)


class Verdict(Enum):
    """May a match start?"""

    YES = "yes"
    WAIT = "wait"
    ARENA = "the arena's budget is spent"
    MATCH = "match_budget"
    PLAYER = "player_budget"


class Budget:
    """Running account. `limit`, `per_match`, `per_player` are None for no limit.

    `spent` is what earlier runs cost, calls left unresolved by a crash included at their worst; `begun` the
    part of it that belongs to matches still to be resumed, by match and player. It counts for those matches
    alone when earlier ones are admitted, as it would have without the interruption.
    """

    def __init__(
        self,
        limit: int | None,
        per_match: int | None,
        per_player: int | None,
        spent: int = 0,
        spent_by: Mapping[str, int] | None = None,
        begun: Mapping[int, Mapping[str, int]] | None = None,
    ) -> None:
        self.limit = limit
        self.per_match = per_match
        self.per_player = per_player
        self.spent = spent
        self.spent_by = dict(spent_by or {})
        self._begun = dict(begun or {})
        self._begun_by: dict[str, int] = {}
        for costs in self._begun.values():
            for player, cost in costs.items():
                self._begun_by[player] = self._begun_by.get(player, 0) + cost
        self._paid: dict[int, int] = {}
        self._held: dict[int, dict[str, int]] = {}
        self._held_by: dict[str, int] = {}
        self._held_sum = 0
        self._lean: set[int] = set()

    @property
    def bounded(self) -> bool:
        return not (self.limit is None and self.per_match is None and self.per_player is None)

    @property
    def _shared(self) -> bool:
        """Whether matches spend from one account, so that a lean one must be played alone."""
        return self.limit is not None or self.per_player is not None

    @property
    def held(self) -> int:
        """Set aside for matches under way."""
        return self._held_sum

    def may_start(self, number: int, worst: Mapping[str, int]) -> tuple[Verdict, str]:
        """Whether a match may start that may still cost `worst`, by player; and the player who cannot pay."""
        own = self._begun.get(number, {})
        need = {player: worst.get(player, 0) + own.get(player, 0) for player in {**worst, **own}}
        if self.per_match is not None and sum(need.values()) > self.per_match:
            return Verdict.MATCH, ""
        if self._lean and self._shared:
            return Verdict.WAIT, ""
        verdict = self._fits(need, self._begun_by)
        if verdict[0] is Verdict.YES and len(self._begun) > (number in self._begun):
            # What later matches have cost already is spent all the same, if the budget was lowered since.
            verdict = self._fits(need, own)
        return verdict

    def _fits(self, need: Mapping[str, int], aside: Mapping[str, int]) -> tuple[Verdict, str]:
        """Whether `need` fits beside what was spent, `aside` of it not counted, and what is held."""
        if self.per_player is not None:
            # The first player who may be short decides, and while that is open all wait: so it does not
            # depend on how far earlier matches have come who is named.
            for player, most in need.items():
                spent = self.spent_by.get(player, 0) - aside.get(player, 0)
                if spent + most > self.per_player:
                    return Verdict.PLAYER, player
                if spent + self._held_by.get(player, 0) + most > self.per_player:
                    return Verdict.WAIT, player
        if self.limit is not None:
            total = self.spent - sum(aside.values()) + sum(need.values())
            if total > self.limit:
                return (Verdict.WAIT if self._held else Verdict.ARENA), ""
            if total + self._held_sum > self.limit:
                return Verdict.WAIT, ""
        return Verdict.YES, ""

    def hold(self, number: int, worst: Mapping[str, int]) -> None:
        """Set a match's worst cost aside. For a resumed match: what it may still cost."""
        self._paid[number] = self._reach(number)
        self._held[number] = dict(worst)
        for player, most in worst.items():
            self._held_by[player] = self._held_by.get(player, 0) + most
            self._held_sum += most

    def may_start_lean(self, number: int, usual: Mapping[str, int]) -> tuple[Verdict, str]:
        """Whether a match may start that usually costs `usual` at most, its calls covered one by one; and the
        player who cannot pay. What a resumed match has cost already is part of that."""
        if self.per_match is not None and sum(usual.values()) > self.per_match:
            return Verdict.MATCH, ""
        if not self._shared:
            return Verdict.YES, ""
        if self._held:
            return Verdict.WAIT, ""
        return self._fits(usual, self._begun.get(number, {}))

    def hold_nothing(self, number: int) -> None:
        """Start a lean match."""
        self.hold(number, {})
        self._lean.add(number)

    def lean(self, number: int) -> bool:
        return number in self._lean

    def cover(self, number: int, player: str, worst: int) -> Verdict:
        """Set a lean match's next call aside; WAIT when it may fit once calls before it have returned."""
        held = sum(self._held[number].values())
        if self.per_match is not None and self._paid[number] + held + worst > self.per_match:
            return Verdict.WAIT if held else Verdict.MATCH
        spent = self.spent_by.get(player, 0) + self._held_by.get(player, 0)
        if self.per_player is not None and spent + worst > self.per_player:
            return Verdict.WAIT if held else Verdict.PLAYER
        if self.limit is not None and self.spent + self._held_sum + worst > self.limit:
            return Verdict.WAIT if held else Verdict.ARENA
        self._held[number][player] = self._held[number].get(player, 0) + worst
        self._held_by[player] = self._held_by.get(player, 0) + worst
        self._held_sum += worst
        return Verdict.YES

    def pay(self, number: int, player: str, cost: int, worst: int = 0) -> None:
        """A call of a match has cost so much, `worst` at most: spent now, and no longer set aside."""
        self.spent += cost
        self.spent_by[player] = self.spent_by.get(player, 0) + cost
        self._paid[number] = self._paid.get(number, 0) + cost
        self._release(number, player, worst if number in self._lean else cost)

    def overrun(self, number: int, player: str) -> bool:
        """Whether what is set aside no longer fits a limit, after a call that cost more than its worst."""
        if self.limit is not None and self.spent + self._held_sum > self.limit:
            return True
        mine = self.spent_by.get(player, 0) + self._held_by.get(player, 0)
        if self.per_player is not None and mine > self.per_player:
            return True
        match = self._paid.get(number, 0) + sum(self._held.get(number, {}).values())
        return self.per_match is not None and match > self.per_match

    def may_add(self, number: int, player: str, worst: int) -> bool:
        """Set more aside, for repeating a call that may have been paid; False when it does not fit."""
        held = self._held.get(number)
        if held is None or not self.bounded:
            return True
        if self.limit is not None and self.spent + self._held_sum + worst > self.limit:
            return False
        spent = self.spent_by.get(player, 0) + self._held_by.get(player, 0)
        if self.per_player is not None and spent + worst > self.per_player:
            return False
        if self.per_match is not None and self._paid[number] + sum(held.values()) + worst > self.per_match:
            return False
        held[player] = held.get(player, 0) + worst
        self._held_by[player] = self._held_by.get(player, 0) + worst
        self._held_sum += worst
        return True

    def close(self, number: int) -> None:
        """A match has ended: what was set aside for it is free again."""
        self._reach(number)
        for player, most in list(self._held.get(number, {}).items()):
            self._release(number, player, most)
        self._held.pop(number, None)
        self._paid.pop(number, None)
        self._lean.discard(number)

    def _reach(self, number: int) -> int:
        """A match of an earlier run goes on: from now on what it has cost counts like any other cost."""
        own = self._begun.pop(number, {})
        for player, cost in own.items():
            self._begun_by[player] -= cost
        return sum(own.values())

    def _release(self, number: int, player: str, amount: int) -> None:
        held = self._held.get(number)
        if held is None:
            return
        freed = min(amount, held.get(player, 0))
        if freed:
            held[player] -= freed
            self._held_by[player] -= freed
            self._held_sum -= freed
