"""Checks of answers: what is right, what is nearly right, and answers that attack the check."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from peerage.formats.reading.numbers import number
from peerage.formats.schemas.brought import check_schema, misfits
from peerage.game.protocol import Ran, ran
from peerage.judging.checks.credit import Check, Credit, chosen, graded, normalized
from peerage.judging.checks.programs import credit_of, program
from peerage.judging.checks.reading import check_of, usual_check
from peerage.testing.offline import performed


def credit(written: Any, expected: Any, answer: str) -> float:
    return graded([check_of(written, expected)], answer).credit


@pytest.mark.parametrize(
    ("written", "expected", "right", "wrong"),
    [
        (
            "exact",
            "Paris",
            ["Paris", " paris. ", "**Paris**", "“PARIS”", "`paris`", "Paris\n"],
            ["Paris, France", "Pari", "It is Paris", "", "Paris.."],
        ),
        ("exact", "no", ["No.", "NO"], ["not", "n o"]),
        ("exact", ["NYC", "New York"], ["new  york", "nyc"], ["York"]),
        ("exact", "é", ["e\u0301", "É"], ["e"]),
        ({"type": "exact", "strict": True}, "Paris", ["Paris"], ["paris", "Paris ", "Paris."]),
        ({"type": "exact", "negated": True}, "Paris", ["Rome"], ["paris"]),
        (
            "number",
            "1234.5",
            ["1234.5", "1,234.50", "€ 1.234,50", "It is 1 234,5.", "1’234.5", "so 3 + 4 … **1234.50**"],
            ["1234", "1234.5 then 7", "none", "12345", "NaN", "inf"],
        ),
        ("number ± 0.5", "10", ["10.5", "9.5"], ["10.6"]),
        ("number 0.5", "10", ["10.4"], ["10.6"]),
        ("number 1%", "200", ["202", "198"], ["203"]),
        ("number", "-3", ["-3", "−3", "minus: -3.0"], ["3"]),
        ("number", "1000", ["1,000", "1000"], ["1.000,5"]),
        ("number", "12345678901", ["12345678901", "12,345,678,901.0"], ["12345678905", "12345678901.5"]),
        ("number", "9007199254740993", ["9007199254740993"], ["9007199254740992"]),
        ("number", "0.3", ["0.30000000000000004"], ["0.3000001"]),
        ("number", "0.0000000001", ["1e-10"], ["0"]),
        ("number", "42", ["٤٢", "４２", "41? No: 42"], ["4²", "42 or 41", "①", "4,2", "4.2.0"]),
        ("number", "123", ["123"], ["1,2,3", "section 1.2.3", "½"]),
        ("number", "3", ["1,2,3", "3 (see 1.2.3)"], ["1.2.3"]),
        ("contains", "PX-1", ["the px-1 order"], ["PX1"]),
        ({"type": "contains", "every": True}, ["a", "b"], ["b a"], ["a"]),
        ({"type": "contains", "strict": True}, "A", ["xAx"], ["xax"]),
        ("regex", r"^[A-Z]{2}-\d+$", ["AB-12", "AB-12\n"], ["xAB-12", "AB-"]),
        ("regex", r"\Aa+\Z", ["aa"], ["aab", "a\\Z"]),
        (
            "choice",
            "B",
            [*"Bb", "(b)", "**B**", "A is wrong.\n\nAnswer: B", "It is B.", "A? The answer is (b), so D."],
            ["A", "A or B", "", "The answer is A, not B", "The answer is a matter of taste."],
        ),
        ("choice", "A", ["A", "A is right.", "I say A"], ["A clear answer is none.", "Not A.", "A or B"]),
        ("choice", "B", ["A question for B", "not A but B"], ["It is not B", "It isn't B."]),
        ("choice yes|no", "yes", ["Yes.", "yes", "I say yes"], ["no", "yes and no", "yesterday"]),
        ({"type": "choice", "options": ["a b", "c"]}, "a b", ["A  B"], ["c"]),
        ("json", {"a": 1, "b": ["x"]}, ['{"b": ["X."], "a": 1.0, "c": 2}', '```json\n{"a":1,"b":["x"]}\n```'],
         ["{}", "[1]", "no", '{"a": true, "b": "x"}']),
        ("json", {"id": 4111111111111111, "p": 1e-10}, ['{"id": 4111111111111111, "p": 1e-10}'],
         ['{"id": 4111111111111112, "p": 0}']),
        ("json", None, ["[1]", '"x"', "say {\"a\": 1} so"], ["x", "", '{"a": NaN}']),
    ],
)  # fmt: skip
def test_what_is_right_and_what_is_not(
    written: Any, expected: Any, right: list[str], wrong: list[str]
) -> None:
    assert {answer: credit(written, expected, answer) for answer in right} == dict.fromkeys(right, 1.0)
    assert {answer: credit(written, expected, answer) for answer in wrong} == dict.fromkeys(wrong, 0.0)


def test_json_field_by_field() -> None:
    expected = {"supplier": "Miller", "total": 99.5, "lines": [{"n": 1}, {"n": 2}]}
    found = graded([check_of("json", expected)], '{"supplier": "miller", "total": 99, "lines": [{"n": 1}]}')
    assert found == Credit(0.5, "total is 99, expected 99.5; lines[2].n missing, expected 2")
    assert credit("json", [1, 2], "[1, 2, 3]") == pytest.approx(2 / 3)
    assert credit({"type": "json", "tolerance": 0.5}, {"a": 1}, '{"a": 1.4}') == 1


def test_several_checks_are_their_weighted_mean() -> None:
    checks = [check_of("contains", "a"), check_of({"type": "contains", "weight": 3}, "b")]
    assert graded(checks, "xa").credit == 0.25
    assert graded(checks, "xb") == Credit(0.75, "does not contain 'a'")


@pytest.mark.parametrize(
    ("written", "expected", "told"),
    [
        ("regx", "a", "did you mean 'regex'"),
        ("regex", "(a", "unclosed group"),
        ("regex", "(?=a)b", "without lookaround"),
        ("regex", r"(?:\w{900}){900}", "too large, since counts multiply what they repeat; write `\\+`"),
        ("regex", r"(a)\1", "backreferences"),
        ("regex", ".{1,5000}$", "too large"),
        ("regex", "((a{1,100}){1,100}){1,10}$", "too large"),
        ({"type": "json", "schema": {"pattern": ".{1,5000}$"}}, None, "too large"),
        ("contains", ["a"] * 1_001, "1,001 texts; 1,000 are the most"),
        ("exact", "a" * 1_000_001, "1,000,001 characters; 1,000,000 are the most"),
        ("number soon", "1", "write a tolerance"),
        ("number", "many", "needs a number"),
        ("exact", "", "nothing to compare with; fill in `expected`"),
        ("exact", None, "nothing to compare with"),
        ("exact loosely", "a", "stands alone"),
        ("choice A|B", "C", "none of 'A' | 'B'"),
        ("json", "{a", "no JSON"),
        ("python: grade", "a", "write `python: FILE.py:FUNCTION`"),
        ({"type": "exact", "tolerence": 1}, "a", "did you mean 'tolerance'"),
        ({"type": "number", "tolerance": -1}, "1", "a number from 0"),
        ({"type": "number", "tolerance": "x"}, "1", "cannot be read"),
        ({"type": "json", "schema": {"type": "objekt"}}, None, "did you mean 'object'"),
        ({"type": "json", "schema": {"if": {}}}, None, "which is not known"),
        ({"type": "exact", "weight": 0}, "a", "weight"),
        ({"type": "json", "weight": 0}, {"a": 1}, "weight"),
        ({"type": "json", "tolerance": float("nan")}, {"a": 1}, "a number from 0"),
        ({"type": "python", "program": "c.py:f", "weight": -1}, None, "weight"),
        ("number ...", "1", "write a tolerance"),
        ("contains", ["a", " "], "nothing to compare with"),
        ({"type": "choice", "options": ["a"] * 1_001}, "a", "1,001 texts; 1,000 are the most"),
    ],
)
def test_a_check_that_cannot_be_made_is_told(written: Any, expected: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told.replace("|", r"\|")):
        check_of(written, expected)


def test_what_is_expected_is_compared_where_it_is_short() -> None:
    assert usual_check("Paris") == Check("exact", "Paris")
    assert usual_check(["a", "b"]) == Check("exact", ["a", "b"])
    assert usual_check({"a": 1}) == Check("json", {"a": 1})
    assert usual_check(12.0) == Check("number", 12.0)
    assert usual_check(True) == Check("exact", True)
    assert [usual_check(one) for one in (None, "x" * 81, "two\nlines", ["a", "x" * 81])] == [None] * 4


BOMBS = (
    "a" * 200_000 + "b", '".' * 100_000, "1." * 100_000, "1 " * 100_000, "a: " * 66_000, '{"a":' * 40_000,
    "[" * 200_000, '{"a":' + "9" * 199_000 + "}", '{"a":1e999999}', "\u202e" * 200_000, "\x00" * 9,
    "```json\n" * 20_000, "{" + '"a":1,' * 30_000 + "}", "(" * 200_000, "\ud800", "e\u0301" * 60_000, "",
    '{"a": [' + "[]," * 60_000 + "[]]}",
)  # fmt: skip
LOOPING = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"a": {"$ref": "#/$defs/n"}}}}}
KINDS: tuple[tuple[Any, Any], ...] = (
    ("exact", "x"), ("number", "1"), ("contains", "xyz"), ("regex", "(a+)+$|(a|aa)*c"), ("choice", "A"),
    ("choice yes|no", "yes"), ("json", {"a": [1, {"b": 2}]}),
    ({"type": "choice", "options": [f"{'a' * (i % 40)}{i}" for i in range(1_000)]}, "0"),
    ({"type": "choice", "options": ["a" * size for size in range(1, 990)]}, "a"),
    ("contains", ["a" * size + "b" for size in range(1, 990)]),
    ({"type": "json", "schema": LOOPING}, None),
    ({"type": "json", "schema": {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [
        {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}, {"const": 1}]}}}}, None),
    ({"type": "json", "schema": {"uniqueItems": True, "items": {"enum": [[at] for at in range(3_000)]},
                                 "additionalProperties": {"enum": [[at] for at in range(3_000)]}}}, None),
    ({"type": "json", "schema": {"allOf": [{"pattern": f"^.*[a-z]{{{at}}}$"} for at in range(1, 99)]}}, None),
    *[("regex", written) for written in (
        "(.{0,9}a){0,30}[cx]", "(?:[ab]*a[ab]{300})+[cx]", r"(\S+\s+){0,199}\S+$", "((|a){1,30}){1,30}[cx]",
        "((((a{0,4}){0,4}){0,4}){0,4}){0,4}[cx]", "(?s)(.{0,20}){0,20}[^a]$", r"(?i)(\w{0,4}\s){0,4}\b[cx]")],
)  # fmt: skip


@pytest.mark.parametrize("written", KINDS, ids=lambda written: str(written)[:60])
def test_no_answer_holds_a_check_up_or_breaks_it(written: tuple[Any, Any]) -> None:
    check = check_of(*written)
    for bomb in BOMBS:
        began = time.process_time()
        found = graded([check], bomb)
        assert 0 <= found.credit <= 1
        assert len(found.note) <= 600
        assert time.process_time() - began < 2, bomb[:20]


ATOMS = st.sampled_from(
    ["a", ".", "[ab]", r"\S", r"\b", "a?", "(?:a|ab)", "(?:|a)", "[^c]", "$", r"\d", "ab"]
)
COUNTS = st.sampled_from(["", "*", "+", "?", "{5}", "{0,9}", "{1,100}", "{300,}", "{0,1000}?", "{5000}"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.lists(st.tuples(inner, COUNTS), min_size=1, max_size=3).map(
        lambda parts: "".join([f"(?:{part}){count}" for part, count in parts])
    ),
    max_leaves=6,
)


@settings(max_examples=15)
@given(PATTERNS, st.sampled_from(["$", "[cx]", "[^ab]$", ""]), st.text("ab c\né漢", min_size=1, max_size=9))
def test_no_pattern_that_is_accepted_holds_an_answer_up(written: str, end: str, unit: str) -> None:
    try:
        check = check_of("regex", f"{written}{end}")
    except ValueError:
        return
    answer = (unit * 200_000)[:200_000]
    for size in (200_000, 20_000, 2_000):
        began = time.process_time()
        graded([check], answer[:size])
        assert time.process_time() - began < 2


def test_an_answer_gets_out_of_no_check_by_its_length() -> None:
    """Not of one that must not hold either."""
    for kind, expected in (("contains", "no"), ("regex", "(.{0,9}no){0,30}"), ("exact", "no")):
        check = check_of({"type": kind, "negated": True}, expected)
        assert graded([check], "a" * 300).credit == (kind != "regex")
        found = graded([check], "a" * 200_001)
        assert found == Credit(0.0, "has 200,001 characters; at most 200,000 are checked")
    many = check_of("contains", ["no", *map(str, range(999))])
    found = graded([many], "9" * 50_001)
    assert found == Credit(0.0, "has 50,001 characters; at most 50,000 are searched for so many texts")
    assert graded([many], "9" * 50_000).credit == 1
    found = graded([check_of("regex", "(.{0,9}a){0,30}")], "a" * 100_000)
    assert found == Credit(0.0, "is too long for the pattern, whose counts are large")
    long = {"type": "json", "schema": {"items": {"pattern": "(.{0,9}a){0,30}"}}}
    assert credit(long, None, json.dumps(["a" * 1_000])) == 1
    found = graded([check_of(long, None)], json.dumps(["a" * 100_000]))
    assert found.note == "[1] is too long for the pattern '(.{0,9}a){0,30}', whose counts are large"


@given(st.text(max_size=80))
def test_any_text_is_itself(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text) or len(text) > 8
    if text.strip():
        assert credit({"type": "exact", "strict": True}, text, text) == 1


@given(st.floats(-1e9, 1e9, allow_nan=False))
def test_numbers_are_read_as_they_are_written(value: float) -> None:
    assert number(f"{value:.4f}") == pytest.approx(round(value, 4))
    assert number(f"{value:,.2f}") == pytest.approx(round(value, 2), abs=0.006)


def test_a_choice_is_never_guessed() -> None:
    assert chosen("A and B", ("A", "B")) is None
    assert chosen("a banana", ("A", "B")) is None
    assert chosen("Answer: C", ("A", "B")) is None
    teams = ("billing", "delivery", "returns")
    lists = (
        "billing, delivery or returns",
        "billing/delivery",
        "**billing** or delivery?",
        "billing, returns.",
        "billing, delivery, or returns, whichever fits",
    )
    assert [chosen(f"The answer is {text}", teams) for text in lists] == [None] * len(lists)
    choices = (
        "billing, delivery is wrong",
        "billing (not delivery or returns)",
        "billing; delivery does not fit",
        "billing. Delivery or returns would be wrong",
        "billing or delivery\nAnswer: billing",
    )
    assert [chosen(f"The answer is {text}", teams) for text in choices] == ["billing"] * len(choices)


SCHEMA = {
    "type": "object",
    "required": ["total", "lines"],
    "additionalProperties": False,
    "properties": {
        "total": {"type": "number", "minimum": 0, "exclusiveMaximum": 1000},
        "kind": {"enum": ["a", 1, None]},
        "lines": {"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": True,
                  "items": {"$ref": "#/$defs/l"}},
        "any": {"anyOf": [{"type": "string", "minLength": 2}, {"const": 3}]},
        "all": {"oneOf": [{"multipleOf": 3}, {"multipleOf": 5}], "not": {"const": 9}},
    },
    "$defs": {"l": {"type": ["string", "integer"], "maxLength": 4, "pattern": "^[a-z]*$"}},
}  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.sampled_from([0.5, 3.0, 999.5])
    | st.text("abZ1", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), inner, max_size=5)
    ),  # type: ignore[misc]
    max_leaves=8,
)


@given(VALUES)
def test_schemas_are_read_as_the_standard_says(value: Any) -> None:
    """Held against another implementation."""
    check_schema(SCHEMA)
    wanted = Draft202012Validator(SCHEMA)
    for given_value in (value, {"total": 1, "lines": ["a"], "any": value, "all": value, "kind": value}):
        assert (misfits(given_value, SCHEMA) == []) == wanted.is_valid(given_value), misfits(
            given_value, SCHEMA
        )


ASKED = "a number from 0 to 1 was expected"


@pytest.mark.parametrize(
    ("body", "comes_to"),
    [
        ("return answer == expected", Credit(1.0)),
        ("return 0.25", Credit(0.25)),
        ("return 0.5, 'half'", Credit(0.5, "half")),
        ("return {'pass': True, 'score': 0.75, 'reason': 'so'}", Credit(0.75, "so")),
        ("return {'pass': False}", Credit(0.0)),
        ("raise KeyError('total')", Credit(0.0, "the check raised KeyError: 'total'")),
        ("return 7", Credit(0.0, "the check gave 7; a number from 0 to 1 was expected")),
        ("return float(answer.replace('4', 'nan'))", Credit(0.0, f"the check gave nan; {ASKED}")),
        (
            "return 'yes'",
            Credit(0.0, "the check raised ValueError: could not convert string to float: 'yes'"),
        ),
        ("raise SystemExit(0)", Credit(0.0, "the check raised SystemExit: 0")),
    ],
)
def test_a_program_of_the_owners_gives_credit(body: str, comes_to: Credit) -> None:
    """No answer gets out of its check by what the check makes of it."""
    source = program({"c.py": f"def grade(answer, expected, task):\n    {body}\n"}, "c.py:grade")
    asked = {"answer": "4", "expected": "4", "task": {}}
    assert credit_of(ran(performed(source, json.dumps(asked)).text)) == comes_to


def test_a_program_that_cannot_be_run_gives_no_credit() -> None:
    assert credit_of(Ran("error", "", "SyntaxError")) is None
    assert credit_of(Ran("ok", "noise")) is None
    assert credit_of(Ran("fuel")) == Credit(0.0, "the check ended at its limit of fuel")
    assert credit_of(Ran("ok", '[0.5, "", 1]')) is None
    assert credit_of(Ran("ok", "\n")) == Credit(0.0, "the check crashed")
    assert credit_of(Ran("ok", '\n[7, ""]')) == Credit(0.0, f"the check gave 7; {ASKED}")
    assert credit_of(Ran("error", "\n", "trap")) == Credit(0.0, "the check crashed")
    assert credit_of(Ran("error", '\n[1, ""]', "trap")) == Credit(0.0, "the check crashed")


@pytest.mark.parametrize(
    ("check", "answer", "note"),
    [
        (Check("choice", "A"), "B", "chose 'B', expected 'A'"),
        (Check("choice", "Rome", options=("Rome", "Paris")), "paris.", "chose 'Paris', expected 'Rome'"),
        (Check("choice", "no", options=("no", "hi")), "The answer is hİ", "chose 'hi̇', expected 'no'"),
        (Check("number", "1489.27"), "It is 1638.2", "ends with the number 1638.2, expected '1489.27'"),
        (Check("json", {"a": "x"}), '{"a": null}', "a is null, expected 'x'"),
        (Check("json", {"a": 4.5}), '{"a": "null"}', "a is 'null', expected 4.5"),
        (Check("json", {"a": True}), "{}", "a missing, expected true"),
        (Check("json", {"a": 1}), '{"a": 1} or {"a": 2}', "holds several JSON objects, and may hold one"),
        (Check("json", {"a": 1}), '{"a": ', "is no JSON"),
    ],
)
def test_a_note_shows_what_was_said_as_it_is_written(check: Check, answer: str, note: str) -> None:
    assert graded((check,), answer).note == note
