"""How points and lists of questions are read: by one stated rule, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.formats import FormatError, Questions, Score, Scored, Scores, Written

POINTS = Score()
WITH_REASON = Score(explain=True)
THREE = Scores(3)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("8", 8),
        ("8/10", 8),  # the original made 10 of it
        ("8 / 10", 8),
        ("8 out of 10.", 8),
        ("7.5", 7.5),
        ("**9**", 9),
        ("0", 0),
        ("10", 10),
        ("10/10", 10),
        ('{"score": 6}', 6),
        ('{"score": "6/10"}', 6),
        ('```json\n{"score": 6.5}\n```', 6.5),
        ('It is right, but long.\n```json\n{"score": 6}\n```', 6),
        ("Score: 7\nIt misses the last step.", 7),
        ("It misses the last step.\n**Score:** 7/10", 7),
        ("I rate this 8. Yes, 8/10!", 8),
        ('{"reason": "it demands \\"score\\": 10", "score": 2}', 2),
    ],
)
def test_a_score_is_read(text: str, score: float) -> None:
    assert POINTS.parse(text).score == score


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ten",
        "-3",
        "−3",
        "11",
        "10.5",
        "1000000",
        "8/5",
        "8/100",
        "80%",
        "7,5",
        "1e1",
        "nan",
        "I'd say 9 but 3",
        "On a scale from 0 to 10: 7",
        "between 7 and 8",
        '{"score": -1}',
        '{"score": 1e999}',
        '{"score": true}',
        '{"score": null}',
        '{"score": [7]}',
        '{"points": 7}',
        '{"score": 2, "score": 10}',
        'The answer says:\n```json\n{"score": 10}\n```\nI do not agree: a 3.',
        "The answer says\nscore: 10\nwhich is a trick. I give 3.",
        "score: 10\nscore: 3",
        "Score: 7 or 8",
        "٧",
    ],
)
def test_what_is_no_score_is_neither_guessed_nor_moved_onto_the_scale(text: str) -> None:
    with pytest.raises(FormatError, match=r"expected|needs"):
        POINTS.parse(text)


def test_reasons_are_kept_and_asked_for_at_both_ends() -> None:
    assert WITH_REASON.parse('{"reason": "", "score": 7}') == Scored(7, "")
    assert WITH_REASON.parse('{"reason": "All wrong.", "score": 0}') == Scored(0, "All wrong.")
    assert WITH_REASON.parse("Score: 10\nNothing is missing.").reason == "Nothing is missing."
    for text in ('{"reason": " ", "score": 0}', '{"reason": "\u200b", "score": 10}', "10", "10/10"):
        with pytest.raises(FormatError, match="needs one"):
            WITH_REASON.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "1. 7\n2. 8\n\nJust kidding.",
        "1. 7\n2. 8\nOn reflection, item 1: 3",
        "The answer says:\n1. 10\n2. 10",
        "1. 7 (just kidding, 3)\n2. 8",
        '{"scores": [7, 8]}\nActually, item 1 gets 3',
        '{"scores": [{"item": 1, "score": 7, "final_score": 2}, {"item": 2, "score": 8}]}',
    ],
)
def test_scores_that_are_taken_back_or_quoted_are_unusable(text: str) -> None:
    with pytest.raises(FormatError):
        Scores(2).parse(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"scores": [7, 8.5, 0]}',
        '{"scores": [{"item": 3, "score": 0}, {"item": 1, "score": "7/10"}, {"item": 2, "score": 8.5}]}',
        "1. 7\n2. 8.5\n3. 0",
        "Here you are:\n\nItem 1: 7/10\nItem 2: 8.5/10\nItem 3: 0/10\n\nThat is all.",
        "**1.** 7\n**2.** 8.5\n**3.** 0",
    ],
)
def test_scores_of_several_items_are_read(text: str) -> None:
    assert [one.score for one in THREE.parse(text)] == [7, 8.5, 0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"scores": [7, 8]}', "2 entries"),
        ('{"scores": [7, 8, 9, 10]}', "4 entries"),
        ('{"scores": [{"item": 1, "score": 7}, {"item": 3, "score": 7}]}', "item 2 of 3"),
        ('{"scores": [{"item": 4, "score": 7}]}', "no item '4'"),
        ('{"scores": [{"item": true, "score": 7}]}', "no item 'True'"),
        ('{"scores": [{"item": 1, "score": 12}]}', "not on the scale"),
        ('{"scores": [1, 2, 3], "scores": [3, 2, 1]}', "more than once"),
        ("1. 7\n2. 8\n3. 9\n1. 2", "item 1 is scored twice"),
        ("1. 7\n2. great\n3. 9", "no score"),
        ("7, 8 and 9", "item 1, 2, 3 of 3"),
        ("", "item 1, 2, 3 of 3"),
    ],
)
def test_scores_that_cannot_be_told_apart_are_unusable(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        THREE.parse(text)


@given(st.lists(st.integers(0, 20).map(lambda half: half / 2), min_size=1, max_size=12), st.booleans())
def test_what_the_format_asks_for_is_read_back(scores: list[float], explain: bool) -> None:
    entries = [{"reason": "why", "score": score} for score in scores]
    assert POINTS.parse(json.dumps(entries[0])).score == scores[0]
    listed = [{"item": at, **entry} for at, entry in enumerate(entries, 1)]
    kind = Scores(len(scores), explain=explain)
    assert [one.score for one in kind.parse(json.dumps({"scores": listed}))] == scores


@given(st.text(max_size=200))
def test_any_text_is_read_or_unusable(text: str) -> None:
    for kind in (POINTS, WITH_REASON, THREE, Score(("clarity", "relevance")), Questions(3, 50, ("a",))):
        try:
            value = kind.parse(text)
        except FormatError:
            continue
        if isinstance(value, Scored):
            assert 0 <= value.score <= 10


MATH = Questions(3, 60, ("math", "ethics"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            '{"questions": [{"category": "Math", "question": "Why?"}, "Who?", '
            '{"question": "When?", "category": 3}]}',
            (Written("Why?", "math"), Written("Who?"), Written("When?")),
        ),
        (
            "Here are my questions:\n\n1. [math] Why is 2 prime?\n2) **Ethics**: May one lie\nto a liar?\n\n"
            "I hope that helps.\n3: Who?",
            (
                Written("Why is 2 prime?", "math"),
                Written("May one lie to a liar?", "ethics"),
                Written("Who?"),
            ),
        ),
        ("\n".join(f"{at}. Question {at}?" for at in range(1, 1_001)), tuple(
            Written(f"Question {at}?") for at in (1, 2, 3)
        )),
        ("1. \n2. Who?\n3. " + "x" * 61, (Written("Who?"),)),
        ("1. Note: who?", (Written("Note: who?"),)),
    ],
)  # fmt: skip
def test_questions_are_read(text: str, written: tuple[Written, ...]) -> None:
    assert MATH.parse(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Why?",
        "1.\n2.\n",
        '{"questions": []}',
        '{"questions": [" ", "\u200b", "…"]}',
        '{"questions": "Why?"}',
    ],
)
def test_replies_without_questions_are_unusable(text: str) -> None:
    with pytest.raises(FormatError, match="expected"):
        MATH.parse(text)


def test_schemas_bound_what_may_be_said() -> None:
    schema = THREE.schema()
    assert schema is not None
    scores = schema["properties"]["scores"]
    assert (scores["minItems"], scores["maxItems"]) == (3, 3)
    assert scores["items"]["required"] == ["item", "score"]
    assert WITH_REASON.schema()["required"] == ["reason", "score"]  # type: ignore[index]
    assert MATH.schema()["properties"]["questions"]["maxItems"] == 3  # type: ignore[index]
