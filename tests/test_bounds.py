"""No test waits for ever, also where these are run in the background or under nohup."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG

CHILD = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
PARENT = f"""
import subprocess, sys
for _ in range(2):
    print(subprocess.run([sys.executable, "-c", {CHILD!r}], capture_output=True, text=True).stdout.strip())
    from tests.conftest import pytest_configure
    pytest_configure()
"""


def test_every_test_has_a_bound(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        mark = item.get_closest_marker("timeout")
        assert mark is not None, item.nodeid
        assert 0 < mark.args[0] <= 7200, item.nodeid


def test_what_takes_long_begins_first() -> None:
    assert [name for name in LONG if not (Path(__file__).parent / name).is_file()] == []


@pytest.mark.skipif(os.name == "nt", reason="no signal is inherited there")
def test_children_heed_ctrl_c_where_this_process_may_not() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PARENT],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert said.stdout.split() == ["True", "False"]
