"""The leaderboard: who stands where on one track, at what cost, and who is above whom beyond doubt."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct

from peerage.engine.benches import Bench, benched
from peerage.engine.model_watch import Change, changes, in_words
from peerage.engine.registration import models_and_families, registered
from peerage.games import tracks_of
from peerage.ledger.store import Ledger
from peerage.players.prices import PLAY_PRICE
from peerage.protocol import visible
from peerage.ratings.elo import EloSettings
from peerage.ratings.kernels import Floats
from peerage.ratings.table import rank_ranges
from peerage.settings import ArenaSettings, CostUnit, Rating, suggest
from peerage.settings.player import is_person
from peerage.standings import NOBODY, after_all, pinned_elo, pinned_rating
from peerage.standings.accounts import NOTHING, Account, position, possibly_billed
from peerage.tables import notes
from peerage.tables.corrected import judges_matter
from peerage.tables.outside import Outside, uncounted
from peerage.tables.played import EVERYTHING, PlayedMatches, Scope, ScopeError, by_side, sides_of, sums
from peerage.tables.rated import Ratings, here, on_side
from peerage.tables.row import Pairwise
from peerage.tables.row import Row as Row
from peerage.tables.tracks import METHODS, ONE_BY_ONE, ONE_LOOK, OUTSIDE, TRACKS, Track
from peerage.tables.verdict import Flips, Verdict, verdict
from peerage.tables.what_if import AS_PLAYED, WhatIf, read_again

_WITHOUT_SIDES = ("raw", "cost", "judge-aware", "points")


class Board(Struct, frozen=True, dict=True):
    """A leaderboard: `rows`, best first, and what holds for all of them.

    `notes` state the method and how games were weighed. `games` and `topics` count the decided matches of
    the whole ledger by game and by topic, each of which `board` can be asked for alone; `sides` are those
    that players of these games are on. `what_if` and `side` are as in its rows. `verdict` says what it
    comes to, and `in_dollars` whether the arena's cost unit is the dollar. `covariance` is that of the ranked
    rows' ratings, in their order and in points squared, to six digits, where it is known, `met` how often
    each two of them have, and `needed` how many points apart a claim needs them: None where none will do.
    """

    track: Track
    game: str
    topic: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    games: dict[str, int]
    topics: dict[str, int]
    verdict: Verdict
    in_dollars: bool = True
    what_if: str = ""
    side: str = ""
    sides: tuple[str, ...] = ()
    covariance: Pairwise | None = None
    met: Pairwise | None = None
    needed: Pairwise | None = None

    @property
    def tied(self) -> list[tuple[str, str]]:
        """Every two ranked players who cannot be told apart at 95%, the better rated first."""
        ranked = [row for row in self.rows if row.rank is not None]
        return [
            (one.player, other.player)
            for place, one in enumerate(ranked)
            for other in ranked[place + 1 :]
            if other.player not in one.above and one.player not in other.above
        ]

    @property
    def tied_with(self) -> dict[str, list[str]]:
        """The players `tied` with each one, the best rated first."""
        found: dict[str, list[str]] = {}
        for one, other in self.tied:
            found.setdefault(one, []).append(other)
            found.setdefault(other, []).append(one)
        return found


def board(
    ledger: Ledger,
    settings: ArenaSettings,
    track: str = "",
    scope: Scope = EVERYTHING,
    played: PlayedMatches | None = None,
    what_if: WhatIf = AS_PLAYED,
    *,
    judged: bool = False,
) -> Board:
    """The table of one track: `bt` (Bradley-Terry), `trueskill` or `glicko2`, which every game feeds, `raw`
    or `cost` (sequential Elo), which duels feed, or `overall`, in which whole games count. Empty: the one
    that the game shows first, over several games `overall`.

    Over several games a match counts by the weight of its game in `scope`, 1 if not stated; on the track
    `overall` a game does, by what `scope` or else the settings say. Everybody
    appears who is in `settings` or played: players without a decided match come last. Raises ScopeError for
    another track, a game or topic without a match, and weights on a sequential Elo track; LedgerError when
    the ledger cannot be read.

    With `scope.source` outside or all imported results count, and the notes name their sources. These have
    neither games, topics nor costs. `played` are the matches of the scope where they were read before.
    `what_if` reads the record in another way; raises ScopeError where there is nothing to read so. Where
    `judged`, the verdict also says whether judges favour each other, for which every vote is read.
    """
    if track and track not in TRACKS:
        raise ScopeError(f"no track is called {track!r}{suggest(track, TRACKS)}")
    if scope.weights and track in ("raw", "cost", "points"):
        raise ScopeError(f"track {track} counts every match alike: it takes no weights of games")
    played = played or PlayedMatches(ledger, scope)
    flips = Flips(*played.flips) if scope.source == "played" else None
    track = track or first_track(settings, scope, played.games)
    if track == "overall":
        played = played.weighed(scope.games or weights_of(settings) | dict(scope.weights))
    rating = pinned_rating(ledger.meta(), settings.rating)
    if asked := what_if.in_words:
        if scope.source != "played":
            raise ScopeError(f"what if {asked}: that reads matches played here; leave outside results out")
        played = read_again(ledger, played, what_if, track)
    if scope.side:
        if scope.source != "played" or track in _WITHOUT_SIDES:
            raise ScopeError("sides are of matches played here, rated by bt, trueskill or glicko2")
        played = by_side(ledger, played, scope.side)
    elo = pinned_elo(ledger.meta(), settings.rating)
    standings, accounts = position(ledger, elo)
    possibly = possibly_billed(ledger, elo)
    if not played.whole and not scope.side:
        accounts = sums(ledger, played.finished)
    speeds: Mapping[str, float] = {}
    if scope.side:
        accounts = here(sums(ledger, played.finished, seated=True))
    decided, in_dollars = played.count, settings.rating.cost_unit == CostUnit()
    if scope.source == "played":
        rated = METHODS[track](played, rating, standings)
        whose = uncounted(ledger)
    else:
        results = _outside(ledger, track, scope, played)
        decided = len(results.history)
        rated, speeds = OUTSIDE[track](results, rating, standings), results.speeds
        whose, accounts = results.notes(), results.accounts(accounts if scope.source == "all" else {})
    if scope.side:
        rated = on_side(rated)
    known = {player.name: player for player in settings.players if scope.source != "outside"}
    cards = registered(ledger)
    identities = models_and_families(cards, known.values())
    families = {name: family for name, (_, family) in identities.items()}
    sides = sides_of(played.games) if scope.source == "played" else ()
    weighing = () if track == "overall" else notes.weighing(played)
    general = (
        *notes.read_so(asked),
        *weighing,
        *notes.as_side(scope.side),
        *rated.notes,
        *notes.of_many(played),
        *(
            notes.SERIES
            if track in ONE_BY_ONE and scope.source == "played" and played.hanging is not None
            else ()
        ),
        *(notes.ONE_LOOK if track in ONE_LOOK else ()),
        *whose,
        *notes.by_side_too("" if scope.side else ", ".join(sides_of([scope.game]) if scope.game else sides)),
        *(notes.of_makers(families, known, played.players) if scope == EVERYTHING else ()),
    )
    lines = _lines(rated)
    gone: Mapping[str, tuple[int, float]] = {}
    if scope.source == "played" and not (scope.side or asked):
        gone = _when_withdrawn(played, known, track, rating, elo)
    out, models = benched(ledger), changes(ledger)
    rows = [
        _row(
            name=name,
            identity=identities.get(name, ("", "")),
            track=track,
            scope=scope,
            line=lines.get(name, _Line(rated.start)),
            account=accounts.get(name, NOTHING),
            general=(*general, *_of_player(name, known, out, models, gone))
            if scope.source == "played"
            else (*general, *_fast(speeds, name)),
            possibly=possibly.get(name, 0) / 1e9 if scope.source != "outside" else 0.0,
            status="benched" if name in out and name in known else "active" if name in known else "left",
            what_if=asked,
            withdrawn=gone.get(name, (None, None)),
        )
        for name in [*known, *sorted((accounts.keys() | lines.keys()) - known.keys())]
    ]
    ranked = tuple(_ranked(rows))
    places = [row.player for row in ranked if row.rank is not None]
    covariance, met, needed = [
        _in_order(matrix, rated.players, places)
        for matrix in (rated.covariance, rated.met, None if rated.needed is None else rated.needed())
    ]
    return Board(
        track=track,
        game=scope.game,
        topic=scope.topic,
        rows=ranked,
        notes=general,
        games=played.games,
        topics=played.topics,
        verdict=verdict(
            ranked,
            decided,
            flips,
            priced=in_dollars,
            play=any(card.get("price_source") == PLAY_PRICE for card in cards.values()),
            elsewhere=whose if scope.source == "played" else (),
            judges=judges_matter(ledger, played)
            if judged and scope.source == "played" and not (asked or scope.side)
            else "",
        ),
        in_dollars=in_dollars,
        what_if=asked,
        side=scope.side,
        sides=sides,
        covariance=covariance,
        met=met,
        needed=needed,
    )


def _in_order(matrix: Floats | None, players: Sequence[str], order: Sequence[str]) -> Pairwise | None:
    """The rows and columns of these players, in order; None for what is infinite."""
    if matrix is None:
        return None
    at = [players.index(player) for player in order]
    return tuple(
        [
            tuple([float(f"{one:.6g}") if np.isfinite(one) else None for one in row])
            for row in matrix[np.ix_(at, at)]
        ]
    )


def weights_of(settings: ArenaSettings) -> dict[str, float]:
    """How much each game of an arena counts in its overall table, as its settings say."""
    return {game: one.weight for game, one in settings.lineup.items()}


def first_track(settings: ArenaSettings, scope: Scope, games: Collection[str]) -> Track:
    """The track that a table shows where none is asked for; `games` are those with a decided match."""
    if scope.source == "played" and not (scope.game or scope.side) and len(games) > 1:
        return "overall"
    has_side = [name for name in games if scope.side in sides_of([name])]
    return _first(scope.game or (has_side[0] if has_side else settings.game))


def _first(game: str) -> Track:
    first = tracks_of(game)[0]
    return next(track for track in TRACKS if track == first)


def _fast(speeds: Mapping[str, float], name: str) -> Iterator[str]:
    if name in speeds:
        yield f"{speeds[name]:.1f} tokens a second in outside games"


def _when_withdrawn(
    played: PlayedMatches, known: Container[str], track: Track, rating: Rating, elo: EloSettings
) -> dict[str, tuple[int, float]]:
    """The last decided match of each player that left, and its rating after that."""
    if all(player in known for player in played.players):
        return {}
    last = {player: one.number for one in played.decided for player in one.players if player not in known}
    found: dict[str, tuple[int, float]] = {}
    for number in sorted(set(last.values())):
        then = played.until(played.place(number))
        rated = METHODS[track](then, rating, after_all(NOBODY, then.finished, elo))
        at = dict(zip(rated.players, rated.rating.tolist(), strict=True))
        found |= {name: (number, at[name]) for name in last if last[name] == number and name in at}
    return found


def _of_player(
    name: str,
    known: Container[str],
    out: Mapping[str, Bench],
    models: Mapping[str, list[Change]],
    gone: Mapping[str, tuple[int, float]],
) -> Iterator[str]:
    """Why a player is not paired, and whether its provider changed what answers."""
    if name not in known:
        yield "no longer in arena.yaml" + (
            f": withdrawn after match {gone[name][0]:,}, then rated {gone[name][1]:,.1f}"
            if name in gone
            else ""
        )
    elif name in out:
        yield visible(out[name].in_words)
    yield from map(visible, in_words(models, name))


def _outside(ledger: Ledger, track: str, scope: Scope, played: PlayedMatches) -> Outside:
    """The outside results that a scope counts, beside what was played where it says so."""
    if track not in OUTSIDE:
        raise ScopeError(f"outside results have no track {track}: expected one of {', '.join(OUTSIDE)}")
    if scope.game or scope.topic or scope.weights:
        raise ScopeError(
            "outside results are of no game or topic of this arena: leave game, topic, weight out"
        )
    return Outside(ledger, played if scope.source == "all" else None)


class _Line(Struct, frozen=True):
    """A player's rating; `rank_range` None for one who has none and stands at the start."""

    rating: float
    lower: float | None = None
    upper: float | None = None
    mu: float | None = None
    sigma: float | None = None
    rank_range: tuple[int, int] | None = None
    above: tuple[str, ...] = ()


