"""`peerage tournament`: what people see of tournaments, and the audience's way in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.reading.reading import Reading
from peerage.reading.tournaments import find, tokens
from peerage.views.judges import report as judges

cli = CliRunner()
RULES = {"preset": "development", "questions": 2, "quality": "none", "answer_budgets": [20, 100]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_arena(tmp_path_factory.mktemp("arena"), 4, game="last-arena", rules=RULES)
    play(made, 2)
    return made


def run(folder: Path, *words: str) -> str:
    shown = cli.invoke(app, ["tournament", *words, "--dir", str(folder)])
    assert shown.exit_code == 0, shown.output
    return shown.output


def test_show(folder: Path) -> None:
    text = run(folder, "show")
    assert "Tournament 2" in text
    assert text.index("p3") < text.index("p0")
    assert "to p3" in text
    assert "Too few marks to tell whether a judge favours an author" in text
    whole = json.loads(run(folder, "show", "1", "--format", "json"))
    assert set(whole) == {"number", "status", "ranking", "matrix", "sorts", "scaling", "reasons"}
    assert len(json.loads(run(folder, "show", "--of", "matrix", "--format", "json"))) == 12
    assert run(folder, "show", "--format", "csv").startswith("rank,player,ahead,score,se")
    assert "| Judge | to p3 |" in run(folder, "show", "--of", "matrix", "--format", "markdown")


def test_the_matrix_says_what_the_test_of_judges_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tested(reading: Reading) -> judges.JudgesReport:
        pair = judges.Favour("p1", "p3", 60, 0.4, 0.0001, 0.001, True, False)
        other = judges.Favour("p2", "p3", 60, 0.4, 0.5, 1.0, False, False)
        return msgspec.structs.replace(made(reading), favours=(pair, other))

    made = judges.judges
    monkeypatch.setattr(judges, "judges", tested)
    text = run(folder, "show", "--of", "matrix")
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert lines["p1"].count("*") == 1
    assert "*" not in lines["p2"]
    assert "* beyond chance by the judges' test" in text
    assert "2 pairs of judge and author tested, 1 beyond chance" in text


def test_a_tournament_is_shown_by_its_ranking_and_a_few_answers(folder: Path) -> None:
    where = ["match", "1", "--dir", str(folder)]
    short, whole = (cli.invoke(app, [*where, *more]).output for more in ([], ["--full"]))
    titles = [
        "The ranking",
        "Who scored whom how",
        "The questions",
        "The best answers",
        "The weakest answers",
    ]
    assert [short.index(title) for title in titles] == sorted(short.index(title) for title in titles)
    assert short.count("levelled, so that every judge averages 5") == 6
    for mean, given in re.findall(r"([\d.]+) of 10 as given;.*?As given: ([^\n]*)\.\n", short, re.DOTALL):
        scores = [float(one.split()[0]) for one in given.split(", ")]
        assert float(mean) == pytest.approx(sum(scores) / len(scores), abs=0.051)
    assert short.count("As given: ") == 6
    assert "answer/" not in short
    assert whole.count("answer/") > 40


def test_progress(folder: Path) -> None:
    rows = json.loads(run(folder, "progress", "--format", "json"))
    assert [row["tournaments"] for row in rows] == [2, 2, 2, 2]
    assert "Mean score" in run(folder, "progress")


def test_plot(folder: Path, tmp_path: Path) -> None:
    run(folder, "plot", str(tmp_path / "scaling.svg"))
    drawn = (tmp_path / "scaling.svg").read_text("utf-8")
    assert "<svg" in drawn
    assert "tokens at most" in drawn
    assert 'height="100%" fill="#ffffff"' in drawn
    assert all(name in drawn for name in ("p0", "p1", "p2"))


def test_the_audience_scores_and_is_entered_once(folder: Path, tmp_path: Path) -> None:
    run(folder, "page", str(tmp_path / "page.html"), "1", "--sample", "8")
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!doctype html>")
    with open_arena(folder, create=False) as opened:
        match = find(opened.ledger, 1)
    scores = dict.fromkeys(list(tokens(match))[:4], 7)
    saved = tmp_path / "points.json"
    saved.write_text(
        json.dumps({"match": 1, "record": match.record, "voter": "v", "scores": scores}), "utf-8"
    )
    assert "4 scores" in run(folder, "votes", str(saved))
    assert "entered before" in run(folder, "votes", str(saved))
    assert "Public" in run(folder, "show", "1")
    assert cli.invoke(app, ["verify", "--dir", str(folder)]).exit_code == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"scores": {}}, "length >= 1"),
        ({"scores": {"0" * 16: 7}}, "does not have"),
        ({"scores": {"0" * 16: 11}}, "<= 10"),
        ({"scores": {"0" * 16: "7"}}, "Expected `float`"),
        ({"record": "0" * 64}, "another record"),
        ({"record": "x"}, "is no file that the page saved"),
        ({"match": 99}, "match 99 is no finished tournament"),
        ({"voter": "x" * 101}, "length <= 100"),
        ({"more": 1}, "unknown field"),
    ],
)
def test_files_that_the_page_did_not_save_are_refused(
    folder: Path, tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    with open_arena(folder, create=False) as opened:
        match = find(opened.ledger, 2)
    right = {"match": 2, "record": match.record, "voter": "w", "scores": {next(iter(tokens(match))): 7}}
    (tmp_path / "points.json").write_text(json.dumps({**right, **change}), "utf-8")
    shown = cli.invoke(app, ["tournament", "votes", str(tmp_path / "points.json"), "--dir", str(folder)])
    assert shown.exit_code == 1
    assert problem in shown.stderr
    assert "Traceback" not in shown.output


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff\xfe", b"{" * 100_000, b" " * 1_000_001])
def test_any_other_file_is_refused(folder: Path, tmp_path: Path, body: bytes) -> None:
    (tmp_path / "points.json").write_bytes(body)
    shown = cli.invoke(app, ["tournament", "votes", str(tmp_path / "points.json"), "--dir", str(folder)])
    assert shown.exit_code == 1
    assert "points.json" in shown.stderr


def test_one_token_limit_draws_nothing(tmp_path: Path) -> None:
    play(write_arena(tmp_path, 3, game="last-arena", rules={**RULES, "answer_budgets": []}), 1)
    shown = cli.invoke(app, ["tournament", "plot", str(tmp_path / "s.svg"), "--dir", str(tmp_path)])
    assert shown.exit_code == 1
    assert "answer_budgets" in shown.stderr
    assert not (tmp_path / "s.svg").exists()
