"""How many more matches it takes: what must hold of forecasts whatever the numbers, and that ranges hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.arenas import Cell
from bench.further import asked

from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.scheduling import further
from peerage.scheduling.adaptive import between
from peerage.scheduling.further import Further, MatchForecast, forecast
from peerage.scheduling.policies import SWISS, Policy
from peerage.scheduling.standing import BEST, Goal


def seen(players: int, gap: float, rounds: int, seed: int = 1) -> Evidence:
    """All pairs so often, neighbours `gap` log-odds apart."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(players, 1)
    chance = np.tile(1 / (1 + np.exp(gap * (first - second))), rounds)
    score = (rng.random(len(chance)) < chance) * 1.0
    return of_duels(duels(players, np.tile(first, rounds), np.tile(second, rounds), score))


def ahead(evidence: Evidence, goal: Goal = BEST, policy: Policy = SWISS, **more: object) -> MatchForecast:
    return forecast(strengths(evidence, seed=1), evidence, policy, goal, **more)  # type: ignore[arg-type]


def test_what_is_proven_takes_no_more_and_what_is_hopeless_has_no_number() -> None:
    sure = ahead(seen(3, 2.0, 60), per_match_usd=0.5, pairs=[(0, 2)])
    assert sure == MatchForecast(*[Further(0, 0, 0, 0.0)] * 2, (Further(0, 0, 0, 0.0),))
    assert str(sure.proven) == "now"
    level = ahead(seen(12, 0.0, 3), Goal("order"))
    assert level.proven.matches is None
    assert level.proven.at_most is None
    assert "more matches" in str(level.proven)


@pytest.mark.parametrize(
    ("further", "brief", "whole"),
    [
        (Further(1, 1, 1, 0.5), "about 1 more match ($0.50)", "about 1 more match, $0.50 (likely 1 to 1)"),
        (
            Further(1200, 40, None, None),
            "about 1,200 more matches",
            "about 1,200 more matches (likely 40 or more)",
        ),
        (Further(None, 1, None, None), "at least 1 more match", "nobody can say yet"),
        (Further(None, 17, None, None), "at least 17 more matches", "at least 17 more matches"),
    ],
)
def test_matches_are_counted_in_words(further: Further, brief: str, whole: str) -> None:
    assert (further.brief, str(further)) == (brief, whole)


def test_a_range_holds_its_middle_and_has_its_price() -> None:
    span = ahead(seen(4, 0.7, 8), per_match_usd=0.02).proven
    assert span.matches is not None
    assert 0 < span.at_least < span.matches < (span.at_most or math.inf)
    assert span.usd == pytest.approx(0.02 * span.matches)
    assert ahead(seen(4, 0.7, 8)).proven.usd is None


def test_the_same_arguments_give_the_same_numbers() -> None:
    assert ahead(seen(5, 0.4, 6)) == ahead(seen(5, 0.4, 6))


def test_a_clear_pick_comes_before_proof_and_a_wider_tolerance_before_a_narrow_one() -> None:
    evidence = seen(5, 0.5, 8)
    both = ahead(evidence)
    assert both.clear.at_least <= both.proven.at_least
    wide, narrow = (ahead(evidence, BEST._replace(within=within)).proven for within in (200.0, 20.0))
    assert (wide.matches or 0) < (narrow.matches or math.inf)


def test_pairing_for_the_goal_takes_fewer() -> None:
    evidence = seen(10, 0.35, 4)
    random, adaptive = (ahead(evidence, policy=Policy(name)).proven for name in ("random", "adaptive"))
    assert adaptive.matches is not None
    assert adaptive.matches < 0.8 * (random.matches or math.inf)


def test_a_player_to_be_placed_plays_alone_with_the_others() -> None:
    evidence, goal = seen(6, 0.5, 5), Goal("placed", player="p", within=100.0)
    own = ahead(evidence, goal, Policy("adaptive", goal=goal), placed=2).proven
    all_play = ahead(evidence, goal, placed=2).proven
    assert (own.matches or math.inf) < 0.7 * (all_play.matches or math.inf)


