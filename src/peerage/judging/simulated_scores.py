"""Scores as judges of known harshness and known faults would give them: what detectors are measured with.

    score = level_j + slope_j (skill_i + luck of the answer + ease of the question) + error + what sways j

in the points of the scale, rounded to its steps and cut off at its ends. Who scores whose answers stands in
`Marks`, drawn (`drawn`) or recorded, whose values say nothing here. It is to scored tournaments what
`judging.planted` is to duels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.judging.marks import Flags, Marks
from peerage.judging.normalisation import MEAN
from peerage.judging.planted import NOTHING, Pairs
from peerage.ratings.kernels import Floats, Ints

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

    def expected(self, mean: Floats, sd: Floats) -> Floats:
        """The mean score where points are normal with this mean and standard deviation."""
        return np.asarray(self.lowest + self.step * self.above(mean, sd).sum(axis=-1))


TENTHS = Scale()
"""Whole points from 0 to 10."""


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
    luck: float = 1.0
    ease: float = 0.7
    scale: Scale = TENTHS
    families: Mapping[str, str] | None = None

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

    def truth(self) -> Floats:
        """The mean score of each author, each judge brought to an average of `MEAN`, that endless questions
        before these judges come to; nan where none of its answers is scored."""
        m = self.marks
        mean = self.level[:, None] + self.slope[:, None] * self.skill
        sd = np.sqrt(self.slope**2 * (self.luck**2 + self.ease**2) + self.noise**2)
        value = self.scale.expected(mean, np.broadcast_to(sd[:, None], mean.shape))[m.judge, m.author]
        own = np.bincount(m.judge, value) / np.maximum(np.bincount(m.judge), 1)
        count = np.bincount(m.author, minlength=len(m.authors))
        total = np.bincount(m.author, value - own[m.judge] + MEAN, len(m.authors))
        return np.asarray(total / np.where(count > 0, count, np.nan))


class TournamentResult(NamedTuple):
    """A tournament's result: each author's mean score over the questions, each judge brought to `MEAN`, and
    its standard error with questions as the sample (nan for fewer than two), which holds what hard and easy
    questions have in common."""

    score: Floats
    error: Floats
    questions: Ints


def table(marks: Marks) -> TournamentResult:
    """The scores of the authors, by number: those of `scores_standing.standings` where every question weighs
    the same."""
    own = np.bincount(marks.judge, marks.value) / np.maximum(np.bincount(marks.judge), 1)
    value = marks.value - own[marks.judge] + MEAN
    answer = np.bincount(marks.answer, value) / np.maximum(np.bincount(marks.answer), 1)
    author = np.zeros(len(answer), np.int64)
    author[marks.answer] = marks.author
    n = np.bincount(author, minlength=len(marks.authors))
    mean = np.bincount(author, answer, len(n)) / np.where(n > 0, n, np.nan)
    squares = np.bincount(author, (answer - mean[author]) ** 2, len(n))
    return TournamentResult(mean, np.sqrt(squares / np.where(n > 1, n - 1, np.nan) / np.maximum(n, 1)), n)


class Scored(Struct, frozen=True):
    """A tournament to simulate: everybody answers `questions` and scores everybody else's answers. Skills
    have a standard deviation of `spread` points. Judges differ in level (around 5.5, all `generous` points
    up, where the scale ends at 10), in slope and in noise."""

    players: int
    questions: int
    spread: float = 1.2
    generous: float = 0.0
    seed: int = 0


def drawn(setup: Scored, number: int, scale: Scale = TENTHS) -> tuple[Tournament, Chances]:
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
    made = Tournament(
        Marks(names, names, questions, *columns), skill, level, slope, noise, scale=scale, families=families
    )
    return made, made.chances(rng)


class ScorePlant(NamedTuple):
    """A fault, in words; what `sway`s judges, given the tournament's chances, None for nothing; the `judges`,
    or `pairs` of judge and author, one of whom is named when it is noticed; and `whom` it moves, by number,
    empty for everybody."""

    about: str
    sway: Callable[[Chances], Sway] | None
    judges: frozenset[str] = frozenset()
    pairs: Pairs = frozenset()
    whom: tuple[int, ...] = ()


NONE = ScorePlant(NOTHING.about, None)


def lazy(of: Tournament, members: Sequence[int]) -> ScorePlant:
    sway = replace(of.honest, alike=_among(of, members))
    return _of_judges(of, members, "giving every answer the same", sway)


def random(of: Tournament, members: Sequence[int]) -> ScorePlant:
    sway = replace(of.honest, keen=np.where(_among(of, members), 0.0, 1.0))
    return _of_judges(of, members, "whose scores follow nothing", sway)


def harsh(of: Tournament, members: Sequence[int], points: float = 2.5) -> ScorePlant:
    """Nobody is guilty of giving everybody less: no judge is to be named."""
    sway = replace(of.honest, towards=np.where(_among(of, members)[of.marks.judge], -points, 0.0))
    return ScorePlant(f"{_named(of, members)} giving everybody {points:g} points less", lambda _: sway)


def length(of: Tournament, members: Sequence[int], points: float = 1.0) -> ScorePlant | None:
    """Judges who give an answer twice as long so many points more; the first player writes twice as much."""
    m = of.marks
    if np.isnan(m.chars).any():
        return None
    longer = np.log2(m.chars) - np.log2(np.median(m.chars))
    sway = replace(of.honest, towards=points * longer * _among(of, members)[m.judge])
    about = f"{_named(of, members)} preferring longer answers, one player writing twice as much"
    pairs = frozenset([(m.judges[at], m.authors[0]) for at in members])
    return ScorePlant(about, lambda _: sway, pairs=pairs, whom=(0,))


def favour(of: Tournament, judge: int, author: int, points: float = 2.0, share: float = 1.0) -> ScorePlant:
    """One judge gives one author so many points more, or less, in that share of its marks."""
    m = of.marks
    about = f"{m.judges[judge]} giving {m.authors[author]} {abs(points):g} points {_more(points)}"
    return _pairs(of, [(judge, author)], points, share, about, (author,))


def friends(
    of: Tournament, one: int = 0, two: int = 1, points: float = 2.0, share: float = 1.0
) -> ScorePlant:
    """Two players, with one number as judge and author, give each other so many points more."""
    often = "" if share == 1 else f" in {share:.0%} of their scores"
    about = f"{of.marks.judges[one]} and {of.marks.judges[two]} giving each other {points:g} points more"
    return _pairs(of, [(one, two), (two, one)], points, share, about + often, (one, two))


def family(of: Tournament, members: Sequence[int], points: float = 1.0) -> ScorePlant:
    """Players, numbered as judges are, who give each other so many points more."""
    m = of.marks
    lean = np.isin(m.judge, members) & np.isin(m.author, members)
    sway = replace(of.honest, towards=np.where(lean, points, 0.0))
    # by the same scores a member does outsiders down
    guilty = frozenset([(m.judges[at], name) for at in members for name in m.authors])
    about = f"{len(members)} of a family giving each other {points:g} points more"
    return ScorePlant(about, lambda _: sway, pairs=guilty, whom=tuple(members))


def ring(of: Tournament, members: int, points: float = 3.0) -> ScorePlant:
    """So many judges give the leader so many points less."""
    leader = int(np.argmax(of.skill))
    judges = [at for at in range(len(of.marks.judges)) if of.marks.judges[at] != of.marks.authors[leader]]
    about = f"{members} giving {of.marks.authors[leader]}, the best, {points:g} points less"
    return _pairs(of, [(at, leader) for at in judges[:members]], -points, 1.0, about, (leader,))


def camps(of: Tournament, points: float = 1.5) -> ScorePlant:
    """As many judges give the leader more as give it less: nobody can tell who is out of step, and nobody is
    to be accused."""
    sway, leader = replace(of.honest, towards=sides(of, points)), of.marks.authors[int(np.argmax(of.skill))]
    return ScorePlant(
        f"half of the judges giving {leader}, the best, {points:g} points more, half less", lambda _: sway
    )


def sides(of: Tournament, points: float) -> Floats:
    """What each mark is swayed by where half of the leader's judges are for it and half against it."""
    m, leader = of.marks, int(np.argmax(of.skill))
    judges = [at for at in range(len(m.judges)) if m.judges[at] != m.authors[leader]]
    lean = np.zeros(len(m.judges))
    half = len(judges) // 2
    lean[judges[:half]], lean[judges[half : 2 * half]] = points, -points
    return np.asarray(lean[m.judge] * (m.author == leader))


