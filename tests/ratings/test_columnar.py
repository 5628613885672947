"""Battles from whole columns are those that single rows give."""

from __future__ import annotations

import io
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from peerage.ratings.read import columnar
from peerage.ratings.read.forms import GivenForm
from peerage.ratings.read.histories import Battles
from peerage.ratings.read.results import read

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

_ROWS = 400
_RNG = np.random.default_rng(3)
_MODELS = ["ann", "bob ", "cleo", "dan"]
_A = _RNG.integers(0, 4, _ROWS)
_B = (_A + _RNG.integers(1, 4, _ROWS)) % 4
_WINNER = _RNG.choice(["model_a", "model_b", "tie", "tie (bothbad)"], _ROWS).tolist()
_PLAIN: dict[str, Any] = {
    "model_a": [_MODELS[at] for at in _A],
    "model_b": [_MODELS[at] for at in _B],
    "winner": _WINNER,
    "conversation_a": ["words"] * _ROWS,
}
_TAGS = [
    {"math_v0.1": {"math": bool(one)}, "criteria_v0.1": {"hard": bool(two), "score": 3}}
    for one, two in _RNG.integers(0, 2, (_ROWS, 2))
]
_COUNTS = [{"h1": one, "h2": two} for one, two in _RNG.integers(0, 5, (_ROWS, 2)).tolist()]
_META = [
    {"sum_assistant_a_tokens": one, "sum_assistant_b_tokens": two, "header_count_a": _COUNTS[at],
     "header_count_b": _COUNTS[-1 - at]}
    for at, (one, two) in enumerate(_RNG.integers(1, 900, (_ROWS, 2)).tolist())
]  # fmt: skip
_WHEN = [datetime(2025, 1, 1, 12, int(at) % 60, tzinfo=UTC) for at in _RNG.integers(0, 60, _ROWS)]
_GAPS = [word if at % 7 else None for at, word in enumerate(_WINNER)]
_FLAGS = {
    f"winner_{name}": [int(word.startswith(name)) for word in _WINNER]
    for name in ("model_a", "model_b", "tie")
}

