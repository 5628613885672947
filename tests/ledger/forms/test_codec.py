"""The stored form of a request: what it refers to, what stands in it, what it leaves out."""

from __future__ import annotations

import re
from hashlib import sha256
from random import Random
from typing import Annotated, Any

import msgspec
import pytest
from tests import offline

from peerage.formats import (
    Format,
    FormatError,
    Json,
    WithTool,
    recorded,
    stored,
)
from peerage.game.match import Fixture
from peerage.game.protocol import Ask, Message, Quote, Reply, Text
from peerage.game.work import AgentStep, Trace
from peerage.games.duel import GAME as DUEL
from peerage.ledger import Exchange
from peerage.ledger.forms.codec import (
    MissingText,
    StoredReply,
    by_hex,
    fixture_body,
    named_model,
    read_fixture,
    read_reply,
    read_said,
    reply_body,
    seed_salt,
    text_digest,
)
from peerage.ledger.forms.codec_requests import INLINE_CHARS, read_request, request_body
from peerage.sandbox.folder import WorkFolder
from peerage.values.sealing import Kept, committed, salt


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
    """They may be large: written anew for each match, 50 MB would take a second each."""
    made = offline.fixture(DUEL, ["ada", "bob", "cyd", "dan"], {"topics": ["tides"]})
    changed = msgspec.structs.replace(made, number=2, settings={**made.settings, "judges": 4})
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


@pytest.mark.parametrize("digest", ["00" * 32, "no digest", ""])
def test_a_text_that_is_not_there_is_named(digest: str) -> None:
    with pytest.raises(MissingText) as missing:
        by_hex({text_digest("there"): "there"})(digest)
    assert missing.value.args == (digest,)
    assert str(missing.value) == (
        f"the text {digest}, to which a record refers, is missing; `peerage verify` says more"
    )
    assert by_hex({text_digest("there"): "there"})(text_digest("there").hex()) == "there"


def test_a_text_s_digest_is_of_its_utf_8() -> None:
    assert text_digest("é") == sha256(b"\xc3\xa9").digest()


def test_the_key_of_a_match_is_sealed_by_itself_and_gone_from_a_redacted_copy() -> None:
    fixture = Fixture(1, 1, "duel", 1, "5", (), {}, {"max_drafts": 2})
    body, texts = fixture_body(fixture)
    data = msgspec.json.decode(body)
    assert data["seed"] == {"~salt": salt("5", "key"), "value": '"5"'}
    assert seed_salt("5") == salt("5", "key")
    assert data["settings"] == texts[0][0].hex() == text_digest('{"max_drafts":2}').hex()
    assert "series" not in data
    redacted = read_fixture(committed(body), by_hex(dict(texts)))
    assert redacted == msgspec.structs.replace(fixture, seed="")


def test_a_fixture_s_settings_are_one_text_whatever_their_order() -> None:
    one, other = ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1})
    made = [Fixture(1, 1, "duel", 1, "5", (), {}, settings) for settings in (one, other)]
    assert fixture_body(made[0]) == fixture_body(made[1])
    with pytest.raises(msgspec.ValidationError, match="number"):
        read_fixture(b"{}", by_hex({}))


def test_a_series_is_stored_where_there_is_one() -> None:
    fixture = Fixture(1, 1, "duel", 1, "5", (), {}, {}, series=3)
    data = msgspec.json.decode(fixture_body(fixture)[0])
    assert data["series"] == 3


WHOLE = Reply("ok", "said", None, "why", 1, 2, 3, 4, {"kwh": 0.5}, {"true": 0.5}, "k", 6, True, 7)


@pytest.mark.parametrize("salted", ["", "0f" * 16])
def test_a_reply_is_stored_whole_and_reads_back(salted: str) -> None:
    body = reply_body(WHOLE, "model-1", "prices 3", True, salted)
    text = Kept(salted, "said") if salted else "said"
    stored = StoredReply(
        "ok", text, "why", 1, 2, 4, {"kwh": 0.5}, "model-1", "prices 3", True, {"true": 0.5}, 6, True, 7
    )
    assert read_said(body) == stored
    assert (stored.withheld, stored.words) == (False, "said")
    row = Exchange(1, "k", 1, "ada", b"", body, None, 4, latency_ms=3)
    assert read_reply(row) == WHOLE
    assert named_model(body) == "model-1"


def test_who_has_hands_and_the_folder_to_work_in_are_stored_where_there_are_any() -> None:
    fixture = Fixture(1, 1, "duel", 1, "5", (), {}, {}, hands=("A", "B"))
    body, texts = fixture_body(fixture)
    assert msgspec.json.decode(body)["hands"] == ["A", "B"]
    assert read_fixture(body, by_hex(dict(texts))) == fixture
    assert b"hands" not in fixture_body(msgspec.structs.replace(fixture, hands=()))[0]
    folder = WorkFolder.of({"a.py": "print(1)\n" * 99})
    for secret in ("", "secret"):
        bare, _ = request_body(request({"a": "x"}), secret)
        body, texts = request_body(msgspec.structs.replace(request({"a": "x"}), folder=folder), secret)
        assert msgspec.json.decode(body) == {**msgspec.json.decode(bare), "folder": folder.digest}
        back = read_request("k", body, by_hex(dict(texts)), {}.__getitem__)
        assert isinstance(back, Ask)
        assert back.folder == WorkFolder(folder.digest)


def test_a_trace_is_sealed_with_the_text_and_disclosed_with_it() -> None:
    said = Reply("ok", "said", trace=Trace((AgentStep("thought", detail="the secret"),)))
    salted = "0f" * 16
    body = reply_body(said, salt=salted)
    assert read_said(body).way == said.trace
    assert b"secret" not in committed(body)
    assert read_said(committed(body)).way is None
    assert committed(body, {salted}) == body


def test_what_is_not_said_takes_no_room() -> None:
    assert reply_body(Reply("void")) == b'{"status":"void"}'
    assert named_model(b'{"status":"void"}') == ""
    redacted = read_said(committed(reply_body(WHOLE, salt="0f" * 16)))
    assert (redacted.withheld, redacted.words) == (True, "(sealed)")
