"""Faults planted into an arena's own schedule: what can be noticed is, and what cannot is said."""

from typing import Any

import numpy as np
import pytest

from peerage.judging import audit, planted
from peerage.judging.audit import audited, in_words, plants, pool_of
from peerage.judging.corrections import CORRECTIONS, corrected
from peerage.judging.planted import Luck, Schedule, cast, honest
from peerage.judging.simulation import Power, SimulatedArena
from peerage.judging.votes import Votes
from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.history import Duels
from peerage.ratings.rows import fit_covariates
from peerage.ratings.table import POINTS


def recorded(matches: int, shown: int = 0, panel: int = 5, spread: float = 1.0) -> Votes:
    """Ten players who play, judge and are as strong as their number."""
    rng = np.random.default_rng(4)
    seated = rng.permuted(np.tile(np.arange(10), (matches, 1)), axis=1)
    match = np.repeat(np.arange(matches), panel)
    order = np.where(rng.random(panel * matches) < 0.5, 1, -1) * shown
    names = tuple(f"p{at}" for at in range(10))
    judge = seated[:, 2 : 2 + panel].ravel()
    made = Schedule(names, names, seated[match, 0], seated[match, 1], judge, match, order)
    luck = Luck.of(rng, matches, panel * matches)
    return made.votes(cast(luck, made, np.linspace(-spread, spread, 10), np.ones(10), honest(made)))


def test_strengths_and_schedule_are_those_on_record() -> None:
    votes = recorded(400)
    pool = pool_of(votes)
    assert np.corrcoef(pool.skill, np.linspace(-1, 1, 10))[0, 1] > 0.95
    assert pool.skill.std() == pytest.approx(np.linspace(-1, 1, 10).std(), rel=0.3)
    few = recorded(40)
    assert pool_of(few).skill.std() < 0.95 * (fit_duels(few.history).rating / POINTS).std(), (
        "noise is no skill"
    )
    assert (pool.schedule.judges, pool.schedule.judge.tolist()) == (votes.judges, votes.judge.tolist())
    assert (pool.schedule.first == votes.history.first).all()


def test_in_a_long_arena_all_is_noticed_and_nobody_else_named() -> None:
    rows = list(audited(pool_of(recorded(500, spread=2.0)), seed=1, arenas=5))
    assert len(rows) == 10
    for row in rows:
        assert row.noticed is None or row.noticed >= (0.2 if "beating" in row.plant else 0.8), row
        assert row.false_alarms <= 1 / 5, row
    whole, half = [row.moved for row in rows if "voting for each other" in row.plant]
    assert whole is not None
    assert half is not None
    assert 0 < half < whole
    ring = next(row for row in rows if "voting against" in row.plant)
    assert ring.moved is not None
    assert ring.corrected is not None
    assert ring.moved < -100
    assert abs(ring.corrected) < 0.3 * abs(ring.moved)
    assert list(in_words(rows))


def test_who_is_named_for_what_another_did_is_a_false_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(recorded(500, spread=2.0))
    wrong = planted.random(pool, [3], "p3")._replace(judges=frozenset(["p4"]))
    monkeypatch.setattr("peerage.judging.audit.plants", lambda pool: [wrong])
    found = next(audited(pool, seed=1, arenas=3))
    assert (found.noticed, found.false_alarms) == (0.0, 1.0)


def test_among_close_players_a_coin_goes_by_and_it_says_so() -> None:
    rows = list(audited(pool_of(recorded(150)), seed=1, arenas=5))
    coin = next(row for row in rows if "coin" in row.plant)
    assert coin.noticed is not None
    assert coin.noticed < 0.8
    assert any("unnoticed" in line and coin.plant in line for line in in_words(rows))


def test_where_one_order_is_shown_all_judges_may_lean() -> None:
    def names(shown: int) -> list[str]:
        return [one.about for one in plants(pool_of(recorded(60, shown)))]

    assert "all judges leaning to the answer shown first" in names(1)
    assert "all judges leaning to the answer shown first" not in names(0)


