"""Mean scores on the same samples, and their differences."""

from __future__ import annotations

import numpy as np
import pytest

from peerage import ratings
from peerage.ratings.paired import bounds, compared


def test_fine_grades_have_students_interval() -> None:
    gaps = np.random.default_rng(1).normal(0.1, 0.2, 12)
    lower, upper = bounds(gaps)
    half = 2.200985 * gaps.std(ddof=1) / np.sqrt(12)  # Student's t, 11 degrees
    assert (lower, upper) == pytest.approx((gaps.mean() - half, gaps.mean() + half))


def test_alike_samples_still_leave_something_open() -> None:
    for gaps in (np.zeros(10), np.ones(10)):
        lower, upper = bounds(gaps)
        assert upper - lower > 0.1
        assert lower <= gaps[0] <= upper


def test_right_or_wrong_has_pseudo_samples() -> None:
    """Of ten differences, two for one and one for the other, c is 7/9: 0.39 pseudo-samples."""
    gaps = np.array([1.0, 1.0, -1.0, *[0.0] * 7])
    n = 10 + 7 / 18
    middle, second = 1 / n, (3 + 7 / 36) / n
    half = 2.262157 * np.sqrt((second - middle**2) / (n - 1))  # Student's t, 9 degrees
    assert bounds(gaps) == pytest.approx((middle - half, middle + half), abs=1e-6)


def test_differences_are_paired_and_only_of_common_samples() -> None:
    rng = np.random.default_rng(2)
    level = rng.random(60)
    scores = np.stack([np.minimum(level + 0.1, 1), level, level + rng.normal(0, 0.01, 60)]).clip(0, 1)
    scores[2, :20] = np.nan
    rows, listed, notes = compared("abc", scores)
    first = next(pair for pair in listed if pair["samples"] == 60)
    assert (first["first"], first["other"], first["apart"]) == ("a", "b", True)
    assert first["upper"] - first["lower"] < 0.03  # the levels of samples cancel out
    assert [pair["samples"] for pair in listed if "c" in (pair["first"], pair["other"])] == [40, 40]
    assert all(pair["difference"] >= 0 for pair in listed)
    assert "b" in {row["player"]: row["above"] for row in rows}["a"]
    assert any(note.startswith("not everybody answered every sample") for note in notes)
    assert compared("ab", scores[:2, :1])[1] == ()


def test_answers_are_compared_sample_by_sample() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"player": player, "challenge": f"s{sample}", "solved": bool(rng.random() < chance)}
        for sample in range(40)
        for player, chance in (("strong", 0.9), ("weak", 0.3), ("weaker", 0.25))
        for _ in range(3)
    ]
    report = ratings.rate(rows, method="paired")
    assert report.rows[0]["player"] == "strong"
    assert report.rows[0]["above"] == ["weak", "weaker"]
    assert report.rows[0]["samples"] == 40
    assert [(pair["first"], pair["other"]) for pair in report.pairs[:2]] == [
        ("strong", "weak"),
        ("strong", "weaker"),
    ]
    assert any("of 95% for 3 pairs together" in note for note in report.notes)
    assert any("further tries" in note for note in report.notes)
    turned = ratings.rate(rows[::-1], method="paired")
    assert [row["lower"] for row in turned.rows] == pytest.approx([row["lower"] for row in report.rows])
    with pytest.raises(ValueError, match="paired cannot rate these data"):
        ratings.rate([{"model_a": "x", "model_b": "y", "winner": "tie"}], method="paired")
