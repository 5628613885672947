"""The kinds of reply of Color Obfuscation, fed with what models write."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.formats import Color, Encoded, Encoding, FormatError, between


@pytest.mark.parametrize(
    "text",
    [
        "FF00AA",
        "ＦＦ００ＡＡ",
        "The color is FF00AA",
        '{"colour": "FF00AA"}',
        "#ff00aa",
        " `#Ff00aA`. ",
        '{"color": "ff00aa"}',
        '{"working": "not \\"color\\": \\"123456\\"", "color": "#FF00AA"}',
        '```json\n{"working": "", "color": "FF00AA"}\n```',
        "I went step by step.\n\n**Color:** #FF00AA\n",
        "First 123456, then more. <color>FF00AA</color>",
        "<think>could be red</think><deobfuscated_color> ff00aa\n</deobfuscated_color>",
        "<color>FF00AA</color> and again <COLOR>#ff00aa</COLOR>",
    ],
)
def test_a_color_is_read(text: str) -> None:
    assert Color().parse(text) == "FF00AA"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "red",
        "hot pink",
        "#F0A",
        "F0A",
        "FF00AA80",
        "#FF00AAFF",
        "FF00A",
        "FF00AG",
        "rgb(255, 0, 170)",
        "0xFF00AA",
        "FF00AA or FF00AB",
        "color: FF00AA\ncolor: 00FF00",
        "<color>FF00AA</color><color>FF00AB</color>",
        "<color>RRGGBB</color><color>FF00AA</color>",
        '{"color": "FF00AA", "color": "FF00AB"}',
        '{"color": "FF00AA", "color": 5}',
        '{"color": null, "color": "FF00AA"}',
        '{"color": null}',
        '{"color": 123456}',
        '{"color": ["FF00AA"]}',
        '{"shade": "FF00AA"}',
        "ﬀ00AA",
        '{"color": "FF00AA"',
    ],
)
def test_what_is_no_single_color_is_unusable(text: str) -> None:
    with pytest.raises(FormatError, match="color"):
        Color().parse(text)


def encoding(**changes: object) -> str:
    return json.dumps(
        {"plan": "", "obfuscated": "=?I9??", "instructions": ["Subtract 7.", "Read."]} | changes
    )


@pytest.mark.parametrize(
    "text",
    [
        encoding(),
        f"```json\n{encoding()}\n```",
        encoding(instructions="Subtract 7.\n\nRead.\r\n"),
        encoding(instructions=["Subtract 7.", " ", "Read. "]),
        "<obfuscated_text>\n=?I9??\n</obfuscated_text>\n"
        "<instructions_list>Subtract 7.\nRead.</instructions_list>",
    ],
)
def test_an_encoding_is_read(text: str) -> None:
    assert Encoding().parse(text) == Encoded("=?I9??", ("Subtract 7.", "Read."))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no obfuscated string"),
        (encoding(obfuscated=" "), "no obfuscated string"),
        (encoding(obfuscated=7), "no obfuscated string"),
        (encoding(instructions=None), "no instructions"),
        (encoding(instructions=[1, 2]), "no instructions"),
        (encoding(instructions=[]), "0 instructions"),
        (encoding(instructions=["x"] * 31), "31 instructions"),
        (encoding(obfuscated="x" * 1001), "1001 characters"),
        (encoding(instructions=["fine", "x" * 601]), "instruction 2 has 601"),
        (encoding(obfuscated="a\u200bb"), "cannot be seen"),
        (encoding(instructions=["\u202eabc"]), "cannot be seen"),
        ("<obfuscated_text>x</obfuscated_text>", "no instructions"),
        (
            "<obfuscated_text>x</obfuscated_text><obfuscated_text>y</obfuscated_text>"
            "<instructions_list>z</instructions_list>",
            "2 times",
        ),
    ],
)
def test_what_is_no_encoding_is_unusable(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        Encoding().parse(text)


@given(st.text(alphabet='<>/{}":,[]# acdefolr0123459\n`', max_size=200))
def test_parsing_is_total(text: str) -> None:
    for kind in (Color(), Encoding()):
        with suppress(FormatError):
            assert kind.parse(text)


@pytest.mark.parametrize(
    "text", ["<color>" * 30_000, '{"color":' * 20_000, "color:\n" * 30_000, "```\n" * 50_000]
)
def test_huge_replies_are_read_in_linear_time(text: str) -> None:
    start = time.process_time()
    for kind in (Color(), Encoding()):
        with pytest.raises(FormatError):
            kind.parse(text)
    assert time.process_time() - start < 1


def test_between_takes_the_next_closing_tag() -> None:
    assert between("<a>1</a> <A>2<a></a></a> <a>3", "a") == ["1", "2<a>"]


def test_schemas_require_every_property() -> None:
    for kind in (Color(), Encoding()):
        schema = kind.schema()
        assert schema is not None
        assert schema["required"] == list(schema["properties"])
        assert not schema["additionalProperties"]
        assert all(name in kind.instruction() for name in schema["properties"])
