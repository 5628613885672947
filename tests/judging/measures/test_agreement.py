"""Agreement against tables worked out by hand and published ones."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.judging.measures.agreement import ChoicesByUnit, alpha, effective_votes, jackknife, ratio, spelt

# Krippendorff 2011, example C: four observers, twelve units, values missing.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[float(value) for value in column if value is not None] for column in zip(*OBSERVERS, strict=True)]


def rated(units: Sequence[Sequence[float]]) -> ChoicesByUnit:
    unit = [at for at, ratings in enumerate(units) for _ in ratings]
    return ChoicesByUnit(
        np.array(unit, np.int64), np.array([x for ratings in units for x in ratings], np.float64)
    )


def worth(weights: Sequence[float], correlation: float) -> float:
    one = np.ones(len(weights))
    return float(effective_votes(np.zeros(len(weights), np.int64), np.array(weights), one, correlation)[0])


def value(found: object) -> float:
    assert found is not None
    return found.value  # type: ignore[attr-defined, no-any-return]


def test_alpha_as_published() -> None:
    votes = spelt([[str(rating) for rating in unit] for unit in UNITS])
    assert value(alpha(votes)) == pytest.approx(0.743, abs=0.0005)
    assert value(alpha(rated(UNITS), "interval")) == pytest.approx(0.849, abs=0.0005)
    found = alpha(votes)
    assert found is not None
    assert found.units == 11, "the twelfth unit has one value"
    assert found.lower is not None
    assert found.lower < found.value < 1


def test_alpha_by_hand() -> None:
    """AA, AB: n = 4, three A. D_o: 2 of 4 ordered pairs differ within; n² - Σn_c² = 16 - 10 = 6."""
    assert value(alpha(spelt([["A", "A"], ["A", "B"]]))) == pytest.approx(1 - 3 * 2 / 6)
    # 1, 3 and 5, 5: within (1-3)² twice; over all pairs of 1 3 5 5: Σ = 2·(4 + 16 + 16 + 4 + 4 + 0) = 88
    assert value(alpha(rated([[1.0, 3.0], [5.0, 5.0]]), "interval")) == pytest.approx(1 - 3 * 8 / 88)


@pytest.mark.parametrize("units", [[], [["A"]], [["A", "A"], ["A", "A"]]])
def test_where_nothing_could_differ_nothing_is_claimed(units: list[list[str]]) -> None:
    assert alpha(spelt(units)) is None
    assert alpha(rated([[1.0] * len(unit) for unit in units]), "interval") is None


def test_perfect_agreement_has_no_bounds_that_could_be_believed() -> None:
    found = alpha(spelt([["A", "A"], ["B", "B"]]))
    assert found is not None
    assert (found.value, found.lower, found.upper) == (1, None, None)


def test_effective_votes() -> None:
    assert worth([1] * 5, 0) == pytest.approx(5)
    assert worth([1] * 5, 1) == pytest.approx(1)
    assert worth([0.2] * 5, 0.5) == pytest.approx(5 / 3), "n / (1 + (n - 1) ρ)"
    assert worth([1, 0, 0], 0) == pytest.approx(1)
    assert worth([2, 1, 1], -0.3) == pytest.approx(16 / 6), "Kish: (Σw)² / Σw²"
    both = effective_votes(np.array([1, 0, 1, 1, 0]), np.array([2.0, 1.0, 1.0, 1.0, 1.0]), np.ones(5), 0)
    assert both == pytest.approx([2, 16 / 6]), "unit by unit"
    panel = np.zeros(5, np.int64), np.ones(5)
    honest, coins, against = np.ones(5), np.array([1.0, 1, 1, 0, 0]), np.array([1.0, 1, 1, -1, -1])
    worths = [float(effective_votes(*panel, one, 0.0)[0]) for one in (honest, coins, against)]
    assert worths == pytest.approx([5, 9 / 5, 1 / 5]), "worse judges are worth less, not more"
    with pytest.raises(ValueError, match="not all 0"):
        worth([0, 0], 0)
    with pytest.raises(ValueError, match="below 0"):
        worth([2, -1], 0)


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    """For a mean the jackknife is s/√n: here s = 1, n = 4, t(3) = 3.18."""
    found = ratio([[1, 1], [2, 1], [2, 1], [3, 1]])
    assert found is not None
    assert found.value == 2
    assert found.upper == pytest.approx(2 + 3.182446 * (2 / 3) ** 0.5 / 2)
    assert ratio([]) is None
    assert ratio([[0, 0]]) is None
    lone = ratio([[1, 2]])
    assert lone == (0.5, None, None, 1)
    bounded = jackknife([[1, 1], [0, 1]], lambda total: total[:, 0] / total[:, 1], 0, 1)
    assert bounded == (0.5, 0, 1, 2)


VOTES = st.lists(st.lists(st.sampled_from("ABC"), min_size=1, max_size=5), max_size=12)


@given(VOTES, st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_names_of_votes_matter(units: list[list[str]], rng: object) -> None:
    shuffled = [rng.sample(unit, len(unit)) for unit in rng.sample(units, len(units))]  # type: ignore[attr-defined]
    renamed = [[{"A": "z", "B": "y", "C": "x"}[vote] for vote in unit] for unit in shuffled]
    found, again = alpha(spelt(units)), alpha(spelt(renamed))
    assert (found is None) == (again is None)
    if found is not None and again is not None:
        assert again.value == pytest.approx(found.value)
        assert found.value <= 1


@given(VOTES)
def test_alpha_is_the_mean_over_pairs_it_is_defined_by(units: list[list[str]]) -> None:
    paired = [unit for unit in units if len(unit) > 1]
    votes = [vote for unit in paired for vote in unit]
    within = sum(
        (a != b) / (len(unit) - 1)
        for unit in paired
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    overall = sum(
        (a != b) / (len(votes) - 1) for i, a in enumerate(votes) for j, b in enumerate(votes) if i != j
    )
    found = alpha(spelt(units))
    assert (found is None) == (overall == 0)
    if found is not None:
        assert found.value == pytest.approx(1 - within / overall)


@given(st.lists(st.lists(st.integers(0, 10), min_size=2, max_size=4), min_size=2, max_size=8))
def test_interval_alpha_ignores_scale_and_origin(units: list[list[int]]) -> None:
    found = alpha(rated(units), "interval")
    moved = alpha(rated([[3.0 * x - 7 for x in unit] for unit in units]), "interval")
    assert (found is None) == (moved is None)
    if found is not None and moved is not None:
        assert moved.value == pytest.approx(found.value)


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=9), st.floats(0, 1))
def test_votes_are_worth_between_one_and_their_number(weights: list[float], correlation: float) -> None:
    assert 1 - 1e-9 <= worth(weights, correlation) <= len(weights) + 1e-9
