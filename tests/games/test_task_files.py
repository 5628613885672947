"""Files of tasks hold what a game reads, or the owner's own remarks; nothing is ignored in silence."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from peerage.game.section import SettingsSection
from peerage.games.task_files import unknown
from peerage.games.tasks.files import read_tasks
from peerage.games.tasks.rules import TasksRules
from peerage.games.trivia.quiz import read_quiz
from peerage.settings import SettingsError, load

TASKS = {"prompt": "Why?"}
QUESTIONS = {"question": "Who?", "answer": "Ann"}
READERS = [(lambda body, name: read_tasks(body, name, {}), TASKS), (read_quiz, QUESTIONS)]
OTHERS = ("checks", "deadline", "categroy", "video", "", " ", "\u202e", "x" * 500)


@pytest.mark.parametrize(("read", "task"), READERS)
@pytest.mark.parametrize("key", OTHERS)
def test_a_key_that_nobody_knows_is_refused_in_both_kinds_of_file(read, task, key: str) -> None:  # type: ignore[no-untyped-def]
    lines = "\n".join([json.dumps(task), json.dumps({**task, key: "x"})])
    table = f"{','.join(task)},{key}\n{','.join(task.values())},x\n"
    for text, name, line in ((lines, "my.jsonl", 2), (table, "my.csv", 1)):
        with pytest.raises(ValueError, match=f"^line {line}, column ") as wrong:
            read(text.encode(), name)
        assert ("cannot be played here" if key == "video" else "not known") in str(wrong.value)
        assert len(str(wrong.value)) < 500


@pytest.mark.parametrize(("read", "task"), READERS)
def test_a_remark_of_the_owner_is_kept_out(read, task) -> None:  # type: ignore[no-untyped-def]
    plain = read(json.dumps(task).encode(), "my.jsonl")
    noted = {**task, "meta": {"id": 1}, "meta.source": [1, 2]}
    assert read(json.dumps(noted).encode(), "my.jsonl") == plain
    table = f"meta.id,{','.join(task)}\n7,{','.join(task.values())}\n"
    assert read(table.encode(), "my.csv") == plain


def test_what_was_meant_is_suggested() -> None:
    known = ("prompt", "category")
    assert unknown("categroy", known) == "found 'categroy', which is not known; did you mean 'category'?"


@pytest.mark.parametrize(
    ("rules", "task"), [("tasks", "prompt: How"), ("quiz", "question: Who, answer: Ann")]
)
def test_tasks_listed_in_the_settings_are_held_to_the_same(tmp_path: Path, rules: str, task: str) -> None:
    def loaded(more: str) -> None:
        game = "trivia" if rules == "quiz" else "tasks"
        (tmp_path / "arena.yaml").write_text(f"game: {game}\nrules:\n  {rules}:\n    - {{{task}{more}}}\n")
        load(tmp_path)

    loaded(", meta.id: 7")
    for key, told in (
        ("categroy", "did you mean 'category'?" if rules == "tasks" else "is not known"),
        ("video", "cannot be played here"),
        ("deadline", "Name what nobody is to read meta.deadline"),
    ):
        with pytest.raises(SettingsError) as wrong:
            loaded(f", {key}: x")
        assert f"arena.yaml, line {4 if rules == 'quiz' else 2}, rules" in str(wrong.value)
        assert told in str(wrong.value)


def parquet(*tasks: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(tasks)), out)
    return out.getvalue()


@pytest.mark.parametrize(("read", "task"), READERS)
def test_parquet_is_held_to_the_same_keys(read, task) -> None:  # type: ignore[no-untyped-def]
    plain = read(json.dumps(task).encode(), "my.jsonl")
    assert read(parquet({**task, "meta.id": 7}), "my.parquet") == plain
    with pytest.raises(ValueError, match=r"^row 1, column video: .*cannot be played here"):
        read(parquet({**task, "video": "x"}), "my.parquet")
    needed = next(iter(task))
    with pytest.raises(ValueError, match=f"^row 2, column {needed}: "):
        read(parquet(task, {**task, needed: None}), "my.parquet")


def test_a_quiz_of_parquet_has_lists_texts_or_nothing_in_its_columns() -> None:
    questions = [{"question": f"{at}?", "answer": "a", "wrong": w} for at, w in enumerate((["b", "c"], None))]
    assert [row["wrong"] for row in read_quiz(parquet(*questions), "my.parquet")] == [["b", "c"], []]
    assert read_quiz(parquet({**QUESTIONS, "wrong": "b|c"}), "my.parquet")[0]["wrong"] == ["b", "c"]


class Weights(SettingsSection):
    by_name: Mapping[str, float] = {}


def test_numbers_under_names_are_held_to_the_same_as_others() -> None:
    assert Weights.model_validate({"by_name": {"x": 1}}).by_name == {"x": 1.0}
    for value in (True, "010"):
        with pytest.raises(ValidationError, match="number"):
            Weights.model_validate({"by_name": {"x": value}})


def test_files_in_a_list_of_tasks_are_no_prompts() -> None:
    with pytest.raises(ValidationError, match=r"'b\.JSONL' in a list of tasks, where a text is a prompt"):
        TasksRules.model_validate({"tasks": ["Why?", "b.JSONL"]})
    assert len(TasksRules.model_validate({"tasks": ["Read a.csv", {"prompt": "a.csv"}]}).tasks) == 2
