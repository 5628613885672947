import json
from pathlib import Path

from typer.testing import CliRunner

from peerage.cli.main import app

FILE = Path(__file__).parents[1] / "data/cob/data.json"
cli = CliRunner()


def test_import_and_export(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path / "arena")]
    first = cli.invoke(app, ["import", str(FILE), *where])
    assert first.exit_code == 0, first.output
    assert "10 battles entered, 0 were there already" in first.output
    assert "10 of 10 come out as recorded when broken encodings are ignored" in first.output
    assert "ally_failure: attacker, 2 come out otherwise" in first.output
    assert "0 battles entered, 10 were there" in cli.invoke(app, ["import", str(FILE), *where]).output
    assert cli.invoke(app, ["verify", *where]).exit_code == 0
    assert cli.invoke(app, ["replay", *where]).exit_code == 0
    written = cli.invoke(app, ["export", "--format", "cob", *where])
    assert len(json.loads(written.stdout)) == 10


def test_ignoring_moves_the_last_to_the_first(tmp_path: Path) -> None:
    def best(reading: str) -> list[str]:
        where = ["--dir", str(tmp_path / reading)]
        assert cli.invoke(app, ["import", str(FILE), *where, "--ally-failure", reading]).exit_code == 0
        table = cli.invoke(app, ["leaderboard", "--track", "raw", "--format", "json", *where])
        return [row["player"] for row in json.loads(table.stdout)]

    assert best("ignore")[0] == best("attacker")[-1] == "anthropic/claude-3.7-sonnet"


def test_an_arena_of_another_game_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text("players: [house:0.1, house:0.2]\n", "utf-8")
    shown = cli.invoke(app, ["import", str(FILE), "--dir", str(tmp_path)])
    assert shown.exit_code == 2
    assert "this arena plays 'duel'" in shown.stderr


def test_what_is_no_file_of_battles_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    shown = cli.invoke(app, ["import", str(tmp_path / "x.json"), "--dir", str(tmp_path)])
    assert shown.exit_code == 1
    assert "no data.json of the Color Obfuscation Benchmark" in shown.stderr
    assert not (tmp_path / "arena.yaml").exists()
