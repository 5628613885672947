"""The demo from an empty folder to a table that can be checked, and going on where it stopped."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from tests.engine.arenas import patience
from tests.ledger import forger
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.cli.play.run import play_to_end
from peerage.players.client import Answer, Call
from peerage.players.house import HouseClient
from peerage.players.keys import PROVIDERS

cli = CliRunner()
KEYS = {"player", "model", "track", "rating", "matches", "wins", "draws", "losses", "cost_usd"}


def peerage(*words: str, code: int = 0) -> str:
    done = cli.invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arena") / "demo"
    said = peerage("demo", "--matches", "24", "--seed", "3", "--dir", str(folder))
    assert "24 matches, 24 of them now" in said
    assert str(folder / "arena.db") in said
    assert f"peerage match 1 --dir {folder}" in said
    return folder


@pytest.mark.parametrize("track", ["bt", "raw", "cost"])
def test_the_leaderboard_as_json_keeps_its_contract(demo: Path, track: str) -> None:
    rows = json.loads(peerage("leaderboard", "--dir", str(demo), "--format", "json", "--track", track))
    assert len(rows) == 8
    assert all(row.keys() >= KEYS for row in rows)
    assert {row["model"] for row in rows} >= {"house:0.95", "house:0.2"}
    assert {row["track"] for row in rows} == {track}
    assert sum(row["matches"] for row in rows) + sum(row["void"] for row in rows) == 48
    assert all(row["wins"] + row["draws"] + row["losses"] == row["matches"] for row in rows)
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)


def test_the_leaderboard_for_people(demo: Path) -> None:
    shown = peerage("leaderboard", "--dir", str(demo), "--track", "cost")
    assert "house:0.95" in shown
    assert "Propagation on: width 50 Elo" in shown
    assert "A contestant scores S - τ_c · C / (C_A + C_B)" in shown
    csv = peerage("leaderboard", "--dir", str(demo), "--format", "csv").splitlines()
    assert len(csv) == 9
    assert csv[0].startswith("rank,")
    assert peerage("leaderboard", "--dir", str(demo), "--format", "markdown").startswith("**Pick ")


def test_a_demo_goes_on_where_it_stopped_and_stands_where_an_unbroken_one_stands(
    demo: Path, tmp_path: Path
) -> None:
    for matches in ("10", "24"):
        said = peerage("demo", "--matches", matches, "--seed", "3", "--dir", str(tmp_path / "two"))
    assert "24 matches, 14 of them now" in said
    whole, halves = (
        peerage("leaderboard", "--format", "json", "--track", "raw", "--dir", str(folder))
        for folder in (demo, tmp_path / "two")
    )
    assert whole == halves
    again = peerage("demo", "--matches", "24", "--dir", str(tmp_path / "two"))
    assert "24 matches, 0 of them now" in again


def test_what_to_do_next_can_be_done(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = peerage("demo", "--matches", "24", "--seed", "3", "--dir", str(demo))
    lines = said[said.index("next: ") + len("next: ") :].splitlines()
    commands = [shlex.split(line.strip().partition("    ")[0].partition("  ")[0])[1:] for line in lines]
    assert {words[0] for words in commands} == {"serve", "match", "stats", "verify", "report", "init"}
    for words in commands:
        if words[0] != "serve":  # which never ends
            peerage(*words)
    assert (tmp_path / "my-arena" / "arena.yaml").is_file()


def test_another_seed_on_a_begun_arena_is_refused(demo: Path) -> None:
    assert "seed in arena.yaml" in peerage("demo", "--seed", "4", "--dir", str(demo), code=2)


def test_the_demo_never_plays_what_costs_money(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text("players: [openai:gpt-5-mini, house:0.1, house:0.2, house:0.3]")
    assert "plays house players alone" in peerage("demo", "--dir", str(tmp_path), code=2)


def test_run_plays_an_arena_of_house_players_without_asking(tmp_path: Path) -> None:
    peerage("init", "--seed", "1", "--dir", str(tmp_path))
    said = peerage(
        "run", "--max-matches", "6", "--batch-size", "2", "--concurrency", "2", "--dir", str(tmp_path)
    )
    assert "6 matches, 6 of them now" in said
    batches = [line.split(" · ")[0] for line in said.splitlines() if " a second · " in line]
    assert batches == ["2/6 matches", "4/6 matches", "6/6 matches"]


def test_a_run_says_what_is_known_of_what_it_was_to_find_out(demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "goal"
    shutil.copytree(demo, folder)
    said = peerage("run", "--until", "best known", "--max-matches", "25", "--dir", folder)
    assert "until best known, or until match 25" in said
    assert "until best known: it is not proven yet who is the best of" in said
    assert "of 7 pairs told apart" in said
    first = json.loads(peerage("leaderboard", "--format", "json", "--dir", folder))[0]["player"]
    assert "did you mean 'best known'" in peerage("run", "--until", "best knwon", "--dir", folder, code=2)
    wrong = peerage("run", "--until", f"{first}x placed", "--dir", folder, code=2)
    assert f"did you mean {first!r}" in wrong
    (folder / "arena.yaml").write_text(
        (folder / "arena.yaml").read_text("utf-8") + "\nuntil: top 9 known\n", "utf-8"
    )
    assert "there are 8 players, so expected first 1 to 7" in peerage("run", "--dir", folder, code=2)


def test_verify_and_replay(demo: Path, tmp_path: Path) -> None:
    assert peerage("verify", "--dir", str(demo)).startswith("whole: 24 matches")
    assert peerage("replay", "--dir", str(demo)) == "all follows: 24 of 24 matches recomputed\n"
    # A sceptic needs the ledger alone.
    (tmp_path / "arena.db").write_bytes((demo / "arena.db").read_bytes())
    assert peerage("verify", "--dir", str(tmp_path)).startswith("whole: 24 matches")
    assert "head: " in peerage("verify", "--dir", str(tmp_path))


def test_a_damaged_narrow_table_is_repaired(demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo, tmp_path / "copy")
    there = ("--dir", str(tmp_path / "copy"))
    hint = "`peerage replay --repair` writes them again"
    assert hint not in peerage("verify", *there)
    with closing(sqlite3.connect(tmp_path / "copy" / "arena.db")) as database, database:
        database.execute("delete from summaries where number > 9")
    assert hint in peerage("verify", *there, code=1)
    assert peerage("replay", "--repair", *there).endswith("snapshot are written again\n")
    assert hint not in peerage("verify", *there)
    forger.edit(tmp_path / "copy", "records", "number = 7", b"1", b"2")
    assert peerage("replay", "--repair", *there, code=1).endswith("nothing was written\n")


def test_one_changed_reply_is_found_and_named(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "arena.db").write_bytes((demo / "arena.db").read_bytes())
    forger.edit(tmp_path, "replies", "intent = (SELECT min(id) FROM intents WHERE match = 7)", b"e", b"a")
    said = peerage("verify", "--dir", str(tmp_path), code=1)
    assert "match 7" in said
    assert "NOT whole" in said


def test_statistics(demo: Path) -> None:
    shown = peerage("stats", "--dir", str(demo))
    assert "Judges" in shown
    assert "Authors" in shown
    whole = json.loads(peerage("stats", "--dir", str(demo), "--format", "json"))
    assert whole["matches"] == 24
    assert {row["player"] for row in whole["players"]} >= {"house:0.95"}
    authors = json.loads(peerage("stats", "--of", "authors", "--dir", str(demo), "--format", "json"))
    assert authors == whole["authors"]
    csv = peerage("stats", "--dir", str(demo), "--format", "csv").splitlines()
    assert len(csv) == 9
    assert csv[0].startswith("player,")
    assert "Judges" in peerage("run", "--matches", "24", "--stats", "--dir", str(demo))


def test_a_match_can_be_read(demo: Path) -> None:
    story = peerage("match", "2", "--dir", str(demo))
    assert story.startswith("Match 2, on ")
    assert "house:" in story.splitlines()[1]
    parts = ("The question", "approve", "The answers", "The judges", "Counts as", "What it cost", "Weight")
    for part in parts:
        assert part in story
    full = peerage("match", "2", "--full", "--dir", str(demo))
    told, _, hint = story.rpartition("`--full` ")
    assert hint.startswith("shows texts whole")
    assert all(line in full for line in told.splitlines() if line.strip())
    assert "You are an impartial judge" in full
    data = json.loads(peerage("match", "2", "--dir", str(demo), "--format", "json"))
    assert data["number"] == 2
    assert {one["role"] for one in data["exchanges"]} == {"author", "committee", "contestant", "judge"}
    missing = cli.invoke(app, ["match", "99", "--dir", str(demo)])
    assert missing.exit_code == 1
    assert "matches 1 to 24" in missing.stderr


def test_exports(demo: Path) -> None:
    documents = [json.loads(line) for line in peerage("export", "--dir", str(demo)).splitlines()]
    assert [document["match"] for document in documents] == list(range(1, 25))
    assert json.loads(peerage("export", "--format", "json", "--dir", str(demo))) == documents
    csv = peerage("export", "--format", "csv", "--dir", str(demo)).splitlines()
    assert len(csv) == 49
    assert csv[0].startswith("number,round,game")


def test_a_plan_names_every_player_and_both_sums(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(
        "budget: 3\nplayers:\n  - {model: openai:a-model, price: {input: 1, output: 4}}\n"
        + "".join(f"  - house:0.{at}\n" for at in range(1, 6))
    )
    plan = json.loads(peerage("plan", "--max-matches", "40", "--format", "json", "--dir", str(tmp_path)))
    assert plan["matches"] == 40
    assert 0 < plan["expected_usd"] < plan["worst_usd"]
    shown = peerage("plan", "--max-matches", "40", "--dir", str(tmp_path))
    assert " a-model " in shown
    assert "The budget of $3 over all runs is never exceeded" in shown
    pays = int(3 / (plan["expected_usd"] / 40))
    assert (f"; it is expected to pay for some {pays} matches" in shown) == (pays < 40)
    many = peerage("plan", "--max-matches", str(pays + 1), "--dir", str(tmp_path))
    assert "; it is expected to pay for some" in many
    assert not (tmp_path / "arena.db").exists()


def test_no_ledger_is_said_so(tmp_path: Path) -> None:
    peerage("init", "--dir", str(tmp_path))
    for command in ("leaderboard", "verify", "replay"):
        done = cli.invoke(app, [command, "--dir", str(tmp_path)])
        assert done.exit_code == 1
        assert done.stderr.startswith("peerage: ")
        assert done.stdout == ""
    assert not (tmp_path / "arena.db").exists(), "reading makes nothing"


def test_nobody_agrees_to_spending_in_a_script(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(
        "players:\n" + "".join(f"  - {{model: openai:gpt-5-mini, name: p{at}}}\n" for at in range(5))
    )
    done = cli.invoke(
        app, ["run", "--dir", str(tmp_path), "--max-matches", "10"], env={"OPENAI_API_KEY": "x"}
    )
    assert done.exit_code == 2
    assert "pass `--yes` to accept it" in done.stderr
    assert "p0" in done.stdout, "the plan stands above the question"


def test_a_budget_that_could_not_be_kept_is_refused_before_the_question(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(
        "players: [command:./agent, house:0.9, house:0.7, house:0.5, house:0.3]\nbudget: 1\n"
    )
    done = cli.invoke(app, ["run", "--dir", str(tmp_path), "--max-matches", "10"])
    assert done.exit_code == 2
    assert "no price is known for command:./agent" in done.stderr
    assert "to accept it" not in done.stderr


def recorded(path: Path) -> int:
    """Finished matches on a ledger that is being written."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute("select count(*) from records").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.skipif(os.name == "nt", reason="Ctrl+C cannot be sent to one process there")
