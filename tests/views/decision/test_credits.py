"""Credits of checks and the accuracy of players: in tables, by category, compared, and nowhere else."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.views.tasks_arena import CATEGORIES, SKILLS, arena_of_tasks
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.interchange.evaluations import every_eval_ever
from peerage.ledger.forms.codec import read_fixture, read_record
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import Scope
from peerage.reading.verdicts.credits import credits_of
from peerage.site.addresses import player_page
from peerage.site.pages.router import body
from peerage.site.reading import Site
from peerage.values.figures import share_between
from peerage.views.decision.compare import compare
from peerage.views.leaderboard.board import board

cli = CliRunner()


def by_hand(arena: Arena, category: str = "") -> dict[str, float]:
    """Everybody's accuracy, computed from fixtures and records alone."""
    given: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    weights: dict[str, float] = {}
    texts = {digest.hex(): text for digest, text in arena.ledger.texts().items()}
    for issued, row in zip(arena.ledger.fixtures(), arena.ledger.records(), strict=False):
        fixture, outcome = read_fixture(issued.body, texts.__getitem__), read_record(row.body).outcome
        if category and fixture.drawn["category"] != category:
            continue
        task = str(fixture.drawn["task"])
        weights[task] = float(fixture.drawn.get("weight", 1))
        for seat in fixture.seats:
            if seat.label in outcome.detail.get("checks", {}):
                given[seat.player][task].append(outcome.detail["checks"][seat.label])
    return {
        player: sum(weights[task] * sum(got) / len(got) for task, got in tasks.items())
        / sum(weights[task] for task in tasks)
        for player, tasks in given.items()
    }


def test_accuracy_is_what_the_records_say(tasks_arena: Arena) -> None:
    found = {row.player: row for row in board(tasks_arena.reading).rows}
    expected = by_hand(tasks_arena)
    assert expected.keys() == SKILLS.keys()
    for player, accuracy in expected.items():
        row = found[player]
        assert row.accuracy == pytest.approx(accuracy, abs=1e-12)
        assert row.accuracy_lower is not None
        assert row.accuracy_upper is not None
        assert row.accuracy_lower < row.accuracy <= row.accuracy_upper
        assert 20 <= row.accuracy_tasks <= 24
    assert len({round(value, 3) for value in expected.values()}) == 4


def test_a_category_has_an_accuracy_of_its_own(tasks_arena: Arena) -> None:
    for category in CATEGORIES:
        table = board(tasks_arena.reading, scope=Scope(topic=category))
        expected = by_hand(tasks_arena, category)
        assert {row.player: row.accuracy for row in table.rows} == pytest.approx(expected)
        part = board(tasks_arena.reading).credits.by_category[category]
        assert {player: one.accuracy for player, one in part.accuracies.items()} == pytest.approx(expected)


def test_the_terminal_json_and_csv_have_it(tasks_folder: Path, tasks_arena: Arena) -> None:
    words = ["leaderboard", "--dir", str(tasks_folder)]
    expected = by_hand(tasks_arena)
    rows = json.loads(cli.invoke(app, [*words, "--format", "json"]).stdout)
    assert {row["player"]: row["accuracy"] for row in rows} == pytest.approx(expected)
    assert all(row["accuracy_lower"] < row["accuracy"] <= row["accuracy_upper"] for row in rows)
    shown = cli.invoke(app, words).stdout
    assert " Accuracy " in shown
    for row in rows:
        assert share_between(row["accuracy"], row["accuracy_lower"], row["accuracy_upper"]) in shown
    sheet = csv.DictReader(io.StringIO(cli.invoke(app, [*words, "--format", "csv"]).stdout))
    assert {row["player"]: float(row["accuracy"]) for row in sheet} == pytest.approx(expected)
    assert "Accuracy" in str(tasks_arena.leaderboard())


