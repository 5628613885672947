"""What a shell makes of a word that is begun: commands, options, and the names in an arena."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from peerage.cli.main import app

SETTINGS = "players: ['house:0.9', 'house:0.5', 'house:0.3', 'human:ada b']\n"
LINES = {
    "peerage leaderb": ["leaderboard"],
    "peerage leaderboard --track gl": ["glicko2"],
    "peerage compare house:0.9 house:0.": ["0.3", "0.5", "0.9"],  # a colon begins a word
    "peerage players ad": [r"ada\ b"],
    "peerage players --dir elsewhere house:": [],
}


@pytest.mark.skipif(os.name == "nt" or not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_commands_options_and_names(tmp_path: Path) -> None:
    arena = tmp_path / "my arena"
    arena.mkdir()
    (arena / "arena.yaml").write_text(SETTINGS, "utf-8")
    script = CliRunner().invoke(app, ["completion", "bash"]).output
    program = tmp_path / "peerage"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m peerage.cli.main "$@"\n', "utf-8")
    program.chmod(0o700)
    asked = "".join(
        f'COMP_LINE={shlex.quote(line)}; COMP_POINT=${{#COMP_LINE}}; _peerage_completion "$PROGRAM"; '
        'printf "%s\\t" "${COMPREPLY[@]}"; echo\n'
        for line in LINES
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{asked}"],
        cwd=arena,
        env={**os.environ, "PROGRAM": str(program)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    found = [[word for word in line.split("\t") if word] for line in done.stdout.splitlines()]
    assert dict(zip(LINES, found, strict=True)) == LINES
