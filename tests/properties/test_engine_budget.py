"""The budget's laws: never exceeded in any interleaving, and the same verdicts at any concurrency."""

from __future__ import annotations

import random
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.engine.budget import Budget, Verdict

Limits = tuple[int | None, int | None, int | None]


class Duel(NamedTuple):
    """What each of two players may cost, and what of that it will cost."""

    worst: dict[str, int]
    costs: dict[str, int]


@st.composite
def duels(draw: st.DrawFn) -> Duel:
    players = draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=2, unique=True))
    worst = {player: draw(st.integers(0, 40)) for player in players}
    return Duel(worst, {player: draw(st.integers(0, most)) for player, most in worst.items()})


limits = st.tuples(
    st.none() | st.integers(0, 300), st.none() | st.integers(0, 60), st.none() | st.integers(0, 120)
)


def simulate(
    matches: list[Duel],
    limit: Limits,
    width: int,
    seed: int,
    retries: float,
    cut: int = 10**9,
    paid: list[tuple[int, str]] | None = None,
    folded: list[int] | None = None,
) -> tuple[list[str], Budget]:
    """Play with up to `width` matches at once, their calls in random order; verdicts in match order.

    Stops after `cut` events, leaving in `paid` which calls were paid and in `folded` which matches ended.
    """
    rng = random.Random(seed)
    budget = Budget(*limit)
    verdicts: list[str] = []
    by_match: dict[int, int] = {}
    by_player: dict[str, int] = {}
    under_way: dict[int, list[tuple[str, int]]] = {}

    def pay(number: int, player: str, cost: int) -> None:
        budget.pay(number, player, cost)
        by_match[number] = by_match.get(number, 0) + cost
        by_player[player] = by_player.get(player, 0) + cost

    while True:
        while len(verdicts) < len(matches) and len(under_way) < width:
            number = len(verdicts)
            verdict, player = budget.may_start(number, matches[number].worst)
            if verdict in (Verdict.WAIT, Verdict.ARENA):
                break
            verdicts.append(f"{verdict.name} {player}")
            if verdict is Verdict.YES:
                budget.hold(number, matches[number].worst)
                under_way[number] = list(matches[number].costs.items())
        if not under_way:
            break
        cut -= 1
        if cut < 0:
            return verdicts, budget
        number = rng.choice(sorted(under_way))
        calls = under_way[number]
        if calls:
            player, cost = calls.pop(rng.randrange(len(calls)))
            most = matches[number].worst[player]
            if rng.random() < retries and budget.may_add(number, player, most):
                pay(number, player, most)  # a failed attempt that may have been charged
            pay(number, player, cost)
            if paid is not None:
                paid.append((number, player))
        else:
            if folded is not None:
                folded.append(number)
            del under_way[number]
            budget.close(number)
        assert limit[0] is None or budget.spent + budget.held <= limit[0]
    assert budget.held == 0
    assert limit[1] is None or max(by_match.values(), default=0) <= limit[1]
    assert limit[2] is None or max(by_player.values(), default=0) <= limit[2]
    assert budget.spent == sum(by_match.values())
    return verdicts, budget


@settings(max_examples=80)
@given(st.lists(duels(), max_size=15), limits, st.integers(1, 8), st.integers(), st.sampled_from([0.0, 0.5]))
def test_no_budget_is_ever_exceeded(
    matches: list[Duel],
    limit: Limits,
    width: int,
    seed: int,
    retries: float,
) -> None:
    simulate(matches, limit, width, seed, retries)


@settings(max_examples=80)
@given(st.lists(duels(), max_size=15), limits, st.integers(2, 8), st.integers())
def test_the_same_matches_are_played_at_any_concurrency(
    matches: list[Duel], limit: Limits, width: int, seed: int
) -> None:
    one_by_one, alone = simulate(matches, limit, 1, seed, 0.0)
    at_once, together = simulate(matches, limit, width, seed, 0.0)
    assert one_by_one == at_once
    assert (alone.spent, alone.spent_by) == (together.spent, together.spent_by)


@settings(max_examples=80)
@given(st.lists(duels(), max_size=12), limits, st.integers(1, 8), st.integers(), st.integers(0, 40))
def test_an_interruption_changes_no_verdict(
    matches: list[Duel], limit: Limits, width: int, seed: int, cut: int
) -> None:
    """Stopped after any number of calls, a new account of what was paid comes to the same verdicts."""
    whole, _ = simulate(matches, limit, 1, 0, 0.0)
    paid: list[tuple[int, str]] = []
    folded: list[int] = []
    before, first = simulate(matches, limit, width, seed, 0.0, cut, paid, folded)
    assert before == whole[: len(before)]
    settled = 0
    while settled < len(before) and (settled in folded or not before[settled].startswith("YES")):
        settled += 1
    begun: dict[int, dict[str, int]] = {}
    for number, player in paid:
        if number >= settled:
            begun.setdefault(number, {})[player] = matches[number].costs[player]
    again = Budget(*limit, first.spent, first.spent_by, begun)
    verdicts = before[:settled]
    for number in range(settled, len(matches)):
        done = begun.get(number, {})
        left = {p: most - done.get(p, 0) for p, most in matches[number].worst.items()}
        verdict, player = again.may_start(number, left)
        if verdict is Verdict.ARENA:
            break
        verdicts.append(f"{verdict.name} {player}")
        if verdict is Verdict.YES:
            again.hold(number, left)
            for p, cost in matches[number].costs.items():
                if p not in done:
                    again.pay(number, p, cost)
        again.close(number)
    assert verdicts == whole
