"""Thirty duels of a real language model, in full: `make real`."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from tests.real.arena import (
    DRAFTED,
    PLAYERS,
    PROMPTS,
    TASKS,
    Played,
    Run,
    asked_twice,
    check_drafted,
    check_prompted,
    needs_model,
    read_back,
    recorded,
    write_arena,
)

from peerage.arena import open_arena

pytestmark = [needs_model, pytest.mark.real]


def play(folder: Path, matches: int) -> Played:
    """Play with two interruptions, check what every arena keeps, and tell the figures."""
    started = time.monotonic()
    for share in (4, 2):
        run = Run.start(folder, matches)
        run.until_answered(recorded(folder) + matches // share)
        run.interrupt()
    at = recorded(folder)
    last = Run.start(folder, matches)
    last.until_answered(at + 1)
    last.finish()
    seconds = time.monotonic() - started
    played = read_back(folder, matches)
    assert asked_twice(folder) == []
    tokens = sum(one.reply.output_tokens or 0 for one in played.said)
    pace, rate = 60 * matches / seconds, tokens / seconds
    ends = dict(Counter(record.outcome.void or "settled" for record in played.records))
    print(f"\n{matches} duels ({ends}), {len(played.said)} replies in {seconds:.0f} s")
    print(f"{pace:.1f} duels a minute, {rate:.1f} tokens written a second")
    print(f"{played.valid_share:.0%} of {len(played.votes)} votes and verdicts valid")
    return played


def test_own_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_arena(tmp_path / "arena", PROMPTS)
    with capsys.disabled():
        played = play(folder, 22)
    check_prompted(played)
    assert played.valid_share >= 0.8
    with open_arena(folder, create=False) as arena:
        table = arena.leaderboard("raw")
        prompts = Counter(arena.transcript(number).challenge["prompt"] for number in range(1, 21))
    assert sum(row["matches"] + row["void"] for row in table) == 44
    assert all(9 <= row["matches"] + row["void"] <= 13 for row in table), "everybody plays alike"
    assert prompts == dict.fromkeys(TASKS, 5), "prompts come up equally often"


def test_drafted_challenges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_arena(tmp_path / "arena", {**DRAFTED, "order": "both"})
    with capsys.disabled():
        played = play(folder, 8)
    check_drafted(played)
    assert played.valid_share >= 0.8
    authors = {one.player for one in played.said if one.key.startswith("question")}
    assert len(authors) > 1
    for record in played.records:
        for ballot in record.outcome.detail.get("ballots", ()):
            assert len(ballot["verdicts"]) == 2, "each judge sees both orders"
    assert {one.player for one in played.votes} == {player["name"] for player in PLAYERS}
