"""A gate: shown, worse, or not to be told yet, by what two players did on the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import house, play, write_arena
from tests.engine.clients import Scripted, says

from peerage.arena import Arena, open_arena
from peerage.players.client import Answer, Call
from peerage.ratings.claims.not_worse import fewest
from peerage.reading.scope import ScopeError
from peerage.views.decision.gate import EXIT_CODES, Gate, margin

Right = Callable[[int, int], bool]
"""Whether a player answers task number … rightly at its … time."""


def always(task: int, time: int) -> bool:
    return True


def never(task: int, time: int) -> bool:
    return False


def arena_of(
    folder: Path,
    players: Mapping[str, Right],
    matches: int,
    tasks: int = 10,
    **columns: Callable[[int], Any],
) -> Path:
    """An arena whose players answer rightly as they are told to."""
    rows = [
        {"prompt": f"Task {task}", "expected": "yes", "id": f"t{task}"}
        | {key: value(task) for key, value in columns.items()}
        for task in range(tasks)
    ]
    listed = [{"name": name, "model": "house:0.5"} for name in players]
    made = write_arena(folder, listed, rules={}, tasks={"tasks": rows, "then": "tie", "samples": "fresh"})

    def opened(settings: Any) -> Scripted:
        times: Counter[int] = Counter()

        def act(call: Call, attempt: int) -> Answer:
            task = int(call.messages[-1][1].removeprefix("Task "))
            times[task] += 1
            return says("yes" if players[settings.name](task, times[task]) else "no")

        return Scripted(settings, act, lambda: 1.0)

    play(made, matches, clients=opened)
    return made


def gate(folder: Path, *limit: Any, **more: Any) -> Gate:
    with open_arena(folder, create=False) as arena:
        return arena.gate("new", "old", *limit, **more)


def test_it_is_shown_when_it_can_be_and_no_sooner(tmp_path: Path) -> None:
    needed = fewest(0.45, single=True)
    made = arena_of(tmp_path, {"new": always, "old": always}, needed - 1)
    before = gate(made, "10%", these_tasks=True)
    assert (before.decision, before.exit_code) == ("open", 3)
    assert before.more is not None
    assert before.lines[0].startswith(
        "Cannot tell yet whether new is worse than old by more than 10% of accuracy: "
    )
    after = gate(arena_of(tmp_path, {"new": always, "old": always}, needed), "10%", these_tasks=True)
    assert (after.decision, after.exit_code, after.more) == ("shown", 0, None)
    assert after.lines[0] == "Shown: new is not worse than old by more than 10% of accuracy."
    assert (after.matches, after.tasks, after.accuracies, after.value) == (needed, 10, (1.0, 1.0), 0.0)


def test_about_tasks_like_these_the_same_answers_show_nothing(tmp_path: Path) -> None:
    made = arena_of(tmp_path, {"new": always, "old": always}, 60)
    found = gate(made, "10%")
    assert (found.decision, found.about, found.unit) == ("open", "tasks like these", "task")
    assert f"it takes {fewest(0.45)} tasks" in found.lines[-1]
    assert "--these-tasks" in found.lines[-1]


def test_a_new_player_that_fails_is_worse(tmp_path: Path) -> None:
    made = arena_of(tmp_path, {"new": lambda task, _: task % 2 == 0, "old": always}, 60, 30)
    for limit in (("5%",), ("5%", "wins"), ("20%", "accuracy")):
        found = gate(made, limit[0], of=limit[1] if len(limit) > 1 else None)
        assert (found.decision, found.exit_code) == ("worse", 1), limit
        assert found.lines[0].startswith("Worse: new is worse than old by more than ")
    with open_arena(made, create=False) as arena:
        assert arena.gate("old", "new", "5%").decision == "shown"


def test_accuracy_counts_answers_against_others_too(tmp_path: Path) -> None:
    rights = {"new": lambda task, _: task < 8, "old": lambda task, _: task < 6, "third": always}
    made = arena_of(tmp_path, rights, 90)
    times: Counter[tuple[str, str]] = Counter()
    met = 0
    with open_arena(made, create=False) as arena:
        for summary in arena.ledger.summaries():
            task = arena.match(summary.number).detail["task"]
            times.update((player, task) for player in summary.players)
            met += {*summary.players} == {"new", "old"}
    found = gate(made, "10%")
    assert found.of == "accuracy"
    assert found.accuracies == pytest.approx((0.8, 0.6))
    assert found.value == pytest.approx(0.2)
    assert found.matches == sum(min(times["new", f"t{task}"], times["old", f"t{task}"]) for task in range(10))
    assert met < found.matches
    assert gate(made, "10%", of="wins").matches == met


def test_wins_are_those_of_the_matches_against_each_other(arena: Arena) -> None:
    counts: Counter[float] = Counter()
    for summary in arena.ledger.summaries():
        if summary.status == "done" and {"p5", "p3"} == {*summary.players}:
            counts[summary.scores[summary.players.index("p5")]] += 1
    found = arena.gate("p5", "p3", "10%")
    assert sum(counts.values()) > 0
    assert (found.of, found.wins, found.draws, found.losses) == ("wins", counts[1], counts[0.5], counts[0])
    assert found.value == pytest.approx((counts[1] + counts[0.5] / 2) / sum(counts.values()))
    assert found.unit == "match", "every duel has a challenge of its own"
    assert found.limit == pytest.approx(0.4)


def test_matches_of_a_series_are_one_bet(tmp_path: Path) -> None:
    made = write_arena(tmp_path, house(5), pairing={"series": "seats", "window": 24})
    play(made, 24)
    with open_arena(made, create=False) as arena:
        found = arena.gate("p4", "p0", "10%")
    assert found.unit == "task"
    assert 0 < found.tasks < found.matches


def test_elo_is_a_share_of_wins(arena: Arena) -> None:
    found = arena.gate("p5", "p3", elo=100)
    assert found.limit == pytest.approx(1 / (1 + 10 ** (100 / 400)))
    assert "by more than 100 Elo" in found.lines[0]


def test_a_topic_on_which_the_new_player_is_worse_stops_it(tmp_path: Path) -> None:
    rights = {"new": lambda task, _: task % 4 != 0, "old": lambda task, _: task % 4 != 1}
    made = arena_of(tmp_path, rights, 160, 80, category=lambda task: f"kind {task % 4}")
    assert gate(made, "30%", these_tasks=True).decision == "shown"
    found = gate(made, "30%", these_tasks=True, by_topic=True)
    assert [part.topic for part in found.parts] == [f"kind {kind}" for kind in range(4)]
    assert [part.decision for part in found.parts] == ["worse", "shown", "shown", "shown"]
    assert (found.decision, found.exit_code) == ("worse", 1)
    assert found.lines[:2] == (
        "Worse: new is worse than old on kind 0 by more than 30% of accuracy; that is proven.",
        "Shown: new is not worse than old by more than 30% of accuracy.",
    )
    assert found.parts[0].needed_worse == 8 * found.needed, (
        "of four topics each needs four times the evidence"
    )


def test_a_heavy_task_counts_as_much_as_its_weight(tmp_path: Path) -> None:
    rights = {"new": lambda task, _: task != 0, "old": always}
    made = arena_of(tmp_path, rights, 24, 4, weight=lambda task: 3 if task == 0 else 1)
    assert gate(made, "10%").accuracies == pytest.approx((0.5, 1.0))


def test_without_a_match_nothing_can_be_told(tmp_path: Path) -> None:
    made = arena_of(tmp_path, {"new": always, "old": always}, 4)
    write_arena(
        made,
        [{"name": name, "model": "house:0.5"} for name in ("new", "old", "newest")],
        rules={},
        tasks={"tasks": [{"prompt": "Task 1", "expected": "yes"}], "then": "tie"},
    )
    with open_arena(made, create=False) as arena:
        for of in ("wins", "accuracy", None):
            found = arena.gate("newest", "old", "10%", of=of)
            assert (found.decision, found.value, found.matches) == ("open", None, 0)
            assert "play some first" in found.lines[1]
        with pytest.raises(ScopeError, match="did you mean 'newest'"):
            arena.gate("newst", "old", "10%")
        with pytest.raises(ScopeError, match="compared with itself"):
            arena.gate("old", "old", "10%")


def test_where_nothing_was_checked_there_is_no_accuracy(arena: Arena) -> None:
    with pytest.raises(ScopeError, match="no answer of p5 or p3 was checked"):
        arena.gate("p5", "p3", "10%", of="accuracy")


@pytest.mark.parametrize(
    ("percent", "elo", "of", "remedy"),
    [
        ("3", None, None, "in percent"),
        ("0.03", None, None, "in percent"),
        ("0", None, None, "in percent"),
        ("0%", None, None, "above 0%"),
        ("-3%", None, None, "without a minus sign"),
        ("50%", None, None, "less than 50%"),
        ("100%", None, "accuracy", "less than 100%"),
        ("3,5%", None, None, "such as 3% or 2.5%"),
        ("three", None, None, "such as 3% or 2.5%"),
        ("", None, None, "such as 3% or 2.5%"),
        ("nan%", None, None, "such as 3% or 2.5%"),
        ("3%", 30.0, None, "not both"),
        (None, 0.0, None, "above 0"),
        (None, -30.0, None, "above 0"),
        (None, float("nan"), None, "above 0"),
        (None, 5000.0, None, "up to 1000"),
        (None, 30.0, "accuracy", "--not-worse-by 3% --of accuracy"),
    ],
)
def test_a_wrong_margin_says_what_to_write(
    percent: str | None, elo: float | None, of: Any, remedy: str
) -> None:
    with pytest.raises(ScopeError) as error:
        margin(percent, elo, of)
    assert remedy in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("percent", "part"), [("3%", 0.03), (" 2.5 % ", 0.025), ("+10%", 0.1), (".5%", 0.005)]
)
def test_a_margin_is_read_as_people_write_it(percent: str, part: float) -> None:
    assert margin(percent).part == pytest.approx(part)


def test_every_decision_has_its_exit_code() -> None:
    assert EXIT_CODES == {"shown": 0, "worse": 1, "open": 3}
