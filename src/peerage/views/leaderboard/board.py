"""The leaderboard: who stands where on one track, at what cost, with which chances, and what is proven."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from peerage.engine.record.model_watch import in_words
from peerage.engine.record.registration import only_judging
from peerage.games import tracks_of
from peerage.judging.measures.known import accused
from peerage.players.prices import PLAY_PRICE
from peerage.ratings.columns.connection import strong_components
from peerage.ratings.table import ranks
from peerage.reading.reading import Reading
from peerage.reading.results.discrimination import RECENT, discrimination
from peerage.reading.results.outside import Imported, Outside, total
from peerage.reading.results.outside import in_words as results_in_words
from peerage.reading.results.sides import ELSEWHERE, by_side, sides_of
from peerage.reading.scope import EVERYTHING, Scope, ScopeError
from peerage.reading.verdicts.credits import Credits, about_tasks
from peerage.settings import ArenaSettings, CostUnit, suggest
from peerage.settings.players.model_names import is_person
from peerage.standings.accounts import NOTHING, Account
from peerage.standings.fold import NOBODY, after_all
from peerage.values.texts import visible
from peerage.views.leaderboard import notes
from peerage.views.leaderboard.chances import Chances, of_games, of_strengths
from peerage.views.leaderboard.corrected import judges_matter
from peerage.views.leaderboard.overall import games_of
from peerage.views.leaderboard.row import Row as Row
from peerage.views.leaderboard.tracks import METHODS, TRACKS, Track, on_side, sided
from peerage.views.leaderboard.verdict import Flips, Verdict, named, verdict
from peerage.views.leaderboard.what_if import AS_PLAYED, WhatIf, read_again

LONG = 12
"""Players from more than which on a table shows its tiers."""


class Leaderboard(Struct, frozen=True, dict=True):
    """A leaderboard: `rows`, best first, and what holds for all of them.

    `notes` state the method and how games were weighed. `games` and `topics` count the decided matches of
    the whole ledger by game and by topic, each of which `board` can be asked for alone; `sides` are those
    that players of these games are on. `what_if` and `side` are as in its rows; `source` says whose results
    were asked for: all, those played here, the outside ones, or one file's. `verdict` says what it
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
    source: str = "all"

    @property
    def chances(self) -> Chances:
        """The chances of its players to be the best, the same on every track."""
        found: Chances = self.__dict__["chances"]
        return found

    @property
    def files(self) -> Sequence[Imported]:
        """The files of outside results that it counts."""
        found: Sequence[Imported] = self.__dict__.get("files", ())
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
) -> Leaderboard:
    """The table of one track: `strength`, `bt` (Bradley-Terry), `trueskill` or `glicko2`, which every game
    feeds, `raw` or `cost` (sequential Elo), which duels feed, or `overall`, in which whole games count.
    Empty: the one that the game shows first, over several games `overall`.

    Over several games a match counts by the weight of its game in `scope`, 1 if not stated; on the track
    `overall` a game does, by what `scope` or else the settings say. Everybody
    appears who is in `settings` or played: players without a decided match come last. Raises ScopeError for
    another track, a game or topic without a match, and weights on a sequential Elo track; LedgerError when
    the ledger cannot be read.

    Outside results count as `scope.source` says, on tracks that can rate them; the notes name them, or say
    that they do not count. `what_if` reads the record in another way; raises ScopeError
    where there is nothing to read so. Where `judged`, the verdict also says whether judges favour each other,
    for which every vote is read.
    """
    return _Making(reading, track, scope, what_if).board(judged=judged)


