"""The demo of every game of ours: from nothing to a table whose order is the true one."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.begin import doctor
from peerage.cli.begin.demo import demo_text, gauntlet_text
from peerage.cli.main import app
from peerage.games import GAMES
from peerage.players.prices import OUTPUT
from peerage.render.blocks import Rows
from peerage.render.cells import cells, fit
from peerage.settings import loads
from peerage.views.leaderboard.overall import FEW

cli = CliRunner()


@pytest.mark.parametrize(
    ("game", "matches"),
    [("color-obfuscation", "240"), ("last-arena", "50"), ("allocation", "60"), ("market", "120")],
)
def test_the_true_order_comes_out(game: str, matches: str, tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path)]
    shown = cli.invoke(app, ["demo", "--game", game, "--matches", matches, *where])
    assert shown.exit_code == 0, shown.output
    table = json.loads(cli.invoke(app, ["leaderboard", "--format", "json", *where]).stdout)
    skills = [float(row["player"].removeprefix("house:")) for row in table]
    assert skills[0] == max(skills)
    assert skills[-1] == min(skills)
    wrong = sum(a < b for at, a in enumerate(skills) for b in skills[at + 1 :])
    assert wrong <= 2, skills
    assert cli.invoke(app, ["replay", *where]).exit_code == 0
    assert (
        cli.invoke(app, ["demo", "--matches", matches, *where]).exit_code == 0
    )  # goes on without --game too


def test_a_battle_reads_round_by_round(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path)]
    cli.invoke(app, ["demo", "--game", "color-obfuscation", "--matches", "1", *where])
    shown = cli.invoke(app, ["match", "1", *where]).output
    told = [shown.index(words) for words in ("The result", "Round 1: ", "its ally", "try 1", "Round 2: ")]
    assert told == sorted(told)
    assert "Decided by" in shown or "A tie" in shown


def test_another_game_or_none_is_told(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path)]
    unknown = cli.invoke(app, ["demo", "--game", "color-obfuscatoin", *where])
    assert unknown.exit_code == 2
    assert "did you mean 'color-obfuscation'?" in unknown.stderr
    assert not (tmp_path / "arena.yaml").exists()
    (tmp_path / "arena.yaml").write_text("players: [house:0.1, house:0.2]\n", "utf-8")
    other = cli.invoke(app, ["demo", "--game", "color-obfuscation", *where])
    assert other.exit_code == 2
    assert "this arena plays 'duel'" in other.stderr


@pytest.mark.parametrize("game", ["code-golf", "bug-hunt"])
def test_programs_are_run_and_shown_with_their_verdicts(game: str, tmp_path: Path) -> None:
    pytest.importorskip("wasmtime")
    where = ["--dir", str(tmp_path)]
    shown = cli.invoke(app, ["demo", "--game", game, "--matches", "6", *where])
    assert shown.exit_code == 0, shown.output
    table = json.loads(cli.invoke(app, ["leaderboard", "--format", "json", *where]).stdout)
    skills = [float(row["player"].removeprefix("house:")) for row in table]
    assert min(skills[:2]) > 0.6
    assert max(skills[-2:]) < 0.5
    match = cli.invoke(app, ["match", "1", *where]).output
    programs = match.partition("The programs")[2] or match
    assert all(f"({label})" in programs for label in "ABCDEFGH"), "each player's program"
    assert "✓" in match
    with open_arena(tmp_path) as arena:
        assert arena.ledger.meta()["lag"] == "8", "a window of eight matches is eight rounds of one table"
    assert cli.invoke(app, ["replay", *where]).exit_code == 0


def test_a_tournament_of_two_is_for_development_and_no_failure(tmp_path: Path) -> None:
    players = "players: ['house:0.9', 'house:0.4']"
    (tmp_path / "arena.yaml").write_text(f"game: last-arena\nrules: {{preset: development}}\n{players}\n")
    where = ["--dir", str(tmp_path)]
    shown = cli.invoke(app, ["run", "--yes", "--max-matches", "1", *where])
    assert shown.exit_code == 0, shown.output
    assert "development" in shown.output
    assert cli.invoke(app, ["tournament", "show", "1", *where]).exit_code == 0


def test_a_challenge_exchange_plays_its_demo(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path)]
    shown = cli.invoke(app, ["demo", "--game", "challenge-exchange", "--matches", "40", *where])
    assert shown.exit_code == 0, shown.output
    table = json.loads(
        cli.invoke(app, ["leaderboard", "--track", "points", "--format", "json", *where]).stdout
    )
    assert table[0]["player"] > "house:0.6" > table[-1]["player"]
    listed = json.loads(cli.invoke(app, ["challenges", "list", "--format", "json", *where]).stdout)
    assert len(listed) > 20


def test_a_game_whose_extra_is_not_installed_says_which_and_how(tmp_path: Path) -> None:
    text = files("peerage.testing").joinpath("example.py").read_text("utf-8")
    game = tmp_path / "lacking.py"
    game.write_text(
        text.replace('name="example"', 'name="lacking", needs=Needs(extra=lambda rules: "puzzles")').replace(
            "Asks, GameSpec", "Asks, GameSpec, Needs"
        ),
        "utf-8",
    )
    for words in (["demo", "--game", str(game)], ["plan", "--matches", "100"], ["run"]):
        shown = cli.invoke(app, [*words, "--dir", str(tmp_path)])
        assert shown.exit_code == 2
        assert 'pip install "peerage[puzzles]"' in shown.stderr
        assert len(shown.stderr.splitlines()) == 1
    assert cli.invoke(app, ["games", "check", str(game)]).exit_code == 2
    found = {one.what: one for one in doctor.examine(tmp_path)}["puzzles"]
    assert (found.state, "peerage[puzzles]" in found.fix) == ("broken", True)


def test_a_gauntlet_is_of_every_game_that_can_be_played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    text, left_out = gauntlet_text(1)
    games = loads(text).lineup
    assert games.keys() | left_out.keys() == {*GAMES}
    assert all(game in why for game, why in left_out.items())
    assert {name: one.rules for name, one in games.items()} == {
        name: dict(GAMES[name].demo.rules) for name in games
    }
    monkeypatch.setattr("peerage.playing.requirements.image.installed", lambda: False)
    _, without_sandbox = gauntlet_text(1)
    assert 'pip install "peerage[sandbox]"' in without_sandbox["code-golf"]


def test_a_gauntlet_is_told_from_a_demo_of_one_game(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text("players: [house:0.1, house:0.2]\n", "utf-8")
    other = cli.invoke(app, ["demo", "--game", "gauntlet", "--dir", str(tmp_path)])
    assert other.exit_code == 2
    assert "this arena plays 'duel', and --game says 'gauntlet'" in other.stderr


def test_a_demo_of_several_games_ends_with_strengths_by_game(tmp_path: Path) -> None:
    text = demo_text(1, games={"color-obfuscation": {}, "allocation": {}})
    (tmp_path / "arena.yaml").write_text(text, "utf-8")
    shown = cli.invoke(app, ["demo", "--game", "gauntlet", "--matches", "24", "--dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.stderr
    assert "2 games, 8 players" in shown.stdout
    parts = [
        "shares of wins, game by game",
        "share of wins over all games",
        "done: 24 matches",
        "house:0.95, game by game",
    ]
    assert sorted(parts, key=shown.stdout.index) == parts
    empty = cli.invoke(app, ["stats", "--of", "outside", "--dir", str(tmp_path)])
    assert empty.exit_code == 0
    assert "Nothing of it is on record." in empty.stdout


def test_a_narrow_terminal_leaves_out_columns_of_strengths_and_keeps_the_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = demo_text(1, games={"color-obfuscation": {}, "allocation": {}})
    (tmp_path / "arena.yaml").write_text(text, "utf-8")
    assert cli.invoke(app, ["run", "--yes", "--max-matches", "6", "--dir", str(tmp_path)]).exit_code == 0
    drawn: list[Rows] = []
    monkeypatch.setattr(
        "peerage.cli.read.leaderboard.show_table", lambda block, *_, **__: drawn.append(block)
    )

    def kept(block: Rows, width: int) -> list[str]:
        return [column.key for column in fit(cells(block), width).columns]

    assert cli.invoke(app, ["leaderboard", "--by", "game", "--dir", str(tmp_path)]).exit_code == 0
    assert cli.invoke(app, ["players", "house:0.95", "--dir", str(tmp_path)]).exit_code == 0
    by_game, profile = drawn
    keys = [column.key for column in by_game.columns]
    narrow = kept(by_game, 40)
    assert narrow == keys[: len(narrow)]
    assert 2 <= len(narrow) < len(keys)
    assert "drawn" in kept(profile, 110)
    assert kept(profile, 60)[:5] == ["game", "rank", "share", "interval", "matches"]


@pytest.mark.slow
def test_the_gauntlet_tells_house_players_apart(tmp_path: Path) -> None:
    shown = cli.invoke(app, ["demo", "--game", "gauntlet", "--dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.stderr
    with open_arena(tmp_path, create=False) as arena:
        rows = arena.leaderboard()
    assert [row["player"] for row in rows] == sorted([row["player"] for row in rows], reverse=True)


def test_each_topic_of_the_demo_of_duels_gets_matches_enough_to_say_something() -> None:
    spec = GAMES["duel"]
    players, seats = len(OUTPUT), 2
    assert spec.demo.matches * seats / players / len(spec.demo.rules["topics"]) > FEW + 2
