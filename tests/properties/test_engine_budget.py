"""The budget's laws, in every interleaving: never exceeded, never stuck, in order of number."""

from __future__ import annotations

import random
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.engine.calls.budget import Affordable, Budget
from peerage.engine.calls.call_costs import Share

Limits = tuple[int | None, int | None, int | None]
WAITS = (Affordable.WAIT_ARENA, Affordable.WAIT_MATCH, Affordable.WAIT_PLAYER)


class Asked(NamedTuple):
    """One call: who is asked, what it may and will cost, and how often it first fails, perhaps billed."""

    player: str
    worst: int
    cost: int
    failures: int


@st.composite
def calls(draw: st.DrawFn) -> Asked:
    worst = draw(st.integers(0, 30))
    return Asked(
        draw(st.sampled_from("abcd")), worst, draw(st.integers(0, worst)), draw(st.sampled_from([0, 0, 0, 2]))
    )


matches_of_calls = st.lists(st.lists(calls(), min_size=1, max_size=5), max_size=12)
limits = st.tuples(
    st.none() | st.integers(0, 300), st.none() | st.integers(0, 80), st.none() | st.integers(0, 150)
)


def plan_of(match: list[Asked], told: float) -> dict[str, Share]:
    """What a plan says that is `told` times as dear as the match will be."""
    plan: dict[str, Share] = {}
    for one in match:
        had = plan.get(one.player, Share(0, 0.0, 0))
        plan[one.player] = Share(had.calls + 1, had.nano + told * one.cost, max(had.reach, one.worst))
    return plan


class Simulated:
    """An arena that plays `matches`, their calls in random order, over any number of runs."""

    def __init__(
        self,
        matches: list[list[Asked]],
        limit: Limits,
        told: float,
        rng: random.Random,
    ) -> None:
        self.matches, self.limit, self.told, self.rng = matches, limit, told, rng
        self.paid: dict[tuple[int, str], int] = {}
        self.todo = {number: list(match) for number, match in enumerate(matches)}
        self.failed: dict[tuple[int, int], int] = {}
        self.ended: dict[int, str] = {}

    def spent(self, *, match: int | None = None, player: str | None = None) -> int:
        return sum(
            nano
            for (number, name), nano in self.paid.items()
            if match in (None, number) and player in (None, name)
        )

    def check(self) -> None:
        arena, per_match, per_player = self.limit
        assert arena is None or self.spent() <= arena
        assert per_match is None or all(self.spent(match=n) <= per_match for n in self.todo)
        assert per_player is None or all(self.spent(player=p) <= per_player for p in "abcd")

    def run(self, width: int, cut: int) -> None:
        """One run, killed after `cut` calls: what is in flight then counts at its worst."""
        by = {player: self.spent(player=player) for player in "abcd"}
        begun = {number: self.spent(match=number) for number in self.todo}
        budget = Budget(*self.limit, self.spent(), 0, by, begun)
        flying: list[tuple[int, Asked]] = []
        waiting: list[tuple[int, Asked]] = []
        under_way: set[int] = set()
        stopped: set[int] = set()
        while True:
            for number in sorted(self.todo):
                if number in self.ended or number in under_way or len(under_way - stopped) >= width:
                    continue
                plan = plan_of(self.matches[number], self.told)
                if not begun[number]:
                    verdict = budget.admit(plan)[0] if not stopped else Affordable.WAIT_ARENA
                    if verdict in (Affordable.MATCH, Affordable.PLAYER):
                        self.ended[number] = verdict.value
                        continue
                    if verdict is not Affordable.YES:
                        assert under_way or verdict is Affordable.ARENA, "alone it begins, or never"
                        break
                budget.open(number, plan)
                under_way.add(number)
                waiting += [(number, one) for one in self.todo[number]]
            waiting.sort(key=lambda entry: entry[0])
            left = []
            for at, (number, one) in enumerate(waiting):
                if number in stopped:
                    continue
                verdict = budget.reserve(number, one.player, one.worst)
                if verdict is Affordable.YES:
                    flying.append((number, one))
                elif verdict is Affordable.ARENA:
                    budget.stop(number)
                    stopped.add(number)
                elif verdict in WAITS:
                    left.append((number, one))
                    if verdict is Affordable.WAIT_ARENA:
                        left += waiting[at + 1 :]
                        break
                else:
                    self.todo[number].remove(one)
            waiting = left
            open_before = len(under_way)
            for number in sorted(under_way - stopped):
                if not self.todo[number]:
                    under_way.discard(number)
                    self.ended[number] = "done"
                    budget.close(number, decided=True)
            assert self.limit[0] is None or budget.spent + budget.held <= self.limit[0]
            if not flying:
                if len(under_way) < open_before:
                    continue
                assert under_way <= stopped, "somebody can always go on"
                return
            cut -= 1
            if cut < 0:
                for number, one in flying:
                    self.pay(number, one.player, one.worst)
                    self.failed[number, id(one)] = 99
                self.check()
                return
            number, one = flying.pop(self.rng.randrange(len(flying)))
            failures = self.failed.get((number, id(one)), 0)
            known = failures >= one.failures
            nano = one.cost if known else one.worst
            self.pay(number, one.player, nano)
            budget.pay(number, one.player, nano, one.worst, known=known, answered=known)
            self.failed[number, id(one)] = failures + 1
            if known:
                self.todo[number].remove(one)
            else:
                waiting.append((number, one))
            self.check()
            assert budget.spent == self.spent()

    def pay(self, number: int, player: str, nano: int) -> None:
        self.paid[number, player] = self.paid.get((number, player), 0) + nano


@settings(max_examples=150, deadline=None)
@given(
    matches_of_calls,
    limits,
    st.lists(st.tuples(st.integers(1, 8), st.integers(0, 40)), max_size=3),
    st.integers(1, 8),
    st.sampled_from([0.2, 1.0, 5.0]),
    st.randoms(use_true_random=False),
)
def test_no_limit_is_exceeded_and_no_match_waits_for_ever(
    matches: list[list[Asked]],
    limit: Limits,
    kills: list[tuple[int, int]],
    width: int,
    told: float,
    rng: random.Random,
) -> None:
    """At any concurrency, with plans far too cheap or too dear, through failures and kills."""
    arena = Simulated(matches, limit, told, rng)
    for narrow, cut in kills:
        arena.run(narrow, cut)
    arena.run(width, 10**9)
    arena.check()
    if limit == (None, None, None):
        assert set(arena.ended.values()) <= {"done"}
        assert len(arena.ended) == len(matches)


@settings(max_examples=100)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=8), st.data())
def test_what_is_left_goes_to_the_lowest_numbers(usual: list[int], data: st.DataObject) -> None:
    """A higher match gets nothing that a lower one under way is expected to need."""
    limit = data.draw(st.integers(1, sum(usual)))
    budget = Budget(limit, None, None)
    for number, nano in enumerate(usual):
        budget.open(number, {"a": Share(1, nano, 0)})
    for number, nano in enumerate(usual):
        fits = sum(usual[: number + 1]) <= limit
        verdict = budget.reserve(number, "a", nano)
        assert (verdict is Affordable.YES) == fits
        if fits:
            budget.pay(number, "a", 0, nano, known=True, answered=False)
            assert budget.held == 0
