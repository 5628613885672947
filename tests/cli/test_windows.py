"""`peerage windows`, what other commands say of hosts, and what is wrong with their settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.engine.arenas import house, play
from tests.engine.test_hosts import arena, hosted, served
from tests.engine.test_waits import Clock, clock
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.ending import ending
from peerage.cli.main import app
from peerage.ledger.votes import PeopleVotes
from peerage.ledger.windows import Opened, record_of
from peerage.settings import SettingsError, load
from peerage.site.arena_pages import costs_page
from peerage.site.reading import Site
from peerage.tables.stats import stats

__all__ = ["clock"]

cli = CliRunner()
LINEUP = [*house(4), *hosted(2)]
RIG = {"usd_per_hour": 3.6, "matches": 100}


def test_it_shows_the_plan_and_the_past_and_costs_add_up(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, LINEUP, RIG)
    report = play(tmp_path, 12, clients=served(set(), []))
    here = ["--dir", str(tmp_path)]
    said = json.loads(cli.invoke(app, ["windows", "--format", "json", *here]).output)
    (plan,), (past,) = said["plan"], said["past"]
    assert (plan["host"], plan["players"], plan["waiting"], plan["open"]) == ("rig", ["h0", "h1"], 0, False)
    assert (plan["starts_at"], plan["longest_hours"], plan["most_usd"]) == (100, 8.0, 28.8)
    assert past["why"] == "done"
    assert past["busy_share"] >= 0.9
    assert past["matches_per_hour"] == pytest.approx(past["matches"] / past["hours"])
    assert past["cost_usd"] == pytest.approx(report.billed_nano / 1e9)
    with open_arena(tmp_path) as opened:
        found = stats(opened.ledger, opened.settings)
        rows, bought = found.hosted, {one.player: one for one in found.costs}
        told = [*ending(opened, report, [])]
        shown = costs_page(Site(opened.settings, opened.ledger, PeopleVotes(opened.ledger.address, tmp_path)))
    assert [row.player for row in rows] == ["h0", "h1"]
    assert sum(row.hours for row in rows) == pytest.approx(past["hours"])
    both = sum((row.billed_usd or 0) + (row.unused_usd or 0) for row in rows)
    assert both == pytest.approx(past["cost_usd"])
    assert shown.values["held"] == pytest.approx(sum(row.unused_usd or 0 for row in rows))
    for row in rows:
        one = bought[row.player]
        assert one.cost_usd == pytest.approx((row.billed_usd or 0) + (row.unused_usd or 0))
        assert one.gpu_hours == row.hours
        assert one.matches_per_gpu_hour == pytest.approx(one.matches / row.hours)
        assert one.bits_per_gpu_hour == pytest.approx(one.bits / row.hours)
    assert shown.values["hosted"]
    assert bought["p0"].gpu_hours is None
    assert any("went into start and idle time of hosts" in line for line in told)
    text = cli.invoke(app, ["windows", *here]).output
    assert "rig" in text
    assert "done" in text
    assert "h0" in cli.invoke(app, ["stats", "--of", "hosted", *here]).output
    assert "Bits/h" in cli.invoke(app, ["stats", "--of", "costs", *here]).output


def test_any_command_closes_a_window_that_a_crash_left_open(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, LINEUP, RIG)
    play(tmp_path, 4, clients=served(set(), []))
    left = Opened("rig", 1_800_000_000_000, ("h0",), 10**9, (), None, 1_800_000_060_000)
    record_of(tmp_path, "rig").write_bytes(msgspec.json.encode(left))
    shown = cli.invoke(app, ["queue", "--dir", str(tmp_path)])
    assert "a crash had left the host rig up; it is stopped" in shown.output + shown.stderr
    found = json.loads(cli.invoke(app, ["windows", "--format", "json", "--dir", str(tmp_path)]).output)
    assert found["past"][-1]["why"] == "crashed"
    assert found["past"][-1]["cost_usd"] == pytest.approx(1 / 60)
    assert cli.invoke(app, ["verify", "--dir", str(tmp_path)]).exit_code == 0


def test_without_hosts_it_says_so(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, house(4), RIG)
    text = tmp_path.joinpath("arena.yaml").read_text("utf-8")
    tmp_path.joinpath("arena.yaml").write_text(yaml.safe_dump({**yaml.safe_load(text), "hosts": {}}), "utf-8")
    play(tmp_path, 2)
    assert "no host is named" in cli.invoke(app, ["windows", "--dir", str(tmp_path)]).output


def test_hosts_are_shown_before_the_first_run(tmp_path: Path) -> None:
    arena(tmp_path, LINEUP, RIG)
    shown = cli.invoke(app, ["windows", "--dir", str(tmp_path)])
    assert (shown.exit_code, "rig" in shown.stdout, "100" in shown.stdout) == (0, True, True)
    assert not (tmp_path / "arena.db").exists()


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
        ({"host": "rig", "memory": 30}, {"memory": 24}, "takes 30 GB, and its host 'rig' has 24"),
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
