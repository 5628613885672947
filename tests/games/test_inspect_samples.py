"""Datasets of Inspect as tasks, in the shapes that its documentation shows (MIT). `tests/test_inspect.py`
reads them with Inspect itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from peerage.games.tasks.files import read_tasks


def read(body: str, name: str = "data.jsonl", **rules: Any) -> list[dict[str, Any]]:
    return read_tasks(body.encode(), name, rules)


def one(sample: dict[str, Any], **rules: Any) -> dict[str, Any]:
    [task] = read(json.dumps(sample), **rules)
    return task


def test_choices_are_shown_and_checked() -> None:
    task = one({"input": "Capital of Italy?", "choices": ["Paris", "Rome"], "target": "B", "id": 7})
    [(_, text)] = task["messages"]
    assert text == "Capital of Italy?\n\nA) Paris\nB) Rome\n\nAnswer with the letter of the right choice."
    assert task["checks"] == [{"kind": "choice", "expected": "B", "options": ["A", "B"]}]
    assert task["id"] == "7"


@pytest.mark.parametrize("choices", ['"Paris, Rome"', "Paris Rome", '"[""Paris"", ""Rome""]"'])
def test_choices_of_a_table_are_separated_as_inspect_does(choices: str) -> None:
    [task] = read(f"input,target,choices,level\nCapital of Italy?,B,{choices},easy\n", "data.csv")
    assert "\n\nA) Paris\nB) Rome\n\n" in task["messages"][0][1]


@pytest.mark.parametrize(
    ("target", "rules", "check"),
    [
        ("Rome", {}, "exact"),
        (["Rome", "Roma"], {}, "exact"),
        ("-1,234.5", {}, "number"),
        (42, {}, "number"),
        ("42 apples", {}, "exact"),
        ("42", {"check": "contains"}, "contains"),
        ("A long\nreference", {}, None),
        ("", {}, None),
    ],
)
def test_targets_are_checked_by_what_they_are(target: Any, rules: dict[str, Any], check: str | None) -> None:
    task = one({"input": "?", "target": target}, **rules)
    assert [of["kind"] for of in task["checks"]] == [check] * (check is not None)


def test_what_pandas_writes_for_nothing_is_nothing() -> None:
    [task] = read('{"input": "?", "target": NaN, "choices": NaN, "metadata": NaN, "weight": 2}')
    assert (task["expected"], task["checks"], task["weight"]) == (None, [], 2)


def test_more_choices_than_letters_have_numbers() -> None:
    task = one({"input": "?", "choices": [f"choice {at}" for at in range(28)], "target": "2"})
    assert "Z) choice 25\n1) choice 26\n2) choice 27" in task["messages"][0][1]
    assert task["expected"] == "2"


def test_messages_and_metadata_are_kept() -> None:
    parts = [{"type": "text", "text": "Hello"}, {"type": "text", "text": "there"}]
    turns = [{"role": "system", "content": "S", "id": "x"}, {"role": "user", "content": parts}]
    task = one({"input": turns, "metadata": {"category": "greeting", "more": [1]}})
    assert task["messages"] == [("system", "S"), ("user", "Hello\nthere")]
    assert task["category"] == "greeting"
    [of_table] = read('input,metadata\nHi,"{""category"": ""greeting""}"\n', "data.csv")
    assert of_table["category"] == "greeting"


def test_what_cannot_be_played_is_said_at_once() -> None:
    picture = {"role": "user", "content": [{"type": "image", "image": "x.png"}]}
    rows = [
        {"input": "a", "choices": ["x", "y"], "target": "C"},
        {"input": "b", "choices": ["x", "y"], "target": ["A", "B"]},
        {"input": [picture]},
        {"input": "c", "sandbox": "docker", "files": {"a": "b"}},
        {"input": 5},
        {"input": ["d"]},
        {"input": {"role": "user"}, "target": "x"},
        {"input": "", "target": "x"},
        {"input": "e", "choices": {"text": ["x"]}, "target": "A"},
    ]
    with pytest.raises(ValueError, match="line 1, column target") as refused:
        read("".join([json.dumps(row) + "\n" for row in rows]))
    lines = [line.strip() for line in str(refused.value).splitlines()]
    assert lines[0] == "line 1, column target: found 'C'; expected one of the letters A, B"
    assert lines[1] == "line 2, column target: found 'A, B'; expected one of the letters A, B"
    assert lines[2].startswith("line 3, column messages: turn 1 'x.png' is not opened here")
    assert lines[3] == "line 4, column sandbox: contestants have no sandbox here; leave the sample out"
    assert lines[4].startswith("line 4, column files")
    assert [line.partition(":")[0] for line in lines[5:]] == [
        *[f"line {line}, column messages" for line in (5, 6, 7)],
        "line 8, column prompt",
        "line 9, column choices",
    ]


def test_columns_of_others_are_no_dataset() -> None:
    with pytest.raises(ValueError, match="did you mean 'prompt'"):
        read("input,output\na,b\n", "data.csv")
    [task] = read("input,expected\nRome,Roma\n", "data.csv", template="Translate {{input}}")
    assert task["messages"] == [("user", "Translate Rome")]
