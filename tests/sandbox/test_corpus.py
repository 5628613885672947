"""Ordinary programs print in the sandbox what they print in CPython."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.sandbox.conftest import QUICK, Sandboxes
from tests.sandbox.corpus import PROGRAMS, STDIN


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_as_in_cpython(name: str, sandbox: Sandboxes) -> None:
    source, stdin = PROGRAMS[name], STDIN.get(name, "")
    real = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", source],
        input=stdin.encode(),
        capture_output=True,
        timeout=300,
        check=True,
    )
    result = sandbox.run(source, stdin, QUICK)
    assert result.status == "ok", result.stderr
    assert result.stdout == real.stdout.decode()
    assert result.stderr == ""
