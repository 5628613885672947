"""Files of LMArena, FastChat and Inspect, as those projects write them."""

from __future__ import annotations

import ast
import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from peerage.ratings.read.answers import Answers, as_games
from peerage.ratings.read.forms import GivenForm
from peerage.ratings.read.histories import Battles
from peerage.ratings.read.report import DataError
from peerage.ratings.read.results import read

DATA = Path(__file__).parents[1] / "data"
ARENA, FASTCHAT = DATA / "lmarena/140k.csv", DATA / "fastchat/conv.json"
LOGS = sorted((DATA / "inspect").glob("*.eval"))


def battles(body: bytes | Path, name: str = "x.jsonl", **more: Any) -> Battles:
    body = body.read_bytes() if isinstance(body, Path) else body
    found = read([(name, io.BytesIO(body))], **more)
    assert isinstance(found, Battles)
    return found


def test_lmarena_140k_with_its_nested_metadata_and_words() -> None:
    found = battles(ARENA, "140k.csv", controls=("length", "headings", "lists", "bold"), kept=("judge",))
    assert found.names[:2] == ("gemini-2.5-pro", "claude-3-7-sonnet-20250219-thinking-32k")
    assert found.duels.score.tolist() == [1.0, 0.5, 0.5]
    assert found.labels["judge"][0] == "a333a685-37f9-474d-b703-f079d8329552"
    assert found.times is not None
    assert (np.diff(found.times) > 0).all()
    for name, pairs in COUNTED.items():
        plain = [
            {"model_a": "a", "model_b": "b", "winner": "a", f"{name}_a": a, f"{name}_b": b} for a, b in pairs
        ]
        assert found.controls[name].tolist() == battles(rows(plain), controls=(name,)).controls[name].tolist()


COUNTED = {
    "length": ((1854, 264), (605, 407), (2216, 2079)),
    "headings": ((8, 1), (8, 0), (0, 0)),
    "lists": ((39, 0), (17, 4), (13, 78)),
    "bold": ((65, 5), (1, 0), (26, 81)),
}


def rows(found: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in found).encode()


def test_lmarena_140k_is_the_same_nested_as_json_and_a_repeated_id_counts_once() -> None:
    read_rows = list(csv.DictReader(io.StringIO(ARENA.read_text("utf-8"))))
    nested = [{**row, "conv_metadata": ast.literal_eval(row["conv_metadata"])} for row in read_rows]
    twice = battles(rows([*nested, nested[0]]), controls=("length",))
    assert (
        twice.controls["length"].tolist()
        == battles(ARENA, "x.csv", controls=("length",)).controls["length"].tolist()
    )
    assert twice.notes[0] == "1 row repeats a battle_id, which counts once"


@pytest.mark.parametrize("metadata", ["__import__('os')", "{[]: 1}", "[1]", "{" * 5_000])
def test_metadata_that_is_neither_is_named(metadata: str) -> None:
    row = {"model_a": "a", "model_b": "b", "winner": "a", "conv_metadata": metadata}
    with pytest.raises(DataError, match=r"column conv_metadata\.sum_assistant_a_tokens: empty"):
        battles(rows([row]), controls=("length",))


@pytest.mark.parametrize(
    ("column", "score"), [("winner_model_a", 1.0), ("winner_model_b", 0.0), ("winner_tie", 0.5)]
)
def test_winners_in_three_columns(column: str, score: float) -> None:
    none = {"winner_model_a": 0, "winner_model_b": 0, "winner_tie": 0}
    row = {"id": "30192", "model_a": "gpt-4-1106-preview", "model_b": "gpt-4-0613", **none, column: 1}
    assert battles(rows([row])).duels.score.tolist() == [score]
    assert battles(rows([row, {**row, "id": "2", **none}])).notes == (
        "1 row without a winner is left out (1 empty)",
    )
    both = {**row, "winner_model_a": 1, "winner_model_b": 1}
    with pytest.raises(DataError, match="line 1, column winner: found 'model_a and model_b"):
        battles(rows([both]))


