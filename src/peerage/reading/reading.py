"""An arena as it is read: its settings, and its ledger at one position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from peerage.engine.record.benches import benched
from peerage.engine.record.model_watch import Change, changes
from peerage.engine.record.registration import models_and_families, registered
from peerage.ledger import Ledger
from peerage.ledger.topics.outside import TOPIC, sources
from peerage.ledger.topics.places import Bench
from peerage.ratings.sequential.elo import EloSettings
from peerage.reading.results.evidence import MatchEvidence
from peerage.reading.results.played import PlayedMatches
from peerage.reading.scope import EVERYTHING, Scope, ScopeError
from peerage.render.names import Names
from peerage.settings import ArenaSettings, Rating, suggest
from peerage.settings.players.model_names import PROVIDERS
from peerage.standings.accounts import Account, Position, position, possibly_billed
from peerage.standings.fold import pinned_elo, pinned_rating

if TYPE_CHECKING:
    from peerage.reading.match import Match
    from peerage.reading.matches import Matches
    from peerage.reading.observations import Observations
    from peerage.reading.results.outside import Imported, Outside


class Reading:
    """All that a ledger holds of an arena; `moment` is that ledger as it is at one position. Everything is
    computed when it is first asked for, and kept, so one reading serves all views of a page or command.
    Threads may share it: at worst two of them compute the same. Whatever is asked may raise LedgerError."""

    def __init__(self, settings: ArenaSettings, moment: Ledger) -> None:
        self.settings = settings
        self.moment = moment
        self._within: dict[object, PlayedMatches] = {}
        self._outside: dict[str, Outside] = {}
        self._observed: dict[tuple[str, str], Observations] = {}

    # ---------------------------------------------------------------------------------------- results

    def within(self, scope: Scope) -> PlayedMatches:
        """Return the finished matches of a scope, whose sides are told apart later (`PlayedMatches.on_side`);
        whole games count as it says, or else the settings. Raises ScopeError."""
        weights = {name: game.weight for name, game in self.settings.lineup.items()}
        games = scope.games or weights | dict(scope.weights)
        key = scope.game, scope.topic, *sorted(scope.weights.items()), *sorted(games.items())
        if key not in self._within:
            wanted = Scope(scope.game, scope.topic, scope.weights, games=games)
            self._within[key] = PlayedMatches(self.moment, wanted)
        return self._within[key]

    @property
    def played(self) -> PlayedMatches:
        """All finished matches."""
        return self.within(EVERYTHING)

    @cached_property
    def imported(self) -> Sequence[Imported]:
        """The outside results by file, read once."""
        if TOPIC not in self.moment.topics():
            return ()
        from peerage.reading.results.outside import imported

        return imported(self.moment)

    def outside(self, scope: Scope = EVERYTHING) -> Outside | None:
        """Return what a scope counts where outside results are among it; None where none are. Raises
        ScopeError where it is of these alone and there are none such, or they cannot be of its part."""
        source, files = scope.source, self.imported if scope.source != "played" else ()
        whole = not (scope.game or scope.topic or scope.side or scope.weights)
        if not scope.own:
            stated = [(file, file.source.name, file.source.sha256) for file in files]
            files = [
                file for file, name, digest in stated if source in ("outside", name, digest[: len(source)])
            ]
            if not files:
                names = [file.source.name for file in self.imported] or ["none; `peerage import` enters some"]
                raise ScopeError(f"no outside results are of {source!r}: there are {', '.join(names)}")
            if not whole:
                raise ScopeError("outside results have no game, topic or side: leave these and weights out")
        if not files or not whole:
            return None
        if source not in self._outside:
            from peerage.reading.results.outside import Outside

            self._outside[source] = Outside(files, self.played if scope.own else None)
        return self._outside[source]

    def results(self, matches: int) -> dict[str, int]:
        """Return how many results there are of each kind, with so many matches."""
        from peerage.reading.results.outside import total

        return {**total(self.imported), "match": matches}

    def counted(self, scope: Scope = EVERYTHING) -> MatchEvidence:
        """Return all that a scope counts."""
        return self.outside(scope) or self.within(scope)

    @cached_property
    def rating(self) -> Rating:
        """The rating settings that the arena was made with."""
        return pinned_rating(self.moment.meta(), self.settings.rating)

    @cached_property
    def elo(self) -> EloSettings:
        """The constants of the sequential ratings."""
        return pinned_elo(self.moment.meta(), self.settings.rating)

    @cached_property
    def position(self) -> Position:
        """The ratings after the last match, and everybody's sums."""
        return position(self.moment, self.elo)

    def accounts(self, played: PlayedMatches) -> Mapping[str, Account]:
        """Return what everybody did and cost in these matches."""
        return self.position.accounts if played.whole else played.accounts

    @cached_property
    def possibly_billed(self) -> Mapping[str, int]:
        """Return what players may have been billed beyond what is known, in 1e-9 dollars."""
        return possibly_billed(self.moment, self.position.accounts)

    # ---------------------------------------------------------------------------------------- players

    @cached_property
    def cards(self) -> Mapping[str, Mapping[str, Any]]:
        """The newest card of every player that ever played."""
        return registered(self.moment)

    @cached_property
    def identities(self) -> Mapping[str, tuple[str, str]]:
        """Everybody's model and family."""
        return models_and_families(self.cards, self.settings.everyone)

    @property
    def families(self) -> dict[str, str]:
        """Everybody's family."""
        return {name: family for name, (_, family) in self.identities.items()}

    @cached_property
    def names(self) -> Names:
        """Return the names of all players and judges, and of outside results, as people read them."""
        return Names([*self.identities, *self.outsiders], PROVIDERS)

    @cached_property
    def outsiders(self) -> Sequence[str]:
        """Return the players of outside results, each once."""
        files = sources(self.moment) if TOPIC in self.moment.topics() else ()
        return [*dict.fromkeys([name for source in files for name in source.players])]

    def meant(self, given: str, known: Collection[str], missing: str = "no result is on record of") -> str:
        """Return which of the `known` players somebody names, whole or short. Raises ScopeError where that is
        none, which `missing` says, or where it may be several."""
        players = [given] if given in known else [name for name in self.names.meant(given) if name in known]
        if len(players) > 1:
            raise ScopeError(f"{given!r} may be {', '.join(players[:-1])} or {players[-1]}; name one of them")
        if not players and {given, *self.names.meant(given)} & {*self.outsiders}:
            raise ScopeError(
                f"{missing} {given}, which is in outside results alone; the leaderboard counts them"
            )
        if not players:
            near = suggest(given, [*map(self.names.short, known)])
            raise ScopeError(f"{missing} a player {given!r}{near}")
        return players[0]

    @cached_property
    def benched(self) -> Mapping[str, Bench]:
        """Return who is benched or paused now, by name."""
        return benched(self.moment)

    @cached_property
    def models(self) -> Mapping[str, list[Change]]:
        """Return which models providers named, by player."""
        return changes(self.moment)

    # ---------------------------------------------------------------------------------------- matches

    # A leaderboard needs no match read, and none of what reads one.

    @cached_property
    def _matches(self) -> Matches:
        from peerage.reading.matches import Matches

        return Matches(self.moment)

    def matches(self, first: int = 1, last: int | None = None, scope: Scope = EVERYTHING) -> Iterable[Match]:
        """Return the finished matches first..last of a scope, by default to the last one."""
        return self._matches.read(first, self.moment.heads()[1] if last is None else last, scope)

    def match(self, number: int) -> Match:
        """Return one match, finished or under way."""
        return self._each.match(number)

    @cached_property
    def _each(self) -> Matches:
        from peerage.reading.matches import Matches

        return Matches(self.moment, whole=False)

    @cached_property
    def observations(self) -> Observations:
        """Return the observations of all matches; every exchange is read once."""
        return self._observe(EVERYTHING)

    def observed(self, scope: Scope) -> Observations:
        """Return the observations of the matches of a scope."""
        key = scope.game, scope.topic
        if not any(key):
            return self.observations
        if key not in self._observed:
            self._observed[key] = self._observe(scope)
        return self._observed[key]

    def _observe(self, scope: Scope) -> Observations:
        from peerage.reading.observations import observe

        return observe(self.matches(scope=scope))
