"""Results that are in memory, rated: data frames and rows."""

from __future__ import annotations

import io
import json
from typing import Any

from peerage.ratings.methods import MethodReport, Options, wanted
from peerage.ratings.methods import rate as rate_history
from peerage.ratings.read.results import read

_UNKNOWN = ("nan", "NaT", "<NA>")
"""Values for what is not known, of NumPy and pandas, in words."""


def rate(results: Any, **options: Any) -> MethodReport:
    """Rate a data frame (pandas, polars, Arrow), or rows, each a mapping from column to value.

    docs/ratings.md names the columns of battles, games and answers; `options` are fields of `Options`. The
    report's `rows` are mappings, best player first: `pandas.DataFrame(report.rows)` is a table. Raises
    ValueError that names row and column where data are not as expected.
    """
    chosen = Options(**options)
    lines = [
        json.dumps({str(name): _plain(row[name]) for name in row}, default=str) for row in _rows(results)
    ]
    return rate_history(read([("results", io.BytesIO("\n".join(lines).encode()))], **wanted(chosen)), chosen)


def _rows(results: Any) -> Any:
    # Arrow, polars, pandas
    for name, given in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(results, name):
            results = getattr(results, name)(*given)
    return results


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):  # a number of NumPy's
        value = value.item()
    return value if isinstance(value, str) or str(value) not in _UNKNOWN else None
