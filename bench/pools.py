"""Pools of players who also judge duels, with known skills and known faults: what detectors and corrections
are measured with.

    log-odds of judge j for a over b = g_j (s_a - s_b + noise of the match) + what sways it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct

from peerage.judging.marks.marks import Votes
from peerage.judging.measures.corrections import STYLE
from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.table import POINTS

NOISE = 0.5
"""Standard deviation, in log-odds, by which answers are better or worse than their authors."""
_CERTAIN = 99.0
RING = 0.4
"""The share of a leader's judges that a ring has."""
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


@dataclass(frozen=True, eq=False)
class Schedule:
    """Who votes on whose answers, one element a vote: `first` and `second` number `players`, `judge` numbers
    `judges`, `match` the matches from 0. `shown` is 1 where the first player's answer alone was shown first,
    -1 where the second's was, 0 where the judge saw both orders."""

    players: tuple[str, ...]
    judges: tuple[str, ...]
    first: Ints
    second: Ints
    judge: Ints
    match: Ints
    shown: Ints

    @property
    def matches(self) -> int:
        return int(self.match.max(initial=-1)) + 1

    def votes(self, score: Floats) -> Votes:
        """These votes with the first player's points; those of a match weigh as one match."""
        weight = 1 / np.bincount(self.match)[self.match]
        history = duels(len(self.players), self.first, self.second, score, weight)
        return Votes(self.players, history, self.judges, self.judge, self.match, self.shown)


@dataclass(frozen=True, eq=False)
class Fault:
    """What sways judges. `towards`: log-odds added to each vote for its first player. `always`: 1 where a
    vote goes to the first player, -1 where to the second, whatever they wrote, 0 where it is honest.
    `first_shown`: each judge's lean, in log-odds, to the answer shown first. `cautious`: the log-odds that
    each judge must see beyond even ones before it calls no tie. `coin`: judges who toss a coin."""

    towards: Floats
    always: Ints
    first_shown: Floats
    cautious: Floats
    coin: Flags


def honest(schedule: Schedule) -> Fault:
    """No fault at all."""
    votes, judges = len(schedule.first), len(schedule.judges)
    nobody, nothing = np.zeros(judges, np.bool_), np.zeros(judges)
    return Fault(np.zeros(votes), np.zeros(votes, np.int64), nothing, nothing, nobody)


class Luck(NamedTuple):
    """All chances of an arena's votes, drawn alike whatever the fault: two arenas of equal luck differ by the
    fault alone. How much better the first answer of each match is than its author (`noise`), and what
    decides each vote in either order (`votes`, shape (2, votes)) and each sale of one (`sold`)."""

    noise: Floats
    votes: Floats
    sold: Floats

    @classmethod
    def of(cls, rng: np.random.Generator, matches: int, votes: int) -> Luck:
        return cls(rng.normal(0, NOISE, matches), rng.random((2, votes)), rng.random(votes))


def cast(luck: Luck, schedule: Schedule, skill: Floats, discernment: Floats, fault: Fault) -> Floats:
    """Points that each vote gives its first player: 1, ½ or 0; of both orders what they agree on, else ½.
    `skill` of the players is in log-odds for a judge of `discernment` 1."""
    a, b, judge = schedule.first, schedule.second, schedule.judge
    gap = discernment[judge] * ~fault.coin[judge] * (skill[a] - skill[b] + luck.noise[schedule.match])
    gap = np.where(fault.always == 0, gap + fault.towards, _CERTAIN * fault.always)
    seen = gap + np.array([[1.0], [-1.0]]) * fault.first_shown[judge]
    doubt = np.where(fault.always == 0, fault.cautious[judge], 0.0)
    said = (1.0 * (luck.votes < _logistic(seen - doubt)) + (luck.votes < _logistic(seen + doubt))) / 2
    both = np.where(said[0] == said[1], said[0], 0.5)
    return np.asarray(np.where(schedule.shown == 0, both, np.where(schedule.shown > 0, said[0], said[1])))


def _logistic(gap: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-gap)))


