"""The leaderboard: who stands where on one track, from what, at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec
from msgspec import Struct

from peerage.accounts import NOTHING, Account, position
from peerage.engine.registration import registered
from peerage.games import GAMES
from peerage.ledger.store import Ledger
from peerage.ratings.bradley_terry import BradleyTerry, Pair, fit
from peerage.ratings.trueskill import Game, TrueSkillSettings, games, rate
from peerage.settings import ArenaSettings, PlayerSettings, Rating, suggest
from peerage.standings import elo_settings, pinned_rating

Track: TypeAlias = Literal["bt", "raw", "cost", "trueskill"]
TRACKS: tuple[Track, ...] = get_args(Track)
_SKILL = TrueSkillSettings()


class Row(Struct, frozen=True):
    """One player's line.

    `rank` is 1 for the best, shared by equal ratings, and None for a player without a decided match, who
    stands at the track's starting point; `rank_range` are the ranks (best, worst) left open at 95 % for all
    players together. `lower` and `upper` bound the rating at 95 % (on the TrueSkill track the mean skill μ,
    while `rating` is μ - 3σ). Both are None on the sequential Elo tracks, for which no honest interval is
    known.

    `matches` were decided; `void` came to nothing. `cost_usd` is everything the player cost in dollars, as
    author, committee member and judge too, None while the cost of any call is unknown; `cost_per_match` the
    mean cost of its own play in a decided match, in the arena's cost unit (dollars by default), None when
    unknown. Tokens count everything it was asked. `notes` say what a reader of this rating must know.
    """

    rank: int | None
    rank_range: tuple[int, int] | None
    player: str
    model: str
    family: str
    track: Track
    rating: float
    lower: float | None
    upper: float | None
    matches: int
    wins: int
    draws: int
    losses: int
    void: int
    cost_usd: float | None
    cost_per_match: float | None
    input_tokens: int
    output_tokens: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The row as plain JSON data, keys in this order."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return found


class _Rated(NamedTuple):
    """A rating, before it is ranked."""

    rating: float
    lower: float | None = None
    upper: float | None = None
    rank_range: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()


def leaderboard(ledger: Ledger, settings: ArenaSettings, track: str = "") -> list[Row]:
    """The table of one track, best first: `bt` (Bradley-Terry), `raw` or `cost` (sequential Elo), which duels
    feed, or `trueskill`, which every game feeds. Empty: the one that the arena's game shows first.

    Everybody appears who is in `settings` or played: whoever has no decided match comes last. Reads the
    newest snapshot and the few matches after it, whatever the length of the ledger. Raises ValueError for
    another track, LedgerError when the ledger cannot be read.
    """
    track = track or GAMES[settings.game].tracks[0]
    if track not in TRACKS:
        raise ValueError(f"no track is called {track!r}{suggest(track, TRACKS)}")
    rating = pinned_rating(ledger.meta(), settings.rating)
    standings, accounts = position(ledger, elo_settings(rating))
    known = {player.name: player for player in settings.players}
    cards = registered(ledger)
    names = [*known, *sorted(accounts.keys() - known.keys())]
    general: tuple[str, ...]
    if track == "bt":
        rated = _bradley_terry(ledger)
        general = ()
        start = 1500.0
    elif track == "trueskill":
        rated = _trueskill(ledger)
        start = _SKILL.mu - _SKILL.k * _SKILL.sigma
        general = (f"TrueSkill, μ - {_SKILL.k:g}σ: what one can be sure of; the interval is that of μ",)
    else:
        rated = {
            name: _Rated(raw if track == "raw" else cost)
            for name, raw, cost in zip(standings.players, standings.raw, standings.cost, strict=True)
        }
        general = elo_notes(rating, track)
        start = rating.initial
    rows = [
        _row(
            name,
            _identity(known.get(name), cards.get(name, {})),
            track,
            rated.get(name),
            start,
            accounts.get(name, NOTHING),
            general if name in known else (*general, "no longer in arena.yaml"),
        )
        for name in names
    ]
    return _ranked(rows)


def elo_notes(rating: Rating, track: str) -> tuple[str, ...]:
    """What is special about a sequential Elo track under these settings."""
    notes = [f"sequential Elo, K = {rating.k_factor:g}: depends on the order of matches, no interval"]
    if rating.propagation_width is not None:
        notes.append(
            f"propagation on: width {rating.propagation_width:g} Elo, share {rating.propagation_share:g}"
        )
    if track == "cost":
        notes.append(f"cost mode {rating.cost_mode}, τ_c = {rating.cost_sensitivity:g}")
        if rating.cost_mode == "linear" and rating.cost_sensitivity:
            sinks = rating.k_factor * rating.cost_sensitivity / 2
            notes.append(f"the pool's mean sinks by {sinks:g} per contestant and match")
    return tuple(notes)


def _bradley_terry(ledger: Ledger) -> dict[str, _Rated]:
    """Ratings of everybody with a decided duel."""
    counts = ledger.pair_counts()
    names = sorted({name for first, second, _, _ in counts for name in (first, second)})
    places = {name: place for place, name in enumerate(names)}
    pairs = [
        Pair(places[a], places[b], n * (score > 0.5), n * (score < 0.5), n * (score == 0.5))
        for a, b, score, n in counts
    ]
    table = fit(pairs, len(names))
    notes = _fit_notes(table)
    return {
        name: _Rated(row.rating, row.lower, row.upper, row.rank_range, notes)
        for name, row in zip(names, table.rows, strict=True)
    }


def _trueskill(ledger: Ledger) -> dict[str, _Rated]:
    """Skills of everybody with a decided match of any size, folded in number order."""
    places: dict[str, int] = {}
    played: list[Game] = []
    for summary in ledger.summaries():
        if summary.scores:
            teams = tuple([(places.setdefault(player, len(places)),) for player in summary.players])
            played.append(Game(teams, tuple([-score for score in summary.scores])))
    table = rate(games(len(places), played), _SKILL)
    return {
        name: _Rated(row.rating, row.lower, row.upper, row.rank_range)
        for name, row in zip(places, table.rows, strict=True)
    }


def _fit_notes(table: BradleyTerry) -> tuple[str, ...]:
    if table.connected:
        return ()
    return (
        f"not everybody can be compared yet ({len(table.components)} groups): "
        f"a prior of {table.prior_games:g} tied game each against an average player was added",
    )


def _identity(player: PlayerSettings | None, card: Mapping[str, Any]) -> tuple[str, str]:
    """Model and family, of a player that left as it was last registered."""
    if player is not None:
        return player.public_model, player.family
    return card.get("model", ""), card.get("family", "")


def _row(
    name: str,
    identity: tuple[str, str],
    track: Track,
    rated: _Rated | None,
    start: float,
    account: Account,
    general: Sequence[str],
) -> Row:
    notes = [*general, *(rated.notes if rated else ("no decided match yet",))]
    unpriced = account.matches - account.answers_priced
    if track == "cost" and unpriced:
        notes.append(f"{unpriced} of its matches have no known cost")
    rated_so = rated or _Rated(start)
    return Row(
        None if rated is None else 0,
        rated_so.rank_range,
        name,
        *identity,
        track,
        rated_so.rating,
        rated_so.lower,
        rated_so.upper,
        account.matches,
        account.wins,
        account.draws,
        account.losses,
        account.void,
        account.cost_usd if account.calls else 0.0,
        account.cost_per_match,
        account.input_tokens,
        account.output_tokens,
        tuple(notes),
    )


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Best first, those without a rank last; equal ratings share the best of their ranks, names in order."""
    ranked = sorted((row for row in rows if row.rank is not None), key=lambda row: (-row.rating, row.player))
    table: list[Row] = []
    for place, row in enumerate(ranked, 1):
        tied = bool(table) and table[-1].rating == row.rating
        table.append(msgspec.structs.replace(row, rank=table[-1].rank if tied else place))
    return table + sorted((row for row in rows if row.rank is None), key=lambda row: row.player)
