"""The place of the row that is being read, what is wrong with it, and its single values, checked.

A bad value raises RowError with its column and what was expected.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from peerage.values.figures import counted

Row = Mapping[str, Any]

MOST_PROBLEMS = 10
"""Bad rows that an error lists; the others are counted."""
_KEPT = 1_000
MOST = 1e12  # of an amount: sums of squares of a million of them keep their digits
_LONGEST_NAME = 1_000  # characters; a table of longer ones takes minutes to draw


class DataError(ValueError):
    """Data that cannot be used; the message names file, line and column, and what was expected."""


class NoSingleResults(DataError):
    """A file of means, next to which single results may be."""


class RowError(ValueError):
    """A problem of the row that is read, in its `column` or as a whole; one that `ends` it loses the rest."""

    def __init__(self, problem: str, column: str = "", *, ends: bool = False) -> None:
        super().__init__(problem)
        self.column, self.ends = column, ends


class ColumnMissing(RowError):
    """A row lacks the column of that name."""

    def __init__(self, column: str) -> None:
        super().__init__("missing", column)


def problems_of(problems: Sequence[str], count: int = 0) -> str:
    """The first ten problems, a line each, and how many more there are of `count`."""
    more = max(count, len(problems)) - MOST_PROBLEMS
    return "\n  ".join([*problems[:MOST_PROBLEMS], *[f"… and {more:,} more such lines"] * (more > 0)])


class ReadingReport:
    """A reader's report: its place (`file`; `unit`, a line or a row; `number` from 1), bad rows, and notes.

    As a context it takes in RowErrors, so that all rows are read; `check` raises what it took in. `titles`
    are the file's own names of columns, by ours. In a `fixed` table a column that a `row` lacks is in no row:
    that is raised at once. `problems` are the first thousand, each with its place. `left_out` counts rows by
    the note on them, for one and for several, and the reason. Under `strict` a row without a verdict is a
    problem.
    """

    def __init__(self, file: str = "", *, strict: bool = False) -> None:
        self.file, self.unit, self.number, self.fixed = file, "line", 0, False
        self.strict = strict
        self.row: Iterable[str] = ()
        self.titles: Mapping[str, str] = {}
        self.left_out: dict[tuple[str, str], Counter[str]] = {}
        self.problems: list[tuple[str, str]] = []
        self._guesses: dict[str, None] = {}
        self._known: dict[str, object] = {}
        self._count = 0
        self._ended = self._words = False

    @property
    def place(self) -> str:
        """File and line, as an error begins."""
        return ", ".join([part for part in (self.file, f"{self.unit} {self.number}") if part])

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was done to the data, in words."""
        notes = list(self._guesses)
        for words, counts in self.left_out.items():
            named = [f"{count} {short(reason)[1:-1]}" for reason, count in counts.most_common(10) if reason]
            reasons = ", ".join([*named, *["…"] * (len(counts) > 10)])
            notes.append(counted(counts.total(), *words) + f" ({reasons})" * bool(reasons))
        if self._count:
            words = "row cannot be used and is left out", "rows cannot be used and are left out"
            listed = problems_of([": ".join(problem) for problem in self.problems], self._count).split("\n  ")
            notes += [f"{counted(self._count, *words)} (`--strict` refuses them):"]
            notes += [f"in {problem}" for problem in listed]
        return tuple(notes)

    def guess(self, note: str) -> None:
        """Take in what was not stated and is read so; it is said once."""
        self._guesses[note] = None

    def leave(self, words: tuple[str, str], reason: str = "", *, column: str = "", count: int = 1) -> None:
        """Count rows that are left out. Raises RowError in a `strict` reading where a `column` is why."""
        if self.strict and column:
            raise RowError(f"found {reason or 'no value'}; without `--strict` such rows are left out", column)
        self.left_out.setdefault(words, Counter())[reason] += count

    def settle(self, usable: int) -> None:
        """Raise DataError for the problems that were taken in, if there are any, unless they may be left out:
        fewer than the `usable` results, with the rest of the file read, and no `strict` reading."""
        if self.strict or self._ended or self._count >= usable:
            self.check("\n  `--winner WORD=a` (b, tie, both bad, none) says what a word means" * self._words)

    def add(self, error: RowError) -> None:
        """Take a problem in. Raises DataError for a column that a table lacks."""
        column, problem = self.titles.get(error.column, error.column), str(error)
        lacking = isinstance(error, ColumnMissing)
        if lacking:
            there = ", ".join(map(str, self.row)) or "none"
            column, problem = "", f"there is no column {column}; the columns are {there:.2000}"
        self._words |= error.column == "winner" and problem.startswith(("found '", 'found "'))  # no count
        self._count += 1
        self._ended |= error.ends
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

    def check(self, hint: str = "") -> None:
        """Raise DataError for the problems that were taken in, if there are any, with the hint."""
        if self._count:
            listed = problems_of([": ".join(problem) for problem in self.problems], self._count)
            raise DataError(listed + hint)

    def repeats(self, column: str, identity: object, content: object) -> bool:
        """Return whether a row with this identity came before. Raises RowError for one with other content."""
        if identity is None or identity == "":
            return False
        before = self._known.setdefault(str(identity), content)
        if before is content:
            return False
        if before != content:
            raise RowError(f"{identity!r:.80} occurs before with another result", column)
        end = f"a {column}, which counts once"
        self.leave((f"row repeats {end}", f"rows repeat {end}"))
        return True


def needed(row: Row, column: str) -> Any:
    """The value of a column that must be there and not empty."""
    value = row.get(column)
    if value is None or value == "":
        raise RowError("empty; expected a value", column) if column in row else ColumnMissing(column)
    return value


def plain(value: Any) -> str:
    """A value as text without blanks around it, composed (NFC): what looks the same is the same."""
    return "" if value is None else unicodedata.normalize("NFC", str(value).strip())


def as_name(value: Any, column: str) -> str:
    """A player's name, as `plain` and in one line; a whole number is one, as in a table of texts."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"found {short(value)}, expected a name", column)
    if len(value) > _LONGEST_NAME:
        problem = f"found {len(value):,} characters, expected a name of at most {_LONGEST_NAME:,}"
        raise RowError(problem, column)
    return " ".join(plain(value).splitlines())


def number_of(value: Any, column: str) -> float:
    """A finite number."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RowError(f"found {short(value)}, expected a number", column)
    return number


def amount(value: Any, column: str, missing: float) -> float:
    """A number from 0 to 1e12; `missing` where there is none."""
    if value is None or value == "":
        return missing
    number = number_of(value, column)
    if not 0 <= number <= MOST:
        raise RowError(f"found {short(value)}, expected 0 or more, up to {MOST:g}", column)
    return number


def time_of(row: Row) -> float:
    """Seconds since 1970 at which a row happened, from `timestamp` (seconds or a date; UTC where no zone is
    named, so that no machine's own zone enters) or `at_ms`; nan where neither says."""
    value = row.get("timestamp")
    if value is None or value == "":
        value = row.get("at_ms")
        return math.nan if value is None or value == "" else number_of(value, "at_ms") / 1000
    try:
        return number_of(value, "timestamp")
    except RowError:
        pass
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        expected = "expected seconds or a date like 2025-09-02T18:02:54Z"
        raise RowError(f"found {short(value)}, {expected}", "timestamp") from None


def short(value: Any) -> str:
    """A value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