_HALF = _ROWS // 2
_QUESTION = {"kept": ("question",)}
TABLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "as released": (_PLAIN | {"question_id": [f"question {at}" for at in range(_ROWS)]}, _QUESTION),
    "questions of several": (_PLAIN | {"question_id": [at // 3 for at in range(_ROWS)]}, _QUESTION),
    "in another order": (_PLAIN | {"tstamp": _RNG.random(_ROWS).tolist()}, {}),
    "dates": (_PLAIN | {"timestamp": _WHEN}, {}),
    "some dates": (_PLAIN | {"timestamp": [when if at % 2 else None for at, when in enumerate(_WHEN)]}, {}),
    "without a winner": (_PLAIN | {"winner": _GAPS, "judge": ["x", "y"] * _HALF}, {"labels": ("judge",)}),
    "weights, costs": (_PLAIN | {"weight": _RNG.random(_ROWS).tolist(), "cost_a": [None, 2] * _HALF}, {}),
    "style": (_PLAIN | {"conv_metadata": _META}, {"controls": ("length", "headings")}),
    "categories": (
        _PLAIN | {"category_tag": _TAGS, "is_code": [True, None] * _HALF},
        {"kept": ("category_tag", "is_code")},
    ),
    "flags": ({name: _PLAIN[name] for name in ("model_a", "model_b")} | _FLAGS, {}),
    "one vote each": (_PLAIN | {"battle_id": [f"vote number {at}" for at in range(_ROWS)]}, {}),
}  # fmt: skip


def file_of(table: Any) -> io.BytesIO:
    to = io.BytesIO()
    parquet.write_table(table, to, row_group_size=150)
    to.seek(0)
    return to


def by_rows(monkeypatch: pytest.MonkeyPatch, table: Any, options: dict[str, Any]) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(columnar, "take", lambda *_, **__: None)
        return read([("x.parquet", file_of(table))], **options)


def same(one: Any, other: Any) -> None:
    assert isinstance(one, Battles)
    assert isinstance(other, Battles)
    assert (one.names, one.labels, one.notes, one.layout) == (
        other.names,
        other.labels,
        other.notes,
        other.layout,
    )
    for mine, theirs in zip(astuple(one.duels), astuple(other.duels), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for name in ("costs", "times", "both_bad"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name, column in one.controls.items():
        np.testing.assert_allclose(column, other.controls[name])


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("framed", [False, True])
def test_columns_say_what_rows_say(kind: str, framed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, options = TABLES[kind]
    table = pa.table(columns)
    taken: list[Any] = []
    take = columnar.take
    monkeypatch.setattr(
        columnar, "take", lambda *given, **more: taken.append(take(*given, **more)) or taken[-1]
    )
    source: Any = columnar.Frame(table, io.BytesIO) if framed else file_of(table)
    whole = read([("x.parquet", source)], **options)
    assert taken[-1] is not None
    if kind == "as released":  # no two rows are on one question
        assert isinstance(whole, Battles)
        assert not any(whole.labels["question"])
        options = {}
        whole = read([("x.parquet", file_of(table))])
    same(whole, by_rows(monkeypatch, table, options))


def test_files_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = pa.table(_PLAIN), pa.table(_PLAIN | {"weight": [2.0] * _ROWS, "judge": ["x"] * _ROWS})
    for pair in ((first, second), (second, first)):
        files = [("one", file_of(pair[0])), ("two", file_of(pair[1]))]
        whole = read(files, kept=("judge",))
        with monkeypatch.context() as patched:
            patched.setattr(columnar, "take", lambda *_, **__: None)
            same(whole, read([("one", file_of(pair[0])), ("two", file_of(pair[1]))], kept=("judge",)))


@pytest.mark.parametrize(
    ("change", "due"),
    [
        ({"winner": [*_WINNER[:-1], "nobody"]}, r"x.parquet, row 400, column winner: found 'nobody'"),
        (
            {"model_b": [*_PLAIN["model_b"][:7], _PLAIN["model_a"][7], *_PLAIN["model_b"][8:]]},
            "row 8.*against itself",
        ),
        ({"weight": [-1.0, *[1.0] * (_ROWS - 1)]}, "row 1, column weight"),
        ({"battle_id": ["the same vote"] * _ROWS}, "occurs before with another result"),
    ],
)
def test_a_bad_row_is_named_by_its_place(change: dict[str, Any], due: str) -> None:
    with pytest.raises(ValueError, match=due):
        read([("x.parquet", file_of(pa.table(_PLAIN | change)))], given=GivenForm(strict=True))


def test_numbers_and_other_spellings_for_winners_are_read_as_from_rows() -> None:
    numbers = [{"model_a": 1, "model_b": 2}.get(word, 0) for word in _WINNER]
    table = pa.table(_PLAIN | {"winner": numbers})
    stated = GivenForm.of({}, {1: "a", 2: "b", 0: "tie"})
    found = read([("x.parquet", file_of(table))], given=stated)
    assert isinstance(found, Battles)
    assert found.duels.score.tolist() == [{1: 1.0, 2: 0.0, 0: 0.5}[number] for number in numbers]
    with pytest.raises(ValueError, match=r"x\.parquet: winners are 0, 1, 2; say what they mean\n  --winner"):
        read([("x.parquet", file_of(table))])
    spelled = table.rename_columns(["Model A", "Model B", "Winner", "more"])
    assert read([("x.parquet", file_of(spelled))], given=stated).names == found.names


def test_a_column_that_is_needed_and_not_there_is_named() -> None:
    for options in ({"labels": ("prompt",)}, {"by": "prompt"}, {"controls": ("prompt",)}):
        with pytest.raises(ValueError, match=r"no column prompt|no battle has a prompt"):
            read([("x.parquet", file_of(pa.table(_PLAIN)))], **options)  # type: ignore[arg-type]


def test_equal_votes_in_two_files_count_once() -> None:
    table = pa.table(_PLAIN | {"battle_id": [f"vote number {at}" for at in range(_ROWS)]})
    whole = read([("one", file_of(table)), ("two", file_of(table))])
    assert isinstance(whole, Battles)
    assert len(whole.duels) == _ROWS
