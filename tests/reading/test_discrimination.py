"""Games that tell players apart: the matches it takes are the true number, and remarks name a cure."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.engine.arenas import play, write_arena

from peerage.arena import open_arena
from peerage.game.levels import SLOPE, USUAL_LEVEL, chance
from peerage.game.match import by_rank
from peerage.ratings.columns.history import free_for_all
from peerage.ratings.strength.evidence import of_games
from peerage.ratings.strength.posterior import strengths
from peerage.reading.results.discrimination import SURE, Discrimination, matches_to_tell

SKILLS = (0.995, 0.985, 0.97, 0.94, 0.9, 0.85)


def scores(matches: int, level: int, seed: int) -> np.ndarray:
    """Scores of matches over five tasks of a level, by match and player."""
    rng, hard = Random(seed), SLOPE * (level - USUAL_LEVEL)
    solved = [[sum(rng.random() < chance(s, hard) for _ in range(5)) for s in SKILLS] for _ in range(matches)]
    ranked = [by_rank({str(at): own for at, own in enumerate(row)}) for row in solved]
    return np.array([[each[str(at)] for at in range(len(SKILLS))] for each in ranked])


def estimated(played: np.ndarray) -> float | None:
    ranks = [[int((row > own).sum()) + 1 for own in row] for row in played]
    seated = np.tile(np.arange(len(SKILLS)), (len(played), 1))
    evidence = of_games(free_for_all(len(SKILLS), seated, np.array(ranks)), None)
    return matches_to_tell(strengths(evidence, seed=1), len(played))


@pytest.mark.parametrize("level", [4, 8])
def test_matches_to_tell_two_typical_players_apart_are_the_true_number(level: int) -> None:
    many = scores(4_000, level, seed=0)
    pairs = np.triu_indices(len(SKILLS), 1)
    gaps = many[:, pairs[0]] - many[:, pairs[1]]
    true = float(np.median(SURE**2 * gaps.var(axis=0) / gaps.mean(axis=0) ** 2))
    found = [estimated(scores(60, level, seed)) or np.inf for seed in range(1, 9)]
    assert true / 2.5 < float(np.median(found)) < 2.5 * true


def test_nothing_is_known_of_no_matches() -> None:
    evidence = of_games(free_for_all(2, np.zeros((0, 2), int), np.zeros((0, 2), int)), None)
    assert matches_to_tell(strengths(evidence, seed=1), 0) is None


@pytest.mark.parametrize(
    ("found", "rules", "words"),
    [
        (
            Discrimination(8, 5, 0, 0.2),
            {"difficulty": 3},
            "(5 of 8 solve everything): raise its `difficulty`",
        ),
        (Discrimination(8, 5, 0, 0.2), {}, "(5 of 8 solve everything): its tasks go no higher"),
        (Discrimination(8, 5, 0, 0.2), {"difficulty": 10}, "its tasks go no higher"),
        (Discrimination(8, 0, 4, 0.2), {"difficulty": 3}, "(4 of 8 solve nothing): lower its `difficulty`"),
        (Discrimination(8, 0, 4, 0.2), {"difficulty": 1}, "its tasks go no lower"),
        (Discrimination(ties=0.9), {}, "(90% of its meetings were tied): other games tell more"),
        (Discrimination(8, 3, 3, 0.4), {"difficulty": 3}, ""),
        (Discrimination(), {}, ""),
    ],
)
def test_remarks_name_what_is_wrong_and_its_cure(
    found: Discrimination, rules: dict[str, int], words: str
) -> None:
    remark = found.remark("logic", rules)
    assert remark.endswith(words)
    assert bool(remark) == bool(words)


def test_the_verdict_names_a_game_whose_tasks_are_too_easy(tmp_path: Path) -> None:
    players = [{"name": f"p{at}", "model": f"house:{skill}"} for at, skill in enumerate((1, 1, 0.3))]
    rules = {"seats": 3, "puzzles": 3, "difficulty": 1}
    play(write_arena(tmp_path, players, game="logic", rules=rules), 6)
    with open_arena(tmp_path) as arena:
        [doubt] = [each for each in arena.verdict().weakened_by if "logic" in each]
    assert doubt.endswith("(2 of 3 solve everything): raise its `difficulty`")
