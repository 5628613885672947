"""`peerage sandbox run` and `peerage sandbox check`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from peerage.cli.main import app


def test_a_program_with_its_input(tmp_path: Path) -> None:
    program, stdin = tmp_path / "p.py", tmp_path / "in.txt"
    program.write_text("print(int(input()) * 2, '\\x1b[31m')")
    stdin.write_text("21")
    shown = CliRunner().invoke(app, ["sandbox", "run", str(program), "--stdin", str(stdin)])
    assert shown.exit_code == 0
    assert shown.stdout == "42 \ufffd[31m\n"
    assert shown.stderr.startswith("ok: ")
    told = CliRunner().invoke(
        app, ["sandbox", "run", str(program), "--stdin", str(stdin), "--format", "json"]
    )
    data = json.loads(told.stdout)
    assert set(data) == {"status", "stdout", "stderr", "fuel", "milliseconds"}
    assert (data["status"], data["stdout"], data["stderr"]) == ("ok", "42 \x1b[31m\n", "")
    assert data["fuel"] > 0


def test_a_program_that_fails(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("print(1)\n1/0")
    shown = CliRunner().invoke(app, ["sandbox", "run", str(program)])
    assert shown.exit_code == 1
    assert shown.stdout == "1\n"
    assert "ZeroDivisionError" in shown.stderr
    assert "error: " in shown.stderr


def test_a_program_of_windows(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"\xef\xbb\xbfprint(1)\r\nprint(2)\r\n")
    found = CliRunner().invoke(app, ["sandbox", "run", str(file)])
    assert (found.exit_code, found.stdout) == (0, "1\n2\n"), found.stderr


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_bytes(b"\xff\xfe")
    shown = CliRunner().invoke(app, ["sandbox", "run", str(program)])
    assert shown.exit_code == 2
    assert "UTF-8" in shown.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the jail is for Linux")
def test_check_says_what_protects() -> None:
    shown = CliRunner().invoke(app, ["sandbox", "check"])
    assert shown.exit_code == 0
    assert shown.stdout.startswith("yes, held by WebAssembly, Landlock")
    assert "seccomp" in shown.stdout
    found = json.loads(CliRunner().invoke(app, ["sandbox", "check", "--format", "json"]).stdout)
    assert found["refused"] == ""


@pytest.mark.parametrize(("lacks", "said"), [("", "yes"), ("no Landlock", "no. no Landlock")])
def test_check_says_what_agents_and_commands_lack(
    lacks: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerage.sandbox.pool.lacking", lambda: lacks)
    shown = CliRunner().invoke(app, ["sandbox", "check"])
    assert shown.stdout.splitlines()[1:] == [f"agents and commands: {said}"]


def test_help_needs_neither_wasmtime_nor_asyncio() -> None:
    code = (
        "import sys, peerage.cli.check.sandbox; "
        "print([name for name in ('wasmtime', 'asyncio', 'peerage.sandbox.pool') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
