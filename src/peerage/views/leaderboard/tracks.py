"""The tracks of the leaderboard: each makes ratings with intervals from the matches of a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from peerage.judging.measures.favours.evidence import JUDGES
from peerage.judging.measures.favours.search import favours
from peerage.ledger import LedgerError
from peerage.ratings.arrays import Floats
from peerage.ratings.columns.connection import strong_components
from peerage.ratings.columns.history import Duels, as_games, duels, met_by_pair
from peerage.ratings.fits import judges
from peerage.ratings.fits.bradley_terry import BradleyTerry, fit_duels
from peerage.ratings.fits.clusters import FEWEST
from peerage.ratings.fits.judges import JudgeAware
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.sequential import glicko2
from peerage.ratings.sequential.elo_error import EloError, elo_error
from peerage.ratings.sequential.trueskill import TrueSkillSettings, rate
from peerage.ratings.table import Z95, known
from peerage.reading.results.evidence import MatchEvidence
from peerage.reading.results.played import PlayedMatches
from peerage.reading.results.sides import ELSEWHERE
from peerage.settings import Rating
from peerage.standings.fold import NOBODY, Standings, after_all, elo_settings
from peerage.values import grouped
from peerage.values.figures import tenths, whole
from peerage.views.leaderboard.overall import games_of, in_words

Track: TypeAlias = Literal[
    "strength", "bt", "trueskill", "raw", "cost", "glicko2", "points", "judge-aware", "overall"
]
TRACKS: tuple[Track, ...] = get_args(Track)

_SKILL = TrueSkillSettings()
_PERIOD = 15  # matches of a player in a rating period: Glickman advises 10 to 15

NO_COST = "neither cost nor the spread of ratings to neighbours (propagation) enters"
NO_ORDER = f"neither the order of matches nor {NO_COST.removeprefix('neither ')}"


@dataclass(frozen=True)
class Ratings:
    """A track's ratings of `players`, in their order, with the `lower` and `upper` bounds of their 95%
    intervals, NaN where too little is known; these are of `center`, or without one of the ratings. `mu` and
    `sigma` are the method's own scale, where it has one. `start` is where a player without a match stands."""

    players: tuple[str, ...]
    rating: Floats
    lower: Floats
    upper: Floats
    notes: tuple[str, ...]
    start: float = 1500.0
    mu: Floats | None = None
    sigma: Floats | None = None
    center: Floats | None = None

    @property
    def middle(self) -> Floats:
        """Return what the intervals are of."""
        return self.rating if self.center is None else self.center

    @property
    def bounded(self) -> dict[str, list[Any]]:
        """Ratings, interval bounds (None: too little is known) and the method's own scale, by field."""
        own = {"mu": self.mu, "sigma": self.sigma}
        return {
            "rating": self.rating.tolist(),
            "lower": known(self.lower),
            "upper": known(self.upper),
            **{field: values.tolist() for field, values in own.items() if values is not None},
        }


def around(center: Floats, error: Floats) -> tuple[Floats, Floats]:
    """The bounds of 95% intervals around these values, from their standard errors."""
    return center - Z95 * error, center + Z95 * error


def of_odds(players: Iterable[str], table: BradleyTerry | JudgeAware, notes: Iterable[str]) -> Ratings:
    """A table of Bradley-Terry as a track's ratings."""
    lower, upper = (table.lower, table.upper) if isinstance(table, BradleyTerry) else table.bounds
    return Ratings(tuple(players), table.rating, lower, upper, (*notes, NO_ORDER))


def strength(played: MatchEvidence, rating: Rating, standings: Standings) -> Ratings:
    """Strengths by their posterior (`ratings.strength`), over every decided match of any size."""
    found = played.strengths
    return Ratings(
        tuple(played.players),
        found.rating,
        found.lower,
        found.upper,
        (
            "strength: mean 1500, 400 points for odds of ten to one; the mean of what the matches leave "
            "possible, and the interval that holds 95% of it, whatever pairing chose",
            "a match of many is one observation of its ranking"
            if played.sources is not None
            else "a tie is a result of its own (Davidson)",
            *(["strengths borrow from matches on other tasks as far as these are alike"] * bool(played.rest)),
            NO_ORDER,
        ),
    )


