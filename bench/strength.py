"""How far the posterior of strengths can be trusted: a table of docs/ratings.md.

Arenas of known strengths are played, paired at random, as a Swiss tournament, next to each other by rating
(`close`), or the leader against those who may be better (`adaptive`), whose ratings are a quick fit of the
results so far; `tables` are rankings of four, drawn as by Plackett and Luce. At each look
`peerage.ratings.strength` is asked, and what it says is compared with the truth.

Usage: python -m bench.strength [ARENAS [--write] [--only TEXT]]    (100: about fifteen minutes on one core)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import duels, free_for_all
from peerage.ratings.strength import prior
from peerage.ratings.strength.evidence import of_duels, of_games
from peerage.ratings.strength.posterior import strengths
from peerage.ratings.table import POINTS

PAGE = Path(__file__).parents[1] / "docs" / "ratings.md"
BEGIN, END = "<!-- made by `python -m bench.strength 100 --write` -->", "<!-- to here -->"
SEATS = 4  # of a table
CLOSE = 40.0  # Elo: the spread that equals may show after twenty matches a player
ENOUGH = 20.0  # matches a player from which on slopes, and the spread of equals, are held to their bounds


class Setup(NamedTuple):
    """Arenas of one kind: `pool` is how strengths are drawn, with the standard deviation `spread` in Elo;
    `ties` the share of them between equals; `looks` the numbers of matches at which the posterior is
    asked."""

    players: int
    pool: str
    spread: float
    ties: float
    policy: str
    looks: tuple[int, ...]

    @property
    def name(self) -> str:
        pools = {
            "prior": "drawn from the prior",
            "equals": "equals",
            "normal": f"normal, SD {self.spread:.0f}",
            "tails": f"heavy tails (t with 3), SD {self.spread:.0f}",
            "ahead": f"one {self.spread:.0f} ahead",
            "close": f"one 400 ahead, the rest SD {self.spread:.0f}",
        }
        ties = "" if self.pool == "prior" else f", {self.ties:.0%} ties"
        return f"{self.players} players, {pools[self.pool]}{ties}, {self.policy}"

    def drawn(self, rng: np.random.Generator) -> tuple[Floats, float]:
        """Strengths in log-odds, and ν."""
        n, nu = self.players, 2 * self.ties / (1 - self.ties)
        width = self.spread / POINTS
        if self.pool == "prior":
            spread, share = rng.exponential(prior.WIDTH), rng.beta(*prior.SHARE)
            far = rng.random(n) < share
            skill = rng.normal(0, np.sqrt(spread**2 + far * prior.FAR**2), n)
            return skill, float(np.exp(rng.normal(*prior.TIE)))
        if self.pool == "equals":
            return np.zeros(n), nu
        if self.pool == "normal":
            return rng.normal(0, width, n), nu
        if self.pool == "tails":
            return rng.standard_t(3, n) * width / np.sqrt(3), nu
        skill = np.zeros(n) if self.pool == "ahead" else rng.normal(0, width, n)
        skill[rng.integers(n)] += (self.spread if self.pool == "ahead" else 400.0) / POINTS
        return skill, nu


SETUPS = (
    Setup(3, "prior", 0, 0, "random", (20, 80)),
    Setup(8, "prior", 0, 0, "random", (40, 160, 640)),
    Setup(8, "prior", 0, 0, "adaptive", (40, 160, 640)),
    Setup(20, "prior", 0, 0, "swiss", (80, 400)),
    Setup(40, "prior", 0, 0, "random", (400, 2000)),
    Setup(3, "equals", 0, 0.2, "adaptive", (20, 80)),
    Setup(8, "equals", 0, 0.2, "close", (40, 160, 640)),
    Setup(20, "equals", 0, 0.0, "adaptive", (80, 400)),
    Setup(8, "normal", 60, 0.2, "random", (160, 640)),
    Setup(8, "normal", 150, 0.0, "adaptive", (40, 160)),
    Setup(8, "normal", 150, 0.5, "close", (160, 640)),
    Setup(20, "normal", 60, 0.2, "adaptive", (80, 400, 1200)),
    Setup(20, "normal", 150, 0.2, "swiss", (160, 800)),
    Setup(40, "normal", 120, 0.2, "random", (400, 2000)),
    Setup(12, "normal", 600, 0.1, "swiss", (60, 480)),
    Setup(12, "normal", 300, 0.2, "adaptive", (60, 480)),
    Setup(12, "tails", 150, 0.2, "adaptive", (120, 480)),
    Setup(12, "tails", 150, 0.2, "random", (120, 480)),
    Setup(8, "ahead", 400, 0.2, "adaptive", (40, 160, 640)),
    Setup(20, "ahead", 400, 0.2, "adaptive", (80, 400)),
    Setup(20, "close", 60, 0.2, "random", (160, 800)),
    Setup(12, "normal", 150, 0, "tables", (30, 150)),
    Setup(8, "prior", 0, 0, "tables", (20, 100)),
)


class Seen(NamedTuple):
    """One look at one arena: which intervals hold the truth, the best player's own among them, what ratings
    say and the truth (centred, Elo), and of chances said what is true, in two columns: of each player to be
    the best, and of one pair's first to be better. `pick` is the chance said of the pick, and whether it is
    the best."""

    held: np.ndarray
    leader: float
    rating: Floats
    truth: Floats
    best: Floats
    better: Floats
    pick: tuple[float, float]


def fit(wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Strengths and their covariance, of many arenas at once: a tie is half a win, and strengths are normal
    with standard deviation 1."""
    size = wins.shape[-1]
    met = wins + wins.swapaxes(1, 2) + ties
    points = (wins + ties / 2).sum(axis=2)
    mean = np.zeros(wins.shape[:2])
    for _ in range(6):
        chance = 1 / (1 + np.exp(mean[:, None, :] - mean[:, :, None]))
        weight = met * chance * (1 - chance)
        information = -weight
        information[:, range(size), range(size)] = weight.sum(axis=2) + 1
        covariance = np.linalg.inv(information)
        slope = points - (met * chance).sum(axis=2) - mean
        mean = mean + np.clip((covariance @ slope[..., None])[..., 0], -1, 1)
    return mean, covariance


