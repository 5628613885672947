"""What `peerage export` writes is read back by the commands that read results."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import house, play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.values.figures import counted

cli = CliRunner()
FAULTS = {"refusing": 0.03, "malformed": 0.06, "failing": 0.02}
GAMES = {
    "duel": {"players": house(7, faults=FAULTS)},
    "color-obfuscation": {"game": "color-obfuscation", "rules": {}},
    "last-arena": {
        "players": house(4),
        "game": "last-arena",
        "rules": {"preset": "development", "questions": 2, "quality": "none"},
    },
}


@pytest.fixture(scope="module", params=GAMES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("exports") / request.param, **GAMES[request.param])
    play(made, 3 if request.param == "last-arena" else 40)
    return made


@pytest.fixture(scope="module")
def duels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("duels"))
    play(made, 40)
    return made


def command(*words: str, piped: str | None = None) -> str:
    done = cli.invoke(app, list(words), input=piped)
    assert done.exit_code == 0, done.output
    return done.stdout


def table(text: str) -> dict[str, Any]:
    keys = ("rank", "rating", "lower", "upper")
    return {row["player"]: tuple([row[key] for key in keys]) for row in json.loads(text) if row["rank"]}


def close(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether two tables say the same."""
    return found.keys() == wanted.keys() and all(
        found[name][0] == wanted[name][0] and found[name][1:] == pytest.approx(wanted[name][1:])
        for name in wanted
    )


def leaderboard(folder: Path, *words: str) -> dict[str, Any]:
    return table(command("leaderboard", "--dir", str(folder), "--format", "json", *words))


@pytest.mark.parametrize("shape", ["csv", "jsonl", "json"])
def test_an_exported_arena_is_rated_as_on_its_leaderboard(folder: Path, shape: str) -> None:
    written = command("export", "--dir", str(folder), "--format", shape)
    for track in ("bt", "trueskill"):
        rated = command("rate", "-", "--method", track, "--output", "json", piped=written)
        assert close(table(rated), leaderboard(folder, "--track", track))
    with open_arena(folder) as arena:
        without = sum(row.status != "done" for row in arena.ledger.summaries())
    left = counted(without, "match without a result is", "matches without a result are")
    assert (f"{left} left out" in command("rate", "-", piped=written)) == (without > 0)


@pytest.mark.parametrize("shape", ["csv", "jsonl", "json"])
def test_an_exported_arena_is_imported_as_it_was(folder: Path, shape: str, tmp_path: Path) -> None:
    file = tmp_path / f"arena.{shape}"
    file.write_text(command("export", "--dir", str(folder), "--format", shape), "utf-8")
    command("import", str(file), "--dir", str(tmp_path / "other"))
    assert close(
        leaderboard(tmp_path / "other", "--source", "outside", "--track", "bt"),
        leaderboard(folder, "--track", "bt"),
    )
    again = command("export", "--dir", str(tmp_path / "other"), "--format", "outside")
    rated = command("rate", "-", "--method", "bt", "--output", "json", piped=again)
    assert close(table(rated), leaderboard(folder, "--track", "bt"))


@pytest.mark.parametrize("shape", ["csv", "jsonl", "json"])
def test_without_a_method_exported_duels_give_the_bradley_terry_table(duels: Path, shape: str) -> None:
    written = command("export", "--dir", str(duels), "--format", shape)
    rated = command("rate", "-", "--output", "json", piped=written)
    assert close(table(rated), leaderboard(duels, "--track", "bt"))
    assert "TrueSkill" in command("rate", "-", "--draw-probability", "0.1", piped=written)


def test_the_files_of_a_tournament_are_read_back(folder: Path, tmp_path: Path) -> None:
    command("export", "--dir", str(folder), "--format", "valyrian", "--to", str(tmp_path / "files"))
    rated = command("rate", str(tmp_path / "files"), "--method", "bt", "--output", "json")
    assert close(table(rated), leaderboard(folder, "--track", "bt"))


def test_votes_leave_as_battles_and_are_rated_as_in_the_arena(duels: Path, tmp_path: Path) -> None:
    written = command("export", "--dir", str(duels), "--format", "votes")
    rows = [json.loads(line) for line in written.splitlines()]
    names = {"question_id", "model_a", "model_b", "winner", "judge", "tstamp", "weight"}
    assert rows
    assert all(row.keys() == names for row in rows)
    assert {row["winner"] for row in rows} == {"model_a", "model_b", "tie"}
    by_match: dict[str, float] = {}
    for row in rows:
        by_match[row["question_id"]] = by_match.get(row["question_id"], 0) + row["weight"]
    assert list(by_match.values()) == pytest.approx([1] * len(by_match))

    rated = command("rate", "-", "--method", "judge-aware", "--output", "json", piped=written)
    assert close(table(rated), leaderboard(duels, "--track", "judge-aware"))
    file = tmp_path / "votes.jsonl"
    file.write_text(written, "utf-8")
    command("import", str(file), "--dir", str(tmp_path / "other"))
    again = command("export", "--dir", str(tmp_path / "other"), "--format", "outside")
    rated = command("rate", "-", "--method", "judge-aware", "--output", "json", piped=again)
    assert close(table(rated), leaderboard(duels, "--track", "judge-aware"))


def test_a_name_that_looks_like_a_formula_keeps_its_spelling(tmp_path: Path) -> None:
    players = [
        {"name": name, "model": "house:0.5"} for name in ("@one", "two", "three", "four", "five", "six")
    ]
    play(write_arena(tmp_path, players), 8)
    written = command("export", "--dir", str(tmp_path), "--format", "csv")
    if "'@one" not in written:
        pytest.fail("the name is not escaped: this test says nothing")
    assert {row["player"] for row in csv.DictReader(io.StringIO(written))} >= {"'@one"}
    rated = command("rate", "-", "--output", "json", piped=written)
    assert "@one" in {row["player"] for row in json.loads(rated)}
