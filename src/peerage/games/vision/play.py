"""Vision: everybody answers the same questions about pictures; who answers most is first.

    A, B, C, D > {"working": "…", "answer": 17}                                              (task/1/A, …)
    A, B, C, D > {"working": "…", "answer": "C, A"}                                          (task/2/A, …)

Pictures are drawn from the arena's secret, so none comes twice, and each question has one answer, computed
from what was drawn. Answers are compared exactly, as those of logic (`logic.puzzles.parts`). Equally many
right ones tie; a reply that cannot be used counts nothing. Whose provider fails is unranked, while two
are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Any, Literal, TypeAlias, cast, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace
from pydantic import Field

from peerage.game import (
    SCORE,
    Achieved,
    Ask,
    Block,
    Came,
    Demo,
    Fixture,
    HouseCall,
    Json,
    LevelRules,
    MaxTokens,
    Needs,
    Outcome,
    Replies,
    Seats,
    same_tasks,
    tasks_grid,
    tasks_of,
    texts,
    unusable,
)
from peerage.game.levels import chance
from peerage.games.logic.puzzles import Family, Puzzle, family, mistaken, shown, solves
from peerage.games.logic.puzzles import drawn as puzzles_of
from peerage.games.vision.boards import board, maze, shapes
from peerage.games.vision.figures import chart, clock, table


class VisionTask(Puzzle, frozen=True):
    """A question about a picture, which is a data URL, or, in issued matches, the mark of one on record."""

    picture: Any


FAMILIES: Mapping[str, Family] = dict(
    family(draw, __package__, VisionTask) for draw in (chart, clock, table, board, shapes, maze)
)
FamilyName: TypeAlias = Literal["chart", "clock", "table", "board", "shapes", "maze"]


class VisionAnswer(Struct, frozen=True):
    """The answer to the question."""

    working: Annotated[str, Meta(description="your reasoning, as short as you like")]
    answer: Annotated[str | int, Meta(description="the answer, as one text or number")]


class VisionRules(LevelRules):
    """Settings of questions about pictures."""

    seats: Seats = 8
    tasks: int = Field(8, ge=1, le=20, description="Pictures in a match, each a request of its own.")
    families: tuple[FamilyName, ...] = Field(
        get_args(FamilyName), min_length=1, description="Which kinds of pictures; by default all."
    )
    max_tokens: MaxTokens = 8_000


FORMAT = Json(VisionAnswer)


def drawn(rules: VisionRules, levels: Sequence[int], rng: Random) -> list[VisionTask]:
    """The tasks of a match, of as many families as there are, with their pictures and answers."""
    tasks = cast(list[VisionTask], puzzles_of({name: FAMILIES[name] for name in rules.families}, levels, rng))
    return [replace(task, picture=task.picture.data_url()) for task in tasks]


def asked(rules: VisionRules, tasks: Sequence[VisionTask]) -> list[Ask]:
    """All tasks of the match, each with its picture after the question."""
    own = texts(__package__, rules.texts)
    return [
        own["see"].ask(
            "",
            f"task/{at}",
            FORMAT,
            {
                "question": task.text,
                "picture": task.picture,
                "reading": own["reading"],
                "count": f"{len(tasks)} questions" if len(tasks) > 1 else "1 question",
                "score": SCORE,
            },
            rules.max_tokens,
            oracle=(task.answer, task.difficulty),
        )
        for at, task in enumerate(tasks, 1)
    ]


def scored(rules: VisionRules, tasks: Sequence[VisionTask], came: Came) -> Achieved:
    """Return who answered which tasks: none with a reply that cannot be used."""
    solved = {
        label: [
            reply.ok and solves(str(reply.value.answer), task.answer)
            for reply, task in zip(own, tasks, strict=True)
        ]
        for label, own in came.items()
    }
    points = {label: sum(own) for label, own in solved.items()}
    return Achieved(points, {"decided": "by tasks solved", "solved": solved}, solved)


def house(call: HouseCall, skill: float, rng: Random) -> VisionAnswer:
    """The right answer with the chance of a skill at its difficulty, else a likely mistake."""
    right, difficulty = call.oracle
    return VisionAnswer("", right if rng.random() < chance(skill, difficulty) else mistaken(right, rng))


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of who solved which task, then each task with its picture and everybody's answers."""
    solved: Mapping[str, Sequence[bool]] = outcome.detail.get("solved", {})
    yield from tasks_grid(outcome, "Most right answers win; equally many tie.", "Solved", solved, name="Task")
    for at, task in enumerate(tasks_of(fixture.drawn, VisionTask)):
        own = [reply for seat in fixture.seats if (reply := replies.get(f"task/{at + 1}/{seat.label}"))]
        given = {reply.label: str(reply.value.answer) for reply in own if reply.value is not None}
        yield from shown("Task", at, task, f"{task.text}\n\n{task.picture}", solved, given)
        yield from unusable(own) if solved else ()


GAME = same_tasks(
    VisionTask,
    VisionRules,
    name="vision",
    version=3,
    texts=__package__,
    about="Everybody answers the same questions about pictures: charts, clocks, mazes …; most right win.",
    tasks=lambda rules: rules.tasks,
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 500,
    house=house,
    show=show,
    demo=Demo(60),
    needs=Needs(media=lambda rules: ["image"]),
)