@dataclass(frozen=True, eq=False)
class Pool:
    """An arena's players and judges: `skill` and `discernment` as `cast` wants them. `chars` are how long
    both answers of each match are, shape (2, matches); `families` are by name. Players and judges have the
    same numbers."""

    schedule: Schedule
    skill: Floats
    discernment: Floats
    chars: Floats
    families: Mapping[str, str]

    def votes(self, luck: Luck, fault: Fault) -> Votes:
        """The votes of these judges."""
        return self.schedule.votes(cast(luck, self.schedule, self.skill, self.discernment, fault))

    @property
    def judges(self) -> tuple[str, ...]:
        return self.schedule.judges

    def under(self, luck: Luck, plant: Plant | None) -> Votes:
        """The votes of these judges with the plant."""
        return self.votes(luck, self._fault(luck, plant))

    def sided(self, luck: Luck, plant: Plant | None) -> frozenset[str]:
        """The judges who lean to what is shown first."""
        leaning = np.flatnonzero(self._fault(luck, plant).first_shown).tolist()
        return frozenset([self.judges[at] for at in leaning])

    def _fault(self, luck: Luck, plant: Plant | None) -> Fault:
        return plant.fault(luck.sold) if plant and plant.fault else honest(self.schedule)

    @property
    def styles(self) -> Floats:
        """The counts of both answers of each match, as corrections want them."""
        found = np.zeros((self.schedule.matches, 2, len(STYLE)))
        found[:, :, 0] = self.chars.T
        return found

    def truth(self, judges: Flags | None = None) -> Floats:
        """The ratings that endless honest votes in these matches come to; with `judges` of theirs alone,
        each weighing by its discernment."""
        s = self.schedule
        gap = (self.skill[s.first] - self.skill[s.second])[:, None] + NOISE * _NODES
        chance = _logistic(self.discernment[s.judge][:, None] * gap) @ (_NODE_WEIGHTS / _NODE_WEIGHTS.sum())
        weight = 1 / np.bincount(s.match)[s.match]
        if judges is not None:
            weight = weight * (self.discernment * judges)[s.judge]
        columns = np.tile(s.first, 2), np.tile(s.second, 2), np.repeat([1.0, 0.0], len(chance))
        parts = np.concatenate([weight * chance, weight * (1 - chance)])
        return fit_duels(duels(len(s.players), *columns, parts)).rating


Pairs: TypeAlias = frozenset[tuple[str, str]]


class Plant(NamedTuple):
    """A fault, given what is `sold` (see `Luck`), None for none; the `judges`, or `pairs` of judge and
    author, one of whom is named when it is noticed; `whom` it moves, by number, empty for everybody."""

    fault: Callable[[Floats], Fault] | None
    judges: frozenset[str] = frozenset()
    pairs: Pairs = frozenset()
    whom: tuple[int, ...] = ()


NOTHING = Plant(None)


def lazy(pool: Pool, members: Sequence[int]) -> Plant:
    """Judges who always pick the answer shown first."""
    fault = replace(honest(pool.schedule), first_shown=np.where(_among(pool, members), _CERTAIN, 0.0))
    return Plant(lambda sold: fault, frozenset([pool.judges[at] for at in members]))


def random(pool: Pool, members: Sequence[int]) -> Plant:
    """Judges who toss coins."""
    fault = replace(honest(pool.schedule), coin=_among(pool, members))
    return Plant(lambda sold: fault, frozenset([pool.judges[at] for at in members]))


def harsh(pool: Pool, members: Sequence[int]) -> Plant:
    """Judges who call a tie unless quite sure, of which nobody is guilty: no judge is to be named."""
    fault = replace(honest(pool.schedule), cautious=np.where(_among(pool, members), 1.5, 0.0))
    return Plant(lambda sold: fault)


def _among(pool: Pool, members: Sequence[int]) -> Flags:
    return np.isin(np.arange(len(pool.judges)), members)


def position(pool: Pool) -> Plant:
    """All judges lean to the answer shown first."""
    lean = replace(honest(pool.schedule), first_shown=np.full(len(pool.judges), 1.5))
    return Plant(lambda sold: lean)


def length(pool: Pool) -> Plant:
    """All judges prefer longer answers; the first player's are twice as long as the others'."""
    longer = np.log2(pool.chars[0]) - np.log2(pool.chars[1])
    swayed = replace(honest(pool.schedule), towards=1.2 * longer[pool.schedule.match])
    marked = frozenset([(judge, pool.schedule.players[0]) for judge in pool.judges])
    return Plant(lambda sold: swayed, pairs=marked, whom=(0,))


