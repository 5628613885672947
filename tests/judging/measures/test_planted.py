"""Votes cast with known faults by the bench: what each fault is, and that all else stays as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench import planted
from bench.planted import KINDS, Found
from bench.pools import Fault, Luck, Schedule, Setup, cast, drawn, honest

from peerage.ratings.fits.bradley_terry import fit_duels


def schedule(shown: int = 0, matches: int = 4_000) -> Schedule:
    rng = np.random.default_rng(3)
    seated = rng.permuted(np.tile(np.arange(6), (matches, 1)), axis=1)
    match = np.repeat(np.arange(matches), 3)
    order = np.where(rng.random(3 * matches) < 0.5, 1, -1) * shown
    names = tuple("abcdef")
    return Schedule(names, names, seated[match, 0], seated[match, 1], seated[:, 2:5].ravel(), match, order)


SKILL = np.linspace(-1, 1, 6)


def votes(made: Schedule, fault: Fault) -> np.ndarray:
    luck = Luck.of(np.random.default_rng(5), made.matches, len(made.judge))
    return cast(luck, made, SKILL, np.ones(6), fault)


@pytest.mark.parametrize("shown", [0, 1])
def test_honest_votes_follow_strength(shown: int) -> None:
    made = schedule(shown)
    said = votes(made, honest(made))
    stronger = made.first > made.second
    assert said[stronger].mean() > 0.6
    assert said[~stronger].mean() < 0.4
    assert set(np.unique(said)) == ({0.0, 1.0} if shown else {0.0, 0.5, 1.0})


@pytest.mark.parametrize("fault", ["first_shown", "coin", "always", "towards", "cautious"])
def test_a_fault_changes_only_the_votes_that_it_is_about(fault: str) -> None:
    made = schedule()
    clean = honest(made)
    mine = made.judge == 2
    judges = np.arange(6) == 2
    planted = {
        "first_shown": replace(clean, first_shown=99.0 * judges),
        "coin": replace(clean, coin=judges),
        "always": replace(clean, always=1 * mine),
        "cautious": replace(clean, cautious=3.0 * judges),
        "towards": replace(clean, towards=3.0 * mine),
    }[fault]
    before, after = votes(made, clean), votes(made, planted)
    assert (before[~mine] == after[~mine]).all()
    assert (before[mine] != after[mine]).any()
    stronger = mine & (made.first > made.second)
    share = after[stronger].mean()
    if fault == "first_shown":
        assert (after[mine] == 0.5).all(), "in both orders the first one shown is a tie"
    elif fault == "coin":
        assert share == pytest.approx(0.5, abs=0.05)
    elif fault == "cautious":
        assert (after[mine] == 0.5).mean() > (before[mine] == 0.5).mean() + 0.2
    elif fault == "always":
        assert (after[mine] == 1).all()
    else:
        assert share > before[stronger].mean() + 0.2


def test_who_leans_to_the_first_answer_picks_it_where_one_order_is_shown() -> None:
    made = schedule(1)
    said = votes(made, replace(honest(made), first_shown=99.0 * (np.arange(6) == 2)))
    mine = made.judge == 2
    assert (said[mine] == (made.shown[mine] > 0)).all()


def test_the_votes_of_a_match_weigh_as_one_match() -> None:
    made = schedule(matches=10)
    recorded = made.votes(votes(made, honest(made)))
    assert recorded.history.weight.sum() == pytest.approx(10)
    assert (recorded.judges, recorded.judge.tolist()) == (made.judges, made.judge.tolist())


def test_nobody_judges_a_match_that_it_plays() -> None:
    pool, luck = drawn(Setup(8, 150), 0)
    s = pool.schedule
    assert len(s.first) == 5 * 150
    assert len(luck.noise) == s.matches == 150
    assert not ((s.judge == s.first) | (s.judge == s.second) | (s.first == s.second)).any()
    judged = np.unique(np.stack([s.match, s.judge]), axis=1)
    assert judged.shape[1] == len(s.judge), "each judge votes once on a match"


def test_the_truth_is_what_many_votes_come_to() -> None:
    pool, luck = drawn(Setup(6, 20_000), 2)
    found = fit_duels(pool.votes(luck, honest(pool.schedule)).history)
    assert np.abs(found.rating - pool.truth()).max() < 6
    assert np.argsort(pool.truth()).tolist() == np.argsort(pool.skill).tolist()
    everybody = np.ones(6, np.bool_)
    assert np.ptp(pool.truth(everybody)) > np.ptp(pool.truth()), "who discerns sees greater differences"


def by_kind(setup: Setup, number: int) -> dict[str, Found]:
    rows = zip(KINDS, planted.duels(setup, number), strict=True)
    return {kind: row for kind, row in rows if row is not None}


def test_intervals_hold_where_nothing_is_planted() -> None:
    arenas = [planted.SimulatedArena(*drawn(Setup(8, 150), number), ()) for number in range(25)]
    nothing = [arena.found(planted.pools.NOTHING) for arena in arenas]
    assert 0.9 <= np.mean([row.held for row in nothing]) <= 0.99
    assert np.mean([row.alarm for row in nothing]) <= 0.1
    assert np.isnan([row.moved for row in nothing]).all()


def test_all_that_can_be_planted_moves_what_it_is_about() -> None:
    moved = {kind: row.moved for kind, row in by_kind(Setup(10, 400, seed=3), 0).items() if kind}
    assert moved.keys() == KINDS.keys() - {""}
    assert {kind for kind, points in moved.items() if abs(points) > 10} >= moved.keys() - {
        "harsh",
        "position",
        "random",
        "half-friends",
        "lazy-once",
    }
    assert moved["ring"] < -100


def test_what_cannot_be_planted_is_left_out() -> None:
    assert "ring" not in by_kind(Setup(3, 10), 0), "one judge is no ring"


def test_lazy_judges_asked_once_are_noticed_by_the_place_that_they_pick() -> None:
    """By what they discern alone one pool in five noticed any after so few votes."""
    arenas = [by_kind(Setup(8, 100, seed=7), number) for number in range(8)]
    assert all(arena["lazy-once"].noticed == 1.0 for arena in arenas)
    assert not any(arena["lazy-once"].alarm for arena in arenas)
    assert not any(arena["position"].alarm for arena in arenas), "all lean, nobody is innocent of it"


def test_a_row_of_the_table_by_hand() -> None:
    row = Found(1.0, 0.0, 10.0, 2.0, 0.95, 0.94)
    other = row._replace(noticed=0.0, alarm=1.0, corrected=4.0)
    nobody = row._replace(noticed=np.nan)
    cells = {(4, 400): [[row, None], [other, None]], (8, 1600): [[nobody, None]]}
    *_, first, second = planted.table(cells, ["a", "b"], "duels")
    assert first == "| a | +10→+3, 50% | +10→+2 | 33% |"
    assert second.startswith("| b | – | – |")
