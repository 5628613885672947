"""`peerage stats --of judges` and `peerage rejudge` as they are typed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from PIL import Image
from tests.cli.play.test_play import peerage

from peerage.arena import open_arena


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judges") / "demo"
    peerage("demo", "--matches", "72", "--seed", "3", "--dir", str(folder))
    return folder


def test_judges_for_people_and_for_programs(demo: Path) -> None:
    shown = peerage("stats", "--of", "judges", "--dir", str(demo))
    assert "Krippendorff's α" in shown
    assert "house:0.95" in shown
    assert "docs/judging-figures.md" in shown
    found = json.loads(peerage("stats", "--of", "judges", "--dir", str(demo), "--format", "json"))
    assert set(found) == {
        "answer",
        "cards",
        "remarks",
        "measures",
        "judges",
        "favours",
        "challenges",
        "people",
    }
    rows = peerage("stats", "--of", "judges", "--dir", str(demo), "--format", "csv").splitlines()
    assert rows[0].split(",") == list(found["judges"][0])
    favours = json.loads(peerage("stats", "--dir", str(demo), "--of", "favours", "--format", "json"))
    assert favours == found["favours"]
    alone = peerage("stats", "--dir", str(demo), "--of", "favours")
    assert alone.splitlines() == shown.splitlines()[-1:]
    assert f"{len(favours)} pairs of judge and author tested, 0 beyond chance" in alone
    assert "`peerage stats --of judges` shows how judges agree" in peerage(
        "stats", "--dir", str(demo)
    ).replace(f" --dir {demo}", "")
    assert "leave --game" in peerage("stats", "--of", "measures", "--topic", "x", "--dir", str(demo), code=2)
    assert "| Judge |" in peerage("stats", "--of", "judges", "--dir", str(demo), "--format", "markdown")


def test_a_panel_is_asked_and_the_ledger_holds(demo: Path) -> None:
    at = ["--dir", str(demo)]
    assert "name the new panel with --judges" in peerage("rejudge", *at, code=2)
    shown = peerage("rejudge", *at, "--judges", "house:0.9", "--judges", "house:0.99", "--max-matches", "6")
    assert "6 of 6 matches judged again" in shown
    assert "Kendall's τ" in shown
    said = peerage("rejudge", *at, "--max-matches", "10", "--format", "json")
    found = json.loads(said[said.index("{") :])
    assert (found["issued"], found["judged"]) == (10, 10)
    assert json.loads(peerage("rejudge", *at, "--report", "--format", "json")) == found
    there = ["--dir", str(demo / "rejudged")]
    assert "whole: 10 matches" in peerage("verify", *there)
    assert "all follows: 10 of 10" in peerage("replay", *there)
    assert "judged again" in peerage("match", "1", *there)
    assert "by the first and by the new panel" in peerage("leaderboard", *there)
    assert len(peerage("export", *there, "--format", "votes").splitlines()) == 20
    assert "house:0.99" in peerage("stats", "--of", "judges", *there)


def test_the_new_panel_is_shown_the_same_pictures(tmp_path: Path) -> None:
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png")
    (tmp_path / "arena.yaml").write_text(
        "tasks: [{prompt: 'What?', image: a.png}]\nplayers: [house:0.9, house:0.2, house:0.5, house:0.6]\n"
    )
    at = ["--dir", str(tmp_path)]
    peerage("run", *at, "--matches", "1", "--yes")
    said = peerage("rejudge", *at, "--judges", "house:0.8", "--judges", "house:0.7", "--yes")
    assert "judged again, 1 of them decided" in said
    with open_arena(tmp_path) as first, open_arena(tmp_path / "rejudged") as again:
        digests = first.ledger.media_digests()
        assert len(digests) == 1
        assert again.ledger.media(digests) == first.ledger.media(digests)


def test_a_panel_that_decides_nothing_fails_and_says_so(demo: Path, tmp_path: Path) -> None:
    script = tmp_path / "judge.py"
    script.write_text("print('no verdict')", "utf-8")
    judge = f"command:{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    there = ["--dir", str(demo), "--to", str(tmp_path / "mute")]
    said = peerage("rejudge", *there, "--judges", judge, "--matches", "2", "--yes", code=1)
    assert "the new panel decided none of 2 matches, so there is nothing to rank" in said
    assert "2 inconclusive: too few judges gave a usable verdict" in said
    assert f"match 2 --dir {tmp_path / 'mute'}`" in said
    again = peerage("rejudge", *there, "--report", "--format", "json", code=1)
    assert json.loads(again[again.index("{") :])["decided"] == 0


def test_what_may_cost_is_agreed_to_and_the_same_words_go_on(demo: Path, tmp_path: Path) -> None:
    """A judge that is a program: its arguments are shown nowhere, and the plan is for judges alone."""
    script = tmp_path / "judge.py"
    script.write_text("""print('{"reason": "because", "verdict": "A"}')""", "utf-8")
    judge = f"command:{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    at = ["--dir", str(demo), "--to", str(tmp_path / "new"), "--judges", judge, "--max-matches", "2"]
    said = peerage("rejudge", *at, code=2)
    assert "4 calls, at unknown prices" in said
    assert "pass `--yes` to accept it" in said
    said = peerage("rejudge", *at, "--yes")
    assert "done: 2 matches, 2 of them now, in 4 calls" in said
    assert "done: 2 matches, 0 of them now, in 0 calls" in peerage("rejudge", *at, "--yes")


def test_a_budget_that_could_not_be_kept_is_refused_before_the_question(demo: Path, tmp_path: Path) -> None:
    at = ["--dir", str(demo), "--to", str(tmp_path / "new"), "--judges", "command:./judge", "--budget", "1"]
    for answered in ([], ["--yes"]):
        said = peerage("rejudge", *at, "--max-matches", "2", *answered, code=2)
        assert "a budget is set, but no price is known for command:./judge" in said
        assert "--yes" not in said


def test_what_cannot_be_is_told(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = ["--dir", str(demo), "--to", str(tmp_path / "new")]
    assert "nothing was judged again here" in peerage("rejudge", *at, "--report", code=2)
    assert "--judges" in peerage("rejudge", *at, "--judges", "nobody:knows", code=2)
    assert not (tmp_path / "new").exists()
    peerage("rejudge", *at, "--judges", "house:0.9", "--max-matches", "1")
    said = peerage("rejudge", *at, "--judges", "house:0.8", code=2)
    assert "its judges are house:0.9, and --judges says house:0.8" in said
    alone = ["--dir", str(demo), "--to", str(tmp_path / "keyless")]
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in peerage("rejudge", *alone, "--judges", "openai:gpt-5-mini", code=2)
    assert not (tmp_path / "keyless").exists()
    taken = ["--dir", str(demo), "--to", str(demo)]
    assert "is an arena of 'duel'" in peerage("rejudge", *taken, "--judges", "house:0.9", code=2)
    colors = tmp_path / "colors"
    peerage("demo", "--game", "color-obfuscation", "--matches", "2", "--dir", str(colors))
    said = peerage("rejudge", "--dir", str(colors), "--judges", "house:0.9", code=2)
    assert "nothing to judge again" in said


LOGS = Path(__file__).parents[2] / "data/inspect"
LONGER = """\
import re, sys
text = sys.stdin.read()
first, second = (re.search(rf"<<<answer {name} \\\\w+>>>(.*?)<<<end", text, re.S) for name in "AB")
print('{"reason": "longer", "verdict": "%s"}' % "BA"[len(first[1]) > len(second[1])])
"""


def test_answers_of_logs_are_judged_by_peers(tmp_path: Path) -> None:
    """Real logs of three models before a judge that prefers the longer answer."""
    (tmp_path / "judge.py").write_text(LONGER.replace("\\\\", "\\"), "utf-8")
    judge = f"command:{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'judge.py'))}"
    at = ["--dir", str(tmp_path), "--yes"]
    alone = peerage("rejudge", str(LOGS / "quiz-one.eval"), *at, "--judges", judge, code=1)
    assert "left out: 6 answers to a question that no other player was asked" in alone
    assert "name the logs of several models at once" in alone
    assert not (tmp_path / "judged").exists()
    pair = [str(LOGS / f"quiz-{name}.eval") for name in ("one", "two")]
    said = peerage("rejudge", *pair, *at, "--judges", judge, "--matches", "2")
    assert "6 pairs of answers to 6 questions" in said
    assert "2 of 2 matches judged, 2 of them decided; 2 have scores on file" in said
    said = peerage("rejudge", str(LOGS), *at, "--matches", "8")
    assert "18 pairs of answers to 6 questions" in said
    assert "No interval: pairs on one question hang together" in said
    found = json.loads(peerage("rejudge", str(LOGS), *at, "--report", "--format", "json"))
    assert (found["issued"], found["decided"], found["compared"]) == (8, 8, 8)
    assert {row["player"] for row in found["players"]} == {
        f"mockllm/{name}" for name in ("one", "two", "three")
    }
    assert found["players"][0]["after_lower"] is None
    there = ["--dir", str(tmp_path / "judged")]
    assert "whole: 8 matches" in peerage("verify", *there)
    assert "all follows: 8 of 8" in peerage("replay", *there)
    assert "Two recorded answers to quiz/" in peerage("match", "1", *there)
    assert json.loads(peerage("leaderboard", *there, "--format", "json")) == found
    assert "by the scores on file and by the new panel" in " ".join(peerage("leaderboard", *there).split())
    assert "leave all options out" in peerage("leaderboard", *there, "--track", "raw", code=2)
    assert "0 of 8 duels are behind you" in peerage("annotate", *there), "people see the same pairs"
    votes = [json.loads(line) for line in peerage("export", *there, "--format", "votes").splitlines()]
    assert [vote["question_id"] for vote in votes] == [str(number) for number in range(1, 9)]
    assert 2 <= len({vote["question"] for vote in votes}) <= 6
    (tmp_path / "votes.jsonl").write_text("".join(f"{json.dumps(vote)}\n" for vote in votes), "utf-8")
    rated = json.loads(peerage("rate", str(tmp_path / "votes.jsonl"), "--output", "json"))
    ratings = {row["player"]: round(row["rating"]) for row in rated}
    assert ratings == {row["player"]: round(row["after"]) for row in found["players"]}


def test_answers_of_files_are_judged_by_a_panel_alone(tmp_path: Path) -> None:
    (tmp_path / "judged").mkdir()
    (tmp_path / "judged/arena.yaml").write_text(
        "{game: rejudge, players: ['house:0.9'], rules: {by: scores}}", "utf-8"
    )
    said = peerage("rejudge", str(LOGS), "--dir", str(tmp_path), "--yes", code=2)
    assert "a panel judges answers of files, and rules.by is scores" in said


def test_answers_without_scores_are_ranked_by_the_judges_alone(tmp_path: Path) -> None:
    rows = "".join(f"{name},c{at},Why {at}?,{name} says\n" for at in range(3) for name in "ab")
    (tmp_path / "x.csv").write_text(f"model,challenge,question,answer\n{rows}", "utf-8")
    at = [str(tmp_path / "x.csv"), "--dir", str(tmp_path)]
    said = peerage("rejudge", *at, "--judges", "house:0.9", "--judges", "house:0.8")
    assert "house players cannot read" in said
    assert "Bradley-Terry by the new panel" in said
    assert "0 have scores on file" in said
    (tmp_path / "y.csv").write_text("player,challenge,solved\na,c,1\n", "utf-8")
    said = peerage(
        "rejudge", str(tmp_path / "y.csv"), "--dir", str(tmp_path), "--judges", "house:0.9", code=1
    )
    assert "y.csv, line 2: expected recorded answers" in said
