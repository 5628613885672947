"""What planted faults of judges do to the ratings of scored tournaments, before and after corrections, and
whether they are found: the table of tournaments in docs/judging.md.

Tournaments of 4 and 8 players whose strengths have a standard deviation of some 150 points; everybody
answers 10 to 160 questions and scores everybody else's answers. Usage:
python -m bench.planted_scores [ARENAS].
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from typing import TypeAlias

from peerage.judging import simulated_scores as scores
from peerage.judging.planted import RING
from peerage.judging.scored_pool import ScorePool
from peerage.judging.simulated_scores import NONE, Chances, Scored, ScorePlant, Tournament, drawn
from peerage.judging.simulation import Found, Power, SimulatedArena, power

PLAYERS, QUESTIONS, SPREAD = (4, 8), (10, 40, 160), 1.9
WORKERS = os.cpu_count() or 1

Build: TypeAlias = Callable[[Tournament], ScorePlant | None]


def _some(of: Tournament) -> range:
    """The last three in ten judges, one at least."""
    judges = len(of.marks.judges)
    return range(judges - max(1, round(0.3 * judges)), judges)


def _all(of: Tournament) -> range:
    return range(len(of.marks.judges))


PLANTS: Mapping[str, Build] = {
    "nothing": lambda of: NONE,
    "3 in 10 judges giving every answer the same": lambda of: scores.lazy(of, _some(of)),
    "3 in 10 judges whose scores follow nothing": lambda of: scores.random(of, _some(of)),
    "3 in 10 judges giving everybody 2.5 points less": lambda of: scores.harsh(of, _some(of)),
    "all judges preferring longer answers; one player writes twice as much": lambda of: scores.length(
        of, _all(of)
    ),
    "a family giving each other 1 point more": lambda of: scores.family(of, _kin(of)),
    "2 friends giving each other 2 points more": lambda of: scores.friends(of, *_last(of)),
    "2 friends, in half of their scores": lambda of: scores.friends(of, *_last(of), share=0.5),
    "one judge giving one player 2 points less": lambda of: scores.favour(of, 2, 0, -2.0),
    "4 in 10 of the leader's judges giving it 3 points less": lambda of: scores.ring(
        of, round(RING * (len(of.marks.judges) - 1))
    ),
}


def _last(of: Tournament) -> tuple[int, int]:
    """The last two players, who are of no family."""
    return len(of.marks.authors) - 2, len(of.marks.authors) - 1


def _kin(of: Tournament) -> list[int]:
    """The family that is drawn: the first three in ten players."""
    return [at for at, name in enumerate(of.marks.authors) if (of.families or {})[name] == "one"]


def simulated(setup: Scored, number: int) -> list[Found | None]:
    """One tournament, with each plant alone."""
    made, chances = drawn(setup, number)
    arena: SimulatedArena[Chances, ScorePlant] = SimulatedArena(ScorePool(made), chances)
    planted = [build(made) for build in PLANTS.values()]
    return [None if plant is None else arena.found(plant) for plant in planted]


def measured(setup: Scored, arenas: int, workers: int) -> list[Power]:
    """What each plant comes to."""
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(partial(simulated, setup), range(arenas)))
    return [
        power(about, [one for one in of if one is not None])
        for about, of in zip(PLANTS, zip(*found, strict=True), strict=True)
    ]


def table(cells: Mapping[tuple[int, int], Sequence[Power]]) -> Iterator[str]:
    """The lines of the page's table."""
    heads = [f"{questions} questions: shift | found | false" for questions in QUESTIONS]
    yield f"| plant | players | {' | '.join(heads)} |"
    yield f"|---|--:|{'--:|' * 3 * len(QUESTIONS)}"
    for at, about in enumerate(PLANTS):
        for players in PLAYERS:
            row = [_cell(cells[players, questions][at]) for questions in QUESTIONS]
            yield f"| {about if players == PLAYERS[0] else ''} | {players} | {' | '.join(row)} |"


def _cell(row: Power) -> str:
    shift = "–"
    if row.moved is not None and row.corrected is not None:
        shift = f"{row.moved:+.0f} → {row.corrected:+.0f} ± {row.corrected_error or 0:.0f}"
    shares = [f"{one:.0%}" if one is not None else "–" for one in (row.noticed, row.false_alarms)]
    return " | ".join([shift, *shares])


def main(arenas: int) -> None:
    cells = {
        (players, questions): measured(Scored(players, questions, SPREAD), arenas, WORKERS)
        for players, questions in product(PLAYERS, QUESTIONS)
    }
    lines = "\n".join(table(cells))
    print(lines)
    for (players, questions), rows in cells.items():
        held = [f"{one.held_corrected:.0%}" for one in rows if one.held_corrected is not None]
        print(f"{players} players, {questions} questions: corrected intervals hold in {', '.join(held)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
