"""The numbers of judging themselves, as they are in `numbers.json`: see `tests.recorded`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.collusion import scores, votes
from tests import recorded

from peerage.judging import agreement, audit, preference, simulated_scores
from peerage.judging.comparisons import errors, of_votes
from peerage.judging.corrections import CORRECTIONS, Corrected, corrected
from peerage.judging.favours import Examined, favours
from peerage.judging.marks import Marks
from peerage.judging.planted import Pool
from peerage.judging.scored_pool import ScorePool
from peerage.judging.scored_pool import pool_of as score_pool_of
from peerage.judging.simulated_scores import Scored
from peerage.judging.simulated_tournaments import SCORE_KINDS
from peerage.judging.simulation import KINDS, Setup, drawn, simulated
from peerage.judging.votes import Votes
from peerage.ratings.table import POINTS
from peerage.tables.simulate import paired_rounds

FILE = Path(__file__).with_name("numbers.json")
SMALL = Setup(8, 120, seed=5)


def seeded(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def pool(kind: str, setup: Setup = SMALL) -> tuple[Pool, Votes]:
    """A drawn pool, and its votes with a plant of that kind."""
    found, luck = drawn(setup, 0, once=KINDS[kind].once)
    return found, found.under(luck, KINDS[kind].plant(found, KINDS[kind].members(0, setup.players)))


def examined(found: Examined) -> Any:
    """The most suspicious pairs, and all others together."""
    rest = np.array([(one.marks, one.excess, one.p, one.q) for one in found.favours]).sum(axis=0)
    return [found.mute, [list(one) for one in found.favours[:8]], rest]


def tables(found: Corrected) -> Any:
    sides = [[one.rating, one.error, one.effects] for one in (found.before, found.after)]
    return [found.notes, sides]


def corrections(kind: str) -> Callable[[], Any]:
    def told() -> Any:
        of, said = pool(kind)
        return tables(corrected(said, CORRECTIONS, of.styles, of.families))

    return told


def tournament(kind: str, players: int = 6, questions: int = 30) -> tuple[ScorePool, Votes]:
    made, chances = simulated_scores.drawn(Scored(players, questions, generous=1.0, seed=2), 0)
    plant = SCORE_KINDS[kind].plant(made, range(SCORE_KINDS[kind].members(0, players)))
    return (of := ScorePool(made)), of.under(chances, plant)


def corrections_of_scores(kind: str) -> Callable[[], Any]:
    def told() -> Any:
        of, said = tournament(kind)
        return tables(corrected(said, CORRECTIONS, of.styles, of.families))

    return told


def marked() -> Marks:
    """Scores of answers of known lengths, some of which nobody gave."""
    made, chances = simulated_scores.drawn(Scored(6, 25, seed=3), 0)
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
    found = agreement.alpha(nominal), agreement.alpha(interval, "interval"), agreement.fleiss_kappa(nominal)
    return [found, list(wrong), worth]


def preferences() -> Any:
    marks = marked()
    sided = pool("position")[1]
    return [
        preference.length_bias(marks),
        preference.length_leans(marks),
        preference.kin_preferences(marks, lambda judge, author: author in (judge, "p03")),
        sorted(preference.stuck(sided, 0.05)),
        preference._leans(sided.judges, sided.judge, sided.shown, 1),
    ]


def pools() -> Any:
    duels, scored = audit.pool_of(pool("harsh")[1]), score_pool_of(marked()).made
    everybody = np.arange(8) > 1
    return [
        [duels.skill * POINTS, duels.discernment, duels.truth(), duels.truth(everybody)],
        [scored.skill, scored.level, scored.slope, scored.noise, scored.luck, scored.ease],
        [ScorePool(scored).truth(), ScorePool(scored).truth(np.arange(6) > 1)],
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
    "corrected scores: family": corrections_of_scores("family"),
    "corrected scores: random": corrections_of_scores("random"),
    "simulated": lambda: simulated(SMALL, [(kind, 0) for kind in KINDS], 1),
    "simulated in pairs": lambda: simulated(Setup(8, 60, pairing="swiss", seed=3), [], 0, paired_rounds),
    "simulated tables": lambda: simulated(Setup(8, 60, seats=4, seed=3), [], 0),
    "simulated scores": lambda: simulated(
        Setup(7, 25, questions=25, spread=1.5, generous=1.0), [(kind, 0) for kind in SCORE_KINDS], 0
    ),
    "audited": lambda: list(audit.audited(audit.pool_of(pool("harsh")[1]), 1, 1)),
    "audited scores": lambda: list(audit.audited(score_pool_of(marked()), 1, 1)),
    "pools on record": pools,
    "agreement": agreements,
    "preference": preferences,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_as_they_were(case: str) -> None:
    recorded.check(FILE, case, CASES[case]())


if __name__ == "__main__":
    recorded.write(FILE, CASES)
