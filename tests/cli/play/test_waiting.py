"""`peerage status`: what waits, and what ends it; and what a run says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena
from tests.engine.run.test_waits import Clock, sleepers, sound, third
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.run import words
from peerage.engine.run.report import RunReport
from peerage.playing import run as playing
from peerage.views.ending import ending

cli = CliRunner()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(playing, "now_ms", clock)
    return clock


def waiting(folder: Path, clock: Clock) -> RunReport:
    write_arena(folder, engine={"concurrency": 8})
    report = play(folder, 30, clients=sleepers(lambda name, call: 20 * third(name, call), clock))
    assert len(report.waiting) > 2
    return report


def test_it_lists_what_waits_for_whom_since_and_until_when(tmp_path: Path, clock: Clock) -> None:
    report, here = waiting(tmp_path, clock), ["--dir", str(tmp_path)]
    rows = json.loads(cli.invoke(app, ["status", "--format", "json", *here]).output)["waiting"]
    assert [row["match"] for row in rows] == sorted(one.match for one in report.waiting)
    known = {one.match: one for one in report.waiting}
    for row in rows:
        one = known[row["match"]]
        assert (row["player"], row["why"]) == (one.player, one.why)
        assert (row["since_ms"], row["until_ms"]) == (one.since_ms, one.until_ms)
        assert row["since_ms"] < row["until_ms"]
        assert len(row["players"]) == 2
    shown = cli.invoke(app, ["status", *here]).output
    assert "2023-11-14 22:" in shown
    assert rows[0]["player"] in shown


def test_a_run_says_how_many_matches_wait_and_for_whom(tmp_path: Path, clock: Clock) -> None:
    report = waiting(tmp_path, clock)
    with open_arena(tmp_path) as arena:
        said = "\n".join(ending(arena.ledger, report, (), arena.settings.until, str))
    for player in {one.player for one in report.waiting}:
        count = sum(one.player == player for one in report.waiting)
        assert (
            f"{count} match{'' if count == 1 else 'es'} wait{'s' if count == 1 else ''} for {player}" in said
        )
    assert "asleep" in said
    assert "status" in said


def test_the_live_view_says_so_too(tmp_path: Path, clock: Clock) -> None:
    report = waiting(tmp_path, clock)
    lines = list(words.waiting(report.waiting))
    assert sum(int(line.split()[0]) for line in lines) == len(report.waiting)
    told = re.compile(
        r"\d+ match(es)? waits? for p\d since 2023-11-14 22:\d\d UTC until 2023-11-15 .* UTC: asleep for .* h"
    )
    assert all(map(told.fullmatch, lines))


def test_a_match_is_dropped_without_a_result_and_the_reason_is_on_record(
    tmp_path: Path, clock: Clock
) -> None:
    report, here = waiting(tmp_path, clock), ["--dir", str(tmp_path)]
    number = min(one.match for one in report.waiting)
    done = cli.invoke(app, ["status", "--drop", str(number), *here])
    assert done.exit_code == 0, done.output
    shown = cli.invoke(app, ["match", str(number), "--format", "json", *here])
    assert json.loads(shown.output)["status"] == "dropped"
    left = json.loads(cli.invoke(app, ["status", "--format", "json", *here]).output)["waiting"]
    assert number not in [row["match"] for row in left]
    sound(tmp_path)
    with open_arena(tmp_path) as arena:
        (record,) = [row.body for row in arena.ledger.records() if row.number == number]
        assert b"dropped by the arena's owner" in record
    clock.passes(1000)
    again = play(tmp_path, 30)
    assert again.decided == 30
    sound(tmp_path)


def test_what_does_not_wait_is_not_dropped(tmp_path: Path, clock: Clock) -> None:
    report, here = waiting(tmp_path, clock), ["--dir", str(tmp_path)]
    over = min(set(range(1, 31)) - {one.match for one in report.waiting})
    for number in (over, 999):
        refused = cli.invoke(app, ["status", "--drop", str(number), *here])
        assert refused.exit_code == 1
        assert f"match {number} does not wait; those that do: " in refused.output
