"""Planted favours are found and honest pools left alone; the rates are measured by bench.collusion."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from bench import pools
from bench.collusion import FRIENDS, HONEST, PLANTED, Case, Pool, measured, scores, votes
from bench.pools import Luck, Schedule, Setup, cast, drawn, honest
from tests.judging.gathered import tabled

from peerage.judging.marks.comparisons import compared, errors, of_votes, ordered
from peerage.judging.marks.marks import Mark
from peerage.judging.measures.agreement import effective_votes
from peerage.judging.measures.favours.search import favours


def found(pool: Pool) -> set[tuple[str, str]]:
    return {(pair.judge, pair.author) for pair in favours(pool.marks).favours if pair.found}


def test_colluders_in_a_tournament_are_found_and_nobody_else() -> None:
    examined = favours(scores(np.random.default_rng(4), 8, 80, bribe=2.5).marks).favours
    assert {(pair.judge, pair.author) for pair in examined if pair.found} == FRIENDS
    assert [pair.found for pair in examined[:2]] == [True, True], "the most suspicious come first"
    assert all(0.1 < pair.excess < 0.8 for pair in examined[:2])
    assert len(examined) == 56, "each of eight judges, each of the seven others"
    assert all(pair.marks == 80 for pair in examined)


@pytest.mark.parametrize("players", [6, 10])
def test_colluders_in_duels_are_found_and_nobody_else(players: int) -> None:
    pools = [votes(np.random.default_rng([4, seed]), players, 60 * players, friends=1.0) for seed in range(4)]
    hits = [found(pool) for pool in pools]
    assert sum(len(hit & FRIENDS) for hit in hits) >= 7
    assert not any(hit - FRIENDS for hit in hits)


def test_who_votes_the_leader_down_is_found_and_not_its_honest_voters() -> None:
    for seed in range(3):
        pool = votes(np.random.default_rng([2, seed]), 10, 700, ring=4)
        assert found(pool) == pool.planted
        assert all(pair.excess < 0 for pair in favours(pool.marks).favours if pair.found)


@pytest.mark.parametrize("seed", [29, 34, 58, 59, 98])
def test_where_the_camps_about_a_leader_are_about_equal_its_honest_voters_are_not_accused(seed: int) -> None:
    pool = votes(np.random.default_rng([2, seed]), 10, 150, spread=0.5, ring=4)
    assert found(pool) <= pool.planted


@pytest.mark.parametrize("spread", [0.1, 1.0])
@pytest.mark.parametrize("once", [False, True])
def test_lazy_and_random_judges_are_named_and_accused_of_nothing(once: bool, spread: float) -> None:
    pool = votes(np.random.default_rng(7), 10, 900, spread=spread, lazy=2, random=1, once=once)
    examined = favours(pool.marks)
    assert not any(pair.found for pair in examined.favours)
    if spread == 1.0:
        assert {"p07", "p08"} <= examined.mute.keys() <= {"p07", "p08", "p09"}
        assert examined.mute["p08"] == ("coin" if once else "alike")
        assert not {pair.judge for pair in examined.favours} & examined.mute.keys()


@pytest.mark.parametrize(("questions", "pools"), [(20, 20), (150, 5), (600, 3)])
def test_judges_who_love_eight_to_ten_are_accused_of_nothing(questions: int, pools: int) -> None:
    """A scale that ends at 10 squeezes the best together: the more marks, the surer that looks."""
    rates = measured(_case(8, questions, generous=3.0), pools, seed=5)
    assert rates.accused <= (0.1 if questions == 20 else 0)


def test_a_harsh_judge_says_the_same_as_a_generous_one() -> None:
    marks = scores(np.random.default_rng(3), 6, 40, bribe=2).marks
    harsh = marks.value.copy()
    harsh[marks.judge == 2] = harsh[marks.judge == 2] ** 3 / 1000
    again = favours(type(marks)(*(harsh if part is marks.value else part for part in vars_of(marks))))
    assert again == favours(marks)


def vars_of(marks: object) -> list[object]:
    return [getattr(marks, name) for name in type(marks).__dataclass_fields__]  # type: ignore[attr-defined]


def test_discernment_and_generosity_are_no_favour() -> None:
    """A judge that sees twice the differences others see, and one that gives 3 more."""
    quality = {"a": 4.0, "b": 5.0, "c": 6.0, "d": 8.0}
    rng = Random(3)
    marks = []
    for contest in range(60):
        for author, mean in quality.items():
            good = mean + rng.gauss(0, 1)
            for judge, slope, more in (("x", 2.0, -5.0), ("y", 1.0, 3.0), ("z", 1.0, 0.0)):
                marks.append(Mark(judge, author, str(contest), slope * good + more + rng.gauss(0, 0.3)))
    assert not any(pair.found for pair in favours(tabled(marks)).favours)


def test_too_few_marks_are_not_tested() -> None:
    assert favours(scores(np.random.default_rng(6), 4, 4, bribe=5).marks).favours == []
    assert favours(tabled([])) == ([], {}, None)
    with pytest.raises(ValueError, match="between 0 and 1"):
        favours(tabled([]), level=0)


def test_among_three_judges_nobody_is_out_of_step() -> None:
    pool = votes(np.random.default_rng(3), 6, 900, lazy=2, random=1)
    assert favours(pool.marks).favours == []


@pytest.mark.parametrize(("contests", "why"), [(58, "tied"), (59, "alike")])
def test_judges_of_constant_marks_say_nothing_and_are_at_fault_once_strictness_is_no_excuse(
    contests: int, why: str
) -> None:
    marks = tabled(Mark(j, a, str(c), 7.0) for j in "xyz" for a in "abc" for c in range(contests))
    found = favours(marks)
    assert found == ([], dict.fromkeys("xyz", why), None)
    assert found.faulty == (frozenset("xyz") if why == "alike" else frozenset())


def test_strict_judges_are_not_said_to_find_all_answers_alike() -> None:
    """Each of these casts some 25 votes; the strict ones often call nothing but ties."""
    tied = 0
    for number in range(24):
        pool, luck = drawn(Setup(20, 100), number)
        fault = pools.harsh(pool, range(14, 20)).fault
        assert fault is not None
        votes_cast = pool.votes(luck, fault(luck.sold))
        found = favours(of_votes(votes_cast))
        assert not found.faulty
        tied += len(found.mute)
    assert tied


def test_orders_are_counted_both_ways() -> None:
    marks = tabled([Mark("x", "a", "1", 9), Mark("x", "b", "1", 7), Mark("x", "c", "1", 7)])
    cells = ordered(marks).all
    assert (cells.judges, cells.players, cells.votes.tolist()) == (1, 3, [6.0])
    assert cells.held.author.tolist() == [0, 0, 1, 1, 2, 2]
    assert cells.held.other.tolist() == [1, 2, 0, 2, 0, 1]
    assert cells.held.games.tolist() == [1.0] * 6
    assert cells.held.points.tolist() == [1.0, 1.0, 0.0, 0.5, 0.0, 0.5]


def test_votes_counted_are_compared_as_their_marks() -> None:
    """By counts alone; where a judge votes twice on a match, by marks."""
    pool, luck = drawn(Setup(7, 200), 3)
    cast = pool.votes(luck, honest(pool.schedule))
    twice = cast._replace(matches=cast.matches // 2, judge=cast.judge % 3)
    other = cast._replace(matches=cast.matches[::-1].copy())
    for given in (cast, twice, other):
        found, by_marks = compared(given), compared(of_votes(given))
        assert (found.judges, found.authors) == (by_marks.judges, by_marks.authors)
        assert (found.marks == by_marks.marks).all()
        assert (found.undecided == by_marks.undecided).all()
        for one, same in zip(found.orders, by_marks.orders, strict=True):
            for column, due in zip(one.held, same.held, strict=True):
                assert column == pytest.approx(due)
        chance = np.random.default_rng(1).random((*found.marks.shape, found.marks.shape[1]))
        chance = (chance + 1 - chance.transpose(0, 2, 1)) / 2
        due = by_marks.squares(lambda *cell, all_of=chance: all_of[cell])
        assert found.squares(lambda *cell, all_of=chance: all_of[cell]) == pytest.approx(due)


def test_who_prefers_its_kin_tosses_no_coin() -> None:
    """In these arenas a family's lean hides what its members discern of anybody else."""
    for number in (12, 23, 46):
        pool, luck = drawn(Setup(10, 600, seed=16), number)
        fault = pools.family(pool, range(3)).fault
        assert fault is not None
        assert not favours(pool.votes(luck, fault(luck.sold))).faulty
        coin = pools.random(pool, [9]).fault
        assert coin is not None
        assert favours(pool.votes(luck, coin(luck.sold))).mute == {"p09": "coin"}


