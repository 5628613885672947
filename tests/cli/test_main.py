"""The door of the command line: help, exit codes, and how errors leave."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from pydantic_core import SchemaError
from typer.main import get_command
from typer.testing import CliRunner

from peerage.cli import main
from peerage.cli.main import app
from peerage.cli.read import players as lists
from peerage.players.client import PlayerError

cli = CliRunner()


def test_help_lists_the_commands_and_bare_peerage_shows_it() -> None:
    for words in ([], ["--help"]):
        shown = cli.invoke(app, words)
        assert "init" in shown.output
        assert "doctor" in shown.output


def test_help_shows_commands_by_what_people_do_on_one_screen_and_all_when_asked() -> None:
    shown = cli.invoke(app, ["-h"]).output
    assert shown == cli.invoke(app, ["--help"]).output
    everything = {
        cli.invoke(app, words).output for words in (["--all"], ["--help", "--all"], ["--all", "-h"])
    }
    assert len(everything) == 1
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for text, names in ((shown, set(commands) - main.SPECIAL), (*everything, set(commands))):
        assert len(text.splitlines()) <= 24
        listed = re.findall(r"[a-z]+", text[text.index("Begin") : text.index("Start with")])
        assert sorted(set(listed) & set(commands)) == sorted(names)
        assert all(listed.count(name) == 1 for name in names)
    assert f"lists {len(main.SPECIAL)} more" in shown
    assert set(commands) > main.SPECIAL


@pytest.mark.parametrize("command", ["run", "demo", "plan", "rejudge"])
def test_matches_are_called_matches_everywhere(command: str) -> None:
    shown = cli.invoke(app, [command, "-h"]).output
    assert "--matches, --max-matches" in shown


def test_version() -> None:
    shown = cli.invoke(app, ["--version"])
    assert shown.exit_code == 0
    assert re.fullmatch(r"peerage \d+\.\d+\.\d+\n", shown.output)


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'pydantic', 'numpy', 'sqlite3', 'rich', 'yaml', 'rustworkx', 'asyncio', 'msgspec'}"
    ours = "{one for one in sys.modules if one.startswith('peerage.cli.')}"
    code = (
        "import sys, peerage.cli.main as main, typer.testing as testing;"
        "assert not testing.CliRunner().invoke(main.app, ['--help']).exit_code;"
        f"print(*{heavy} & set(sys.modules), *sorted({ours}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    ours = ["peerage.cli.main", "peerage.cli.shared", "peerage.cli.shared.streams"]
    assert loaded.split() == ours, "no command's module"


def test_matrices_are_left_to_one_thread() -> None:
    code = (
        "import peerage.cli.main as main; main.app = lambda **_: None; main.main()\n"
        "import numpy, threadpoolctl\n"
        "print(*{one['num_threads'] for one in threadpoolctl.threadpool_info() if one['user_api'] == 'blas'})"
    )
    there = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=there
    )
    assert shown.stdout.split() == ["1"]


def test_no_plug_in_of_pydantic_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "listening.py").write_text(
        "class plugin:\n    new_schema_validator = staticmethod(lambda *_, **__: (None, None, None))\n"
    )
    about = tmp_path / "listening-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: listening\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pydantic]\nlistening = listening:plugin\n")
    code = (
        "import sys, peerage.cli.main as main; main.app = lambda **_: None; main.main()\n"
        "import peerage.settings; print('listening' in sys.modules)"
    )
    there = {name: value for name, value in os.environ.items() if not name.startswith("PYDANTIC_")}
    shown = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**there, "PYTHONPATH": str(tmp_path)},
    )
    assert shown.stdout == "False\n"


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("compare", "peerage compare [OPTIONS] ONE OTHER"),
        ("verify", "peerage verify [OPTIONS] [FOLDER]"),
        ("rate", "peerage rate [OPTIONS] FILE..."),
        ("challenges review", "peerage challenges review [OPTIONS] [ID] [VERDICT]"),
    ],
)
def test_help_names_arguments_in_capitals_and_in_brackets_only_those_that_may_be_left_out(
    command: str, usage: str
) -> None:
    shown = cli.invoke(app, [*command.split(), "-h"], prog_name="peerage").output
    assert shown.splitlines()[0] == f"Usage: {usage}"


def test_an_unknown_option_is_a_usage_error() -> None:
    shown = cli.invoke(app, ["players", "--colour"])
    assert shown.exit_code == 2
    assert "--colour" in shown.stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("leaderboard", "--track", "btt"), "'overall'. Did you mean 'bt'?"),
        (("rate", "--method", "TrueSkil", "-"), "Did you mean 'trueskill'?"),
        (("leaderboard", "--track", "zzz"), ""),
        (("leaderboard", "my arena"), "(my arena). Did you mean --dir 'my arena'?"),
        (("status", "my arena"), "Did you mean --dir 'my arena'?"),
        (("status", "nowhere"), ""),
        (("status", "x" * 5000), ""),
        (("completion", "bash", "my arena"), ""),  # which has no --dir
    ],
)
def test_what_was_nearly_right_is_told_as_it_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], meant: str
) -> None:
    (tmp_path / "my arena").mkdir()
    monkeypatch.chdir(tmp_path)
    shown = cli.invoke(app, words)
    assert shown.exit_code == 2
    assert meant in shown.stderr
    assert ("Did you mean" in shown.stderr) == bool(meant)


def test_a_match_number_after_replay_is_told_where_it_goes() -> None:
    shown = cli.invoke(app, ["replay", "139"])
    assert shown.exit_code == 2
    assert "It takes all matches of an arena; `peerage match 139` shows one" in shown.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("match abc", "found 'abc'; expected a whole number"),
        ("match 0", "found '0'; expected at least 1"),
        ("run --budget much", "found 'much'; expected a number"),
        ("status --dir file", "Invalid value for '--dir': 'file' is a file; expected a folder"),
    ],
)
def test_a_value_of_another_kind_is_told_as_settings_tell_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, told: str
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    shown = cli.invoke(app, words.split())
    assert shown.exit_code == 2
    assert shown.stderr.endswith(f"{told}\n")


@pytest.mark.parametrize("words", ["challenges list", "verdict", "status"])
def test_what_only_reads_makes_no_ledger(tmp_path: Path, words: str) -> None:
    (tmp_path / "arena.yaml").write_text("players: [house:0.9, house:0.6, house:0.3, house:0.1]\n", "utf-8")
    shown = cli.invoke(app, [*words.split(), "--dir", str(tmp_path)])
    assert shown.exit_code in (0, 1, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["arena.yaml"]


def test_a_folder_without_an_arena_is_said_to_be_none(tmp_path: Path) -> None:
    for command in ("status", "verify", "leaderboard"):
        shown = cli.invoke(app, [command, "--dir", str(tmp_path / "nowhere")])
        assert (shown.exit_code, "arena.yaml does not exist. `peerage init`" in shown.stderr) == (2, True)


def test_settings_that_cannot_be_used_leave_with_2(tmp_path: Path) -> None:
    shown = cli.invoke(app, ["players", "--dir", str(tmp_path)])
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert shown.stderr.startswith(f"peerage: {tmp_path / 'arena.yaml'} does not exist")


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> typer.Typer:
    def fail() -> None:
        raise error

    failing = typer.Typer(cls=main.Commands)
    failing.command("fail")(fail)
    failing.command("players")(lists.players)
    return failing


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (PlayerError("Ada: no such model"), 1, "peerage: Ada: no such model\n"),
        (KeyboardInterrupt(), 130, "interrupted; everything recorded is safe\n"),
        (
            SchemaError('Error building "model" validator:\n  KeyboardInterrupt: '),
            130,
            "interrupted; everything recorded is safe\n",
        ),
        (
            PermissionError(13, "Permission denied", "/far/arena.db"),
            1,
            "peerage: /far/arena.db: permission denied; give yourself permission, or name another place\n",
        ),
        (
            OSError(28, "No space left on device"),
            1,
            "peerage: the disk is full; free some space and run again\n",
        ),
    ],
)
def test_what_a_command_raises_becomes_one_message(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, told: str
) -> None:
    shown = cli.invoke(raising(monkeypatch, error), ["fail"])
    assert (shown.exit_code, shown.stderr) == (code, told)


def test_a_fault_whose_words_no_file_can_hold_is_told_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown = cli.invoke(raising(monkeypatch, ValueError("half \ud83d")), ["fail"])
    assert (shown.exit_code, type(shown.exception)) == (1, SystemExit)
    (log,) = tmp_path.iterdir()
    assert "half ?" in log.read_text("utf-8")


def test_a_fault_of_ours_names_the_file_that_holds_its_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown = cli.invoke(raising(monkeypatch, ZeroDivisionError("division by zero")), ["fail"])
    assert shown.exit_code == 1
    assert "Internal error: ZeroDivisionError: division by zero" in shown.stderr
    (log,) = tmp_path.iterdir()
    assert str(log) in shown.stderr
    assert "raise error" in log.read_text("utf-8")
    assert "Traceback" not in shown.stderr


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEERAGE_DEBUG", "1")
    shown = cli.invoke(raising(monkeypatch, PlayerError("no")), ["fail"])
    assert "Traceback" in shown.stderr


def test_a_closed_pipe_is_quiet() -> None:
    running = subprocess.run(
        f"{shlex.quote(sys.executable)} -m peerage.cli.main games --format json | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert running.stderr == ""


def test_a_word_that_is_none_of_an_options_is_told_without_the_parsers_own() -> None:
    shown = cli.invoke(app, ["leaderboard", "--track", "foo"])
    assert shown.exit_code == 2
    assert "'foo' is not one of 'strength'" in shown.stderr
    assert "Value error" not in shown.stderr