def test_with_few_votes_nothing_is_planted() -> None:
    assert [row.plant for row in audited(pool_of(recorded(3)), seed=1, arenas=2)] == ["nothing"]


def test_the_same_seed_gives_the_same() -> None:
    pool = pool_of(recorded(60))
    assert list(audited(pool, 3, 2)) == list(audited(pool, 3, 2))
    assert list(audited(pool, 3, 2)) != list(audited(pool, 4, 2))


def test_without_votes_there_is_nothing_to_audit() -> None:
    votes = recorded(1)
    with pytest.raises(ValueError, match="no votes"):
        pool_of(votes._replace(judges=()))


def test_what_weighs_is_said_in_words() -> None:
    [nothing] = in_words([Power("nothing", None, 0.5, None, None, 20)])
    assert nothing.startswith("Nothing was planted: no judge gave 20 votes or scores yet")
    fine = Power("a", 0.9, 0.0, 50.0, 5.0, 20)
    assert list(in_words([fine])) == [
        "Each of these faults would be noticed here, and corrected to within 10 points."
    ]
    missed, costly = Power("b", 0.5, 0.0, 50.0, 5.0, 20), Power("c", 0.9, 0.0, 50.0, -12.0, 20)
    assert [line.split(":")[1].strip(" .") for line in in_words([fine, missed, costly])] == ["b", "c"]


@pytest.mark.parametrize("whom", [True, False])
def test_what_a_plant_moves_is_told_as_the_votes_are_and_corrected(whom: bool) -> None:
    """Held against both tables as they are fitted, with the plant and without."""
    pool = pool_of(recorded(200, spread=2.0))
    plant = planted.ring(pool) if whom else planted.random(pool, [3], "p3")
    assert plant is not None
    assert plant.fault is not None
    (luck,) = audit._lucks(pool, 1, 1)
    found = SimulatedArena(pool, luck).found(plant)
    dirty, clean = (
        corrected(pool.votes(luck, fault), CORRECTIONS)
        for fault in (plant.fault(luck.sold), honest(pool.schedule))
    )
    heard = np.array([judge not in plant.judges for judge in pool.schedule.judges])
    everybody = np.ones(len(heard), bool)
    for moved, table, without, truths in (
        (found.moved, dirty.before, clean.before, (pool.truth(), pool.truth())),
        (found.corrected, dirty.after, clean.after, (pool.truth(heard), pool.truth(everybody))),
    ):
        if whom:
            assert moved == pytest.approx((table.rating - without.rating)[list(plant.whom)].mean())
        else:
            far, near = (
                np.abs(one.rating - at).mean() for one, at in zip((table, without), truths, strict=True)
            )
            assert moved == pytest.approx(far - near)


def test_twins_play_half_of_the_matches_each(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, seen = pool_of(recorded(200)), []

    def fit(history: Duels, *rest: Any, clusters: Any) -> Any:
        seen.append(history)
        return fit_covariates(history, *rest, clusters=clusters)

    monkeypatch.setattr(audit, "fit_covariates", fit)
    twins = audit._twins(pool, audit._lucks(pool, 1, 4), 1)
    assert twins is not None
    schedule = pool.schedule
    met = np.bincount(np.concatenate([schedule.first, schedule.second]), minlength=10)
    one = int(met.argmax())
    for history in seen:
        assert history.players == 11
        sides = np.stack([history.first, history.second])
        mine = (sides == one) | (sides == 10)
        assert (mine == (np.stack([schedule.first, schedule.second]) == one)).all()
        renamed = (sides == 10).any(axis=0)[mine.any(axis=0)]
        match = schedule.match[mine.any(axis=0)]
        assert 0.3 < renamed.mean() < 0.7
        assert all(len({*renamed[match == number].tolist()}) == 1 for number in set(match.tolist()))
    assert len({history.first.tobytes() for history in seen}) == 4, "each arena splits them anew"
