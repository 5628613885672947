"""Typed rows as a table that reads well in Python, a terminal and a notebook."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from msgspec.structs import replace

from peerage.render.blocks import Conclusion, Rows, ViewBlock
from peerage.render.data import dicts
from peerage.render.html.writer import notebook
from peerage.render.latex import latex
from peerage.render.markdown import markdown
from peerage.render.names import AS_THEY_ARE, Names
from peerage.render.terminal import text

if TYPE_CHECKING:
    import pandas

AnyRow = TypeVar("AnyRow")


@contextmanager
def drawing() -> Iterator[None]:
    """Say how to install what draws charts, where it is missing. Raises ImportError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("peerage"):
            raise
        fix = "which is not installed: pip install 'peerage[site]'"
        raise ImportError(f"charts need {error.name}, {fix}") from None


@dataclass(frozen=True, eq=False)
class Table(Sequence[AnyRow], Generic[AnyRow]):
    """Rows with named, typed fields, the best or first in front. `lead` says in sentences what the table
    comes to, `notes` what a reader must know of all rows; players have short `names` where it is shown.

    A sequence: `table[0].player`, `len(table)`, `for row in table`; a slice is a table. Printed or shown in a
    notebook it has the columns that matter most; `to_pandas` and `to_dicts` have every field.
    """

    block: Rows
    notes: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    names: Names = AS_THEY_ARE

    @property
    def rows(self) -> tuple[AnyRow, ...]:
        """The rows."""
        return tuple(self.block.rows)

    @property
    def title(self) -> str:
        """Return what the table is of."""
        return self.block.title

    def __eq__(self, other: object) -> bool:
        """Return whether another table says the same, however it is shown."""
        if not isinstance(other, Table):
            return NotImplemented
        return (self.rows, self.title, self.notes, self.lead) == (
            other.rows,
            other.title,
            other.notes,
            other.lead,
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.block.rows)

    def __iter__(self) -> Iterator[AnyRow]:
        return iter(self.block.rows)

    @overload
    def __getitem__(self, place: int) -> AnyRow: ...
    @overload
    def __getitem__(self, place: slice) -> Table[AnyRow]: ...
    def __getitem__(self, place: int | slice) -> AnyRow | Table[AnyRow]:
        if isinstance(place, slice):
            return Table(replace(self.block, rows=self.rows[place]), self.notes, names=self.names)
        return self.rows[place]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every row as plain JSON data."""
        return [dict(row) for row in dicts(self.block.rows)]

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a column for each field. Raises ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.to_dicts())

    def to_markdown(self) -> str:
        """Return what is shown as Markdown."""
        return markdown(self.blocks())

    def to_latex(self) -> str:
        """Return what is shown as LaTeX, for the package booktabs."""
        return latex(self.blocks())

    def blocks(self) -> list[ViewBlock]:
        """Return the blocks that the table is shown with."""
        return [*([Conclusion(self.lead)] if self.lead else ()), self.block]

    def __str__(self) -> str:
        """Lead, title, heading and rows as text in columns; control characters are visible."""
        return text(self.blocks(), io.StringIO(), names=self.names).rstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook(self.blocks(), self.names)
