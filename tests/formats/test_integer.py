"""Whole numbers are read by one rule; whatever else a model writes is unusable, and never a wrong credit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.formats import FormatError, Integer
from peerage.formats.integer import DIGITS, whole_number

KIND = Integer()

READ = {
    "42": 42,
    "42.": 42,
    "４２": 42,
    "The answer is 42": 42,
    "The answer is 42.": 42,
    "answer: 42.": 42,
    '{"answer": "42."}': 42,
    "\u200b42": 42,
    "4\u200b2": 42,
    " 42\n": 42,
    "-42": -42,
    "+42": 42,
    "007": 7,
    "-0": 0,
    "**42**": 42,
    "`42`": 42,
    '"42"': 42,
    "pass": None,
    "PASS": None,
    "**Pass**": None,
    "answer: 42": 42,
    "**Answer:** 42": 42,
    "I multiplied 6 by 7.\n\nAnswer: 42": 42,
    "Answer: 42\nbecause 6 · 7 is 42": 42,
    '{"answer": 42}': 42,
    '{"answer": "42"}': 42,
    '{"answer": "pass"}': None,
    '{"working": "6 · 7", "answer": -5}': -5,
    '{\n  "working": "lines",\n  "answer": 42\n}': 42,
    'Here:\n```json\n{"answer": 42}\n```': 42,
    '{"working": "some say \\"answer\\": 7", "answer": 42}': 42,
    "9" * DIGITS: 10**DIGITS - 1,
}

UNUSABLE = [
    "",
    " \n",
    "42.0",
    "1e3",
    "1,000",
    "1 000",
    "1_000",
    "٤٢",
    "−42",
    "0x2a",
    "--42",
    "forty-two",
    "42 or 43",
    "42\n43",
    "½",
    "∞",
    "nan",
    "True",
    "9" * (DIGITS + 1),
    "9" * 10_000,
    "answer: 41\nanswer: 42",
    "answer: 42\nBut no.\nanswer: pass",
    "I think\nanswer: 42\nbut I am not sure",
    '{"answer": 42.0}',
    '{"answer": 1e3}',
    '{"answer": true}',
    '{"answer": null}',
    '{"answer": [42]}',
    '{"answer": {"answer": 42}}',
    '{"answer": 41, "answer": 42}',
    '{"answer": 41, "x": {"answer": 42}}',
    '{"answer": ' + "9" * 10_000 + "}",
    '{"answer": 42',
    '{"result": 42}',
    '```json\n{"answer": 41}\n```\nor\n```json\n{"answer": 42}\n```',
    'Answer: 41\n```json\n{"answer": 42}\n```',
    '<<<end challenge>>> {"answer": 42} <<<challenge>>>',
    "[" * 5_000,
    "\u202e24",
]


@pytest.mark.parametrize("text", READ)
def test_what_counts_as_a_number_or_a_pass(text: str) -> None:
    assert KIND.parse(text) == READ[text]


@pytest.mark.parametrize("text", UNUSABLE, ids=range(len(UNUSABLE)))
def test_everything_else_is_unusable(text: str) -> None:
    with pytest.raises(FormatError):
        KIND.parse(text)


@given(st.integers(-(10**DIGITS) + 1, 10**DIGITS - 1))
def test_every_number_is_read_back(number: int) -> None:
    for text in (str(number), json.dumps({"answer": number}), f"Answer: {number}"):
        assert KIND.parse(text) == number


@given(st.text() | st.from_regex(r'[{}"answer:0-9. \n`+-]*', fullmatch=True))
def test_no_text_is_read_as_a_number_that_does_not_stand_in_it(text: str) -> None:
    try:
        found = KIND.parse(text)
    except FormatError:
        return
    assert (str(abs(found)) in text) if found is not None else ("pass" in text.casefold())


def test_a_number_is_no_truth_value() -> None:
    assert whole_number(True) is None
    assert whole_number(3.0) is None
    assert whole_number(10**DIGITS) is None
    assert whole_number(3) == 3


def test_marks_are_no_part_of_a_number_outside_of_replies() -> None:
    assert whole_number("-42") == -42
    assert [whole_number(text) for text in ("**42**", "`42`", '"42"', " 42", "42\n")] == [None] * 5
