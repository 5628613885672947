"""Ratings of all players: the fold of finished matches. Pure.

A player enters the pool with its first finished match; until then it is at the initial rating and no
propagation moves it. Void matches move nobody. So the standings after match n follow from the summaries
1…n alone.

Games that feed no Elo track (those of more than two) move a TrueSkill skill in its place, by which players of
one strength are seated together.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import msgspec

from peerage.game.match import DONE
from peerage.games import tracks_of
from peerage.ledger import LedgerError, Summary
from peerage.ratings.sequential.elo import DuelResult, EloSettings, EloState, extend, fold, update
from peerage.scheduling.standing import Standing
from peerage.settings import PlayerSettings, Rating


def elo_settings(rating: Rating) -> EloSettings:
    return EloSettings(**rating.model_dump(exclude={"cost_unit"}))


UNRATED = "unrated"
"""The fact that names, a line each, the games of an arena that move no Elo ratings: a ledger is folded alike
where they are not installed."""


def unrated(meta: Mapping[str, str]) -> frozenset[str]:
    return frozenset(meta.get(UNRATED, "").split("\n"))


def pinned_elo(meta: Mapping[str, str], unpinned: Rating) -> EloSettings:
    """The constants that an arena was made with; see `pinned_rating`."""
    return replace(elo_settings(pinned_rating(meta, unpinned)), unrated=unrated(meta))


def pinned_rating(meta: Mapping[str, str], unpinned: Rating) -> Rating:
    """The rating settings that an arena was made with, from the facts its ledger holds; else `unpinned`.
    Raises LedgerError when the fact is none."""
    if "rating" not in meta:
        return unpinned
    try:
        return Rating.model_validate_json(meta["rating"])
    except ValueError as error:
        raise LedgerError(
            f"the fact 'rating' in the ledger's table meta is {meta['rating'][:60]!r}, which are no rating "
            "settings; restore the ledger from a copy. `peerage verify` says more"
        ) from error


class TwoRatings(NamedTuple):
    """A player's two ratings."""

    raw: float
    cost: float


class Skill(NamedTuple):
    """TrueSkill's estimate of a player: its mean skill and the standard deviation of that."""

    mu: float = 25.0
    sigma: float = 25.0 / 3

    @property
    def rating(self) -> float:
        """Return the skill that tables show: one that the player has all but surely."""
        return self.mu - 3 * self.sigma


class Standings(msgspec.Struct, frozen=True, dict=True):
    """Ratings after `number` matches; `players` in the order of their first finished match with Elo ratings.
    `skills` holds everybody who finished a match of a game that moves none."""

    number: int
    players: tuple[str, ...]
    raw: tuple[float, ...]
    cost: tuple[float, ...]
    skills: Mapping[str, Skill] = {}

    @cached_property
    def places(self) -> dict[str, int]:
        return {player: place for place, player in enumerate(self.players)}

    def of(self, player: str, initial: float) -> TwoRatings:
        place = self.places.get(player)
        return (
            TwoRatings(initial, initial) if place is None else TwoRatings(self.raw[place], self.cost[place])
        )

    def skill(self, player: str) -> Skill:
        return self.skills.get(player, Skill())

    def before_pairing(self, player: PlayerSettings, initial: float) -> Standing:
        """A player as pairing sees it."""
        rated, skill = self.of(player.name, initial), self.skill(player.name)
        return Standing(player=player.name, family=player.family, raw=rated.raw, cost=rated.cost, mu=skill.mu)


NOBODY = Standings(0, (), (), ())
STRETCH = 10_000
"""Matches that are held at once where many are folded."""


def after_match(
    standings: Standings,
    game: str,
    players: Sequence[str],
    scores: Sequence[float],
    costs: Sequence[float | None],
    settings: EloSettings,
) -> Standings:
    """Standings after one more match of `game`; `scores` empty for a void one."""
    number = standings.number + 1
    if not moves_elo(game, scores, settings.unrated):
        skills = skilled(standings.skills, players, scores) if scores else standings.skills
        return Standings(number, standings.players, standings.raw, standings.cost, skills)
    names = standings.players + tuple([p for p in players if p not in standings.places])
    state = EloState(standings.raw, standings.cost)
    if len(names) > len(state):
        state = extend(state, len(names), settings)
    first, second = (standings.places.get(p, names.index(p)) for p in players)
    state = update(state, DuelResult(first, second, scores[0], costs[0], costs[1]), settings)
    return Standings(number, names, state.raw, state.cost, standings.skills)


def moves_elo(game: str, scores: Sequence[float], unrated: Container[str]) -> bool:
    """Return whether a match moved the Elo ratings; a game neither installed nor `unrated` is a duel."""
    return len(scores) == 2 and game not in unrated and "raw" in tracks_of(game)


def skilled(
    skills: Mapping[str, Skill], players: Sequence[str], scores: Sequence[float]
) -> Mapping[str, Skill]:
    """Skills after one more match."""
    import numpy as np

    from peerage.ratings.sequential.trueskill import Game, TrueSkillSettings, TrueSkillTable, games, rate

    names = list(dict.fromkeys(players))  # a player may hold several seats
    mu, sigma = np.array([skills.get(player, Skill()) for player in names], float).T
    start = TrueSkillTable(TrueSkillSettings(*Skill()), mu, sigma, np.zeros(len(names)))
    game = Game(tuple([(names.index(player),) for player in players]), tuple([-score for score in scores]))
    after = rate(games(len(names), [game]), start.settings, start)
    moved = map(Skill, after.mu.tolist(), after.sigma.tolist())
    return {**skills, **dict(zip(names, moved, strict=True))}


def after_all(
    standings: Standings, summaries: Iterable[Summary], settings: EloSettings, *, before: int = 0
) -> Standings:
    """Standings after matches: repeated `after_match`, exactly, and faster. `before` is as in `elo.fold`."""
    names = list(standings.players)
    places = dict(standings.places)
    number = standings.number
    state = EloState(standings.raw, standings.cost)
    results: list[DuelResult] = []
    skills = standings.skills
    for summary in summaries:
        number += 1
        if summary.status != DONE or not summary.scores:
            continue
        if not moves_elo(summary.game, summary.scores, settings.unrated):
            skills = skilled(skills, summary.players, summary.scores)
            continue
        newcomers = [player for player in summary.players if player not in places]
        if newcomers:
            state = fold(len(names), results, settings, extend(state, len(names), settings), before=before)
            results = []
            for player in newcomers:
                places[player] = len(names)
                names.append(player)
        a, b = summary.players
        results.append(DuelResult(places[a], places[b], summary.scores[0], *summary.costs))
    state = fold(len(names), results, settings, extend(state, len(names), settings), before=before)
    return Standings(number, tuple(names), state.raw, state.cost, skills)


def after_each(
    summaries: Iterable[Summary], settings: EloSettings, wanted: Container[int]
) -> Iterator[Standings]:
    """Standings after each number of matches that is `wanted`: as `after_all` has them, in one pass."""
    standings, stretch = NOBODY, list[Summary]()
    for place, summary in enumerate(summaries, 1):
        stretch.append(summary)
        if place in wanted or len(stretch) == STRETCH:
            standings = after_all(standings, stretch, settings, before=standings.number)
            stretch.clear()
        if place in wanted:
            yield standings
