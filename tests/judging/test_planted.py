"""Votes cast with known faults: what each fault is, and that all else stays as it was."""

from dataclasses import replace

import numpy as np
import pytest

from peerage.judging.planted import Fault, Luck, Schedule, cast, honest


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


@pytest.mark.parametrize("fault", ["first_shown", "coin", "alike", "always", "towards", "cautious"])
def test_a_fault_changes_only_the_votes_that_it_is_about(fault: str) -> None:
    made = schedule()
    clean = honest(made)
    mine = made.judge == 2
    judges = np.arange(6) == 2
    planted = {
        "first_shown": replace(clean, first_shown=99.0 * judges),
        "coin": replace(clean, coin=judges),
        "alike": replace(clean, alike=judges),
        "always": replace(clean, always=1 * mine),
        "cautious": replace(clean, cautious=3.0 * judges),
        "towards": replace(clean, towards=3.0 * mine),
    }[fault]
    before, after = votes(made, clean), votes(made, planted)
    assert (before[~mine] == after[~mine]).all()
    assert (before[mine] != after[mine]).any()
    stronger = mine & (made.first > made.second)
    share = after[stronger].mean()
    if fault in ("first_shown", "alike"):
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
