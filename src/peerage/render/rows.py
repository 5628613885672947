"""Rows as texts: what every medium makes of a table before it draws it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from msgspec.structs import replace

from peerage.game.blocks import (
    Bar,
    Board,
    Cell,
    CellMark,
    Grid,
    ScoreLine,
    SeatName,
    Swatch,
    VoteLine,
    VoteStrip,
)
from peerage.game.media import worded
from peerage.render.blocks import Column, Meeting, Rows
from peerage.values.figures import DASH, aligned, score, sentence

WHERE = "Pictures and sounds: `peerage serve` shows them, and a built site has their files in media/."
MOST = 40_000
"""Characters of a text whose Markdown is read; a longer one stands as it was written."""
_MARKED = re.compile(r"[*_`#|$\\~>]|\]\(|^ {0,3}(?:[-+]|\d{1,9}[.)])\s", re.MULTILINE)
_JSON = re.compile(r"\s*(?:\{.*\}|\[.*\])\s*", re.DOTALL)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def maybe_markdown(text: str) -> bool:
    """Return whether a text may be Markdown. JSON is none, nor is what is too long to read."""
    return len(text) <= MOST and not _JSON.fullmatch(text) and bool(_MARKED.search(text))


class Remarks(NamedTuple):
    """Notes of single rows: `shared` hold for all of them; `own` are the others in the order of rows, each
    with its mark, and `marks` those of each row."""

    shared: list[str]
    own: dict[str, str]
    marks: list[str]


def remarks(block: Rows) -> Remarks:
    """Return what is to be said of single rows, once each."""
    of_rows = [list(block.remarks(row)) if block.remarks else [] for row in block.rows]
    shared = [note for note in (of_rows[0] if of_rows else ()) if all(note in notes for notes in of_rows)]
    own: dict[str, str] = {}
    for note in [note for notes in of_rows for note in notes if note not in shared]:
        own.setdefault(note, str(len(own) + 1).translate(_RAISED))
    return Remarks(shared, own, [",".join([own[note] for note in notes if note in own]) for notes in of_rows])


def shown(block: Rows, *, page: bool = False) -> list[Column]:
    """Return the columns that are shown, here or on a page, those of money with aligned
    decimals: not those that can be spared and hold nothing."""
    return [
        alike(column, block.rows)
        for column in block.columns
        if column.shown
        and (column.page or not page)
        and not (column.spare and block.rows and all(column.of(row) is None for row in block.rows))
    ]


def alike(column: Column, rows: Sequence[Any]) -> Column:
    """Return a column of money with its decimal points one above the other; any other as it is."""
    texts = aligned([column.text(row) for row in rows]) if column.number else {}
    if any(text.startswith("$") for text in texts):
        return replace(column, write=lambda value: texts.get(own := column.write(value), own))
    return column


def hints(columns: Sequence[Column]) -> list[str]:
    """Return what columns are, a sentence each that begins with the column's title."""
    return [f"{column.title}: {column.hint}" for column in columns if column.hint]


def sentences(notes: Sequence[str], rows: Sequence[Any]) -> list[str]:
    """Return notes as sentences; one may begin with the name of a player in the table, which stays."""
    names = [
        str(row.get("player") if isinstance(row, Mapping) else getattr(row, "player", "")) for row in rows
    ]
    return [sentence(note, [name for name in names if name]) for note in notes]


def cell(value: Cell, who: Callable[[str], str] = str) -> str:
    """Return a cell of a game's table as text; `who` says who sits at a label."""
    match value:
        case None:
            return DASH
        case str():
            return worded(value)
        case CellMark():
            return value.text
        case SeatName():
            return f"{who(value.label)}{' †' * value.out}"
        case Bar():
            return f"{amount(value)} {value.caption}".rstrip()
        case _:
            return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def drawable(bar: Bar) -> bool:
    """Return whether a bar has a length: a game may compute numbers that are not finite."""
    return isfinite(bar.value) and isfinite(bar.full - bar.least)


def extent(bar: Bar, length: float) -> tuple[float, float, float]:
    """Return where a bar begins and ends on a scale of that length, and where zero is."""
    least, most = min(bar.least, 0.0), max(bar.full, 0.0)
    scale = length / ((most - least) or 1.0)
    begin, end = sorted((min(max(bar.value, least), most) - least, -least))
    return begin * scale, end * scale, -least * scale