def test_records_of_every_eval_ever_have_it(tasks_arena: Arena) -> None:
    table = board(tasks_arena.reading)
    files = dict(every_eval_ever(tasks_arena.ledger, "sums", table, "1", 0))
    records = [json.loads(text) for file, text in files.items() if file.endswith(".json")]
    found = {}
    for record in records:
        (result,) = [one for one in record["evaluation_results"] if one["evaluation_name"] == "sums/accuracy"]
        details = result["score_details"]
        found[record["model_info"]["name"]] = details["score"]
        interval = details["uncertainty"]["confidence_interval"]
        assert interval["lower"] < details["score"] <= interval["upper"]
    assert found == pytest.approx(by_hand(tasks_arena))


def test_pages_have_it(tasks_folder: Path) -> None:
    site = Site.open(tasks_folder)
    row = next(row for row in site.table() if row.player == "best")
    for path in ("index.html", player_page("best")):
        told = (body(site, path) or b"").decode()
        assert "Accuracy" in told
        assert row.accuracy_in_words in told
    category = site.board().credits.by_category["dates"].accuracies["best"]
    told = (body(site, player_page("best")) or b"").decode()
    assert share_between(category.accuracy, category.lower, category.upper) in told
    site.close()


def test_two_players_are_compared_on_the_tasks_of_both(tasks_arena: Arena) -> None:
    table = board(tasks_arena.reading)
    found = compare(table, [], "best", "poor")
    assert found.accuracy is not None
    assert found.accuracy.difference > found.accuracy.lower > 0
    assert "best is more accurate than poor by" in found.lines[-1]
    assert "which may be chance" not in found.lines[-1]
    back = compare(table, [], "poor", "best")
    assert back.accuracy is not None
    assert back.accuracy.difference == pytest.approx(-found.accuracy.difference)
    assert back.lines[-1] == found.lines[-1]


def test_arenas_without_checks_have_no_column_and_read_no_record(folder: Path, arena: Arena) -> None:
    shown = cli.invoke(app, ["leaderboard", "--dir", str(folder)]).stdout
    assert "Accuracy" not in shown
    with patch("peerage.reading.results.played.credits_of", wraps=credits_of) as reading:
        table = board(arena.reading)
    assert not reading.called
    assert {row.accuracy for row in table.rows} == {None}
    assert compare(table, [], "p1", "p2").accuracy is None
    site = Site.open(folder)
    assert b"Accuracy" not in (body(site, "index.html") or b"")
    site.close()


def test_answers_that_never_came_are_left_out_and_unusable_ones_are_wrong(tmp_path: Path) -> None:
    faults = {"failing": 0.1, "refusing": 0.3}
    players = [{"name": name, "model": "house:1.0", "faults": faults} for name in ("ann", "bob", "cid")]
    made = arena_of_tasks(tmp_path, 40, players=players)
    with open_arena(made, create=False) as arena:
        played = PlayedMatches(arena.ledger, Scope())
        void = {one.number for one in played.finished if one.status == "no_answer"}
        assert void
        assert not any(one.credits for one in played.credits.matches if one.number in void)
        for row in board(arena.reading).rows:
            assert row.accuracy is not None
            assert row.accuracy < 0.9
        found = {name: one.accuracy for name, one in played.credits.accuracies.items()}
        assert found == pytest.approx(by_hand(arena))


