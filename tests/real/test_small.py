"""A few duels of a real language model over real HTTP, stopped by Ctrl+C and gone on with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.real.arena import (
    DRAFTED,
    ONE_THREAD,
    PROMPTS,
    Run,
    asked_twice,
    check_drafted,
    check_prompted,
    needs_model,
    read_back,
    recorded,
    servers_of,
    write_arena,
)

from peerage.arena import open_arena

pytestmark = needs_model


@pytest.mark.slow
def test_a_drafted_duel_interrupted_and_resumed(tmp_path: Path) -> None:
    folder = write_arena(tmp_path / "arena", DRAFTED, calls=1)
    with Run.start(folder, 1) as first:
        first.until_answered(2)
        first.interrupt()
    before = recorded(folder)
    assert 2 <= before < 7, "the run was over before it was interrupted"
    with Run.start(folder, 1) as second:
        second.until_answered(before + 1)
        assert "1 match, 1 of them now" in second.finish()
    assert asked_twice(folder) == []
    played = read_back(folder, 1)
    check_drafted(played)
    assert played.valid_share >= 0.5


@pytest.mark.slow
def test_own_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    folder = write_arena(tmp_path / "arena", PROMPTS)
    with open_arena(folder) as arena:
        assert arena.run(1).settled == 1
    assert servers_of(os.getpid()) == []
    played = read_back(folder, 1)
    assert {one.key.partition("/")[0] for one in played.said} == {"answer", "judge"}
    check_prompted(played)
