"""Tournaments in which everybody scores everybody, by judges of known harshness and known faults: what
detectors and corrections are measured with.

    score = level_j + slope_j (skill_i + luck of the answer + ease of the question) + error + what sways j

in the points of the scale, rounded to its steps and cut off at its ends. `bench.pools` is of duels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from bench.pools import RING, Pairs
from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import Marks, Votes
from peerage.judging.measures.corrections import STYLE
from peerage.ratings.arrays import Flags, Floats
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import fit_duels

_erf = np.vectorize(math.erf, otypes=[np.float64])


class Scale(NamedTuple):
    """What may be given: from `lowest` to `highest` in steps of `step`."""

    lowest: float = 0.0
    highest: float = 10.0
    step: float = 1.0

    def read(self, points: Floats) -> Floats:
        """The scores nearest to these points."""
        steps = np.round((points - self.lowest) / self.step)
        return np.asarray(np.clip(self.lowest + self.step * steps, self.lowest, self.highest))

    def above(self, mean: Floats, sd: Floats) -> Floats:
        """The chance of each step above the lowest, or more, where points are normal with this mean and
        standard deviation; steps along the last axis."""
        steps = np.arange(1, round((self.highest - self.lowest) / self.step) + 1)
        from_ = self.lowest + self.step * (steps - 0.5)
        return np.asarray(0.5 - 0.5 * _erf((from_ - mean[..., None]) / (sd[..., None] * math.sqrt(2))))


SCALE = Scale()


@dataclass(frozen=True, eq=False)
class Sway:
    """What sways judges. `towards`: points added to each mark. `keen`: the part of each judge's slope that is
    left: 1 for an honest judge, 0 where its scores follow nothing, below 0 where it prefers the worse.
    `alike`: judges who give every answer the same."""

    towards: Floats
    keen: Floats
    alike: Flags


class Chances(NamedTuple):
    """All chances of a tournament, drawn alike whatever sways its judges: how much better each answer is than
    its author (`answers`, question by question, author by author, in points), each mark's error (`errors`,
    standard normal), and what decides which marks are `sold`, from 0 to 1."""

    answers: Floats
    errors: Floats
    sold: Floats


@dataclass(frozen=True, eq=False)
class Tournament:
    """Who scores whose answers (`marks`), with the `skill` of the authors in points, and of each judge the
    `level` (what it gives an average answer), `slope` (points for each point of worth) and `noise` (standard
    deviation of an error, in points). Answers scatter around their authors by `luck`, and all answers to a
    question together by `ease`, standard deviations in points. `families` are by name."""

    marks: Marks
    skill: Floats
    level: Floats
    slope: Floats
    noise: Floats
    families: Mapping[str, str]
    luck: float = 1.0
    ease: float = 0.7
    scale: Scale = SCALE

    @property
    def honest(self) -> Sway:
        """Nobody is swayed."""
        judges = len(self.marks.judges)
        return Sway(np.zeros(len(self.marks)), np.ones(judges), np.zeros(judges, np.bool_))

    def chances(self, rng: np.random.Generator) -> Chances:
        """Chances for one playing of it."""
        m = self.marks
        answers = int(m.answer.max(initial=-1)) + 1
        question = np.zeros(answers, np.int64)
        question[m.answer] = m.contest
        ease = rng.normal(0, self.ease, len(m.contests))[question]
        return Chances(rng.normal(0, self.luck, answers) + ease, rng.normal(size=len(m)), rng.random(len(m)))

    def scored(self, chances: Chances, sway: Sway) -> Marks:
        """The marks of these judges."""
        m = self.marks
        slope, noise = self._judging(sway)
        worth = self.skill[m.author] + chances.answers[m.answer]
        points = self.level[m.judge] + slope[m.judge] * worth + noise[m.judge] * chances.errors
        given = np.where(sway.alike[m.judge], self.level[m.judge], points + sway.towards)
        return replace(m, value=self.scale.read(given))

    def _judging(self, sway: Sway) -> tuple[Floats, Floats]:
        """Slope and noise of each judge: who follows nothing still gives high and low scores."""
        slope = self.slope * sway.keen
        lost = np.maximum(self.slope**2 - slope**2, 0.0) * (float(self.skill.var()) + self.luck**2)
        return slope, np.sqrt(self.noise**2 + lost)


class Scored(Struct, frozen=True):
    """A tournament to simulate: everybody answers `questions` and scores everybody else's answers. Skills
    have a standard deviation of `spread` points. Judges differ in level (around 5.5, all `generous` points
    up, where the scale ends at 10), in slope and in noise."""

    players: int
    questions: int
    spread: float = 1.2
    generous: float = 0.0
    seed: int = 0


def drawn(setup: Scored, number: int, scale: Scale = SCALE) -> tuple[Tournament, Chances]:
    """Tournament `number` of a setup, and its chances. The first player writes twice as much as the others,
    on average; the first three in ten players, two at least, are a family."""
    n = setup.players
    rng = np.random.default_rng([setup.seed, number])
    names = tuple(f"p{at:02}" for at in range(n))
    judge, contest, author = np.nonzero(
        np.broadcast_to(~np.eye(n, dtype=np.bool_)[:, None], (n, setup.questions, n))
    )
    skill, level = rng.normal(0, setup.spread, n), 5.5 + rng.normal(setup.generous, 1, n)
    slope, noise = rng.uniform(0.5, 1.3, n), rng.uniform(1, 2, n)
    chars = np.round(1000 * 2 ** (rng.normal(0, 0.4, (setup.questions, n)) + (np.arange(n) == 0)))
    questions = tuple(f"{at:06}" for at in range(setup.questions))
    columns = judge, author, contest, np.zeros(len(judge)), chars[contest, author]
    families = {name: "one" if at < max(2, round(0.3 * n)) else name for at, name in enumerate(names)}
    marks = Marks(names, names, questions, *columns)
    made = Tournament(marks, skill, level, slope, noise, families, scale=scale)
    return made, made.chances(rng)


class ScorePlant(NamedTuple):
    """What sways judges, given the tournament's chances, None for nothing; the `judges`, or `pairs` of judge
    and author, one of whom is named when it is noticed; `whom` it moves, by number, empty for everybody."""

    sway: Callable[[Chances], Sway] | None
    judges: frozenset[str] = frozenset()
    pairs: Pairs = frozenset()
    whom: tuple[int, ...] = ()


def lazy(of: Tournament, members: Sequence[int]) -> ScorePlant:
    """Judges who give every answer the same."""
    sway = replace(of.honest, alike=_among(of, members))
    return ScorePlant(lambda _: sway, frozenset([of.marks.judges[at] for at in members]))


def random(of: Tournament, members: Sequence[int]) -> ScorePlant:
    """Judges whose scores follow nothing."""
    sway = replace(of.honest, keen=np.where(_among(of, members), 0.0, 1.0))
    return ScorePlant(lambda _: sway, frozenset([of.marks.judges[at] for at in members]))


def harsh(of: Tournament, members: Sequence[int]) -> ScorePlant:
    """Judges who give everybody 2.5 points less, of which nobody is guilty: no judge is to be named."""
    sway = replace(of.honest, towards=np.where(_among(of, members)[of.marks.judge], -2.5, 0.0))
    return ScorePlant(lambda _: sway)


def length(of: Tournament) -> ScorePlant:
    """All judges give an answer twice as long a point more; the first player writes twice as much."""
    m = of.marks
    sway = replace(of.honest, towards=np.log2(m.chars) - np.log2(np.median(m.chars)))
    pairs = frozenset([(judge, m.authors[0]) for judge in m.judges])
    return ScorePlant(lambda _: sway, pairs=pairs, whom=(0,))


def favour(of: Tournament, pairs: Sequence[tuple[int, int]], points: float, share: float = 1.0) -> ScorePlant:
    """These judges give these authors so many points more, or less, in that share of their marks."""
    m = of.marks
    bought = np.isin(m.judge * len(m.authors) + m.author, [j * len(m.authors) + a for j, a in pairs])

    def sway(chances: Chances) -> Sway:
        return replace(of.honest, towards=np.where(bought & (chances.sold < share), points, 0.0))

    guilty = frozenset([(m.judges[judge], m.authors[author]) for judge, author in pairs])
    return ScorePlant(sway, pairs=guilty, whom=tuple(sorted({author for _, author in pairs})))


def family(of: Tournament, members: Sequence[int]) -> ScorePlant:
    """Players, numbered as judges are, who give each other a point more."""
    m = of.marks
    sway = replace(of.honest, towards=1.0 * (np.isin(m.judge, members) & np.isin(m.author, members)))
    # by the same scores a member does outsiders down
    guilty = frozenset([(m.judges[at], name) for at in members for name in m.authors])
    return ScorePlant(lambda _: sway, pairs=guilty, whom=tuple(members))


def ring(of: Tournament) -> ScorePlant:
    """Four in ten of the leader's judges give it three points less."""
    leader = int(np.argmax(of.skill))
    judges = [at for at in range(len(of.marks.judges)) if at != leader]
    return favour(of, [(at, leader) for at in judges[: max(1, round(RING * len(judges)))]], -3.0)