def test_ctrl_c_stops_in_good_order_and_the_same_command_goes_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "peerage.cli.main", "demo", "--matches", "20000", "--dir", str(tmp_path)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 300
    while recorded(tmp_path / "arena.db") < 3 and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=300)
    assert running.returncode == 130, (out, err)
    assert err == ""
    assert "stopped" in out
    played = int(out.split(" matches, ")[0].rpartition(" ")[2])
    assert 0 < played < 20000
    assert f"{played + 2} matches, 2 of them now" in peerage(
        "demo", "--matches", str(played + 2), "--dir", str(tmp_path)
    )


def test_the_unit_of_cost_reaches_the_game(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(
        "rating: {cost_unit: {dollars: 0, seconds: 1}}\nplayers:\n"
        + "".join(f"  - house:0.{at}\n" for at in range(1, 7))
    )
    peerage("run", "--max-matches", "3", "--dir", str(tmp_path))
    costs = json.loads(peerage("match", "1", "--format", "json", "--dir", str(tmp_path)))["costs"]
    assert all(cost > 0 for cost in costs.values()), "house players cost no dollars, but they take time"


def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in provider.key_env:
            monkeypatch.delenv(name, raising=False)


def test_a_missing_key_is_told_before_anything_is_planned_or_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_keys(monkeypatch)
    models = "".join(f"  - {{model: google:gemini-2.5-flash, name: p{at}}}\n" for at in range(5))
    (tmp_path / "arena.yaml").write_text(f"players:\n{models}")
    told = peerage("run", "--yes", "--dir", str(tmp_path), code=2)
    assert told.startswith(
        "peerage: p0, p1, p2, p3, p4: GOOGLE_API_KEY is not set; write GOOGLE_API_KEY=... into"
    )
    assert not (tmp_path / "arena.db").exists()


def test_a_run_that_nobody_can_officiate_says_how_to_mend_it_and_makes_no_ledger(tmp_path: Path) -> None:
    models = "".join(f"  - {{model: command:agent, name: p{at}}}\n" for at in range(5))
    (tmp_path / "arena.yaml").write_text(f"rules: {{preset: clinical}}\nplayers:\n{models}")
    told = peerage("run", "--yes", "--dir", str(tmp_path), code=2)
    assert "players: found 5, too few for 'duel'" in told
    assert "Add players, or take smaller panels: `rules: {committee: 1, judges: 1}`" in told
    assert not (tmp_path / "arena.db").exists()


def test_three_players_are_told_which_panels_are_small_enough_and_play_with_them(tmp_path: Path) -> None:
    players = "players: [house:0.9, house:0.5, house:0.2]\n"
    (tmp_path / "arena.yaml").write_text(players)
    told = peerage("run", "--dir", str(tmp_path), code=2)
    panels = told.split("smaller panels: `")[1].split("`")[0]
    (tmp_path / "arena.yaml").write_text(f"{players}{panels}\n")
    assert "done: 3 matches" in peerage("run", "--matches", "3", "--dir", str(tmp_path))


def agents(tmp_path: Path, text: str, more: str = "") -> None:
    """Five players that are one program of Python."""
    (tmp_path / "agent.py").write_text(text)
    one = {"command": [sys.executable, "agent.py"], "price": {"input": 9, "output": 9}}
    lines = yaml.safe_dump({"players": [{"name": f"a{at}", **one} for at in range(5)]})
    (tmp_path / "arena.yaml").write_text(f"engine: {{retries: 0}}\n{more}{lines}")


@patience(BENCH_AFTER=1)
def test_a_run_of_which_nothing_came_says_why_and_leaves_with_1(tmp_path: Path) -> None:
    agents(tmp_path, "import sys; sys.exit('the search service is down')")
    told = peerage("run", "--yes", "--max-matches", "2", "--dir", str(tmp_path), code=1)
    assert "stopped: " in told
    assert "without a result; `peerage match" in told
    assert " no_challenge: no draft was agreed on; see the committee's objections" in told
    assert "benched until you fix it and run again: " in told
    assert "the search service is down" in told
    assert "the search service is down" in peerage("match", "1", "--dir", str(tmp_path))


def test_a_budget_too_small_for_one_match_is_refused_with_the_least_that_would_do(tmp_path: Path) -> None:
    agents(tmp_path, "", "budget: 0.01\n")
    plan = peerage("plan", "--matches", "2", "--dir", str(tmp_path))
    told = peerage("run", "--yes", "--max-matches", "2", "--dir", str(tmp_path), code=2)
    found = re.search(r"budget of \$0.01\d* is too small for any match: \$(\S+) is the least", told)
    assert found
    assert found[1] in plan
    agents(tmp_path, "", f"budget: {float(found[1]) - 0.0002:.4f}\n")
    assert found[1] in peerage("run", "--yes", "--max-matches", "2", "--dir", str(tmp_path), code=2)
    agents(tmp_path, "", f"budget: {found[1]}\n")
    assert "too small" not in peerage("run", "--yes", "--max-matches", "1", "--dir", str(tmp_path), code=1)


@pytest.mark.parametrize("command", ["verify", "replay"])
def test_reports_as_json(demo: Path, command: str) -> None:
    report = json.loads(peerage(command, "--format", "json", "--dir", str(demo)))
    assert (report["ok"], report["matches"]) == (True, 24)


def test_a_changed_byte_is_named_in_json_too(demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo, tmp_path / "copy")
    forger.edit(tmp_path / "copy", "records", "number = 7", b"1", b"2")
    report = json.loads(peerage("verify", "--format", "json", "--dir", str(tmp_path / "copy"), code=1))
    assert not report["ok"]
    assert {problem["match"] for problem in report["problems"]} >= {7}


@pytest.mark.parametrize(
    "words", ["verdict", "compare 0.95 0.2", "compare 0.95 0.2 --not-worse-by 3%", "match 7", "report"]
)
def test_a_changed_reply_is_named_by_what_rests_on_it(demo: Path, tmp_path: Path, words: str) -> None:
    shutil.copytree(demo, tmp_path / "copy")
    first = "intent = (SELECT min(id) FROM intents WHERE match = 7)"
    forger.edit(tmp_path / "copy", "replies", first, b'"text":"', b'"text":"9')
    command, *names = words.split()
    names = [f"house:{name}" if name[0] == "0" else name for name in names]
    told = peerage(command, *names, "--dir", str(tmp_path / "copy"), code=2 if "worse" in words else 1)
    assert "match 7: a request or a reply changed. `peerage verify` lists everything" in told


def test_when_all_is_played_nothing_is_planned_or_asked(tmp_path: Path) -> None:
    house = "".join(f"  - {{model: house:0.{at + 3}, name: a{at}}}\n" for at in range(5))
    (tmp_path / "arena.yaml").write_text(f"seed: 1\nplayers:\n{house}")
    peerage("run", "--yes", "--max-matches", "1", "--dir", str(tmp_path))
    again = peerage("run", "--max-matches", "1", "--dir", str(tmp_path))
    assert "1 match, 0 of them now" in again
    assert ", at most $" not in again


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0)])
def test_closed_streams_are_empty_ones(demo: Path, closed: str, code: int) -> None:
    command = f"{shlex.quote(sys.executable)} -m peerage leaderboard --dir {shlex.quote(str(demo))} {closed}"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert ran.returncode == code
    assert "fault" not in ran.stderr


