"""What commands say of hosts, and what is wrong with their settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import house, play
from tests.engine.run.test_hosts import arena, hosted, served
from tests.engine.run.test_waits import Clock, clock
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ledger.topics.uptimes import HostUp, record_of
from peerage.render.blocks import Facts, Rows
from peerage.settings import SettingsError, load
from peerage.values.figures import dollars
from peerage.views.arena.costs import costs_and_gains
from peerage.views.ending import ending
from peerage.views.stats.report import stats

__all__ = ["clock"]

cli = CliRunner()
LINEUP = [*house(4), *hosted(2)]
RIG = {"usd_per_hour": 3.6, "matches": 100}


def shown_hosts(folder: Path) -> Any:
    shown = cli.invoke(app, ["status", "--format", "json", "--dir", str(folder)])
    return json.loads(shown.output)["hosts"]


def test_status_shows_hours_held_and_costs_add_up(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, LINEUP, RIG)
    report = play(tmp_path, 12, clients=served(set(), []))
    here = ["--dir", str(tmp_path)]
    (past,) = shown_hosts(tmp_path)
    assert (past["host"], past["up_since_ms"], past["waiting"], past["starts"]) == ("rig", None, 0, 1)
    assert past["ended"] == "done"
    assert past["matches"] > 0
    assert past["matches_per_hour"] == pytest.approx(past["matches"] / past["hours"])
    assert past["cost_usd"] == pytest.approx(report.billed_nano / 1e9)
    with open_arena(tmp_path) as opened:
        found = stats(opened.reading)
        rows, bought = found.hosted, {one.player: one for one in found.costs}
        told = [*ending(opened.ledger, report, [], opened.settings.until, str)]
        shown = [*costs_and_gains(opened._tables())]
    assert [row.player for row in rows] == ["h0", "h1"]
    assert sum(row.hours for row in rows) == pytest.approx(past["hours"])
    both = sum((row.billed_usd or 0) + (row.unused_usd or 0) for row in rows)
    assert both == pytest.approx(past["cost_usd"])
    (facts,) = [block.facts for block in shown if isinstance(block, Facts)]
    held = next(fact.value for fact in facts if fact.title == "Hosts beyond calls")
    assert held == dollars(sum(row.unused_usd or 0 for row in rows))
    for row in rows:
        one = bought[row.player]
        assert one.cost_usd == pytest.approx((row.billed_usd or 0) + (row.unused_usd or 0))
        assert one.gpu_hours == row.hours
        assert one.matches_per_gpu_hour == pytest.approx(one.matches / row.hours)
    tables = [block for block in shown if isinstance(block, Rows)]
    assert "Hours held" in [column.title for column in tables[0].columns]
    assert bought["p0"].gpu_hours is None
    assert any("went into start and idle time of hosts" in line for line in told)
    text = cli.invoke(app, ["status", *here]).output
    assert "Hosts paid by the hour" in text
    assert all(part in text for part in ("rig", "Matches/h", "done"))
    assert "h0" in cli.invoke(app, ["stats", "--of", "hosted", *here]).output
    assert "Matches/h" in cli.invoke(app, ["stats", "--of", "costs", *here]).output


def test_any_command_stops_a_host_that_a_crash_left_up(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, LINEUP, RIG)
    play(tmp_path, 4, clients=served(set(), []))
    (before,) = shown_hosts(tmp_path)
    left = HostUp("rig", 1_800_000_000_000, ("h0",), 10**9, (), None, 1_800_000_060_000)
    record_of(tmp_path, "rig").write_bytes(msgspec.json.encode(left))
    shown = cli.invoke(app, ["status", "--dir", str(tmp_path)])
    assert "a crash had left the host rig up; it is stopped" in shown.output + shown.stderr
    (after,) = shown_hosts(tmp_path)
    assert (after["ended"], after["starts"]) == ("crashed", before["starts"] + 1)
    assert after["cost_usd"] - before["cost_usd"] == pytest.approx(1 / 60)
    assert cli.invoke(app, ["verify", "--dir", str(tmp_path)]).exit_code == 0


@pytest.mark.parametrize(
    ("player", "rig", "told"),
    [
        ({"host": "rog"}, {}, "has the host 'rog', which `hosts` does not name; did you mean 'rig'?"),
        ({"host": "rig", "gpu_hour_price": 1.0}, {}, "found both `host` and `gpu_hour_price`"),
        ({"host": "rig", "model": "openai:m"}, {}, "has a `host` and no address"),
        (
            {"host": "rig", "model": "openai:m", "base_url": "http://b/v1"},
            {},
            "does not say how it is started",
        ),
        ({"host": "rig"}, {"stop": ["x"]}, "found `stop` without `start`"),
        ({"host": "rig"}, {"start": ["x"], "ready": "gpu:8000"}, "'gpu:8000' is no address"),
        ({"host": "rig"}, {"usd_per_hour": -1}, "usd_per_hour"),
    ],
)
def test_what_is_wrong_with_hosts_is_said(
    tmp_path: Path, player: dict[str, Any], rig: dict[str, Any], told: str
) -> None:
    arena(tmp_path, [*house(3), {"name": "x", "model": "house:0.5", **player}], rig)
    with pytest.raises(SettingsError) as error:
        load(tmp_path)
    assert told in str(error.value)


def test_a_hosted_player_costs_what_its_host_does(tmp_path: Path) -> None:
    settings = load(arena(tmp_path, LINEUP, RIG))
    assert {one.gpu_hour_price for one in settings.players if one.host} == {3.6}
