"""How many results a first place hangs on."""

from itertools import combinations

import numpy as np
import pytest

from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.history import Duels, duels
from peerage.ratings.influence import fewest_to_flip, ratings_without


def played(seed: int, players: int, results: int) -> Duels:
    rng = np.random.default_rng(seed)
    seated = rng.permuted(np.tile(np.arange(players), (results, 1)), axis=1)[:, :2].T
    skill = np.linspace(0.6, -0.6, players)
    won = rng.random(results) < 1 / (1 + np.exp(skill[seated[1]] - skill[seated[0]]))
    return duels(players, *seated, won.astype(float))


def without(history: Duels, rows: object) -> Duels:
    columns = (history.first, history.second, history.score, history.weight)
    return duels(history.players, *[np.delete(column, rows) for column in columns])


@pytest.mark.parametrize("seed", range(8))
def test_the_results_found_put_another_first_and_one_fewer_does_not(seed: int) -> None:
    history = played(seed, 6, 300)
    found = fewest_to_flip(history)
    assert found is not None
    whole = fit_duels(history)
    assert int(np.argmax(whole.rating)) == found.leader
    rest = fit_duels(without(history, found.rows))
    assert rest.rating[found.rival] > rest.rating[found.leader]


@pytest.mark.parametrize("seed", range(12))
def test_no_smaller_choice_does_it(seed: int) -> None:
    """Held against every choice of results, in histories small enough for that."""
    history = played(seed, 3, 18)
    found = fewest_to_flip(history)
    if found is None:
        pytest.skip("not everybody is compared, or the leader never lost its place")
    if not len(found.rows):
        return
    for size in range(1, min(len(found.rows), 4)):
        for rows in combinations(range(len(history)), size):
            rest = fit_duels(without(history, list(rows)))
            assert not rest.connected or np.argmax(rest.rating) == found.leader


def test_two_first_together_hang_on_nothing() -> None:
    found = fewest_to_flip(duels(2, [0, 0], [1, 1], [1, 0]))
    assert found is not None
    assert len(found.rows) == 0


def test_who_never_lost_and_so_is_not_compared_is_told_of_nothing() -> None:
    assert fewest_to_flip(duels(2, [0, 0], [1, 1], [1, 1])) is None


def test_where_not_everybody_is_compared_nothing_is_said() -> None:
    apart = duels(4, [0, 0, 2, 2], [1, 1, 3, 3], [1, 0, 1, 0])
    assert fewest_to_flip(apart) is None
    joined = duels(3, [0, 0, 1, 1], [1, 1, 2, 2], [1, 0, 1, 0])
    assert [rest is None for rest in ratings_without(joined, np.array([0, 1, 2, 2]), 3)[1]] == [True] * 3


def test_the_next_in_rank_need_not_be_the_one_whom_fewest_results_hold_back() -> None:
    score = [*[1] * 105, *[0] * 95, *[1] * 4, *[0] * 3]
    found = fewest_to_flip(duels(3, [0] * 207, [*[1] * 200, *[2] * 7], score))
    assert found is not None
    assert (found.leader, found.rival, found.rows.tolist()) == (0, 2, [200])


def test_ratings_without_a_group_are_those_of_a_fit_without_it() -> None:
    history = played(3, 5, 200)
    groups = np.arange(200) % 4
    whole, without_each = ratings_without(history, groups, 5)
    assert whole is not None
    np.testing.assert_allclose(whole, fit_duels(history).rating, atol=1e-6)
    for group in range(4):
        rest = fit_duels(without(history, np.flatnonzero(groups == group)))
        np.testing.assert_allclose(without_each[group], rest.rating, atol=1e-6)
    np.testing.assert_allclose(without_each[4], whole, atol=1e-9)


def test_whole_pieces_fall_with_all_that_hangs_on_them() -> None:
    """Each result is the order of two scores, and of one judge: held against every choice of them."""
    smaller = 0
    for seed in range(6):
        history = played(seed, 3, 24)
        for pieces in ([np.arange(24) % 6], [np.arange(24) % 8, 8 + np.arange(24) // 3]):
            found = fewest_to_flip(history, pieces)
            if found is None or not len(found.rows):
                continue
            hung = np.flatnonzero(np.any([np.isin(column, found.rows) for column in pieces], axis=0))
            rest = fit_duels(without(history, hung))
            assert rest.rating[found.rival] > rest.rating[found.leader]
            for few in combinations(np.unique(pieces).tolist(), min(len(found.rows) - 1, 2)):
                out = np.flatnonzero(np.any([np.isin(column, few) for column in pieces], axis=0))
                rest = fit_duels(without(history, out))
                smaller += rest.connected and int(np.argmax(rest.rating)) != found.leader
    assert not smaller
