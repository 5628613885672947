"""What planted faults of judges do to ratings, before and after corrections, and whether they are noticed:
two tables of docs/judging-figures.md, of duels before panels and of tournaments of scores.

Skills have a standard deviation of some 150 points. Usage: python -m bench.planted [ARENAS [--write]]; with
--write the page's tables are replaced.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import pools, tournaments
from bench.pools import Luck, Plant, Pool, Setup
from bench.tournaments import Chances, Scored, ScorePlant, ScorePool
from peerage.judging.marks.marks import Votes
from peerage.judging.measures.corrections import CORRECTIONS, Corrected, Correction, corrected
from peerage.judging.measures.favours.search import LEVEL
from peerage.judging.measures.preference import ONE_SIDED, _leans
from peerage.ratings.arrays import Floats
from peerage.ratings.fits.bradley_terry import BradleyTerry

PAGE = Path(__file__).parents[1] / "docs" / "judging-figures.md"
BEGIN, END = "<!-- made by `python -m bench.planted 20 --write`: {} -->", "<!-- to here -->"


class Kind(NamedTuple):
    """A plant: in words, what plants it into a pool given how many take part, whether judges are asked once,
    and whether everybody writes at one length."""

    about: str
    plant: Callable[[Pool, int], Plant | None]
    once: bool = False
    constant: bool = False


def _last(build: Callable[[Pool, Sequence[int]], Plant], pool: Pool, count: int) -> Plant:
    return build(pool, range(len(pool.judges) - count, len(pool.judges)))


_LENGTH = "all prefer length; one player writes twice as much"
KINDS: Mapping[str, Kind] = {
    "": Kind("nothing", lambda pool, _: pools.NOTHING),
    "position": Kind(
        "all lean to the answer shown first, asked once",
        lambda pool, _: pools.position(pool),
        once=True,
    ),
    "lazy": Kind("3 in 10 pick the answer shown first", partial(_last, pools.lazy)),
    "lazy-once": Kind("the same, asked once", partial(_last, pools.lazy), once=True),
    "random": Kind("3 in 10 toss coins", partial(_last, pools.random)),
    "harsh": Kind("3 in 10 call a tie unless quite sure", partial(_last, pools.harsh)),
    "length": Kind(_LENGTH, lambda pool, _: pools.length(pool)),
    "fixed-length": Kind(
        "the same; each writes at one length", lambda pool, _: pools.length(pool), constant=True
    ),
    "family": Kind(
        "3 in 10 prefer their family",
        lambda pool, count: pools.family(pool, range(max(2, count))),
    ),
    "friends": Kind("2 friends", lambda pool, _: pools.friends(pool)),
    "half-friends": Kind("2 friends, half of votes", lambda pool, _: pools.friends(pool, 0.5)),
    "ring": Kind("4 in 10 against the leader", lambda pool, _: pools.ring(pool)),
}
"""Everything that is planted into duels, by name."""


def planted(kind: str, pool: Pool) -> Plant | None:
    """The plant of that kind, of three in ten players where some take part; None where it cannot be."""
    return KINDS[kind].plant(pool, max(1, round(0.3 * len(pool.judges))))


def _some(pool: ScorePool) -> range:
    judges = len(pool.judges)
    return range(judges - max(1, round(0.3 * judges)), judges)


def _kin(pool: ScorePool) -> list[int]:
    return [at for at, name in enumerate(pool.judges) if pool.families[name] == "one"]


def _friends(pool: ScorePool, share: float = 1.0) -> ScorePlant:
    """The last two, who are of no family."""
    last = len(pool.judges) - 1
    return tournaments.favour(pool.made, [(last - 1, last), (last, last - 1)], 2.0, share)


SCORE_KINDS: Mapping[str, Callable[[ScorePool], ScorePlant]] = {
    "nothing": lambda pool: ScorePlant(None),
    "3 in 10 give every answer the same": lambda pool: tournaments.lazy(pool.made, _some(pool)),
    "3 in 10 follow nothing": lambda pool: tournaments.random(pool.made, _some(pool)),
    "3 in 10 give 2.5 points less": lambda pool: tournaments.harsh(pool.made, _some(pool)),
    _LENGTH: lambda pool: tournaments.length(pool.made),
    "a family, +1": lambda pool: tournaments.family(pool.made, _kin(pool)),
    "2 friends, +2": _friends,
    "2 friends, half of scores": lambda pool: _friends(pool, 0.5),
    "1 gives another −2": lambda pool: tournaments.favour(pool.made, [(2, 0)], -2.0),
    "4 in 10 give the leader −3": lambda pool: tournaments.ring(pool.made),
}
"""Everything that is planted into tournaments, in words."""


class Found(NamedTuple):
    """One arena: whether somebody guilty was named (nan where nobody can be), and somebody innocent; by how
    many points the plant moved those it is about (everybody: how much farther from the truth ratings are),
    as the votes are and corrected (nan where nothing is planted); and which share of the 95% intervals hold
    the truth, both ways."""

    noticed: float
    alarm: float
    moved: float
    corrected: float
    held: float
    held_corrected: float


class SimulatedArena:
    """One simulated arena, before anything is planted into it: a `Pool` with its `Luck`, or a `ScorePool`
    with its `Chances`."""

    def __init__(self, pool: Any, luck: Luck | Chances, wanted: Sequence[Correction] = CORRECTIONS) -> None:
        self.pool, self.luck, self.wanted = pool, luck, wanted
        self.truth = pool.truth(), self._weighed(frozenset())
        self.clean = self._corrected(pool.under(luck, None))

    def _weighed(self, mute: frozenset[str]) -> Floats:
        """What corrected ratings should come to: as the judges see it who say something."""
        heard = np.array([judge not in mute for judge in self.pool.judges], np.bool_)
        return self.pool.truth(heard) if "reliability" in self.wanted else self.pool.truth()

    def _corrected(self, votes: Votes) -> Corrected:
        return corrected(votes, self.wanted, self.pool.styles, self.pool.families)

    def found(self, plant: Plant | ScorePlant) -> Found:
        """What the plant comes to here."""
        votes, nothing = self.pool.under(self.luck, plant), plant[0] is None
        dirty = self.clean if nothing else self._corrected(votes)
        pairs = {(pair.judge, pair.author) for pair in dirty.examined.favours if pair.found}
        one_sided = stuck(votes)
        guilty = (dirty.examined.mute.keys() | one_sided) & plant.judges or pairs & plant.pairs
        falsely = dirty.examined.faulty | (one_sided - self.pool.sided(self.luck, plant))
        truth = self.truth[0], self._weighed(plant.judges) if plant.judges else self.truth[1]
        moved = [np.nan, np.nan]
        if not nothing:
            both = zip((dirty.before, dirty.after), (self.clean.before, self.clean.after), strict=True)
            for at, (this, other) in enumerate(both):
                if plant.whom:
                    moved[at] = float((this.rating - other.rating)[list(plant.whom)].mean())
                else:
                    moved[at] = _far(this, truth[at]) - _far(other, self.truth[at])
        return Found(
            float(bool(guilty)) if plant.judges or plant.pairs else np.nan,
            float(bool(falsely - plant.judges or pairs - plant.pairs)),
            moved[0],
            moved[1],
            _held(dirty.before, truth[0]),
            _held(dirty.after, truth[1]),
        )


def stuck(votes: Votes) -> set[str]:
    """The judges asked in one order whose verdicts are for one place, as the report on judges names them."""
    net = votes.shown * np.sign(2 * votes.history.score - 1)
    leans = _leans(votes.judges, votes.judge, net, LEVEL)
    return {judge for judge, share in leans.items() if share >= ONE_SIDED}


def _far(table: BradleyTerry, truth: Floats) -> float:
    return float(np.abs(table.rating - truth).mean())


def _held(table: BradleyTerry, truth: Floats) -> float:
    inside = (table.lower <= truth + 1e-6) & (table.upper >= truth - 1e-6)
    return float(inside.mean()) if np.isfinite(table.lower).all() else np.nan


def duels(setup: Setup, number: int) -> list[Found | None]:
    """One arena of duels, with each plant alone; None is what cannot be planted there."""
    arenas = {
        (once, constant): SimulatedArena(*pools.drawn(setup, number, once=once, constant=constant))
        for once, constant in {(kind.once, kind.constant) for kind in KINDS.values()}
    }
    found: list[Found | None] = []
    for name, kind in KINDS.items():
        arena = arenas[kind.once, kind.constant]
        plant = planted(name, arena.pool)
        found.append(None if plant is None else arena.found(plant))
    return found


def scores(setup: Scored, number: int) -> list[Found | None]:
    """One tournament, with each plant alone."""
    made, chances = tournaments.drawn(setup, number)
    arena = SimulatedArena(ScorePool(made), chances)
    return [arena.found(build(arena.pool)) for build in SCORE_KINDS.values()]


Cells = Mapping[tuple[int, int], Sequence[Sequence[Found | None]]]
"""The arenas of each number of players and amount of matches or questions, each plant by plant."""


def measured(
    one: Callable[[Any, int], list[Found | None]], setups: Mapping[tuple[int, int], Any], arenas: int
) -> Cells:
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        return {cell: list(workers.map(partial(one, setup), range(arenas))) for cell, setup in setups.items()}


def table(cells: Cells, abouts: Sequence[str], unit: str) -> Iterator[str]:
    """The lines of a table, a row for each plant."""
    heads = [f"{players} players, {amount:,} {unit}" for players, amount in cells]
    yield f"| plant | {' | '.join(heads)} | false |"
    yield f"|---|{'--:|' * (len(heads) + 1)}"
    for at, about in enumerate(abouts):
        arenas = [[arena[at] for arena in of] for of in cells.values()]
        alarms = [arena.alarm for of in arenas for arena in of if arena is not None]
        yield f"| {about} | {' | '.join([_cell(of) for of in arenas])} | {np.mean(alarms or [0]):.0%} |"


def _cell(found: Sequence[Found | None]) -> str:
    """The mean shift as the votes are, and corrected, and the share in which somebody guilty is named."""
    columns = np.array([arena for arena in found if arena is not None], np.float64).reshape(-1, 6).T
    noticed, _, moved, left = [column[~np.isnan(column)] for column in columns[:4]]
    shift = [f"{moved.mean():+.0f}→{left.mean():+.0f}"] if len(left) else []
    return ", ".join([*shift, *([f"{noticed.mean():.0%}"] if len(noticed) else [])]) or "–"


def main(arenas: int, write: bool) -> None:
    of_duels = {(players, 400): Setup(players, 400) for players in (4, 8, 16)}
    of_scores = {(8, questions): Scored(8, questions, 1.9) for questions in (40, 160)}
    for name, one, setups, abouts, unit in (
        ("duels", duels, of_duels, [kind.about for kind in KINDS.values()], "duels"),
        ("scores", scores, of_scores, list(SCORE_KINDS), "questions"),
    ):
        lines = "\n".join(table(measured(one, setups, arenas), abouts, unit))
        print(lines, flush=True)
        if write:
            begin = BEGIN.format(name)
            before, _, rest = PAGE.read_text("utf-8").partition(begin)
            PAGE.write_text(f"{before}{begin}\n\n{lines}\n\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, "--write" in sys.argv)
