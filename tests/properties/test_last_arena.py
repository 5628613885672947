"""Laws of a whole tournament: what judges may do without changing who wins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.offline import fixture, play, points, scripted

from peerage.formats import Questions, Scores, Text
from peerage.game.protocol import Ask
from peerage.games.last_arena import GAME as LAST_ARENA

RULES = {"preset": "development", "seats": 4, "questions": 1, "quality": "none", "per_call": 4}
WORTH = st.lists(st.integers(4, 12).map(lambda half: half / 2), min_size=16, max_size=16)
STRICT = st.lists(st.integers(-4, 6).map(lambda half: half / 2), min_size=4, max_size=4)


def standings(worth: Sequence[float], strict: Sequence[float], **rules: Any) -> dict[str, Any]:
    """A tournament in which every answer states what it is worth, and judges differ in strictness alone."""

    def say(ask: Ask, player: str) -> str:
        if isinstance(ask.expects, Questions):
            return points(ask, 7)
        if isinstance(ask.expects, Text):
            _, label, question = ask.key.split("/")
            return f"worth {worth[4 * 'ABCD'.index(label) + 'ABCD'.index(question[0])]}"
        if ask.key.startswith("rate/"):
            return points(ask, 5)
        fill = ask.messages[-1].fill
        works = [value.text for key, value in fill.items() if key.startswith("work")]  # type: ignore[union-attr]
        given_ = [float(text.split()[1]) + strict["ABCD".index(ask.to)] for text in works]
        return json.dumps({"scores": given_} if isinstance(ask.expects, Scores) else {"score": given_[0]})

    made = fixture(LAST_ARENA, [f"player {at}" for at in range(4)], {**RULES, **rules})
    outcome = play(LAST_ARENA, made, scripted(say)).outcome
    assert not outcome.void
    found: dict[str, Any] = outcome.detail["standings"]
    return found


@settings(max_examples=12, deadline=None)
@given(WORTH, STRICT)
def test_strictness_changes_nothing(worth: list[float], strict: list[float]) -> None:
    usual, moved = standings(worth, [0.0] * 4), standings(worth, strict)
    for label, one in usual.items():
        assert moved[label]["score"] == pytest.approx(one["score"], abs=1e-4), label
        assert moved[label]["rank"] == one["rank"]


@settings(max_examples=12, deadline=None)
@given(WORTH)
def test_differences_shrink_by_what_judges_cannot_see_and_keep_their_order(worth: list[float]) -> None:
    """1 - 1/(n - 1)², for n = 4: see `judging.scores.standing.normalised`."""
    found = standings(worth, [0.0] * 4)
    means = {label: sum(worth[4 * at : 4 * at + 4]) / 4 for at, label in enumerate("ABCD")}
    for a in "ABCD":
        seen = found[a]["score"] - found["A"]["score"]
        assert seen == pytest.approx((1 - 1 / 9) * (means[a] - means["A"]), abs=1e-4)


@settings(max_examples=8, deadline=None)
@given(WORTH, st.integers(1, 8))
def test_how_many_items_a_call_holds_changes_nothing(worth: list[float], size: int) -> None:
    assert standings(worth, [0.0] * 4, per_call=size) == standings(worth, [0.0] * 4)
