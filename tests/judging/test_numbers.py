"""The numbers of judging themselves, as they are in `numbers.json`: see `tests.recorded`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench import tournaments
from bench.collusion import scores, votes
from bench.planted import KINDS, planted, stuck
from bench.pools import Pool, drawn
from bench.pools import Setup as PoolSetup
from bench.tournaments import Scored, ScorePlant, ScorePool
from msgspec.structs import astuple
from tests import recorded

from peerage.judging.marks.comparisons import errors, of_votes
from peerage.judging.marks.marks import Marks, Votes
from peerage.judging.measures import agreement, preference
from peerage.judging.measures.corrections import CORRECTIONS, Corrected, corrected
from peerage.judging.measures.favours.search import Examined, favours
from peerage.ratings.simulation import Setup, simulated

FILE = Path(__file__).with_name("numbers.json")
SMALL = PoolSetup(8, 120, seed=5)


def seeded(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def pool(kind: str) -> tuple[Pool, Votes]:
    """A drawn pool, and its votes with a plant of that kind."""
    found, luck = drawn(SMALL, 0, once=KINDS[kind].once)
    return found, found.under(luck, planted(kind, found))


def examined(found: Examined) -> Any:
    """The most suspicious pairs, and all others together."""
    rest = np.array([(one.marks, one.excess, one.p, one.q) for one in found.favours]).sum(axis=0)
    return [found.mute, [astuple(pair) for pair in found.favours[:8]], rest]


def tables(found: Corrected) -> Any:
    sides = [[one.rating, one.error, one.effects] for one in (found.before, found.after)]
    return [found.notes, sides]


def corrections(kind: str) -> Callable[[], Any]:
    def told() -> Any:
        of, said = pool(kind)
        return tables(corrected(said, CORRECTIONS, of.styles, of.families))

    return told


def corrections_of_scores(plant: Callable[[tournaments.Tournament], ScorePlant]) -> Callable[[], Any]:
    def told() -> Any:
        made, chances = tournaments.drawn(Scored(6, 30, generous=1.0, seed=2), 0)
        of = ScorePool(made)
        return tables(corrected(of.under(chances, plant(made)), CORRECTIONS, of.styles, of.families))

    return told


def marked() -> Marks:
    """Scores of answers of known lengths, some of which nobody gave."""
    made, chances = tournaments.drawn(Scored(6, 25, seed=3), 0)
    marks = made.scored(chances, made.honest)
    return marks.only(seeded(1).random(len(marks)) < 0.8)


def agreements() -> Any:
    rng = seeded(2)
    unit = rng.integers(0, 40, 150)
    nominal, interval = (
        agreement.ChoicesByUnit(unit, rng.integers(0, 3, 150)),
        agreement.ChoicesByUnit(unit, rng.random(150)),
    )
    wrong = errors(of_votes(pool("ring")[1]))
    judges = rng.integers(0, 8, 60)
    worth = agreement.effective_votes(
        np.arange(60) // 3, wrong.noise[judges], wrong.discernment[judges], wrong.correlation
    )
    found = agreement.alpha(nominal), agreement.alpha(interval, "interval")
    return [found, list(wrong), worth]


def preferences() -> Any:
    marks = marked()
    sided = pool("position")[1]
    return [
        preference.length_bias(marks),
        preference.length_leans(marks),
        preference.kin_preferences(marks, lambda judge, author: author in (judge, "p03")),
        sorted(stuck(sided)),
        preference._leans(sided.judges, sided.judge, sided.shown, 1),
    ]


CASES: recorded.Cases = {
    "favours of friends": lambda: examined(favours(votes(seeded(4, 0), 8, 480, friends=1.0).marks)),
    "favours of a ring": lambda: examined(favours(votes(seeded(2, 0), 10, 300, ring=4).marks)),
    "favours of idle judges": lambda: examined(
        favours(votes(seeded(7), 9, 400, lazy=2, random=1, once=True).marks)
    ),
    "favours in scores": lambda: examined(favours(scores(seeded(4), 7, 40, bribe=1.5).marks)),
    "favours in generous scores": lambda: examined(
        favours(scores(seeded(5), 9, 40, generous=3.0, lazy=1, random=1, harsh=1, sides=1.0).marks)
    ),
    **{f"corrected: {kind}": corrections(kind) for kind in ("position", "length", "family", "lazy", "harsh")},
    "corrected: ring": corrections("ring"),
    "corrected scores: family": corrections_of_scores(lambda of: tournaments.family(of, range(2))),
    "corrected scores: random": corrections_of_scores(lambda of: tournaments.random(of, range(2))),
    "simulated": lambda: [list(simulated(Setup(8, 120, once=once, seed=5), 1)) for once in (False, True)],
    "simulated tables": lambda: list(simulated(Setup(8, 60, seats=4, seed=3), 0)),
    "agreement": agreements,
    "preference": preferences,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_as_they_were(case: str) -> None:
    recorded.check(FILE, case, CASES[case]())


if __name__ == "__main__":
    recorded.write(FILE, CASES)
