"""People have a form in every game: what a house player replies can be filled in, and is taken over the real
server as the same value. No request is answered in raw JSON."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.conformance.test_games import every_game
from tests.engine.arenas import house, write_arena
from tests.formats.filled import filled_in

from peerage.formats import Shaped, recorded, stored
from peerage.formats.forms import fields
from peerage.formats.schemas.made import sampled
from peerage.game.spec import GameSpec
from peerage.players.people.requests import People, Request
from peerage.site.people.seats import SeatLinks
from peerage.site.server.server import ArenaServer
from peerage.testing.conformance import _made, _played

HOUR = 3_600_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_arena(tmp_path_factory.mktemp("seats"), [*house(4), "human:me"], seed=None)


@pytest.fixture(scope="module")
def seat(folder: Path) -> Iterator[TestClient]:
    server = ArenaServer(folder, voting=False, token=None)
    with TestClient(server.app, "http://localhost", follow_redirects=False) as client:
        yield client


@every_game
def test_a_person_fills_in_what_a_player_replies(
    spec: GameSpec[Any], rules: dict[str, Any], seat: TestClient, folder: Path
) -> None:
    link, people = f"/{SeatLinks.of(folder).path('me')}", People(folder)
    people.path.unlink(missing_ok=True)
    kinds: dict[str, int] = {}
    for step in _played(spec, _made(spec, rules)).steps:
        expects, reply = step.ask.expects, step.reply
        form = fields(expects)
        kind = f"{type(expects)} {[(field.kind, field.label) for field in form]}"
        kinds[kind] = kinds.get(kind, 0) + 1
        if kinds[kind] > 1 or not reply.ok:
            continue
        if isinstance(expects, Shaped):  # it reads any text; a form writes what its schema wants
            text = json.dumps(sampled(expects.schema(), Random(step.ask.key)), separators=(",", ":"))
        else:
            text = expects.write(expects.parse(reply.text))
        assert all(field.kind != "json" for field in form), step.ask.key
        now = time.time_ns() // 1_000_000
        request = Request.of(
            "seed", f"{spec.name}/{rules}/{step.ask.key}", "me", "judge", [("user", "?")], expects, HOUR
        )
        people.ask(request, now)
        assert seat.get(link).text.count("<form") == 1
        typed = filled_in(expects, text)
        taken = seat.post(link, data={"request": request.id, **typed})
        assert taken.status_code == 303, taken.text
        kept = people.ask(request, now)
        assert kept.state == "replied"
        # A number that may be a text too is sent as a number.
        kept_json, wanted = (
            re.sub(r'"([+-]?[0-9]+)"', r"\1", expects.write(expects.parse(of))) for of in (kept.text, text)
        )
        assert kept_json == wanted
        assert fields(recorded(stored(expects))) == form, "the page has the format from the file of requests"
