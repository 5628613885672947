"""The leaderboard: who stands where on one track, at what cost, with which chances, and what is proven."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec import Struct

from peerage.engine.record.model_watch import Change, in_words
from peerage.engine.record.registration import models_and_families, only_judging
from peerage.games import tracks_of
from peerage.judging.measures.known import accused
from peerage.ledger import Ledger
from peerage.ledger.topics.places import Bench
from peerage.players.prices import PLAY_PRICE
from peerage.ratings.accuracy import Accuracy
from peerage.ratings.sequential.elo import EloSettings
from peerage.ratings.strength.posterior import Bin
from peerage.ratings.table import ranks
from peerage.reading.reading import Reading
from peerage.reading.results.evidence import MatchEvidence
from peerage.reading.results.outside import Outside, uncounted
from peerage.reading.results.played import EVERYTHING, PlayedMatches, Scope, ScopeError, by_side, sides_of
from peerage.reading.verdicts.credits import Credits, about_tasks
from peerage.settings import ArenaSettings, CostUnit, Rating, suggest
from peerage.settings.players.player import is_person
from peerage.standings import NOBODY, after_all
from peerage.standings.accounts import NOTHING, Account
from peerage.values.texts import visible
from peerage.views.leaderboard import notes
from peerage.views.leaderboard.chances import Chances, of_games, of_strengths
from peerage.views.leaderboard.corrected import judges_matter
from peerage.views.leaderboard.overall import games_of
from peerage.views.leaderboard.rated import Ratings, here, on_side, sided
from peerage.views.leaderboard.row import Row as Row
from peerage.views.leaderboard.tracks import METHODS, ONE_BY_ONE, OUTSIDE, TRACKS, WITH_CHANCES, Track
from peerage.views.leaderboard.what_if import AS_PLAYED, WhatIf, read_again
from peerage.views.verdict.verdict import Flips, Verdict, verdict

_WITHOUT_SIDES = ("raw", "cost", "judge-aware", "points")


LONG = 12
"""Players from more than which on a table shows its tiers."""


class Board(Struct, frozen=True, dict=True):
    """A leaderboard: `rows`, best first, and what holds for all of them.

    `notes` state the method and how games were weighed. `games` and `topics` count the decided matches of
    the whole ledger by game and by topic, each of which `board` can be asked for alone; `sides` are those
    that players of these games are on. `what_if` and `side` are as in its rows. `verdict` says what it
    comes to, and `in_dollars` whether the arena's cost unit is the dollar.
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

    @property
    def chances(self) -> Chances:
        """The chances of its players to be the best, the same on every track."""
        found: Chances = self.__dict__["chances"]
        return found

    @property
    def credits(self) -> Credits:
        """The credits that checks gave to answers in its matches."""
        found: Credits = self.__dict__.get("credits", Credits())
        return found

    @property
    def checked(self) -> bool:
        """Return whether anybody's answers met a check, so that the table shows accuracy."""
        return any(row.accuracy is not None for row in self.rows)

    @property
    def tiered(self) -> bool:
        """Return whether the table has several tiers, and is long enough to show them."""
        tiers = [row.tier for row in self.rows if row.tier]
        return len(tiers) > LONG and len({*tiers}) > 1


