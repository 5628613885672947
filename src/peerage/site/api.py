"""The JSON API: what an arena's ledger says, as data; described by its own OpenAPI document.

    answer(site, votes, "api/matches", (("limit", "10"),))

Every endpoint is one line of `ENDPOINTS`: its path, a Struct that declares and checks its parameters, the
type of what it gives, and the function that gives it. The document at `api/openapi.json` is made from these
lines, so it cannot say anything else than what is done. Parameters that do not exist are refused: a misspelt
filter must not look like an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, NamedTuple
from urllib.parse import unquote

import msgspec
from msgspec import Meta, Struct

from peerage import __version__
from peerage.engine.registration import registered
from peerage.ledger.store import LedgerError
from peerage.ledger.votes import Votes
from peerage.site.api_rows import (
    Arena,
    Challenge,
    Failure,
    Match,
    Opponent,
    Player,
    PlayerRecord,
    Standing,
    match_row,
)
from peerage.site.reading import Site
from peerage.site.votes import Audience, audience
from peerage.tables.leaderboard import Row
from peerage.tables.transcript import Transcript, transcript

JSON = "application/json"
PREFIX = "api/"
MOST = 2**53
"""Numbers that every reader of JSON can hold."""

Number = Annotated[int, Meta(ge=1, le=MOST, description="The number of a match.")]
Before = Annotated[
    int, Meta(ge=0, le=MOST, description="Only matches with a smaller number; 0: from the newest.")
]
Limit = Annotated[int, Meta(ge=1, le=200, description="How many at most.")]


class Answer(NamedTuple):
    """What an address answers: an HTTP status and a body of JSON, with a digest of it."""

    status: int
    body: bytes
    etag: str


class NoParameters(Struct):
    pass


class LeaderboardParameters(Struct):
    track: Annotated[str, Meta(description="One of the arena's tracks; empty: its game's own.")] = ""


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


class Missing(Exception):
    """There is no such thing; the message says what there is."""


class Endpoint(NamedTuple):
    """An address of the API: `path` below /api with its last part in braces when that is a parameter."""

    path: str
    about: str
    parameters: type[Struct]
    gives: Any
    answer: Callable[[Site, Votes, Any], Any]


def _arena(site: Site, votes: Votes, _: NoParameters) -> Arena:
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
        votes.count(),
    )


def _leaderboard(site: Site, _: Votes, wanted: LeaderboardParameters) -> Sequence[Row]:
    if wanted.track and wanted.track not in site.tracks:
        raise ValueError(f"track: there is none called {wanted.track!r}; there are {', '.join(site.tracks)}")
    return site.table(wanted.track)


def _players(site: Site, _: Votes, __: NoParameters) -> list[Player]:
    cards = registered(site.ledger)
    return [_player(site, row, cards.get(row.player, {})) for row in site.table()]


def _one_player(site: Site, _: Votes, wanted: PlayerParameters) -> PlayerRecord:
    row = next((row for row in site.table() if row.player == wanted.name), None)
    if row is None:
        raise Missing(f"there is no player called {wanted.name!r}; /api/players lists them")
    card = registered(site.ledger).get(row.player, {})
    return PlayerRecord(_player(site, row, card), _opponents(site, row.player))


def _player(site: Site, row: Row, card: Mapping[str, Any]) -> Player:
    standings = {
        track: Standing(found.rank, found.rank_range, found.rating, found.lower, found.upper)
        for track in site.tracks
        for found in site.table(track)
        if found.player == row.player
    }
    return Player(
        row.player,
        row.model,
        row.family,
        row.player in {player.name for player in site.settings.players},
        standings,
        row.matches,
        row.wins,
        row.draws,
        row.losses,
        row.void,
        row.cost_usd,
        row.cost_per_match,
        dict(card),
    )


def _opponents(site: Site, player: str) -> tuple[Opponent, ...]:
    tallies: dict[str, list[int]] = {}
    for first, second, score, count in site.ledger.pair_counts():
        if player in (first, second):
            other, points = (second, score) if first == player else (first, 1 - score)
            tallies.setdefault(other, [0, 0, 0])[int(2 - 2 * points)] += count
    return tuple([Opponent(other, sum(tally), *tally) for other, tally in sorted(tallies.items())])


def _matches(site: Site, _: Votes, wanted: MatchesParameters) -> list[Match]:
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


def _match(site: Site, _: Votes, wanted: MatchParameters) -> Transcript:
    if wanted.number > site.ledger.heads()[0]:
        raise Missing(f"there is no match {wanted.number}; the newest is {site.number}")
    return transcript(site.ledger, wanted.number)


def _challenges(site: Site, _: Votes, wanted: ChallengesParameters) -> list[Challenge]:
    last = min(wanted.before - 1, site.number) if wanted.before else site.number
    found: list[Challenge] = []
    while last > 0 and len(found) < wanted.limit:
        match = transcript(site.ledger, last)
        last -= 1
        if match.challenge:
            draft = next((draft for draft in match.drafts if draft.accepted), None)
            found.append(
                Challenge(
                    match.number,
                    match.game,
                    match.topic,
                    match.challenge,
                    draft.authors if draft else {},
                    draft.approval if draft else None,
                    match.status,
                    {match.player(label): score for label, score in match.scores.items()},
                )
            )
    return found


def _votes(site: Site, votes: Votes, _: NoParameters) -> Audience:
    return audience(site.ledger, votes.votes())


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("arena", "The arena: its game, its tracks, how far it is.", NoParameters, Arena, _arena),
    Endpoint(
        "leaderboard",
        "The table of one track, best first.",
        LeaderboardParameters,
        tuple[Row, ...],
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
        "Finished matches, the newest first; for the next page, `before` the last number you have.",
        MatchesParameters,
        tuple[Match, ...],
        _matches,
    ),
    Endpoint(
        "matches/{number}",
        "The whole transcript of one match, finished or in flight.",
        MatchParameters,
        Transcript,
        _match,
    ),
    Endpoint(
        "challenges",
        "What was asked, the newest first, paged like matches.",
        ChallengesParameters,
        tuple[Challenge, ...],
        _challenges,
    ),
    Endpoint("votes", "The audience's own table and what it rests on.", NoParameters, Audience, _votes),
)


def answer(site: Site, votes: Votes, path: str, query: Sequence[tuple[str, str]]) -> Answer:
    """What `path` (no leading slash, percent-encoded as it came) answers to GET, faults included.

    Raises LedgerError when the ledger itself cannot be read.
    """
    if path == f"{PREFIX}openapi.json":
        return _answer(200, openapi())
    found = _endpoint(path)
    if found is None:
        return failure(404, f"there is nothing at /{path}; /api/openapi.json says what there is")
    endpoint, given = found
    known = endpoint.parameters.__struct_fields__
    for key, value in query:
        if key not in known or key in given:
            there = f"; known: {', '.join(known)}" if known else ""
            return failure(400, f"{key}: given twice" if key in given else f"{key}: no such parameter{there}")
        given[key] = value
    try:
        wanted = msgspec.convert(given, endpoint.parameters, strict=False)
        return _answer(200, endpoint.answer(site, votes, wanted))
    except Missing as error:
        return failure(404, str(error))
    except msgspec.ValidationError as error:
        return failure(400, _plain(error))
    except LedgerError:
        raise
    except ValueError as error:
        return failure(400, str(error))


def failure(status: int, why: str) -> Answer:
    """An answer that says what is wrong."""
    return _answer(status, Failure(why))


def _answer(status: int, data: Any) -> Answer:
    body = msgspec.json.encode(data)
    return Answer(status, body, sha256(body).hexdigest()[:32])


def _plain(error: msgspec.ValidationError) -> str:
    """ "Expected `int` >= 1 - at `$.limit`" with the parameter first."""
    about, _, place = str(error).rpartition(" - at `$.")
    return f"{place.rstrip('`')}: {about}" if about else str(error)


def _endpoint(path: str) -> tuple[Endpoint, dict[str, str]] | None:
    """The endpoint at a path, and the parameter that stands in it."""
    below = path.removeprefix(PREFIX)
    for endpoint in ENDPOINTS:
        stem, brace, name = endpoint.path.partition("{")
        if not brace and below == stem:
            return endpoint, {}
        if brace and below.startswith(stem) and len(below) > len(stem):
            return endpoint, {name.rstrip("}"): unquote(below[len(stem) :], errors="replace")}
    return None


def openapi() -> dict[str, Any]:
    """The API as an OpenAPI 3.1 document; addresses are relative to where it stands."""
    gives = [endpoint.gives for endpoint in ENDPOINTS]
    shapes, components = msgspec.json.schema_components(
        [*gives, Failure], ref_template="#/components/schemas/{name}"
    )
    wrong = {"description": "What is wrong.", "content": {JSON: {"schema": shapes[-1]}}}
    paths = {
        f"/api/{endpoint.path}": {
            "get": {
                "operationId": _operation(endpoint.path),
                "summary": endpoint.about,
                "parameters": list(_parameters(endpoint)),
                "responses": {
                    "200": {"description": "Found.", "content": {JSON: {"schema": shape}}},
                    "400": wrong,
                    **({"404": wrong} if "{" in endpoint.path else {}),
                },
            }
        }
        for endpoint, shape in zip(ENDPOINTS, shapes, strict=False)
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Peerage",
            "version": __version__,
            "description": "One arena: its standings, players, matches, challenges and the audience's votes.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _operation(path: str) -> str:
    return path.replace("/{", "_by_").rstrip("}")


def _parameters(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    _, components = msgspec.json.schema_components([endpoint.parameters])
    declared = components[endpoint.parameters.__name__]
    for name, schema in declared["properties"].items():
        inside = f"{{{name}}}" in endpoint.path
        yield {
            "name": name,
            "in": "path" if inside else "query",
            "required": inside or name in declared["required"],
            "description": schema["description"],
            "schema": {key: value for key, value in schema.items() if key != "description"},
        }
