"""Chances, bins and tiers of the players of a table, and what strengths on one topic borrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.arena import Arena
from peerage.ratings.claims.closing import closed
from peerage.ratings.claims.proven import Claims
from peerage.ratings.columns.history import duels
from peerage.ratings.overall import Shares, combined, shares_of
from peerage.ratings.strength.evidence import of_duels
from peerage.ratings.strength.posterior import strengths
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, Scope
from peerage.views.leaderboard.board import LONG, board
from peerage.views.leaderboard.chances import Chances, of_strengths


def made(order: list[float], above: np.ndarray) -> Chances:
    """Players in this order, of whom some are proven above others."""
    n = len(order)
    likely = np.where(above, 0.99, np.where(above.T, 0.01, 0.5))
    best = np.full(n, 1 / n)
    return Chances(
        players=tuple([f"p{at}" for at in range(n)]),
        order=np.array(order),
        best=best,
        better=likely,
        wins=likely,
        gives_up=lambda player: 0.0,
        prove=lambda: Claims(above, above),
    )


@given(st.integers(2, 14), st.floats(0, 0.5), st.integers(0, 2**32 - 1))
def test_nobody_is_proven_below_a_player_of_its_own_or_a_lower_tier(n: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.permutation(n)
    above = closed((rng.random((n, n)) < share) & (true[:, None] > true))
    tiers = made(rng.normal(size=n).tolist(), above).tiers
    for better, worse in np.argwhere(above).tolist():
        assert tiers[better] < tiers[worse]
    assert min(tiers) == "A"


def test_tiers_follow_the_order_of_players() -> None:
    above = np.zeros((5, 5), bool)
    above[0, [2, 3, 4]] = True
    above[2, 4] = True
    assert made([5, 4, 3, 2, 1], above).tiers == ("A", "A", "B", "B", "C")
    assert made([5, 4, 3, 2, 1], np.zeros((5, 5), bool)).tiers == ("A",) * 5


def test_some_of_the_players_have_chances_among_themselves() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 4, 80), rng.integers(1, 4, 80)
    evidence = of_duels(duels(4, first, (first + second) % 4, (first < 2).astype(float)))
    found = strengths(evidence, seed=1)
    nothing = np.zeros((4, 4), bool)
    all_four = of_strengths("abcd", found, lambda: Claims(nothing, nothing))
    two = all_four.only([3, 1])
    assert two.players == ("d", "b")
    assert two.best.sum() == pytest.approx(1)
    assert two.better[0, 1] == all_four.better[3, 1]
    assert two.gives_up(0) == all_four.gives_up(3)
    assert two.pick == "b"


def test_shares_of_wins_are_means_of_chances_draw_by_draw() -> None:
    draws = np.random.default_rng(3).normal([1.0, 0.0, -1.0], 0.3, (4000, 3))
    found = shares_of(draws)
    chance = 1 / (1 + np.exp(draws[:, [1]] - draws[:, [0]]))
    other = 1 / (1 + np.exp(draws[:, [2]] - draws[:, [0]]))
    assert found.draws[:, [0]] == pytest.approx((chance + other) / 2)
    assert found.best.sum() == pytest.approx(1)
    counted = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    assert found.best == pytest.approx(counted, abs=0.01)
    assert 0 < found.best[2] < 0.001, "small chances are not lost between draws"
    even = combined([found, Shares(np.full((4000, 3), 0.5))], [1, 1])
    assert even.share == pytest.approx((found.share + 0.5) / 2)
    assert even.gives_up(2) == pytest.approx(found.gives_up(2) / 2)


def test_over_all_topics_borrowing_narrows_intervals(arena: Arena) -> None:
    topics = PlayedMatches(arena.ledger, EVERYTHING).topics
    parts = [PlayedMatches(arena.ledger, Scope(topic=topic)) for topic in topics]
    pooled, alone = [
        np.mean([one.upper - one.lower for one in found])
        for found in (
            [part.strengths for part in parts],
            [strengths(part.evidence, seed=1) for part in parts],
        )
    ]
    assert pooled < 0.9 * alone


def test_a_topic_borrows_from_the_others_and_proves_by_its_own_matches(arena: Arena) -> None:
    whole = PlayedMatches(arena.ledger, EVERYTHING)
    topic = next(iter(whole.topics))
    own = PlayedMatches(arena.ledger, Scope(topic=topic))
    assert whole.rest is None
    assert own.rest is not None
    assert own.evidence.matches + own.rest.matches == whole.evidence.matches
    alone = strengths(own.evidence, seed=1)
    far = [
        np.abs(one.rating - rating).mean() for one in (own.strengths, alone) for rating in [_ours(whole, own)]
    ]
    assert far[0] < far[1], "what few matches say of a topic is drawn to what all say"
    found = board(arena.reading, "", Scope(topic=topic))
    assert any("borrow from matches on other tasks" in note for note in found.notes)
    assert not any("borrow" in note for note in board(arena.reading).notes)
    assert not found.tiered
    assert len(found.rows) <= LONG


def _ours(whole: PlayedMatches, own: PlayedMatches) -> np.ndarray:
    """The ratings by all matches of those who played on a topic, in its order."""
    return whole.strengths.rating[[whole.players[player] for player in own.players]]