def test_errors_go_together_where_judges_copy() -> None:
    pool = votes(np.random.default_rng(1), 8, 400)
    alone = errors(pool.marks)
    copied = tabled(
        Mark(f"{pool.marks.judges[j]}{twin}", pool.marks.authors[a], pool.marks.contests[c], float(v))
        for j, a, c, v in zip(
            pool.marks.judge, pool.marks.author, pool.marks.contest, pool.marks.value, strict=True
        )
        for twin in "xy"
    )
    assert errors(copied).correlation > alone.correlation + 0.05
    assert np.median(alone.discernment) == pytest.approx(1)


@pytest.mark.parametrize(("idle", "noise"), [(0, 0.5), (0, 1.5), (3, 0.5)])
def test_votes_are_worth_what_simulated_panels_are(idle: int, noise: float) -> None:
    """Against endless votes: how well a panel's share follows strength, for what it scatters, next to a vote
    of the median judge. `idle` judges of ten toss coins."""
    said, true = [], []
    for seed in range(4):
        rng = np.random.default_rng([16, seed])
        skill, discernment = rng.normal(0, 0.9, 10), rng.uniform(0.5, 2, 10)
        discernment[10 - idle :] = 0
        schedule, score = _panels(rng, 600, skill, discernment, noise)
        votes_cast = schedule.votes(score)
        marks = of_votes(votes_cast)
        wrong = errors(marks)
        worth = effective_votes(
            schedule.match, wrong.noise[schedule.judge], wrong.discernment[schedule.judge], wrong.correlation
        )
        said.append(worth.mean())
        true.append(_worth(rng, skill, discernment, noise))
    assert np.mean(said) == pytest.approx(np.mean(true), rel=0.15)