def board(
    reading: Reading,
    track: str = "",
    scope: Scope = EVERYTHING,
    what_if: WhatIf = AS_PLAYED,
    *,
    judged: bool = False,
) -> Board:
    """The table of one track: `strength`, `bt` (Bradley-Terry), `trueskill` or `glicko2`, which every game
    feeds, `raw` or `cost` (sequential Elo), which duels feed, or `overall`, in which whole games count.
    Empty: the one that the game shows first, over several games `overall`.

    Over several games a match counts by the weight of its game in `scope`, 1 if not stated; on the track
    `overall` a game does, by what `scope` or else the settings say. Everybody
    appears who is in `settings` or played: players without a decided match come last. Raises ScopeError for
    another track, a game or topic without a match, and weights on a sequential Elo track; LedgerError when
    the ledger cannot be read.

    With `scope.source` outside or all imported results count, and the notes name their sources. These have
    neither games, topics nor costs. `what_if` reads the record in another way; raises ScopeError where there
    is nothing to read so. Where `judged`, the verdict also says whether judges favour each other, for which
    every vote is read.
    """
    if track and track not in TRACKS:
        raise ScopeError(f"no track is called {track!r}{suggest(track, TRACKS)}")
    if scope.weights and track in ("raw", "cost", "points"):
        raise ScopeError(f"track {track} counts every match alike: it takes no weights of games")
    ledger, settings, played = reading.moment, reading.settings, reading.within(scope)
    flips = Flips(*played.flips) if scope.source == "played" else None
    first = first_track(settings, scope, played.games)
    track = track or first
    over_games = "overall" in (track, first)
    if asked := what_if.in_words:
        if scope.source != "played":
            raise ScopeError(f"what if {asked}: that reads matches played here; leave outside results out")
        played = read_again(played, what_if, track)
    if scope.side:
        if scope.source != "played" or track in _WITHOUT_SIDES:
            raise ScopeError("sides are of matches played here, rated by strength, bt, trueskill or glicko2")
        played = by_side(played, scope.side)
    rating, possibly, standings = reading.rating, reading.possibly_billed, reading.position.standings
    accounts = here(played.sums(seated=True)) if scope.side else reading.accounts(played)
    speeds: Mapping[str, float] = {}
    decided, in_dollars = played.count, settings.rating.cost_unit == CostUnit()
    if scope.source == "played":
        rated, chances = METHODS[track](played, rating, standings), _chances(played, over_games=over_games)
        whose = uncounted(ledger)
    else:
        results = _outside(ledger, track, scope, played)
        decided = len(results.history)
        rated, speeds = OUTSIDE[track](results, rating, standings), results.speeds
        chances = _chances(results)
        whose, accounts = results.notes(), results.accounts(accounts if scope.source == "all" else {})
    if scope.side:
        rated, chances = on_side(rated), chances.only(sided(chances.players))
    known = {player.name: player for player in settings.players if scope.source != "outside"}
    cards = reading.cards
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
        *whose,
        *notes.by_side_too("" if scope.side else ", ".join(sides_of([scope.game]) if scope.game else sides)),
        *(notes.of_makers(families, known, played.players) if scope == EVERYTHING else ()),
    )
    lines = _lines(rated, chances if track in WITH_CHANCES else None)
    credits = played.credits if scope.source == "played" and not scope.side else Credits()
    gone: Mapping[str, tuple[int, float]] = {}
    if scope.source == "played" and not (scope.side or asked):
        gone = _when_withdrawn(played, known, track, rating, reading.elo)
    out, models, judging = reading.benched, reading.models, only_judging(cards, settings)
    rows = [
        _row(
            name=name,
            identity=identities.get(name, ("", "")),
            track=track,
            scope=scope,
            line=lines.get(name),
            start=rated.start,
            account=accounts.get(name, NOTHING),
            general=(*general, *_of_player(name, known, out, models, gone))
            if scope.source == "played"
            else (*general, *_fast(speeds, name)),
            possibly=possibly.get(name, 0) / 1e9 if scope.source != "outside" else 0.0,
            status="benched" if name in out and name in known else "active" if name in known else "left",
            what_if=asked,
            withdrawn=gone.get(name, (None, None)),
            checked=credits.accuracies.get(name),
        )
        for name in [*known, *sorted(((accounts.keys() - judging) | lines.keys()) - known.keys())]
    ]
    ranked = tuple(_ranked(rows))
    made = Board(
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
            chances,
            flips,
            priced=in_dollars,
            play=any(card.get("price_source") == PLAY_PRICE for card in cards.values()),
            by_task=bool(played.games) and all(map(about_tasks, played.games)),
            elsewhere=whose if scope.source == "played" else (),
            judges=judges_matter(played, chances.pick)
            if judged and scope.source == "played" and not (asked or scope.side)
            else "",
            coins=tuple(accused(played.known_votes()))
            if judged and scope.source == "played" and not asked
            else (),
        ),
        in_dollars=in_dollars,
        what_if=asked,
        side=scope.side,
        sides=sides,
    )
    made.__dict__["chances"], made.__dict__["credits"] = chances, credits
    return made