def bradley_terry(played: MatchEvidence, rating: Rating, standings: Standings) -> Ratings:
    """Bradley-Terry over every decided match; a match of many is all its pairs, and one cluster."""
    if played.hanging is not None:
        table = fit_clustered(played.history, played.hanging)
        robust = "intervals allow for the matches of one series or task hanging together"
    elif played.sources is None:
        table = fit_duels(played.history)
        robust = "robust intervals"
    else:
        table = fit_clustered(played.history, played.sources)
        robust = "a match of many is all its pairs, and intervals allow for their hanging together"
    notes = [
        f"Bradley-Terry, mean 1500, 400 points for odds of ten to one; a tie is half a win each; {robust}"
    ]
    if table.clusters and min(table.clusters) < FEWEST:
        clusters = "matches of many" if played.hanging is None else "series or tasks"
        notes.append(f"fewer than {FEWEST} {clusters} cannot tell how far off ratings are: no intervals")
    if not table.connected:
        notes.append(
            "not everybody can be compared yet: the graph of wins is not strongly connected "
            f"({len(table.components)} groups), so a prior of {table.prior_games:g} tied game each against "
            "an average player was added"
        )
    return of_odds(played.players, table, notes)


def trueskill(played: MatchEvidence, rating: Rating, standings: Standings) -> Ratings:
    """TrueSkill over every decided match of any size, in number order."""
    table = rate(as_games(played.history) if played.sources is None else played.tables, _SKILL)
    return Ratings(
        tuple(played.players),
        table.rating,
        *around(table.mu, table.sigma),
        notes=(
            f"TrueSkill, μ - {_SKILL.k:g}σ: what one can be sure of; the interval is that of μ",
            f"a newcomer has μ = {_SKILL.mu:g}, σ = {_SKILL.sigma:.3f}; β = {_SKILL.beta:.3f}, "
            f"τ = {_SKILL.tau:.4f}, draw probability {_SKILL.draw_probability:g}; in the order played",
            *_unconnected(played.history),
            NO_COST,
        ),
        start=_SKILL.mu - _SKILL.k * _SKILL.sigma,
        mu=table.mu,
        sigma=table.sigma,
        center=table.mu,
    )


def glicko(played: MatchEvidence, rating: Rating, standings: Standings) -> Ratings:
    """Glicko-2 over every decided match, in periods of number order."""
    settings = glicko2.Glicko2Settings()
    table = glicko2.rate(played.history, settings, bounds=glicko2.even_periods(played.history, _PERIOD))
    value, deviation = np.array(table.rating), np.array(table.deviation)
    return Ratings(
        tuple(played.players),
        value,
        *around(value, deviation),
        notes=(
            f"Glicko-2 in periods of about {_PERIOD} matches a player, τ = {settings.tau:g}; the interval is "
            "the rating ± 1.96 deviations (σ)",
            *_unconnected(played.history),
            NO_COST,
        ),
        start=settings.rating,
        mu=value,
        sigma=deviation,
    )


def points(played: PlayedMatches, rating: Rating, standings: Standings) -> Ratings:
    """Total points; μ is the mean of a match, σ its standard error. A game without points of its own counts
    scores: 1, ½, 0. The spread of a match's points around its player's mean is taken to be the same for
    everybody, and one point more than observed, so that a single match has an interval too."""
    found = grouped(pair for one, scored in played.points() for pair in zip(one.players, scored, strict=True))
    number: Floats = np.array([len(own) for own in found.values()], np.float64)
    total: Floats = np.array([sum(own) for own in found.values()], np.float64)
    scatter: float = sum((one - sum(own) / len(own)) ** 2 for own in found.values() for one in own)
    spread = float(np.sqrt((scatter + 1) / (number.sum() - len(number) + 1)))
    error: Floats = np.sqrt(number * spread**2)
    return Ratings(
        tuple(found),
        total,
        *around(total, error),
        notes=(
            "total points, whose interval allows for the spread of points from match to match; μ is the mean "
            "of a match, σ its standard error",
            "who plays more has more to gain and to lose: compare the means where matches differ",
            NO_COST,
        ),
        start=0.0,
        mu=total / number,
        sigma=error / number,
    )


def overall(played: PlayedMatches, rating: Rating, standings: Standings) -> Ratings:
    """Expected shares of wins, in percent, each game counting by its weight; see `ratings.overall`."""
    found = games_of(played)
    lower, upper = found.whole.bounds
    notes = (*in_words(found, played), NO_ORDER)
    return Ratings(found.players, 100 * found.whole.share, 100 * lower, 100 * upper, notes, 50.0)


