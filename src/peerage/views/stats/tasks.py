"""The owner's tasks by players: how well each did on each task, the hardest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

from peerage.reading.verdicts.credits import Credits
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values.figures import percent, whole
from peerage.views.shown import Shown


class TaskRow(Shown, frozen=True):
    """One task: the mean `result` of its players from 0 to 1, how far the best is ahead of the worst
    (`spread`, None with one player), and each player's result by name. It is the mean credit of its answers
    `by` "check", or its share of the points of the task's matches; `answers` are those of all players."""

    task: str
    category: str
    by: str
    answers: int
    result: float
    spread: float | None
    players: dict[str, float]


def task_rows(credits: Credits) -> list[TaskRow]:
    """Return a row for each task as it is now, the hardest first, then where players differ most."""
    checked: dict[str, dict[str, float]] = defaultdict(dict)
    checks: Counter[str] = Counter()
    for player, tasks in credits.by_player.items():
        for task, credit in tasks.items():
            checked[task][player] = credit.mean
            checks[task] += credit.answers
    answers: dict[str, set[tuple[str, int]]] = defaultdict(set)
    points: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    categories = {match.task: match.category for match in credits.matches}
    for match in credits.matches:
        if not match.outdated:
            answers[match.task].update(match.answers().values())
            for player, score in zip(match.players.values(), match.scores, strict=False):
                points[match.task][player].append(score)
    rows = []
    for task in dict.fromkeys((*checked, *points)):
        results = checked.get(task) or {player: fmean(own) for player, own in points[task].items()}
        players = dict(sorted(results.items()))
        rows.append(
            TaskRow(
                task=task,
                category=categories[task],
                by="check" if task in checked else "points",
                answers=checks[task] or len(answers[task]),
                result=fmean(players.values()),
                spread=max(players.values()) - min(players.values()) if len(players) > 1 else None,
                players=players,
            )
        )
    return sorted(rows, key=lambda row: (row.result, -(row.spread or 0.0), row.task))


def table(rows: Sequence[TaskRow]) -> Rows:
    """Return the table of tasks, with a column for each player."""
    players = sorted({name for row in rows for name in row.players})
    flat = []
    for row in rows:
        fields = row.as_dict()
        results = fields.pop("players")
        flat.append(fields | {f"players.{name}": results.get(name) for name in players})
    columns = [
        *texts(task="Task", category="Category ~2", by="By ~1"),
        *numbers(whole, answers="Answers ~3"),
        *numbers(percent, result="Result", spread="Spread ~4"),
        *[Column(f"players.{name}", name, percent, number=True) for name in players],
    ]
    notes = [
        "By: a check's mean credit, or the share of the points of the task's matches.",
        "Spread: how far the best player is ahead of the worst.",
    ]
    title = "Tasks: the result of each player, the hardest first"
    return Rows(flat, columns, title=title, notes=notes, name="tasks")
