"""The picture that a link to the arena is shown with elsewhere: its verdict and the head of its table."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from textwrap import wrap

from markupsafe import Markup
from rich.cells import chop_cells

from peerage.site.reading import Site
from peerage.values.texts import visible
from peerage.views.leaderboard.tracks import METHODS

PATH = "preview.png"
WIDE, HIGH = 1200, 630
"""Pixels, as those who show links want it."""
_SHOWN = 6
_NAMES, _TITLE, _ANSWER = 26, 60, 44
"""Cells, of which a wide character takes two, of a player's name, the arena's and a line of the verdict."""
_FONT = "DejaVu Sans"
"""The font that is shipped: without a font that exists, text would vanish. Characters that it lacks are taken
from the system's fonts, or are boxes."""

_TEXT = Markup(
    '<text x="{}" y="{}" font-size="{}" font-weight="{}" fill="{}" font-family="sans-serif" '
    'text-anchor="{}">{}</text>'
)
_LINE = Markup('<path d="M{} {}H{}" stroke="#666666" stroke-width="6"/>')
_POINT = Markup('<circle cx="{}" cy="{}" r="10" fill="#0a56a5"/>')


def picture(site: Site) -> bytes:
    """The picture, as PNG."""
    return png_of(drawn(site))


def png_of(svg: str) -> bytes:
    """An SVG picture as PNG of the same size."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, font_files=_fonts(), sans_serif_family=_FONT))


@cache
def _fonts() -> list[str]:
    folder = files("peerage.site").joinpath("fonts")
    return [str(folder.joinpath(name)) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]


def drawn(site: Site) -> str:
    """The same as SVG."""
    found = site.board()
    shown = [row for row in found.rows if row.rank is not None][:_SHOWN]
    parts = [_text(60, 80, _cut(site.settings.name, _TITLE), size=30, ink="#666666")]
    answer = found.verdict.lines[0] if found.verdict.lines else ""
    for at, part in enumerate(wrap(visible(answer), _ANSWER)[:2]):
        part = _cut(part, _ANSWER)
        parts.append(_text(60, 145 + 58 * at, part, size=46, weight=700))
    middles = [(row.mu if row.track == "trueskill" else row.rating) or 0.0 for row in shown]
    ends = [end for row in shown for end in (row.lower, row.upper) if end is not None] + middles
    low, scale = min(ends, default=0.0), 420 / ((max(ends, default=1.0) - min(ends, default=0.0)) or 1.0)
    rating = METHODS[site.track].write
    for place, (row, middle) in enumerate(zip(shown, middles, strict=True)):
        y = 280 + 55 * place
        parts.append(_text(60, y, str(row.rank), size=30, ink="#666666"))
        parts.append(_text(120, y, _cut(row.player, _NAMES), size=30))
        parts.append(_text(640, y, rating(row.rating), size=30, weight=700, anchor="end"))
        if row.lower is not None and row.upper is not None:
            start, end = (round(700 + (edge - low) * scale, 1) for edge in (row.lower, row.upper))
            parts.append(_LINE.format(start, y - 10, end))
        parts.append(_POINT.format(round(700 + (middle - low) * scale, 1), y - 10))
    inside = Markup("").join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}">'
    return f'{head}<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>{inside}</svg>'


def _cut(text: str, cells: int) -> str:
    """As much of a text as so many cells hold; more is an ellipsis."""
    first, *more = chop_cells(visible(text), cells - 1) or [""]
    return f"{first}…" if more else first


def _text(
    x: int, y: int, text: str, *, size: int, ink: str = "#111111", weight: int = 400, anchor: str = "start"
) -> Markup:
    return _TEXT.format(x, y, size, weight, ink, anchor, visible(text))