def judge_aware(played: PlayedMatches, rating: Rating, standings: Standings) -> Ratings:
    """Bradley-Terry on the votes of judges, each weighing by a reliability estimated with the ratings."""
    cast = played.votes()
    guilty = [pair for pair in favours(cast).favours if pair.found]
    aside = np.zeros((len(cast.judges), len(cast.players)), np.bool_)
    for pair in guilty:
        aside[cast.judges.index(pair.judge), cast.players.index(pair.author)] = True
    cluster = [played.cluster(number) for number in cast.matches.tolist()]
    table = judges.fit_coded(cast.history, cast.judges, cast.judge, cluster=cluster, aside=aside)
    reliable = sorted(table.listed, key=lambda judge: -judge[1])
    notes = [
        "Bradley-Terry on the judges' votes, each judge counting by its reliability (1 on average, 0 tosses "
        "a coin), which is how well it agrees with what the other judges see; the votes of a match count as "
        "one match together"
    ]
    if guilty:
        named = ", ".join(f"{pair.judge} on {pair.author}" for pair in guilty)
        notes.append(f"left out, being favour or the opposite beyond chance: the votes of {named}")
    if reliable:
        (best, high, *_), (worst, low, *_) = reliable[0], reliable[-1]
        notes.append(
            f"reliability: from {high:.2f} ({best}) to {low:.2f} ({worst}); "
            "`peerage stats --of judges` shows all"
        )
    if 1 < len(cast.judges) < JUDGES:
        notes.append(f"of fewer than {JUDGES} judges two that favour each other pass for the reliable ones")
    if not table.connected:
        notes.append("the graph of votes is not strongly connected: a prior of one tied game each was added")
    return of_odds(cast.players, table, notes)


def _elo(
    played: PlayedMatches, rating: Rating, standings: Standings, track: Literal["raw", "cost"]
) -> Ratings:
    """Sequential Elo of matches of two, raw or adjusted for cost; see `elo_error` for intervals."""
    settings = replace(elo_settings(rating), unrated=played.unrated)
    if not played.whole:
        standings = after_all(NOBODY, played.decided, settings)
    names, history = _duelled(played)
    if set(names) != set(standings.players):
        raise LedgerError(
            "the ratings on record are not of the players in the narrow table; `peerage verify` says more"
        )
    order = [names.index(player) for player in standings.players]
    met = met_by_pair(
        counted := _duelled(played, priced=True, among=names)[1] if track == "cost" else history,
        counted.weight,
    )
    raw, cost = np.array(standings.raw), np.array(standings.cost)
    value = raw if track == "raw" else cost
    found = elo_error(value, met[np.ix_(order, order)], settings, cost)
    return Ratings(
        standings.players,
        value,
        *around(value, found.error),
        notes=(*_elo_notes(rating, track), *_settled(found), *_unconnected(history)),
        start=rating.initial,
    )


class Method(NamedTuple):
    """One track: its `name`, the `title` of its table, and how it rates, from the matches, the arena's
    constants and where the whole arena stands on Elo.

    `write` writes its ratings, which charts call `axis`, over the matches `charted`. `chances` says that its
    table shows chances, bins and what is proven; `one_by_one` that its intervals take every match for itself,
    also where matches of one series hang together; `outside` that it rates outside results too, which have
    no costs, no points and no place in the arena's order; `sides` that it rates players by side; `weighs`
    that matches may count by the weights of their games.
    """

    name: str
    title: str
    rate: Callable[[Any, Rating, Standings], Ratings]
    write: Callable[[float | None], str] = whole
    charted: str = ""
    axis: str = "rating"
    chances: bool = False
    one_by_one: bool = False
    outside: bool = False
    sides: bool = True
    weighs: bool = True

    @property
    def curve(self) -> str:
        """The name of its ratings over the matches."""
        return self.charted or f"{self.name} rating"


