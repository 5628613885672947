"""What others collect: Every Eval Ever's records, results for model repositories."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from jsonschema import Draft7Validator
from tests.engine.arenas import play
from tests.engine.run.test_media import arena as drawing
from typer.testing import CliRunner

from peerage.arena import Arena, open_arena
from peerage.cli.main import app
from peerage.interchange.evaluations import eval_results, every_eval_ever
from peerage.values.texts import MARK_BEGINS
from peerage.views.leaderboard.board import Leaderboard, board

NOW = 1_795_426_131_000
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
# What version 0.2.1 of the schema of Every Eval Ever (evaleval/every_eval_ever) asks of the parts we write.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "schema_version",
        "evaluation_id",
        "retrieved_timestamp",
        "source_metadata",
        "model_info",
        "eval_library",
        "evaluation_results",
    ],
    "properties": {
        "schema_version": {"const": "0.2.1"},
        "evaluation_id": {"type": "string"},
        "evaluation_timestamp": {"type": "string"},
        "retrieved_timestamp": {"type": "string"},
        "source_metadata": {
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
                "additional_details": TEXTS,
            },
        },
        "eval_library": {"required": ["name", "version"]},
        "model_info": {
            "required": ["name", "id"],
            "properties": {
                key: {"type": "string"} for key in ("name", "id", "developer", "inference_platform")
            },
        },
        "detailed_evaluation_results": {
            "properties": {"format": {"enum": ["jsonl", "json"]}, "total_rows": {"type": "integer"}}
        },
        "evaluation_results": {
            "type": "array",
            "items": {
                "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
                "properties": {
                    "source_data": {
                        "required": ["dataset_name", "source_type"],
                        "properties": {"source_type": {"const": "other"}},
                    },
                    "metric_config": {
                        "required": ["lower_is_better", "score_type", "min_score", "max_score"],
                        "properties": {
                            "lower_is_better": {"type": "boolean"},
                            "score_type": {"const": "continuous"},
                            "min_score": {"type": "number"},
                            "max_score": {"type": "number"},
                        },
                    },
                    "score_details": {
                        "required": ["score"],
                        "properties": {
                            "score": {"type": "number"},
                            "uncertainty": {
                                "properties": {
                                    "num_samples": {"type": "integer"},
                                    "confidence_interval": {
                                        "required": ["lower", "upper"],
                                        "properties": {"confidence_level": {"minimum": 0, "maximum": 1}},
                                    },
                                }
                            },
                        },
                    },
                },
            },
        },
    },
}


# The same of its single results, "instance_level_eval_0.2.1".
SAMPLE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "schema_version",
        "evaluation_id",
        "model_id",
        "evaluation_name",
        "sample_id",
        "interaction_type",
        "input",
        "answer_attribution",
        "evaluation",
        "messages",
    ],
    "properties": {
        **{
            key: {"type": "string"}
            for key in ("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id")
        },
        "interaction_type": {"const": "multi_turn"},
        "input": {
            "required": ["raw", "reference"],
            "properties": {"raw": {"type": "string"}, "reference": {"type": "array"}},
        },
        "output": {"type": "null"},
        "messages": {
            "type": "array",
            "items": {
                "required": ["turn_idx", "role"],
                "properties": {"turn_idx": {"type": "integer"}, "content": {"type": "string"}},
            },
        },
        "answer_attribution": {"type": "array"},
        "evaluation": {
            "required": ["score", "is_correct"],
            "properties": {
                "score": {"type": "number"},
                "is_correct": {"type": "boolean"},
                "num_turns": {"type": "integer", "minimum": 1},
            },
        },
        "metadata": TEXTS,
    },
}


@pytest.fixture
def found(arena: Arena) -> Leaderboard:
    return board(arena.reading, "bt")


def test_a_record_of_every_eval_ever_for_each_ranked_player(arena: Arena, found: Leaderboard) -> None:
    files = dict(every_eval_ever(arena.ledger, "my arena/1", found, "0.2.0", NOW))
    records = {name: text for name, text in files.items() if name.endswith(".json")}
    assert len(files) == 2 * len(records) == 2 * len(found.rows)
    for row, (name, text) in zip(found.rows, records.items(), strict=True):
        record = json.loads(text)
        Draft7Validator(SCHEMA).validate(record)
        detailed = record["detailed_evaluation_results"]
        samples = files[detailed["file_path"]]
        assert detailed["file_path"] == f"{name}l"
        assert detailed["checksum"] == sha256(samples.encode()).hexdigest()
        assert detailed["total_rows"] == samples.count("\n") == row.matches
        for line in samples.splitlines():
            sample = json.loads(line)
            Draft7Validator(SAMPLE).validate(sample)
            assert sample["evaluation_id"] == record["evaluation_id"]
        points = sum(json.loads(line)["evaluation"]["score"] for line in samples.splitlines())
        assert points == row.wins + row.draws / 2
        assert name.startswith(f"data/my-arena-1/house/{row.model.removeprefix('house:')}/")
        rating, share = record["evaluation_results"]
        assert rating["score_details"]["score"] == row.rating
        interval = rating["score_details"]["uncertainty"]["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == (row.lower, row.upper)
        assert share["score_details"]["score"] == (row.wins + row.draws / 2) / row.matches
        config = rating["metric_config"]
        assert config["min_score"] <= interval["lower"] < interval["upper"] <= config["max_score"]
    assert files.keys() == dict(every_eval_ever(arena.ledger, "my arena/1", found, "0.2.0", NOW + 9)).keys()


def test_records_say_in_words_which_pictures_were_shown(tmp_path: Path) -> None:
    drawing(tmp_path)
    play(tmp_path, 6)
    with open_arena(tmp_path) as arena:
        files = every_eval_ever(arena.ledger, "my", board(arena.reading, "bt"), "0.2.0", NOW)
        text = "".join([text for _, text in files])
    assert "[picture " in text
    assert MARK_BEGINS not in text


def test_results_for_the_repositories_of_models(found: Leaderboard) -> None:
    day = datetime(2026, 11, 23, tzinfo=UTC)
    files = dict(eval_results("my arena", found, "me/my-arena", day))
    assert len(files) == len(found.rows)
    for row, (name, text) in zip(found.rows, files.items(), strict=True):
        assert name.endswith(f"__{row.player}/.eval_results/my-arena.yaml")
        (result,) = yaml.safe_load(text)
        assert result["dataset"] == {"id": "me/my-arena", "task_id": "bt"}
        assert (result["value"], result["date"]) == (round(row.rating, 2), "2026-11-23")
        assert result["source"]["url"] == "https://huggingface.co/datasets/me/my-arena"


def test_names_alike_in_a_file_system_have_files_of_their_own(found: Leaderboard) -> None:
    rows = tuple(
        [msgspec.structs.replace(found.rows[0], player=name) for name in ("One", "one", "=one", "\u05d0")]
    )
    files = [
        name
        for name, _ in eval_results("x", msgspec.structs.replace(found, rows=rows), "a/b", datetime.now(UTC))
    ]
    assert len({name.casefold() for name in files}) == 4


def test_hostile_names_stay_text_and_inside_the_folder(arena: Arena, found: Leaderboard) -> None:
    row = msgspec.structs.replace(found.rows[0], player="|<img src=x>`](x)\x1b", model="../../etc:a/../b")
    hostile = msgspec.structs.replace(found, rows=(row,))
    names = [
        *dict(every_eval_ever(arena.ledger, "../..", hostile, "0", NOW)),
        *dict(eval_results("../..", hostile, "a/b", datetime.now(UTC))),
    ]
    for name in names:
        assert ".." not in Path(name).parts
        assert not name.startswith("/")


def test_records_of_every_eval_ever_are_rated_and_imported_again(folder: Path, tmp_path: Path) -> None:
    cli, out = CliRunner(), tmp_path / "records"
    assert (
        cli.invoke(app, ["export", "--dir", str(folder), "--format", "eee", "--to", str(out)]).exit_code == 0
    )
    by_hand = json.loads(cli.invoke(app, ["rate", str(out), "--method", "bt", "--output", "json"]).stdout)
    shown = cli.invoke(app, ["leaderboard", "--dir", str(folder), "--track", "bt", "--format", "json"])
    table = {row["player"]: row["rating"] for row in json.loads(shown.stdout)}
    assert {row["player"]: row["rating"] for row in by_hand} == pytest.approx(table)
    entered = cli.invoke(app, ["import", str(out), "--dir", str(tmp_path / "arena")])
    assert "120 answers of 7 players" in entered.stderr + entered.stdout
    words = ["export", "--dir", str(folder), "--format"]
    assert cli.invoke(app, [*words, "eval-results", "--to", str(tmp_path / "x")]).exit_code == 2
    assert cli.invoke(app, [*words, "eee"]).exit_code == 2
    record, samples = sorted(out.glob("data/*/*/*/*"))[:2]
    assert (record.suffix, samples.suffix) == (".json", ".jsonl")
    assert "states a model's means" in cli.invoke(app, ["rate", str(record)]).stderr
    alone = cli.invoke(app, ["rate", str(samples)])
    assert "no match has two of its players here" in alone.stderr


def test_single_results_of_others_are_answers(tmp_path: Path) -> None:
    """As converters of Every Eval Ever write them: `is_correct`, or a score from 0 to 1."""
    for model, solved in (("a/one", (1, 1, 0)), ("b/two", (1, 0, 0))):
        rows = [
            {
                "evaluation_id": f"gsm8k/{model}/1",
                "model_id": model,
                "evaluation_name": "gsm8k",
                "sample_id": str(at),
                "interaction_type": "single_turn",
                "input": {"raw": "1 + 1?", "reference": ["2"]},
                "output": {"raw": ["2"]},
                "answer_attribution": [],
                "evaluation": {"score": one, "is_correct": bool(one)},
            }
            for at, one in enumerate(solved)
        ]
        (tmp_path / f"{model[:1]}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    rated = CliRunner().invoke(app, ["rate", *files, "--of", "players", "--output", "json"])
    assert [row["player"] for row in json.loads(rated.stdout)] == ["a/one", "b/two"]


def test_a_folder_of_eval_results_says_what_can_be_rated_instead(folder: Path, tmp_path: Path) -> None:
    cli, out = CliRunner(), tmp_path / "out"
    words = ["--format", "eval-results", "--dataset", "me/it", "--to", str(out)]
    assert cli.invoke(app, ["export", "--dir", str(folder), *words]).exit_code == 0
    assert "--format eee` writes what can be rated" in cli.invoke(app, ["rate", str(out)]).stderr
