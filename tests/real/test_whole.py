"""Thirty duels of a real language model, in full: `make real`."""

from __future__ import annotations

import shutil
import signal
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
    alive,
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
from peerage.reading.matches import Matches
from peerage.views.match.match import tasks

pytestmark = [needs_model, pytest.mark.real]


def play(folder: Path, matches: int) -> Played:
    """Play with two interruptions, check what every arena keeps, and tell the figures."""
    started = time.monotonic()
    for share in (4, 2):
        with Run.start(folder, matches) as run:
            run.until_answered(recorded(folder) + matches // share)
            run.interrupt()
    at = recorded(folder)
    with Run.start(folder, matches) as last:
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
        prompts = Counter(tasks(arena.match(number).blocks)["prompt"] for number in range(1, 21))
    assert sum(row.matches + row.void for row in table) == 44
    assert all(9 <= row.matches + row.void <= 13 for row in table), "everybody plays alike"
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


def test_ctrl_c_while_the_model_loads(tmp_path: Path) -> None:
    with Run.start(write_arena(tmp_path / "arena", PROMPTS), 2) as run:
        until = time.monotonic() + 60
        while not (servers := servers_of(run.process.pid)):
            assert time.monotonic() < until
            time.sleep(0.02)
        run.process.send_signal(signal.SIGINT)
        _, err = run.process.communicate(timeout=60)
    assert run.process.returncode == 130, err
    assert not alive(servers[0])


def test_the_example_is_played(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "smollm2"
    folder = Path(shutil.copytree(example, tmp_path / "arena"))
    with Run.start(folder, 3) as run:
        run.until_answered(1)
        run.finish()
    with open_arena(folder, create=False) as arena:
        assert arena.verify().ok
        assert arena.replay().recomputed == 3
        ballots = [ballot for match in range(1, 4) for ballot in Matches(arena.ledger).match(match).ballots]
    assert ballots