def test_who_left_neither_plays_nor_counts() -> None:
    evidence = seen(4, 0.6, 12)
    still = np.array([False, True, True, True])
    assert ahead(evidence, active=still).proven != ahead(evidence).proven
    alone = np.array([True, True, False, False])
    two = ahead(evidence, active=alone)
    assert (two.proven.matches or math.inf) <= (ahead(evidence).proven.matches or math.inf)


def test_a_crowd_is_one_opponent_and_changes_little(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = seen(24, 0.12, 2)
    whole = ahead(evidence, pairs=[(0, 23)])
    monkeypatch.setattr(further, "_CROWD", 12)
    some = ahead(evidence, pairs=[(0, 23)])
    assert whole.clear.matches
    assert some.clear.matches
    assert 0.3 < some.clear.matches / whole.clear.matches < 3
    assert len(some.pairs) == 1


def test_the_quick_evidence_is_near_that_of_claims() -> None:
    """Of pairs that are nearly proven, in log-evidence."""
    from peerage.ratings.claims.proven import proof

    apart = []
    for seed in range(40):
        evidence = seen(5, 0.45, 6, seed)
        exact = np.log(np.maximum(proof(evidence), 1e-300))
        wins = further._so_far(evidence)[0][None]
        strength = np.zeros((1, 5))
        for _ in range(12):
            strength, covariance = further._fitted(wins, strength)
        gap = strength[:, :, None] - strength[:, None, :]
        quick = further._evidence(wins, gap, covariance, between(covariance), 5)[0]
        near = (gap[0] > 0) & (exact > 2.1) & (exact < 5)
        apart += (quick - exact)[near].tolist()
    assert len(apart) > 9
    assert abs(np.median(apart)) < 1.5


@pytest.mark.slow
def test_ranges_hold_what_they_say_over_arenas_as_the_prior_has_them() -> None:
    held = [
        one.inside
        for policy in ("random", "adaptive")
        for one in asked(Policy(policy), Cell(4, "prior", lag=8), 24, 24)
    ]
    assert 0.7 < np.mean(held) < 0.92


def test_a_range_begins_where_equals_behind_a_leader_let_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [0] * 12 + [1] * 8 + [2] * 4
    second = [1, 2, 3] * 4 + [2, 3] * 4 + [3] * 4
    score = [1.0] * 11 + [0.0] + [1.0, 1.0, 0.0, 0.0] * 3
    played = of_duels(duels(4, first, second, score))
    likely = ahead(played, policy=Policy("random")).proven
    monkeypatch.setattr(further, "_SIMPLEST", 1.0)
    likelier = ahead(played, policy=Policy("random")).proven
    assert likely.at_least < likelier.at_least
    assert (likely.matches, likely.at_most) == (likelier.matches, likelier.at_most)


def test_a_range_begins_there_only_where_results_let_all_others_be_equals() -> None:
    equals = np.array([[0, 9, 9, 9], [1, 0, 5, 4], [1, 5, 0, 6], [1, 4, 5, 0]], float)
    spread = np.array([[0, 9, 9, 9], [1, 0, 9, 10], [1, 1, 0, 9], [1, 0, 1, 0]], float)
    leader = np.arange(4) == 0
    for won, refuted in ((equals, False), (spread, True), (equals[:2, :2], False)):
        n = len(won)
        strength = np.zeros((1, n))
        for _ in range(12):
            strength, _ = further._fitted(won[None], strength)
        assert further._no_two_kinds(leader[:n], won, strength[0]) == refuted


def test_a_range_that_is_open_leaves_out_a_fifth_of_the_courses_and_one_that_is_not_a_tenth_each() -> None:
    many = np.arange(1, 101) / 10
    closed = further._summed(many, math.inf, 100, None)
    assert (closed.at_least, closed.matches, closed.at_most) == (100, 500, 900)
    opened = further._summed(np.where(many > 8.5, math.inf, many), math.inf, 100, None)
    assert (opened.at_least, opened.matches, opened.at_most) == (200, 500, None)


def test_of_two_players_the_best_and_their_order_are_one_question() -> None:
    told = ahead(seen(2, 0.9, 16), pairs=[(0, 1)])
    assert told.proven == told.pairs[0]