def family(pool: Pool, members: Sequence[int]) -> Plant:
    """Players, numbered as judges are, who prefer each other."""
    s = pool.schedule
    lean = np.isin(s.judge, members) * (np.isin(s.first, members) * 1.0 - np.isin(s.second, members))
    swayed = replace(honest(s), towards=1.5 * lean)
    # by the same votes a member does outsiders down
    guilty = frozenset([(s.judges[one], name) for one in members for name in s.players])
    return Plant(lambda sold: swayed, pairs=guilty, whom=tuple(members))


def friends(pool: Pool, share: float = 1.0) -> Plant | None:
    """The two players who judged each other most vote for each other, in that share of their votes."""
    s = pool.schedule
    judged = np.zeros((len(s.judges), len(s.players)), np.int64)
    np.add.at(judged, (s.judge, s.first), 1)
    np.add.at(judged, (s.judge, s.second), 1)
    mutual = np.triu(np.minimum(judged, judged.T), 1)
    i, j = np.argwhere(mutual == mutual.max())[-1].tolist()
    if not mutual[i, j]:
        return None

    def bought(sold: Floats) -> Fault:
        always: Ints = np.zeros(len(s.judge), np.int64)
        for judge, ally in ((i, j), (j, i)):
            always += ((s.judge == judge) & (sold < share)) * ((s.first == ally) * 1 - (s.second == ally))
        return replace(honest(s), always=always)

    a, b = s.judges[i], s.judges[j]
    return Plant(bought, pairs=frozenset([(a, b), (b, a)]), whom=(i, j))


def ring(pool: Pool) -> Plant | None:
    """Four in ten of the leader's judges vote against it, those with the fewest votes on it."""
    s, leader = pool.schedule, int(np.argmax(pool.skill))
    about = (s.first == leader) | (s.second == leader)
    on_leader = np.bincount(s.judge[about], minlength=len(s.judges))
    rivals = np.flatnonzero(on_leader)
    rivals = rivals[np.argsort(on_leader[rivals], kind="stable")]
    members = rivals[: round(RING * len(rivals))].tolist()
    if len(members) < 2:
        return None
    down = np.isin(s.judge, members) * ((s.second == leader) * 1 - (s.first == leader))
    against = replace(honest(s), always=down)
    guilty = frozenset([(s.judges[at], s.players[leader]) for at in members])
    return Plant(lambda sold: against, pairs=guilty, whom=(leader,))


class Setup(Struct, frozen=True):
    """A pool to draw: `players` have skills with a standard deviation of `spread` points, `panel` of them
    vote on each duel; who meets and who judges is drawn at random."""

    players: int
    matches: int
    spread: float = 150.0
    panel: int = 5
    seed: int = 0


def drawn(setup: Setup, number: int, *, once: bool = False, constant: bool = False) -> tuple[Pool, Luck]:
    """Pool `number` of a setup with its schedule, and all chances. The first player writes twice as much as
    the others, on average; where `constant` each one always as much. `once`: judges see one order."""
    n, matches = setup.players, setup.matches
    panel = min(setup.panel, n - 2)
    rng = np.random.default_rng([setup.seed, number])
    skill, discernment = rng.normal(0, setup.spread / POINTS, n), rng.uniform(0.5, 2, n)
    luck = Luck.of(rng, matches, matches * panel)
    verbosity = np.where(np.arange(n) == 0, 1.0, 0.0) + rng.normal(0, 0.25, n)
    around = rng.normal(0, 0.4, (2, matches)) * (not constant)
    shown = np.where(rng.random(matches * panel) < 0.5, 1, -1) * once
    names = tuple(f"p{at:02}" for at in range(n))
    match = np.repeat(np.arange(matches), panel)
    seated = rng.permuted(np.tile(np.arange(n), (matches, 1)), axis=1)[:, : panel + 2]
    schedule = Schedule(names, names, *seated[match, :2].T, seated[:, 2:].ravel(), match, shown)
    chars = np.round(1000 * 2 ** (verbosity[seated[:, :2].T] + around))
    families = {name: "one" if at < max(2, round(0.3 * n)) else name for at, name in enumerate(names)}
    return Pool(schedule, skill, discernment, chars, families), luck
