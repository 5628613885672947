"""`peerage leaderboard` for people and for programs: every track, game, topic and weight."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from tests.engine.arenas import play, write_arena
from tests.views.leaderboard.test_board import UNLOGGED, copied
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.cli.read.leaderboard import Track
from peerage.render.blocks import Rows, texts
from peerage.render.cells import cells, fit
from peerage.render.rows import remarks
from peerage.render.terminal import text as text_of
from peerage.settings import suggest
from peerage.values.figures import interval
from peerage.views.leaderboard.board import board
from peerage.views.leaderboard.columns import table
from peerage.views.leaderboard.tracks import METHODS

cli = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("tables"), name="ours")
    play(made, 40)
    return made


def shown(folder: Path, *words: str, code: int = 0) -> str:
    done = cli.invoke(app, ["leaderboard", "--dir", str(folder), *words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("track", ["strength", "bt", "trueskill", "raw", "cost", "glicko2", "judge-aware"])
def test_intervals_and_chances_are_in_every_output_on_every_track(folder: Path, track: str) -> None:
    rows = json.loads(shown(folder, "--track", track, "--format", "json"))
    assert len(rows) == 7
    for row in rows:
        assert row["lower"] < row["upper"]
        assert (row["best"] is None) == (not row["bin"]) == (not METHODS[track].chances)
        assert (row["mu"] is None) == (row["sigma"] is None) == (track not in ("trueskill", "glicko2"))
    kept = list(csv.DictReader(io.StringIO(shown(folder, "--track", track, "--format", "csv"))))
    for row, line in zip(rows, kept, strict=True):
        assert float(line["lower"]) == row["lower"]
        assert line["bin"] == row["bin"]
        assert json.loads(line["above"]) == row["above"]
    digits = 1 if track == "trueskill" else 0
    for shape in ("table", "markdown"):
        text = shown(folder, "--track", track, "--format", shape)
        below = text[text.index("Player") :].splitlines()
        for row in rows:
            line = next(line for line in below if row["player"] in line)
            assert interval(row["lower"], row["upper"], f"{{:,.{digits}f}}".format) in line
        assert ("Best: the chance to be the best of all" in text) == (METHODS[track].chances)


def test_the_interval_of_a_skill_is_said_to_be_that_of_mu_and_holds_it(folder: Path) -> None:
    rows = json.loads(shown(folder, "--track", "trueskill", "--format", "json"))
    lines = list(csv.DictReader(io.StringIO(shown(folder, "--track", "trueskill", "--format", "csv"))))
    for row, line in zip(rows, lines, strict=True):
        kept = {key: float(line[key]) for key in ("rating", "lower", "upper", "mu", "sigma")}
        assert kept == {key: row[key] for key in kept}
        assert row["rating"] == pytest.approx(row["mu"] - 3 * row["sigma"])
        assert (row["lower"] + row["upper"]) / 2 == pytest.approx(row["mu"])
        assert row["upper"] - row["mu"] == pytest.approx(1.96 * row["sigma"], rel=1e-3)
        assert any("the interval is that of μ" in note for note in row["notes"])
    table = shown(folder, "--track", "trueskill").splitlines()
    header = next(line for line in table if "Player" in line)
    assert header.split()[1:9] == ["Player", "μ", "95%", "of", "μ", "μ", "-", "3σ"], "the interval by its μ"
    for row in rows:
        text = next(line for line in table[table.index(header) :] if row["player"] in line)
        text = re.sub(r"\(.*?\)", "", text)
        _, _, mu, interval, rating, sigma, *_ = text.replace(" – ", "–").split()
        low, high = map(float, interval.split("–"))
        assert (float(rating), float(sigma)) == (round(row["rating"], 1), round(row["sigma"], 1))
        assert low <= float(mu) <= high


@pytest.mark.parametrize(
    ("track", "method", "cost"),
    [
        ("bt", "Bradley-Terry, mean 1500", "neither the order of matches nor cost nor the spread"),
        ("trueskill", "TrueSkill, μ - 3σ", "neither cost nor the spread of ratings"),
        ("glicko2", "Glicko-2 in periods", "neither cost nor the spread of ratings"),
        ("raw", "sequential Elo, K = 16", "cost does not enter"),
        ("judge-aware", "Bradley-Terry on the judges' votes", "reliability: from"),
        ("cost", "sequential Elo, K = 16", "a contestant scores S - τ_c · C / (C_A + C_B)"),
    ],
)
def test_every_table_states_method_cost_and_propagation(
    folder: Path, track: str, method: str, cost: str
) -> None:
    for shape in ("table", "markdown"):
        text = shown(folder, "--track", track, "--format", shape)
        assert method.lower() in text.lower()
        assert cost.lower() in text.replace("\\", "").lower()
        assert "propagation" in text.lower()


def test_a_topic_alone_has_its_own_title_and_sums(folder: Path) -> None:
    topics = ("bridges", "tides", "bees")
    assert ", topic bees" in shown(folder, "--topic", "bees")
    parts = [json.loads(shown(folder, "--topic", topic, "--format", "json")) for topic in topics]
    whole = json.loads(shown(folder, "--format", "json"))
    for row in whole:
        mine = [one for part in parts for one in part if one["player"] == row["player"]]
        for key in ("matches", "wins", "draws", "losses", "void", "input_tokens"):
            assert sum(one[key] for one in mine) == row[key]
    assert {row["topic"] for row in parts[2]} == {"bees"}
    assert ", duel" in shown(folder, "--game", "duel")


def test_people_read_each_game_first(folder: Path, tmp_path: Path) -> None:
    colors = "UPDATE summaries SET game = 'color-obfuscation' WHERE number % 3 = 0"
    copied(folder, tmp_path, UNLOGGED, colors)
    for shape in ("table", "markdown"):
        titles = [line for line in shown(tmp_path, "--format", shape).splitlines() if "ours: " in line]
        ends = [title.strip("* ").removeprefix("ours: strength with 95% intervals") for title in titles]
        overall = "ours: share of wins over all games in percent, with 95% intervals"
        assert ends == [", color-obfuscation", ", duel", overall]
    alone = shown(tmp_path, "--game", "duel")
    assert alone.count("ours: ") == 1
    assert "(color-obfuscation 33.3%, duel 66.7%)" in shown(tmp_path, "--weight", "duel=2")
    whole = shown(tmp_path, "--track", "bt", "--weight", "duel=2")
    assert whole.count("Over 2 games, each match weighing: color-obfuscation 1 (") == 1
    assert ", duel 2 (" in whole
    rows = json.loads(shown(tmp_path, "--format", "json"))
    assert len(rows) == 7, "programs get one list"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--game", "dual"), "did you mean 'duel'?"),
        (("--topic", "art"), "no match is of the topic 'art'"),
        (("--weight", "duel"), "expected GAME=NUMBER"),
        (("--weight", "duel=much"), "expected GAME=NUMBER"),
        (("--weight", "duel=0"), "expected a number above 0"),
        (("--weight", "duel=2", "--track", "raw"), "it takes no weights of games"),
        (("--topic", "\x1b[2J"), "no match is of the topic"),
    ],
)
def test_what_cannot_be_is_told_in_words(folder: Path, words: tuple[str, ...], told: str) -> None:
    said = shown(folder, *words, code=2)
    assert told in said
    assert "\x1b" not in said


def test_columns_go_by_priority_and_with_them_their_notes(folder: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    with open_arena(folder, create=False) as arena:
        block = table(board(arena.reading))
    for width in (60, 80, 120):
        kept = {column.title for column in fit(cells(block), width).columns}
        assert {"Rank", "Player", "Rating", "95%", "Matches"} <= kept
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(width))
            text = re.sub(r"\x1b\[[\d;]*m", "", text_of([block], Terminal()))
        for title in ("Proven above", "$ per 100"):
            assert (f" {title}: " in text) == (title in kept)
        assert all(row.player in text for row in block.rows)


def test_a_part_of_a_long_name_finds_it() -> None:
    assert suggest("law", ["history", "law and public policy"]) == "; did you mean 'law and public policy'?"


def test_every_track_can_be_asked_for() -> None:
    from peerage.views.leaderboard.tracks import TRACKS

    assert set(get_args(Track)) == set(TRACKS)


def test_each_footnote_has_a_mark_of_its_own() -> None:
    rows = [{"player": f"p{n}", "notes": ["all", f"from match {n}", *["odd"] * (n == 11)]} for n in range(12)]
    found = remarks(Rows(rows, [*texts(player="Player")], remarks=lambda row: row["notes"]))
    assert found.shared == ["all"]
    assert [*found.own.items()][9:] == [
        ("from match 9", "\u00b9\u2070"),
        ("from match 10", "\u00b9\u00b9"),
        ("from match 11", "\u00b9\u00b2"),
        ("odd", "\u00b9\u00b3"),
    ]
    assert found.marks[11] == "\u00b9\u00b2,\u00b9\u00b3"
    assert len({*found.marks}) == 12


def test_statistics_and_players_begin_with_what_they_come_to(folder: Path) -> None:
    stats = cli.invoke(app, ["stats", "--dir", str(folder)]).output.partition("\n\n")[0].splitlines()
    assert len(stats) <= 5
    assert re.fullmatch(r"\d+ matches of 7 players: [\d,]+ calls, (\$\S+ billed|free)\.", stats[0])
    alone = cli.invoke(app, ["stats", "--of", "players", "--dir", str(folder)]).output
    assert stats[0] not in alone
    players = cli.invoke(app, ["players", "--dir", str(folder)]).output.splitlines()
    assert re.fullmatch(r"7 players of \d makers?(, .*)?\.", players[0])