def _lines(rated: Ratings) -> dict[str, _Line]:
    best_first = sorted(range(len(rated.players)), key=lambda i: (-rated.rating[i], rated.players[i]))
    open_ranks = rank_ranges(rated.above)
    bounded = list(zip(*rated.bounded, strict=True))
    return {
        rated.players[i]: _Line(
            *bounded[i],
            float(rated.mu[i]) if rated.mu is not None else None,
            float(rated.sigma[i]) if rated.sigma is not None else None,
            open_ranks[i],
            tuple([rated.players[j] for j in best_first if rated.above[i, j]]),
        )
        for i in best_first
    }


def _row(
    name: str,
    identity: tuple[str, str],
    track: Track,
    scope: Scope,
    line: _Line,
    account: Account,
    general: Sequence[str],
    possibly: float,
    status: Literal["active", "benched", "left"],
    what_if: str,
    withdrawn: tuple[int | None, float | None],
) -> Row:
    notes = list(general)
    if is_person(identity[0]):
        notes.append("a person")
    if line.rank_range is None:
        notes.append("no match of it counts on this track" if account.matches else "no decided match yet")
    unpriced = account.matches - account.answers_priced
    if track == "cost" and unpriced:
        notes.append(f"{unpriced} of its matches have no known cost")
    if account.calls > account.unknown_costs > 0:
        notes.append(f"{account.unknown_costs} of its calls have no known cost and are not in its dollars")
    model, family = identity
    return Row(
        rank=None if line.rank_range is None else 0,
        player=name,
        model=model,
        family=family,
        track=track,
        matches=account.matches,
        wins=account.wins,
        draws=account.draws,
        losses=account.losses,
        void=account.void,
        cost_usd=account.cost_usd
        if account.calls or account.cost_nano
        else None
        if scope.source == "outside"
        else 0.0,
        cost_per_match=account.cost_per_match,
        input_tokens=account.input_tokens,
        output_tokens=account.output_tokens,
        notes=tuple(notes),
        game=scope.game,
        topic=scope.topic,
        claims_hold_at="one look" if track in ONE_LOOK else "every look",
        side=scope.side,
        possibly_usd=possibly,
        status="active" if scope.source == "outside" else status,
        what_if=what_if,
        withdrawn_after=withdrawn[0],
        rating_then=withdrawn[1],
        **msgspec.structs.asdict(line),
    )


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Best first, those without a rank last; equal ratings share the best of their ranks, names in order.

    The ranks left open hold the rank itself, also where a track ranks by something else than its interval.
    """
    ranked = sorted((row for row in rows if row.rank is not None), key=lambda row: (-row.rating, row.player))
    table: list[Row] = []
    for place, row in enumerate(ranked, 1):
        tied = bool(table) and table[-1].rating == row.rating
        rank = table[-1].rank if tied else place
        best, worst = row.rank_range or (place, place)
        assert rank is not None
        table.append(msgspec.structs.replace(row, rank=rank, rank_range=(min(best, rank), max(worst, rank))))
    return table + sorted((row for row in rows if row.rank is None), key=lambda row: row.player)
