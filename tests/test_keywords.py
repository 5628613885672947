"""Records and services are built by keyword: no call with eight or more positional arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import peerage

HERE = Path(peerage.__file__).parent
VARIADIC = ("titled", "attrgetter", "asyncio.create_subprocess_exec", "_git", "pyspiel.MCTSBot")
"""Functions that take any number of arguments of one kind, or are not ours."""
MOST = 7
SPREAD = 3
"""For how many arguments a spread one (`*them`) counts."""


def too_long(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the function of each call with more than `MOST` positional arguments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            sizes = [SPREAD if isinstance(given, ast.Starred) else 1 for given in node.args]
            if sum(sizes) > MOST and ast.unparse(node.func) not in VARIADIC:
                yield node.lineno, ast.unparse(node.func)


def test_no_call_has_eight_positional_arguments() -> None:
    found = [
        f"{path.relative_to(HERE)}:{line} {function}"
        for path in sorted(HERE.rglob("*.py"))
        for line, function in too_long(path.read_text("utf-8"))
    ]
    assert found == []


def test_long_calls_are_found() -> None:
    assert [*too_long("f(1, 2, 3, 4, 5, 6, 7, x=8)\ng(1, 2, 3, 4, 5, *more)")] == [(2, "g")]
    assert [*too_long("f(1, 2, 3, 4, 5, 6, 7, 8)")] == [(1, "f")]
