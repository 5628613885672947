"""Published judgements against each other: what docs/judging-figures.md says of peers and people."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bench import validity

PAGE = Path(__file__).parents[2] / "docs" / "judging-figures.md"


def test_ratings_are_those_of_the_page() -> None:
    rows = dict(
        re.findall(
            r"^\| (gpt-4|claude|vicuna|gpt-3\.5|bard) \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE
        )
    )
    assert tuple(rows) == validity.MODELS
    for column, whose in enumerate(("peers", "GPT-4 alone", "annotators")):
        found = validity.ratings(validity.published(whose))
        assert [round(rating) for rating in found] == [int(row.split(" | ")[column]) for row in rows.values()]


def test_shares_of_two_models_sum_to_all() -> None:
    for whose in validity.SHARES:
        share = validity.published(whose).share
        assert share + share.T == pytest.approx(np.ones((5, 5)))
        again = validity.drawn(np.random.default_rng(1), validity.published(whose)).share
        assert (again + again.T)[~np.eye(5, dtype=bool)] == pytest.approx(1)
        assert 0 < np.abs(again - share)[~np.eye(5, dtype=bool)].max() < 0.3


def test_agreement_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    up = np.arange(4.0)
    assert validity.correlations(up, -up) == pytest.approx((-1, -1))
    assert validity.correlations(up, np.array([0.0, 2, 1, 3])) == pytest.approx((0.8, 4 / 6))
    assert validity.correlations(up, np.array([0.0, 1, 1, 3]))[1] == pytest.approx(5 / np.sqrt(6 * 5))
    monkeypatch.setattr(validity, "DRAWS", 60)
    found = validity.agreement(validity.published("peers"), validity.published("annotators"))
    assert found.same == 10
    assert (found.rho[0], found.tau[0]) == pytest.approx((1, 1))
    assert 0 < found.tau[1] <= found.tau[2] <= 1
