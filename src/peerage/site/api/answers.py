"""The JSON API: what an arena's ledger says, as data; described by its own OpenAPI document.

    answer(site, "api/matches", (("limit", "10"),))

Every endpoint is a function of `endpoints`. The document at `api/openapi.json` is made from their
signatures, so it cannot say anything else than what is done. Parameters that do not exist are refused: a
misspelt filter must not look like an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from peerage.render.data import encoded
from peerage.site.api.endpoints import ENDPOINTS, Endpoint, Missing
from peerage.site.api.rows import JSON, ApiFailure, BallotRow, Cast, Revealed
from peerage.site.reading import Site
from peerage.version import __version__

PREFIX = "api/"
VOTE = "vote.html"
"""The page of a server where people may vote."""


class ApiAnswer(NamedTuple):
    """What an address answers: an HTTP status and a body of JSON."""

    status: int
    body: bytes


def answer(site: Site, path: str, query: Sequence[tuple[str, str]]) -> ApiAnswer:
    """Return what `path` (no leading slash, percent-encoded as it came) answers to GET, faults included.

    Raises LedgerError when the ledger itself cannot be read.
    """
    if path == f"{PREFIX}openapi.json":
        return _answer(200, openapi(voting=any(path == VOTE for path, _ in site.menu)))
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
        return _answer(200, endpoint.answer(site, **msgspec.structs.asdict(wanted)))
    except Missing as error:
        return failure(404, str(error))
    except msgspec.ValidationError as error:
        return failure(400, _plain(error))


def failure(status: int, why: str) -> ApiAnswer:
    """An answer that says what is wrong."""
    return _answer(status, ApiFailure(why))


def _answer(status: int, data: Any) -> ApiAnswer:
    return ApiAnswer(status, encoded(data))


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


def openapi(voting: bool) -> dict[str, Any]:
    """The OpenAPI 3.1 document of the API; with what a server adds where people may vote."""
    gives = [endpoint.gives for endpoint in ENDPOINTS]
    shapes, components = msgspec.json.schema_components(
        [*gives, BallotRow, Cast, Revealed, ApiFailure], ref_template="#/components/schemas/{name}"
    )
    wrong = _told("What is wrong.", shapes[-1])
    paths = {
        f"/api/{endpoint.path}": {
            "get": {
                "operationId": endpoint.path.replace("/{", "_by_").rstrip("}"),
                "summary": endpoint.about,
                "parameters": list(_parameters(endpoint)),
                "responses": {
                    "200": _told("Found.", shape),
                    "400": wrong,
                    **({"404": wrong} if endpoint.parameters.__struct_fields__ else {}),
                    "500": _told("It could not be answered; the server's log says why.", shapes[-1]),
                    "503": _told("The ledger cannot be read.", shapes[-1]),
                },
            }
        }
        for endpoint, shape in zip(ENDPOINTS, shapes, strict=False)
    }
    if voting:
        _add_voting(paths, shapes[-4:])
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


def _add_voting(paths: dict[str, dict[str, Any]], shapes: Sequence[Any]) -> None:
    ballot, cast, revealed, failure = shapes
    late = {"429": _told("Too much at once; `Retry-After` says how long to wait.", failure)}
    paths["/api/ballot"] = {
        "get": {
            "operationId": "ballot",
            "summary": "A pair of answers to judge; the session is the cookie that comes with it.",
            "responses": {"200": _told("A pair.", ballot), "404": _told("No pair is left.", failure), **late},
        }
    }
    paths["/api/votes"]["post"] = {
        "operationId": "vote",
        "summary": "Judge the pair of a ticket; `skip` asks for another and is answered with null.",
        "requestBody": {"required": True, "content": {JSON: {"schema": cast}}},
        "responses": {
            "200": _told("Skipped.", {"type": "null"}),
            "201": _told("Recorded; who wrote what.", revealed),
            "400": _told("This is no vote.", failure),
            "403": _told("Sent from another site.", failure),
            "409": _told("This pair is not open to this session.", failure),
            "413": _told("Too long.", failure),
            "415": _told("Not JSON.", failure),
            **late,
        },
    }


def _told(about: str, shape: Any) -> dict[str, Any]:
    return {"description": about, "content": {JSON: {"schema": shape}}}


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
