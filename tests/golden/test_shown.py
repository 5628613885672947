"""How the golden matches are shown: a change is seen, and a stranger could retell each."""

import json

import msgspec
import pytest
from tests.golden.shown import SHOWN, path, shown, view
from tests.golden.transcripts import HERE, MATCHES, on_file

from peerage.game.blocks import Grid, Quoted, ScoreLine, SeatName, TaskText, plain_blocks
from peerage.game.match import Fixture, Outcome
from peerage.games import GAMES
from peerage.reading import match as reading_match


@pytest.mark.parametrize("name", SHOWN)
def test_a_match_is_shown_as_on_file(name: str) -> None:
    hint = "if this is meant, run `python -m tests.golden.shown`"
    assert shown(name) == path(name).read_text("utf-8"), hint


def test_one_match_of_each_game_is_on_file() -> None:
    assert {MATCHES[name][0] for name in SHOWN} == {*GAMES, "rejudge"}
    assert {file.stem for file in HERE.glob("*.txt")} == set(SHOWN)


@pytest.mark.parametrize("name", MATCHES)
def test_every_game_shows_its_matches_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those in which replies were unusable, refused or missing: nothing falls back on the default."""
    monkeypatch.setattr(reading_match, "plain_blocks", None)
    found = view(name)
    assert found.note == ""
    asked = {one.key: one for one in found.exchanges}
    for block in found.blocks:
        if isinstance(block, Quoted) and block.key:
            assert asked[block.key].label == block.label
    outcome = on_file(name)["outcome"]
    lines = {block.label for block in found.blocks if isinstance(block, ScoreLine)}
    text = json.dumps(msgspec.to_builtins(found.blocks), ensure_ascii=False)
    cells = {
        cell.label
        for block in found.blocks
        if isinstance(block, Grid)
        for row in block.rows
        for cell in row
        if isinstance(cell, SeatName)
    }
    said = (label in lines | cells or found.player(label) in text for label in outcome["scores"])
    assert all(said) or found.why, "by its blocks, or by the sentence at its head"


@pytest.mark.parametrize("name", SHOWN)
def test_the_default_shows_any_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_match, "installed", lambda name: None)
    found = view(name)
    assert "not recomputable here" in found.note
    said = {block.key for block in found.blocks if isinstance(block, Quoted)}
    asked = [one.key for one in found.exchanges if one.role != "sandbox"]
    assert said <= set(asked)
    assert len(said) >= min(20, len(asked) // 2)
    scores = {block.label: block.score for block in found.blocks if isinstance(block, ScoreLine)}
    assert scores == found.scores
    if name in ("tasks", "bug-hunt"):
        assert any(isinstance(block, TaskText) for block in found.blocks)


def test_the_default_shows_what_there_is_of_nothing() -> None:
    found = view("duel-general")
    fixture = msgspec.convert(on_file("duel-general")["fixture"], Fixture)
    assert list(plain_blocks(fixture, Outcome(), {})) == []
    assert found.verdict
