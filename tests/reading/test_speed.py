"""How long players take to answer: one figure, whoever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena
from tests.views.conftest import recorded
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.reading import speed
from peerage.reading.matches import Matches
from peerage.reading.scope import Scope
from peerage.reading.speed import quantile, speeds_of


def test_a_quantile_is_the_smallest_wait_that_holds_for_so_many() -> None:
    assert quantile({}, 0.5) is None
    assert quantile({1000: 1, 3000: 1}, 0.5) == 1.0
    assert quantile({3000: 2, 1000: 1}, 0.5) == 3.0
    assert quantile({1000: 19, 9000: 1}, 0.95) == 1.0


def test_speeds_are_those_of_the_statistics_while_all_matches_are_new(arena: Arena) -> None:
    found = speeds_of(arena.reading)
    stats = {one.player: (one.latency_p50_s, one.answers) for one in arena.stats().players}
    assert found == {player: took for player, took in stats.items() if took[1]}


def test_each_player_has_its_own_newest_matches(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "NEWEST", 3)
    last = recorded(arena)
    matches = list(Matches(arena.ledger).read(1, last))
    found = speeds_of(arena.reading)
    for player, took in found.items():
        mine = [one for one in matches if player in {seat.player for seat in one.fixture.seats}][-3:]
        answers = [
            step
            for one in mine
            for step in one.steps
            if step.player == player and step.role == "contestant" and step.stored and step.status != "void"
        ]
        assert took.answers == len(answers)
        assert took.seconds in {(step.row.latency_ms or 0) / 1e3 for step in answers if step.stored}
    topic = next(one.fixture.topic for one in matches if one.status == "done")
    some = speeds_of(arena.reading, Scope(topic=topic), ["p1"])
    assert set(some) <= {"p1"}


def test_who_was_placed_last_takes_no_answers_from_the_others(tmp_path: Path) -> None:
    """The newest matches of an arena may be of one player alone."""
    folder = write_arena(tmp_path, house(4))
    play(folder, 12)
    with open_arena(folder, create=False) as arena:
        before = speeds_of(arena.reading)
    goal = ("--until", "house:0.9 placed", "--player", "house:0.9", "--max-matches", "20")
    placed = CliRunner().invoke(app, ["run", *goal, "--yes", "--dir", str(folder)])
    assert placed.exit_code == 0, placed.output
    with open_arena(folder, create=False) as arena:
        after = speeds_of(arena.reading)
    assert all(after[player].answers >= took.answers for player, took in before.items())
    assert after["house:0.9"].answers == 8
