"""The place of the row that is being read, what is wrong with the rows before it, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from peerage.figures import counted

MOST_PROBLEMS = 10
"""Bad rows that an error lists; the others are counted."""
_KEPT = 1_000


class DataError(ValueError):
    """Data that cannot be used; the message names file, line and column, and what was expected."""


class RowError(ValueError):
    """A problem of the row that is being read, in its `column`, or in the row as a whole."""

    def __init__(self, problem: str, column: str = "") -> None:
        super().__init__(problem)
        self.column = column


class ColumnMissing(RowError):
    """A row lacks the column of that name."""

    def __init__(self, column: str) -> None:
        super().__init__("missing", column)


def problems_of(problems: Sequence[str], count: int = 0) -> str:
    """The first ten problems, a line each, and how many more there are of `count`."""
    more = max(count, len(problems)) - MOST_PROBLEMS
    return "\n  ".join([*problems[:MOST_PROBLEMS], *[f"… and {more:,} more such lines"] * (more > 0)])


class Report:
    """What a reader tells: its place (`file`; `unit`, a line or a row; `number` from 1), bad rows, and notes.

    As a context it takes in RowErrors, so that all rows are read; `check` raises what it took in. `titles`
    are the file's own names of columns, by ours. In a `fixed` table a column that a row lacks is in no row:
    that is raised at once. `problems` are the first thousand, each with its place. `left_out` counts rows by
    the note on them, for one and for several.
    """

    def __init__(self, file: str = "") -> None:
        self.file, self.unit, self.number = file, "line", 0
        self.row: Any = None
        self.titles: Mapping[str, str] = {}
        self.fixed = False
        self.left_out: Counter[tuple[str, str]] = Counter()
        self.remarks: dict[str, None] = {}
        self._known: dict[str, object] = {}
        self._count = 0
        self.problems: list[tuple[str, str]] = []

    @property
    def place(self) -> str:
        """File and line, as an error begins."""
        return ", ".join([part for part in (self.file, f"{self.unit} {self.number}") if part])

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was done to the data, in words."""
        return (*self.remarks, *[counted(count, *words) for words, count in self.left_out.items()])

    def add(self, error: RowError) -> None:
        """Take a problem in. Raises DataError for a column that a table lacks."""
        column, problem = self.titles.get(error.column, error.column), str(error)
        lacking = isinstance(error, ColumnMissing)
        if lacking:
            there = ", ".join(map(str, self.row or ())) or "none"
            column, problem = "", f"there is no column {column}; the columns are {there:.2000}"
        self._count += 1
        if self._count <= _KEPT:
            self.problems.append((f"{self.place}{f', column {column}' * bool(column)}", problem))
        if lacking and self.fixed:
            self.check()

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, RowError):
            self.add(error)
        return isinstance(error, RowError)

    def check(self) -> None:
        """Raise DataError for the problems that were taken in, if there are any."""
        if self._count:
            raise DataError(problems_of([": ".join(problem) for problem in self.problems], self._count))

    def repeats(self, column: str, identity: object, content: object) -> bool:
        """Whether a row with this identity came before. Raises RowError where that had other content."""
        if identity is None or identity == "":
            return False
        before = self._known.setdefault(str(identity), content)
        if before is content:
            return False
        if before != content:
            raise RowError(f"{identity!r:.80} stands before with another result", column)
        self.left_out[
            f"row repeats a {column}, which counts once", f"rows repeat a {column}, which counts once"
        ] += 1
        return True
