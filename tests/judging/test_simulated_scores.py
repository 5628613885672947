"""Simulated scores: what is drawn, what a plant changes and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from peerage.judging import simulated_scores as simulated
from peerage.judging.simulated_scores import (
    Chances,
    Scale,
    Scored,
    ScorePlant,
    Sway,
    Tournament,
    drawn,
    table,
)


def test_everybody_scores_everybody_else_in_whole_points() -> None:
    made, chances = drawn(Scored(5, 30, generous=3), 0)
    marks = made.scored(chances, made.honest)
    assert len(marks) == 5 * 4 * 30
    assert not (marks.judge == marks.author).any()
    assert set(np.unique(marks.value)) <= set(range(11))
    assert marks.value.mean() > 7
    order = np.lexsort((marks.author, marks.contest, marks.judge))
    assert (order == np.arange(len(marks))).all(), "as Marks wants them"
    again = drawn(Scored(5, 30, generous=3), 0)
    assert (again[0].scored(again[1], again[0].honest).value == marks.value).all()


def test_the_truth_is_what_many_questions_come_to() -> None:
    for scale in (Scale(), Scale(1, 5, 0.5)):
        made, chances = drawn(Scored(6, 20_000, generous=2), 3, scale)
        assert np.abs(table(made.scored(chances, made.honest)).score - made.truth()).max() < 0.03


def test_intervals_of_scores_hold() -> None:
    """They are a little wide: what makes a question hard for all is in them, and cancels in a score."""
    held = []
    for number in range(60):
        made, chances = drawn(Scored(6, 40), number)
        found = table(made.scored(chances, made.honest))
        held.append(np.abs(found.score - made.truth()) <= 2.02 * found.error)
    assert 0.92 <= np.mean(held) <= 0.995


@pytest.mark.parametrize(
    ("kind", "moves"),
    [("favour", 0.4), ("sabotage", -0.4), ("friends", 0.4), ("ring", -1.0), ("length", 0.5)],
)
def test_a_plant_moves_those_it_is_about_and_nobody_else_s_marks(kind: str, moves: float) -> None:
    made, chances = drawn(Scored(6, 200), 1)
    build: dict[str, Callable[[Tournament], ScorePlant | None]] = {
        "favour": lambda of: simulated.favour(of, 0, 1),
        "sabotage": lambda of: simulated.favour(of, 0, 1, -2.0),
        "friends": simulated.friends,
        "ring": lambda of: simulated.ring(of, 2),
        "length": lambda of: simulated.length(of, range(6)),
    }
    plant = build[kind](made)
    assert plant is not None
    assert plant.sway is not None
    before, after = (made.scored(chances, sway) for sway in (made.honest, plant.sway(chances)))
    shift = (table(after).score - table(before).score)[list(plant.whom)].mean()
    assert shift * np.sign(moves) > 0.7 * abs(moves)
    if kind != "length":
        changed = np.flatnonzero(before.value != after.value)
        touched = {
            (after.judges[judge], after.authors[author])
            for judge, author in zip(after.judge[changed], after.author[changed], strict=True)
        }
        assert touched == plant.pairs


def _swayed(plant: ScorePlant, chances: Chances) -> Sway:
    assert plant.sway is not None
    return plant.sway(chances)


def _of_judge(made: Tournament, sway: Sway, judge: int) -> float:
    """How far a judge's scores follow skill."""
    marks = made.scored(drawn(Scored(6, 200), 1)[1], sway)
    own = marks.judge == judge
    return float(np.corrcoef(marks.value[own], made.skill[marks.author[own]])[0, 1])


def test_faults_of_judges_are_what_they_are_called() -> None:
    made, chances = drawn(Scored(6, 200), 1)
    usual = _of_judge(made, made.honest, 0)
    assert usual > 0.3
    assert abs(_of_judge(made, _swayed(simulated.random(made, [0]), chances), 0)) < 0.15
    assert np.ptp(made.scored(chances, _swayed(simulated.lazy(made, [0]), chances)).value[:1000]) == 0
    harsh, plain = (
        made.scored(chances, sway) for sway in (_swayed(simulated.harsh(made, [0]), chances), made.honest)
    )
    assert harsh.value[harsh.judge == 0].mean() < plain.value[plain.judge == 0].mean() - 1.5
    sides = simulated.camps(made)
    assert not sides.pairs | sides.judges
    assert simulated.family(made, range(2)).whom == (0, 1)
