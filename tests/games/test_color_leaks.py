import json
from pathlib import Path
from random import Random

import pytest

from peerage.games.color_obfuscation.house import hide
from peerage.games.color_obfuscation.leaks import _signs, leaks

DATA = json.loads((Path(__file__).parents[1] / "data/cob/data.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("the color is 68b288.", "the color"),
        ("6-8 B;2 8 8", "the color"),
        ("0x68, 0xB2, 0x88", "the color"),
        ("６８Ｂ２８８", "the color"),
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
        ("68\N{CYRILLIC CAPITAL LETTER VE}288", "the color"),
        ("6-8-\N{GREEK CAPITAL LETTER BETA}-2-8-8", "the color"),
        ("\u0666\u0668B\u0662\u0668\u0668", "the color"),
        ("6z8zBz2z8z8", "separated"),
        ("6 / 0 / 8 / 0 / B / 0 / 2 / 0 / 8 / 0 / 8", "separated"),
        ("first 68, then B2, then 88", "separated"),
        ("88 nothing B2 nothing 68", "separated"),
        ("Digit 1 is 6. Digit 2 is 8. Digit 3 is B. Digit 4 is 2. Digit 5 is 8. Digit 6 is 8.", "separated"),
        ("red 0x68, green 0xB2, blue 0x88", "separated"),
        ("-.... ---.. -... ..--- ---.. ---..", "Morse"),
        (
            "\u2212\u00b7\u00b7\u00b7\u00b7 \u2013\u2013\u2013\u00b7\u00b7 / -... / ..___ / ---.. ---..",
            "Morse",
        ),
        ("150 262 210", "octal bytes"),
        ("150262210", "octal bytes"),
        ("0o32131210", "octal"),
        ("0o150, 0o262, 0o210", "octal bytes"),
        (r"\x36\x38\x42\x32\x38\x38", "hexadecimal of its characters"),
        (r"\u0036\u0038\u0042\u0032\u0038\u0038", "hexadecimal of its characters"),
        ("Red channel: 68. Green channel: B2. Blue channel: 88.", "separated"),
        (
            "The first digit is 6, the second is 8, the third is B, the fourth 2, the fifth 8, then 8",
            "spelled out",
        ),
        ("H=146\N{DEGREE SIGN} S=42% V=70%", "hue, saturation, lightness"),
        ("\u516d\u516b\u5341\u4e00\u4e8c\u516b\u516b", "spelled out"),
        (
            "\u308d\u304f \u306f\u3061 \u3058\u3085\u3046\u3044\u3061 \u306b \u306f\u3061 \u306f\u3061",
            "spelled out",
        ),
        ("\uc721 \ud314 \uc2ed\uc77c \uc774 \ud314 \ud314", "spelled out"),
        (
            "\u0633\u062a\u0629 \u062b\u0645\u0627\u0646\u064a\u0629 \u0623\u062d\u062f "
            "\u0639\u0634\u0631 \u0627\u062b\u0646\u0627\u0646 "
            "\u062b\u0645\u0627\u0646\u064a\u0629 \u062b\u0645\u0627\u0646\u064a\u0629",
            "spelled out",
        ),
        ("066 070 102 062 070 070", "octal character codes"),
        ("NCZIQ===", "base32"),
        ("GY4EEMRYHA", "base32"),
        ("gy4eemryha======", "base32"),
        ("hsl(146, 32%, 55%)", "hue, saturation, lightness"),
        ("Hue 146, saturation 0.42, value 0.70", "hue, saturation, lightness"),
        ("sechs, acht, elf, zwei, acht, acht", "spelled out"),
        ("six huit b\u00e9 deux huit huit", "spelled out"),
        ("seis ocho B dos ocho ocho", "spelled out"),
        ("sei otto undici due otto otto", "spelled out"),
        ("seis oito onze dois oito oito", "spelled out"),
        ("zes acht B twee acht acht", "spelled out"),
        ("roku hachi juichi ni hachi hachi", "spelled out"),
        ("\u516d\u516bB\u4e8c\u516b\u516b", "spelled out"),
        ("\uc721\ud314B\uc774\ud314\ud314", "spelled out"),
        (
            "\u0448\u0435\u0441\u0442\u044c \u0432\u043e\u0441\u0435\u043c\u044c B \u0434\u0432\u0430 "
            "\u0432\u043e\u0441\u0435\u043c\u044c \u0432\u043e\u0441\u0435\u043c\u044c",
            "spelled out",
        ),
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
        (4, 2): ["the color"],
        (5, 2): ["reversed", "decimal bytes", "the color"],
        (9, 1): ["bytes reversed"],
    }


def test_other_colors_are_not_found_in_honest_texts() -> None:
    """The recorded texts, encodings of house players, and number words of every language among numbers."""
    random = Random(1)
    texts = [f"{one['obfuscated_text']} {one['instructions_list']}" for b in DATA for one in b["rounds"]]
    for number in range(60):
        made, _ = hide(f"{random.randrange(16**6):06X}", number / 60, random)
        texts.append(" ".join([made.text, *made.instructions]))
    for words in _signs().words:
        told = random.choices(list(words), k=120)
        texts.append(
            " ".join([one if at % 4 else f"{random.randrange(256)}%" for at, one in enumerate(told)])
        )
    for text in texts:
        for _ in range(30):
            assert not leaks(f"{random.randrange(16**6):06X}", text)