def test_answers_to_a_task_that_was_changed_since_do_not_count(tmp_path: Path) -> None:
    """A corrected `expected` would else leave the credits of the wrong one under the same id."""
    wrong = [{"prompt": f"{n}?", "expected": "wrong" if n < 2 else str(n), "id": f"t{n}"} for n in range(4)]
    players = [{"name": name, "model": "house:1.0"} for name in ("ann", "bob")]
    made = arena_of_tasks(tmp_path, 16, players=players, tasks=wrong)
    with open_arena(made, create=False) as arena:
        before = PlayedMatches(arena.ledger, Scope()).credits
        assert not before.outdated
        assert "changed while" not in " ".join(arena.verdict().lines)
    right: list[dict[str, Any]] = [{**task, "expected": str(n)} for n, task in enumerate(wrong)]
    right[3]["weight"] = 2
    arena_of_tasks(tmp_path, 16, players=players, tasks=right)
    with open_arena(made, create=False) as arena:
        lines = " ".join(arena.verdict().lines)
        assert "2 tasks (t0, t1) changed and were not asked since: accuracy counts what was" in lines
    arena_of_tasks(tmp_path, 26, players=players, tasks=right)
    with open_arena(made, create=False) as arena:
        found = PlayedMatches(arena.ledger, Scope()).credits
        old = [one for one in found.matches if one.outdated]
        assert {one.task for one in old} == set(found.outdated) == {"t0", "t1"}
        assert max(one.number for one in old) <= 16
        assert not any(one.credits for one in old)
        for tasks in found.by_player.values():
            assert {name: task.answers for name, task in tasks.items()} == {
                name: sum(one.task == name and not one.outdated for one in found.matches) for name in tasks
            }
            assert tasks["t3"].weight == 2
        names = ", ".join(found.outdated)
        assert f"2 tasks ({names}) changed while this was played" in " ".join(arena.verdict().lines)
        told = arena.gate("ann", "bob", "10%", these_tasks=True)
        assert told.of == "accuracy"
        assert arena.replay().differences == ()
        lines = " ".join(arena.verdict().lines)
        assert "left your file" not in lines
        assert "alike" not in lines
        assert "not asked since" not in lines
        assert "the tasks" not in lines
    moved = [{**task, "category": "new"} for task in right[1:]]
    judged = {"judging": {"rubric": "Short is good."}, "judges": ["house:0.9"]}
    arena_of_tasks(tmp_path, 36, players=players, tasks=moved, **judged)
    with open_arena(made, create=False) as arena:
        lines = " ".join(arena.verdict().lines)
        assert "1 task (t0) left your file since: accuracy and ratings still count their answers." in lines
        assert "judges, judging.rubric changed after match 26: ratings count the matches before" in lines
        assert "the tasks" not in lines
        found = PlayedMatches(arena.ledger, Scope()).credits
        assert found.by_category.keys() == {"new"}
        assert {one.category for one in found.matches if one.task in ("t1", "t2", "t3")} == {"new"}


def test_a_changed_rubric_is_said(tmp_path: Path) -> None:
    """It changes no check, so accuracy counts all answers."""
    duo = [{"name": name, "model": "house:1.0"} for name in ("ann", "bob")]
    mine = [{"prompt": f"{n}?", "expected": str(n), "id": f"t{n}"} for n in range(4)]
    made = arena_of_tasks(tmp_path, 8, players=duo, tasks=mine)
    arena_of_tasks(tmp_path, 12, players=duo, tasks=[{**task, "rubric": "Be short."} for task in mine])
    with open_arena(made, create=False) as arena:
        assert "the tasks changed after match 8: ratings count the matches" in " ".join(arena.verdict().lines)
        assert not PlayedMatches(arena.ledger, Scope()).credits.outdated


@pytest.mark.parametrize(
    ("share", "bounds", "words"),
    [
        (0.974, (0.91, 0.99), "97% (91–99%)"),
        (1.0, (0.9, 1.0), "100% (90–100%)"),
        (0.9992, (0.99, 0.99999), "99.9% (99.0–99.9%)"),
        (0.998, (0.9, 0.9999), "99.8% (90–99.9%)"),
        (0.0, (0.0, 0.3), "0% (0–30%)"),
        (0.001, (0.0001, 0.3), "0.1% (0.1–30%)"),
        (0.5, (0.49, 0.51), "50.0% (49.0–51.0%)"),
    ],
)
def test_only_all_is_all(share: float, bounds: tuple[float, float], words: str) -> None:
    assert share_between(share, *bounds) == words
