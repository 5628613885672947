"""The JSON API says what the tables say, refuses what it does not know, and is as its document has it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from tests.engine.arenas import play, write_arena
from tests.site.arenas import sealed_arena
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.record.challenges import retire
from peerage.ledger.topics.votes import Vote
from peerage.reading.verdicts.people import finished
from peerage.site.api.answers import answer, openapi
from peerage.site.api.endpoints import ENDPOINTS
from peerage.site.reading import Site
from peerage.views.leaderboard.board import board
from peerage.views.match.match import match_view, tasks

MATCHES = 16
HOSTILE = "<script>alert(1)</script>/../%2e\u202eevil\"'&?#"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    players: list[Any] = [
        {"name": f"p{place}", "model": f"house:{0.2 + 0.1 * place:.1f}", "price": {"input": 1, "output": 4}}
        for place in range(6)
    ]
    players.append({"name": HOSTILE.replace("\u202e", ""), "model": "house:0.5"})
    made = write_arena(tmp_path_factory.mktemp("api"), players)
    play(made, MATCHES)
    return made


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Site]:
    opened = Site.open(folder)
    for match in (1, 2, 3):
        found = finished(opened.ledger, match)
        assert found is not None
        opened.votes.cast(Vote(match, found.record, ("A", "B"), "A", "v"), at_ms=1)
    yield opened
    opened.close()


def get(site: Site, path: str, *query: tuple[str, str], status: int = 200) -> Any:
    found = answer(site, f"api/{path}", query)
    assert found.status == status, found.body
    return json.loads(found.body)


def refused(site: Site, path: str, *query: tuple[str, str], status: int = 400) -> str:
    found = get(site, path, *query, status=status)
    assert found.keys() == {"error"}
    return str(found["error"])


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_every_endpoint_gives_what_it_declares(site: Site, endpoint: Any) -> None:
    issued, done = site.ledger.heads()
    assert issued > done
    number = str(issued) if endpoint.path.startswith("live/") else "3"
    path = endpoint.path.replace("{number}", number).replace("{name}", "p2")
    found = answer(site, f"api/{path}", ())
    assert found.status == 200
    msgspec.json.decode(found.body, type=endpoint.gives)


def test_the_leaderboard_is_the_tables(site: Site) -> None:
    for track in site.tracks:
        rows = get(site, "leaderboard", ("track", track))["rows"]
        assert rows == [row.as_dict() for row in board(site, track).rows]
    one = get(site, "leaderboard", ("topic", "bees"))
    assert one["topic"] == "bees"
    assert sum(row["matches"] for row in one["rows"]) == 2 * one["topics"]["bees"]


def test_a_player_by_any_name(site: Site) -> None:
    listed = get(site, "players")
    assert [row["player"] for row in listed] == [row.player for row in site.board().rows]
    for row in listed:
        found = get(site, f"players/{quote(row['player'], safe='')}")
        assert found["player"] == row
        assert found["standings"].keys() == set(site.tracks)
        assert sum(one["matches"] for one in found["opponents"]) == row["standing"]["matches"]
        assert sum(one["wins"] for one in found["opponents"]) == row["standing"]["wins"]
        assert [one["other"] for one in found["opponents"]] == sorted(
            site.tally.players[row["player"]].against
        )
    assert "key_env" not in json.dumps(listed)
    assert "no player called" in refused(site, "players/nobody", status=404)


def test_opponents_of_a_game_of_many_seats(tmp_path: Path) -> None:
    with closing(Site.open(sealed_arena(tmp_path, matches=2, players=4, seats=4))) as opened:
        assert [len(row.players) for row in opened.summaries] == [4, 4]
        for row in get(opened, "players"):
            found = get(opened, f"players/{row['player']}")["opponents"]
            met = [one for one in opened.summaries if one.status == "done" and row["player"] in one.players]
            assert len(found) == 3
            assert {one["matches"] for one in found} == {len(met)}
            assert all(one["matches"] == one["wins"] + one["draws"] + one["losses"] for one in found)


def test_matches_newest_first_and_paged_without_gap(site: Site) -> None:
    numbers: list[int] = []
    before = 0
    while page := get(site, "matches", ("before", str(before)), ("limit", "5")):
        numbers += [row["number"] for row in page]
        before = numbers[-1]
        if before == 1:
            break
    assert len(numbers) >= MATCHES
    assert numbers == list(range(site.number, 0, -1))
    assert get(site, "matches", ("before", "1")) == []


@pytest.mark.parametrize("key", ["player", "game", "topic", "status"])
def test_matches_filtered(site: Site, key: str) -> None:
    everything = get(site, "matches", ("limit", "200"))
    value = everything[3]["players"][0] if key == "player" else everything[3][key]
    found = get(site, "matches", (key, value))
    assert found == [
        row for row in everything if value in (row["players"] if key == "player" else [row[key]])
    ]
    assert get(site, "matches", (key, "none such")) == []


def test_a_match_is_its_transcript(site: Site) -> None:
    assert get(site, "matches/4") == match_view(site.ledger, 4).as_dict()
    assert "no settled match 999" in refused(site, "matches/999", status=404)
    issued = site.ledger.heads()[0]
    assert f"see /api/live/{issued}" in refused(site, f"matches/{issued}", status=404)
    assert "see /api/matches/4" in refused(site, "live/4", status=404)
    assert "no match 999" in refused(site, "live/999", status=404)


def test_challenges_are_what_was_asked(site: Site) -> None:
    newest = get(site, "challenges", ("limit", "5"))
    assert len(newest) == 5
    for row in newest:
        match = match_view(site.ledger, row["match"])
        assert row["texts"] == tasks(match.blocks)
        assert set(row["scores"]) <= {seat.player for seat in match.seats}
    assert [row["match"] for row in get(site, "challenges", ("before", "4"))] == [3, 2, 1]


def test_the_pool_is_that_of_the_command(sealed: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sealed, tmp_path / "arena"))
    with closing(Site.open(folder)) as opened:
        retired = opened.pool[0].challenge_id
        retire(opened.ledger, retired, "published", 1)
    listed = CliRunner().invoke(app, ["challenges", "list", "--dir", str(folder), "--format", "json"])
    with closing(Site.open(folder)) as opened:
        found: list[Any] = []
        after = ""
        while page := get(opened, "pool", ("after", after), ("limit", "3")):
            found += page
            after = found[-1]["challenge_id"]
        assert "no challenge" in refused(opened, "pool", ("after", "x"), status=404)
    assert len(found) > 3
    assert found == json.loads(listed.stdout)
    assert [row["challenge_id"] for row in found if row["reference_answer"] is not None] == [retired]


def test_an_arena_of_duels_has_an_empty_pool(site: Site) -> None:
    assert get(site, "pool") == []


def test_votes(site: Site) -> None:
    found = get(site, "votes")
    assert (found["votes"], found["voters"], found["matches"]) == (3, 1, 3)


@pytest.mark.parametrize(
    ("path", "query", "says"),
    [
        ("matches", [("limit", "0")], "limit: Expected `int` >= 1"),
        ("matches", [("limit", "201")], "limit: Expected `int` <= 200"),
        ("matches", [("limit", "many")], "limit: Expected `int`"),
        ("matches", [("before", "-1")], "before: "),
        ("matches", [("before", str(2**80))], "before: "),
        ("matches", [("limi", "5")], "limi: no such parameter; known: before, limit"),
        ("matches", [("limit", "5"), ("limit", "6")], "limit: given twice"),
        ("arena", [("x", "")], "x: no such parameter"),
        ("matches/x", [], "number: Expected `int`"),
        ("matches/0", [], "number: Expected `int` >= 1"),
        ("matches/1", [("number", "2")], "number: given twice"),
    ],
)
def test_what_it_does_not_know_it_refuses(
    site: Site, path: str, query: list[tuple[str, str]], says: str
) -> None:
    assert refused(site, path, *query).startswith(says)


def test_a_table_that_there_is_not(site: Site) -> None:
    said = refused(site, "leaderboard", ("track", "bd"), status=404)
    assert said.startswith("track: there is none called 'bd'; there are strength")
    said = refused(site, "leaderboard", ("topic", "whales"), status=404)
    assert said.startswith("topic: no finished match has 'whales'")


@pytest.mark.parametrize("path", ["", "x", "players/", "matches/", "leaderboard/bt", "arena.json"])
def test_nothing_there(site: Site, path: str) -> None:
    assert "openapi.json" in refused(site, path, status=404)


def test_the_document_names_every_endpoint_and_parameter() -> None:
    document = openapi(voting=True)
    assert document["openapi"] == "3.1.0"
    for endpoint in ENDPOINTS:
        operation = document["paths"][f"/api/{endpoint.path}"]["get"]
        assert {one["name"] for one in operation["parameters"]} == set(endpoint.parameters.__struct_fields__)
        assert all(one["description"] for one in operation["parameters"])
    assert "post" in document["paths"]["/api/votes"]
    assert "/api/ballot" not in openapi(voting=False)["paths"]
    text = json.dumps(document)
    for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert reference in document["components"]["schemas"]


def test_what_is_sealed_stays_sealed(tmp_path: Path) -> None:
    command = ["demo", "--game", "challenge-exchange", "--matches", "3", "--dir", str(tmp_path)]
    assert CliRunner().invoke(app, command).exit_code == 0
    opened = Site.open(tmp_path)
    bodies = [row.body for rows in (opened.ledger.fixtures(), opened.ledger.records()) for row in rows]
    bodies += [body for row in opened.ledger.exchanges(1) for body in (row.request, row.reply or b"")]
    salts = {salt for body in bodies for salt in re.findall(rb'"~salt":"([0-9a-f]{32})"', body)}
    assert len(salts) > 20
    for path in ("arena", "players", "matches", "challenges", "pool", "matches/1", "matches/2", "matches/3"):
        found = answer(opened, f"api/{path}", ())
        assert found.status == 200
        assert not [salt for salt in salts if salt in found.body]
    assert b"(sealed)" in answer(opened, "api/matches/1", ()).body
    opened.close()
