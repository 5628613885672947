"""What scheduling knows of the players: who met whom, how matches ended, what a seat costs."""

from __future__ import annotations

import pytest

from peerage.scheduling.standing import Goal, History, Results, Standing, may_meet


def test_one_who_holds_two_seats_plays_one_match_and_meets_the_others_once() -> None:
    history = History()
    history.remember(["Ada", "Bo", "Ada"], "tides")
    history.remember(["Bo", "Ada"])
    assert (history.met("Ada", "Bo"), history.met("Bo", "Ada"), history.met("Ada", "Ada")) == (2, 2, 0)
    assert (history.played("Ada"), history.met_on("tides", "Ada"), history.met_on("tides", "Cy")) == (2, 1, 0)
    assert history.seats == 5


def test_results_are_told_from_either_side() -> None:
    results = Results()
    for scores in ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5), ()):
        results.note(("Bo", "Ada"), scores)
    results.note(("Ada", "Cy", "Bo"), (3.0, 2.0, 2.0))
    assert results.between("Bo", "Ada") == (2, 1, 2, 1)
    assert results.between("Ada", "Bo") == (2, 1, 2, 1)
    assert results.between("Ada", "Cy") == (1, 0, 0, 0)
    assert results.between("Cy", "Ada") == (0, 0, 1, 0)
    assert results.between("Bo", "Cy") == (0, 1, 0, 0)


def test_prices_are_means_with_a_part_of_the_judging_and_never_nothing() -> None:
    results = Results()
    assert results.prices(["Ada"]) == {}
    results.paid(["Ada", "Bo"], [0.30, 0.0], 0.40)
    results.paid(["Ada", "Bo"], [0.10, None], 0.20)
    found = results.prices(["Ada", "Bo", "Cy"])
    assert found == pytest.approx({"Ada": 0.25, "Bo": 0.05, "Cy": 0.15})
    free = Results()
    free.paid(["Ada", "Bo"], [1.0, 0.0], 1.0)
    assert free.prices(["Bo"]) == pytest.approx({"Bo": 0.005})


def test_families_part_only_where_they_are_to() -> None:
    ada, bo, cy = Standing("Ada", "f", 0, 0), Standing("Bo", "f", 0, 0), Standing("Cy", "g", 0, 0)
    assert may_meet(ada, bo, same_family=True)
    assert not may_meet(ada, bo, same_family=False)
    assert may_meet(ada, cy, same_family=False)


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (Goal("top"), "best known"),
        (Goal("top", 3, within=12.5), "first 3 known to 12.5"),
        (Goal("order"), "order known"),
        (Goal("placed", player="Ada"), "Ada placed"),
        (Goal("placed", player="Ada", within=50.0), "Ada placed to 50"),
    ],
)
def test_a_goal_is_said_as_it_is_stated(goal: Goal, words: str) -> None:
    assert str(goal) == words
