"""Tournaments of scores as an audit simulates them: what endless scores come to, and what a record tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.judging.gathered import tabled

from peerage.judging.audit import audited, score_plants
from peerage.judging.comparisons import in_orders
from peerage.judging.corrections import corrected
from peerage.judging.marks import Mark
from peerage.judging.scored_pool import ScorePool, pool_of
from peerage.judging.simulated_scores import Scale, Scored, drawn
from peerage.ratings.bradley_terry import fit_duels


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


def test_a_record_tells_how_its_judges_judge() -> None:
    made, chances = drawn(Scored(8, 1_500, spread=1.5), 2)
    found = pool_of(made.scored(chances, made.honest)).made
    usual = made.slope.mean()
    assert np.corrcoef(found.slope, made.slope)[0, 1] > 0.85, "who skips its own work sees another spread"
    assert np.corrcoef(found.noise, made.noise)[0, 1] > 0.97
    assert np.abs(found.noise - made.noise).max() < 0.25
    skill = usual * (made.skill - made.skill.mean())
    assert np.abs(found.skill - skill).max() < 0.2
    assert found.luck == pytest.approx(usual * made.luck, rel=0.1)
    assert found.ease == pytest.approx(usual * made.ease, rel=0.1)
    assert found.scale == Scale()
    halves = tabled([Mark("a", "b", str(at), at / 2) for at in range(9)] * 2)
    with pytest.raises(ValueError, match="nothing in common"):
        pool_of(halves)


def test_an_audit_of_scores_names_who_is_planted() -> None:
    made, chances = drawn(Scored(7, 60, spread=2), 4)
    pool = pool_of(made.scored(chances, made.honest))
    rows = list(audited(pool, seed=1, arenas=2))
    assert [row.plant for row in rows[:-1]] == [plant.about for plant in score_plants(pool)]
    by_name = {row.plant: row for row in rows}
    for about in (" giving every answer the same", " whose scores follow nothing"):
        (row,) = [row for name, row in by_name.items() if name.endswith(about)]
        assert row.noticed == 1
        assert row.moved is not None
        assert row.corrected is not None
        assert row.moved > abs(row.corrected) + 10
    assert rows[0].moved is None
    assert rows[-1].plant.endswith("twice, under two names: told apart")
    assert rows == list(audited(pool, seed=1, arenas=2))


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