def amount(bar: Bar) -> str:
    """Return the number that a bar draws."""
    if bar.most is None and 0.995 <= bar.value < 1:
        return "over 99%"
    whole = isinstance(bar.value, float) and bar.value.is_integer()
    return f"{bar.value:.0%}" if bar.most is None else cell(int(bar.value) if whole else bar.value)


_PIECES = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))
EMPTY = " .-+"
"""Signs of squares on which nothing stands."""
FILLED = dict(zip("♔♕♖♗♘♙", "♚♛♜♝♞♟", strict=True))
"""Figures of chess as one that is coloured has them."""


def column_names(board: Board) -> str:
    """Return the letters of a board's columns."""
    return "ABCDEFGHJKLMNOPQRSTUVWXYZ" if board.lines else "abcdefghijklmnopqrstuvwxyz"


def squares(board: Board) -> list[list[str]]:
    """Return what stands on each square, a piece of chess as its figure; nothing on an empty one."""
    signs = set("".join(board.rows))
    chess = "k" in signs and signs <= {*_PIECES, *EMPTY}
    pieces = _PIECES if chess else {}
    return [["" if char in EMPTY else pieces.get(char, char) for char in row] for row in board.rows]


class Tile(NamedTuple):
    """A colour as it is shown: which of its digits are `same` as those of a hidden one, and how many."""

    caption: str
    color: str
    same: list[bool]
    right: str = ""


def tiles(block: Swatch) -> list[Tile]:
    """Return the hidden colour, if any, and the others, each compared with it."""
    tiles = [Tile("hidden", block.hidden, [])] if block.hidden else []
    for caption, color in block.colors:
        hidden = block.hidden.ljust(len(color)) if block.hidden else ""
        same = [digit == wanted for digit, wanted in zip(color, hidden, strict=False)]
        tiles.append(Tile(caption, color, same, f"{sum(same)} of {len(same)} digits right" if same else ""))
    return tiles


def worth(line: ScoreLine, who: str) -> str:
    """Return what somebody's play was worth, and why."""
    got = "unranked" if line.score is None else f"score {score(line.score)}"
    return f"{who}  {got}{f': {line.why}' if line.why else ''}"


def meeting(block: Meeting) -> str:
    """Return who met, with scores, or of more than two with places."""
    return " · ".join(
        [
            f"{f'{place}. ' if place else ''}{met.player} ({met.label}){f' {worth}' if worth else ''}"
            for place, met, worth in block.places()
        ]
    )


VERDICTS = {"approve": "✓", "object": "✗", "tie": "="}
"""Verdicts that a medium marks with a sign; that of an answer with its label."""


def of_votes(strip: VoteStrip, who: Callable[[str], str | None]) -> Rows:
    """Return votes as rows: whose, the verdicts, what they count as, and the weight."""

    def given(place: int, line: VoteLine) -> str | None:
        verdict = line.given[place]
        return verdict.choice if verdict else None

    columns = [
        Column("judge", strip.name, value=lambda line: who(line.label)),
        *[
            Column(f"given{place}", title or "Vote", value=partial(given, place))
            for place, title in enumerate(strip.titles)
        ],
        *([Column("counts", "Counts as")] if len(strip.titles) > 1 else ()),
        Column("weight", "Weight", "{:.0%}".format, number=True, spare=1),
    ]
    return Rows(strip.votes, columns, sorts=False)


def of_table(block: Grid, who: Callable[[str], str] = str) -> Rows:
    """Return a game's table as rows under columns; `who` says who sits at a label."""
    rows = block.rows if block.columns else ()
    seats = bool(rows) and all(isinstance(row[0], SeatName) for row in rows)

    def column(place: int, name: str) -> Column:
        return Column(
            "player" if seats and not place else str(place),
            name.removeprefix(">"),
            lambda value: cell(value, who),
            number=name.startswith(">"),
            value=lambda row: row[place],
        )

    return Rows(rows, [column(place, name) for place, name in enumerate(block.columns)], title=block.title)