def _pairs(
    of: Tournament,
    pairs: Sequence[tuple[int, int]],
    points: float,
    share: float,
    about: str,
    whom: tuple[int, ...],
) -> ScorePlant:
    m = of.marks
    about_them = np.zeros(len(m), np.bool_)
    for judge, author in pairs:
        about_them |= (m.judge == judge) & (m.author == author)

    def bought(chances: Chances) -> Sway:
        return replace(of.honest, towards=np.where(about_them & (chances.sold < share), points, 0.0))

    guilty = frozenset([(m.judges[judge], m.authors[author]) for judge, author in pairs])
    return ScorePlant(about, bought, pairs=guilty, whom=whom)


def _of_judges(of: Tournament, members: Sequence[int], what: str, sway: Sway) -> ScorePlant:
    guilty = frozenset([of.marks.judges[at] for at in members])
    return ScorePlant(f"{_named(of, members)} {what}", lambda _: sway, guilty)


def _among(of: Tournament, members: Sequence[int]) -> Flags:
    return np.isin(np.arange(len(of.marks.judges)), members)


def _named(of: Tournament, members: Sequence[int]) -> str:
    judges = of.marks.judges
    return judges[members[0]] if len(members) == 1 else f"{len(members)} of {len(judges)} judges"


def _more(points: float) -> str:
    return "more" if points > 0 else "less"
