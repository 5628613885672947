"""Laws of the posterior: neither the order of matches nor that of players leaves a trace."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.ratings.columns.history import Game, duels, games
from peerage.ratings.strength.evidence import Evidence, joined, of_duels, of_games
from peerage.ratings.strength.posterior import Strengths, strengths

MATCHES = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([1, 1 / 3])
    ),
    max_size=25,
).map(lambda rows: [row for row in rows if row[0] != row[1]])
RANKINGS = st.lists(
    st.tuples(
        st.permutations(range(5)), st.lists(st.integers(1, 3), min_size=5, max_size=5), st.integers(3, 5)
    ),
    max_size=6,
)


def evidence(matches: list, rankings: list, number: list[int]) -> Evidence:
    rows = [(number[a], number[b], score, weight) for a, b, score, weight in matches]
    listed = [
        Game(tuple((number[item],) for item in order[:seats]), tuple(ranks[:seats]))
        for order, ranks, seats in rankings
    ]
    columns = np.array(rows, float).reshape(-1, 4).T
    return joined([of_duels(duels(5, *columns)), of_games(games(5, listed))])


def same(found: Strengths, other: Strengths, number: list[int]) -> None:
    for name in ("rating", "lower", "upper", "best"):
        np.testing.assert_allclose(getattr(found, name), getattr(other, name)[number], rtol=1e-9, atol=1e-12)
    for name in ("better", "wins"):
        moved = getattr(other, name)[np.ix_(number, number)]
        np.testing.assert_allclose(getattr(found, name), moved, rtol=1e-9, atol=1e-12)


@settings(max_examples=25)
@given(MATCHES, RANKINGS, st.permutations(range(5)), st.randoms(use_true_random=False))
def test_names_and_order_leave_no_trace(matches, rankings, number, shuffle) -> None:
    found = strengths(evidence(matches, rankings, [0, 1, 2, 3, 4]), seed=7)
    turned = [(b, a, 1 - s, w) if shuffle.random() < 0.5 else (a, b, s, w) for a, b, s, w in matches]
    shuffle.shuffle(turned)
    shuffle.shuffle(rankings)
    same(found, strengths(evidence(turned, rankings, number), seed=7), number)


def test_players_nobody_tells_apart_have_the_same_numbers() -> None:
    """Two pairs who never met each other, one win each."""
    found = strengths(of_duels(duels(4, [0, 3], [1, 2], [1, 1])), seed=1)
    assert found.rating[0] == found.rating[3] > found.rating[1] == found.rating[2]
    assert found.best[0] == found.best[3] > found.best[1] == found.best[2]
    assert found.better[0, 1] == found.better[3, 2]
    assert found.better[0, 3] == 0.5


@settings(max_examples=20)
@given(MATCHES, st.integers(0, 4), st.integers(1, 4))
def test_a_win_more_raises_the_winner(matches, winner, ahead) -> None:
    loser = (winner + ahead) % 5
    numbers = [0, 1, 2, 3, 4]
    before = strengths(evidence(matches, [], numbers), seed=3)
    after = strengths(evidence(matches + [(winner, loser, 1.0, 1)] * 5, [], numbers), seed=3)
    assert after.better[winner, loser] > before.better[winner, loser] - 0.02
    assert after.rating[winner] > before.rating[winner] - 12
