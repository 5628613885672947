"""JSON that models and servers write: nothing but whole characters comes out of it."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from peerage.formats import Choice, read_json
from peerage.values.texts import storable

TEXTS = st.text(st.characters(codec=None, categories=None), max_size=20)


@given(
    st.recursive(TEXTS | st.integers(-9, 9), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner))
)
@example("\ud83d")
@example("\ude00\ud83d")
@example("\\ud83d")
@example({"\ud83d": ["\U0001f600\ud83d"]})
def test_every_text_comes_back_as_it_can_be_stored(value: object) -> None:
    written = json.dumps(value)
    found = read_json(written)
    assert found == read_json(written.encode())
    assert json.dumps(found) == json.dumps(_whole(json.loads(written)))
    json.dumps(found, ensure_ascii=False).encode()


def _whole(value: object) -> object:
    if isinstance(value, str):
        return "".join(one if not 0xD800 <= ord(one) <= 0xDFFF else "\ufffd" for one in value)
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("text", ["{", '{"a": \\ud83d}', '{"a": 1e999}', '{"a": NaN}', '"\\ud83d', "\ud83d"])
def test_what_is_no_json_stays_none(text: str) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_json(text)


def test_bytes_that_are_no_text_become_replacements() -> None:
    assert read_json(b'{"a": "\xff\xfe"}') == {"a": "\ufffd\ufffd"}
    assert storable("a\0\ud83d") == "a\ufffd\ufffd"


def test_a_verdict_is_read_whatever_its_reason_holds() -> None:
    kind = Choice("verdict", ("A", "B", "tie"))
    assert kind.parse('{"reason": "cut \\ud83d", "verdict": "B"}').choice == "B"
