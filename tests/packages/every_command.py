"""Run by the Python of a clean environment: commands, all in one process.

Reads a JSON list of lists of words; with the argument `others` it then calls every command that they do not
name, with nothing but an arena's folder. Writes a JSON list of [exit code, standard output, standard error].
"""

from __future__ import annotations

import json
import sys

from typer.main import get_command
from typer.testing import CliRunner

from peerage.cli.main import app


def others(asked: list[list[str]]) -> list[list[str]]:
    """All commands, those of a group too, that nobody asked for."""
    found = []
    for name, about in get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = {(name, one): each for one, each in getattr(about, "commands", {}).items()}
        for words, each in (inner or {(name,): about}).items():
            if not any(tuple(one[: len(words)]) == words for one in asked):
                has_folder = any("--dir" in param.opts for param in each.params)
                found.append([*words, *["--dir", "arena"] * has_folder])
    return found


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    told = []
    for words in [*asked, *(others(asked) if "others" in sys.argv else ())]:
        done = CliRunner().invoke(app, words)
        told.append([done.exit_code, done.stdout, done.stderr])
    json.dump(told, sys.stdout)
