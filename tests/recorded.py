"""Numbers of many cases, held against a file: what laws and measured rates leave room for, these do not.

Where a change of numbers is meant, `python -m tests.judging.test_numbers` (or `tests.ratings…`) writes them
again, and the diff shows which changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import Struct
from msgspec.structs import asdict

Cases = Mapping[str, Callable[[], Any]]


def write(file: Path, cases: Cases) -> None:
    """Write down what the cases come to now, a line each."""
    lines = [f"{json.dumps(case)}: {json.dumps(_plain(told()))}" for case, told in cases.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def check(file: Path, case: str, found: Any) -> None:
    """Assert that a case comes to what is written down, to within rounding."""
    _same(_plain(found), json.loads(file.read_text("utf-8"))[case], case)


def _plain(value: Any) -> Any:
    """As JSON holds it: nine digits, null for what is no number."""
    if isinstance(value, Struct):
        return _plain(asdict(value))
    if is_dataclass(value):
        return _plain({each.name: getattr(value, each.name) for each in fields(value)})
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.9g}") if np.isfinite(value) else None
    return value


def _same(found: Any, due: Any, at: str) -> None:
    if isinstance(due, float) and isinstance(found, float | int):
        assert found == pytest.approx(due, rel=1e-6, abs=1e-8), at
    elif isinstance(due, Mapping):
        assert found.keys() == due.keys(), at
        for key in due:
            _same(found[key], due[key], f"{at} / {key}")
    elif isinstance(due, list):
        assert len(found) == len(due), at
        for place, (one, other) in enumerate(zip(found, due, strict=True)):
            _same(one, other, f"{at} / {place}")
    else:
        assert found == due, at
