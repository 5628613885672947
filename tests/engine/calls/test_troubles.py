"""Who is waited for and why, whose replies are cut, who fails: shown while it happens, and logged."""

from __future__ import annotations

import asyncio
import io
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.engine.arenas import patience, play, write_arena
from tests.engine.clients import Cast

from peerage.arena import open_arena
from peerage.cli.play.live import Spectator
from peerage.engine.calls.troubles import Trouble, in_short
from peerage.engine.run.report import Progress
from peerage.engine.run.runner import Runner
from peerage.engine.run.words import TROUBLED, troubles
from peerage.players.client import Answer, Call, PlayerError

CUT = Answer("half of an ans", 0.1, 5, 5, 0.0, truncated=True)
KEPT = {"concurrency": 2, "retries": 4}


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (Trouble("qwen", 1, "503", 4, 5, 8.2), "qwen: 503, try 4 of 5, 8 s"),
        (Trouble("qwen", 3, "503", 4, 5, 8.2), "qwen: 503, try 4 of 5, 8 s (3 calls)"),
        (
            Trouble("qwen", reason="503", queued=4, paused_s=8.2),
            "qwen: 503, asked again in 8 s (4 calls wait)",
        ),
        (Trouble("qwen", queued=1, paused_s=60), "qwen: paused, asked again in 60 s (1 call waits)"),
        (
            Trouble("qwen", reason="429", queued=4, paused_s=86_390.0),
            "qwen: 429, asked again in 24 hours (4 calls wait)",
        ),
        (Trouble("qwen", 1, "429", 2, 5, 400.0), "qwen: 429, try 2 of 5, 7 min"),
        (Trouble("phi", in_flight=2, silent_s=42.0), "phi: no reply for 42 s (2 calls)"),
        (Trouble("phi", in_flight=2, silent_s=2.0), ""),
        (Trouble("phi", answered=9, cut=4), "phi: 4 of 9 replies cut at their token limit"),
        (Trouble("kit", answered=9, early=2), "kit: 2 of 9 replies ended early, by time or money"),
        (Trouble("mini", failed=1, failure="401"), "mini: 1 call failed, the last: 401"),
        (
            Trouble("mini", 1, "429", 2, 6, 1.0, failed=7, failure="401"),
            "mini: 429, try 2 of 6, 1 s; 7 calls failed, the last: 401",
        ),
    ],
)
def test_a_players_trouble_in_one_line(trouble: Trouble, told: str) -> None:
    assert str(trouble) == told


def test_a_failure_in_short_is_its_status_or_how_it_begins_and_is_printable() -> None:
    assert in_short("qwen: the provider failed (503): overloaded (42)", "qwen") == "503"
    assert in_short("qwen: no reply within 120 s", "qwen") == "no reply within 120 s"
    assert in_short("qwen: \x1b[2J" + "x" * 200, "qwen").startswith("\ufffd[2Jxxx")
    assert len(in_short("x" * 200, "qwen")) == 60


def seen(folder: Path, cast: Cast, seconds: float) -> tuple[Progress, str]:
    """How a run stands after so many seconds, and what the live view shows then."""
    found: list[tuple[Progress, str]] = []
    screen = Console(file=io.StringIO(), force_terminal=True, width=100, height=40, color_system=None)
    with open_arena(folder) as arena:
        spectator = Spectator(arena, None, screen)

    async def look(runner: Runner) -> None:
        await asyncio.sleep(seconds)
        progress = runner.progress()
        with screen.capture() as shown:
            screen.print(spectator._view(progress))
        found.append((progress, shown.get()))
        runner.stop()
        runner.stop()

    play(folder, 200, clients=cast, beside=look)
    return found[0]


@patience(BACKOFF_S=8.0, BACKOFF_MAX_S=8.0)
def test_a_spectator_sees_who_is_waited_for_and_why(tmp_path: Path) -> None:
    def act(call: Call, attempt: int) -> Answer | PlayerError | None:
        return PlayerError("down (503): later") if "answer/A" in call.key else None

    folder = write_arena(tmp_path, 6, engine=KEPT)
    progress, shown = seen(folder, Cast(act, lambda: 0.5), 6.0)
    (trouble, *_) = progress.troubles
    assert (trouble.reason, trouble.attempt, trouble.attempts) == ("503", 2, 5)
    assert 0 < trouble.seconds <= 8
    assert f"{trouble.player}: 503, try 2 of 5, {trouble.seconds:.0f} s" in shown


def test_a_spectator_sees_who_is_slow_who_is_cut_and_who_fails(tmp_path: Path) -> None:
    def act(call: Call, attempt: int) -> Answer | PlayerError | None:
        if call.key.startswith("question/"):
            return CUT
        return PlayerError("no credit (402)", kind="request") if call.role == "contestant" else None

    folder = write_arena(tmp_path, 6, engine={**KEPT, "concurrency": 1})
    _, shown = seen(folder, Cast(act, lambda: 3.0), 40.0)
    assert "replies cut at their token limit" in shown
    assert "failed, the last: 402" in shown
    _, shown = seen(write_arena(tmp_path / "slow", 6, engine=KEPT), Cast(lambda *_: None, lambda: 90.0), 30.0)
    assert "no reply for 30 s" in shown


def test_of_many_players_in_trouble_the_first_few_are_told(tmp_path: Path) -> None:
    progress, _ = seen(write_arena(tmp_path, 6), Cast(lambda *_: None), 0.1)
    many = tuple(Trouble(f"p{place}", failed=1, failure="401") for place in range(TROUBLED + 3))
    lines = troubles(replace(progress, troubles=many))
    assert len(lines) == TROUBLED
    assert lines[0] == "p0: 1 call failed, the last: 401"
    assert lines[-1] == "and 4 more players in trouble"


def test_the_log_tells_calls_retries_and_waits_and_warns_once_of_each_trouble(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def act(call: Call, attempt: int) -> Answer | PlayerError | None:
        if call.key == "answer/A":
            return PlayerError("down (503)\nINFO peerage: forged \x1b[2J") if attempt < 2 else None
        if call.key == "answer/B":
            return PlayerError("closed (401)", kind="request")
        return CUT if call.key.startswith("question/") else None

    folder = write_arena(tmp_path, 6, engine={**KEPT, "concurrency": 1})
    with caplog.at_level(logging.INFO, "peerage"):
        play(folder, 4, clients=Cast(act, lambda: 0.5))
    said = caplog.messages
    assert any("match 1 question/1/1, p" in one and ": ok in " in one for one in said)
    retries = [one for one in said if "try " in one]
    assert len(retries) >= 2 * 4
    assert "match 1 answer/A, p" in retries[0]
    assert "down (503) INFO peerage: forged \ufffd[2J; try 2 of 5 in " in retries[0]
    assert not any("\x1b" in one or "\n" in one for one in said)
    warned = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    given_up = [one for one in warned if "the call is given up" in one]
    cut = [one for one in warned if "was cut" in one]
    assert len(warned) == len(given_up) + len(cut)
    assert len({one.split(":")[0] for one in given_up}) == len(given_up)
    assert len({one.split(":")[0] for one in cut}) == len(cut) > 1
    assert sum("given up" in one for one in said) >= 4
