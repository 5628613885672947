"""Typed rows as a table that reads well in Python, a terminal and a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from peerage.figures import DASH, chance, dollars, spans, tenths, whole
from peerage.protocol import visible
from peerage.tables import Shown
from peerage.tables.catalogue import PlayerRow
from peerage.tables.leaderboard import Board
from peerage.tables.row import Row

if TYPE_CHECKING:
    import pandas

AnyRow = TypeVar("AnyRow", bound=Shown)


class Column(NamedTuple):
    """A column that a table shows: its heading, and what it writes of a row. `number` aligns right."""

    heading: str
    write: Callable[[Any], str]
    number: bool = True


@dataclass(frozen=True)
class Table(Sequence[AnyRow], Generic[AnyRow]):
    """Rows with named, typed fields, the best or first in front. `lead` says in sentences what the table
    comes to, `notes` what a reader must know of all rows.

    A sequence: `table[0].player`, `len(table)`, `for row in table`; a slice is a table. Printed or shown in a
    notebook it has the columns that matter most; `to_pandas` and `to_dicts` have every field.
    """

    rows: tuple[AnyRow, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    columns: tuple[Column, ...] = field(default=(), repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[AnyRow]:
        return iter(self.rows)

    @overload
    def __getitem__(self, place: int) -> AnyRow: ...
    @overload
    def __getitem__(self, place: slice) -> Table[AnyRow]: ...
    def __getitem__(self, place: int | slice) -> AnyRow | Table[AnyRow]:
        if isinstance(place, slice):
            return Table(self.rows[place], self.title, self.notes, columns=self.columns)
        return self.rows[place]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every row as plain JSON data."""
        return [row.as_dict() for row in self.rows]

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a column for each field. Raises ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        fields = self.rows[0].__struct_fields__ if self.rows else ()
        return pandas.DataFrame(self.to_dicts(), columns=list(fields) or None)

    def __str__(self) -> str:
        """Lead, title, heading and rows as text in columns; control characters are visible."""
        lines = [[column.heading for column in self.columns], *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        told = [
            "  ".join(
                text.rjust(width) if column.number else text.ljust(width)
                for text, width, column in zip(line, widths, self.columns, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*map(visible, filter(None, (*self.lead, self.title))), *told])

    __repr__ = __str__

    def cells(self) -> list[list[str]]:
        """What is shown of each row."""
        return [[visible(column.write(row)) for column in self.columns] for row in self.rows]

    def _repr_html_(self) -> str:
        from peerage.tables.notebook import lead, table

        columns = [(column.heading, column.number) for column in self.columns]
        return lead(self.lead) + table(columns, self.cells(), self.title)


class PairRow(Shown, frozen=True):
    """The decided matches of `player` against `other`; in a match of many, whose score was better counts.
    `share` is that of the points, a draw being half of one, from 0 to 1."""

    player: str
    other: str
    matches: int
    wins: int
    draws: int
    losses: int
    share: float


def leaderboard_table(found: Board, title: str) -> Table[Row]:
    """A leaderboard, its verdict first; TrueSkill and shares of wins show tenths."""
    small = found.track in ("trueskill", "overall")
    number = tenths if small else whole

    def interval(row: Row) -> str:
        return "" if row.lower is None else f"{number(row.lower)} to {number(row.upper)}"

    ranks = {row.player: row.rank for row in found.rows}
    with_chances = (
        Column("Best", lambda row: chance(row.best)),
        Column("Choice", lambda row: row.bin, False),
        *([Column("Tier", lambda row: row.tier, False)] if found.tiered else ()),
        Column("Proven above", lambda row: spans([rank for name in row.above if (rank := ranks[name])])),
    )
    columns = (
        Column("Rank", lambda row: "" if row.rank is None else str(row.rank)),
        Column("Player", lambda row: row.player, False),
        Column("Rating", lambda row: number(row.rating)),
        Column("95% interval", interval),
        *(with_chances if any(row.best is not None for row in found.rows) else ()),
        *([Column("Accuracy", lambda row: row.accuracy_in_words or DASH)] if found.checked else ()),
        Column("Matches", lambda row: whole(row.matches)),
        Column("Won", lambda row: whole(row.wins)),
        Column("Drawn", lambda row: whole(row.draws)),
        Column("Lost", lambda row: whole(row.losses)),
        Column("Cost", lambda row: dollars(row.cost_usd)),
    )
    return Table(found.rows, title, found.notes, found.verdict.lines, columns)


def players_table(rows: Sequence[PlayerRow]) -> Table[PlayerRow]:
    columns = (
        Column("Player", lambda row: row.player, False),
        Column("Model", lambda row: row.model, False),
        Column("Family", lambda row: row.family, False),
        Column("$ per million in", lambda row: dollars(row.input_usd_per_million)),
        Column("$ per million out", lambda row: dollars(row.output_usd_per_million)),
    )
    return Table(tuple(rows), "Players", columns=columns)


def pairs_table(rows: Sequence[PairRow]) -> Table[PairRow]:
    columns = (
        Column("Player", lambda row: row.player, False),
        Column("against", lambda row: row.other, False),
        Column("Won", lambda row: whole(row.wins)),
        Column("Drawn", lambda row: whole(row.draws)),
        Column("Lost", lambda row: whole(row.losses)),
        Column("Share", lambda row: f"{row.share:.0%}"),
    )
    return Table(tuple(rows), "Head to head", columns=columns)
