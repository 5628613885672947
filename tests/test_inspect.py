"""Tournaments in Inspect itself: models in this process answer and judge, and logs are read back."""

from __future__ import annotations

import gc
import json
import math
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, score
from inspect_ai.dataset import MemoryDataset, Sample, json_dataset
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    bundle_log_dir,
    read_eval_log,
    resolve_sample_attachments,
    write_eval_log,
)
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.games.tasks.files import read_tasks
from peerage.inspect import contestants, pairwise, tournament

# Inspect leaves streams of anyio to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect garbage while the warnings of this file are ignored."""
    yield
    gc.collect()


ASKED: list[tuple[str, list[ChatMessage]]] = []
"""Every request: which model got it."""


@modelapi(name="imitated")
class Imitated(ModelAPI):
    """Contestants write their names' part after the last `-`; judges prefer the longer answer, `lazy` what
    stands first, and `mute` says nothing that can be read."""

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        ASKED.append((self.model_name, input))
        return ModelOutput.from_content(self.model_name, self.reply(input))

    def reply(self, input: Sequence[ChatMessage]) -> str:
        shown = re.findall(r"<<<answer [AB] \w+>>>\n(.*)\n<<<end", "\n".join([turn.text for turn in input]))
        if not shown:
            return f"{'very ' * int(self.model_name.rpartition('-')[2])}good"
        first, second = map(len, shown)
        if self.model_name == "mute":
            return "I prefer not to."
        longer = "A" if first > second else "B" if second > first else "tie"
        return json.dumps({"reason": "longer", "verdict": "A" if self.model_name == "lazy" else longer})


def samples(count: int) -> MemoryDataset:
    return MemoryDataset([Sample(input=f"Question {at}?", target="good", id=at) for at in range(count)])


def run(task: Task | str, folder: Path, **options: Any) -> EvalLog:
    ASKED.clear()
    [log] = eval(task, model=options.pop("model", None), log_dir=str(folder), display="none", **options)
    return read_eval_log(log.location)


def metrics(log: EvalLog) -> dict[str, float]:
    assert log.results is not None, log.error
    [score] = log.results.scores
    return {name: metric.value for name, metric in score.metrics.items()}


def whole(log: EvalLog) -> list[EvalSample]:
    return [resolve_sample_attachments(sample, "full") for sample in log.samples or ()]


def test_models_answer_and_judges_compare(tmp_path: Path) -> None:
    models = [f"imitated/m-{skill}" for skill in (1, 2, 3)]
    solver = [system_message("Be brief."), contestants(models)]
    log = run(Task(samples(12), solver=solver, scorer=pairwise(["imitated/long", "imitated/lazy"])), tmp_path)
    assert log.status == "success"
    found = metrics(log)
    assert [found[f"{model}.points"] for model in models] == [0, 0.5, 1]
    rated = [[found[f"{model}.{name}"] for name in ("lower", "rating", "upper")] for model in models]
    assert [row == sorted(row) for row in rated] == [True] * 3
    assert rated[0][1] < rated[1][1] < rated[2][1]
    assert rated[0][2] < rated[2][0]
    assert found["imitated/m-3.best"] > 0.9 > 0.1 > found["imitated/m-1.best"]
    first, *_ = whole(log)
    assert first.scores is not None
    score = first.scores["pairwise"]
    assert score.value == {models[0]: 0, models[1]: 0.5, models[2]: 1}
    assert score.answer == models[2]
    assert score.metadata is not None
    votes = score.metadata["pairs"][0]["votes"]
    assert votes["imitated/long"] == {"A-B": models[1], "B-A": models[1]}
    assert votes["imitated/lazy"] == {"A-B": models[0], "B-A": models[1]}, "by position: it counts as a tie"
    assert "imitated/m-1 (A) against imitated/m-2 (B): imitated/m-2 wins" in str(score.explanation)
    answers = [message for message in first.messages if message.role == "assistant"]
    assert [answer.text for answer in answers] == ["very good", "very very good", "very very very good"]
    assert len(ASKED) == 12 * (3 + 3 * 2 * 2)
    for name, messages in ASKED:
        text = "\n".join([message.text for message in messages])
        if name.startswith("m-"):
            assert text.startswith("Be brief.")
        else:
            assert not re.search(r"imitated|m-\d", text), "judges are blind"
            assert '"verdict": "A" | "B" | "tie"' in text


