"""Ratings by category: pooled, each claim from its own battles, and what counts where."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from peerage import ratings
from peerage.ratings import categories
from peerage.ratings.categories import ALL, OTHERS

NAMES = ["ann", "bob", "cleo", "dan"]


def votes(count: int, seed: int, best: str = "ann", **more: Any) -> list[dict[str, Any]]:
    """Battles in which `best` wins nine of ten, and the others toss a coin."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        a, b = rng.permutation(NAMES)[:2].tolist()
        chance = 0.9 if a == best else 0.1 if b == best else 0.5
        winner = "model_a" if rng.random() < chance else "model_b"
        rows.append({"model_a": a, "model_b": b, "winner": winner, **more})
    return rows


def by(report: Any, category: str) -> dict[str, dict[str, Any]]:
    return {row["player"]: row for row in report.rows if row["category"] == category}


def test_each_category_has_its_own_best_and_a_small_one_borrows() -> None:
    rows = votes(600, 1, language="English") + votes(600, 2, "bob", language="Greek")
    rows += votes(8, 3, "ann", language="Thai")
    report = ratings.rate(rows, by="language")
    assert list(dict.fromkeys(row["category"] for row in report.rows)) == [ALL, "English", "Greek", "Thai"]
    assert by(report, "English")["ann"]["rank"] == 1
    assert by(report, "Greek")["bob"]["rank"] == 1
    assert set(by(report, "English")["ann"]["above"]) == {"bob", "cleo", "dan"}
    assert by(report, "Thai")["ann"]["above"] == []
    wide = [
        by(report, name)["ann"]["upper"] - by(report, name)["ann"]["lower"] for name in ("English", "Thai")
    ]
    assert wide[1] > 2 * wide[0]
    assert any("fewer than 30 battles a player" in note and "Thai" in note for note in report.notes)
    assert (
        by(report, "English")["ann"]["games"] + by(report, "Greek")["ann"]["games"]
        < by(report, ALL)["ann"]["games"]
    )
    for name in (ALL, "English", "Greek", "Thai"):
        assert sum(row["best"] for row in by(report, name).values()) == pytest.approx(1, abs=0.01)
    anchored = ratings.rate(rows, by="language", anchor="dan")
    assert {by(anchored, name)["dan"]["rating"] for name in ("English", "Greek", ALL)} == {1500.0}


def test_flags_lists_and_texts_of_them_put_a_battle_into_several_categories() -> None:
    tags = [{"v1": {"math": True, "code": at % 2 == 0}, "score": 3} for at in range(300)]
    rows = [{**row, "category_tag": tag} for row, tag in zip(votes(300, 4), tags, strict=True)]
    rows += [{**row, "category_tag": {"v1": {"math": False, "code": False}}} for row in votes(100, 5)]
    due = ratings.rate(rows, by="category_tag")
    assert {row["category"] for row in due.rows} == {ALL, "math", "code"}
    assert sum(row["games"] for row in by(due, "code").values()) == 300
    assert any("100 battles are in no category" in note for note in due.notes)
    texts = [{**row, "category_tag": json.dumps(row["category_tag"])} for row in rows]
    pythons = [{**row, "category_tag": repr(row["category_tag"])} for row in rows]
    lists = [
        {**row, "category_tag": [name for name, is_set in row["category_tag"]["v1"].items() if is_set]}
        for row in rows
    ]
    for other in (texts, pythons, lists):
        assert ratings.rate(other, by="category_tag").rows == due.rows
    assert ratings.rate(rows, by="category").rows == due.rows  # as releases of LMArena call it


def test_players_who_did_not_play_in_a_category_are_not_in_its_table() -> None:
    rows = votes(400, 6, kind="x") + [
        row | {"kind": "y"} for row in votes(400, 7) if "dan" not in row.values()
    ]
    report = ratings.rate(rows, by="kind")
    assert set(by(report, "y")) == {"ann", "bob", "cleo"}
    assert sum(row["best"] for row in by(report, "y").values()) == pytest.approx(1)


def test_of_many_categories_the_smallest_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "MOST", 3)
    rows = [row for at in range(6) for row in votes(40 + at, at, kind=f"k{at}")]
    report = ratings.rate(rows, by="kind")
    assert list(dict.fromkeys(row["category"] for row in report.rows)) == [ALL, "k5", "k4", OTHERS]
    assert f"{OTHERS}: the 4 categories with the fewest battles" in report.notes


def test_a_category_may_have_the_name_of_all_battles() -> None:
    report = ratings.rate(votes(40, 1, kind=ALL) + votes(40, 2, kind="x"), by="kind")
    assert {row["category"] for row in report.rows} == {ALL, f"“{ALL}”", "x"}


def test_categories_go_with_battles_alone() -> None:
    with pytest.raises(ValueError, match="no battle has a nothing; the columns are model_a, model_b, winner"):
        ratings.rate(votes(20, 1), by="nothing")
    with pytest.raises(ValueError, match="by does not go with the method elo"):
        ratings.rate(votes(20, 1, kind="x"), by="kind", method="elo")
    rows = votes(20, 1, kind="x", length_a=1, length_b=2)
    with pytest.raises(ValueError, match="not with control"):
        ratings.rate(rows, by="kind", controls="length")


def test_ties_of_two_bad_answers_weigh_what_they_are_given() -> None:
    rows = votes(200, 8)
    bad = [{"model_a": "ann", "model_b": "bob", "winner": "tie (bothbad)"}] * 60
    good = [row | {"winner": "tie"} for row in bad]
    rated = {weight: ratings.rate(rows + bad, both_bad=weight) for weight in (0.0, 0.5, 1.0)}
    ann = {weight: by_player(report)["ann"] for weight, report in rated.items()}
    assert rated[1.0].rows == ratings.rate(rows + good).rows
    assert rated[0.0].rows == ratings.rate(rows).rows
    assert ann[1.0]["rating"] < ann[0.5]["rating"] < ann[0.0]["rating"]
    assert "these are left out" in rated[0.0].notes
    assert "each of these counts 0.5 of a tie" in rated[0.5].notes
    half = [row | {"weight": 0.5} for row in good]
    assert ann[0.5]["rating"] == pytest.approx(by_player(ratings.rate(rows + half))["ann"]["rating"])
    with pytest.raises(ValueError, match="both_bad is 2: expected"):
        ratings.rate(rows, both_bad=2)


def by_player(report: Any) -> dict[str, dict[str, Any]]:
    return {row["player"]: row for row in report.rows}


def test_unknown_choices_are_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="method is 'bradley': expected one of auto, bt, bradley-terry, elo"):
        ratings.rate(votes(20, 1), method="bradley")
    with pytest.raises(ValueError, match="ties is 'rao-kupper': expected one of half, davidson"):
        ratings.rate(votes(20, 1), ties="rao-kupper")


def test_a_small_category_among_several_leans_on_the_battles_outside_it() -> None:
    rows = votes(600, 9, tags=["big"]) + votes(6, 10, "bob", tags=["big", "small"])
    small = by(ratings.rate(rows, by="tags"), "small")
    assert small["ann"]["rank"] == 1
    assert small["ann"]["rating"] > 1570
