"""Simulated scores of the bench: what is drawn, what a plant changes and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench import tournaments
from bench.tournaments import Chances, Scale, Scored, ScorePlant, ScorePool, Sway, Tournament, drawn

from peerage.judging.marks.comparisons import in_orders
from peerage.judging.measures.corrections import corrected
from peerage.ratings.fits.bradley_terry import fit_duels


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


@pytest.mark.parametrize(
    ("kind", "moves"),
    [("favour", 0.4), ("sabotage", -0.4), ("friends", 0.4), ("ring", -1.0), ("length", 0.5)],
)
def test_a_plant_moves_those_it_is_about_and_nobody_else_s_marks(kind: str, moves: float) -> None:
    made, chances = drawn(Scored(6, 200), 1)
    plant = {
        "favour": lambda: tournaments.favour(made, [(0, 1)], 2.0),
        "sabotage": lambda: tournaments.favour(made, [(0, 1)], -2.0),
        "friends": lambda: tournaments.favour(made, [(0, 1), (1, 0)], 2.0),
        "ring": lambda: tournaments.ring(made),
        "length": lambda: tournaments.length(made),
    }[kind]()
    before, after = (made.scored(chances, sway) for sway in (made.honest, _swayed(plant, chances)))
    shift = (_mean(made, after.value) - _mean(made, before.value))[list(plant.whom)].mean()
    assert shift * np.sign(moves) > 0.7 * abs(moves)
    if kind != "length":
        changed = np.flatnonzero(before.value != after.value)
        touched = {
            (after.judges[judge], after.authors[author])
            for judge, author in zip(after.judge[changed], after.author[changed], strict=True)
        }
        assert touched == plant.pairs


def _mean(made: Tournament, value: np.ndarray) -> np.ndarray:
    """The mean score of each author, each judge brought to an average of nothing."""
    m = made.marks
    own = np.bincount(m.judge, value) / np.bincount(m.judge)
    return np.bincount(m.author, value - own[m.judge]) / np.bincount(m.author)


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
    assert abs(_of_judge(made, _swayed(tournaments.random(made, [0]), chances), 0)) < 0.15
    assert np.ptp(made.scored(chances, _swayed(tournaments.lazy(made, [0]), chances)).value[:1000]) == 0
    harsh, plain = (
        made.scored(chances, sway) for sway in (_swayed(tournaments.harsh(made, [0]), chances), made.honest)
    )
    assert harsh.value[harsh.judge == 0].mean() < plain.value[plain.judge == 0].mean() - 1.5
    leaning = made.marks.judge[tournaments.sides(made, 1.5) != 0]
    assert len(np.unique(leaning)) == 4, "of five judges of the leader, two and two"
    assert tournaments.family(made, range(2)).whom == (0, 1)


@pytest.mark.parametrize("scale", [Scale(), Scale(1, 5, 0.5)])
def test_the_truth_is_what_endless_scores_come_to(scale: Scale) -> None:
    made, chances = drawn(Scored(5, 3_000, generous=2), 3, scale)
    found = fit_duels(in_orders(made.scored(chances, made.honest)).history).rating
    assert np.abs(found - ScorePool(made).truth()).max() < 12


def test_without_judges_the_truth_is_that_of_the_others_by_discernment() -> None:
    made, _ = drawn(Scored(6, 50), 1)
    pool = ScorePool(made)
    whole, some = pool.truth(np.ones(6, np.bool_)), pool.truth(np.arange(6) < 4)
    assert np.abs(whole - pool.truth()).max() > 2
    assert np.abs(whole - some).max() > 2


@pytest.mark.parametrize(("skill", "slope"), [(-2.0, 0.4), (2.0, 0.4)])
def test_kin_who_discern_little_are_not_said_to_prefer_each_other(skill: float, slope: float) -> None:
    """They see their own weak, or strong, family less far from the others than the others do."""
    found = []
    for number in range(6):
        made, chances = drawn(Scored(8, 60, spread=1.5), number)
        same_family = np.array([(made.families or {})[name] == "one" for name in made.marks.authors])
        made = replace(
            made,
            skill=np.where(same_family, skill, made.skill),
            slope=np.where(same_family, slope, made.slope),
        )
        votes = ScorePool(made).under(chances, None)
        (effect,) = [
            one
            for one in corrected(votes, ["family"], None, made.families).after.effects
            if one.name.startswith("family")
        ]
        found.append(effect.points)
    assert abs(np.mean(found)) < 20, "without regard to discernment some 60"