def sides(of: Tournament, points: float) -> Floats:
    """Return what sways each mark where half of the leader's judges are for it and half against it."""
    m, leader = of.marks, int(np.argmax(of.skill))
    judges = [at for at in range(len(m.judges)) if at != leader]
    lean = np.zeros(len(m.judges))
    half = len(judges) // 2
    lean[judges[:half]], lean[judges[half : 2 * half]] = points, -points
    return np.asarray(lean[m.judge] * (m.author == leader))


def _among(of: Tournament, members: Sequence[int]) -> Flags:
    return np.isin(np.arange(len(of.marks.judges)), members)


_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


@dataclass(frozen=True, eq=False)
class ScorePool:
    """The judges and authors of a tournament whose scores are simulated."""

    made: Tournament

    @property
    def judges(self) -> tuple[str, ...]:
        return self.made.marks.judges

    @property
    def skill(self) -> Floats:
        """Of the authors, in points of the scale."""
        return self.made.skill

    @property
    def families(self) -> Mapping[str, str]:
        return self.made.families

    @cached_property
    def styles(self) -> Floats:
        """The lengths of all answers, as corrections want them."""
        m = self.made.marks
        found = np.zeros((len(m.contests), len(m.authors), len(STYLE)))
        found[:, :, 0] = np.nan
        found[m.contest, m.author, 0] = m.chars
        return found

    def under(self, luck: Chances, plant: ScorePlant | None) -> Votes:
        """What the judges say with the plant, as orders."""
        sway = self.made.honest if plant is None or plant.sway is None else plant.sway(luck)
        return in_orders(self.made.scored(luck, sway))

    def sided(self, luck: Chances, plant: ScorePlant | None) -> frozenset[str]:
        """The judges who lean to a place: nobody does."""
        return frozenset()

    @cached_property
    def _met(self) -> Votes:
        return in_orders(self.made.marks)

    def truth(self, judges: Flags | None = None) -> Floats:
        """The ratings that the orders of endless honest scores for these sheets come to; with `judges` of
        theirs alone, each weighing by its discernment."""
        of, met = self.made, self._met
        n, h = len(self.skill), met.history
        sd = np.sqrt((of.slope * of.luck) ** 2 + of.noise**2)
        count = np.bincount((met.judge * n + h.first) * n + h.second, h.weight, len(self.judges) * n * n)
        if judges is not None:
            count = count * np.repeat(judges * of.slope / sd, n * n)
        expected = self._expected(sd).ravel()
        cells = np.flatnonzero(count)
        one, two = np.divmod(cells % (n * n), n)
        columns = np.tile(one, 2), np.tile(two, 2), np.repeat([1.0, 0.0], len(cells))
        parts = np.concatenate([expected[cells], 1 - expected[cells]]) * np.tile(count[cells], 2)
        return fit_duels(duels(n, *columns, parts)).rating

    def _expected(self, sd: Floats) -> Floats:
        """The points by judge, author and other: the chance that the one gets more, and half of that of as
        much, over questions of any ease."""
        of = self.made
        found = np.zeros((len(self.judges), len(self.skill), len(self.skill)))
        for node, weight in zip(of.ease * _NODES, _NODE_WEIGHTS / _NODE_WEIGHTS.sum(), strict=True):
            mean = of.level[:, None] + of.slope[:, None] * (self.skill + node)
            above = of.scale.above(mean, np.broadcast_to(sd[:, None], mean.shape))
            below = np.pad(1 - above, ((0, 0), (0, 0), (1, 0)))
            below = np.pad(below, ((0, 0), (0, 0), (0, 1)), constant_values=1.0)
            share, middle = np.diff(below, axis=2), (below[:, :, 1:] + below[:, :, :-1]) / 2
            found += weight * share @ middle.transpose(0, 2, 1)
        return found