def test_a_broken_program_is_benched_soon_and_the_others_play_on(tmp_path: Path) -> None:
    house = "".join(f"  - house:0.{at}\n" for at in range(2, 9))
    command = f"[{sys.executable!r}, no-such-file.py]"
    broken = f"  - {{command: {command}, name: broken, price: {{input: 0, output: 0}}}}\n"
    text = f"players:\n{house}{broken}rules: {{committee: 2, judges: 2}}\n"
    (tmp_path / "arena.yaml").write_text(text)
    said = peerage("run", "--yes", "--max-matches", "4", "--dir", str(tmp_path))
    assert "broken" in said
    shown = peerage("players", "--dir", str(tmp_path))
    assert "benched" in shown


def test_more_counts_from_now_and_matches_that_are_there_are_said(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text("seed: 1\nplayers: [house:0.9, house:0.7, house:0.5, house:0.2]\n")
    at = ("--dir", str(tmp_path))
    assert "done: 3 matches" in peerage("run", "--more", "3", *at)
    assert "done: 5 matches, 2 of them now" in peerage("run", "--more", "2", *at)
    told = peerage("run", "--matches", "4", *at)
    assert f"the arena has 5 matches with a result already; `peerage run --dir {tmp_path} --more 20`" in told
    assert "--more those from now on" in peerage("run", "--more", "1", "--matches", "9", *at, code=2)


class Mute(HouseClient):
    """A judge of few words."""

    def answer_now(self, call: Call) -> Answer:
        judges = call.key.partition("~")[0].endswith(("/A-B", "/B-A"))
        return Answer("Both!", 0.1, 5, 5) if judges else super().answer_now(call)


def test_a_panel_of_which_nothing_came_stops_after_three_matches_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arena.yaml").write_text("seed: 1\nplayers: [house:0.9, house:0.7, house:0.5, house:0.2]\n")
    with open_arena(tmp_path) as arena:
        assert play_to_end(arena, 50, None, Mute) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "stopped: the first 3 matches came to no result" in told
    assert "3 inconclusive: too few judges gave a usable verdict; see why below, and take other" in told
    assert " as judge: invalid: " in told
