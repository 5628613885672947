"""What a run is to find out: which pairs that needs, when they are known, and how it is said."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from peerage.ratings.sequential.elo_kernels import expected
from peerage.scheduling.goal import GoalState, Known
from peerage.scheduling.standing import EndedMatch, Goal
from peerage.settings.until import goal_of

NAMES = ("ann", "bob", "cid", "dan")


def known(goal: Goal, rounds: int, gap: float, *, games: int = 1, first: float = 0.0) -> GoalState:
    """After rounds of all pairs, strengths `gap` Elo apart, the first one's `first` above that."""
    rng, found = Random(7), Known(goal, NAMES)
    elo = {name: -gap * at + first * (at == 0) for at, name in enumerate(NAMES)}
    for number in range(rounds):
        for a, b in combinations(NAMES, 2):
            won = float(rng.random() < expected(elo[a], elo[b]))
            found.note(EndedMatch(f"game{number % games}", (a, b), (won, 1 - won)))
    return found.state


def test_nothing_is_known_before_anything_is_played() -> None:
    found = Known(Goal("top"), NAMES).state
    assert found == GoalState((0, 3), 0, "it is not proven yet who is the best of ann, bob, cid and dan")
    assert not found.reached
    assert not known(Goal("order"), 3, 100).reached


@pytest.mark.parametrize("games", [1, 3])
def test_the_best_is_known_when_it_is_above_all_others(games: int) -> None:
    assert known(Goal("top"), 120, 0, first=300, games=games) == GoalState((3, 3), 720, "ann is the best")
    nobody = known(Goal("top"), 120, 0, games=games)
    assert nobody.pairs == (0, 3)
    assert known(Goal("order"), 120, 0, first=300, games=games).pairs == (3, 6), "the others are equals"


def test_the_first_places_need_no_order_among_themselves() -> None:
    found = known(Goal("top", 2), 150, 150)
    assert found.in_words == "the first are ann and bob"
    assert found.pairs == (4, 4)


def test_equals_are_placed_within_a_tolerance() -> None:
    assert not known(Goal("placed", player="cid"), 500, 0).reached
    found = known(Goal("placed", player="cid", within=100), 500, 0)
    assert found.reached
    assert found.in_words.endswith("of 4, or wrong by less than 100 Elo")
    short = known(Goal("placed", player="cid"), 100, 200)
    assert short.in_words == "cid is at place 3 of 4"


def test_matches_without_a_result_and_of_those_who_left_say_nothing_of_others() -> None:
    found = Known(Goal("top"), ("ann", "bob"))
    for _ in range(60):
        found.note(EndedMatch("duel", ("ann", "bob"), ()))
    assert found.state.matches == 0
    for _ in range(60):
        found.note(EndedMatch("duel", ("ann", "gone"), (1.0, 0.0)))
        found.note(EndedMatch("duel", ("bob", "gone"), (0.0, 1.0)))
    assert found.state.pairs[1] == 1, "who left is in no pair"


def test_matches_of_one_series_are_no_independent_ones() -> None:
    alone, series = Known(Goal("top"), ("ann", "bob")), Known(Goal("top"), ("ann", "bob"))
    for number in range(28):
        for _turn in range(4):
            won = float(number % 4 > 0)
            alone.note(EndedMatch("duel", ("ann", "bob"), (won, 1 - won)))
            series.note(EndedMatch("duel", ("ann", "bob"), (won, 1 - won), 4 * number + 1))
    assert alone.state.reached
    assert not series.state.reached, "28 results, each of them four times"


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("best known", Goal("top", 1)),
        ("  top  3 known ", Goal("top", 3)),
        ("first 3 proven", Goal("top", 3)),
        ("best", Goal("top")),
        ("order to 40", Goal("order", within=40.0)),
        ("order known to 50", Goal("order", within=50.0)),
        ("order known", Goal("order")),
        ("best known to 20", Goal("top", 1, within=20.0)),
        ("cid placed", Goal("placed", player="cid", within=50.0)),
        ("cid placed to 30", Goal("placed", player="cid", within=30.0)),
    ],
)
def test_goals_are_read(text: str, goal: Goal) -> None:
    assert goal_of(text, NAMES) == goal


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("best knwon", "did you mean 'best known'"),
        ("cod placed", "no player is called 'cod'; did you mean 'cid'"),
        ("top 4 known", "there are 4 players, so expected first 1 to 3"),
        ("top 0 known", "expected first 1 to 3"),
        ("order placed", "no player is called 'order'; known: "),
        ("cid known", "is no goal"),
        ("", "is no goal"),
    ],
)
def test_what_is_no_goal_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        goal_of(text, NAMES)


@pytest.mark.parametrize("name", ["best", "order", "first 3", "best known"])
def test_a_player_whose_name_is_a_word_of_goals_is_placed_like_any(name: str) -> None:
    assert goal_of(f"{name} placed to 30", [name, "ada", "bob"]) == Goal("placed", player=name, within=30.0)
    assert goal_of("best known", [name, "ada", "bob"]) == Goal("top", 1)
