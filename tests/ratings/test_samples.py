"""Single results of Every Eval Ever: as answers for judges, and as games where they are from matches."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from peerage.ratings.read.answers import Answers
from peerage.ratings.read.histories import PlayedGames
from peerage.ratings.read.report import DataError, ReadingReport
from peerage.ratings.read.results import read, rows


def single(model: str, number: int | str, **more: Any) -> dict[str, Any]:
    return {
        "evaluation_id": f"gsm8k/{model}/1",
        "model_id": model,
        "evaluation_name": "gsm8k",
        "sample_id": str(number),
        "input": {"raw": "1 + 1?", "reference": ["2"]},
        "output": {"raw": ["two"]},
        "evaluation": {"score": 1.0, "is_correct": True},
        **more,
    }


def played(model: str, number: int, score: float, name: str = "") -> dict[str, Any]:
    """As our own export writes them."""
    about = {"peerage_player": name or model, "at_ms": str(1_000 + number)}
    return single(model, number, evaluation={"score": score, "is_correct": score == 1}, metadata=about)


def stream(*found: dict[str, Any]) -> io.BytesIO:
    return io.BytesIO("".join([json.dumps(row) + "\n" for row in found]).encode())


def answer(row: dict[str, Any]) -> dict[str, Any]:
    [(found, _)] = rows(stream(row), "x.jsonl", ReadingReport())
    return dict(found)


def test_judges_are_shown_the_question_and_the_one_answer() -> None:
    found = answer(single("a/one", 7))
    assert (found["player"], found["challenge"]) == ("a/one", "gsm8k/7")
    assert (found["question"], found["answer"]) == ("1 + 1?", "two")


@pytest.mark.parametrize(
    "more",
    [
        {"output": {"raw": ["two", "three"]}},
        {"output": {"raw": []}},
        {"output": None},
        {"output": {"raw": ["half an ans"]}, "error": "the connection broke"},
    ],
    ids=["several tries", "no text", "no output", "an error"],
)
def test_there_is_no_answer_to_show_where_it_is_not_one_whole_text(more: dict[str, Any]) -> None:
    found = answer(single("a/one", 7, **more))
    assert found["answer"] is None or found["error"]
    assert answer(single("a/one", 7, input=None, **more))["question"] is None


def test_a_score_comes_before_a_yes_or_no() -> None:
    listed = [{"score": 0.25, "is_correct": True}, {"score": 0.0, "is_correct": True}, {"is_correct": True}]
    found = read(
        [("x.jsonl", stream(*(single("a/one", at, evaluation=one) for at, one in enumerate(listed))))]
    )
    assert isinstance(found, Answers)
    assert found.solved.tolist() == [[0.25, 0.0, 1.0]]


def test_one_without_a_score_is_left_out_and_said() -> None:
    unscored = single("a/one", 1, evaluation={"score": None, "is_correct": None})
    found = read([("x.jsonl", stream(single("a/one", 0), unscored))])
    assert isinstance(found, Answers)
    assert found.challenges == ("gsm8k/0",)
    assert found.notes == ("1 answer has no score and is left out",)


def test_our_own_are_games_by_players_names_in_the_order_of_their_numbers() -> None:
    found = read(
        [
            ("b.jsonl", stream(*(played("b", at, float(at != 9), "bee, hot") for at in (10, 9, 2)))),
            ("a.jsonl", stream(*(played("a", at, float(at != 2)) for at in (2, 9, 10)))),
        ]
    )
    assert isinstance(found, PlayedGames)
    assert found.names == ("bee, hot", "a")
    assert [game.ranks for game in found.games] == [(-1, 0), (0, -1), (-1, -1)], "matches 2, 9 and 10"


def test_a_models_record_is_refused_with_the_way_to_its_results() -> None:
    record = {"evaluation_id": "1", "evaluation_results": [], "model_info": {}}
    with pytest.raises(DataError, match=r"x\.json is a record .* are in the \.jsonl file next to it"):
        read([("x.json", io.BytesIO(json.dumps(record).encode()))])
