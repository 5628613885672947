"""What a posterior must be at the edges: nobody, nothing, everything won, and thousands of players."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.columns.history import Duels, Game, duels, games
from peerage.ratings.strength.evidence import of_duels, of_games
from peerage.ratings.strength.posterior import Strengths, strengths


def drawn(rng: np.random.Generator, players: int, matches: int, spread: float, ties: float = 0.2) -> Duels:
    """Matches at random between players of normal strengths, `spread` in log-odds."""
    skill = rng.normal(0, spread, players)
    a = rng.integers(0, players, matches)
    b = (a + rng.integers(1, players, matches)) % players
    up, nu = np.exp((skill[a] - skill[b]) / 2), 2 * ties / (1 - ties)
    luck = rng.random(matches) * (up + 1 / up + nu)
    return duels(players, a, b, np.where(luck < up, 1.0, np.where(luck < up + nu, 0.5, 0.0)))


def sane(found: Strengths) -> None:
    n = found.players
    assert found.rating.shape == found.lower.shape == found.upper.shape == found.best.shape == (n,)
    for values in (found.rating, found.lower, found.upper, found.best, found.better, found.wins, found.draws):
        assert np.isfinite(values).all()
    assert np.isfinite(found.ties)
    if not n:
        return
    assert found.rating.mean() == pytest.approx(1500)
    assert (found.lower <= found.rating).all()
    assert (found.rating <= found.upper).all()
    assert found.best.sum() == pytest.approx(1)
    assert found.best.min() >= 0
    for chance in (found.better, found.wins):
        assert chance.shape == (n, n)
        assert chance + chance.T == pytest.approx(np.ones((n, n)))
        assert np.diag(chance) == pytest.approx(0.5)
    assert all(found.gives_up(i) >= 0 for i in range(n))


def nothing(players: int) -> Duels:
    return duels(players, [], [], [])


CASES = {
    "nobody": nothing(0),
    "a player alone": nothing(1),
    "two who never met": nothing(2),
    "sixty who never met": nothing(60),
    "one match": duels(2, [0], [1], [1]),
    "one tie": duels(2, [0], [1], [0.5]),
    "only ties": duels(3, [0, 1, 2] * 50, [1, 2, 0] * 50, [0.5] * 150),
    "1,000 to 0": duels(2, [0] * 1000, [1] * 1000, [1] * 1000),
    "a million to 0": duels(2, [0], [1], [1], [1e6]),
    "the first beats all, the second all others": duels(
        8, *np.array([(i, j, 1) for i in range(8) for j in range(i + 1, 8) for _ in range(20)]).T
    ),
    "two groups": duels(6, [0, 1, 2, 3, 4, 5] * 30, [1, 2, 0, 4, 5, 3] * 30, [1, 0, 0.5, 1, 1, 0] * 30),
    "a chain": duels(200, np.arange(199), np.arange(1, 200), np.ones(199)),
    "light matches": duels(3, [0, 1], [1, 2], [1, 1], [1e-6, 1e-9]),
    "weight 0": duels(3, [0, 1], [1, 2], [1, 1], [0, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str) -> None:
    sane(strengths(of_duels(CASES[name]), seed=1))


def test_nothing_known_is_the_same_for_all() -> None:
    found = strengths(of_duels(nothing(5)), seed=3)
    assert found.best == pytest.approx(np.full(5, 0.2))
    assert found.better == pytest.approx(np.full((5, 5), 0.5))
    assert found.rating == pytest.approx(np.full(5, 1500.0))


def test_thousands_of_players() -> None:
    rng = np.random.default_rng(5)
    history = drawn(rng, 1500, 9000, 0.8)
    found = strengths(of_duels(history), seed=1)
    for values in (found.rating, found.lower, found.upper, found.best):
        assert np.isfinite(values).all()
    assert found.best.sum() == pytest.approx(1)


def test_rankings_of_teams_and_of_one_player_in_two_seats() -> None:
    listed = [
        Game(((0, 1), (2, 3)), (1, 2)),
        Game(((0,), (1,), (2,), (3,)), (1, 1, 2, 2)),
        Game(((0,), (0,), (1,)), (1, 3, 2)),
        Game(((4,), (4,)), (1, 2)),
        Game(((3,), (4,)), (2, 1)),
    ]
    evidence = of_games(games(5, listed))
    assert evidence.matches == 4
    assert (evidence.first.tolist(), evidence.second.tolist(), evidence.score.tolist()) == ([4], [3], [1.0])
    sane(strengths(evidence, seed=1))


def test_a_ranking_says_less_than_all_its_pairs() -> None:
    rng = np.random.default_rng(1)
    orders = [np.argsort(rng.gumbel(size=8) - 0.3 * np.arange(8)) for _ in range(30)]
    ranking = of_games(games(8, [Game(tuple((int(i),) for i in order), tuple(range(8))) for order in orders]))
    pairs = [(order[i], order[j], 1) for order in orders for i in range(8) for j in range(i)]
    wide, narrow = strengths(ranking, seed=1), strengths(of_duels(duels(8, *np.array(pairs).T)), seed=1)
    assert (wide.upper - wide.lower).mean() > 1.4 * (narrow.upper - narrow.lower).mean()


def test_clusters_of_the_same_result_count_once() -> None:
    rng = np.random.default_rng(2)
    history = drawn(rng, 6, 90, 0.5)
    five = duels(6, *(np.repeat(getattr(history, name), 5) for name in ("first", "second", "score")))
    alone, clustered, plain = (
        strengths(evidence, seed=1)
        for evidence in (
            of_duels(history),
            of_duels(five, np.repeat(np.arange(90), 5)),
            of_duels(five),
        )
    )
    width = [(found.upper - found.lower).mean() for found in (alone, clustered, plain)]
    assert width[1] == pytest.approx(width[0], rel=0.12)
    assert width[2] < 0.65 * width[0]


def test_independent_matches_in_clusters_count_nearly_whole() -> None:
    rng = np.random.default_rng(4)
    history = drawn(rng, 6, 600, 0.5)
    plain = strengths(of_duels(history), seed=1)
    clustered = strengths(of_duels(history, np.arange(600) // 5), seed=1)
    ratio = (clustered.upper - clustered.lower).mean() / (plain.upper - plain.lower).mean()
    assert 0.99 < ratio < 1.2


def test_a_part_of_a_win_is_a_part_of_a_tie_and_of_a_win_that_hang_together() -> None:
    found = of_duels(duels(2, [0, 0, 1], [1, 1, 0], [1, 0.75, 0.1], [1, 2, 1]))
    assert found.score.tolist() == [1, 0.5, 0, 1, 0.5]
    assert found.weight.tolist() == pytest.approx([1, 1, 0.8, 1, 0.2])
    assert found.cluster is not None
    assert found.cluster.tolist() == [0, 1, 2, 1, 2]
    rng = np.random.default_rng(5)
    exact = drawn(rng, 4, 800, 0.5)
    graded = duels(4, exact.first, exact.second, 0.25 + exact.score / 2)
    whole, parts = strengths(of_duels(exact), seed=1), strengths(of_duels(graded), seed=1)
    assert np.argsort(parts.rating).tolist() == np.argsort(whole.rating).tolist()


def test_errors_name_the_row() -> None:
    with pytest.raises(ValueError, match="3 cluster labels and 2 matches"):
        of_duels(duels(2, [0, 0], [1, 1], [1, 0]), [1, 2, 3])
