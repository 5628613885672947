"""Results in memory are rated as those of a file are."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from peerage import ratings
from peerage.ratings.methods import Options
from peerage.ratings.methods import rate as rate_history
from peerage.ratings.read.results import read

ROWS = [
    {"model_a": "ann", "model_b": "bob", "winner": winner, "question": f"q{number % 12}", "weight": weight}
    for number, (winner, weight) in enumerate([("model_a", 1.0), ("model_b", float("nan")), ("tie", 2)] * 8)
]
FILE = "model_a,model_b,winner,question,weight\n" + "".join(
    f"{row['model_a']},{row['model_b']},{row['winner']},{row['question']},"
    f"{'' if row['weight'] != row['weight'] else row['weight']}\n"
    for row in ROWS
)


class Frame:
    """A data frame as pandas has it."""

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return [{**row, "weight": np.float64(row["weight"])} for row in ROWS]  # type: ignore[arg-type]


class Polars:
    def to_dicts(self) -> list[dict[str, Any]]:
        return ROWS


@pytest.mark.parametrize("results", [ROWS, Frame(), Polars(), iter(ROWS)])
def test_frames_and_rows_are_rated_as_a_file_of_them_is(results: Any) -> None:
    file = read([("battles.csv", io.BytesIO(FILE.encode()))], labels=("question",))
    due = rate_history(file, Options(cluster=("question",)))
    assert ratings.rate(results, cluster=("question",)) == due
    assert len(due.rows) == 2


def test_a_bad_row_is_named() -> None:
    with pytest.raises(ValueError, match=r"results, line 2, column winner"):
        ratings.rate([ROWS[0], {**ROWS[1], "winner": "nobody knows"}])
    for nothing in (42, None, ["a.csv", ROWS[0]], [[1, 2]]):
        with pytest.raises(TypeError, match="expected a path, a data frame, or rows as mappings"):
            ratings.rate(nothing)
    with pytest.raises(TypeError, match="methods"):
        ratings.rate(ROWS, methods="bt")


def test_the_library_loads_what_is_asked_for() -> None:
    assert all(hasattr(ratings, name) for name in ratings.__all__)
    assert sorted(ratings._HOME) == sorted(ratings.__all__)
    with pytest.raises(AttributeError, match="it has Options, duels"):
        _ = ratings.glicko
    code = "import sys, peerage.ratings; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_files_folders_and_frames_of_pandas_polars_and_arrow_are_rated_alike(tmp_path: Any) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    file = tmp_path / "battles.csv"
    file.write_text(FILE, "utf-8")
    assert ratings.rate([file, str(file), tmp_path], cluster="question") == ratings.rate(
        file, cluster="question"
    )
    frame = pandas.DataFrame(ROWS)
    due = ratings.rate(file, cluster="question")
    folder, listed = (
        ratings.rate([tmp_path], cluster="question"),
        ratings.rate([str(file)], cluster="question"),
    )
    assert due == folder == listed
    assert ratings.rate(frame, cluster="question") == due
    assert ratings.rate(pyarrow.Table.from_pandas(frame), cluster="question") == due
    frame["category"] = frame["model_a"].astype("category")
    assert ratings.rate(frame, cluster="question") == due
    with pytest.raises(ValueError, match=r"results, line 2, column winner"):
        ratings.rate(frame.assign(winner=["tie", *["nobody"] * 23]))


@pytest.mark.parametrize(
    "results", [None, 5, {"model_a": ["x"], "model_b": ["y"]}, [("x", "y")], np.zeros((2, 2))]
)
def test_what_is_no_table_is_refused_in_words(results: Any) -> None:
    with pytest.raises(TypeError, match=r"found .*: expected a path, a data frame, or rows as mappings"):
        ratings.rate(results)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "votes"}, "layout is 'votes': expected one of auto, battles"),
        ({"columns": "a=left"}, "columns is 'a=left': expected a mapping"),
        ({"winner": "1=a"}, "winner is '1=a': expected a mapping"),
        ({"columns": {"a": 0}}, "there is no column 0"),
        ({"cluster": "topic"}, "there is no column topic"),
    ],
)
def test_options_that_cannot_be_meant_are_named(options: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        ratings.rate(ROWS, **options)


def test_a_verdict_may_be_stated_to_be_none() -> None:
    table = ratings.rate([*ROWS, {**ROWS[0], "winner": "later"}], winner={"later": None})
    assert "1 row without a winner is left out (1 later)" in table.notes
