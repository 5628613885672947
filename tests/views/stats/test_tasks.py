"""Tasks by players: what each came to on each task."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.engine.arenas import play, write_arena
from tests.views.decision.test_credits import by_hand
from tests.views.tasks_arena import players
from typer.testing import CliRunner

from peerage.arena import Arena
from peerage.cli.main import app
from peerage.reading.verdicts.credits import Credits, TaskMatch
from peerage.views.stats.tasks import task_rows

cli = CliRunner()


def match(
    number: int, task: str, credits: Sequence[float], scores: Sequence[float], *, outdated: bool = False
) -> TaskMatch:
    return TaskMatch(
        number=number,
        task=task,
        category="mail",
        weight=1.0,
        players={"A": "ann", "B": "bob"},
        scores=scores,
        credits=dict(zip("AB", credits, strict=False)),
        notes={},
        decided="by check",
        outdated=outdated,
    )


def test_each_task_has_its_players_results_the_hardest_first() -> None:
    rows = task_rows(
        Credits(
            [
                match(1, "easy", (1.0, 1.0), (0.5, 0.5)),
                match(2, "telling", (1.0, 0.0), (1.0, 0.0)),
                match(3, "telling", (0.5, 0.0), (1.0, 0.0)),
                match(4, "judged", (), (0.0, 1.0)),
                match(5, "changed", (), (0.0, 1.0), outdated=True),
                match(6, "void", (), ()),
            ]
        )
    )
    assert [(row.task, row.by, row.answers, row.result, row.spread) for row in rows] == [
        ("telling", "check", 4, 0.375, 0.75),
        ("judged", "points", 2, 0.5, 1.0),
        ("easy", "check", 2, 1.0, 0.0),
    ]
    assert [row.players for row in rows] == [
        {"ann": 0.75, "bob": 0.0}, {"ann": 0.0, "bob": 1.0}, {"ann": 1.0, "bob": 1.0}
    ]  # fmt: skip


def test_terminal_json_and_csv_show_them(tasks_folder: Path, tasks_arena: Arena) -> None:
    def shown(shape: str) -> str:
        return cli.invoke(
            app, ["stats", "--dir", str(tasks_folder), "--of", "tasks", "--format", shape]
        ).stdout

    rows = json.loads(shown("json"))
    assert len(rows) == 24
    for player, accuracy in by_hand(tasks_arena).items():
        weights = {
            row["task"]: 1 + (int(row["task"][1:]) % 5 == 0) for row in rows if player in row["players"]
        }
        results = {row["task"]: row["players"][player] for row in rows if player in row["players"]}
        mean = sum(weights[task] * results[task] for task in results) / sum(weights.values())
        assert mean == pytest.approx(accuracy)
    table = list(csv.DictReader(io.StringIO(shown("csv"))))
    assert [row["task"] for row in table] == [row["task"] for row in rows]
    assert {key for key in table[0] if key.startswith("players.")} == {
        f"players.{name}" for name in by_hand(tasks_arena)
    }
    text = shown("table")
    assert text.index(f" {rows[0]['task']} ") < text.index(f" {rows[-1]['task']} ")


def test_an_arena_without_tasks_says_so(tmp_path: Path) -> None:
    folder = write_arena(tmp_path, players(), game="logic", rules={}, name="logic")
    play(folder, 2)
    shown = cli.invoke(app, ["stats", "--dir", str(folder), "--of", "tasks"])
    assert shown.output == "No match about a task of your own has a result yet.\n"
