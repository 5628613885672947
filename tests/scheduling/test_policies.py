"""All pairing policies through the same checks, and what each of them is for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import get_args

import numpy as np
import pytest

from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import exp_array, exp_scalar, expected
from peerage.scheduling import certify, order, top
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, PolicyName, Results, Standing
from peerage.scheduling.strengths import Strengths, fit, inverse, known, product

NAMES: tuple[PolicyName, ...] = tuple(name for name in get_args(PolicyName) if name != "place")
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
    assert min(arena.seats.values()) >= max(order.FLOOR, mean // 4 - 1)


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


@every_policy
@pytest.mark.parametrize("same_family", [True, False])
def test_two_groups_meet_in_the_share_of_matches_that_is_asked_for(
    name: PolicyName, same_family: bool
) -> None:
    """Here the second group is much weaker, so that `swiss`, `order` and the like leave it to itself."""
    group = {one.player: "proprietary" if at < 5 else "open" for at, one in enumerate(standings(9))}
    pool = [one._replace(group=group[one.player]) for one in standings(9, families=0 if same_family else 5)]
    unknown = [*pool, Standing("p98", "f98", 1500.0, 1400.0), Standing("p99", "f99", 1500.0, 1400.0)]

    def share(arena: Arena) -> float:
        met = [group[a] != group[b] for pairs in arena.rounds for a, b in pairs if {a, b} <= {*group}]
        return sum(met) / len(met)

    for players in (pool, unknown):
        arena = Arena(Policy(name, across=0.8), gap=60.0, lag=2)
        for _ in range(40):
            assert arena.play(players, same_family)
        assert 0.75 < share(arena) < 0.95
        assert set(arena.seats) == {one.player for one in players}
    family = {one.player: one.family for one in pool}
    pairs = [both for pairs in arena.rounds for both in pairs if {*both} <= {*family}]
    assert same_family or all(family[a] != family[b] for a, b in pairs)


def test_groups_that_a_policy_leaves_to_themselves_meet_in_a_fifth_of_the_matches_by_default() -> None:
    pool = [
        one._replace(group="proprietary" if at < 6 else "open", cost=one.cost - 600 * (at >= 6))
        for at, one in enumerate(standings(12))
    ]
    group = {one.player: one.group for one in pool}
    shares = []
    for across in (0.0, None):
        arena = Arena(Policy("swiss", across=across), gap=0.0)
        for _ in range(60):
            arena.play(pool)
        shares.append(np.mean([group[a] != group[b] for pairs in arena.rounds for a, b in pairs]))
    assert shares[0] < 0.15
    assert 0.19 < shares[1] < 0.3


@every_policy
def test_one_open_model_among_many_plays_no_more_than_by_lot_unless_asked(name: PolicyName) -> None:
    pool = [one._replace(group="open" if one.player == "p00" else "proprietary") for one in standings(20)]
    seats = {}
    for across in (None, 0.4):
        arena = Arena(Policy(name, across=across), gap=0.0)
        for _ in range(40):
            arena.play(pool)
        seats[across] = arena.seats["p00"] / (sum(arena.seats.values()) / len(pool))
    assert seats[None] < 1.6
    assert seats[0.4] > 2


@every_policy
def test_a_share_between_groups_changes_nothing_where_there_are_not_two(
    name: PolicyName,
) -> None:
    for groups in ("", "open"):
        pool = [one._replace(group=groups) for one in standings(8)]
        plain, floored = Arena(Policy(name)), Arena(Policy(name, across=1.0))
        for _ in range(20):
            assert plain.play(pool) == floored.play(pool)


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


def uneven(name: PolicyName, **more: int) -> Arena:
    arena = Arena(Policy(name, **more), gap=60.0, lag=4)
    for _ in range(80):
        arena.play(standings(8))
    return arena


def test_order_has_those_meet_whose_order_is_in_doubt() -> None:
    distance = {
        name: np.mean([int(b[1:]) - int(a[1:]) for pairs in uneven(name).rounds[30:] for a, b in pairs])
        for name in ("order", "random")
    }
    assert distance["order"] < 0.75 * distance["random"]


def test_top_looks_at_the_first_places() -> None:
    one, all_but_one = uneven("top", places=1).seats, uneven("top", places=7).seats
    assert one["p00"] > 1.5 * one["p06"]
    assert all_but_one["p06"] > 1.5 * one["p06"]


def test_certify_lets_those_rest_who_are_told_apart_and_presses_those_who_nearly_are() -> None:
    mean, covariance = np.array([4.0, 0.0, 0.5, 1.0]), np.eye(4) * 0.05
    short = certify.loss(mean, covariance)
    needed = gap_needed(covariance, unit=1.0)
    assert (short[0, 1:] == 0).all(), "already told apart"
    assert 0 < short[2, 3] == short[1, 2] < short[1, 3] < 1 / 0.1
    assert short[1, 3] == pytest.approx((1.0**2 + 0.1) / needed[1, 3] ** 2 / 0.1, rel=1e-4)


def test_certify_is_through_with_pairs_whose_difference_is_certain() -> None:
    arena = Arena(Policy("certify"), gap=150.0, lag=4)
    for _ in range(90):
        arena.play(standings(8))
    far = [int(b[1:]) - int(a[1:]) >= 6 for pairs in arena.rounds[-30:] for a, b in pairs]
    assert np.mean(far) < 3 / 28 / 1.5, "3 of 28 pairs, far apart"


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


def some(size: int, seed: int) -> Strengths:
    rng = np.random.default_rng(seed)
    wins, ties = (
        rng.integers(0, 9, (size, size)).astype(float),
        rng.integers(0, 4, (size, size)).astype(float),
    )
    np.fill_diagonal(wins, 0)
    ties = np.triu(ties, 1) + np.triu(ties, 1).T
    return fit(wins, ties, np.zeros((size, size)))


def test_the_gain_is_what_a_match_takes_from_the_loss() -> None:
    mean, covariance, information = some(6, 1)
    gains = order.gain(mean, covariance, information, order.of_order)
    for a, b in ((0, 1), (2, 5), (3, 4)):
        e = np.eye(6)[a] - np.eye(6)[b]
        column = covariance @ e
        after = covariance - np.outer(column, column) * information[a, b] / (
            1 + information[a, b] * e @ column
        )
        less = 0.0
        for i in range(6):
            for j in range(i):
                v = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
                z = (mean[i] - mean[j]) / np.sqrt(v)
                rate = np.exp(-z * z) / np.sqrt(v)
                less += rate * (v - (after[i, i] + after[j, j] - 2 * after[i, j]))
        assert gains[a, b] == pytest.approx(less, rel=1e-9)


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


def played(name: PolicyName) -> Iterator[str]:
    arena = Arena(Policy(name, places=2), lag=3)
    for _ in range(20):
        yield repr(arena.play(standings(11)))


@pytest.mark.parametrize(("name", "digest"), [("order", "1fc392abfba68355"), ("top", "099ce77ad5fcdefc")])
def test_twenty_rounds_are_paired_alike_on_every_machine(name: PolicyName, digest: str) -> None:
    assert hashlib.sha256("".join(played(name)).encode()).hexdigest()[:16] == digest


def test_where_a_cut_parts_two_for_sure_their_order_matters_most() -> None:
    weight = top._parted(1, np.array([3.0, 0.0, -3.0, 0.1]), np.eye(4) * 0.01)
    assert weight[0, 1] == pytest.approx(1, abs=1e-6)
    assert weight[1, 2] < 1e-6
    assert np.array_equal(weight, weight.T)


@pytest.mark.parametrize("name", ["order", "top", "certify"])
def test_per_dollar_the_dear_play_less(name: PolicyName) -> None:
    seats = {}
    for per_dollar in (False, True):
        arena = Arena(Policy(name, places=4, per_dollar=per_dollar), lag=2)
        for _ in range(60):
            pairs = arena.play(standings(8))
            for pair in pairs:
                costs = [1.0 if player in ("p02", "p05") else 0.05 for player in pair]
                arena.results.paid(pair, costs, sum(costs))
        seats[per_dollar] = arena.seats
    dear = {per: one["p02"] + one["p05"] for per, one in seats.items()}
    assert order.FLOOR * 2 <= dear[True] < 0.6 * dear[False]
