"""Levels of difficulty: how hard a task is, who solves it, and the staircase that keeps tasks telling. Pure.

    >>> round(chance(0.9, difficulty(work=8, usual_work=1)), 2)
    0.6

A level takes about 2¼ times the work of the one before, by a measure that each family states, and so
`SLOPE` logits: players who solve half of one level solve a third of the next. Under `difficulty: auto` a fold
of the log follows everybody's ability, and draws tasks that tell players apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil, exp, floor, log, log2
from random import Random
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from pydantic import Field

from peerage.game.match import Seat
from peerage.game.spec import GameMemory, GameRules

AUTO: Literal["auto"] = "auto"
LEVELS, USUAL_LEVEL = 10, 3
"""The hardest level, and the one at which a house player solves the share of tasks that its skill is."""
PER_DOUBLING = 0.6
"""Logits for each doubling of the work. Tasks that a model does in 80% of the cases are about five times
shorter than those it does in 50% (Kwa et al., *Measuring AI ability to complete long tasks*, 2025), and
logit(0.8) / log2(5) is 0.6."""
SLOPE = 0.7
"""Logits from a level to the next."""
NEAR = 0.5
"""Logits by which a task may be easier or harder than its level, where others can be drawn."""
LOWEST, AIMED = 0.25, 0.4
"""Share of the players who are weaker than the one whom the easiest task of a match suits, and the chance
with which a task is solved by the player it suits."""
FIRST_GAIN, LAST_GAIN = 1.0, 0.15
"""Levels by which one task moves an ability at most, at first and in the long run."""
START = 4.0
"""Level of which a player that nobody has seen solves half."""
GONE = 10
"""A player plays no more once others have taken so many seats for each player there is, it none."""

Rules = TypeVar("Rules", bound="LevelRules")
Measured = TypeVar("Measured", bound=Any)
"""A task with a `difficulty`."""
Draw: TypeAlias = Callable[[Rules, Sequence[int], str, int], Mapping[str, Any]]
"""Draws match `number` with one task of each of the levels: rules, levels, the arena's secret, number."""


class LevelRules(GameRules):
    """Settings of games whose tasks have levels."""

    difficulty: Annotated[int, Field(ge=1, le=LEVELS)] | Literal["auto"] = Field(
        AUTO,
        description=f"Level of the tasks, from 1 (easy) to {LEVELS}; each takes about 2¼ times the work of "
        "the one before. `auto` follows the players, so that the best solve some 60 to 80%.",
    )

    @property
    def adapts(self) -> bool:
        """Return whether levels follow the players."""
        return self.difficulty == AUTO


def between(low: float, high: float, level: int) -> int:
    """A size that grows with the level in equal steps of its logarithm, from `low` at 1 to `high` at 10."""
    size: float = low * (high / low) ** ((level - 1) / (LEVELS - 1))
    return round(size)


def difficulty(*, work: float, usual_work: float) -> float:
    """Return how hard a task is, in logits, from the `work` of its solver and the `usual_work` of level 3."""
    return PER_DOUBLING * log2(max(work, 1) / usual_work)


def near(level: int, draw: Callable[[], Measured | None], draws: int) -> Measured:
    """Return the first task within `NEAR` logits of its level, else the nearest of so many; None counts as
    drawn, and more are drawn only while there is no task at all."""
    middle = SLOPE * (level - USUAL_LEVEL)
    nearest: Measured | None = None
    while nearest is None or (draws > 0 and abs(nearest.difficulty - middle) >= NEAR):
        draws, task = draws - 1, draw()
        if task and (not nearest or abs(task.difficulty - middle) < abs(nearest.difficulty - middle)):
            nearest = task
    return nearest


def chance(skill: float, difficulty: float) -> float:
    """Return the chance with which a house player of a skill from 0 to 1 solves a task: a logistic in its
    ability, the logit of its skill, less the difficulty in logits."""
    if not 0 < skill < 1:
        return skill
    return 1 / (1 + exp(difficulty - log(skill / (1 - skill))))


def solves(skill: float, level: int) -> float:
    """Return that chance for a task of which no more is known than its level."""
    return chance(skill, SLOPE * (level - USUAL_LEVEL))


# --------------------------------------------------------------------------------------------- on record


class TaskCredits(Struct, frozen=True, tag_field="fact", tag="tasks"):
    """The fact of a match: the level of each task, and what each player got for each, from 0 to 1."""

    levels: tuple[int, ...]
    credits: Mapping[str, tuple[float, ...]]


read_task_facts = msgspec.json.Decoder(tuple[TaskCredits, ...]).decode
"""Reads the facts of a match whose tasks have levels."""


