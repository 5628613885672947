"""What mutation testing names is there: it runs by hand, so that what went would be seen late."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from tests.mutants import PARTS

ROOT = Path(__file__).parents[1]


def defined(where: str) -> bool:
    """Whether a dotted place names a function or a class of a module of ours; mutmut strips underscores."""
    steps = where.split(".")
    for at in range(len(steps), 0, -1):
        path = ROOT / "src" / Path(*steps[:at]).with_suffix(".py")
        if path.is_file():
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            tree = ast.walk(ast.parse(path.read_text("utf-8")))
            names = {node.name.strip("_") for node in tree if isinstance(node, kinds)}
            return {step.strip("_") for step in steps[at:]} <= names
    return False


def test_parts_have_their_sources_and_tests() -> None:
    for name, part in PARTS.items():
        for folder, patterns in (("src/peerage", part.sources), ("tests", part.tests)):
            assert [each for each in patterns if not any((ROOT / folder).glob(each))] == [], name


def test_changes_that_nobody_can_notice_are_of_code_that_is_there() -> None:
    known = tomllib.loads((ROOT / "tests/mutants.toml").read_text("utf-8"))["same"]
    assert [one["where"] for one in known if not defined(one["where"])] == []
