"""The JSON API: what an arena's ledger says, as data; described by its own OpenAPI document.

    answer(site, "api/matches", (("limit", "10"),))

Every endpoint is one line of `ENDPOINTS`: its path, a Struct that declares and checks its parameters, the
type of what it gives, and the function that gives it. The document at `api/openapi.json` is made from these
lines, so it cannot say anything else than what is done. Parameters that do not exist are refused: a misspelt
filter must not look like an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from peerage.site.api_document import openapi
from peerage.site.api_endpoints import ENDPOINTS, Endpoint, Missing
from peerage.site.api_rows import Failure
from peerage.site.reading import Site

PREFIX = "api/"
VOTE = "vote.html"
"""The page of a server where people may vote."""


class Answer(NamedTuple):
    """What an address answers: an HTTP status and a body of JSON, with a digest of it."""

    status: int
    body: bytes
    etag: str


def answer(site: Site, path: str, query: Sequence[tuple[str, str]]) -> Answer:
    """What `path` (no leading slash, percent-encoded as it came) answers to GET, faults included.

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
        return _answer(200, endpoint.answer(site, wanted))
    except Missing as error:
        return failure(404, str(error))
    except msgspec.ValidationError as error:
        return failure(400, _plain(error))


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