def fact(
    seats: Sequence[Seat], levels: Sequence[int], credits: Mapping[str, Sequence[float]]
) -> Mapping[str, Any]:
    """Return what a match teaches: `levels` of its tasks, and `credits` for each of them, by label."""
    by_player = {seat.player: credits[seat.label] for seat in seats if seat.label in credits}
    rounded = {player: [round(float(credit), 3) for credit in own] for player, own in by_player.items()}
    return {"fact": "tasks", "levels": [*levels], "credits": rounded}


class Abilities:
    """Everybody's ability, as the level of which a player solves half: a fold over the facts of matches.

    Each task moves it by Robbins and Monro's rule, at a step that falls with the tasks that a player has met.
    """

    def __init__(self) -> None:
        self.levels: dict[str, float] = {}
        self._met: dict[str, int] = {}
        self._seats = 0
        self._last: dict[str, int] = {}

    @property
    def playing(self) -> list[float]:
        """Return the abilities of those who still play: tasks need not suit who has left."""
        return [self.levels[player] for player in self._last]

    def learn(self, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the facts of a match."""
        for each in facts:
            if each.get("fact") != "tasks":
                continue
            told = msgspec.convert(each, TaskCredits)
            self._seats += len(told.credits)
            self._last |= dict.fromkeys([player for player in told.credits if told.levels], self._seats)
            since = self._seats - GONE * len(self._last)
            self._last = {player: last for player, last in self._last.items() if last >= since}
            for player, credits in told.credits.items():
                for level, credit in zip(told.levels, credits, strict=True):
                    self._move(player, level, credit)

    def _move(self, player: str, level: int, credit: float) -> None:
        at, met = self.levels.get(player, START), self._met.get(player, 0) + 1
        gain = min(FIRST_GAIN, max(LAST_GAIN, 4 / SLOPE / met))
        at += gain * (credit - _solves(at, level))
        self.levels[player] = min(LEVELS + START, max(1 - START, at))
        self._met[player] = met


def _solves(ability: float, level: float) -> float:
    return 1 / (1 + exp(SLOPE * (level - ability)))


class Staircase:
    """The memory under `difficulty: auto`; implements `game.spec.Memory`."""

    def __init__(self, draw: Callable[[Sequence[int], str, int], Mapping[str, Any]], tasks: int) -> None:
        self._draw, self._tasks = draw, tasks
        self.abilities = Abilities()

    def learn(self, match: int, facts: Sequence[Mapping[str, Any]]) -> None:
        """Take in the facts of a finished match."""
        self.abilities.learn(facts)

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Nobody amends abilities."""

    def draw(self, secret: str, number: int, sealing: str) -> Mapping[str, Any]:
        """Return the draw of a match whose tasks suit the best players."""
        return self._draw(suited(self.abilities.playing, self._tasks, secret, number), secret, number)


def suited(abilities: Collection[float], tasks: int, secret: str, number: int) -> list[int]:
    """Return the levels of `tasks` in a match, easiest first, for players of these abilities.

    They suit the players from the lower quarter to the best, one after the other: each is solved by the one
    it suits with a chance of `AIMED`. So the best solve some 70% where all are about as strong, and more
    where they are not; who is weaker has tasks that tell, too.
    """
    rng = Random(f"{secret}/levels/{number}")
    ranked = sorted(abilities) or [START]
    shares = [LOWEST + (1 - LOWEST) * (at + rng.random()) / tasks for at in range(tasks)]
    wanted = [_quantile(ranked, share) - log(AIMED / (1 - AIMED)) / SLOPE for share in shares]
    return [min(LEVELS, max(1, floor(level + rng.random()))) for level in wanted]


def _quantile(ranked: Sequence[float], share: float) -> float:
    at = share * (len(ranked) - 1)
    low, high = ranked[floor(at)], ranked[ceil(at)]
    return low + (at - floor(at)) * (high - low)


def by_level(draw: Draw[Rules], tasks: Callable[[Rules], int]) -> dict[str, Any]:
    """Return the `draw` and the `memory` of a game whose matches have so many tasks, each of its level."""

    def alone(rules: Rules, secret: str, number: int) -> Mapping[str, Any]:
        if rules.difficulty != AUTO:
            return draw(rules, [rules.difficulty] * tasks(rules), secret, number)
        return draw(rules, suited((), tasks(rules), secret, number), secret, number)

    def make(rules: Rules) -> Staircase:
        return Staircase(lambda levels, secret, number: draw(rules, levels, secret, number), tasks(rules))

    memory = GameMemory(make=make, applies=lambda rules: rules.adapts, late=True)
    return {"draw": alone, "memory": memory}