def _chances(played: MatchEvidence, *, over_games: bool = False) -> Chances:
    """Return the chances to be the best: of several games by shares of wins, as the overall table does."""
    if over_games and isinstance(played, PlayedMatches):
        found = games_of(played)
        return of_games(found, lambda: played.claims)
    return of_strengths([*played.players], played.strengths, lambda: played.claims)


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
    """A player's rating, and what its matches say about its being the best."""

    rating: float
    lower: float | None = None
    upper: float | None = None
    mu: float | None = None
    sigma: float | None = None
    best: float | None = None
    bin: Bin | Literal[""] = ""
    above: tuple[str, ...] = ()
    tier: str = ""


def _lines(rated: Ratings, chances: Chances | None) -> dict[str, _Line]:
    bounded = list(zip(*rated.bounded, strict=True))
    lines = {
        player: _Line(
            *bounded[i],
            mu=float(rated.mu[i]) if rated.mu is not None else None,
            sigma=float(rated.sigma[i]) if rated.sigma is not None else None,
        )
        for i, player in enumerate(rated.players)
    }
    if chances is None:
        return lines
    best_first = np.argsort(-chances.order, kind="stable").tolist()
    return {
        player: msgspec.structs.replace(
            lines[player],
            best=float(chances.best[i]),
            bin=chances.bins[i],
            above=tuple([chances.players[j] for j in best_first if chances.above[i, j]]),
            tier=chances.tiers[i],
        )
        for i, player in enumerate(chances.players)
    }


def _row(
    name: str,
    identity: tuple[str, str],
    track: Track,
    scope: Scope,
    line: _Line | None,
    start: float,
    account: Account,
    general: Sequence[str],
    possibly: float,
    status: Literal["active", "benched", "left"],
    what_if: str,
    withdrawn: tuple[int | None, float | None],
    checked: Accuracy | None,
) -> Row:
    notes = list(general)
    if is_person(identity[0]):
        notes.append("a person")
    if line is None:
        notes.append("no match of it counts on this track" if account.matches else "no decided match yet")
    unpriced = account.matches - account.answers_priced
    if track == "cost" and unpriced:
        notes.append(f"{unpriced} of its matches have no known cost")
    if account.calls > account.unknown_costs > 0:
        notes.append(f"{account.unknown_costs} of its calls have no known cost and are not in its dollars")
    model, family = identity
    return Row(
        rank=None if line is None else 0,
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
        side=scope.side,
        possibly_usd=possibly,
        status="active" if scope.source == "outside" else status,
        what_if=what_if,
        withdrawn_after=withdrawn[0],
        rating_then=withdrawn[1],
        accuracy=checked.accuracy if checked else None,
        accuracy_lower=checked.lower if checked else None,
        accuracy_upper=checked.upper if checked else None,
        accuracy_tasks=checked.tasks if checked else 0,
        **msgspec.structs.asdict(line or _Line(start)),
    )


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Best first, those without a rank last; equal ratings share the best of their ranks, names in order."""
    ranked = sorted((row for row in rows if row.rank is not None), key=lambda row: (-row.rating, row.player))
    places = ranks(np.array([row.rating for row in ranked]))
    table = [msgspec.structs.replace(row, rank=rank) for row, rank in zip(ranked, places, strict=True)]
    return table + sorted((row for row in rows if row.rank is None), key=lambda row: row.player)
