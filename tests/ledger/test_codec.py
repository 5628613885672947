"""The stored form of a request: what it refers to, what stands in it, what it leaves out."""

from __future__ import annotations

import re
from random import Random
from typing import Annotated, Any

import msgspec
import pytest
from tests import offline

from peerage.formats import (
    Choice,
    Code,
    Format,
    FormatError,
    Integer,
    Json,
    Scores,
    WithTool,
    recorded,
    stored,
)
from peerage.games.duel import GAME as DUEL
from peerage.ledger.codec import MissingText, by_hex, fixture_body, read_fixture, text_digest
from peerage.ledger.codec_requests import INLINE_CHARS, asks_the_same, read_request, request_body
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


def earlier(body: bytes, texts: list[tuple[bytes, str]]) -> tuple[bytes, list[tuple[bytes, str]]]:
    """A stored request as versions wrote it that stored no instruction and no schema with a format."""
    form = msgspec.json.decode(texts[0][1])
    del form["expects"]["instruction"], form["expects"]["schema"]
    text = msgspec.json.encode(form).decode()
    digest = text_digest(text)
    return body.replace(texts[0][0].hex().encode(), digest.hex().encode()), [(digest, text), *texts[1:]]


FORMATS: list[Format] = [
    Text(), Choice("verdict", ("A", "B")), Scores(3), Integer(), Code(), WithTool(Choice("c", ("A",))),
]  # fmt: skip


@pytest.mark.parametrize("secret", ["", "secret"])
@pytest.mark.parametrize("expects", FORMATS, ids=repr)
def test_a_request_of_an_earlier_version_is_the_same_request(expects: Format, secret: str) -> None:
    ask = msgspec.structs.replace(request({"a": "short", "b": "x" * 999}), expects=expects)
    body, texts = earlier(*request_body(ask, secret))
    stored = by_hex(dict(texts))
    assert asks_the_same(body, ask, secret, stored)
    assert asks_the_same(request_body(ask, secret)[0], ask, secret, stored)
    assert read_request("k", body, stored, {}.__getitem__) == ask
    changed: dict[str, Any]
    for changed in (
        {"max_tokens": 11},
        {"temperature": 0.5},
        {"role": "judge"},
        {"to": "B"},
        {"messages": (Message("user", "{a}", {"a": "short"}),)},
        {"messages": (Message("user", "{a} {b}", {"a": "other", "b": "x" * 999}),)},
    ):
        assert not asks_the_same(body, msgspec.structs.replace(ask, **changed), secret, stored)


def test_another_format_is_another_request() -> None:
    ask = request({"a": "short"})
    body, texts = request_body(ask)
    other = msgspec.structs.replace(ask, expects=Text(5))
    assert not asks_the_same(body, other, "", by_hex(dict(texts)))


class Bid(msgspec.Struct, frozen=True):
    amount: Annotated[int, msgspec.Meta(ge=0, le=9)]


class Shouted(msgspec.Struct, frozen=True):
    """A format that only its package knows."""

    def instruction(self) -> str:
        return "Shout a word."

    def schema(self) -> None:
        return None

    def parse(self, text: str) -> str:
        if not text.isupper():
            raise FormatError("nobody shouted")
        return text.lower()

    def write(self, value: str) -> str:
        return value.upper()

    def sample(self, rng: Random) -> str:
        return "hey"


def read_back(expects: Format) -> Format:
    body, texts = request_body(msgspec.structs.replace(request({"a": "x"}), expects=expects))
    ask = read_request("k", body, by_hex(dict(texts)), {}.__getitem__)
    assert isinstance(ask, Ask)
    return ask.expects


@pytest.mark.parametrize("expects", [Json(Bid), Shouted(), WithTool(Json(Bid)), WithTool(Shouted())])
def test_a_request_of_any_format_is_stored_with_what_its_player_was_told_and_held_to(expects: Format) -> None:
    body, texts = request_body(msgspec.structs.replace(request({"a": "x"}), expects=expects))
    form = msgspec.json.decode(texts[0][1])
    assert form["expects"]["instruction"] == expects.instruction()
    assert form["expects"]["schema"] == expects.schema()
    assert not re.search("Bid|Shout(?!  ?a word)|test_codec", texts[0][1]), "no name of a class is stored"
    known = read_back(expects)
    assert (known.instruction(), known.schema()) == (expects.instruction(), expects.schema())
    again, _ = request_body(msgspec.structs.replace(request({"a": "x"}), expects=known))
    assert again == body


def test_replies_are_read_without_the_format_by_their_schema_or_as_texts() -> None:
    assert read_back(Json(Bid)).parse('{"amount": 7.0}') == {"amount": 7}
    assert read_back(Json(Bid)).parse('{"amount": 7}').amount == 7
    with pytest.raises(FormatError, match='"amount" is 11; a whole number from 0 to 9'):
        read_back(Json(Bid)).parse('{"amount": 11}')
    assert read_back(Shouted()).parse("whispered") == "whispered"
    assert read_back(WithTool(Json(Bid))).parse('{"amount": 7}').answer == {"amount": 7}


@pytest.mark.parametrize(
    "found",
    [{}, {"type": "sonnet"}, {"type": ["text"]}, {"type": "choice"}, {"type": "text", "max_chars": "many"},
     {"type": "json"}, {"type": "json", "schema": 3}, {"type": "with-tool", "answer": 3},
     {"type": "json", "schema": {"properties": 3, "anyOf": None, "type": "object"}}],
)  # fmt: skip
def test_what_no_version_wrote_as_a_format_is_read_as_a_text(found: dict[str, Any]) -> None:
    kind = recorded(found)
    assert kind.parse('{"a": 1}') == '{"a": 1}'
    assert kind.instruction() == ""
    assert stored(kind) == found


@pytest.mark.parametrize("named", ["task", "proposal"])
def test_replies_of_earlier_types_that_are_structs_now_are_read_as_the_objects_they_state(named: str) -> None:
    kind = recorded({"type": named, "max_chars": 2_000})
    assert kind.parse('Here:\n```json\n{"description": "Add.", "tests": []}\n```').description == "Add."
    with pytest.raises(FormatError):
        kind.parse("I cannot think of one.")
