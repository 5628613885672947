"""Student's t against its tables and against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t  # type: ignore[import-untyped]

from peerage.ratings.student import quantile
from peerage.ratings.table import t95


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
    assert t95(freedom) == quantile(0.95, freedom) == pytest.approx(value, rel=1e-8 if freedom < 4 else 4e-4)


def test_without_degrees_of_freedom_it_is_the_normal() -> None:
    assert t95(None) == pytest.approx(1.959963984540054, abs=1e-15)
    assert quantile(0.95, 10**9) == pytest.approx(t95(None), rel=1e-8)


@given(st.floats(0.001, 0.999), st.integers(1, 3))
def test_up_to_three_degrees_it_is_exact(confidence: float, freedom: int) -> None:
    assert quantile(confidence, freedom) == pytest.approx(t.ppf((1 + confidence) / 2, freedom), rel=1e-9)


@pytest.mark.parametrize("freedom", [4, 5, 9, 30, 499])
def test_from_four_degrees_it_is_close(freedom: int) -> None:
    confidence = np.linspace(0.05, 0.99, 50)
    found = [quantile(one, freedom) for one in confidence.tolist()]
    assert found == pytest.approx(t.ppf((1 + confidence) / 2, freedom), rel=2.5e-3)
