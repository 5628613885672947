"""Bugs for correct programs: small wrong edits, found by `ast` and made in the text. Pure.

>>> [bug.kind for bug in mutations("if a < b and a:\\n    print(a + 1)\\n")]
['connective', 'negated', 'boundary', 'dropped', 'operator', 'constant']
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple


class Bug(NamedTuple):
    """An edit: the characters from `start` to `end` of a program become `text`."""

    kind: str
    start: int
    end: int
    text: str


KINDS = (
    "boundary",
    "equality",
    "connective",
    "negated",
    "operator",
    "constant",
    "index",
    "slice",
    "range",
    "assignment",
    "swapped",
    "function",
    "dropped",
    "jump",
    "literal",
)
"""Every kind of bug, by name."""

_BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_EQUALITY = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_OPERATOR = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "//"}
_FUNCTION = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "abs": "int"}


def mutations(source: str) -> Iterator[Bug]:
    """Every single bug that can be put into an ASCII program, in no order of importance; they may overlap."""
    yield from _Places(source).bugs()


def applied(source: str, bugs: Sequence[Bug]) -> str:
    """The program with these bugs, whose places do not overlap."""
    for bug in sorted(bugs, key=lambda bug: -bug.start):
        source = source[: bug.start] + bug.text + source[bug.end :]
    return source


class _Places:
    """A program with the positions of its nodes."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tree = ast.parse(source)
        self._lines = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]

    def bugs(self) -> Iterator[Bug]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Compare):
                yield from self._compare(node)
            elif isinstance(node, ast.BoolOp):
                other = "or" if isinstance(node.op, ast.And) else "and"
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield self._between("connective", left, right, other)
            elif isinstance(node, ast.If | ast.While):
                yield self._whole("negated", node.test, f"not ({self._text(node.test)})")
            elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATOR:
                yield self._between("operator", node.left, node.right, _OPERATOR[type(node.op)])
            elif isinstance(node, ast.Constant):
                yield from self._constant(node)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield from self._subscript(node)
            elif isinstance(node, ast.AugAssign):
                yield from self._augmented(node)
            elif isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                yield self._whole("dropped", node, "pass")
            elif isinstance(node, ast.Break | ast.Continue):
                yield self._whole("jump", node, "break" if isinstance(node, ast.Continue) else "continue")

    def _compare(self, node: ast.Compare) -> Iterator[Bug]:
        sides = [node.left, *node.comparators]
        for at, op in enumerate(node.ops):
            for kind, others in (("boundary", _BOUNDARY), ("equality", _EQUALITY)):
                if type(op) in others:
                    yield self._between(kind, sides[at], sides[at + 1], others[type(op)])

    def _constant(self, node: ast.Constant) -> Iterator[Bug]:
        if isinstance(node.value, bool):
            yield self._whole("literal", node, str(not node.value))
        elif isinstance(node.value, int):
            yield self._whole("constant", node, str(node.value + 1))
            if node.value:
                yield self._whole("constant", node, str(node.value - 1))

    def _subscript(self, node: ast.Subscript) -> Iterator[Bug]:
        if not isinstance(node.slice, ast.Slice):
            if not isinstance(node.slice, ast.Constant | ast.Tuple):
                yield self._whole("index", node.slice, f"{self._text(node.slice)} - 1")
            return
        for bound in (node.slice.lower, node.slice.upper):
            if bound is not None:
                yield self._whole("slice", bound, f"{self._text(bound)} + 1")

    def _augmented(self, node: ast.AugAssign) -> Iterator[Bug]:
        if type(node.op) in (ast.Add, ast.Sub):
            other = "-=" if isinstance(node.op, ast.Add) else "+="
            yield self._between("assignment", node.target, node.value, other)
            yield self._between("assignment", node.target, node.value, "=")

    def _call(self, node: ast.Call) -> Iterator[Bug]:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _FUNCTION:
            yield self._whole("function", node.func, _FUNCTION[name])
        if name == "range" and node.args:
            bound = node.args[min(1, len(node.args) - 1)]
            yield self._whole("range", bound, f"{self._text(bound)} - 1")
        if len(node.args) == 2:
            first, second = (self._text(argument) for argument in node.args)
            start, end = self._span(node.args[0])[0], self._span(node.args[1])[1]
            if first != second:
                yield Bug("swapped", start, end, f"{second}, {first}")

    def _whole(self, kind: str, node: ast.AST, text: str) -> Bug:
        return Bug(kind, *self._span(node), text)

    def _between(self, kind: str, left: ast.AST, right: ast.AST, operator: str) -> Bug:
        """The operator that stands between two operands; brackets around them stay."""
        start, end = self._span(left)[1], self._span(right)[0]
        gap = self._source[start:end]
        before = len(gap) - len(gap.lstrip(") \n\\"))
        after = len(gap) - len(gap.rstrip("( \n\\"))
        return Bug(kind, start + before, end - after, operator)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._lines[node.lineno - 1] + node.col_offset,
            self._lines[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._source[start:end]
