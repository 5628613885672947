"""Games in which everybody is given the same tasks, and who does them best wins.

    GAME = same_tasks(Puzzle, LogicRules, name="logic", tasks=tasks, drawn=drawn, asked=asked, …)

Such a game says its tasks, its requests and its scoring; `tasks_grid` shows who solved which. A seat that
misses a reply since its provider failed is unranked, while two are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from peerage.game.blocks import Block, Cell, CellMark, Grid, credit_mark, result_grid
from peerage.game.bounds import Asks
from peerage.game.levels import by_level
from peerage.game.levels import fact as fact_of
from peerage.game.match import Fixture, GameTable, Outcome, Seat, by_rank
from peerage.game.protocol import Ask, Prompt, Reply, Steps
from peerage.game.spec import GameSpec, Secrecy
from peerage.values.sealing import unseal

FEWEST = 2
"""Contestants without whom there is nobody to be ahead of."""
TASKS = "tasks"
"""Key under which a fixture holds them."""

Rules = TypeVar("Rules", bound=Any)
Task = TypeVar("Task", bound=Any)
Came: TypeAlias = Mapping[str, Sequence[Reply]]
"""Each seat's replies, in the order of the requests, by its label."""


class Achieved(NamedTuple):
    """Achievement of each label, the greater the better; what goes on record; and the credit for each task,
    from 0 to 1, by which `auto` chooses the levels of later ones. Where a guess is right half of the time, a
    wrong one counts -1."""

    achieved: Mapping[str, Any]
    detail: Mapping[str, Any]
    credits: Mapping[str, Sequence[float]] = {}


def asked_alike(seats: Sequence[Seat], asks: Sequence[Ask]) -> Steps[Came]:
    """Ask every seat each of `asks`, addressed to nobody: a seat gets them under their keys and its label,
    KEY/LABEL. A seat whose provider failed in one of them is left out, and of fewer than two nothing is left.
    """
    sent = [replace(ask, to=seat.label, key=f"{ask.key}/{seat.label}") for seat in seats for ask in asks]
    answers: list[Reply] = yield sent
    count = len(asks)
    each = {seat.label: answers[at * count : (at + 1) * count] for at, seat in enumerate(seats)}
    left = {label: own for label, own in each.items() if all(reply.status != "void" for reply in own)}
    return left if len(left) >= FEWEST else {}


def tasks_of(drawn: Mapping[str, Any], task: type[Task]) -> list[Task]:
    """The tasks that were drawn for a match. Raises Sealed where they are redacted."""
    held = drawn[TASKS]
    return [msgspec.convert(stored, task) for stored in (unseal(held) if isinstance(held, Mapping) else held)]


def same_tasks(
    task: type[Task],
    rules: type[Rules],
    *,
    name: str,
    tasks: Callable[[Rules], int],
    drawn: Callable[[Rules, Sequence[int], Random], Sequence[Task]],
    asked: Callable[[Rules, Sequence[Task]], Sequence[Ask]],
    scored: Callable[[Rules, Sequence[Task], Came], Achieved],
    usual_output: Callable[[Rules], int],
    **more: Any,
) -> GameSpec[Rules]:
    """The game of that name; `more` is what else its `GameSpec` says.

    A match has so many `tasks`; `drawn` are those of a match, one of each of the levels, and each says its
    own as `level`; `asked` are requests addressed to nobody, which every seat gets, each answered in
    `usual_output` tokens as a rule; `scored` says what the replies came to.
    """

    def play(table: GameTable) -> Steps[Outcome]:
        given = tasks_of(table.drawn, task)
        came = yield from asked_alike(table.seats, asked(table.rules, given))
        if not came:
            return Outcome(void="no_answer")
        achieved, detail, credits = scored(table.rules, given, came)
        fact = fact_of(table.seats, [each.level for each in given], credits)
        return Outcome(scores=by_rank(achieved), detail=detail, facts=(fact,))

    def draw(rules: Rules, levels: Sequence[int], secret: str, number: int) -> dict[str, Any]:
        return {TASKS: msgspec.to_builtins(drawn(rules, levels, Random(f"{secret}/{name}/{number}")))}

    def asks(rules: Rules, fixture: Fixture) -> Iterator[Asks]:
        yield from bounds(asked(rules, tasks_of(fixture.drawn, task)), usual_output(rules))

    return GameSpec(
        name=name,
        rules=rules,
        contestants=(2, 10),
        play=play,
        asks=asks,
        survives=True,
        secrecy=Secrecy(hides=True, alike=True, unshown=(TASKS,)),
        **by_level(draw, tasks),
        **more,
    )


def bounds(asked: Iterable[Ask], usual_output: int) -> Iterator[Asks]:
    """Yield what a match asks of each seat at most, of requests addressed to nobody, each answered in so many
    tokens as a rule."""
    for ask in asked:
        templates = {message.speaker: message.template for message in ask.messages}
        prompt = Prompt(templates.get("system", ""), templates["user"])
        filled = {place: text for message in ask.messages for place, text in message.fill.items()}
        shown = sum([len(str(text)) for place, text in filled.items() if place != "format"])
        yield Asks(
            to="contestant",
            prompts=prompt,
            expects=ask.expects,
            calls=1,
            max_tokens=ask.max_tokens,
            quoted=shown,
            usual=None,
            usual_quoted=shown // 4,
            usual_output=usual_output,
        )


def tasks_grid(
    outcome: Outcome,
    wins: str,
    column: str,
    credits: Mapping[str, Sequence[float | CellMark | None]],
    worth: Mapping[str, tuple[Cell, str]] = {},
    *,
    name: str = "",
    opens: str = "q{}",
) -> Iterator[Block]:
    """Yield how a match over the same tasks ended: a row for each seat, with its `worth` under `column` and a
    mark for each task, named `name` and its number, that leads to the anchor `opens` of that number.

    `worth` gives a cell and the reason for headlines; by default it is how many tasks of how many were right.
    """
    rows: dict[str, tuple[Cell, ...]] = {}
    why: dict[str, str] = {}
    for label, each in credits.items():
        marks = [credit if isinstance(credit, CellMark) else credit_mark(credit) for credit in each]
        opened = [replace(mark, opens=opens.format(at)) for at, mark in enumerate(marks, 1)]
        right = f"{sum(mark.tone == 'good' for mark in marks)} of {len(marks)}"
        cell, why[label] = worth.get(label, (right, f"{right} {column.lower()}"))
        rows[label] = (cell, *opened)
    titles = [f"{name} {at}".strip() for at in range(1, max(map(len, credits.values()), default=0) + 1)]
    yield from result_grid(outcome, wins, (f">{column}", *titles), rows, why)


def answers_grid(answers: Mapping[str, str], credits: Mapping[str, float]) -> Grid:
    """Return answers and their credits, both by label, as rows of equal ones with those who gave them."""
    given: dict[tuple[float | None, str], list[str]] = {}
    for label, answer in answers.items():
        given.setdefault((credits.get(label), answer), []).append(label)
    ranked = sorted(
        given.items(), key=lambda row: (-1 if row[0][0] is None else row[0][0], len(row[1])), reverse=True
    )
    rows = [(credit_mark(credit), answer, ", ".join(labels)) for (credit, answer), labels in ranked]
    return Grid(("", "Answer", "Given by"), tuple(rows))
