"""Results from anywhere, rated: files, folders, data frames and rows."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, get_args

from peerage.ratings.methods import MethodReport, Options, wanted
from peerage.ratings.methods import rate as rate_history
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.columnar import Frame
from peerage.ratings.read.forms import GivenForm, Layout
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.report import DataError, short
from peerage.ratings.read.results import read
from peerage.ratings.read.source import ALL_ENDINGS, ENDINGS
from peerage.values import inputs

_UNKNOWN = ("nan", "NaT", "<NA>")
"""Values for what is not known, of NumPy and pandas, in words."""
_EVERY_EVAL_EVER = "data/*/*/*/*.jsonl"
"""Single results as Every Eval Ever, and so `peerage export --format eee`, lays them out."""
_RESULTS = (
    ". .eval_results state ratings and no results; `peerage export --format eee` writes what can be rated"
)


def rate(
    results: Any,
    *,
    layout: Layout = "auto",
    score: str = "",
    columns: Mapping[str, str] | None = None,
    winner: Mapping[Any, str] | None = None,
    strict: bool = False,
    **options: Any,
) -> MethodReport:
    """Rate a file or several, a folder of them, a data frame (pandas, polars, Arrow), or rows, each a mapping
    from column to value.

    docs/ratings.md names the columns of battles, games and answers. `columns` (`{"a": "left"}`) says which
    are ours, `winner` (`{1: "a", 2: "b"}`) what words for winners mean, and `strict` refuses rows that
    would be left out. `layout` and `score` are those of `read`, `options` fields of `Options`. The report's
    `rows` are mappings, best player first: `pandas.DataFrame(report.rows)` is a table. Raises ValueError that
    names row and column where data are not as expected, and TypeError for options that there are not.
    """
    chosen = Options(**options)
    for name, mapping in (("columns", columns), ("winner", winner)):
        if not isinstance(mapping or {}, Mapping):
            raise TypeError(
                f"{name} is {mapping!r}: expected a mapping such as {{'a': 'left'}} or {{1: 'a'}}"
            )
    given = GivenForm.of(columns or {}, winner or {}, strict=strict)
    return rate_history(history(results, layout, score=score, given=given, **wanted(chosen)), chosen)


def history(results: Any, layout: Layout = "auto", **columns: Any) -> Battles | PlayedGames | Answers:
    """Read results from anywhere, as `rate` takes them, with the `columns` that `read` is to look for."""
    if layout not in get_args(Layout):
        raise ValueError(f"layout is {layout!r}: expected one of {', '.join(get_args(Layout))}")
    paths = [results] if isinstance(results, str | os.PathLike) else results
    if isinstance(paths, Sequence) and paths and all(isinstance(path, str | os.PathLike) for path in paths):
        with contextlib.ExitStack() as opened:
            return read(((name, _open(name, opened)) for name in named(paths)), layout, **columns)
    return read([("results", Frame(results, lambda: _lines(results)))], layout, **columns)


def named(files: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return the files, each once, a folder's in order of name. Raises DataError for an empty folder."""
    places: list[str] = []
    for name in [os.fspath(file) for file in files]:
        path = Path(name)
        if name != "-" and path.is_dir():
            if (path / "leaderboard.json").exists() and (path / "games").is_dir():  # the Valyrian layout
                path = path / "games"
            inside = sorted(map(str, path.glob("**/samples_*.jsonl")))  # lm-eval's, next to means
            if not inside:
                inside = sorted(
                    str(file) for file in path.iterdir() if file.name.lower().endswith(ALL_ENDINGS)
                )
            if not inside:
                inside = sorted(map(str, path.glob(_EVERY_EVAL_EVER)))
            if not inside:
                raise DataError(
                    f"{name} holds no data: expected files ending in {', '.join(ENDINGS)}"
                    + _RESULTS * any(path.glob("*/.eval_results"))
                )
            places.extend(inside)
        else:
            places.append(name)
    once = dict[str, str]()
    for name in places:
        once.setdefault(os.path.realpath(name), name)
    return [*once.values()]


def _open(name: str, opened: contextlib.ExitStack) -> BinaryIO:
    return sys.stdin.buffer if name == "-" else opened.enter_context(inputs.opened(Path(name)))


def _lines(results: Any) -> BinaryIO:
    """Return a data frame or rows as lines of JSON. Raises TypeError for anything else."""
    for name, given in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(results, name):
            with contextlib.suppress(TypeError):  # a column alone has no records
                results = getattr(results, name)(*given)
    results = [*results] if isinstance(results, Iterable) else [results]
    if wrong := [row for row in results if not isinstance(row, Mapping)]:
        raise TypeError(f"found {short(wrong[0])}: expected a path, a data frame, or rows as mappings")
    lines = [json.dumps({str(name): _plain(row[name]) for name in row}, default=str) for row in results]
    return io.BytesIO("\n".join(lines).encode())


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):  # a number of NumPy's
        value = value.item()
    return value if isinstance(value, str) or str(value) not in _UNKNOWN else None
