"""The endpoints of the JSON API: for each its parameters, what it gives and how that is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from peerage import __version__
from peerage.blocks import Task
from peerage.engine.registration import registered
from peerage.site.api_rows import (
    Arena,
    Challenge,
    Match,
    Opponent,
    Player,
    PlayerRecord,
    Standing,
    match_row,
)
from peerage.site.reading import Site
from peerage.site.tally import Mine
from peerage.site.votes import Audience, audience
from peerage.tables.challenges import ChallengeRow
from peerage.tables.leaderboard import Board, Row
from peerage.tables.match_view import MatchView, match_view, tasks
from peerage.tables.matches import Matches
from peerage.tables.under_way import UnderWay, under_way

MOST = 2**53
"""Numbers that every reader of JSON can hold."""

Number = Annotated[int, Meta(ge=1, le=MOST, description="The number of a match.")]
Before = Annotated[
    int, Meta(ge=0, le=MOST, description="Only matches with a smaller number; 0: from the newest.")
]
Limit = Annotated[int, Meta(ge=1, le=200, description="How many at most.")]


class NoParameters(Struct):
    pass


class LeaderboardParameters(Struct):
    track: Annotated[str, Meta(description="One of the arena's tracks; empty: its game's own.")] = ""
    game: Annotated[str, Meta(description="Matches of this game alone; empty: all.")] = ""
    topic: Annotated[str, Meta(description="Matches on this topic alone; empty: all.")] = ""


class PlayerParameters(Struct):
    name: Annotated[str, Meta(min_length=1, description="The player's name in the arena.")]


class MatchParameters(Struct):
    number: Number


class MatchesParameters(Struct):
    before: Before = 0
    limit: Limit = 50
    player: Annotated[str, Meta(description="Only matches that this player contested.")] = ""
    game: Annotated[str, Meta(description="Only matches of this game.")] = ""
    topic: Annotated[str, Meta(description="Only matches on this topic.")] = ""
    status: Annotated[str, Meta(description="`done`, or the reason of a void.")] = ""


class ChallengesParameters(Struct):
    before: Before = 0
    limit: Annotated[int, Meta(ge=1, le=50, description="How many at most.")] = 20


class PoolParameters(Struct):
    after: Annotated[str, Meta(description="Only what was accepted after this challenge; empty: all.")] = ""
    limit: Limit = 50


class Missing(Exception):
    """There is no such thing; the message says what there is."""


class Endpoint(NamedTuple):
    """An address of the API: `path` below /api with its last part in braces when that is a parameter."""

    path: str
    about: str
    parameters: type[Struct]
    gives: Any
    answer: Callable[[Site, Any], Any]


def _arena(site: Site, _: NoParameters) -> Arena:
    settings = site.settings
    issued = max(site.ledger.heads()[0], site.number)
    return Arena(
        settings.name,
        __version__,
        settings.game,
        site.tracks,
        tuple([player.name for player in settings.players]),
        site.number,
        issued,
        site.chain,
        site.votes.count(),
    )


def _leaderboard(site: Site, wanted: LeaderboardParameters) -> Board:
    if wanted.track and wanted.track not in site.tracks:
        raise Missing(f"track: there is none called {wanted.track!r}; there are {', '.join(site.tracks)}")
    if wanted.game or wanted.topic:
        everything = site.board()
        for what, name, there in (
            ("game", wanted.game, everything.games),
            ("topic", wanted.topic, everything.topics),
        ):
            if name and name not in there:
                raise Missing(f"{what}: no finished match has {name!r}; there are {', '.join(there)}")
    return site.board(wanted.track, wanted.game, wanted.topic)


def _players(site: Site, _: NoParameters) -> list[Player]:
    cards = registered(site.ledger)
    return [_player(site, row, cards.get(row.player, {})) for row in site.board().rows]


def _one_player(site: Site, wanted: PlayerParameters) -> PlayerRecord:
    row = next((row for row in site.board().rows if row.player == wanted.name), None)
    if row is None:
        raise Missing(f"there is no player called {wanted.name!r}; /api/players lists them")
    card = registered(site.ledger).get(row.player, {})
    standings: dict[str, Standing] = {
        track: _standing(found)
        for track in site.tracks
        for found in site.board(track).rows
        if found.player == row.player
    }
    return PlayerRecord(_player(site, row, card), standings, _opponents(site, row.player))


def _player(site: Site, row: Row, card: Mapping[str, Any]) -> Player:
    return Player(
        row.player,
        row.model,
        row.family,
        row.player in {player.name for player in site.settings.players},
        _standing(row),
        row.matches,
        row.wins,
        row.draws,
        row.losses,
        row.void,
        row.cost_usd,
        row.possibly_usd,
        row.cost_per_match,
        dict(card),
    )


def _standing(row: Row) -> Standing:
    return Standing(row.track, row.rank, row.rank_range, row.rating, row.lower, row.upper)


def _opponents(site: Site, player: str) -> tuple[Opponent, ...]:
    met = site.tally.players.get(player, Mine()).against
    return tuple(
        [
            Opponent(other, record.matches, record.wins, record.draws, record.losses)
            for other, record in sorted(met.items())
        ]
    )


def _matches(site: Site, wanted: MatchesParameters) -> list[Match]:
    found: list[Match] = []
    for summary in reversed(site.summaries[: wanted.before - 1] if wanted.before else site.summaries):
        if (
            (not wanted.player or wanted.player in summary.players)
            and (not wanted.game or wanted.game == summary.game)
            and (not wanted.topic or wanted.topic == summary.topic)
            and (not wanted.status or wanted.status == summary.status)
        ):
            found.append(match_row(summary))
            if len(found) == wanted.limit:
                break
    return found


def _match(site: Site, wanted: MatchParameters) -> MatchView:
    if site.moment.place(wanted.number) > site.number:
        at = f"; match {wanted.number} is under way, see /api/live/{wanted.number}"
        more = at if wanted.number <= site.ledger.heads()[0] else ""
        raise Missing(f"there is no settled match {wanted.number}, the newest is {site.number}{more}")
    return match_view(site.moment, wanted.number)


def _live(site: Site, wanted: MatchParameters) -> UnderWay:
    if wanted.number > site.ledger.heads()[0]:
        raise Missing(f"there is no match {wanted.number} yet")
    found = under_way(site.ledger, wanted.number)
    if found is None:
        raise Missing(f"match {wanted.number} is settled, see /api/matches/{wanted.number}")
    return found


def _challenges(site: Site, wanted: ChallengesParameters) -> list[Challenge]:
    last = min(wanted.before - 1, site.number) if wanted.before else site.number
    found: list[Challenge] = []
    matches = Matches(site.moment, whole=False)
    while last > 0 and len(found) < wanted.limit:
        match = matches.one(*site.moment.numbers(last, last))
        last -= 1
        texts = tasks(match.blocks)
        if texts:
            draft = next((draft for draft in match.drafts if draft.accepted), None)
            found.append(
                Challenge(
                    match.number,
                    match.fixture.game,
                    match.fixture.topic,
                    texts,
                    {
                        block.name or "task": ", ".join(match.players[label] for label in block.by)
                        for block in match.blocks
                        if isinstance(block, Task) and block.by
                    },
                    draft.approval if draft else None,
                    match.status,
                    {match.players[label]: score for label, score in match.outcome.scores.items()},
                )
            )
    return found


def _pool(site: Site, wanted: PoolParameters) -> list[ChallengeRow]:
    ids = [row.challenge_id for row in site.pool]
    if wanted.after and wanted.after not in ids:
        raise Missing(f"after: no challenge of the {len(ids)} has the id {wanted.after!r}")
    first = ids.index(wanted.after) + 1 if wanted.after else 0
    return site.pool[first : first + wanted.limit]


def _votes(site: Site, _: NoParameters) -> Audience:
    return audience(site.ledger, site.votes.votes())


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("arena", "The arena: its game, its tracks, how far it is.", NoParameters, Arena, _arena),
    Endpoint(
        "leaderboard",
        "The table of one track, best first.",
        LeaderboardParameters,
        Board,
        _leaderboard,
    ),
    Endpoint("players", "Every player, in the table's order.", NoParameters, tuple[Player, ...], _players),
    Endpoint(
        "players/{name}",
        "One player, and its record against each opponent.",
        PlayerParameters,
        PlayerRecord,
        _one_player,
    ),
    Endpoint(
        "matches",
        "Finished matches, the newest first; the next page is that before the last number you have.",
        MatchesParameters,
        tuple[Match, ...],
        _matches,
    ),
    Endpoint(
        "matches/{number}",
        "The whole transcript of a settled match.",
        MatchParameters,
        MatchView,
        _match,
    ),
    Endpoint(
        "live/{number}",
        "What every contestant of a match under way has been sent; no more, since players may be watching.",
        MatchParameters,
        UnderWay,
        _live,
    ),
    Endpoint(
        "challenges",
        "What was asked, the newest first, paged like matches.",
        ChallengesParameters,
        tuple[Challenge, ...],
        _challenges,
    ),
    Endpoint(
        "pool",
        "The pool of challenges, the first accepted first; the next page is that after the last id you have.",
        PoolParameters,
        tuple[ChallengeRow, ...],
        _pool,
    ),
    Endpoint("votes", "The audience's own table and what it rests on.", NoParameters, Audience, _votes),
)
