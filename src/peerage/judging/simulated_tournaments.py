"""Simulated tournaments in which everybody scores everybody: how far their tables can be trusted, and what
faults of judges do to them. What `judging.simulation` is to duels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from peerage.judging import simulated_scores as scores
from peerage.judging.favours import favours
from peerage.judging.simulated_scores import NONE, Chances, ScorePlant, Tournament, drawn, table
from peerage.ratings.kernels import Floats
from peerage.ratings.student import quantile


class ScoreKind(NamedTuple):
    """A plant by name: in words, what plants it given how many take part, and how many do by default as a
    share of the players, 0 where that is fixed."""

    about: str
    plant: Callable[[Tournament, Sequence[int]], ScorePlant | None]
    share: float = 0.0

    def members(self, wanted: int, players: int) -> int:
        """How many take part."""
        return wanted or max(2 if self.plant is scores.family else 1, round(self.share * players))

    def in_words(self, wanted: int, players: int) -> str:
        """The plant in words; of a pool of any size, with 0 `players`."""
        return self.about.format(f"{self.members(wanted, players)} of {players}" if players else "3 in 10")


SCORE_KINDS: Mapping[str, ScoreKind] = {
    "favour": ScoreKind("1 judge giving 1 author 2 points more", lambda of, _: scores.favour(of, 0, 1)),
    "sabotage": ScoreKind(
        "1 judge giving 1 author 2 points less", lambda of, _: scores.favour(of, 0, 1, -2.0)
    ),
    "friends": ScoreKind("2 giving each other 2 points more", lambda of, _: scores.friends(of)),
    "half-friends": ScoreKind(
        "2 friends, in half of their scores", lambda of, _: scores.friends(of, share=0.5)
    ),
    "ring": ScoreKind(
        "4 in 10 of the leader's judges giving it 3 points less",
        lambda of, _: scores.ring(of, max(1, round(0.4 * (len(of.marks.judges) - 1)))),
    ),
    "camps": ScoreKind(
        "as many judges for the leader as against it, by 1.5 points", lambda of, _: scores.camps(of)
    ),
    "family": ScoreKind(
        "{} players of a family giving each other 1 point more", lambda of, who: scores.family(of, who), 0.3
    ),
    "lazy": ScoreKind("{} judges giving every answer the same", lambda of, who: scores.lazy(of, who), 0.3),
    "random": ScoreKind("{} judges whose scores follow nothing", lambda of, who: scores.random(of, who), 0.3),
    "harsh": ScoreKind(
        "{} judges giving everybody 2.5 points less", lambda of, who: scores.harsh(of, who), 0.3
    ),
    "length": ScoreKind(
        "all judges preferring longer answers; one player writes twice as much",
        lambda of, _: scores.length(of, range(len(of.marks.judges))),
    ),
}
"""Everything that can be planted into a tournament, by name."""


class Result(NamedTuple):
    """One tournament: what `judging.simulation.Found` says of an arena, in points of the scale."""

    noticed: float
    alarm: float
    moved: float
    held: float
    wide: float
    score: Floats


def result(made: Tournament, chances: Chances, plant: ScorePlant, clean: Floats) -> Result:
    """What a plant comes to; `clean` are the scores without it."""
    sway = made.honest if plant.sway is None else plant.sway(chances)
    marks = made.scored(chances, sway)
    found, truth = table(marks), made.truth()
    examined = favours(marks)
    pairs = {(pair.judge, pair.author) for pair in examined.favours if pair.found}
    moved = np.nan
    if plant.whom:
        moved = float((found.score - clean)[list(plant.whom)].mean())
    elif plant.sway is not None:
        moved = float((np.abs(found.score - truth) - np.abs(clean - truth)).mean())
    half = quantile(0.95, max(int(found.questions.max(initial=2)) - 1, 1)) * found.error
    return Result(
        float(bool(examined.faulty & plant.judges or pairs & plant.pairs))
        if plant.judges or plant.pairs
        else np.nan,
        float(bool(examined.faulty - plant.judges or pairs - plant.pairs)),
        moved,
        float((np.abs(found.score - truth) <= half).mean()),
        float(half.mean()),
        found.score,
    )


def simulated(
    setup: scores.Scored, plants: Sequence[tuple[str, int]], number: int
) -> tuple[Floats, list[Result | None]]:
    """Tournament `number` of a setup, first as it is, then with each plant alone, by name and how many take
    part (0: as usual), None for what cannot be planted there; and the players' skills."""
    made, chances = drawn(setup, number)
    clean = table(made.scored(chances, made.honest)).score
    found: list[Result | None] = [result(made, chances, NONE, clean)]
    for name, wanted in plants:
        kind = SCORE_KINDS[name]
        count = kind.members(wanted, setup.players)
        first = 0 if kind.plant is SCORE_KINDS["family"].plant else setup.players - count
        plant = kind.plant(made, range(first, first + count))
        found.append(None if plant is None else result(made, chances, plant, clean))
    return made.skill, found
