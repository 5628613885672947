"""Marks of pictures and sounds in texts."""

from __future__ import annotations

import wave
from base64 import b64encode
from hashlib import sha256
from io import BytesIO
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.game.media import Media, digests_in, measured, media_in, parts, with_marks, worded
from peerage.values.texts import storable, visible

CAT = Media("ab" * 32, "image/png", 12_345, 640, 480)
BEEP = Media("cd" * 32, "audio/wav", 999, seconds=1.25)


def test_a_text_is_divided_at_its_marks() -> None:
    text = f"What is this? {CAT.mark}{BEEP.mark} Say it."
    assert list(parts(text)) == ["What is this? ", CAT, BEEP, " Say it."]
    assert media_in([text, CAT.mark]) == {CAT.sha256: CAT, BEEP.sha256: BEEP}
    assert list(parts("none")) == ["none"]
    assert list(parts("")) == []


def test_words_stand_where_a_picture_cannot() -> None:
    assert worded(f"See {CAT.mark}!") == "See [picture abababab, PNG, 640×480, 12 KB]!"
    assert worded(BEEP.mark) == "[sound cdcdcdcd, WAV, 1.25 s, 1 KB]"


@given(st.text())
def test_no_text_from_outside_holds_a_mark(text: str) -> None:
    for forged in (text, CAT.mark, f"{text}{CAT.mark}{text}"):
        assert media_in([storable(forged)]) == {}


def test_what_makes_texts_visible_leaves_marks() -> None:
    assert list(parts(visible(f"a\u200b{CAT.mark}"))) == ["a\ufffd", CAT]


def png(width: int, height: int, more: bytes = b"") -> bytes:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    return head + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0" + more


def jpeg(width: int, height: int, kind: int = 0xC0) -> bytes:
    frame = bytes([0xFF, kind, 0, 11, 8]) + height.to_bytes(2) + width.to_bytes(2) + b"\1\1\x11\0"
    return b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(10) + frame + b"\xff\xd9"


def wav(seconds: float) -> bytes:
    out = BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(800)
        sound.writeframes(bytes(round(800 * seconds)))
    return out.getvalue()


def url(kind: str, body: bytes) -> str:
    return f"data:{kind};base64,{b64encode(body).decode()}"


def test_a_header_says_how_large_it_is() -> None:
    made = [
        measured(png(3, 70_000)),
        measured(jpeg(640, 480)),
        measured(wav(1.25)),
    ]
    assert [(one.width, one.height, one.seconds) for one in made] == [
        (3, 70_000, 0),
        (640, 480, 0),
        (0, 0, 1.25),
    ]
    assert [one.size for one in made] == [33 - 4, len(jpeg(1, 1)), 44 + 1_000]


@pytest.mark.parametrize("hidden", [b"\0\xc0\0\x11\x08\0\1\0\1", b"\xff\xd0\0\2", b"\xff\xff\xe0\0\x10"])
def test_no_size_is_read_where_a_decoder_reads_none(hidden: bytes) -> None:
    with pytest.raises(ValueError, match="no PNG"):
        measured(b"\xff\xd8\xff\xe0\0\2" + hidden + jpeg(1, 1)[2:])


def test_a_sound_without_a_rate_is_none() -> None:
    body = wav(0.1)
    with pytest.raises(ValueError, match="no PNG"):
        measured(body[:24] + bytes(8) + body[32:])


KINDS = ["image/png", "image/jpeg", "audio/wav"]


@given(st.sampled_from(KINDS), st.binary(max_size=40), st.integers(0, 40))
def test_what_is_none_of_them_stays_a_text(kind: Any, more: bytes, cut: int) -> None:
    for body in (
        more,
        b"\xff\xd8\xff" + more,
        png(0, 1),
        jpeg(2, 2, 0xC4),
        png(2, 2)[:cut][:20],
        wav(0),
        wav(0.1)[:cut] + more + bytes(60),
    ):
        drawn = {"shown": [url(kind, body), "data:image/svg+xml;base64,PHN2Zz4=", url(kind, png(1, 1)) + "!"]}
        try:
            measured(body)
        except ValueError:
            assert with_marks(drawn) == (drawn, {})


PICTURES = st.builds(png, st.integers(1, 2**31), st.integers(1, 2**31), st.binary())
PLAIN = (
    st.none() | st.booleans() | st.integers() | st.text() | PICTURES.map(lambda body: url("image/png", body))
)
DRAWN = st.recursive(PLAIN, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=12)


@given(DRAWN)
def test_data_urls_become_marks_and_nothing_else_changes(drawn: Any) -> None:
    made, media = with_marks(drawn)
    assert all(sha256(body).hexdigest() == digest for digest, body in media.items())
    assert {*digests_in(msgspec.json.encode(made))} == media.keys()
    assert with_marks(made) == (made, {})
    assert (made is drawn) == (not media)

    def back(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: back(part) for name, part in value.items()}
        if isinstance(value, list):
            return [back(part) for part in value]
        shown = media_in([value]) if isinstance(value, str) else {}
        return next((url(one.type, media[digest]) for digest, one in shown.items()), value)

    assert back(made) == drawn


@pytest.mark.parametrize("sealed", [False, True])
def test_marks_are_found_in_stored_bytes(sealed: bool) -> None:
    said = msgspec.json.encode([f"{CAT.mark} and {BEEP.mark}"])
    body = msgspec.json.encode({"~salt": "0", "value": said.decode()}) if sealed else said
    assert digests_in(body) == [CAT.sha256, BEEP.sha256]
    assert digests_in(body.replace(CAT.sha256.encode(), b"AB" * 32)) == [BEEP.sha256]
