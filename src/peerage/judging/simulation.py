"""Simulated arenas: how far ratings can be trusted, and what faults of judges do to them.

An arena is a pool of players who also judge, a schedule of duels and votes cast by chance; with a fault
planted it differs from the same arena without by that fault alone. `Found` is what one of them comes to,
`Power` what many do. Everything follows from a setup and a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from msgspec import Struct

from peerage.judging import planted, simulated_tournaments
from peerage.judging.corrections import CORRECTIONS, Corrected, Correction, corrected
from peerage.judging.favours import LEVEL
from peerage.judging.marks import Flags
from peerage.judging.planted import NOTHING, Luck, Plant, Pool, Schedule, cast, honest
from peerage.judging.preference import stuck
from peerage.judging.simulated_scores import Scored
from peerage.judging.votes import Votes
from peerage.ratings.bradley_terry import BradleyTerry
from peerage.ratings.history import Game, games, pairings
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.rows import fit_clustered
from peerage.ratings.table import POINTS

Results = Sequence[tuple[int, int, float]]
"""Matches that have ended: both players, by number, and the first one's score."""

Rounds = Callable[[Sequence[float], Results, str], Sequence[tuple[int, int]]]
"""Pairs of players, by number, for the next round, from everybody's rating, what ended since the last round
and a lot to draw by."""


class Setup(Struct, frozen=True):
    """An arena to simulate. `players` have skills with a standard deviation of `spread` points, or those of
    `skills` (log-odds), and differ in `discernment`, or have that. `panel` judges vote on each duel in both
    orders, or in one where `once`. Where `seats` is not 0 nobody judges: tables of so many are ranked by a
    referee. Duels are drawn at `random`, or paired by another policy (`scheduling.policies`): `k` is the K of
    the Elo that `swiss` pairs by, `width` a stratum's width, and `top` has the first `places` in
    view. With `questions` it is a tournament of so many (`simulated_scores`), in which everybody scores
    everybody, `spread` is in points of the scale, and judges are `generous`."""

    players: int
    matches: int
    spread: float = 150.0
    panel: int = 5
    once: bool = False
    pairing: Literal["swiss", "order", "top", "certify", "random", "round-robin"] = "random"
    seats: int = 0
    skills: tuple[float, ...] = ()
    discernment: tuple[float, ...] = ()
    k: float = 16.0
    width: float = 50.0
    seed: int = 0
    places: int = 1
    questions: int = 0
    generous: float = 0.0


class Kind(NamedTuple):
    """A plant by name: in words, what plants it into a pool given how many take part, how many do by default
    as a share of the players, whether judges are asked once, and whether everybody writes at one length."""

    about: str
    plant: Callable[[Pool, int], Plant | None]
    share: float = 0.0
    once: bool = False
    constant: bool = False

    def members(self, wanted: int, players: int) -> int:
        return wanted or max(2 if self.plant is _family else 1, round(self.share * players))

    def in_words(self, wanted: int, players: int) -> str:
        """The plant in words; of a pool of any size, with 0 `players`."""
        return self.about.format(f"{self.members(wanted, players)} of {players}" if players else "3 in 10")


def _last(build: Callable[[Pool, Sequence[int], str], Plant], pool: Pool, count: int) -> Plant:
    judges = len(pool.schedule.judges)
    return build(pool, range(judges - count, judges), "")


def _family(pool: Pool, count: int) -> Plant:
    return planted.family(pool, range(count))


_LENGTH = "all judges preferring longer answers; one player writes twice as much"
KINDS: Mapping[str, Kind] = {
    "position": Kind(
        "all judges leaning to the answer shown first, asked once",
        lambda pool, _: planted.position(pool),
        once=True,
    ),
    "lazy": Kind("{} judges always picking the answer shown first", partial(_last, planted.lazy), 0.3),
    "lazy-once": Kind("the same, asked once", partial(_last, planted.lazy), 0.3, once=True),
    "random": Kind("{} judges tossing coins", partial(_last, planted.random), 0.3),
    "harsh": Kind("{} judges calling a tie unless quite sure", partial(_last, planted.harsh), 0.3),
    "length": Kind(_LENGTH, lambda pool, _: planted.length(pool)),
    "fixed-length": Kind(
        "the same; each player's answers are of one length",
        lambda pool, _: planted.length(pool),
        constant=True,
    ),
    "family": Kind("{} players of a family preferring its answers", _family, 0.3),
    "friends": Kind(
        "2 friends always voting for each other", lambda pool, _: planted.friends(pool, fewest=1)
    ),
    "half-friends": Kind("2 friends, in half of their votes", lambda pool, _: planted.friends(pool, 0.5, 1)),
    "ring": Kind(
        "4 in 10 of the leader's judges always voting against it",
        lambda pool, _: planted.ring(pool, fewest=1),
    ),
}
"""Everything that can be planted, by name."""


