"""Outside results count: alone, beside matches, by file, and never unsaid."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.ledger import open_ledger
from peerage.ledger.topics.outside import Source, enter
from peerage.ratings.columns.history import pairings
from peerage.ratings.read import results
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.reading.results.outside import Outside, imported

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


def said(*words: str) -> str:
    shown = cli.invoke(app, list(words))
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())


def table(folder: Path, *words: str) -> list[dict[str, Any]]:
    shown = cli.invoke(app, ["leaderboard", "--format", "json", "--dir", str(folder), *words])
    assert shown.exit_code == 0, shown.output
    rows: list[dict[str, Any]] = json.loads(shown.stdout)
    return rows


def test_a_table_without_matches_counts_what_was_imported(folder: Path) -> None:
    for command in ("leaderboard", "verdict"):
        shown = said(command, "--dir", str(folder))
        assert "after 11 votes and 2 games." in shown
        assert "No match" not in shown
    assert "11 votes (b.csv) and 2 games (g.json)" in said("stats", "--dir", str(folder))
    assert "This counts 11 votes and 2 games of others too" in said("plan", "--dir", str(folder))
    assert "outside results: 11 of b.csv, 2 of g.json" in said("verify", "--dir", str(folder))
    alone = said("leaderboard", "--source", "played", "--dir", str(folder))
    assert "No match counts here, so there is nothing to say." in alone
    assert "11 votes and 2 games of others are not counted." in alone


def test_outside_results_alone(folder: Path) -> None:
    rows = table(folder, "--source", "outside")
    assert table(folder) == rows
    found = {row["player"]: (row["matches"], row["wins"], row["draws"], row["losses"]) for row in rows}
    assert found == {"x": (11, 7, 1, 3), "y": (11, 4, 0, 7), "z": (3, 1, 0, 2), "w": (2, 0, 1, 1)}
    assert rows[0]["player"] == "x"
    assert rows[0]["cost_usd"] is None
    assert "11 votes and 2 games of others, not played here: b.csv (11 votes, sha256 " in rows[0]["notes"][-1]
    assert "g.json (2 games, sha256 " in rows[0]["notes"][-1]
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
    same = table(played, "--track", track, "--source", "played")
    assert [row["rating"] for row in same] == [row["rating"] for row in alone]
    assert "11 votes and 2 games of others are not counted" in same[0]["notes"][-1]
    both = table(played, "--track", track)
    assert len(both) == len(alone) + 4
    assert sum(row["matches"] for row in both) == 24 + 27
    notes = " ".join(both[0]["notes"])
    assert "11 votes and 2 games of others, not played here" in notes
    assert "in outside results alone: w, x, y, z" in notes
    theirs = {row["player"]: row for row in both if row["status"] == "outside"}
    assert {*theirs} == {"w", "x", "y", "z"}
    assert {row["cost_usd"] for row in theirs.values()} == {None}
    assert [row["cost_usd"] for row in both if row["player"] not in theirs] != [None] * len(alone)
    for row in both:  # what is billed is what this arena was billed
        if row["player"] not in theirs:
            assert row["cost_usd"] == next(one["cost_usd"] for one in alone if one["player"] == row["player"])
    order = [row["player"] for row in both if row["player"].startswith("house")]
    assert sorted(order) == sorted(row["player"] for row in alone)
    assert cli.invoke(app, ["verify", "--dir", str(played)]).exit_code == 0
    assert cli.invoke(app, ["replay", "--dir", str(played)]).exit_code == 0


def test_one_file_is_asked_for_by_its_name_or_digest(folder: Path) -> None:
    votes = table(folder, "--source", "b.csv")
    assert {row["player"] for row in votes} == {"x", "y", "z"}
    digest = said("stats", "--of", "outside", "--format", "json", "--dir", str(folder))
    assert table(folder, "--source", json.loads(digest)[0]["sha256"][:12]) == votes
    shown = cli.invoke(app, ["verdict", "--source", "c.csv", "--dir", str(folder)])
    assert (shown.exit_code, "there are b.csv, g.json" in shown.stderr) == (2, True)


def test_two_players_are_compared_by_file(folder: Path) -> None:
    pair = json.loads(said("compare", "x", "y", "--format", "json", "--dir", str(folder)))
    assert [(met["source"], met["wins"], met["draws"], met["losses"]) for met in pair["met"]] == [
        ("", 6, 0, 3),
        ("b.csv", 6, 0, 3),
    ]
    back = json.loads(said("compare", "y", "x", "--format", "json", "--dir", str(folder)))
    assert [(met["wins"], met["losses"]) for met in back["met"]] == [(3, 6), (3, 6)]
    many = json.loads(said("compare", "w", "x", "--format", "json", "--dir", str(folder)))
    assert [(met["source"], met["wins"], met["draws"], met["losses"]) for met in many["met"]] == [
        ("", 0, 1, 1),
        ("g.json", 0, 1, 1),
    ]


def test_both_kinds_together_say_where_they_disagree_or_do_not_meet(tmp_path: Path) -> None:
    played = tmp_path / "played"
    assert cli.invoke(app, ["demo", "--matches", "12", "--dir", str(played)]).exit_code == 0
    with open_arena(played, create=False) as arena:
        best, *_, worst = [row.player for row in arena.leaderboard()]
    (tmp_path / "b.csv").write_text("model_a,model_b,winner\n" + "x,y,model_a\n" * 9, "utf-8")
    said("import", str(tmp_path / "b.csv"), "--dir", str(played))
    apart = said("verdict", "--dir", str(played))
    assert "after 9 votes and 12 matches." in apart
    assert "no chain of results connects" in apart
    (tmp_path / "c.csv").write_text(
        "model_a,model_b,winner\n" + f"{worst},{best},model_a\n{worst},x,model_a\n{worst},y,model_a\n" * 30,
        "utf-8",
    )
    said("import", str(tmp_path / "c.csv"), "--dir", str(played))
    shown = said("verdict", "--dir", str(played))
    assert "no chain of results" not in shown
    assert f"matches played here alone put {best} first; outside results alone put {worst} first" in shown


def test_an_arena_in_python_counts_them(folder: Path) -> None:
    with open_arena(folder, create=False) as arena:
        assert repr(arena) == "<Arena outside results, 4 players, 11 votes and 2 games>"
        matches = {row.player: row.matches for row in arena.leaderboard(source="b.csv")}
        assert matches == {"x": 9, "y": 11, "z": 2}
        verdict = arena.verdict(source="outside")
        assert (verdict.outside, verdict.matches) == ({"vote": 11, "game": 2}, 0)
        met = {(row.player, row.other): (row.wins, row.losses) for row in arena.head_to_head()}
        assert met["x", "y"] == (6, 3)
        assert met["z", "w"] == (0, 0)
        assert arena.verify().outside == {"b.csv": 11, "g.json": 2}
        assert "after 11 votes and 2 games." in arena._repr_html_()


def test_many_votes_beside_games_take_no_time(tmp_path: Path) -> None:
    """A table of rankings beside votes does not make a ranking of each vote."""
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    rng = np.random.default_rng(1)
    pairs = [rng.permutation(9)[:2] for _ in range(20_000)]
    votes = "model_a,model_b,winner\n" + "\n".join([f"m{a},m{b},model_a" for a, b in pairs])
    for name, body in (("v.csv", votes.encode()), ("g.json", GAMES.encode())):
        data = results.read([(name, io.BytesIO(body))])
        assert isinstance(data, Battles | PlayedGames)
        count = len(data.duels) if isinstance(data, Battles) else len(data.games)
        with ledger.runner():
            enter(ledger, Source(name, name, data.layout, data.names, count), data, 0)
    together = Outside(imported(ledger))
    made: list[int] = []
    with patch(
        "peerage.reading.results.outside.pairings", lambda part: made.append(len(part)) or pairings(part)
    ):
        assert len(together.history) == 20_000 + 4
    assert made == [2]
    assert together.evidence.matches == 20_002
    assert len(together.evidence.rankings) == 1
    assert len(together.tables) == 20_002
    assert together.counts == {"vote": 20_000, "game": 2}
    ledger.close()


def test_what_outside_results_cannot_be_asked(folder: Path) -> None:
    for words, said in (
        (["--track", "raw"], "outside results have no track raw"),
        (["--game", "duel"], "duel"),
        (["--side", "wolves"], "outside results have no game, topic or side"),
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
    said("export", "--format", "outside", "--to", str(tmp_path / "files"), "--dir", str(folder))
    battles, games = sorted((tmp_path / "files").glob("*.jsonl"))
    for file, source in ((battles, {"b.csv"}), (games, {"g.json"})):
        assert {json.loads(line)["source"] for line in file.read_text("utf-8").splitlines()} == source
    again = json.loads(cli.invoke(app, ["rate", str(battles), "--output", "json"]).stdout)
    first = json.loads(cli.invoke(app, ["rate", str(tmp_path / "b.csv"), "--output", "json"]).stdout)
    assert again == first


def test_an_arena_of_outside_results_alone_names_them_and_their_players(folder: Path) -> None:
    where = ("--dir", str(folder))
    assert "11 votes and 2 games on record." in said("status", *where)
    assert json.loads(said("status", "--format", "json", *where))["outside"] == {"vote": 11, "game": 2}
    assert said("players", *where).startswith("4 players of outside results. ")
    with open_arena(folder) as arena:
        assert [(row.player, row.model) for row in arena.players] == [(name, "") for name in "xyzw"]


def test_answers_are_counted_alike_everywhere(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("player,challenge,solved\nx,1,1\ny,1,0\nx,2,1\ny,2,1\n", "utf-8")
    where = ("--dir", str(tmp_path / "arena"))
    assert "a.csv: 4 answers of 2 players" in said("import", str(tmp_path / "a.csv"), *where)
    assert "outside results: 4 of a.csv" in said("verify", *where)
    said("export", "--format", "outside", "--to", str(tmp_path / "files"), *where)
    again = ("--dir", str(tmp_path / "again"))
    assert "4 answers of 2 players" in said("import", str(tmp_path / "files"), *again)
    assert "after 4 answers." in said("verdict", *again)


def test_several_kinds_are_exported_a_file_each_and_imported_again(folder: Path, tmp_path: Path) -> None:
    where, to, again = ("--dir", str(folder)), str(tmp_path / "files"), ("--dir", str(tmp_path / "again"))
    refused = cli.invoke(app, ["export", "--format", "outside", *where])
    assert (refused.exit_code, "`--to FOLDER` writes one for each" in " ".join(refused.stderr.split())) == (
        2,
        True,
    )
    assert "wrote 2 files into" in said("export", "--format", "outside", "--to", to, *where)
    assert "11 votes of 3 players" in said("import", to, *again)
    same = ("player", "rating", "lower", "upper", "best", "above")
    assert [[row[key] for key in same] for row in table(tmp_path / "again")] == [
        [row[key] for key in same] for row in table(folder)
    ]


def test_outside_results_alone_are_signed_published_and_verified(folder: Path, tmp_path: Path) -> None:
    where, key = ("--dir", str(folder)), ("--key", str(tmp_path / "key"))
    cli.invoke(app, ["checkpoint", "--new-key", *key, *where])
    assert "its public key:" in said("checkpoint", *key, *where)
    said("site", "publish", str(tmp_path / "results"), *where)
    shown = said("verify", str(tmp_path / "results"))
    assert "outside results: 11 of b.csv, 2 of g.json" in shown
    assert "by 0 matches and 0 entries" in shown
    refused = cli.invoke(app, ["leaderboard", "--dir", str(tmp_path / "results")])
    assert refused.exit_code == 2
    assert "holds published results; `peerage verify FOLDER` checks them" in " ".join(refused.stderr.split())


def test_what_outside_results_do_not_have_is_said_of_them(folder: Path, tmp_path: Path) -> None:
    where = ("--dir", str(folder))
    for words in (("players", "x"), ("compare", "x", "y", "--not-worse-by", "5%")):
        shown = cli.invoke(app, [*words, *where])
        assert shown.exit_code == 2
        assert "no match was played here by x, which is in outside results alone" in " ".join(
            shown.stderr.split()
        )
    assert "nothing is written: no match was played here; `--format outside`" in said("export", *where)
    said("report", str(tmp_path / "r.html"), *where)
    assert "the ledger of 11 votes and 2 games, head" in (tmp_path / "r.html").read_text("utf-8")