def test_votes_in_a_log_of_fastchat() -> None:
    found = battles(FASTCHAT, "conv.json", kept=("judge", "question"))
    names = [
        (found.names[a], found.names[b]) for a, b in zip(found.duels.first, found.duels.second, strict=True)
    ]
    assert names == [
        ("vicuna-13b", "koala-13b"),
        ("koala-13b", "alpaca-13b"),
        ("alpaca-13b", "vicuna-13b"),
        ("vicuna-13b", "alpaca-13b"),
        ("koala-13b", "vicuna-13b"),
    ]
    assert found.duels.score.tolist() == [1.0, 0.0, 0.5, 1.0, 0.5]
    assert found.labels["judge"] == ("person 1", "person 1", "person 2", "person 2", "person 3")
    assert "192.0.2" not in str(found)
    assert found.notes[0] == "1 line is no vote between two models, and left out"
    assert found.layout == "fastchat"


def test_a_line_of_fastchat_whose_type_is_no_text_is_no_vote() -> None:
    vote = {"type": "leftvote", "tstamp": 1, "models": ["a", "b"], "states": [], "ip": "x"}
    found = battles(rows([vote, {**vote, "type": {}}, {**vote, "type": [1]}]))
    assert (len(found.duels), found.notes[0]) == (1, "2 lines are no votes between two models, and left out")


def test_logs_of_inspect_are_answers() -> None:
    assert len(LOGS) == 3
    found = read([(str(log), io.BytesIO(log.read_bytes())) for log in LOGS])
    assert isinstance(found, Answers)
    solved = dict(zip(found.names, np.nansum(found.solved, axis=1), strict=True))
    assert solved == {"mockllm/one": 6, "mockllm/two": 4, "mockllm/three": 2}
    assert set(found.challenges) == {
        f"quiz/{one}" for one in ("capital", "bridge", "element", "moon", "author", "river")
    }
    games = as_games(found)
    assert len(games.games) == 6
    assert all(len(game.teams) == 3 for game in games.games)


def log(header: Any, *samples: Any, raw: str = "") -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("header.json", json.dumps(header))
        for number, sample in enumerate([*map(json.dumps, samples), *[raw] * bool(raw)]):
            made.writestr(f"samples/{number}_epoch_1.json", sample)
    return body.getvalue()


def flagged(body: bytes, *, encrypted: int = 0, method: int = 8) -> bytes:
    """A ZIP file whose members say that they are encrypted, or compressed by that method."""
    changed = bytearray(body)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(mark)
        while place >= 0:
            changed[place + at] |= encrypted
            changed[place + at + 2] = method
            place = changed.find(mark, place + 4)
    return bytes(changed)


HEADER = {"eval": {"model": "m", "task": "t"}, "status": "success"}


def test_older_logs_and_logs_in_json_say_the_same() -> None:
    samples = [
        {"id": 1, "epoch": 1, "scores": {"first": {"value": "P"}, "second": {"value": "C"}}},
        {"id": 1, "epoch": 2, "scores": {"first": {"value": {"exact": 1}}}},
        {"id": 2, "epoch": 1, "scores": {}, "error": {"message": "it broke"}},
    ]
    for name, body in (
        ("x.eval", log(HEADER, *samples)),
        ("x.json", json.dumps({**HEADER, "samples": samples}).encode()),
    ):
        found = read([(name, io.BytesIO(body))])
        assert isinstance(found, Answers)
        assert found.solved.tolist() == [[0.75]]
        assert "1 answer has no score and is left out" in found.notes


SAMPLE = {
    "id": 1,
    "scores": {
        "judge": {"value": {"exact": 1, "polite": 0.25}},
        "match": {"value": "I"},
        "strict": {"value": {"exact": "P", "brief": "C"}},
    },
}