def paired(
    policy: str, mean: Floats, covariance: Floats, count: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """The next `count` matches of each arena: of each match the first and second players."""
    arenas, size = mean.shape
    every = np.arange(arenas)
    if policy == "adaptive":
        leader = mean.argmax(axis=1)
        own = np.diagonal(covariance, axis1=1, axis2=2)
        apart = own + own[every, leader][:, None] - 2 * covariance[every, leader]
        gap = mean[every, leader][:, None] - mean
        score = gap / np.sqrt(np.maximum(apart, 1e-12)) + rng.uniform(0, 1e-6, mean.shape)
        score[every, leader] = np.inf
        rivals = score.argsort(axis=1)
        for match in range(count):
            yield leader, rivals[:, match % (size - 1)]
        return
    order = rng.random(mean.shape).argsort(axis=1)
    if policy != "random":
        luck = rng.normal(0, 0.4 if policy == "swiss" else 0.15, mean.shape)
        order = (-mean - luck).argsort(axis=1)
        if size % 2:
            order = np.roll(order, -int(rng.integers(size)), axis=1)
    for match in range(count):
        yield order[:, 2 * match], order[:, 2 * match + 1]


def played(setup: Setup, numbers: Sequence[int]) -> tuple[Floats, list[np.ndarray]]:
    """Arenas of a setup: their strengths, and all their matches as first, second and score; tables as
    seats from best to worst."""
    rngs = [np.random.default_rng([setup.players, *map(ord, setup.name), number]) for number in numbers]
    drawn = [setup.drawn(rng) for rng in rngs]
    skill, nu = np.array([each for each, _ in drawn]), np.array([tie for _, tie in drawn])
    rng = np.random.default_rng([*map(ord, setup.name), *numbers])
    arenas, size = skill.shape
    every = np.arange(arenas)
    wins, ties = np.zeros((2, arenas, size, size))
    rows: list[np.ndarray] = []
    mean, covariance = np.zeros_like(skill), np.tile(np.eye(size), (arenas, 1, 1))
    while setup.policy == "tables" and len(rows) < setup.looks[-1]:
        seated = rng.random(skill.shape).argsort(axis=1)[:, :SEATS]
        luck = np.take_along_axis(skill, seated, axis=1) + rng.gumbel(size=seated.shape)
        rows.append(np.take_along_axis(seated, (-luck).argsort(axis=1), axis=1).T)
    while len(rows) < setup.looks[-1]:
        if setup.policy != "random":
            mean, covariance = fit(wins, ties)
        most = max(1, size // 4) if setup.policy == "adaptive" else size // 2
        for a, b in paired(setup.policy, mean, covariance, most, rng):
            up = np.exp((skill[every, a] - skill[every, b]) / 2)
            luck = rng.random(arenas) * (up + 1 / up + nu)
            score = np.where(luck < up, 1.0, np.where(luck < up + nu, 0.5, 0.0))
            wins[every, a, b] += score == 1
            wins[every, b, a] += score == 0
            ties[every, a, b] += score == 0.5
            ties[every, b, a] += score == 0.5
            rows.append(np.stack([a, b, score]))
    matches = np.array(rows)
    return skill, [matches[:, :, arena].T for arena in range(arenas)]


def seen(skill: Floats, matches: np.ndarray, seed: int) -> Seen:
    """What the posterior says of these matches, and the truth."""
    n = len(skill)
    if len(matches) == SEATS:
        evidence = of_games(free_for_all(n, matches.T, np.tile(np.arange(SEATS), (matches.shape[1], 1))))
    else:
        evidence = of_duels(duels(n, matches[0].astype(int), matches[1].astype(int), matches[2]))
    found = strengths(evidence, seed=seed)
    truth = 1500 + POINTS * (skill - skill.mean())
    held = (found.lower <= truth) & (truth <= found.upper)
    top, rng = int(skill.argmax()), np.random.default_rng(seed)
    first, second = rng.permutation(n)[:2].tolist()
    pick = int(found.best.argmax())
    return Seen(
        held,
        float(held[top]),
        found.rating - 1500,
        truth - 1500,
        np.stack([found.best, skill == skill.max()]),
        np.array([found.better[first, second], (1 + np.sign(skill[first] - skill[second])) / 2]),
        (float(found.best[pick]), float(pick == top)),
    )


def looked(setup: Setup, numbers: Sequence[int]) -> list[list[Seen]]:
    """Each look at each of these arenas."""
    skill, matches = played(setup, numbers)
    return [
        [
            seen(each, rows[:, :look], number)
            for each, rows, number in zip(skill, matches, numbers, strict=True)
        ]
        for look in setup.looks
    ]


def measured(arenas: int, only: str) -> dict[tuple[Setup, int], list[Seen]]:
    """All cells: each setup at each of its looks."""
    setups = [setup for setup in SETUPS if only in setup.name]
    found: dict[tuple[Setup, int], list[Seen]] = {}
    parts = [list(part) for part in np.array_split(np.arange(arenas), max(1, arenas // 25))]
    with ProcessPoolExecutor(int(os.environ.get("BENCH_CORES", os.cpu_count() or 1))) as workers:
        for setup in setups:
            for part in workers.map(partial(looked, setup), parts):
                for look, cell in zip(setup.looks, part, strict=True):
                    found.setdefault((setup, look), []).extend(cell)
            print(line(setup, [found[setup, look] for look in setup.looks]), flush=True)
    return found


HEAD = (
    "| arenas | matches | intervals hold | the best player's | slope | pick is best: said | true | misses |",
    "|---|--:|--:|--:|--:|--:|--:|---|",
)


def beyond(each: Floats, least: float, most: float = np.inf) -> bool:
    """Whether the mean over arenas is outside these bounds by more than two standard errors."""
    error = 2 * each.std() / np.sqrt(len(each))
    return bool(each.mean() + error < least or each.mean() - error > most)


def line(setup: Setup, cells: Sequence[Sequence[Seen]]) -> str:
    """Return a line of the table: an arena, and its figures at each of its looks."""
    columns = list(
        zip(*[figures(setup, *each) for each in zip(setup.looks, cells, strict=True)], strict=True)
    )
    *numbers, misses = [[text for text in column if text] for column in columns]
    return f"| {setup.name} | {' | '.join(', '.join(column) for column in numbers)} | {'; '.join(misses)} |"


def figures(setup: Setup, look: int, cell: Sequence[Seen]) -> tuple[str, ...]:
    """Return the figures of one look, at last the bounds that it misses by more than chance."""
    held = np.array([each.held.mean() for each in cell])
    leader = np.array([each.leader for each in cell])
    equals, drawn = setup.pool == "equals", setup.pool == "prior"
    seats = SEATS if setup.policy == "tables" else 2
    often = seats * look / setup.players >= ENOUGH
    cross = np.array([each.rating @ each.truth for each in cell])
    squares = np.array([each.rating @ each.rating for each in cell])
    slope = float(cross.sum() / squares.sum())
    error = float(np.sqrt(((cross - slope * squares) ** 2).sum()) / squares.sum())
    said, true = np.array([each.pick for each in cell]).T
    misses = []
    if beyond(held, 0.94 if drawn else 0.92, 0.96 if drawn else 1.0):
        misses.append("intervals")
    if not equals and beyond(leader, 0.85):
        misses.append("the best player's")
    wide = 0.05 if drawn else 0.1
    wild = drawn or (often and not equals and setup.spread >= 120)
    if wild and abs(slope - 1) - 2 * error > wide:
        misses.append("slope")
    spread = float(np.median([each.rating.std() for each in cell]))
    if equals and often and spread >= CLOSE:
        misses.append("spread")
    if not equals and beyond(said - true, 0.0, 0.0):
        misses.append("the pick's chance")
    missed = f"at {look}: {', '.join(misses)}" if misses else ""
    if equals:
        return str(look), f"{held.mean():.1%}", "", f"spread {spread:.0f}", "", "", missed
    pick = f"{said.mean():.0%}", f"{true.mean():.0%}"
    return str(look), f"{held.mean():.1%}", f"{leader.mean():.0%}", f"{slope:.2f}", *pick, missed


def binned(cells: dict[tuple[Setup, int], list[Seen]], chances: Callable[[Seen], Floats]) -> list[str]:
    """How often what is said is true, in ten bins over all cells but those of equals; a star where that
    differs from what is said by more than two standard errors."""
    columns = [chances(each) for (setup, _), cell in cells.items() if setup.pool != "equals" for each in cell]
    said, true = np.concatenate([column.reshape(2, -1) for column in columns], axis=1)
    found = []
    for low in range(0, 100, 10):
        inside = (said * 100 >= low) & ((said * 100 < low + 10) | (low == 90))
        apart = said[inside] - true[inside]
        if not len(apart):
            found.append("")
            continue
        star = "*" * bool(abs(apart.mean()) > 2 * apart.std() / np.sqrt(len(apart)))
        found.append(f"{said[inside].mean():.1%}: {true[inside].mean():.1%}{star}")
    return found


def summary(cells: dict[tuple[Setup, int], list[Seen]]) -> Iterator[str]:
    """Two rows: how often what is said with so many percent is true."""
    yield f"| said: true | {' | '.join(f'{low}–{low + 10}%' for low in range(0, 100, 10))} |"
    yield f"|---|{'--:|' * 10}"
    yield f"| “best with p%” | {' | '.join(binned(cells, lambda each: each.best))} |"
    yield f"| “A is better than B with p%” | {' | '.join(binned(cells, lambda each: each.better))} |"


def table(cells: dict[tuple[Setup, int], list[Seen]]) -> list[str]:
    """Return the lines of all setups measured."""
    setups = dict.fromkeys(setup for setup, _ in cells)
    return [line(setup, [cells[setup, look] for look in setup.looks]) for setup in setups]


def main(arenas: int, write: bool, only: str) -> None:
    print("\n".join(HEAD))
    cells = measured(arenas, only)
    lines = [*HEAD, *table(cells), "", *summary(cells)]
    print("\n".join(summary(cells)))
    if write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(
            f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}", "utf-8"
        )


if __name__ == "__main__":
    words = sys.argv[1:]
    main(
        int(words[0]) if words and words[0].isdigit() else 100,
        "--write" in words,
        words[words.index("--only") + 1] if "--only" in words else "",
    )
