"""Helpers: what becomes of calls whose helper is gone."""

from __future__ import annotations

import subprocess

import pytest

from peerage.parallel import Lost, Processes


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
