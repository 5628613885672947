"""A tournament is a match: interrupted anywhere it goes on, and replays to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.arenas import asked_again, head, paced, play, play_stopping_at, statuses, write_arena

from peerage.arena import open_arena

RULES = {"preset": "development", "questions": 2, "quality": "none", "judgements_per_call": 1}


def arena(folder: Path, **rules: object) -> Path:
    return write_arena(folder, 4, game="last-arena", rules={**RULES, **rules})


@pytest.mark.parametrize("seconds", [0.5, 3.0, 9.0])
def test_interrupted_anywhere_it_ends_the_same(tmp_path: Path, seconds: float) -> None:
    whole, broken = arena(tmp_path / "whole"), arena(tmp_path / "broken")
    play(whole, 1)
    for again in range(3):
        play_stopping_at(broken, 1, seconds, paced(again))
    play(broken, 1)
    assert statuses(broken) == ["done"]
    assert head(broken) == head(whole)
    assert asked_again(broken) == 0


def test_it_replays_verifies_and_reads(tmp_path: Path) -> None:
    play(arena(tmp_path, answer_budgets=[20, 60], tricks=1, explain=True), 2)
    with open_arena(tmp_path) as opened:
        assert opened.replay().ok
        assert opened.verify().ok
        story = opened.transcript(1)
    assert story.status == "done"
    assert story.decided.startswith("by the scores")
    assert {"author", "judge", "contestant"} == {one.role for one in story.exchanges}
    assert not any("quality" in one.reply for one in story.exchanges)


def test_the_result_does_not_depend_on_how_many_are_asked_at_once(tmp_path: Path) -> None:
    heads = set()
    for calls in (1, 7, 64):
        folder = arena(tmp_path / str(calls))
        write_arena(folder, 4, game="last-arena", rules=RULES, engine={"calls": calls})
        play(folder, 1)
        heads.add(head(folder))
    assert len(heads) == 1
