"""The page for an audience: blind, self-contained, and nothing on it but text."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

from msgspec.structs import replace

from peerage.games.last_arena.tables import FinishedTournament
from peerage.reading.tournaments import token, tokens
from peerage.site.people.score_page import page, sample

QUESTIONS = ("Why do cats purr?", "Is lying ever kind?", "<script>alert(1)</script> & why?")
MATCH = FinishedTournament(
    7,
    {"A": "openai:secret", "B": "other:secret", "C": "third:secret"},
    "",
    {
        "questions": [
            {"id": f"{label}-1", "text": text} for label, text in zip("ABC", QUESTIONS, strict=True)
        ],
        "answers": {f"{question}-1/{label}": [5, 1, 2] for question in "ABC" for label in "ABC"},
    },
    "ab" * 32,
)
names = tokens(MATCH)
EVIL = "\u202e<img src=x onerror=alert(1)>"
TEXTS = {answer: f"{answer[-1].lower()} says {EVIL}" for answer in MATCH.detail["answers"]}


class Elements(HTMLParser):
    def __init__(self, body: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_sample_is_spread_over_questions_and_shows_everybody_as_often() -> None:
    for count, sizes in (
        (1, [2]),
        (2, [2]),
        (3, [2]),
        (4, [2, 2]),
        (6, [2, 2, 2]),
        (8, [3, 3, 2]),
        (100, [3] * 3),
    ):
        shown = sample(MATCH, TEXTS, count)
        assert [len(one.answers) for one in shown] == sizes
        times = Counter(names[name].split("/")[1] for one in shown for name, _ in one.answers)
        assert max(times.values()) - min(times[label] for label in "ABC") <= 1
    assert sample(MATCH, TEXTS, 3) == sample(MATCH, TEXTS, 3)
    drawn = {sample(replace(MATCH, record=f"{at}"), TEXTS, 3)[0].question for at in range(20)}
    assert drawn == set(QUESTIONS)


def test_several_answers_to_a_question_by_one_player_leave_room_for_other_questions() -> None:
    """Five players under three token limits: fifteen answers were once one question with all that it got."""
    asked = [{"id": f"A-{number}", "text": f"{number}?"} for number in range(1, 21)]
    answers = {
        f"{one['id']}/{label}/{limit}": [5, 1, 2]
        for one in asked
        for label in "ABCDE"
        for limit in (50, 200, 800)
    }
    match = FinishedTournament(
        1, dict(zip("ABCDE", "vwxyz", strict=True)), "", {"questions": asked, "answers": answers}, "ab" * 32
    )
    shown = sample(match, dict.fromkeys(answers, "text"), 15)
    assert [len(one.answers) for one in shown] == [2] * 7
    known = tokens(match)
    drawn = [known[name] for one in shown for name, _ in one.answers]
    assert all(len({answer.split("/")[1] for answer in drawn[at : at + 2]}) == 2 for at in range(0, 14, 2))
    assert set(Counter(answer.split("/")[1] for answer in drawn).values()) <= {2, 3}
    assert len({answer.split("/")[2] for answer in drawn}) == 3


def test_answers_that_nobody_could_judge_are_not_shown() -> None:
    some = {answer: text for answer, text in TEXTS.items() if answer[0] != "A" and not answer.endswith("/C")}
    shown = sample(MATCH, some, 100)
    assert sorted(len(one.answers) for one in shown) == [2, 2]
    assert sample(MATCH, {}, 100) == []


def test_the_page_tells_nobody_who_wrote_what() -> None:
    body = page(MATCH, sample(MATCH, TEXTS, 100), "An arena").decode()
    assert "secret" not in body
    assert not re.search(r"[ABC]-1", body)
    fields = {attrs["name"] for tag, attrs in Elements(body).found if tag == "input"}
    assert fields == set(tokens(MATCH))
    assert token(MATCH, "A-1/B") in fields


def test_what_models_wrote_is_text_and_the_policy_allows_nothing_else() -> None:
    body = page(MATCH, sample(MATCH, TEXTS, 100), "<b>An arena</b>").decode()
    assert "\u202e" not in body
    tags = [tag for tag, _ in Elements(body).found]
    assert tags.count("script") == tags.count("style") == 1
    assert "img" not in tags
    assert "b" not in tags
    assert not any(name.startswith("on") for _, attrs in Elements(body).found for name in attrs)
    policy = next(attrs["content"] for tag, attrs in Elements(body).found if "http-equiv" in attrs)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=", body.replace("img src=x", ""))


def test_the_page_saves_what_is_read() -> None:
    body = page(MATCH, sample(MATCH, TEXTS, 3), "An arena").decode()
    assert "JSON.stringify({ match: Number(match), record, voter, scores })" in body
    attributes = next(attrs for tag, attrs in Elements(body).found if tag == "body")
    assert attributes == {"data-match": "7", "data-record": MATCH.record}
