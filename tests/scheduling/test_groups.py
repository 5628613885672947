"""Tables of more than two."""

from collections import Counter
from itertools import combinations

import pytest

from peerage.scheduling.groups import group
from peerage.scheduling.standing import History, Standing


def players(count: int, gap: float = 0.0) -> list[Standing]:
    return [Standing(f"p{at:02}", "f", 1500.0, 1500.0, 25.0 - gap * at) for at in range(count)]


@pytest.mark.parametrize("count", range(2, 24))
@pytest.mark.parametrize("seats", range(3, 11))
def test_everybody_sits_once_at_tables_of_nearly_one_size(count: int, seats: int) -> None:
    tables = group(players(count), History(), "seed", seats)
    assert sorted(name for table in tables for name in table) == [one.player for one in players(count)]
    sizes = [len(table) for table in tables]
    assert max(sizes) <= seats
    assert min(sizes) >= 2
    assert max(sizes) - min(sizes) <= 1
    assert len(tables) == -(-count // seats)


@pytest.mark.parametrize("count", range(3, 12))
@pytest.mark.parametrize("outside", [1, 2])
def test_somebody_is_left_to_officiate(count: int, outside: int) -> None:
    if count - outside < 2:
        return
    history = History()
    for round in range(6):
        tables = group(players(count), history, f"s/{round}", 4, outside=outside)
        assert tables
        assert all(2 <= len(table) <= min(4, count - outside) for table in tables)
        assert sum(map(len, tables)) >= count - 1
        for table in tables:
            history.remember(table)
    played = [history.played(one.player) for one in players(count)]
    assert max(played) - min(played) <= 1


@pytest.mark.parametrize("count", range(3, 24))
def test_no_table_is_smaller_than_a_game_can_be(count: int) -> None:
    """Where all cannot sit at tables of five to seven, those who played most sit out."""
    history = History()
    for round in range(6):
        tables = group(players(count), history, f"s/{round}", 7, fewest=5)
        assert all(5 <= len(table) <= 7 for table in tables)
        assert bool(tables) is (count >= 5)
        for table in tables:
            history.remember(table)
    played = [history.played(one.player) for one in players(count)]
    assert max(played) - min(played) <= 1


def test_fewer_than_two_make_no_table() -> None:
    assert group([], History(), "s", 4) == group(players(1), History(), "s", 4) == ()


def test_neighbours_sit_together_the_higher_seeded_first() -> None:
    tables = group(players(8, gap=2), History(), "seed", 4)
    assert tables == (("p00", "p01", "p02", "p03"), ("p04", "p05", "p06", "p07"))


def test_a_clone_that_differs_in_the_last_bits_is_seated_by_the_lot() -> None:
    there = players(9, gap=1e-9)
    assert group(there, History(), "a", 3) == group(players(9), History(), "a", 3)


def test_players_near_in_skill_meet_often_and_all_meet_in_the_end() -> None:
    """Twelve players, the best and the worst some 900 Elo apart; everybody meets everybody."""
    history = History()
    for round in range(60):
        for table in group(players(12, gap=1.7), history, f"seed/{round}", 4):
            history.remember(table)
    met = {(a, b): history.met(f"p{a:02}", f"p{b:02}") for a, b in combinations(range(12), 2)}
    near = [times for (a, b), times in met.items() if b - a <= 2]
    far = [times for (a, b), times in met.items() if b - a >= 8]
    assert min(far) >= 1
    assert min(near) > max(far)
    assert {history.played(f"p{at:02}") for at in range(12)} == {60}


def test_equals_meet_everybody_before_they_meet_often() -> None:
    history, met = History(), Counter[tuple[str, str]]()
    for round in range(14):
        for table in group(players(8), history, f"seed/{round}", 4):
            history.remember(table)
            met.update(combinations(sorted(table), 2))
    assert len(met) == 28
    assert max(met.values()) - min(met.values()) <= 5


def test_the_same_arguments_give_the_same_tables_and_another_seed_others() -> None:
    first = group(players(9), History(), "a", 3)
    assert first == group(list(reversed(players(9))), History(), "a", 3)
    assert any(first != group(players(9), History(), seed, 3) for seed in "bcd")
