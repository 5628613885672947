"""A few votes of people correct many of judges: against a slow twin, and in simulated arenas."""

from __future__ import annotations

import numpy as np
import pytest
from bench import anchored

from peerage.ratings.bradley_terry import fit_duels
from peerage.ratings.history import Duels, duels
from peerage.ratings.prediction_powered import PredictionPowered, components, fit
from peerage.ratings.soft_votes import calibrate
from peerage.ratings.table import POINTS


def made(seed: int, *, bias: float = 0.6, noise: float = 1.0, share: float = 0.3) -> anchored.Arena:
    rng = np.random.default_rng(seed)
    return anchored.arena(rng, 4, 300, share, bias, noise, telling=True)


def history(one: anchored.Arena) -> Duels:
    return duels(len(one.truth), one.first, one.second, one.soft)


def slowly(
    played: Duels, people: np.ndarray, stratum: np.ndarray, trust: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings and their covariance in points, duel by duel as the formulas have it."""
    n, rows = played.players, range(len(played))
    x = np.zeros((len(played), n))
    for row in rows:
        x[row, played.first[row]], x[row, played.second[row]] = 1, -1
    voted = ~np.isnan(people)
    share = {label: voted[stratum == label].mean() for label in set(stratum.tolist())}
    a = np.array([voted[row] / share[stratum[row]] for row in rows])
    said = np.where(voted, people, 0.0)
    strength = np.zeros(n)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ strength))
        judge, person = played.score - p, said - p
        slope = sum(
            x[row] * (trust * judge[row] + a[row] * (person[row] - trust * judge[row])) for row in rows
        )
        weight = (trust + (1 - trust) * a) * p * (1 - p)
        inverse = np.linalg.pinv(sum(weight[row] * np.outer(x[row], x[row]) for row in rows), rcond=1e-9)
        strength = strength + inverse @ slope
    left_out = [1 / (1 - weight[row] * x[row] @ inverse @ x[row]) ** 0.5 for row in rows]
    parts = [x[row] * (person[row] - trust * judge[row]) * left_out[row] for row in rows]
    mean = {
        label: sum(a[row] * parts[row] for row in rows if stratum[row] == label)
        / sum(a[row] for row in rows if stratum[row] == label)
        for label in share
    }
    meat = np.zeros((n, n))
    for row in rows:
        pull = trust * x[row] * judge[row] * left_out[row] + a[row] * parts[row]
        pull = pull - (a[row] - 1) * mean[stratum[row]]
        meat += np.outer(pull, pull)
    return 1500 + (strength - strength.mean()) * POINTS, inverse @ meat @ inverse * POINTS**2


@pytest.mark.parametrize("trust", [0.0, 0.4, 1.0])
def test_it_is_what_the_formulas_say(trust: float) -> None:
    one = made(1)
    found = fit(history(one), one.people, stratum=one.stratum, trust=trust)
    rating, covariance = slowly(history(one), one.people, one.stratum, trust)
    assert found.rating == pytest.approx(rating, abs=1e-6)
    assert found.covariance == pytest.approx(covariance, rel=1e-6, abs=1e-6)


def test_without_judges_it_is_people_alone() -> None:
    one = made(2)
    voted = ~np.isnan(one.people)
    alone = duels(4, one.first[voted], one.second[voted], one.people[voted])
    assert fit(history(one), one.people, trust=0.0).rating == pytest.approx(fit_duels(alone).rating, abs=1e-6)


def arenas(count: int, **how: float) -> list[tuple[anchored.Arena, PredictionPowered]]:
    """So many in which people's votes compare everybody."""
    found = []
    for seed in range(2 * count):
        one = made(seed, **how)
        if len(components(history(one), one.people)) == 1 and len(found) < count:
            found.append((one, fit(history(one), one.people, stratum=one.told_apart)))
    return found


def test_what_all_judges_prefer_is_taken_out_and_intervals_narrow() -> None:
    held, narrower, fooled, cells = 0, 0, 0, 0
    for one, found in arenas(60):
        truth = 1500 + one.truth * POINTS
        lower, upper = found.bounds
        judged = anchored.by_judges(one)
        alone = fit(history(one), one.people, stratum=one.told_apart, trust=0.0)
        held += int(((lower < truth) & (truth < upper)).sum())
        fooled += int(((judged.lower < truth) & (truth < judged.upper)).sum())
        narrower += np.trace(found.covariance) < np.trace(alone.covariance)
        cells += 4
    assert 0.91 * cells <= held
    assert fooled < 0.5 * cells, "judges who share a taste are sure of what is wrong"
    assert narrower >= 55


def test_judges_who_say_nothing_are_left_out() -> None:
    assert np.mean([found.trust for _, found in arenas(20, bias=0.0, noise=60.0)]) < 0.5
    for _, found in arenas(20, bias=0.0, noise=60.0):
        assert found.effective > 60


def test_soft_votes_are_the_probability_that_people_agree() -> None:
    """Half of the judges toss coins: the calibration finds out which, and says how sure the others are."""
    rng = np.random.default_rng(7)
    truth = rng.logistic(0, 1, 6_000)
    good = np.where(rng.random((6_000, 2)) < 0.8, truth[:, None] > 0, truth[:, None] <= 0)
    votes = np.column_stack([good, rng.random((6_000, 2)) < 0.5]).astype(float)
    people = np.where(rng.random(6_000) < 0.2, (truth > 0).astype(float), np.nan)
    duel, judge = np.divmod(np.arange(votes.size), 4)
    found = calibrate(duel, judge, votes.ravel(), people, 4)
    assert found.weight[:2].min() > 0.55
    assert np.abs(found.weight[2:]).max() < 0.2
    for low in np.arange(0.05, 0.95, 0.1):
        here = (found.probability >= low) & (found.probability < low + 0.1)
        if here.sum() > 300:
            assert (truth[here] > 0).mean() == pytest.approx(found.probability[here].mean(), abs=0.06)
    swapped = calibrate(duel, judge, 1 - votes.ravel(), 1 - people, 4)
    assert swapped.probability == pytest.approx(1 - found.probability)


def test_no_soft_vote_knows_its_own_duel() -> None:
    one = made(3)
    before = one.soft
    row = int(np.flatnonzero(~np.isnan(one.people))[0])
    turned = one.people.copy()
    turned[row] = 1 - turned[row]
    assert one._replace(people=turned).soft[row] == before[row]


def test_bad_votes_are_named() -> None:
    one = made(4)
    played = history(one)
    with pytest.raises(ValueError, match="expected 300 scores of people"):
        fit(played, one.people[1:])
    with pytest.raises(ValueError, match="trust is 2"):
        fit(played, one.people, trust=2)
    with pytest.raises(ValueError, match="nobody voted"):
        fit(played, np.full(300, np.nan))
    with pytest.raises(ValueError, match=r"nobody voted on duels of the strata \[0\]"):
        fit(played, np.where(one.stratum == 0, np.nan, one.people), stratum=one.stratum)


def test_where_people_compare_nobody_a_tied_game_each_holds_the_ratings() -> None:
    """One vote of a person: with nothing from judges it is Bradley-Terry under the same prior."""
    played = duels(3, [0, 1, 0], [1, 2, 2], [0.9, 0.9, 0.9])
    people = np.array([1.0, np.nan, np.nan])
    alone = fit(played, people, trust=0.0)
    expected = fit_duels(duels(3, [0], [1], [1.0]))
    assert alone.groups == 3
    assert alone.rating == pytest.approx(expected.rating, abs=1e-6)
    assert np.isfinite(fit(played, people).rating).all()


@pytest.mark.slow
@pytest.mark.parametrize("case", anchored.CASES, ids=lambda case: case[0])
@pytest.mark.parametrize("size", anchored.SIZES, ids=str)
def test_intervals_cover(case: tuple[str, float, float], size: tuple[int, int, float]) -> None:
    """Of arenas of 100 to 2,000 duels, 10% to 30% of them annotated."""
    _, bias, noise = case
    players, count, share = size
    rows = []
    for seed in range(200):
        rng = np.random.default_rng([players, count, seed])
        one = anchored.arena(rng, players, count, share, bias, noise, telling=bool(seed % 2))
        rows.append(anchored.found(one))
    held, _, _, width, _ = np.nanmean(rows, axis=0)
    assert 0.92 <= held <= 0.985
    assert width <= 1.01