class Found(NamedTuple):
    """One arena: whether somebody guilty was named (nan where nobody can be), and somebody innocent; by how
    many points the plant moved those it is about (everybody: how much farther from the truth ratings are),
    as the votes are and corrected; which share of 95% intervals hold the truth, both ways; their mean
    half-width, and Kendall's tau of the order with the truth, both ways. nan is what does not apply."""

    noticed: float
    alarm: float
    moved: float = np.nan
    corrected: float = np.nan
    held: float = np.nan
    held_corrected: float = np.nan
    wide: float = np.nan
    tau: float = np.nan
    tau_corrected: float = np.nan


class Power(Struct, frozen=True):
    """What came of a `plant` in `arenas` simulated ones: the share in which somebody guilty was named, None
    where nobody can be, and that in which somebody innocent was; by how many points it moved those it is
    about (everybody: their mean distance from the truth), as the votes are and `corrected`, with that one's
    standard error, None where nothing was planted; which share of the 95% intervals `held` the truth, both
    ways; their mean `half_width`, in points, of the ratings as the votes are; and Kendall's `tau` of the
    order with the truth, both ways. None is what cannot be known."""

    plant: str
    noticed: float | None
    false_alarms: float
    moved: float | None
    corrected: float | None
    arenas: int
    corrected_error: float | None = None
    held: float | None = None
    held_corrected: float | None = None
    half_width: float | None = None
    tau: float | None = None
    tau_corrected: float | None = None


def power(about: str, found: Sequence[Found]) -> Power:
    """What arenas with the same plant, one at least, come to together."""
    columns = np.array(found, np.float64).T
    known = [column[~np.isnan(column)] for column in columns]
    noticed, alarms, moved, left, *rest = [float(one.mean()) if len(one) else None for one in known]
    error = float(known[3].std(ddof=1) / np.sqrt(len(known[3]))) if len(known[3]) > 1 else None
    return Power(about, noticed, alarms or 0.0, moved, left, len(found), error, *rest)


Chance = TypeVar("Chance")
Planting = TypeVar("Planting", bound="Planted")
Chance_contra = TypeVar("Chance_contra", contravariant=True)
Planting_contra = TypeVar("Planting_contra", contravariant=True)


class Planted(Protocol):
    """What every plant says: see `planted.Plant`."""

    @property
    def about(self) -> str: ...
    @property
    def judges(self) -> frozenset[str]: ...
    @property
    def pairs(self) -> planted.Pairs: ...
    @property
    def whom(self) -> tuple[int, ...]: ...


class Judged(Protocol[Chance_contra, Planting_contra]):
    """A pool whose judges' votes (`planted.Pool`) or scores (`scored_pool.ScorePool`) are simulated."""

    @property
    def judges(self) -> tuple[str, ...]: ...
    @property
    def skill(self) -> Floats: ...
    @property
    def styles(self) -> Floats | None: ...
    @property
    def families(self) -> Mapping[str, str] | None: ...

    def truth(self, judges: Flags | None = None) -> Floats:
        """The ratings that endless honest votes come to; with `judges` of theirs alone, by discernment."""

    def under(self, luck: Chance_contra, plant: Planting_contra | None) -> Votes:
        """What the judges say with the plant, None for none."""

    def sided(self, luck: Chance_contra, plant: Planting_contra | None) -> frozenset[str]:
        """The judges who lean to what is shown first or second."""


