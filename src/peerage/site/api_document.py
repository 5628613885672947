"""The OpenAPI 3.1 document of the JSON API, made from its endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from peerage import __version__
from peerage.site.api_endpoints import ENDPOINTS, Endpoint
from peerage.site.api_rows import JSON, Ballot, Cast, Failure, Revealed


def openapi(voting: bool) -> dict[str, Any]:
    """The document; with what a server adds where people may vote."""
    gives = [endpoint.gives for endpoint in ENDPOINTS]
    shapes, components = msgspec.json.schema_components(
        [*gives, Ballot, Cast, Revealed, Failure], ref_template="#/components/schemas/{name}"
    )
    wrong = _told("What is wrong.", shapes[-1])
    paths = {
        f"/api/{endpoint.path}": {
            "get": {
                "operationId": _operation(endpoint.path),
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