def test_no_judge_compares_answers_of_its_own(tmp_path: Path) -> None:
    task = Task(
        samples(2),
        solver=contestants(["imitated/m-1", "imitated/m-2", "imitated/long"][:2]),
        scorer=pairwise(["imitated/m-2", "imitated/mute"]),
    )
    log = run(task, tmp_path)
    [scored] = log.results.scores if log.results else ()
    assert (scored.scored_samples, scored.unscored_samples) == (0, 2), "mute gave no vote, m-2 was not asked"
    assert {name for name, messages in ASKED if len(messages) > 1} == {"mute"}
    assert sum(len(messages) == 4 for _, messages in ASKED) == 4, "an unusable reply is asked for once more"
    assert all(math.isnan(value) for value in metrics(log).values())
    alone = Task(
        samples(1), solver=contestants(["imitated/m-1", "imitated/m-2"]), scorer=pairwise("imitated/m-1")
    )
    log = run(alone, tmp_path)
    assert "every judge is a contestant (imitated/m-1); name another model" in str(log.error)
    unanswered = run(
        Task(samples(1), solver=generate(), scorer=pairwise("imitated/long")), tmp_path, model="imitated/m-1"
    )
    assert "put `contestants([...])` before it" in str(unanswered.error)


def test_names_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="found 1 contestants"):
        contestants(["imitated/m-1"])
    with pytest.raises(ValueError, match=r"found a model twice in imitated/m-1, imitated/m-1; name them"):
        contestants(["imitated/m-1", "imitated/m-1"])
    contestants({"a": "imitated/m-1", "b": "imitated/m-1"})


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of three models that answered the same task, in two epochs, as Inspect writes them."""
    folder = tmp_path_factory.mktemp("logs")
    for skill in (1, 2, 3):
        task = Task(samples(6), name="praise", solver=generate(), scorer=includes(), epochs=2)
        assert run(task, folder, model=f"imitated/m-{skill}").status == "success"
    return folder


def test_a_tournament_over_logs_is_a_log(logs: Path, tmp_path: Path) -> None:
    log = run(
        tournament(str(logs), "imitated/long", show_target=True, rubric="Warm words."), tmp_path / "logs"
    )
    assert log.status == "success"
    assert log.eval.task.endswith("tournament")
    assert len(log.samples or ()) == 12, "each sample and try"
    assert [metrics(log)[f"imitated/m-{skill}.points"] for skill in (1, 2, 3)] == [0, 0.5, 1]
    assert {name for name, _ in ASKED} == {"long"}, "nobody answers again"
    system, user = [message.text for message in ASKED[0][1]]
    assert "Warm words." in system
    assert "The expected answer" in user
    assert "\ngood\n" in user
    # Others read it: written again by Inspect, dumped by its command, and as a site.
    assert log.location
    write_eval_log(log, tmp_path / "again.json")
    assert metrics(read_eval_log(str(tmp_path / "again.json"))) == metrics(log)
    dumped = subprocess.run(
        [sys.executable, "-m", "inspect_ai", "log", "dump", log.location, "--header-only"],
        capture_output=True, text=True, check=True, timeout=120,
    ).stdout  # fmt: skip
    assert json.loads(dumped)["results"]["scores"][0]["name"] == "pairwise"
    bundle_log_dir(str(tmp_path / "logs"), str(tmp_path / "site"))
    assert (tmp_path / "site" / "index.html").exists()
    assert [*(tmp_path / "site" / "logs").glob("*.eval")]


def test_a_tournament_starts_from_its_file_with_arguments(logs: Path, tmp_path: Path) -> None:
    """As `inspect eval FILE@tournament -T logs=… -T judges=…` does."""
    entry = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["inspect_ai"]
    assert entry == {"peerage": "peerage.inspect"}
    file = Path(sys.modules["peerage.inspect"].__file__ or "")
    arguments = {"logs": str(logs), "judges": "imitated/long,imitated/lazy", "pairs": 1}
    log = run(f"{file}@tournament", tmp_path, task_args=arguments)
    assert log.status == "success"
    assert len(ASKED) == 12 * 2 * 2, "one pair of a sample, two judges, both orders"


def test_two_logs_of_one_model_have_names(logs: Path, tmp_path: Path) -> None:
    files = {read_eval_log(str(log), header_only=True).eval.model: str(log) for log in logs.glob("*.eval")}
    first, second = files["imitated/m-1"], files["imitated/m-2"]
    log = run(tournament({"v1": first, "v2": second}, "imitated/m-9", ties=False), tmp_path)
    assert metrics(log)["v2.points"] == 1
    with pytest.raises(ValueError, match="no two models answered the same sample"):
        tournament(first, "imitated/long")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty holds no data"):
        tournament(str(tmp_path / "empty"), "imitated/long")


def test_answers_of_other_files_play_too(tmp_path: Path) -> None:
    rows = [
        {"player": player, "challenge": "q", "question": question, "answer": player}
        for question, players in (("Why?", "ab"), ("Why not?", "cd"), ("When?", "e"))
        for player in players
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join([json.dumps(row) + "\n" for row in rows]), "utf-8")
    samples = tournament(str(file), "imitated/long").dataset
    assert [(sample.id, sample.input) for sample in samples] == [("q", "Why?"), ("q, wording 2", "Why not?")]


def test_judges_are_by_default_the_graders_of_inspect(logs: Path, tmp_path: Path) -> None:
    log = run(tournament(str(logs)), tmp_path, model_roles={"grader": "imitated/long"})
    assert metrics(log)["imitated/m-3.points"] == 1
    assert "nobody judges; name `judges`" in str(run(tournament(str(logs)), tmp_path).error)


def peerage(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.output


def test_logs_of_several_contestants_are_answers_too(tmp_path: Path) -> None:
    models = [f"imitated/m-{skill}" for skill in (1, 2, 3)]
    folder = tmp_path / "logs"
    log = run(Task(samples(4), solver=contestants(models), scorer=pairwise("imitated/long")), folder)
    rated = json.loads(peerage("rate", log.location, "--output", "json"))
    assert [row["player"] for row in rated] == models[::-1], "solved is the share of the points"
    for _ in range(2):  # the second time with the first's log in the folder
        again = run(tournament(str(folder), "imitated/long"), folder)
        assert metrics(again).keys() == metrics(log).keys()
        assert len(again.samples or ()) == 4
    ASKED.clear()
    judged = score(log, pairwise("imitated/lazy"), display="none").results
    assert judged is not None
    _, anew = judged.scores
    assert {name for name, _ in ASKED} == {"lazy"}
    assert {anew.metrics[f"{model}.points"].value for model in models} == {0.5}, "each order once: all ties"
    at = ["--dir", str(tmp_path), "--yes"]
    assert "12 pairs of answers to 4 questions" in peerage(
        "rejudge", log.location, *at, "--judges", "house:1"
    )


def test_an_arena_from_logs_of_inspect_verifies(logs: Path, tmp_path: Path) -> None:
    at = ["--dir", str(tmp_path), "--yes"]
    said = peerage("rejudge", str(logs), *at, "--judges", "house:0.9", "--matches", "9")
    assert "36 pairs of answers to 6 questions" in said
    assert "whole: 9 matches" in peerage("verify", "--dir", str(tmp_path / "judged"))


def test_datasets_are_read_as_inspect_reads_them(logs: Path, tmp_path: Path) -> None:
    rows = [
        {"input": "2 + 2?", "target": "4", "id": "sum", "metadata": {"category": "maths"}},
        {
            "input": [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}],
            "target": ["a", "b"],
        },
        {"input": "Capital of France?", "choices": ["Paris", "Rome"], "target": "A", "id": "3"},
    ]
    file = tmp_path / "data.jsonl"
    file.write_text("".join([json.dumps(row) + "\n" for row in rows]), "utf-8")
    tasks = read_tasks(file.read_bytes(), file.name, {})
    for task, sample in zip(tasks, json_dataset(str(file)), strict=True):
        asked = sample.input if isinstance(sample.input, list) else [sample.input]
        turns = [turn if isinstance(turn, str) else turn.text for turn in asked]
        assert [text.partition("\n")[0] for _, text in task["messages"]] == turns
        assert task["expected"] == sample.target
        assert task["id"] == str(sample.id or task["id"])
    made = "".join([f"{sample.model_dump_json()}\n" for sample in json_dataset(str(file))])
    assert read_tasks(made.encode(), "made.jsonl", {}) == tasks
    of_log = read_tasks(next(logs.glob("*.eval")).read_bytes(), "x.eval", {})
    assert [task["messages"] for task in of_log] == [[("user", f"Question {at}?")] for at in range(6)]


def test_without_inspect_the_extra_is_named() -> None:
    code = "import sys; sys.modules['inspect_ai'] = None; import peerage.inspect"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "needs Inspect, which is not installed: pip install 'peerage[inspect]'" in ran.stderr
