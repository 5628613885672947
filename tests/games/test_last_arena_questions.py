"""Writing questions: batches, what counts, near-duplicates, and how it ends when an author cannot."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest
from tests.judging.asking import ask_all

from peerage.game.match import Seat
from peerage.game.protocol import Ask, Quote, Reply
from peerage.games.last_arena.questions import Author, Question, calls, collect, quotas
from peerage.games.last_arena.rules import LastArenaRules

SEATS = tuple(Seat(label, f"player {label}") for label in "ABC")
RULES = {"questions": 6, "categories": ["math", "ethics"]}
WORDS = ("violin", "glacier", "tariff", "enzyme", "orbit", "sonnet", "harbour", "quorum", "lichen", "ballast")


@pytest.fixture(autouse=True)
def four_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerage.games.last_arena.rules.QUESTIONS_PER_CALL", 4)


def said(*questions: str) -> str:
    return json.dumps({"questions": list(questions)})


def different(ask: Ask) -> str:
    """As many questions as are wanted that nobody else writes."""
    rng = Random(ask.key)
    return said(*[" ".join(rng.sample(WORDS, 5)) + f" {rng.random()}?" for _ in range(ask.expects.count)])  # type: ignore[union-attr]


def collected(
    answer: Callable[[Ask], str | Reply], seed: int = 1, **rules: Any
) -> tuple[dict[str, Author], list[Ask]]:
    laid = LastArenaRules.model_validate(RULES | rules)
    authors, asked = ask_all(collect(SEATS, laid, Random(seed)), answer)
    assert len(asked) <= len(SEATS) * calls(laid)
    return authors, asked


def by(author: Author) -> list[Question]:
    return [question for question, _ in author.questions]


def test_everybody_writes_what_is_wanted_in_batches() -> None:
    found, asked = collected(different, tricks=1)
    assert [question.id for question in by(found["A"])] == [f"A-{at}" for at in range(1, 8)]
    assert [question.sort for question in by(found["B"])] == ["plain"] * 6 + ["trick"]
    assert sorted(ask.key for ask in asked if ask.to == "A") == [f"question/A/{at}" for at in (1, 2, 3)]
    counts = {ask.key: ask.expects.count for ask in asked}  # type: ignore[union-attr]
    assert (counts["question/A/1"], counts["question/A/2"], counts["question/A/3"]) == (4, 2, 1)
    assert {author.calls for author in found.values()} == {3}


def test_an_author_is_told_how_many_of_each_category_are_wanted() -> None:
    _, asked = collected(different, questions=4)
    first = next(ask for ask in asked if ask.key == "question/A/1").messages[-1]
    assert {name: first.fill[name] for name in ("quota", "limit")} == {
        "quota": "math (2), ethics (2)",
        "limit": "600",
    }


def test_an_author_sees_what_it_has_written_and_nothing_of_the_others() -> None:
    _, asked = collected(different)
    by_key = {ask.key: ask for ask in asked}
    first, second = by_key["question/B/1"], by_key["question/B/2"]
    assert "written" not in first.messages[-1].fill
    before = second.messages[-1].fill["written"]
    assert isinstance(before, Quote)
    for one in json.loads(different(first))["questions"]:
        assert one in before.text
    assert json.loads(different(by_key["question/A/1"]))["questions"][0] not in before.text


def test_near_duplicates_go_and_are_replaced() -> None:
    def answer(ask: Ask) -> str:
        if ask.key.endswith("/1"):  # all three write the same four, in other letters and marks
            named = [f"Why does the {word} behave as it does?" for word in WORDS[:4]]
            return said(*[text.upper() if ask.to == "B" else f"{text} " for text in named])
        return different(ask)

    found, _ = collected(answer, questions=4)
    texts = [question.text.casefold() for author in found.values() for question in by(author)]
    assert len(texts) == len(set(texts)) == 12
    assert sum(len(author.dropped) for author in found.values()) == 8
    assert sorted(author.calls for author in found.values()) == [1, 2, 2]


def test_who_keeps_what_two_wrote_is_drawn() -> None:
    def answer(ask: Ask) -> str:
        return said("Why is the violin older than the piano?") if ask.key.endswith("/1") else different(ask)

    kept = set()
    for seed in range(20):
        found, _ = collected(answer, seed, questions=1)
        kept |= {label for label, author in found.items() if "violin older" in by(author)[0].text}
    assert kept == {"A", "B", "C"}


@pytest.mark.parametrize("status", ["void", "refused", "invalid"])
def test_an_author_that_cannot_write_ends_with_nothing_and_holds_nobody_up(status: Any) -> None:
    def answer(ask: Ask) -> str | Reply:
        return Reply(status) if ask.to == "B" else different(ask)

    found, _ = collected(answer)
    assert [label for label, author in found.items() if author.accepted] == ["A", "C"]
    assert found["B"].unusable == found["B"].calls == 6


def test_an_author_that_repeats_itself_ends_with_what_is_new() -> None:
    found, _ = collected(lambda ask: said("Why?", "Who is it?") if ask.to == "A" else different(ask))
    assert [question.text for question in by(found["A"])] == ["Why?", "Who is it?"]


def test_fewer_than_wanted_are_asked_for_again() -> None:
    found, asked = collected(lambda ask: said(json.loads(different(ask))["questions"][0]))
    assert {len(author.accepted) for author in found.values()} == {6}
    assert len([ask for ask in asked if ask.to == "A"]) == 6


def test_the_hidden_worth_of_a_question_follows_it() -> None:
    def answer(ask: Ask) -> Reply:
        text = different(ask)
        worth = [{"quality": at} for at, _ in enumerate(json.loads(text)["questions"])]
        return Reply("ok", text, hidden=worth)

    found, _ = collected(answer)
    assert [hidden for _, hidden in found["A"].questions][1] == {"quality": 1}


@pytest.mark.parametrize(
    ("own", "count", "expected"),
    [
        ((), 4, {"math": 2, "ethics": 2}),
        (("math", "math"), 3, {"math": 1, "ethics": 2}),
        (("math", "math", "math"), 2, {"ethics": 2}),
        ((), 1, {"math": 1}),
    ],
)
def test_quotas_come_out_even(own: tuple[str, ...], count: int, expected: Mapping[str, int]) -> None:
    assert quotas(("math", "ethics"), own, count) == expected