class SimulatedArena(Generic[Chance, Planting]):
    """One simulated arena, before anything is planted into it."""

    def __init__(
        self,
        pool: Judged[Chance, Planting],
        luck: Chance,
        wanted: Sequence[Correction] = CORRECTIONS,
    ) -> None:
        self.pool, self.luck, self.wanted = pool, luck, wanted
        self.truth = pool.truth(), self._weighed(frozenset())
        self.clean = self._corrected(pool.under(luck, None))

    def _weighed(self, mute: frozenset[str]) -> Floats:
        """What corrected ratings should come to: as the judges see it who say something."""
        heard = np.array([judge not in mute for judge in self.pool.judges], np.bool_)
        return self.pool.truth(heard) if "reliability" in self.wanted else self.pool.truth()

    def _corrected(self, votes: Votes) -> Corrected:
        return corrected(votes, self.wanted, self.pool.styles, self.pool.families)

    def found(self, plant: Planting) -> Found:
        """What the plant comes to here."""
        votes, nothing = self.pool.under(self.luck, plant), plant.about == NOTHING.about
        dirty = self.clean if nothing else self._corrected(votes)
        judges, pairs = named(dirty)
        one_sided = stuck(votes, LEVEL)
        guilty = (judges | one_sided) & plant.judges or pairs & plant.pairs
        sided = self.pool.sided(self.luck, plant)
        falsely = (judges & dirty.examined.faulty) | (one_sided - sided)
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
            _half_width(dirty.before),
            tau(dirty.before.rating, self.pool.skill),
            tau(dirty.after.rating, self.pool.skill),
        )


def _far(table: BradleyTerry, truth: Floats) -> float:
    return float(np.abs(table.rating - truth).mean())


def _half_width(table: BradleyTerry) -> float:
    return float((table.upper - table.lower).mean() / 2)


def _held(table: BradleyTerry, truth: Floats) -> float:
    inside = (table.lower <= truth + 1e-6) & (table.upper >= truth - 1e-6)
    return float(inside.mean()) if np.isfinite(table.lower).all() else np.nan


def tau(rating: Floats, skill: Floats) -> float:
    """Kendall's, of two orders; nan where all are equal in `skill`."""
    upper = np.triu_indices(len(skill), 1)
    signs = [np.sign(each[:, None] - each[None, :])[upper] for each in (rating, skill)]
    return float((signs[0] * signs[1]).mean()) if signs[1].any() else np.nan


def named(votes: Corrected) -> tuple[frozenset[str], planted.Pairs]:
    """The judges whose votes are found to say nothing, and the pairs found guilty of favour."""
    pairs = frozenset([(pair.judge, pair.author) for pair in votes.examined.favours if pair.found])
    return frozenset(votes.examined.mute), pairs


def simulated(
    setup: Setup,
    plants: Sequence[tuple[str, int]],
    number: int,
    rounds: Callable[[Setup], Rounds] | None = None,
) -> list[Found | None]:
    """Arena `number` of a setup: first as it is, then with each plant alone, by name and how many take part
    (0: as usual). None is what cannot be planted there, such as friends who never judge each other. `rounds`
    pairs where the setup is not random."""
    if setup.questions:
        return _tournament(setup, plants, number)
    if setup.seats:
        return [_ranked(setup, number)]
    arenas: dict[tuple[bool, bool], tuple[Pool, SimulatedArena[Luck, Plant]]] = {}

    def arena(once: bool, constant: bool) -> tuple[Pool, SimulatedArena[Luck, Plant]]:
        if (once, constant) not in arenas:
            pairs = None if rounds is None or setup.pairing == "random" else rounds(setup)
            pool, luck = drawn(setup, number, pairs, once=once, constant=constant)
            arenas[once, constant] = pool, SimulatedArena(pool, luck)
        return arenas[once, constant]

    found: list[Found | None] = [arena(setup.once, False)[1].found(NOTHING)]
    for name, wanted in plants:
        kind = KINDS[name]
        pool, here = arena(setup.once or kind.once, kind.constant)
        plant = kind.plant(pool, kind.members(wanted, setup.players))
        found.append(None if plant is None else here.found(plant))
    return found


def _tournament(setup: Setup, plants: Sequence[tuple[str, int]], number: int) -> list[Found | None]:
    played = Scored(setup.players, setup.questions, setup.spread, setup.generous, setup.seed)
    skill, found = simulated_tournaments.simulated(played, plants, number)
    return [
        None
        if one is None
        else Found(one.noticed, one.alarm, one.moved, held=one.held, wide=one.wide, tau=tau(one.score, skill))
        for one in found
    ]


def _skills(setup: Setup, rng: np.random.Generator) -> tuple[Floats, Floats]:
    skill, discernment = (
        rng.normal(0, setup.spread / POINTS, setup.players),
        rng.uniform(0.5, 2, setup.players),
    )
    return np.array(setup.skills or skill), np.array(setup.discernment or discernment)


