"""The game in docs/writing-a-game.md is played from its file, so that the page cannot go stale."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from peerage.cli.play.games import check
from peerage.games import GAMES
from peerage.settings.game_file import load_file
from peerage.testing import findings

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-game.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's file and an arena that has played it."""
    folder = tmp_path_factory.mktemp("auction")
    (folder / "auction.py").write_text(BLOCKS[0], "utf-8")
    assert "60 matches, 60 of them now" in peerage(folder, "demo", "--game", "./auction.py", "--dir", "arena")
    return folder


def peerage(folder: Path, *words: str, code: int = 0, user: str = "author") -> str:
    """What a command says to a user, in a process of its own: a game's file stays loaded in its process."""
    done = subprocess.run(
        [sys.executable, "-m", "peerage", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "400", "XDG_STATE_HOME": str(folder / user)},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_is_short_and_holds_what_every_game_must_hold(tmp_path: Path) -> None:
    assert len(BLOCKS[0].splitlines()) <= 110
    file = tmp_path / "auction.py"
    file.write_text(BLOCKS[0].replace('name="auction"', 'name="auction-of-the-page"'), "utf-8")
    spec = load_file(file)
    assert [one.problem for one in findings(spec) if one.problem] == []
    exec(next(block for block in BLOCKS if "peerage.testing" in block), {"GAME": spec})


def test_all_of_it_shows(arena: Path) -> None:
    told = peerage(arena, "match", "5", "--dir", "arena")
    assert "Lot 1: " in told
    assert "coins gained" in told
    rows: list[dict[str, Any]] = json.loads(
        peerage(arena, "leaderboard", "--dir", "arena", "--format", "json")
    )
    skills = {float(row["player"].partition(":")[2]): row["rating"] for row in rows}
    assert max(skills[0.95], skills[0.85]) > min(skills[0.35], skills[0.2])
    assert "Worth" in peerage(arena, "match", "5", "--dir", "arena", "--format", "json")


def test_a_plain_value_where_a_group_belongs_is_refused_with_the_line(tmp_path: Path) -> None:
    file = tmp_path / "auction.py"
    file.write_text(BLOCKS[0].replace("demo=Demo(60)", "demo=60"), "utf-8")
    with pytest.raises(
        ImportError, match=r"auction\.py, line \d+: TypeError: demo=60: Demo\(…\) was expected"
    ):
        load_file(file)


def test_its_file_is_pinned_on_record(arena: Path) -> None:
    assert "all follows: 60 of 60" in peerage(arena, "replay", "--dir", "arena")
    file = arena / "auction.py"
    before = file.read_text("utf-8")
    file.write_text(before + "# another\n", "utf-8")
    assert "Another auction.py played them" in peerage(arena, "replay", "--dir", "arena", code=3)
    file.unlink()
    assert "whole" in peerage(arena, "verify", "--dir", "arena")
    assert "not installed" in peerage(arena, "match", "5", "--dir", "arena")
    assert "auction.py cannot be read" in peerage(arena, "run", "--dir", "arena", "--yes", code=2)
    file.write_text(before, "utf-8")


def test_who_only_reads_an_arena_of_somebody_else_runs_no_file_in_it(arena: Path) -> None:
    file, ran = arena / "auction.py", arena / "ran"
    before = file.read_text("utf-8")
    file.write_text(f"open({str(ran)!r}, 'a').close()\n{before}", "utf-8")
    for words in (
        ("leaderboard",),
        ("match", "5"),
        ("stats",),
        ("players",),
        ("verify",),
        ("report", "r.html"),
    ):
        said = peerage(arena, *words, "--dir", "arena", user="reader")
        assert words[0] == "verify" or "that you have not run yet" in said, said
    assert "auction.py played them" in peerage(arena, "replay", "--dir", "arena", code=3, user="reader")
    assert not ran.exists()
    peerage(arena, "games", "check", "auction.py", user="reader")
    assert ran.exists()
    ran.unlink()
    assert "that you have not run yet" not in peerage(arena, "leaderboard", "--dir", "arena", user="reader")
    assert ran.exists()
    file.write_text(before, "utf-8")
    assert "coins gained" in peerage(arena, "match", "5", "--dir", "arena")


def test_the_example_plays_at_once(tmp_path: Path) -> None:
    assert "wrote big_sale.py" in peerage(tmp_path, "games", "new", "big-sale")
    assert "holds all that a game must hold" in peerage(tmp_path, "games", "check", "big_sale.py")
    assert "big_sale.py" in peerage(tmp_path, "games", "new", "big-sale", code=2), "nothing is written over"
    demo = peerage(tmp_path, "demo", "--game", "big_sale.py", "--dir", "arena", "--matches", "4")
    assert "4 matches" in demo


def test_a_game_is_checked_by_the_settings_of_its_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Any] = []
    monkeypatch.setattr("peerage.testing.findings", lambda spec, rules: checked.append(rules) or ())
    check("last-arena")
    check("last-arena", '{"questions": 2}')
    assert checked == [GAMES["last-arena"].demo.rules, {"questions": 2}]