def _panels(
    rng: np.random.Generator, matches: int, skill: np.ndarray, discernment: np.ndarray, noise: float
) -> tuple[Schedule, np.ndarray]:
    n, panel = len(skill), 5
    seated = rng.permuted(np.tile(np.arange(n), (matches, 1)), axis=1)[:, : panel + 2]
    match, names = np.repeat(np.arange(matches), panel), tuple(f"p{at:02}" for at in range(n))
    nothing = np.zeros(matches * panel, np.int64)
    schedule = Schedule(names, names, *seated[match, :2].T, seated[:, 2:].ravel(), match, nothing)
    luck = Luck.of(rng, matches, matches * panel)
    luck = luck._replace(noise=luck.noise * noise / pools.NOISE)
    return schedule, cast(luck, schedule, skill, discernment, honest(schedule))


def _worth(rng: np.random.Generator, skill: np.ndarray, discernment: np.ndarray, noise: float) -> float:
    schedule, score = _panels(rng, 20_000, skill, discernment, noise)
    gap = skill[schedule.first] - skill[schedule.second]
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    weights = weights / weights.sum()
    seen = gap[:, None] + noise * nodes
    expected = (1 / (1 + np.exp(-discernment[schedule.judge][:, None] * seen))) @ weights
    follows = np.array([np.polyfit(gap[one], expected[one], 1)[0] for one in _by(schedule.judge)])
    panel = np.maximum(follows[schedule.judge].reshape(-1, 5).mean(axis=1), 0)
    left = (score - expected).reshape(-1, 5).mean(axis=1)
    coins = (discernment[schedule.judge] == 0).reshape(-1, 5).sum(axis=1)
    worth = sum([(panel[one] ** 2).mean() / (left[one] ** 2).mean() * one.mean() for one in _by(coins)])
    chance = 1 / (1 + np.exp(-np.median(discernment) * seen))
    usual, square = chance @ weights, (chance**2 / 2 + chance / 2) @ weights
    return float(worth / (np.polyfit(gap, usual, 1)[0] ** 2 / np.mean(square - usual**2)))


def _by(code: np.ndarray) -> list[np.ndarray]:
    return [code == one for one in np.unique(code)]


@pytest.mark.slow
@pytest.mark.parametrize("case", HONEST + PLANTED, ids=lambda case: f"{case.about}, {case.plant}")
def test_both_rates(case: Case) -> None:
    rates = measured(case, 20, seed=9)
    assert rates.accused <= 0.2, "5% at most in the long run, give or take as much in twenty pools"


@pytest.mark.parametrize("points", [2.0, -2.0])
@pytest.mark.parametrize(("players", "least"), [(5, 0.6), (6, 0.75)])
def test_small_pools_find_who_scores_one_author_up_or_down(players: int, least: float, points: float) -> None:
    """60 shared scores; what is hard, easy or well done is known from the other scores of the answer."""
    rates = measured(_case(players, 60, favour=points), 20)
    assert rates.found >= least
    assert rates.accused <= 0.1


def test_long_tournaments_on_a_clipped_scale_accuse_nobody() -> None:
    assert measured(_case(20, 600, generous=3.0), 2).accused == 0
    assert measured(_case(10, 150, generous=3.0, lazy=1, random=1, harsh=1), 5).accused == 0
    assert measured(_case(9, 100, sides=1.5), 5).accused <= 0.2


def _case(players: int, questions: int, **how: float) -> Case:
    return Case("", "", lambda rng: scores(rng, players, questions, **how))  # type: ignore[arg-type]


def test_of_four_who_score_two_may_be_friends_and_nobody_can_tell_which() -> None:
    """Two who give each other more look like the other two doing so, but for levels and skills."""
    friends = np.zeros((4, 4))
    friends[0, 1] = friends[1, 0] = 1.0
    others = np.zeros((4, 4))
    others[2, 3] = others[3, 2] = 1.0
    side = np.array([0.5, 0.5, -0.5, -0.5])
    apart = ~np.eye(4, dtype=np.bool_)
    assert np.allclose((friends - others)[apart], (side[:, None] + side)[apart])
    assert not found(scores(np.random.default_rng(4), 4, 200, bribe=2.5))
