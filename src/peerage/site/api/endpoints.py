"""The endpoints of the JSON API: every function here is one, and its signature is its contract.

The keyword parameters are those of the query (one stands in the path), the docstring and the result's type go
into the OpenAPI document.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

from msgspec import Meta, Struct, defstruct

from peerage.judging.measures.corrections import CORRECTIONS
from peerage.reading.scope import ScopeError
from peerage.site.api.rows import ArenaRow, MatchRow, Player, PlayerRecord, match_row
from peerage.site.reading import Site
from peerage.version import __version__
from peerage.views.arena.audience import Audience, audience
from peerage.views.arena.challenges import AskedChallenge, posed
from peerage.views.challenges import ChallengeRow
from peerage.views.leaderboard.board import Leaderboard, Row
from peerage.views.leaderboard.corrected import CorrectedRow, asked
from peerage.views.leaderboard.overall import Profile
from peerage.views.match.match import MatchView, match_view
from peerage.views.match.under_way import UnderWay, under_way

MOST = 2**53
"""Numbers that every reader of JSON can hold."""

Number = Annotated[int, Meta(ge=1, le=MOST, description="The number of a match.")]
Before = Annotated[
    int, Meta(ge=0, le=MOST, description="Only matches with a smaller number; 0: from the newest.")
]
Limit = Annotated[int, Meta(ge=1, le=200, description="How many at most.")]
Few = Annotated[int, Meta(ge=1, le=50, description="How many at most.")]
Track = Annotated[str, Meta(description="One of the arena's tracks; empty: its game's own.")]
OneSide = Annotated[str, Meta(description="Players on this side alone; empty: any.")]
OneSource = Annotated[
    str, Meta(description="Whose results: all, played, outside, or one imported file, by name or digest.")
]
Corrections = Annotated[
    str, Meta(description=f"What for, comma-separated: {', '.join(CORRECTIONS)}; or all.")
]
Name = Annotated[str, Meta(min_length=1, description="The player's name in the arena.")]
Contestant = Annotated[str, Meta(description="Only matches that this player contested.")]
Game = Annotated[str, Meta(description="Matches of this game alone; empty: all.")]
Topic = Annotated[str, Meta(description="Matches on this topic alone; empty: all.")]
Status = Annotated[str, Meta(description="`done`, or the reason of a void.")]
After = Annotated[str, Meta(description="Only what was accepted after this challenge; empty: all.")]


class Missing(Exception):
    """There is no such thing; the message says what there is."""


class Endpoint(NamedTuple):
    """An address of the API: `path` below /api with its last part in braces when that is a parameter."""

    path: str
    about: str
    parameters: type[Struct]
    gives: Any
    answer: Callable[..., Any]


ENDPOINTS: list[Endpoint] = []
_F = TypeVar("_F", bound=Callable[..., Any])


def _endpoint(path: str) -> Callable[[_F], _F]:
    """Let a function answer at a path."""

    def add(answer: _F) -> _F:
        types = get_type_hints(answer, include_extras=True)
        _, *stated = inspect.signature(answer).parameters.values()
        fields: list[Any] = [
            (one.name, types[one.name], *([] if one.default is one.empty else [one.default]))
            for one in stated
        ]
        parameters = defstruct("Parameters", fields)
        ENDPOINTS.append(Endpoint(path, inspect.getdoc(answer) or "", parameters, types["return"], answer))
        return answer

    return add


@_endpoint("arena")
def _arena(site: Site) -> ArenaRow:
    """The arena: its game, its tracks, how far it is."""
    settings = site.settings
    return ArenaRow(
        name=settings.name,
        version=__version__,
        game=settings.game,
        tracks=site.tracks,
        players=tuple([player.name for player in settings.players]),
        settled=site.number,
        results=site.results(site.number),
        issued=max(site.ledger.heads()[0], site.number),
        head=site.chain,
        votes=site.votes.count(),
        games=tuple(settings.lineup),
    )


@_endpoint("leaderboard")
def _leaderboard(
    site: Site,
    track: Track = "",
    game: Game = "",
    topic: Topic = "",
    side: OneSide = "",
    source: OneSource = "all",
) -> Leaderboard:
    """The table of one track, best first."""
    if track and track not in site.tracks:
        raise Missing(f"track: there is none called {track!r}; there are {', '.join(site.tracks)}")
    _there(site, game, topic)
    if side and side not in site.board().sides:
        raise Missing(
            f"side: there is none called {side!r}; there are {', '.join(site.board().sides) or 'none'}"
        )
    try:
        return site.board(track, game, topic, side, source)
    except ScopeError as error:
        raise Missing(f"{'side' if side else 'source'}: {error}") from None


def _there(site: Site, game: str, topic: str) -> None:
    if game or topic:
        everything = site.board()
        for what, name, there in (("game", game, everything.games), ("topic", topic, everything.topics)):
            if name and name not in there:
                raise Missing(f"{what}: no finished match has {name!r}; there are {', '.join(there)}")


@_endpoint("corrected")
def _corrected(
    site: Site, correct: Corrections = "all", game: Game = "", topic: Topic = ""
) -> list[CorrectedRow]:
    """Return what corrections of judges' votes or scores would change, the best corrected first; read and
    rated again, one request at a time."""
    _there(site, game, topic)
    try:
        return site.corrected(asked(correct), game, topic)
    except ScopeError as error:
        raise Missing(f"correct: {error}") from None


@_endpoint("profiles")
def _profiles(site: Site) -> list[Profile]:
    """Everybody's share of wins overall and in each game; empty where one game was played."""
    return site.profiles


