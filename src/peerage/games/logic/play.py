"""Logic: everybody solves the same puzzles, in one reply; who solves most is first.

    A, B, C, D > {"working": "…", "answers": [17, "3/8", "Ada, Ben", "tea, milk", "2031-05-09"]}
                                                                                   (answers/A, …)

Puzzles are drawn from the arena's secret, so none comes twice, and each has one answer, computed when it is
drawn. Answers are compared exactly, after one reading (`puzzles.parts`). Who solves equally many ties; a
reply that cannot be used solves none. Whose provider fails is unranked, while two are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from random import Random
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from pydantic import Field, field_validator

from peerage.game import (
    SCORE,
    Achieved,
    Ask,
    Block,
    Came,
    Demo,
    Fixture,
    Heading,
    HouseCall,
    Json,
    LevelRules,
    MaxTokens,
    Needs,
    Outcome,
    Replies,
    Seats,
    quoted,
    same_tasks,
    tasks_grid,
    tasks_of,
    texts,
)
from peerage.game.levels import chance
from peerage.games.logic import calculation, counting, deduction, places
from peerage.games.logic.gym import GYM, GYM_FAMILIES, installed
from peerage.games.logic.puzzles import Family, Puzzle, family, mistaken, shown, solves
from peerage.games.logic.puzzles import drawn as puzzles_of

FAMILIES: Mapping[str, Family] = dict(
    family(draw)
    for draw in (
        calculation.arithmetic,
        calculation.congruences,
        calculation.polynomial,
        counting.arrangements,
        counting.committees,
        counting.grid_paths,
        counting.sets,
        counting.dice,
        counting.urn,
        calculation.calendar,
        deduction.knights,
        places.zebra,
        places.schedule,
        deduction.cryptarithm,
        deduction.weighing,
        deduction.roads,
        calculation.circle,
    )
)
GROUPS: Mapping[str, Mapping[str, Family]] = {"own": FAMILIES, GYM: GYM_FAMILIES}
"""Families that settings name together."""


def chosen(names: Sequence[str]) -> dict[str, Family]:
    """Return the families that a setting names, by name. Raises ValueError for a name of none."""
    groups = {
        **GROUPS,
        **{name: {name: family} for group in GROUPS.values() for name, family in group.items()},
    }
    for name in names:
        if name not in groups:
            near = get_close_matches(name, groups, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(groups)}"
            raise ValueError(f"there is no family of puzzles {name!r}; {meant}")
    return {family: draw for name in names for family, draw in groups[name].items()}


def lacking(names: Sequence[str]) -> str:
    """Return the extra that these families need and that is not installed; empty when nothing is missing."""
    return "puzzles" if any(name.startswith(GYM) for name in names) and not installed() else ""


class PuzzleAnswers(Struct, frozen=True):
    """The answers to the puzzles, in their order."""

    working: Annotated[str, Meta(description="your reasoning, as short as you like")]
    answers: Annotated[list[str | int], Meta(description="one answer for each puzzle, in order")]


class LogicRules(LevelRules):
    """Settings of puzzles."""

    seats: Seats = 8
    puzzles: int = Field(7, ge=1, le=20, description="Puzzles in a match.")
    families: tuple[str, ...] = Field(
        ("own",),
        min_length=1,
        description="Which puzzles: `own` for all of ours, `reasoning-gym` for those of that package, or "
        "families by name, as `zebra` and `reasoning-gym:spiral_matrix`.",
    )
    max_tokens: MaxTokens = 8_000

    @field_validator("families")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        chosen(names)
        return names


def answers_to(count: int) -> Json[PuzzleAnswers]:
    """The format of a reply to so many puzzles."""
    return Json(PuzzleAnswers, answers=Meta(min_length=count, max_length=count))


def drawn(rules: LogicRules, levels: Sequence[int], rng: Random) -> list[Puzzle]:
    """The puzzles of a match, with their answers."""
    return puzzles_of(chosen(rules.families), levels, rng)


def asked(rules: LogicRules, puzzles: Sequence[Puzzle]) -> list[Ask]:
    """One set of puzzles."""
    own = texts(__package__, rules.texts)
    fill = {
        "count": "this puzzle" if len(puzzles) == 1 else f"these {len(puzzles)} puzzles",
        "puzzles": "\n\n".join(
            [f"Puzzle {at} (level {puzzle.level}). {puzzle.text}" for at, puzzle in enumerate(puzzles, 1)]
        ),
        "reading": own["reading"],
        "score": SCORE,
    }
    oracle = [(puzzle.answer, puzzle.difficulty) for puzzle in puzzles]
    return [own["solve"].ask("", "answers", answers_to(len(puzzles)), fill, rules.max_tokens, oracle=oracle)]


def scored(rules: LogicRules, puzzles: Sequence[Puzzle], came: Came) -> Achieved:
    """Return who solved which puzzles: none with a reply that cannot be used."""
    solved = {}
    for label, (reply,) in came.items():
        pairs = zip(reply.value.answers if reply.ok else [""] * len(puzzles), puzzles, strict=True)
        solved[label] = [solves(str(answer), puzzle.answer) for answer, puzzle in pairs]
    points = {label: sum(own) for label, own in solved.items()}
    return Achieved(points, {"decided": "by puzzles solved", "solved": solved}, solved)


def house(call: HouseCall, skill: float, rng: Random) -> PuzzleAnswers:
    """Each answer is right with the chance of a skill at its difficulty, else a likely mistake."""
    return PuzzleAnswers(
        "",
        [
            right if rng.random() < chance(skill, difficulty) else mistaken(right, rng)
            for right, difficulty in call.oracle
        ],
    )


# ----------------------------------------------------------------------------------------------------- shown


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """Yield a grid of who solved which puzzle, then each puzzle with its answers and the reasoning."""
    solved: Mapping[str, Sequence[bool]] = outcome.detail.get("solved", {})
    values = {label: replies[f"answers/{label}"].value for label in solved}
    puzzles = tasks_of(fixture.drawn, Puzzle)
    yield from tasks_grid(outcome, "Most puzzles solved wins; equally many tie.", "Solved", solved)
    for at, puzzle in enumerate(puzzles):
        given = {label: str(value.answers[at]) for label, value in values.items() if value is not None}
        yield from shown("Puzzle", at, puzzle, puzzle.text, solved, given)
    reasoned = [reply for reply in replies.values() if reply.value is None or reply.value.working]
    if reasoned:
        yield Heading("What they wrote with it", closed=True)
    for reply in reasoned:
        block = quoted(reply)
        yield block if reply.value is None else replace(block, text=str(reply.value.working))


GAME = same_tasks(
    Puzzle,
    LogicRules,
    name="logic",
    version=7,
    texts=__package__,
    about="Everybody solves the same puzzles, each with one proven answer; most solved wins.",
    tasks=lambda rules: rules.puzzles,
    drawn=drawn,
    asked=asked,
    scored=scored,
    usual_output=lambda rules: 1_500,
    house=house,
    show=show,
    needs=Needs(extra=lambda rules: lacking(rules.families)),
    demo=Demo(60),
)
