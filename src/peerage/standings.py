"""Where everybody stands: the fold of finished matches into ratings. Pure.

A player enters the pool with its first finished match; until then it stands at the initial rating and no
propagation moves it. Void matches move nobody. So the standings after match n follow from the summaries
1…n alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from peerage.ledger.store import Summary
from peerage.ratings.elo import DuelResult, EloSettings, EloState, extend, fold, update
from peerage.settings import Rating

DONE = "done"


def elo_settings(rating: Rating) -> EloSettings:
    return EloSettings(
        k_factor=rating.k_factor,
        initial=rating.initial,
        cost_sensitivity=rating.cost_sensitivity,
        cost_mode=rating.cost_mode,
        propagation_width=rating.propagation_width,
        propagation_share=rating.propagation_share,
    )


def pinned_rating(meta: Mapping[str, str], unpinned: Rating) -> Rating:
    """The rating settings that an arena was made with, from the facts its ledger holds; else `unpinned`."""
    return Rating.model_validate_json(meta["rating"]) if "rating" in meta else unpinned


class Rated(NamedTuple):
    """A player's two ratings."""

    raw: float
    cost: float


class Standings(msgspec.Struct, frozen=True, dict=True):
    """Ratings after match `number`; `players` in the order of their first finished match."""

    number: int
    players: tuple[str, ...]
    raw: tuple[float, ...]
    cost: tuple[float, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        return {player: place for place, player in enumerate(self.players)}

    def of(self, player: str, initial: float) -> Rated:
        place = self.places.get(player)
        return Rated(initial, initial) if place is None else Rated(self.raw[place], self.cost[place])

    def to_bytes(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def from_bytes(cls, body: bytes) -> Standings:
        return msgspec.json.decode(body, type=cls)


NOBODY = Standings(0, (), (), ())


def after_match(
    standings: Standings,
    number: int,
    players: Sequence[str],
    scores: Sequence[float],
    costs: Sequence[float | None],
    settings: EloSettings,
) -> Standings:
    """Standings after one more match; `scores` empty for a void one. Only duels move Elo ratings."""
    if len(scores) != 2:
        return Standings(number, standings.players, standings.raw, standings.cost)
    names = standings.players + tuple([p for p in players if p not in standings.places])
    state = EloState(standings.raw, standings.cost)
    if len(names) > len(state):
        state = extend(state, len(names), settings)
    first, second = (standings.places.get(p, names.index(p)) for p in players)
    state = update(state, DuelResult(first, second, scores[0], costs[0], costs[1]), settings)
    return Standings(number, names, state.raw, state.cost)


def after_all(standings: Standings, summaries: Iterable[Summary], settings: EloSettings) -> Standings:
    """Standings after a stretch of matches: exactly repeated `after_match`, and faster."""
    names = list(standings.players)
    places = dict(standings.places)
    number = standings.number
    state = EloState(standings.raw, standings.cost)
    results: list[DuelResult] = []
    for summary in summaries:
        number = summary.number
        if summary.status != DONE or len(summary.scores) != 2:
            continue
        newcomers = [player for player in summary.players if player not in places]
        if newcomers:
            state = fold(len(names), results, settings, extend(state, len(names), settings))
            results = []
            for player in newcomers:
                places[player] = len(names)
                names.append(player)
        a, b = summary.players
        results.append(DuelResult(places[a], places[b], summary.scores[0], *summary.costs))
    state = fold(len(names), results, settings, extend(state, len(names), settings))
    return Standings(number, tuple(names), state.raw, state.cost)
