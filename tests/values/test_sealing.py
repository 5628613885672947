"""Sealed values: digests do not change when they are redacted, and no text can pass for one."""

from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.game.protocol import Ask, Message, Quote, Reply, Run, Text
from peerage.ledger import Exchange
from peerage.ledger.forms.codec import read_reply, read_said, reply_body, reply_salt
from peerage.ledger.forms.codec_requests import read_request, request_body
from peerage.ledger.forms.merkle import digest, leaf, link
from peerage.values.sealing import REDACTED, Sealed, committed, match_key, salt, seal, sealing_key, unseal

SALT = salt("secret", "name")
JSON = st.recursive(
    st.none() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(JSON, st.text(), st.text())
def test_redacting_changes_no_digest_and_is_done_once(value: object, before: str, after: str) -> None:
    body = msgspec.json.encode(
        {"before": before, "sealed": seal(SALT, value), "after": [after, {"x": after}]}
    )
    redacted = committed(body)
    assert redacted != body
    assert SALT.encode() not in redacted
    assert committed(redacted) == redacted
    assert digest(body) == digest(redacted)
    assert link(bytes(32), body) == link(bytes(32), redacted)
    assert leaf("k", "p", body, body) == leaf("k", "p", redacted, redacted)
    found = msgspec.json.decode(redacted)
    assert (found["before"], found["after"][0]) == (before, after)
    assert committed(body, {SALT}) == body
    assert unseal(msgspec.json.decode(body)["sealed"]) == value
    with pytest.raises(Sealed):
        unseal(found["sealed"])


@given(st.text())
def test_what_a_player_wrote_is_never_taken_for_a_seal(text: str) -> None:
    """However it looks: in stored bytes the quotes of a text are escaped."""
    hostile = '{"~salt":"' + "0" * 32 + f'","value":"{text}"' + "}"
    body = msgspec.json.encode({"text": hostile, "list": [hostile]})
    assert committed(body) == body


def test_another_value_or_salt_is_another_commitment() -> None:
    bodies = [msgspec.json.encode(seal(salt("s", name), value)) for name in "ab" for value in (1, 2)]
    assert len({committed(body) for body in bodies}) == 4


def test_a_sealed_reply_reads_back_and_redacted_it_says_so() -> None:
    reply = Reply("ok", 'He said "42"\n\\ {"~salt":"x"}', input_tokens=3, cost_nano=5)
    body = reply_body(reply, salt=reply_salt("secret", "key"))
    row = Exchange(1, "key", 1, "ada", b"", body, None, None)
    assert read_reply(row).text == reply.text
    redacted = read_reply(msgspec.structs.replace(row, reply=committed(body)))
    assert (redacted.text, redacted.status, redacted.input_tokens, redacted.cost_nano) == (
        REDACTED,
        "ok",
        3,
        5,
    )
    assert read_said(committed(body)).withheld
    assert not read_said(body).withheld
    assert reply_salt("", "key") == ""


def test_a_sealed_request_reads_back_and_nothing_of_it_is_a_text_of_its_own() -> None:
    long = "a secret " * 100
    fill = {"plain": long, "quoted": Quote("output", long), "earlier": Quote("", "said before", "earlier")}
    message = Message("user", "{plain} {quoted} {earlier}", fill)
    ask = Ask("A", "key", "contestant", (message,), Text(), 10)
    body, texts = request_body(ask, "secret")
    stored = {found.hex(): text for found, text in texts}
    assert not any("a secret" in text for text in stored.values())
    assert read_request("key", body, stored.__getitem__, lambda key: "said before and after") == ask
    redacted = read_request("key", committed(body), stored.__getitem__, lambda key: "")
    assert isinstance(redacted, Ask)
    assert redacted.messages[0].fill == dict.fromkeys(fill, REDACTED)


def test_a_sealed_program_too() -> None:
    run = Run("key", "print(42)", "some input")
    body, texts = request_body(run, "secret")
    assert texts == []
    assert read_request("key", body, {}.__getitem__, {}.__getitem__) == run
    redacted = read_request("key", committed(body), {}.__getitem__, {}.__getitem__)
    assert isinstance(redacted, Run)
    assert (redacted.source, redacted.stdin) == (REDACTED, REDACTED)
    assert b"42" not in committed(body)[:20]


def test_keys_and_salts_are_those_of_every_ledger_there_is() -> None:
    """They are what opens the sealed values of ledgers already written."""
    assert match_key("secret", 7) == "777a71997a1a4284799bf6973ef273e71fe42f8da1c94dc7cf49af98f9ead62b"
    assert sealing_key("secret") == "35b247d79ba8d171af65ea6d01c1268df678d7d5bd357ee129c3f3d4778b1086"
    assert salt("secret", "name") == "c597338bb7f5627a87b45f9df813ae79"
    assert reply_salt("s", "k") == salt("s", "reply/k")


def test_a_commitment_is_the_digest_of_the_sealed_bytes() -> None:
    body = b'[{"~salt":"00000000000000000000000000000000","value":"1"},2]'
    sealed = sha256(body[1:-3]).hexdigest()
    assert committed(body) == b'[{"sealed":"%b"},2]' % sealed.encode()
    two = b"[%b,%b]" % (msgspec.json.encode(seal("a" * 32, 1)), msgspec.json.encode(seal("b" * 32, 2)))
    assert committed(two, {"a" * 32}).count(b"value") == 1
    assert committed(two, {"a" * 32}).startswith(b'[{"~salt":"' + b"a" * 32)
    with pytest.raises(Sealed, match=r"^this part of the ledger is sealed; the arena's owner can open it$"):
        unseal({"sealed": "x"})