@_endpoint("players")
def _players(site: Site) -> list[Player]:
    """Every player, in the table's order."""
    return [_player(site, row) for row in site.board().rows]


@_endpoint("players/{name}")
def _one_player(site: Site, name: Name) -> PlayerRecord:
    """One player on every track, and its record against each opponent."""
    row = next((row for row in site.board().rows if row.player == name), None)
    if row is None:
        raise Missing(f"there is no player called {name!r}; /api/players lists them")
    standings: dict[str, Row] = {
        track: row for track in site.tracks for row in site.table(track) if row.player == name
    }
    return PlayerRecord(_player(site, row), standings, site.against(name))


def _player(site: Site, row: Row) -> Player:
    active = any(row.player == player.name for player in site.settings.players)
    return Player(row.player, active, row, site.cards.get(row.player, {}))


@_endpoint("matches")
def _matches(
    site: Site,
    before: Before = 0,
    limit: Limit = 50,
    player: Contestant = "",
    game: Game = "",
    topic: Topic = "",
    status: Status = "",
) -> list[MatchRow]:
    """Finished matches, the newest first; the next page is that before the last number you have."""
    found = (
        match_row(summary)
        for summary in reversed(site.summaries[: before - 1] if before else site.summaries)
        if (not player or player in summary.players)
        and game in ("", summary.game)
        and topic in ("", summary.topic)
        and status in ("", summary.status)
    )
    return list(islice(found, limit))


@_endpoint("matches/{number}")
def _match(site: Site, number: Number) -> MatchView:
    """The whole transcript of a settled match."""
    if site.moment.place(number) > site.number:
        at = f"; match {number} is under way, see /api/live/{number}"
        more = at if number <= site.ledger.heads()[0] else ""
        raise Missing(f"there is no settled match {number}, the newest is {site.number}{more}")
    return match_view(site.moment, number)


@_endpoint("live/{number}")
def _live(site: Site, number: Number) -> UnderWay:
    """Return what every contestant of a match under way has been sent; players may be watching."""
    if number > site.ledger.heads()[0]:
        raise Missing(f"there is no match {number} yet")
    found = under_way(site.ledger, number)
    if found is None:
        raise Missing(f"match {number} is settled, see /api/matches/{number}")
    return found


@_endpoint("challenges")
def _challenges(site: Site, before: Before = 0, limit: Few = 20) -> list[AskedChallenge]:
    """Return what was asked, the newest first, paged like matches."""
    last = min(before - 1, site.number) if before else site.number
    found: list[AskedChallenge] = []
    while last > 0 and len(found) < limit:
        if asked := posed(site.match(*site.moment.numbers(last, last))):
            found.append(asked)
        last -= 1
    return found


@_endpoint("pool")
def _pool(site: Site, after: After = "", limit: Limit = 50) -> list[ChallengeRow]:
    """The pool of challenges, the first accepted first; the next page is that after the last id you have."""
    ids = [row.challenge_id for row in site.pool]
    if after and after not in ids:
        raise Missing(f"after: no challenge of the {len(ids)} has the id {after!r}")
    first = ids.index(after) + 1 if after else 0
    return site.pool[first : first + limit]


@_endpoint("votes")
def _votes(site: Site) -> Audience:
    """The audience's own table and what it rests on."""
    return audience(site.ledger, site.votes.votes())
