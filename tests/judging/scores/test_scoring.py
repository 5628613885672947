"""Scoring everybody else's work: who is asked what, in which order, and what becomes of unusable replies."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.judging.asking import ask_all

from peerage.game.match import Outcome, Seat
from peerage.game.protocol import Ask, Prompt, Quote, Reply
from peerage.judging.scores.scoring import Grade, Item, Scoring, ScoringRules, facts, recorded, scoring

SEATS = tuple(Seat(label, f"player {label}") for label in "ABC")
ITEMS = [
    Item(f"q{n}/{label}", label, Quote("question", f"Question {n}?"), Quote("answer", f"{label} on {n}"))
    for n in (1, 2, 3)
    for label in "ABC"
]
RULES = ScoringRules(
    "judge",
    4,
    Prompt("", "{question} {work} {format}"),
    Prompt("", "{items} {count} {format}"),
    False,
)


def run(
    answer: Callable[[Ask], str | Reply], singly: tuple[str, ...] = (), **rules: Any
) -> tuple[Scoring, list[Ask]]:
    orders = {label: Random(f"order {label}") for label in "ABC"}
    return ask_all(scoring(SEATS, ITEMS, RULES._replace(**rules), orders, singly), answer)


def sevens(ask: Ask) -> str:
    count = getattr(ask.expects, "count", 0)
    return json.dumps({"scores": [7] * count} if count else {"score": 7})


def quoted(ask: Ask, name: str) -> list[str]:
    """The quotes of that name in a request, in the order in which they stand there."""
    fill = ask.messages[-1].fill
    return [value.text for key, value in fill.items() if key.startswith(name) and isinstance(value, Quote)]


def shown(ask: Ask) -> list[str]:
    return quoted(ask, "work")


def test_everybody_scores_all_but_its_own_work() -> None:
    found, asked = run(sevens)
    assert sorted((one.judge, one.item) for one in found.grades) == sorted(
        (judge, item.id) for judge in "ABC" for item in ITEMS if item.author != judge
    )
    assert [ask.key for ask in asked if ask.to == "A"] == ["judge/A/batch-1", "judge/A/batch-2"]
    assert not any(text.startswith(ask.to) for ask in asked for text in shown(ask))


def test_each_judge_has_an_order_of_its_own_and_sees_a_question_once() -> None:
    _, asked = run(sevens, per_call=6)
    orders = {ask.to: shown(ask) for ask in asked}
    assert [text[-1] for text in orders["A"]] != [text[-1] for text in orders["B"]]
    for ask in asked:
        assert sorted(quoted(ask, "question")) == ["Question 1?", "Question 2?", "Question 3?"]
        works = [text[-1] for text in shown(ask)]
        assert works == sorted(works, key=works.index)


def test_the_scores_go_to_the_items_that_were_shown() -> None:
    def answer(ask: Ask) -> str:
        points = [int(text[-1]) + 5 * text.startswith("C") for text in shown(ask)]
        return json.dumps({"scores": points}) if len(points) > 1 else str(points[0])

    for size in (1, 2, 4, 10):
        found, _ = run(answer, per_call=size)
        assert len(found.grades) == 18
        assert all(one.raw == int(one.item[1]) + 5 * (one.author == "C") for one in found.grades)


@pytest.mark.parametrize("status", ["invalid", "refused"])
def test_a_batch_that_stays_unusable_is_asked_item_by_item(status: Any) -> None:
    def answer(ask: Ask) -> str | Reply:
        return Reply(status) if ask.key == "judge/B/batch-1" else sevens(ask)

    found, asked = run(answer)
    assert len(found.grades) == 18
    assert sum(ask.to == "B" for ask in asked) == 6
    how = found.batching["B"]
    assert (how.batches, how.unusable, how.single, dict(how.missing)) == (2, 1, 4, {})
    assert not how.lost


def test_a_batch_whose_provider_failed_is_so_many_abstentions() -> None:
    found, asked = run(lambda ask: Reply("void") if ask.key == "judge/B/batch-1" else sevens(ask))
    assert len(found.grades) == 14
    assert len(asked) == 6
    assert dict(found.batching["B"].missing) == {"void": 4}


def test_a_judge_that_cannot_keep_a_list_is_known_for_it() -> None:
    def answer(ask: Ask) -> str:
        return sevens(ask) if "batch" not in ask.key or ask.to != "C" else "I like them all."

    found, _ = run(answer)
    assert found.batching["C"].lost
    assert not found.batching["A"].lost
    again, asked = run(answer, singly=("C",))
    assert (again.batching["C"].batches, again.batching["C"].single) == (0, 6)
    assert [ask.key for ask in asked if ask.to == "C" and "batch" in ask.key] == []
    assert {(one.judge, one.item) for one in again.grades} == {(one.judge, one.item) for one in found.grades}


def test_grades_are_read_back_from_the_facts_of_a_match() -> None:
    grades = [Grade("A", "B", "q1/B", 7.5), Grade("A", "B", "q2/B", 0.0), Grade("B", "A", "q1/A", 10.0)]
    outcome = Outcome(facts=(*facts("judge", grades), *facts("rate", [Grade("C", "A", "q1", 3.0)])))
    assert list(recorded(outcome, "judge")) == grades
    assert list(recorded(outcome, "rate")) == [Grade("C", "A", "q1", 3.0)]