@pytest.mark.parametrize(
    ("score", "solved"),
    [
        ("judge/polite", 0.25),
        ("match", 0.0),
        ("judge/exact", 1.0),
        ("strict/exact", 0.5),
        ("strict/brief", 1.0),
    ],
)
def test_the_score_that_counts_is_named(score: str, solved: float) -> None:
    for name, body in (
        ("x.eval", log(HEADER, SAMPLE, {"id": 2, "error": {"message": "it broke"}})),
        ("x.json", json.dumps({**HEADER, "samples": [SAMPLE]}).encode()),
    ):
        found = read([(name, io.BytesIO(body))], score=score)
        assert isinstance(found, Answers)
        assert found.solved.tolist() == [[solved]]


@pytest.mark.parametrize("score", ["exact", "judge"])
def test_a_score_that_is_not_there_is_told_with_those_that_are(score: str) -> None:
    told = f"sample 1: there is no column {score}; .*judge/exact, judge/polite, match, strict/exact"
    with pytest.raises(DataError, match=told):
        read([("x.eval", io.BytesIO(log(HEADER, SAMPLE)))], score=score)


def test_any_column_of_answers_may_be_the_score() -> None:
    text = b"player,challenge,exact,f1\na,c,1,0.25\na,d,0,0.5\n"
    found = read([("x.csv", io.BytesIO(text))], score="f1")
    assert isinstance(found, Answers)
    assert found.solved.tolist() == [[0.25, 0.5]]
    for name, body in (("x.csv", text), ("x.csv", b"model_a,model_b,winner\na,b,tie\n")):
        with pytest.raises(DataError, match="line 2: there is no column bleu; the columns are "):
            read([(name, io.BytesIO(body))], score="bleu")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"PK no zip", "not an Inspect log: File is not a zip file"),
        (log({"other": 1}), "not an Inspect log"),
        (
            log(HEADER, {"id": 1, "scores": {"a": {"value": {"x": "y"}}}}),
            "column solved: found 'y', expected true, false or a part",
        ),
        (
            log(HEADER, {"id": 1, "scores": {"a": {"value": {"x": 1, "y": 0}}}}),
            r"column solved: found {'value': {'x': 1, 'y': 0}}, expected .*; --score names another column",
        ),
        (LOGS[0].read_bytes()[:9_000], "not an Inspect log"),
        (log({"eval": [1]}), "not an Inspect log: its eval names no model"),
        (log({"eval": {"model": "m"}}), "its eval names no model, or no task"),
        (log([]), "not an Inspect log: its eval names no model"),
        (log(HEADER, {"scores": {}}), "sample 1, column eval.task/id: empty"),
        *[
            (
                log(HEADER, sample),
                "sample 1: not as Inspect writes them: expected an object with id",
            )
            for sample in ([1], "x", None)
        ],
        (log(HEADER, {"id": 1, "scores": {"a": {"value": 10**400}}}), "sample 1, column solved: found 1000"),
        (log(HEADER, raw="[" * 200_000), "samples/0_epoch_1.json: lists or objects too deep"),
        (log(HEADER, raw="nothing"), "samples/0_epoch_1.json cannot be read: Expecting value"),
        (flagged(log(HEADER), encrypted=1), "header.json cannot be read: .* is encrypted"),
        (flagged(log(HEADER), method=9), "header.json cannot be read: .* not supported"),
        (flagged(log(HEADER), method=12), "header.json cannot be read: Invalid data stream"),
    ],
)
def test_what_is_no_log_is_told(body: bytes, told: str) -> None:
    with pytest.raises(DataError, match=told):
        read([("x.eval", io.BytesIO(body))])


def test_a_damaged_sample_is_told() -> None:
    whole = bytearray(LOGS[0].read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(whole))) as one:
        place = one.getinfo("samples/capital_epoch_1.json").header_offset
    whole[place + 80 : place + 200] = bytes(120)
    told = "x.eval, sample 1: samples/capital_epoch_1.json cannot be read: "
    found = read([("x.eval", io.BytesIO(bytes(whole)))])
    assert "1 row cannot be used and is left out (`--strict` refuses them):" in found.notes
    assert [note.startswith(f"in {told}") for note in found.notes].count(True) == 1
    with pytest.raises(DataError, match=told):
        read([("x.eval", io.BytesIO(bytes(whole)))], given=GivenForm(strict=True))
