"""A tournament is a match: interrupted anywhere it goes on, and replays to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.arenas import asked_again, head, paced, play, play_stopping_at, statuses, write_arena
from tests.engine.clients import Cast
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ledger.forms.codec import read_record
from peerage.players.client import Call, PlayerError
from peerage.views.tournament import tournament

RULES = {"preset": "development", "questions": 2, "quality": "none", "per_call": 1}


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
        story = opened.match(1)
    assert story.status == "done"
    assert story.detail["decided"].startswith("by the scores")
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


def test_a_lost_player_is_on_record_and_in_no_rating(tmp_path: Path) -> None:
    def down(call: Call, _: int) -> PlayerError | None:
        return PlayerError("down", kind="request") if call.key.split("/")[1] == "B" else None

    folder = arena(tmp_path)
    play(folder, 2, clients=Cast(down))
    with open_arena(folder) as opened:
        assert opened.verify().ok
        assert opened.replay().ok
        for row, summary in zip(opened.ledger.records(), opened.ledger.summaries(), strict=True):
            story = opened.match(row.number)
            lost = next(seat.player for seat in story.seats if seat.label == "B")
            record = read_record(row.body)
            assert summary.status == "done"
            assert len(summary.players) == len(summary.scores) == len(summary.costs) == 3
            assert lost not in summary.players
            assert set(record.outcome.scores) == {"A", "C", "D"}
            assert lost not in record.ratings["trueskill"]
            assert record.totals[lost].calls > 0
            shown = tournament(opened.ledger, row.number)
            assert shown.ranking[-1].player == lost
            assert shown.ranking[-1].rank is None
        assert {seat.player for seat in story.seats} == {"p0", "p1", "p2", "p3"}
        rows = {row.player: row for row in opened.leaderboard()}
        assert sum(row.matches for row in rows.values()) == 6
    said = CliRunner().invoke(app, ["match", "2", "--dir", str(folder)]).output
    assert f"{lost} (B) unranked" in said
    assert f"({lost} is unranked: the provider failed)" in said
