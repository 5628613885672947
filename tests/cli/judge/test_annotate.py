"""`peerage annotate`: votes by a pipe, in a terminal and from a file; what judges and table then say."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminals import Terminal
from tests.engine.arenas import play, write_arena
from typer.testing import CliRunner, Result

from peerage.cli.main import app

cli = CliRunner()
MATCHES = 40


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("annotated"), 5)
    play(folder, MATCHES)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "arena"))


def run(folder: Path, *words: str, typed: str = "", code: int = 0) -> Result:
    done = cli.invoke(app, [*words, "--dir", str(folder)], input=typed)
    assert done.exit_code == code, done.output
    return done


def test_votes_count_in_judges_table_export_and_verify(folder: Path) -> None:
    said = run(folder, "annotate", "--as", "ada", typed="a\nb\nmaybe\nt\nn\ns\n" + "a\nb\n" * 25).output
    there = int(said.partition("0 of ")[2].split()[0])
    assert "That is none of them: 'maybe'." in said
    assert "there is no duel left that you have not judged" in said
    assert f"{there - 1} votes kept" in said
    assert f"{there} of {there} duels are behind you" in run(folder, "annotate", "--as", "ada").output
    told = json.loads(run(folder, "stats", "--of", "judges", "--format", "json").output)
    assert told["remarks"][0].startswith(f"People gave {there - 1} votes on {there - 1} of {there} duels.")
    assert {row["kind"] for row in told["people"]} == {"judge"}
    assert "Judges and people: equal verdicts" in run(folder, "stats", "--of", "judges").output
    written = run(folder, "export", "--format", "people").output.splitlines()
    assert len(written) == there - 1
    assert "head of audience: " in run(folder, "verify").output
    file = folder / "people.jsonl"
    file.write_text("\n".join(written))
    assert f"0 votes taken in, {there - 1} on record before" in run(
        folder, "annotate", "--from", str(file)
    ).output  # fmt: skip


def test_nothing_on_the_screen_says_who_wrote_what(folder: Path) -> None:
    said = run(folder, "annotate", "--as", "ada", typed="a\n" * 40).output
    assert not any(f"p{place}" in said for place in range(5))
    assert "$" not in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--as", " "], "say your name"),
        (["--as", "x" * 101], "say your name, of 1 to 100 printable characters"),
        (["--as", "a\x1b[2J"], "say your name"),
        (["--from", "votes.csv", "--as", "ada"], "--from takes the votes of a file"),
    ],
)
def test_contradictions_are_refused(folder: Path, words: list[str], why: str) -> None:
    done = cli.invoke(app, ["annotate", "--dir", str(folder), *words], env={"LOGNAME": "ada"})
    assert done.exit_code == 2
    assert why in " ".join(done.output.replace("│", " ").split())


def test_a_file_of_other_duels_is_told(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    file.write_text("model_a,model_b,winner,judge\nx,y,tie,bo\n")
    done = run(folder, "annotate", "--from", str(file), code=1)
    assert "no row of" in done.output
    assert "expected question_id" in done.output


def test_an_arena_without_judged_duels_says_so(tmp_path: Path) -> None:
    play(write_arena(tmp_path, 4, game="logic", rules={}), 2)
    for shape in ("votes", "people", "outside", "cob"):
        assert "nothing is written: " in run(tmp_path, "export", "--format", shape).stderr, shape
    assert "no finished duel here was judged by a panel" in run(tmp_path, "annotate", "--as", "ada").output


def test_duels_that_were_judged_again_are_judged_by_people_too(folder: Path, tmp_path: Path) -> None:
    run(folder, "rejudge", "--judges", "house:0.9", "--judges", "house:0.7", "--max-matches", "9")
    again = folder / "rejudged"
    said = run(again, "annotate", "--as", "ada", typed="a\nb\nt\n" * 4).output
    assert "0 of 9 duels are behind you" in said
    assert "9 votes kept" in said
    assert not any(f"p{place}" in said for place in range(5)), "blind"
    told = json.loads(run(again, "stats", "--of", "judges", "--format", "json").output)
    assert told["remarks"][0].startswith("People gave 9 votes on 9 of 9 duels.")
    assert {row["who"] for row in told["people"]} == {"house:0.7", "house:0.9"}
    file = tmp_path / "people.jsonl"
    file.write_text(run(again, "export", "--format", "people").output)
    assert "9 on record before" in run(again, "annotate", "--from", str(file)).output
    author = json.loads(file.read_text().splitlines()[0])["model_a"]
    there = int(run(again, "annotate", "--as", author).output.partition("0 of ")[2].split()[0])
    assert there < 9, "who wrote an answer does not judge it"


def test_names_that_look_alike_are_one_voter(folder: Path) -> None:
    assert "you are é; 0 of" in run(folder, "annotate", "--as", "é", typed="a\n").output
    assert "you are é; 1 of" in run(folder, "annotate", "--as", "e\u0301").output


def test_a_duel_judged_elsewhere_meanwhile_ends_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peerage.ledger.topics.votes import VotedAlready
    from peerage.site.people.annotation import Annotator

    cast, once = Annotator.cast, ["ada has judged match 1 before"]

    def first_elsewhere(self: Annotator, *words: Any) -> None:
        if once:
            raise VotedAlready(once.pop())
        cast(self, *words)

    monkeypatch.setattr(Annotator, "cast", first_elsewhere)
    said = run(folder, "annotate", "--as", "ada", typed="a\nb\n").output
    assert "not kept: ada has judged match 1 before" in said
    assert "1 vote kept" in said


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_in_a_terminal_a_vote_is_on_disk_when_it_says_kept(folder: Path) -> None:
    window = Terminal("annotate", "--as", "ada", "--dir", str(folder))
    try:
        window.waits_for("you are ada; 0 of")
        window.waits_for("q) quit")
        window.types("b")
        window.waits_for("kept")
        window.waits_for("q) quit")
        window.process.kill()  # as a crash would
    finally:
        window.close()
    assert "you are ada; 1 of" in run(folder, "annotate", "--as", "ada").output