METHODS: Mapping[Track, Method] = {
    "strength": Method(
        "Strength", "strength with 95% intervals", strength, charted="Strength", chances=True, outside=True
    ),
    "bt": Method(
        "Bradley-Terry", "Bradley-Terry rating with 95% intervals", bradley_terry, chances=True, outside=True
    ),
    "trueskill": Method(
        "TrueSkill",
        "TrueSkill, μ - 3σ with 95% intervals of μ",
        trueskill,
        tenths,
        "TrueSkill, μ",
        "μ - 3σ",
        chances=True,
        one_by_one=True,
        outside=True,
    ),
    "raw": Method(
        "Elo",
        "Elo, sequential, with 95% intervals",
        partial(_elo, track="raw"),
        one_by_one=True,
        sides=False,
        weighs=False,
    ),
    "cost": Method(
        "Cost Elo",
        "Elo, sequential, adjusted for cost, with 95% intervals",
        partial(_elo, track="cost"),
        one_by_one=True,
        sides=False,
        weighs=False,
    ),
    "glicko2": Method("Glicko-2", "Glicko-2 with 95% intervals", glicko, one_by_one=True, outside=True),
    "points": Method(
        "Points",
        "points in all with 95% intervals, and the mean of a match",
        points,
        tenths,
        one_by_one=True,
        sides=False,
        weighs=False,
    ),
    "judge-aware": Method(
        "Judge-aware", "Bradley-Terry by judges' reliability, with 95% intervals", judge_aware, sides=False
    ),
    "overall": Method(
        "Overall",
        "share of wins over all games in percent, with 95% intervals",
        overall,
        tenths,
        "Mean share of wins, in percent",
        "share of wins, %",
        chances=True,
    ),
}
"""Every track, told once."""


def _settled(found: EloError) -> tuple[str, ...]:
    """Return how far the ratings have come, where that is not all the way."""
    shares = [f"{100 * share:.0f}" for share in (found.settled.min(initial=1), found.settled.max(initial=0))]
    if not len(found.rating) or shares[0] == "100":
        return ()
    reached = shares[0] if shares[0] == shares[1] else "–".join(shares)
    return (f"ratings have come {reached}% of the way from where they started to where they settle",)


def _duelled(
    played: PlayedMatches, *, priced: bool = False, among: Sequence[str] = ()
) -> tuple[tuple[str, ...], Duels]:
    """The matches that move Elo ratings, between their players (or `among` those) in the order of names."""
    matches = played.rated_by_elo(priced=priced)
    if len(matches) == len(played.decided):
        names = tuple(among) or tuple(sorted(played.players))
        place = np.array([names.index(name) for name in played.players], np.int64)
        whole = played.history
        return names, duels(len(names), place[whole.first], place[whole.second], whole.score)
    names = tuple(among) or tuple(sorted({player for one in matches for player in one.players}))
    places = {name: place for place, name in enumerate(names)}
    seated = np.array([places[player] for one in matches for player in one.players], np.int64).reshape(-1, 2)
    margin = np.array([one.scores[0] - one.scores[1] for one in matches])
    return names, duels(len(names), seated[:, 0], seated[:, 1], (np.sign(margin) + 1) / 2)


def _elo_notes(rating: Rating, track: str) -> tuple[str, ...]:
    """Return what is special about a sequential Elo track under these settings."""
    width, share = rating.propagation_width, rating.propagation_share
    notes = [
        f"sequential Elo, K = {rating.k_factor:g}: depends on the order of matches; the interval is where it "
        "would stand, were the same matches played again",
        "propagation off" if width is None else f"propagation on: width {width:g} Elo, share {share:g}",
    ]
    if track == "cost":
        notes.append(f"a contestant scores S - τ_c · C / (C_A + C_B), τ_c = {rating.cost_sensitivity:g}")
        if rating.cost_sensitivity:
            sinks = rating.k_factor * rating.cost_sensitivity / 2
            notes.append(f"the pool's mean sinks by {sinks:g} per contestant and match")
    else:
        notes.append("cost does not enter")
    return tuple(notes)


def _unconnected(history: Duels) -> tuple[str, ...]:
    """A warning where some group never lost to, nor tied, the rest: ratings across it rest on the start."""
    size = history.players
    beats = np.zeros((size, size), bool)
    won, lost = history.score >= 0.5, history.score <= 0.5
    beats[history.first[won], history.second[won]] = True
    beats[history.second[lost], history.first[lost]] = True
    groups = len(strong_components(beats))
    if groups < 2:
        return ()
    return (
        f"the graph of wins is not strongly connected ({groups} groups): across them the ratings rest on "
        "where everybody starts",
    )


def on_side(rated: Ratings) -> Ratings:
    """The ratings of those on the side asked for, rated together with the others."""
    kept = sided(rated.players)

    def some(values: Any) -> Any:
        return None if values is None else np.asarray(values)[kept]

    return replace(
        rated,
        players=tuple([rated.players[at] for at in kept]),
        **{
            name: some(getattr(rated, name)) for name in ("rating", "lower", "upper", "mu", "sigma", "center")
        },
    )


def sided(players: Iterable[str]) -> list[int]:
    """The places of those on the side asked for."""
    return [at for at, name in enumerate(players) if ELSEWHERE not in name]