class _Making:
    """A board in the making: what its rows, its notes and its verdict are computed from, each once."""

    def __init__(self, reading: Reading, track: str, scope: Scope, what_if: WhatIf) -> None:
        if track and track not in TRACKS:
            raise ScopeError(f"no track is called {track!r}{suggest(track, TRACKS)}")
        if scope.weights and any(known == track and not METHODS[known].weighs for known in TRACKS):
            raise ScopeError(f"track {track} counts every match alike: it takes no weights of games")
        what_if = replace(what_if, without=tuple(map(reading.names.whole, what_if.without)))
        self.reading, self.scope, self.asked = reading, scope, what_if.in_words
        self.on_record = self.played = reading.within(scope)
        self.outside = reading.outside(scope)
        if self.asked and self.outside:
            if not scope.own:
                raise ScopeError(
                    f"what if {self.asked}: that reads matches played here; leave outside results out"
                )
            self.outside = None
        first = first_track(reading.settings, scope, self.played.games, outside=bool(self.outside))
        self.track: Track = next((known for known in TRACKS if known == track), first)
        if self.outside and not METHODS[self.track].outside:
            if not (scope.own and self.played.players):
                there = ", ".join([known for known in TRACKS if METHODS[known].outside])
                raise ScopeError(f"outside results have no track {self.track}: expected one of {there}")
            self.outside = None
        if self.asked:
            self.played = read_again(self.played, what_if, self.track)
        if scope.side:
            if not METHODS[self.track].sides:
                raise ScopeError(
                    "sides are of matches played here, rated by strength, bt, trueskill or glicko2"
                )
            self.played = by_side(self.played, scope.side)
        self.counted = counted = self.outside or self.played
        self.rated = METHODS[self.track].rate(counted, reading.rating, reading.position.standings)
        if "overall" in (self.track, first) and not self.outside:
            self.chances = of_games(games_of(self.played), lambda: counted.claims)
        else:
            self.chances = of_strengths([*counted.players], counted.strengths, lambda: counted.claims)
        if scope.side:
            self.rated, self.chances = on_side(self.rated), self.chances.only(sided(self.chances.players))
        self.credits = self.played.credits if scope.own and not scope.side else Credits()
        self.known = {player.name for player in reading.settings.players if scope.own}
        self.own = self._own()
        self.accounts = self.outside.accounts(self.own) if self.outside else self.own
        self.elsewhere = self._elsewhere()
        self.general = tuple(self._general())
        self.gone = self._when_withdrawn()

    def _own(self) -> Mapping[str, Account]:
        """Return what everybody did and cost in the arena's own matches."""
        if self.scope.side:
            return {
                name: sums for name, sums in self.played.sums(seated=True).items() if ELSEWHERE not in name
            }
        return self.reading.accounts(self.played) if self.scope.own else {}

    def _elsewhere(self) -> str:
        """Return whose outside results count here, or that there are some that do not."""
        if self.outside or not self.reading.imported:
            return self.outside.note if self.outside else ""
        there, method = total(self.reading.imported), METHODS[self.track]
        why = "" if method.outside else f": {method.name} rates matches played here alone"
        verb = "is" if sum(there.values()) == 1 else "are"
        return f"{results_in_words(there)} of others {verb} not counted{why}"

    def _doubts(self) -> Iterator[str]:
        """Yield what speaks against counting outside results and matches together."""
        history, players, pick = self.counted.history, self.counted.players, self.chances.pick
        met = np.zeros((history.players, history.players), bool)
        met[history.first, history.second] = met[history.second, history.first] = True
        of = next(group for group in strong_components(met) if players[pick] in group)
        apart = [name for name in self.chances.ranked if players[name] not in of]
        if apart:
            where = f"no chain of results connects {named(apart)} with {pick}"
            yield f"{where}: the chances between them rest on a guess"
        elif self.played.players and self.scope.own:
            outside = self.reading.counted(Scope(source="outside"))
            parts = {"matches played here": self.played, "outside results": outside}
            first = {what: [*part.players][int(part.strengths.best.argmax())] for what, part in parts.items()}
            if len({*first.values()}) > 1:
                yield "; ".join([f"{what} alone put {name} first" for what, name in first.items()])

    def _saturated(self) -> Iterator[str]:
        """Yield the games that no longer tell players apart."""
        if not self.scope.own or self.scope.side or self.asked:
            return
        for game, newest in sorted(self.played.newest(RECENT).items()):
            stated = self.reading.settings.lineup.get(game)
            remark = discrimination(self.reading.moment, newest).remark(game, stated.rules if stated else {})
            yield from [remark] * bool(remark)

    def _when_withdrawn(self) -> dict[str, tuple[int, float]]:
        """Return the last decided match of each player that left, and its rating after that."""
        played, reading = self.played, self.reading
        if not self.scope.own or self.scope.side or self.asked or played.players.keys() <= self.known:
            return {}
        last = {name: one.number for one in played.decided for name in one.players if name not in self.known}
        found: dict[str, tuple[int, float]] = {}
        for number in sorted(set(last.values())):
            then = played.until(played.place(number))
            standings = after_all(NOBODY, then.finished, reading.elo)
            counted = Outside(self.outside.files, then) if self.outside else then
            rated = METHODS[self.track].rate(counted, reading.rating, standings)
            at = dict(zip(rated.players, rated.rating.tolist(), strict=True))
            found |= {name: (number, at[name]) for name in last if last[name] == number and name in at}
        return found

    # ------------------------------------------------------------------------------------------- notes

    def _general(self) -> Iterator[str]:
        """Yield what holds for the whole table."""
        scope, played = self.scope, self.played
        if self.asked:
            yield (
                f"what if: {self.asked}. This is not the arena's own table: what is on record is counted in "
                "another way, nothing is played again; who met whom, and the ratings by which votes weighed, "
                "stay as they were"
            )
        if self.track != "overall":
            yield from notes.weighing(played)
        if scope.side:
            yield (
                f"players as {scope.side}: everybody counts as somebody else on each side, and all are rated "
                "together"
            )
        yield from self.rated.notes
        if (played.of_many and scope.own) or (self.outside and self.outside.of_many):
            yield notes.OF_MANY
        if METHODS[self.track].one_by_one and scope.own and played.hanging is not None:
            yield notes.SERIES
        yield from filter(None, [self.elsewhere])
        if self.own and (names := sorted(filter(self._outsider, self.rated.players))):
            more = f" and {len(names) - notes.WITHDRAWN} more" if len(names) > notes.WITHDRAWN else ""
            yield f"in outside results alone: {', '.join(names[: notes.WITHDRAWN])}{more}"
        sides = sides_of([scope.game] if scope.game else played.games if scope.own else [])
        if sides and not scope.side:
            yield f"rated by side too, with `--side`: {', '.join(sides)}"
        if scope == EVERYTHING:
            yield from notes.of_makers(self.reading.families, self.known, played.players)

    def _about(self, name: str, account: Account) -> Iterator[str]:
        """Yield what a reader of one player's rating must know."""
        if self.outside and name in self.outside.speeds:
            yield f"{self.outside.speeds[name]:.1f} tokens a second in outside games"
        if self.scope.own:
            if name not in self.known and not self._outsider(name):
                number, rating = self.gone.get(name, (0, 0.0))
                left = f": withdrawn after match {number:,}, then rated {rating:,.1f}"
                yield f"no longer in arena.yaml{left * bool(number)}"
            elif name in self.reading.benched:
                yield visible(self.reading.benched[name].in_words)
            yield from map(visible, in_words(self.reading.models, name))
        if is_person(self.reading.identities.get(name, ("", ""))[0]):
            yield "a person"
        if name not in self.rated.players:
            yield "no match of it counts on this track" if account.matches else "no result yet"
        unpriced = account.matches - account.answers_priced
        if self.track == "cost" and unpriced:
            yield f"{unpriced} of its matches have no known cost"
        if account.calls > account.unknown_costs > 0:
            yield f"{account.unknown_costs} of its calls have no known cost and are not in its dollars"

    def _outsider(self, name: str) -> bool:
        """Return whether a player is in outside results alone."""
        return bool(self.outside) and name not in self.known and name not in self.own

    # -------------------------------------------------------------------------------------------- rows

    def _rows(self) -> list[Row]:
        """Return everybody's line, best first, those without a rank last, names in order."""
        marks = self._marks()
        judging = only_judging(self.reading.cards, self.reading.settings)
        names = self.known | (self.accounts.keys() - judging) | marks.keys()
        rows = [self._row(name, marks.get(name)) for name in names]
        return sorted(rows, key=lambda row: (row.rank is None, row.rank and -row.rating, row.player))

    def _marks(self) -> dict[str, dict[str, Any]]:
        """Return everybody's rating, and what its matches say about its being the best, as fields of rows."""
        rated, chances = self.rated, self.chances
        columns = {"rank": ranks(rated.rating), **rated.bounded}
        found: dict[str, dict[str, Any]] = {
            player: {field: values[at] for field, values in columns.items()}
            for at, player in enumerate(rated.players)
        }
        if METHODS[self.track].chances:
            for at, player in enumerate(chances.players):
                found[player] |= {
                    "best": float(chances.best[at]),
                    "bin": chances.bins[at],
                    "above": chances.below(player),
                    "tier": chances.tiers[at],
                }
        return found

    def _row(self, name: str, marks: Mapping[str, Any] | None) -> Row:
        scope, reading = self.scope, self.reading
        account = self.accounts.get(name, NOTHING)
        model, family = reading.identities.get(name, ("", ""))
        outside, billed = self._outsider(name), self.own.get(name, NOTHING) if scope.own else account
        benched = name in reading.benched and name in self.known
        left_at, left_with = self.gone.get(name, (None, None))
        checked = self.credits.accuracies.get(name)
        return Row(
            player=name,
            model=model,
            family=family,
            track=self.track,
            matches=account.matches,
            wins=account.wins,
            draws=account.draws,
            losses=account.losses,
            void=account.void,
            cost_usd=billed.cost_usd if billed.cost_nano or not outside else None,
            cost_per_match=account.cost_per_match,
            input_tokens=account.input_tokens,
            output_tokens=account.output_tokens,
            notes=(*self.general, *self._about(name, account)),
            game=scope.game,
            topic=scope.topic,
            side=scope.side,
            possibly_usd=0.0 if outside else reading.possibly_billed.get(name, 0) / 1e9,
            status="benched"
            if benched
            else "active"
            if name in self.known
            else "outside"
            if outside
            else "left",
            what_if=self.asked,
            withdrawn_after=left_at,
            rating_then=left_with,
            accuracy=checked.accuracy if checked else None,
            accuracy_lower=checked.lower if checked else None,
            accuracy_upper=checked.upper if checked else None,
            accuracy_tasks=checked.tasks if checked else 0,
            **(marks or {"rank": None, "rating": self.rated.start, "lower": None, "upper": None}),
        )

    def board(self, *, judged: bool) -> Leaderboard:
        reading, scope, played = self.reading, self.scope, self.played
        rows = tuple(self._rows())
        in_dollars = reading.settings.rating.cost_unit == CostUnit()
        judged = judged and scope.own and not self.asked
        found = verdict(
            rows,
            played.count if scope.own else 0,
            self.chances,
            Flips(*self.on_record.flips) if scope.own else None,
            priced=in_dollars,
            play=any(card.get("price_source") == PLAY_PRICE for card in reading.cards.values()),
            by_task=scope.own and bool(played.games) and all(map(about_tasks, played.games)),
            outside=self.outside.counts if self.outside else {},
            elsewhere="" if self.outside else self.elsewhere,
            judges=judges_matter(played, self.chances.pick) if judged and not scope.side else "",
            doubts=(*(self._doubts() if self.outside else ()), *self._saturated()),
            coins=tuple(accused(played.known_votes())) if judged else (),
        )
        made = Leaderboard(
            track=self.track,
            game=scope.game,
            topic=scope.topic,
            rows=rows,
            notes=self.general,
            games=played.games,
            topics=played.topics,
            verdict=found,
            in_dollars=in_dollars,
            what_if=self.asked,
            side=scope.side,
            source=scope.source,
            sides=sides_of(played.games) if scope.own else (),
        )
        made.__dict__["chances"], made.__dict__["credits"] = self.chances, self.credits
        made.__dict__["files"] = self.outside.files if self.outside else ()
        return made


def first_track(
    settings: ArenaSettings, scope: Scope, games: Collection[str], *, outside: bool = False
) -> Track:
    """The track that a table shows where none is asked for; `games` are those with a decided match. One that
    counts `outside` results is by strength, where the game's own track cannot rate them."""
    if not (scope.game or scope.side) and len(games) > 1:
        return "strength" if outside else "overall"
    has_side = [name for name in games if scope.side in sides_of([name])]
    first = tracks_of(scope.game or (has_side[0] if has_side else settings.game))[0]
    own = next(track for track in TRACKS if track == first)
    return "strength" if outside and not METHODS[own].outside else own
