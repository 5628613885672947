"""The picture that a link to a page is shown with elsewhere: what it says, and those whom it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import NamedTuple

from markupsafe import Markup
from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from peerage.values.texts import visible
from peerage.views.leaderboard.row import Row
from peerage.views.leaderboard.tracks import METHODS

WIDE, HIGH = 1200, 630
"""Pixels, as those who show links want it."""
_SHOWN = 6
_MARGIN = 60
_CELL, _BOLD_CELL = 0.58, 0.65
"""The shares of its size that a character of one cell takes in a line of words, at most."""
_CLOSEST = 1.25
"""The most that a text may be wider than its room, into which it is then set, as a factor."""
_SIZES = {54: 3, 46: 3, 40: 3, 34: 4, 28: 6}
"""Sizes of the sentence with the lines it may take: the first is taken that suffices."""
_NAME_WIDTH = 470
_FONT = "DejaVu Sans"
"""The font that is shipped: without a font that exists, text would vanish. Characters that it lacks are taken
from the system's fonts, or are boxes."""

_TEXT = Markup(
    '<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{ink}" font-family="sans-serif" '
    'text-anchor="{anchor}"{squeezed}>{text}</text>'
)
_SQUEEZED = Markup(' textLength="{}" lengthAdjust="spacingAndGlyphs"')
_LINE = Markup('<path d="M{} {}H{}" stroke="#666666" stroke-width="6"/>')
_LOGO = Markup(
    '<path transform="translate(1092 40) scale(3)" fill="#0a56a5" d="M1 8h4v7H1zM6 2h4v13H6zm5 4h4v9h-4z"/>'
)
_POINT = Markup('<circle cx="{}" cy="{}" r="10" fill="#0a56a5"/>')


_WORDS = Console(file=StringIO())
"""Divides sentences by the cells of their characters; nothing is written to it."""


class CardRow(NamedTuple):
    """A line of a card: a player, its `value` in words and, where it has one, its `interval` on an axis that
    all lines share: (low, middle, high). `place` stands before it; a `marked` one is bold."""

    name: str
    value: str
    place: str = ""
    interval: tuple[float, float, float] | None = None
    marked: bool = False


def rated(rows: Sequence[Row], marked: str = "") -> list[CardRow]:
    """Return the lines of ranked players of a table; of many the first, and the one that is `marked`."""
    ranked = [row for row in rows if row.rank is not None]
    at = next((place for place, row in enumerate(ranked) if row.player == marked), 0)
    shown = ranked[:_SHOWN] if at < _SHOWN else [*ranked[: _SHOWN - 1], ranked[at]]
    return [
        CardRow(
            name=row.player,
            value=METHODS[row.track].write(row.rating),
            place=str(row.rank),
            interval=_interval(row),
            marked=row.player == marked,
        )
        for row in shown
    ]


def _interval(row: Row) -> tuple[float, float, float]:
    middle = row.middle or 0.0
    if row.lower is None or row.upper is None:
        return middle, middle, middle
    return row.lower, middle, row.upper


def png(arena: str, sentence: str, rows: Sequence[CardRow]) -> bytes:
    """Return the card of a page of the arena of that name, which says that sentence, as PNG."""
    return png_of(drawn(arena, sentence, rows))


def png_of(svg: str) -> bytes:
    """Return an SVG picture as PNG of the same size."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, font_files=_fonts(), sans_serif_family=_FONT))


@cache
def _fonts() -> list[str]:
    folder = files("peerage.site").joinpath("fonts")
    return [str(folder.joinpath(name)) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]


def drawn(arena: str, sentence: str, rows: Sequence[CardRow]) -> str:
    """Return the card as SVG: nothing on it is wider than the place it has."""
    inside = WIDE - 2 * _MARGIN
    parts = [_LOGO, _text(_MARGIN, 76, arena, size=28, room=inside - 100, ink="#666666")]
    size, lines = _fitting(visible(sentence), inside)
    y = 90
    for line in lines:
        y += round(1.2 * size)
        parts.append(_text(_MARGIN, y, line, size=size, room=inside, weight=700))
    parts += _rows(rows, y + 40)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}">'
    return f'{head}<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>{Markup("").join(parts)}</svg>'


def _fitting(sentence: str, room: int) -> tuple[int, list[str]]:
    """Return the largest size at which a sentence fits into its lines, and these."""
    for size, most in _SIZES.items():
        lines = [line.plain for line in Text(sentence).wrap(_WORDS, int(room / size / _BOLD_CELL))]
        if len(lines) <= most:
            break
    return size, lines[:most]


def _rows(rows: Sequence[CardRow], top: int) -> Iterator[Markup]:
    """Yield the lines below `top`, as far apart as the room allows."""
    ends = [end for row in rows if row.interval for end in row.interval]
    low, scale = min(ends, default=0.0), 400 / ((max(ends, default=1.0) - min(ends, default=0.0)) or 1.0)
    step = min(58.0, (HIGH - 40 - top) / max(1, len(rows)))
    for at, row in enumerate(rows, 1):
        y, weight = round(top + at * step), 700 if row.marked else 400
        yield _text(_MARGIN, y, row.place, size=28, room=50, ink="#666666")
        start = _MARGIN + 60 * bool(row.place)
        yield _text(start, y, row.name, size=28, room=_NAME_WIDTH, weight=weight)
        yield _text(690, y, row.value, size=28, room=140, weight=700, anchor="end")
        if row.interval:
            left, middle, right = (round(740 + (edge - low) * scale, 1) for edge in row.interval)
            if right > left:
                yield _LINE.format(left, y - 10, right)
            yield _POINT.format(middle, y - 10)


def _text(
    x: int,
    y: int,
    text: str,
    *,
    size: int,
    room: int,
    ink: str = "#111111",
    weight: int = 400,
    anchor: str = "start",
) -> Markup:
    """Return a line of text within its `room`: what is a little too wide is set closer, else cut."""
    cell = size * (_BOLD_CELL if weight > 400 else _CELL)
    cells = int(_CLOSEST * room / cell)
    first, *more = chop_cells(visible(text), cells - 1) or [""]
    shown = f"{first}…" if more else first
    squeezed = _SQUEEZED.format(room) if cell_len(shown) * cell > room else ""
    return _TEXT.format(
        x=x, y=y, size=size, weight=weight, ink=ink, anchor=anchor, squeezed=squeezed, text=shown
    )
