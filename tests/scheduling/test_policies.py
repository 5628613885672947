"""All pairing policies through the same checks, and what each of them is for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import get_args

import numpy as np
import pytest

from peerage.ratings.sequential.elo_kernels import exp_array, exp_scalar, expected
from peerage.ratings.table import POINTS
from peerage.scheduling import adaptive
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import BEST, BEST_FIRST, Goal, History, PolicyName, Results, Standing
from peerage.scheduling.strengths import PairingStrengths, fit, inverse, known, laplacian, product

NAMES: tuple[PolicyName, ...] = get_args(PolicyName)
every_policy = pytest.mark.parametrize("name", NAMES)


def standings(count: int, families: int = 0) -> list[Standing]:
    return [
        Standing(f"p{at:02}", f"f{at % families if families else at}", 1500.0, 1500.0 - at)
        for at in range(count)
    ]


class Arena:
    """Rounds played by chance: stronger players have lower numbers, `gap` Elo apart."""

    def __init__(self, policy: Policy, gap: float = 40.0, lag: int = 1, seed: int = 0) -> None:
        self.policy, self.gap, self.lag = policy, gap, lag
        self.history, self.results = History(), Results()
        self.rng = Random(seed)
        self.rounds: list[list[tuple[str, str]]] = []
        self._waiting: list[list[tuple[tuple[str, str], tuple[float, float]]]] = []

    def play(self, pool: Sequence[Standing], same_family: bool = True) -> list[tuple[str, str]]:
        if len(self._waiting) == self.lag:
            for pair, scores in self._waiting.pop(0):
                self.results.note(pair, scores)
        lot = f"{len(self.rounds)}"
        pairs = [*self.policy.pair(pool, self.history, self.results, lot, same_family)]
        ended = []
        for a, b in pairs:
            self.history.remember((a, b))
            won = self.rng.random() < expected(0.0, self.gap * (int(a[1:]) - int(b[1:])))
            ended.append(((a, b), (1.0, 0.0) if won else (0.0, 1.0)))
        self._waiting.append(ended)
        self.rounds.append(pairs)
        return pairs

    @property
    def seats(self) -> Counter[str]:
        return Counter(player for pairs in self.rounds for pair in pairs for player in pair)


@every_policy
@pytest.mark.parametrize("size", [2, 3, 9])
def test_rounds_are_whole_and_everybody_plays(name: PolicyName, size: int) -> None:
    arena, pool = Arena(Policy(name), lag=3), standings(size)
    for _ in range(8 * size):
        pairs = arena.play(pool)
        assert len(pairs) == size // 2
        assert all(a < b for a, b in pairs), "the higher seeded first, and nobody meets itself"
    assert set(arena.seats) == {one.player for one in pool}
    mean = sum(arena.seats.values()) / size
    assert min(arena.seats.values()) >= max(adaptive.FLOOR, mean // 4 - 1)


@every_policy
def test_fewer_than_two_players_make_no_pair(name: PolicyName) -> None:
    assert Policy(name).pair([], History(), Results(), "s") == ()
    assert Policy(name).pair(standings(1), History(), Results(), "s") == ()
    assert Policy(name).pair(standings(4, families=1), History(), Results(), "s", same_family=False) == ()


@every_policy
def test_a_round_depends_on_nothing_but_its_arguments(name: PolicyName) -> None:
    arena, pool = Arena(Policy(name)), standings(9)
    for _ in range(15):
        arena.play(pool)
    shuffled = Random(1).sample(pool, len(pool))
    again = [Policy(name).pair(p, arena.history, arena.results, "s") for p in (pool, shuffled, pool)]
    assert again[0] == again[1] == again[2]
    assert len({Policy(name).pair(pool, arena.history, arena.results, f"{lot}") for lot in range(40)}) > 1


@every_policy
def test_players_of_one_family_never_meet_where_they_must_not(name: PolicyName) -> None:
    arena, pool = Arena(Policy(name)), standings(9, families=3)
    family = {one.player: one.family for one in pool}
    for _ in range(30):
        pairs = arena.play(pool, same_family=False)
        assert pairs
        assert all(family[a] != family[b] for a, b in pairs)
    assert len(arena.seats) == 9


@every_policy
def test_who_is_away_is_left_out_and_who_joins_catches_up(name: PolicyName) -> None:
    arena, pool = Arena(Policy(name), lag=2), standings(8)
    for _ in range(40):
        arena.play(pool[1:])
    assert "p00" not in arena.seats
    before = arena.seats
    for _ in range(40):
        arena.play([*pool[:3], *pool[4:]])
    assert arena.seats["p03"] == before["p03"]
    assert arena.seats["p00"] >= 0.75 * min(arena.seats[one.player] - before[one.player] for one in pool[4:])


def test_everybody_meets_everybody_once_in_a_round_robin() -> None:
    for size in (2, 5, 8):
        arena = Arena(Policy("round-robin"))
        rounds = size - 1 + size % 2
        for lap in (1, 2, 3):
            for _ in range(rounds):
                arena.play(standings(size))
            met = Counter(pair for pairs in arena.rounds for pair in pairs)
            assert set(met.values()) == {lap}
            assert len(met) == size * (size - 1) // 2


def test_as_many_meet_as_can_where_families_are_large() -> None:
    pool = [Standing(f"p{at}", family, 1500.0, 1500.0 - at) for at, family in enumerate("aaabcbcc")]
    for lot in range(30):
        assert len(Policy("random").pair(pool, History(), Results(), f"{lot}", same_family=False)) == 4


def uneven(goal: Goal | None, gap: float = 60.0, rounds: int = 80) -> Arena:
    """Rounds of eight players by `adaptive`; without a goal by `random`."""
    policy = Policy("adaptive", goal=goal) if goal else Policy("random")
    arena = Arena(policy, gap=gap, lag=4)
    for _ in range(rounds):
        arena.play(standings(8))
    return arena


def test_for_the_order_those_meet_whose_order_is_in_doubt() -> None:
    distance = [
        np.mean([int(b[1:]) - int(a[1:]) for pairs in uneven(goal).rounds[30:] for a, b in pairs])
        for goal in (Goal("order"), None)
    ]
    assert distance[0] < 0.75 * distance[1]


def test_for_the_first_places_those_play_who_may_be_among_them() -> None:
    one, all_but_one = uneven(Goal("top", 1)).seats, uneven(Goal("top", 7)).seats
    assert one["p00"] > 2 * one["p06"]
    assert all_but_one["p06"] > 1.5 * one["p06"]


def test_pairs_that_are_clear_rest() -> None:
    far = [
        int(b[1:]) - int(a[1:]) >= 6
        for pairs in uneven(Goal("order"), gap=150.0, rounds=90).rounds[-30:]
        for a, b in pairs
    ]
    assert np.mean(far) < 3 / 28 / 1.5, "3 of 28 pairs, far apart"


@pytest.mark.parametrize(
    ("goal", "placed", "pairs"),
    [
        (Goal("top", 1), None, {(0, 1), (0, 2), (0, 3)}),
        (Goal("top", 2), None, {(0, 1), (0, 2), (1, 3), (2, 3)}),
        (Goal("top", 4), None, {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}),
        (Goal("order"), None, {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}),
        (Goal("placed", player="p2"), 2, {(0, 2), (1, 2), (2, 3)}),
    ],
)
def test_a_goal_needs_the_order_of_its_pairs_alone(
    goal: Goal, placed: int | None, pairs: set[tuple[int, int]]
) -> None:
    needed = adaptive.of_goal(goal, placed, np.array([2.0, -1.0, -0.5, 1.0]))
    assert {(a, b) for a, b in zip(*np.nonzero(needed), strict=True) if a < b} == pairs
    assert np.array_equal(needed, needed.T)


def test_a_pair_matters_less_the_clearer_it_is_and_a_tolerance_makes_it_clearer() -> None:
    mean, covariance = np.array([4.0, 0.0, 0.1, 1.0]), np.eye(4) * 0.05
    worth = adaptive.needs(Goal("order"), None, mean, covariance)
    assert worth[0, 1] < 1e-4 < worth[1, 3] < worth[2, 3] < worth[1, 2]
    assert worth[1, 3] == pytest.approx(np.exp(-1 / 0.1 / 16) / 1.1, rel=1e-12)
    assert adaptive.needs(Goal("order", within=200.0), None, mean, covariance)[1, 2] < worth[1, 2] / 5


@pytest.mark.parametrize(
    ("lead", "deviation", "then"), [(400, 110, False), (400, 70, True), (0, 40, False), (0, 20, True)]
)
def test_the_order_comes_when_the_best_is_clear_or_alike(lead: float, deviation: float, then: bool) -> None:
    mean, covariance = np.array([lead, 0.0, -900, -960]) / POINTS, np.eye(4) * (deviation / POINTS) ** 2 / 2
    worth = adaptive.needs(BEST_FIRST, None, mean, covariance)
    assert worth[0, 1] > 0
    assert (worth[2, 3] > 0) == then
    assert np.array_equal(worth[0], adaptive.needs(BEST, None, mean, covariance)[0])


def test_once_the_best_is_clear_the_others_meet() -> None:
    without = []
    for goal in (BEST, BEST_FIRST):
        arena = Arena(Policy("adaptive", goal=goal), gap=250.0, lag=2)
        for _ in range(200):
            arena.play(standings(5))
        without.append(sum("p00" not in pair for pairs in arena.rounds[-30:] for pair in pairs))
    assert without[1] > 1.5 * without[0]


def test_matches_in_flight_count_as_observed() -> None:
    pool, results = standings(4), Results()
    history = History()
    for _ in range(20):
        for pair, scores in ((("p00", "p01"), (1.0, 0.0)), (("p02", "p03"), (0.5, 0.5))):
            history.remember(pair)
            results.note(pair, scores)
    for _ in range(30):
        history.remember(("p00", "p02"))
    flying = known([one.player for one in pool], history, results)
    landed = known([one.player for one in pool], History(), results)
    gap = np.array([1.0, 0.0, -1.0, 0.0])
    assert np.array_equal(flying.mean, landed.mean)
    assert gap @ flying.covariance @ gap < 0.3 * (gap @ landed.covariance @ gap)
    for _ in range(30):
        results.note(("p00", "p02"), ())
    voided = known([one.player for one in pool], history, results)
    assert np.array_equal(voided.covariance, landed.covariance), "what had no result has told nothing"


def some(size: int, seed: int) -> PairingStrengths:
    rng = np.random.default_rng(seed)
    wins, ties = (
        rng.integers(0, 9, (size, size)).astype(float),
        rng.integers(0, 4, (size, size)).astype(float),
    )
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    return fit(wins, ties, np.zeros((size, size)))


def test_a_match_is_worth_what_it_takes_from_the_variances_that_matter() -> None:
    mean, covariance, information = some(6, 1)
    worth = adaptive.needs(Goal("order"), None, mean, covariance)
    left = covariance @ laplacian(worth) @ covariance
    for a, b in ((0, 1), (2, 5), (3, 4)):
        now, after, later = covariance.copy()[None], covariance.copy()[None], left.copy()[None]
        adaptive._observe(after, later, information[None], np.array([a]), np.array([b]), np.array([0]))
        less = (worth * (adaptive.between(now[0]) - adaptive.between(after[0]))).sum() / 2
        gain = information[a, b] * adaptive.between(left)[a, b]
        assert gain / (1 + information[a, b] * adaptive.between(covariance)[a, b]) == pytest.approx(less)
        precision = np.linalg.inv(covariance) + information[a, b] * np.outer(
            *[np.eye(6)[a] - np.eye(6)[b]] * 2
        )
        assert after[0] == pytest.approx(np.linalg.inv(precision))
        assert later[0] == pytest.approx(after[0] @ laplacian(worth) @ after[0])


def test_the_fit_is_at_the_top_of_its_likelihood() -> None:
    rng = np.random.default_rng(3)
    wins = np.triu(rng.integers(0, 9, (5, 5)).astype(float), 1) + np.tril(rng.integers(0, 9, (5, 5)), -1)
    ties = np.triu(rng.integers(1, 4, (5, 5)).astype(float), 1)
    ties += ties.T

    def height(mean: np.ndarray, nu: float) -> float:
        half = (mean[:, None] - mean) / 2
        every = np.exp(half) + np.exp(-half) + nu
        told = wins * (half - np.log(every)) + ties / 2 * (np.log(nu) - np.log(every))
        return float(told.sum() - (mean**2).sum() / 2)

    found = fit(wins, ties, np.zeros((5, 5))).mean
    nus = np.geomspace(0.05, 5, 400)
    nu = nus[int(np.argmax([height(found, one) for one in nus]))]
    best = height(found, nu)
    for at in range(5):
        for step in (-0.02, 0.02):
            assert height(found + step * np.eye(5)[at], nu) < best + 1e-5


def test_the_fit_holds_where_nobody_or_only_one_ever_wins() -> None:
    size = 3
    nothing = np.zeros((size, size))
    assert np.array_equal(fit(nothing, nothing, nothing).mean, np.zeros(size))
    wins = np.triu(np.full((size, size), 1e5), 1)
    mean = fit(wins, nothing, nothing).mean
    assert np.isfinite(mean).all()
    assert mean[0] > mean[1] > mean[2]
    level = fit(nothing, np.full((size, size), 50.0) - 50 * np.eye(size), nothing)
    assert np.abs(level.mean).max() < 1e-9


def test_the_arithmetic_is_the_same_everywhere() -> None:
    x = np.array([-800.0, -3.7, -1e-9, 0.0, 0.5, 12.25, 701.0])
    assert exp_array(x).tolist() == [exp_scalar(one) for one in x.tolist()]
    matrix = some(7, 2).covariance
    assert np.allclose(inverse(matrix) @ matrix, np.eye(7))
    assert np.allclose(product(matrix, matrix[:, :3]), matrix @ matrix[:, :3])


def played(goal: Goal) -> Iterator[str]:
    arena = Arena(Policy("adaptive", goal=goal), lag=3)
    for _ in range(20):
        yield repr(arena.play(standings(11)))


@pytest.mark.parametrize(
    ("goal", "digest"), [(Goal("order"), "c34e21cf32b1b5d6"), (Goal("top", 2), "e80928894945a697")]
)
def test_twenty_rounds_are_paired_alike_on_every_machine(goal: Goal, digest: str) -> None:
    assert hashlib.sha256("".join(played(goal)).encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("goal", [Goal("order"), Goal("top", 4)])
def test_per_dollar_the_expensive_play_less(goal: Goal) -> None:
    seats = {}
    for per_dollar in (False, True):
        arena = Arena(Policy("adaptive", goal=goal, per_dollar=per_dollar), lag=2)
        for _ in range(60):
            pairs = arena.play(standings(8))
            for pair in pairs:
                costs = [1.0 if player in ("p02", "p05") else 0.05 for player in pair]
                arena.results.paid(pair, costs, sum(costs))
        seats[per_dollar] = arena.seats
    dear = {per: one["p02"] + one["p05"] for per, one in seats.items()}
    assert adaptive.FLOOR * 2 <= dear[True] < 0.6 * dear[False]
