"""Every command that shows a table or says a sentence, in terminals of 60, 80 and 120 columns."""

from __future__ import annotations

import fcntl
import io
import os
import re
import struct
import sys
import termios
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from tests.engine.arenas import play, write_arena
from tests.views.tasks_arena import arena_of_tasks, tasks
from typer.testing import CliRunner

from peerage.cli.main import app

COMMANDS = (
    "leaderboard",
    "leaderboard --track trueskill",
    "leaderboard --track cost",
    "leaderboard --track glicko2",
    "leaderboard --by topic",
    "leaderboard --correct all",
    "leaderboard --without-judge house:0.2",
    "verdict",
    "plan",
    "compare house:0.95 house:0.2",
    "stats",
    "stats --of judges",
    "plan --matches 100",
    "players",
    "status",
    "doctor",
    "challenges list",
    "tournament progress",
)
STAY = {
    "leaderboard": ("Rank", "Player", "Rating", "95%", "Best", "Matches"),
    "leaderboard --correct all": ("Player", "Rating", "Corrected", "95%"),
    "stats": ("Player", "Matches", "Billed"),
    "players": ("Player", "Model", "$ in", "$ out"),
    "compare house:0.95 house:0.2": ("Player", "Rank", "Rating", "Matches"),
}
NOTE = re.compile(r"^ (Best|Choice|Proven above|Per 100|Billed): ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skills = (0.2, 0.35, 0.45, 0.55, 0.65, 0.75, 0.95)
    price = {"input": 0.1, "output": 0.4}
    players = [{"name": f"house:{skill}", "model": f"house:{skill}", "price": price} for skill in skills]
    made = write_arena(tmp_path_factory.mktemp("terminal"), players)
    play(made, 40)
    return made


def typed(words: list[str], width: int, patch: pytest.MonkeyPatch) -> str:
    """What a command writes in a terminal so many columns wide."""
    import pty

    window, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    seen = bytearray()

    def read() -> None:
        with suppress(OSError):  # EIO: nobody writes there any more
            while more := os.read(window, 65_536):
                seen.extend(more)

    reading = Thread(target=read)
    reading.start()
    with patch.context() as here, open(inside, "w", encoding="utf-8") as terminal:
        here.setattr(sys, "stdout", terminal)
        # The terminal of the test run itself is asked before this one.
        for name, value in (("COLUMNS", str(width)), ("TERM", "xterm"), ("NO_COLOR", "1")):
            here.setenv(name, value)
        app(words, standalone_mode=False)
    reading.join()
    os.close(window)
    return re.sub(r"\x1b\[[\d;]*m", "", seen.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_is_broken_and_what_matters_stays(
    folder: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*command.split(), "--dir", str(folder)]
    whole = CliRunner().invoke(app, words)
    assert whole.exit_code == 0, whole.output
    known = set(whole.output.split())
    for width in (60, 80, 120):
        text = typed(words, width, monkeypatch)
        assert max(map(len, text.splitlines())) <= width
        # What else there is in a wider terminal is the last note, and the one thing a pipe does not get.
        table, _, _ = text.partition(" In a wider terminal also: ")
        assert [word for word in table.split() if word not in known and set(word) != {"─"}] == []
        heads = {title for line in table.splitlines() for title in re.split(r"\s{2,}", line.strip())}
        assert set(STAY.get(command, ())) <= heads | set(table.split())
        for line in table.splitlines():
            if note := NOTE.match(line):
                assert note[1] in heads
        assert "Proven above" in heads or "Proven" not in table.partition("Player")[2]


def test_answers_to_be_judged_are_in_lines_that_end_between_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("what\nt\nq\n"))
    text = typed(["annotate", "--as", "ada", "--dir", str(folder)], 60, monkeypatch)
    assert "1 vote kept." in text
    assert max(map(len, text.splitlines())) <= max(60, len(f"--dir {folder}`"))


def test_of_topics_and_players_nobody_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["leaderboard", "--by", "topic", "--dir", str(folder)]
    whole = CliRunner().invoke(app, words).output
    told = typed(words, 60, monkeypatch)
    assert max(map(len, told.splitlines())) <= 60
    assert "wider terminal" not in told
    assert {*whole.split()} <= {*told.split()}


def test_how_a_run_ended_is_said_in_lines_that_end_between_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["run", "--yes", "--max-matches", "40", "--dir", str(folder)]
    for width in (60, 80, 120):
        text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", typed(words, width, monkeypatch))
        _, found, end = text.partition("done: 41 matches")
        assert found, text
        for line in end.splitlines()[1:]:
            assert len(line) <= width or f"--dir {folder}" in line, "a command is one line, to be copied"
        assert "the arena in a browser" in end


LONG = (
    "google/gemini-3.5-flash-lite-preview-11-2026-17",
    "google/gemini-3.5-flash-lite-preview-11-2026-18",
    "meta-llama/llama-5-70b-instruct",
    "qwen/qwen4-235b-a22b-thinking",
)


def test_names_keep_most_of_their_letters_next_to_their_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_arena(tmp_path, [f"openrouter:{name}" for name in LONG])
    for line in (
        typed(["players", "--dir", str(tmp_path)], 60, monkeypatch).partition("───\n")[2].splitlines()[:4]
    ):
        player, model, *_ = re.split(r"\s{2,}", line.strip())
        assert min(len(player), len(model)) >= 20


@pytest.mark.parametrize("words", [["plan"], ["players"]])
def test_what_can_be_asked_before_the_first_match_has_short_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    write_arena(tmp_path, [{"name": f"openrouter:{name}", "model": "house:0.5"} for name in LONG])
    command = [*words, "--dir", str(tmp_path)]
    text = typed(command, 160, monkeypatch)
    assert all(f" {name.partition('/')[2]} " in text for name in LONG)
    assert not any(name in text for name in LONG)
    assert all(
        f"openrouter:{name}" in typed([*command, "--format", "csv"], 160, monkeypatch) for name in LONG
    )
    play(tmp_path, 2)
    after = ["plan", "--matches", "3", "--dir", str(tmp_path)] if words == ["plan"] else command
    text = typed(after, 160, monkeypatch)
    assert all(f" {name.partition('/')[2]} " in text for name in LONG)
    assert not any(name in text for name in LONG)


def test_tables_in_parts_have_one_empty_line_between_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = typed(["leaderboard", "--by", "topic", "--dir", str(folder)], 36, monkeypatch)
    assert text.count(" Player ") > 1
    assert "\n\n\n" not in text


def test_long_names_are_shortened_and_stay_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    players = [{"name": name, "model": f"house:0.{3 + at}"} for at, name in enumerate(LONG)]
    play(write_arena(tmp_path, players), 12)
    for width in (60, 80):
        text = typed(["leaderboard", "--dir", str(tmp_path)], width, monkeypatch)
        _, _, table = text.partition("───\n")
        names = [re.split(r"\s{2,}", line.strip())[1] for line in table.splitlines()[:4]]
        assert len({*names}) == 4, table
        assert {name[-3:] for name in names} == {name[-3:] for name in LONG}
        rows = re.findall(r"^ +[1-4] .*\d–.*\d +.*%.* +\d+", table, re.MULTILINE)
        assert len(rows) == 4, "each is one line, and says after how many matches"


def test_a_heading_is_as_wide_as_the_terminal_not_as_its_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = typed(["leaderboard", "--by", "game", "--dir", str(folder)], 60, monkeypatch)
    assert ": shares of wins, game by game\n" in text


def test_tables_one_below_the_other_stand_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = typed(["stats", "--dir", str(folder)], 60, monkeypatch)
    assert "\n\nJudges\n" in text
    assert "\n\n\n" not in text


def test_a_scale_that_is_left_out_is_no_column_of_a_wider_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = typed(["players", "house:0.2", "--dir", str(folder)], 60, monkeypatch)
    assert "In a wider terminal also: W, D, L." in text


def test_the_decision_keeps_all_its_columns_and_margins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = dict(zip(LONG, (0.95, 0.8, 0.6, 0.4), strict=True))
    players = [
        {"name": name, "model": f"house:{skill}", "price": {"input": 1.0, "output": 2.0}}
        for name, skill in names.items()
    ]
    made = arena_of_tasks(tmp_path, 60, players=players, tasks=tasks(12, rubric="Say it briefly. " * 20))
    for width in (60, 80, 120):
        text = typed(["verdict", "--dir", str(made)], width, monkeypatch)
        assert max(len(line) for line in text.splitlines() if str(made) not in line) <= width
        heads = {title for line in text.splitlines() for title in re.split(r"\s{2,}", line.strip())}
        assert {"Choice", "Accuracy", "Wins", "Ties", "Per 1,000", "Worst at"} <= heads
        assert "wider terminal" not in text
        assert re.search(r"^  \| What is \d+ times 7\?", text, re.MULTILINE)
