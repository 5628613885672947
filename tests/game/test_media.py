"""Marks of pictures and sounds in texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from peerage.game.media import Media, media_in, parts, worded
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
