"""Helpers: what becomes of calls whose helper is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from peerage.values.parallel import Lost, Processes


def test_one_that_died_before_it_was_asked_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Processes._start

    def dead(helpers: Processes) -> subprocess.Popen[bytes]:
        process = start(helpers)
        process.kill()
        process.wait()
        return process

    monkeypatch.setattr(Processes, "_start", dead)
    with Processes(1) as helpers, pytest.raises(Lost, match="ended from outside"):
        helpers.submit(max, 1, 2).result()


def test_one_that_dies_or_takes_too_long_is_lost_and_replaced() -> None:
    with Processes(1, longest_s=2.0) as helpers:
        for work, given in ((os._exit, 1), (time.sleep, 600)):
            with pytest.raises(Lost):
                helpers.submit(work, given).result()
            assert helpers.submit(max, 1, 2).result() == 2
        assert len(helpers._started) == 1


@pytest.mark.skipif(not hasattr(os, "nice"), reason="has no priorities")
def test_polite_ones_run_below_the_priority_of_others() -> None:
    with Processes(1) as helpers, Processes(1, polite=True) as polite:
        assert polite.submit(os.nice, 0).result() == min(19, helpers.submit(os.nice, 0).result() + 10)


WORKING = """
import os, time
from peerage.values.parallel import Processes
helpers = Processes(1)
helpers.submit(os.getpid).result()
helpers.submit(time.sleep, 600)
print("at work", flush=True)
time.sleep(600)
"""


def test_helpers_end_when_what_started_them_is_killed() -> None:
    asking = subprocess.Popen(
        [sys.executable, "-c", WORKING], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert asking.stdout is not None
    try:
        assert asking.stdout.readline() == b"at work\n"
    finally:
        asking.kill()
    # It ends when nobody is left who could write to it.
    assert asking.communicate(timeout=60)[0] == b""
