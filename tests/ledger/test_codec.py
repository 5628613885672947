"""The stored form of a request: what it refers to, what stands in it, what it leaves out."""

from __future__ import annotations

import msgspec
import pytest
from tests import offline

from peerage.games.duel import GAME as DUEL
from peerage.ledger.codec import INLINE_CHARS, MissingText, by_hex, fixture_body, read_fixture, request_body
from peerage.match import Fixture
from peerage.protocol import Ask, Message, Quote, Text


def request(fill: dict[str, str | Quote], temperature: float | None = None) -> Ask:
    template = " ".join(f"{{{place}}}" for place in fill)
    return Ask("A", "k", "contestant", (Message("user", template, fill),), Text(), 10, temperature)


def test_what_a_player_wrote_is_a_reference_and_long_texts_stand_apart() -> None:
    long = "x" * (INLINE_CHARS + 1)
    body, texts = request_body(
        request({"a": Quote("q", long, "answer/A"), "b": long, "c": Quote("", long), "d": "short"})
    )
    assert long not in body.decode()
    assert [text for _, text in texts[1:]] == [long, long]
    assert msgspec.json.decode(body)["fill"][0]["a"] == {
        "label": "q",
        "reply": "answer/A",
        "chars": len(long),
    }


def test_requests_of_one_form_share_its_text() -> None:
    bodies = [request_body(request({"a": name})) for name in ("ada", "bob")]
    assert bodies[0][1] == bodies[1][1]
    assert bodies[0][0] != bodies[1][0]


def test_equal_numbers_of_different_types_keep_their_own_bytes_whatever_was_stored_before() -> None:
    first = request_body(request({"whole": "x"}, 1.0))
    second = request_body(request({"whole": "x"}, 1))
    assert '"temperature":1.0' in first[1][0][1]
    assert '"temperature":1,' in second[1][0][1]


def test_settings_that_all_fixtures_share_are_written_out_once() -> None:
    """An arena's own prompts stand in them: written anew for each match, 50 MB would take a second each."""
    made = offline.fixture(DUEL, ["ada", "bob", "cyd", "dan"], {"topics": ["tides"]})
    changed = msgspec.structs.replace(made, number=2, settings={**made.settings, "judges": 3})
    bodies = [fixture_body(fixture) for fixture in (made, msgspec.structs.replace(made, number=2), changed)]
    assert bodies[0][1][0] is bodies[1][1][0]
    assert bodies[1][1] != bodies[2][1]
    for (body, texts), fixture in zip(bodies, (made, made, changed), strict=True):
        assert read_fixture(body, by_hex(dict(texts))).settings == fixture.settings


def test_settings_that_are_not_those_a_fixture_names_are_not_taken() -> None:
    fixture = Fixture(1, 1, "duel", 1, "5", (), {}, {"max_drafts": 2})
    body, [(digest, text)] = fixture_body(fixture)
    assert read_fixture(body, by_hex({digest: text})) == fixture
    changed = by_hex({digest: text.replace("drafts", "dbafts")})
    with pytest.raises(MissingText, match=rf"{digest.hex()}, to which a fixture refers, was changed"):
        read_fixture(body, changed)
