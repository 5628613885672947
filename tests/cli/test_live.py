"""What a spectator sees."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from peerage.arena import open_arena
from peerage.cli.live import Spectator, verdict
from peerage.cli.starter import demo_text
from peerage.ledger.store import Summary


def summary(scores: tuple[float, ...], status: str = "done", topic: str = "") -> Summary:
    players = ("Ada", "Bo\x1b[2J")
    return Summary(7, 2, "duel", topic, players, status, scores, (None, None), 0, (), (), 0)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (summary((1.0, 0.0), topic="law"), "7: Ada beat Bo\ufffd[2J on law"),
        (summary((0.0, 1.0)), "7: Bo\ufffd[2J beat Ada"),
        (summary((0.5, 0.5)), "7: Ada and Bo\ufffd[2J tied"),
        (summary((), "no_challenge"), "7: Ada and Bo\ufffd[2J: void, no_challenge"),
    ],
)
def test_a_match_in_one_line(found: Summary, told: str) -> None:
    assert verdict(found) == told


def test_a_terminal_shows_progress_table_and_verdicts(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=40, color_system=None)
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, 8, None, console)
        arena.run(8, observe=spectator.observe, beside=spectator.watch)
        runner = spectator._runner
        assert runner is not None
        console.print(spectator._view(runner.progress()))
    shown = screen.getvalue()
    assert "8/8 matches" in shown
    assert "$0.00 spent" in shown
    assert "Cost Elo" in shown
    assert " beat " in shown
    assert "leads with" in shown
    assert "Ctrl+C" in shown


def test_a_resumed_run_counts_what_was_before(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    with open_arena(tmp_path) as arena:
        arena.run(8)
        spectator = Spectator(arena, 12, None, Console(file=io.StringIO()))
        arena.run(12, observe=spectator.observe, beside=spectator.watch)
        rows = {row["player"]: row for row in arena.leaderboard("raw")}
    for player, (won, drawn, lost) in spectator._record.items():
        assert (won, drawn, lost) == tuple(rows[player][key] for key in ("wins", "draws", "losses"))
