"""Student's t against its tables and against SciPy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t  # type: ignore[import-untyped]

from peerage.ratings.table import quantile


@pytest.mark.parametrize(
    ("freedom", "value"),
    [
        (1, 12.706204736),
        (2, 4.302652730),
        (3, 3.182446305),
        (4, 2.776445105),
        (9, 2.262157163),
        (499, 1.964729),
    ],
)
def test_the_tables_are_met(freedom: int, value: float) -> None:
    assert quantile(0.95, freedom) == pytest.approx(value, rel=1e-6)


def test_without_degrees_of_freedom_it_is_the_normal() -> None:
    assert quantile(0.95, 10**9) == pytest.approx(1.959963984540054, rel=1e-8)


@given(st.floats(0.001, 0.999999), st.integers(1, 200))
def test_it_is_exact_far_out_too(confidence: float, freedom: int) -> None:
    assert quantile(confidence, freedom) == pytest.approx(t.ppf((1 + confidence) / 2, freedom), rel=2e-6)
