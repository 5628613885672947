"""Answers of files, in pairs for judges: what becomes one, and what is left out, in words."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from peerage.games.rejudge.files import LONGEST, RejudgedPairs, paired, same_model
from peerage.ratings.read.report import DataError, ReadingReport
from peerage.ratings.read.results import rows

LOGS = sorted((Path(__file__).parents[1] / "data/inspect").glob("*.eval"))


def of(*found: dict[str, Any]) -> RejudgedPairs:
    report = ReadingReport("x")

    def lines() -> Iterator[dict[str, Any]]:
        for report.number, row in enumerate(found, 1):
            yield row

    return paired(lines(), report)


def row(player: str, answer: Any = "it is", question: Any = "Why?", **more: Any) -> dict[str, Any]:
    return {"player": player, "challenge": "t/1", "question": question, "answer": answer, **more}


def sample(**more: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "input": "Why?", "output": {"completion": "so"}, "scores": {}, **more}


def log(model: str, *samples: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a log in JSON, as Inspect writes them."""
    body = {"eval": {"model": model, "task": "t"}, "status": "success", "samples": list(samples)}
    return [dict(one) for one, _ in rows(io.BytesIO(json.dumps(body).encode()), "x.json", ReadingReport())]


def test_every_two_models_of_real_logs_meet_on_every_question() -> None:
    def lines(names: list[Path]) -> RejudgedPairs:
        report = ReadingReport()
        return paired(
            (
                row
                for name in names
                for row, _ in rows(io.BytesIO(name.read_bytes()), str(name), report, "answers")
            ),
            report,
        )

    found = lines(LOGS)
    assert found.notes == ()
    assert len(found.items) == 18
    assert len({item.record for item in found.items}) == 6
    moon = [item for item in found.items if item.title == "quiz/moon"]
    assert {tuple(item.authors.values()) for item in moon} == {
        ("mockllm/one", "mockllm/three"),
        ("mockllm/one", "mockllm/two"),
        ("mockllm/three", "mockllm/two"),
    }
    one_three = next(item for item in moon if item.authors["B"] == "mockllm/three")
    assert one_three.answers == {"A": "Mars has two moons: Phobos and Deimos.", "B": "One."}
    assert (one_three.first["A"], one_three.given["question"].text) == (1.0, "How many moons has Mars?")
    assert one_three.given["question"].label, "quoted: who wrote the log is not trusted"
    assert sorted(lines(LOGS[::-1]).items, key=repr) == sorted(found.items, key=repr)


def test_what_cannot_be_compared_is_left_out_in_words() -> None:
    found = of(
        row("a", solved=1),
        row("b", solved=False),
        row("a", "again"),
        row("c", None),
        row("d", "x" * (LONGEST + 1)),
        row("e", question=""),
        row("f", question="Why not?"),
        row("g", {"no": "text"}),
    )
    assert [(item.authors, item.first.get("A")) for item in found.items] == [({"A": "a", "B": "b"}, 1.0)]
    assert found.notes == (
        "left out: 1 answer that the same player gave again: the first in the files counts",
        "left out: 1 answer ended in an error, without an answer",
        "left out: 1 answer longer than 100,000 characters, or to a question that is",
        "left out: 2 answers to something else than text, which judges cannot be shown",
        "left out: 1 answer to a question that no other player was asked in the same words",
    )


def test_tries_meet_try_by_try_and_scores_are_compared_where_both_are_there() -> None:
    found = of(*(row(player, f"{player}{epoch}", epoch=epoch) for player in "ab" for epoch in (1, 2)))
    assert [(item.title, *item.answers.values()) for item in found.items] == [
        ("t/1", "a1", "b1"),
        ("t/1, try 2", "a2", "b2"),
    ]
    assert len({item.id for item in found.items}) == 2
    floats = of(*(row(player, f"{player}{epoch}", epoch=epoch) for player in "ab" for epoch in ("1.0", 2.0)))
    assert [item.title for item in floats.items] == ["t/1", "t/1, try 2"]
    for wrong in ("second", 1.5):
        with pytest.raises(DataError, match=r"line 1, column epoch: found .*, expected a (whole )?number"):
            of(row("a", epoch=wrong), row("b"))
    for first, second, score in (
        (0.2, 0.9, 0.0),
        ("true", 1, 0.5),
        ("failed", "pass", 0.0),
        (None, 1, None),
        ("C", 1, None),
    ):
        assert of(row("a", solved=first), row("b", solved=second)).items[0].first.get("A") == score


def test_a_log_shows_judges_all_that_the_model_was_asked() -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"text": "Why?"}]}]
    asked = [
        (sample(choices=["yes", "no"]), "Why?\nA) yes\nB) no"),
        (sample(choices=["x"] * 27), "\n".join(["Why?", *[f"{name}) x" for name in (*ascii_uppercase, 1)]])),
        (sample(input=turns), "system: Be brief.\nuser: Why?"),
        (sample(input=turns[1:]), "Why?"),
        (sample(input=[{"role": "user", "content": [{"text": "Why?"}, {"image": "data:"}]}]), ""),
    ]
    for one, text in asked:
        found = of(*log("m", one), *log("n", one))
        assert [item.given["question"].text for item in found.items] == [text] * bool(text)
    broken = log("m", sample(error={"message": "it broke"}))
    assert (
        of(*broken, *log("n", sample())).notes[0] == "left out: 1 answer ended in an error, without an answer"
    )


def test_hostile_text_stays_text() -> None:
    found = of(row("a\n\x1b[31m", "cut \ud83d\0"), row("b"))
    assert found.items[0].answers["A"] == "cut \ufffd\ufffd"
    with pytest.raises(DataError, match="found 2,000 characters"):
        of(row("a" * 2_000))


def test_what_holds_no_answers_is_refused_with_its_place() -> None:
    with pytest.raises(DataError, match=r"x, line 1: .*there is no question, and the columns are player"):
        of({"player": "a", "challenge": "c", "solved": 1})
    with pytest.raises(DataError, match="there is no player"):
        of({"model_a": "x", "model_b": "y", "winner": "tie"})


def test_a_model_is_the_same_however_its_provider_is_written() -> None:
    assert same_model("openai:gpt-5-mini", "openai/gpt-5-mini")
    assert same_model("openrouter:openai/GPT-5-mini", "openai/gpt-5-mini")
    assert same_model("openrouter:openai/gpt-5-mini", "azure:gpt-5-mini")
    assert same_model("ollama:llama3:8b", "ollama/llama3:8b")
    assert same_model("ollama:llama3:8b", "llama3:8b")
    assert not same_model("ollama:llama3:8b", "ollama/mistral:8b")
    assert not same_model("openai:gpt-5", "openai/gpt-5-mini")
