"""Outside results on the leaderboard: alone, beside matches, and never unsaid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from peerage.cli.main import app

cli = CliRunner()
BATTLES = (
    "model_a,model_b,winner\n" + "x,y,model_a\n" * 6 + "x,y,model_b\n" * 3 + "y,z,model_a\nz,y,model_a\n"
)
GAMES = '[{"players": ["x", "w", "z"], "ranks": [1, 2, 2]}, {"players": ["w", "x"], "ranks": [1, 1]}]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.csv").write_text(BATTLES, "utf-8")
    (tmp_path / "g.json").write_text(GAMES, "utf-8")
    where = tmp_path / "arena"
    shown = cli.invoke(
        app, ["import", str(tmp_path / "b.csv"), str(tmp_path / "g.json"), "--dir", str(where)]
    )
    assert shown.exit_code == 0, shown.output
    return where


def table(folder: Path, *words: str) -> list[dict[str, Any]]:
    shown = cli.invoke(app, ["leaderboard", "--format", "json", "--dir", str(folder), *words])
    assert shown.exit_code == 0, shown.output
    rows: list[dict[str, Any]] = json.loads(shown.stdout)
    return rows


def test_a_table_without_matches_says_where_the_results_are(folder: Path) -> None:
    shown = cli.invoke(app, ["leaderboard", "--dir", str(folder)])
    assert "13 outside results are not counted; `leaderboard --source all` counts them too." in shown.output


def test_outside_results_alone(folder: Path) -> None:
    assert table(folder) == []
    rows = table(folder, "--source", "outside")
    found = {row["player"]: (row["matches"], row["wins"], row["draws"], row["losses"]) for row in rows}
    assert found == {"x": (11, 7, 1, 3), "y": (11, 4, 0, 7), "z": (3, 1, 0, 2), "w": (2, 0, 1, 1)}
    assert rows[0]["player"] == "x"
    assert rows[0]["cost_usd"] is None
    assert "13 outside results, not played here: b.csv (11, sha256 " in rows[0]["notes"][-1]
    assert "g.json (2, sha256 " in rows[0]["notes"][-1]
    for row in rows:
        assert row["lower"] < row["rating"] < row["upper"]
        assert 0 < row["best"] < 1
        assert row["bin"]


def test_the_same_ratings_as_the_command_gives(tmp_path: Path) -> None:
    file = tmp_path / "b.csv"
    file.write_text(BATTLES, "utf-8")
    where = ["--dir", str(tmp_path / "arena")]
    assert cli.invoke(app, ["import", str(file), *where]).exit_code == 0
    rated = json.loads(cli.invoke(app, ["rate", str(file), "--output", "json"]).stdout)
    shown = table(tmp_path / "arena", "--source", "outside", "--track", "bt")
    for mine, theirs in zip(shown, rated, strict=True):
        for key in ("player", "rating", "lower", "upper", "rank"):
            assert mine[key] == theirs[key]


@pytest.mark.parametrize("track", ["bt", "trueskill", "glicko2"])
def test_beside_matches_that_were_played(folder: Path, tmp_path: Path, track: str) -> None:
    played = tmp_path / "played"
    assert cli.invoke(app, ["demo", "--matches", "12", "--dir", str(played)]).exit_code == 0
    alone = table(played, "--track", track)
    assert not any("outside" in note for note in alone[0]["notes"])
    for name in ("b.csv", "g.json"):
        assert cli.invoke(app, ["import", str(tmp_path / name), "--dir", str(played)]).exit_code == 0
    same = table(played, "--track", track)
    assert [row["rating"] for row in same] == [row["rating"] for row in alone]
    assert "13 outside results are not counted" in same[0]["notes"][-1]
    both = table(played, "--track", track, "--source", "all")
    assert len(both) == len(alone) + 4
    assert sum(row["matches"] for row in both) == 24 + 27
    assert "not played here" in both[0]["notes"][-1]
    order = [row["player"] for row in both if row["player"].startswith("house")]
    assert sorted(order) == sorted(row["player"] for row in alone)
    assert cli.invoke(app, ["verify", "--dir", str(played)]).exit_code == 0
    assert cli.invoke(app, ["replay", "--dir", str(played)]).exit_code == 0


def test_what_outside_results_cannot_be_asked(folder: Path) -> None:
    for words, said in (
        (["--track", "raw"], "outside results have no track raw"),
        (["--game", "duel"], "duel"),
    ):
        shown = cli.invoke(app, ["leaderboard", "--source", "outside", "--dir", str(folder), *words])
        assert shown.exit_code == 2
        assert said in shown.stderr


def test_statistics_and_export_name_the_sources(folder: Path, tmp_path: Path) -> None:
    shown = cli.invoke(app, ["stats", "--of", "outside", "--format", "json", "--dir", str(folder)])
    assert [(row["source"], row["results"], row["players"]) for row in json.loads(shown.stdout)] == [
        ("b.csv", 11, 3),
        ("g.json", 2, 3),
    ]
    written = cli.invoke(app, ["export", "--format", "outside", "--dir", str(folder)])
    lines = [json.loads(line) for line in written.stdout.splitlines()]
    assert [line["source"] for line in lines] == ["b.csv"] * 11 + ["g.json"] * 2
    battles = tmp_path / "again.jsonl"
    battles.write_text("\n".join(written.stdout.splitlines()[:11]), "utf-8")
    again = json.loads(cli.invoke(app, ["rate", str(battles), "--output", "json"]).stdout)
    first = json.loads(cli.invoke(app, ["rate", str(tmp_path / "b.csv"), "--output", "json"]).stdout)
    assert again == first