def drawn(
    setup: Setup, number: int, rounds: Rounds | None = None, *, once: bool = False, constant: bool = False
) -> tuple[Pool, Luck]:
    """A pool of judging players with its schedule, and all chances, of arena `number`; paired by `rounds`, or
    else at random. The first player writes twice as much as the others, on average; where `constant` each
    one always as much."""
    n, matches = setup.players, setup.matches
    panel = min(setup.panel, n - 2)
    rng = np.random.default_rng([setup.seed, number])
    skill, discernment = _skills(setup, rng)
    luck = Luck.of(rng, matches, matches * panel)
    verbosity = np.where(np.arange(n) == 0, 1.0, 0.0) + rng.normal(0, 0.25, n)
    around = rng.normal(0, 0.4, (2, matches)) * (not constant)
    stood = np.where(rng.random(matches * panel) < 0.5, 1, -1) * once
    names = tuple(f"p{at:02}" for at in range(n))
    match = np.repeat(np.arange(matches), panel)

    def schedule(seated: Ints, start: int = 0) -> Schedule:
        part = slice(start * panel, (start + len(seated)) * panel)
        here = match[part] - start
        pair = seated[here, :2].T
        return Schedule(names, names, pair[0], pair[1], seated[:, 2:].ravel(), here, stood[part])

    def honestly(seated: Ints, start: int) -> Floats:
        """The first players' points in these matches, the first of which has number `start`."""
        these = schedule(seated, start)
        part = slice(start * panel, start * panel + len(these.first))
        chances = Luck(luck.noise[start:], luck.votes[:, part], luck.sold)
        said = cast(chances, these, skill, discernment, honest(these))
        share = said.reshape(-1, panel).mean(axis=1)
        return np.asarray((np.sign(share - 0.5) + 1) / 2)

    if rounds is not None:
        seated = _paired(setup, rng, panel, rounds, honestly)
    else:
        seated = rng.permuted(np.tile(np.arange(n), (matches, 1)), axis=1)[:, : panel + 2]
    whole = schedule(seated)
    chars = np.round(1000 * 2 ** (verbosity[seated[:, :2].T] + around))
    families = {name: "one" if at < max(2, round(0.3 * n)) else name for at, name in enumerate(names)}
    return Pool(whole, skill, discernment, chars, families), luck


def _paired(
    setup: Setup, rng: np.random.Generator, panel: int, rounds: Rounds, points: Callable[[Ints, int], Floats]
) -> Ints:
    """Who sits in each match, two players and then judges, paired round by round, all results known."""
    n, rating = setup.players, np.full(setup.players, 1500.0)
    seated: list[Ints] = []
    ended: list[tuple[int, int, float]] = []
    while len(seated) < setup.matches:
        pairs = rounds(rating.tolist(), ended, f"{setup.seed}/{len(seated)}")[: setup.matches - len(seated)]
        rows = []
        for pair in pairs:
            others = rng.permutation(np.setdiff1d(np.arange(n), pair))[:panel]
            rows.append(np.concatenate([rng.permutation(pair), others]))
        scores = points(np.array(rows), len(seated))
        ended = [(int(a), int(b), score) for (a, b, *_), score in zip(rows, scores.tolist(), strict=True)]
        for (a, b, *_), score in zip(rows, scores.tolist(), strict=True):
            step = setup.k * (score - 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400)))
            rating[a], rating[b] = rating[a] + step, rating[b] - step
        seated += rows
    return np.array(seated)


def _ranked(setup: Setup, number: int) -> Found:
    """Tables drawn at random, ranked by a referee: each pair as in Bradley-Terry (Plackett 1975)."""
    rng = np.random.default_rng([setup.seed, number])
    skill, _ = _skills(setup, rng)
    seats = min(setup.seats, setup.players)
    seated = rng.permuted(np.tile(np.arange(setup.players), (setup.matches, 1)), axis=1)[:, :seats]
    places = -(skill[seated] + rng.gumbel(size=seated.shape))
    rows = zip(seated.tolist(), places.tolist(), strict=True)
    played = games(
        setup.players, [Game(tuple([(one,) for one in who]), tuple(how), None, 1.0) for who, how in rows]
    )
    history, match = pairings(played)
    table = fit_clustered(history, match)
    truth = 1500 + (skill - skill.mean()) * POINTS
    return Found(
        np.nan, np.nan, held=_held(table, truth), wide=_half_width(table), tau=tau(table.rating, skill)
    )
