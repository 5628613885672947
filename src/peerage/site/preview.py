"""The picture that a link to the arena is shown with elsewhere: its verdict and the head of its table."""

from __future__ import annotations

from textwrap import wrap

from markupsafe import Markup

from peerage.figures import tenths, whole
from peerage.protocol import visible
from peerage.site.board_charts import in_tenths
from peerage.site.leaderboards import lines
from peerage.site.reading import Site

PATH = "preview.png"
WIDE, HIGH = 1200, 630
"""Pixels, as those who show links want it."""
_SHOWN = 6

_TEXT = Markup(
    '<text x="{}" y="{}" font-size="{}" font-weight="{}" fill="{}" font-family="sans-serif" '
    'text-anchor="{}">{}</text>'
)
_LINE = Markup('<path d="M{} {}H{}" stroke="#666666" stroke-width="6"/>')
_POINT = Markup('<circle cx="{}" cy="{}" r="10" fill="#0a56a5"/>')


def picture(site: Site) -> bytes:
    """The picture, as PNG."""
    import vl_convert

    png: bytes = vl_convert.svg_to_png(drawn(site))
    return png


def drawn(site: Site) -> str:
    """The same as SVG."""
    found = site.board()
    shown = [line for line in lines(found, {}) if line.row.rank is not None][:_SHOWN]
    parts = [_text(60, 80, site.settings.name, size=30, ink="#666666")]
    answer = found.verdict.lines[0] if found.verdict.lines else ""
    for at, part in enumerate(wrap(visible(answer), 48)[:2]):
        parts.append(_text(60, 145 + 58 * at, part, size=46, weight=700))
    ends = [end for line in shown for end in (line.low, line.at, line.high) if end is not None]
    low, scale = min(ends, default=0.0), 420 / ((max(ends, default=1.0) - min(ends, default=0.0)) or 1.0)
    rating = tenths if in_tenths(site.track) else whole
    for place, line in enumerate(shown):
        y = 280 + 55 * place
        parts.append(_text(60, y, str(line.row.rank), size=30, ink="#666666"))
        parts.append(_text(120, y, line.row.player[:28], size=30))
        parts.append(_text(640, y, rating(line.row.rating), size=30, weight=700, anchor="end"))
        if line.low is not None and line.high is not None:
            start, end = (round(700 + (edge - low) * scale, 1) for edge in (line.low, line.high))
            parts.append(_LINE.format(start, y - 10, end))
        parts.append(_POINT.format(round(700 + (line.at - low) * scale, 1), y - 10))
    inside = Markup("").join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}">'
    return f'{head}<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>{inside}</svg>'


def _text(
    x: int, y: int, text: str, *, size: int, ink: str = "#111111", weight: int = 400, anchor: str = "start"
) -> Markup:
    return _TEXT.format(x, y, size, weight, ink, anchor, visible(text))
