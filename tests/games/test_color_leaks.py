import json
from pathlib import Path
from random import Random

import pytest

from peerage.games.color_obfuscation.leaks import leaks

DATA = json.loads((Path(__file__).parents[1] / "data/cob/data.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("the colour is 68b288.", "the colour"),
        ("6-8 B;2 8 8", "the colour"),
        ("0x68, 0xB2, 0x88", "the colour"),
        ("６８Ｂ２８８", "the colour"),
        ("882B86", "reversed"),
        ("88 B2 68", "bytes reversed"),
        ("862B88", "digits swapped in pairs"),
        ("68O288", "rot13"),
        ("13O733", "rot18"),
        ("egqagg", "rot47"),
        ("36 38 42 32 38 38", "hexadecimal of its characters"),
        ("01101000 10110010 10001000", "binary"),
        ("NjhCMjg4", "base64"),
        ("IzY4QjI4OA==", "base64"),
        ("aLKI", "base64"),
        ("rgb(104, 178, 136)", "decimal bytes"),
        ("136;178;104", "decimal bytes"),
        ("104178136", "decimal bytes"),
        ("6861448", "decimal"),
        ("6 8 11 2 8 8", "decimal digits"),
        ("54,56,66,50,56,56", "character codes"),
        ("six eight Bravo two, eight and eight", "spelled out"),
        ("eight eight two bee eight six", "spelled out"),
    ],
)
def test_a_plain_transliteration_is_a_leak(text: str, form: str) -> None:
    assert form in leaks("68B288", text)


@pytest.mark.parametrize(
    "text", ["", "=?I9??", "401:871:631", "68B28", "68 nothing B288", "a shade of green"]
)
def test_what_takes_a_key_or_more_is_none(text: str) -> None:
    assert leaks("68B288", text) == ()


def test_in_the_recorded_battles() -> None:
    """Three of the twenty rounds, and what stands in them was confirmed by reading."""
    found = {}
    for place, battle in enumerate(DATA):
        for one in battle["rounds"]:
            texts = [one["obfuscated_text"], *one["instructions_list"].splitlines()]
            forms = [form for text in texts for form in leaks(battle["plaintext_color"], text)]
            if forms:
                found[place, one["round_number"]] = forms
    assert found == {
        (4, 2): ["the colour"],
        (5, 2): ["reversed", "decimal bytes", "the colour"],
        (9, 1): ["bytes reversed"],
    }


def test_other_colours_are_not_found_in_the_recorded_texts() -> None:
    random = Random(1)
    rounds = [one for battle in DATA for one in battle["rounds"]]
    for _ in range(300):
        one = random.choice(rounds)
        text = f"{one['obfuscated_text']} {one['instructions_list']}"
        assert not leaks(f"{random.randrange(16**6):06X}", text)
