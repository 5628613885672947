import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.judging.panels.panel import Scheme, weights

RATINGS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
SCHEMES = st.sampled_from(["softmax", "proportional", "equal"])


@given(RATINGS, SCHEMES, st.floats(0.01, 1e6))
def test_weights_are_shares(ratings: list[float], scheme: Scheme, temperature: float) -> None:
    found = weights(ratings, scheme, temperature)
    assert len(found) == len(ratings)
    assert all(0 <= weight <= 1 for weight in found)
    assert math.fsum(found) == pytest.approx(1)


@given(RATINGS, SCHEMES)
def test_a_higher_rating_never_weighs_less(ratings: list[float], scheme: Scheme) -> None:
    pairs = sorted(zip(ratings, weights(ratings, scheme), strict=True))
    assert all(low[1] <= high[1] for low, high in pairwise(pairs))


@given(st.lists(st.integers(0, 4000), min_size=1, max_size=9), st.integers(-1000, 1000))
def test_softmax_sees_differences_only(ratings: list[int], shift: int) -> None:
    moved = weights([float(rating + shift) for rating in ratings], "softmax")
    assert moved == pytest.approx(weights([float(rating) for rating in ratings], "softmax"))


def test_softmax_by_the_formula() -> None:
    first, second = weights([1800, 1500], "softmax", 300)
    assert first / second == pytest.approx(math.e)


def test_proportional() -> None:
    assert weights([1500, 3000], "proportional") == pytest.approx((1 / 3, 2 / 3))
    assert weights([-5, 1000], "proportional") == (0, 1)
    assert weights([-5, 0], "proportional") == (0.5, 0.5)


@pytest.mark.parametrize("scheme", ["softmax", "proportional", "equal"])
def test_extremes(scheme: Scheme) -> None:
    assert weights([], scheme) == ()
    assert sum(weights([1e308, -1e308, 1e308], scheme)) == pytest.approx(1)
    with pytest.raises(ValueError, match="finite"):
        weights([math.nan], scheme)


def test_temperature_must_be_positive() -> None:
    with pytest.raises(ValueError, match="above 0"):
        weights([1500], "softmax", 0)
