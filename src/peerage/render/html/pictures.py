"""Pictures of matches in HTML: grids of marks, bars, colours, boards, changes of programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from peerage.game.blocks import Bar, Board, Cell, CellMark, Grid, SeatName, Swatch
from peerage.render import rows as laid
from peerage.render.html.texts import shown, shown_name

WORDY = 60
"""Characters from which on a cell of a game's table gets room to read it in."""
BRIEF = 14
"""Characters up to which a cell of a game's table may be as narrow as its longest word."""
SQUARE = 40
"""Side of a square of a board."""
CHECKERED = 8
"""Squares along the side of a board of two colours."""
BAR, SHORT = 96, 56
"""Length of a bar, and of one of several in a row."""


def grid(block: Grid, who: Callable[[str], str], *, links: bool = False) -> str:
    """Return a game's table, of which a page of transcripts has many; `who` gives the markup of a seat's
    name, marks lead where they say in a place that has `links`."""
    columns = [*zip(*block.rows, strict=True)] if block.rows else [()] * len(block.columns)
    kinds = [_kind(name, cells) for name, cells in zip(block.columns, columns, strict=True)]
    length = SHORT if kinds.count("b") > 1 else BAR
    heads = [
        f'<th class="{kind or "t"}" scope="col">{shown(name.lstrip(">"))}</th>' if name else "<td></td>"
        for name, kind in zip(block.columns, kinds, strict=True)
    ]
    rows = []
    for row in block.rows:
        cells = [_cell(value, kind, who, length, links=links) for value, kind in zip(row, kinds, strict=True)]
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    title = f"<caption>{shown(block.title)}</caption>\n" if block.title else ""
    about = shown(block.title or ", ".join(filter(None, [name.lstrip(">") for name in block.columns])))
    marks = ' class="marks"' if "m" in kinds else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{about}">\n<table{marks}>\n{title}'
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n"
    )


def _kind(name: str, cells: tuple[Cell, ...]) -> str:
    """Return the class of a column: of numbers, of marks, of bars, or of texts, which each decide alone."""
    if any(isinstance(cell, CellMark) for cell in cells):
        return "m"
    if any(isinstance(cell, Bar) for cell in cells):
        return "b"
    return "n" if name.startswith(">") else ""


def _cell(value: Cell, kind: str, who: Callable[[str], str], length: int, *, links: bool) -> str:
    if isinstance(value, SeatName):
        name = who(value.label)
        return f'<th scope="row" class="seat">{f"<s>{name}</s>" if value.out else name}</th>'
    if isinstance(value, CellMark):
        text = shown_name(value.text)
        about = f' title="{shown_name(value.about)}"' if value.about else ""
        if value.opens and links:
            text = f'<a href="#{escape(value.opens)}">{text}</a>'
        return f'<td class="{f"m {value.tone}".rstrip()}"{about}>{text}</td>'
    text = shown(laid.cell(value))
    if isinstance(value, Bar):
        return f'<td class="b">{bar(value, length)} {text}</td>'
    return f'<td class="{kind or _width(value)}">{text}</td>'


def _width(value: Cell) -> str:
    chars = len(value) if isinstance(value, str) else 0
    return "t long" if chars > WORDY else "t name" if chars > BRIEF else "t"


def bar(block: Bar, length: int = BAR) -> str:
    """Return a bar from 0 to its value, on its scale from least to most; nothing where not all are finite."""
    if not laid.drawable(block):
        return ""
    begin, end, zero = laid.extent(block, length)
    kind = "l" if block.value < 0 else "w"
    return (
        f'<svg class="amount" width="{length}" height="12" viewBox="0 0 {length} 12" '
        'preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bg" width="{length}" height="12"/>'
        f'<rect class="{kind}" x="{begin:.1f}" width="{end - begin:.1f}" height="12"/>'
        f'<path class="zero" d="M{zero:.1f} 0v12"/></svg>'
    )


def swatches(block: Swatch) -> str:
    """Return colours side by side, with those of their digits marked that are right."""
    parts = []
    for caption, color, same, right in laid.tiles(block):
        tile = ""
        if re.fullmatch("[0-9A-Fa-f]{6}", color):
            tile = (
                f'<svg width="72" height="44" role="img" aria-label="{color}"><rect width="72" height="44" '
                f'rx="4" fill="#{color}"/></svg>\n'
            )
        digits = "".join(
            [f"<b>{digit}</b>" if good else digit for digit, good in zip(color, same, strict=True)]
            if same and tile
            else shown(color)
        )
        note = f"\n<small>{right}</small>" if right else ""
        parts.append(f"<li>{tile}<span>{shown(caption)}</span>\n<code>{digits}</code>{note}</li>\n")
    return f'<ul class="swatches">\n{"".join(parts)}</ul>\n'


def board(block: Board) -> str:
    """Return a position: squares with what stands on them, or the text as it is."""
    rows = laid.squares(block) if block.squared else []
    if not rows:
        return f'<pre class="position">{shown(chr(10).join(block.rows))}</pre>\n'
    wide, tall = max(map(len, rows)) * SQUARE, len(rows) * SQUARE
    parts, half = [], SQUARE // 2
    if block.lines:
        across = "".join([f"M{half} {y * SQUARE + half}H{wide - half}" for y in range(len(rows))])
        down = "".join([f"M{x * SQUARE + half} {half}V{tall - half}" for x in range(wide // SQUARE)])
        parts = [f'<rect class="l" width="{wide}" height="{tall}"/><path d="{across}{down}"/>']
    for y, row in enumerate(rows):
        for x, piece in enumerate(row):
            if block.lines:
                at = f'cx="{x * SQUARE + half}" cy="{y * SQUARE + half}" r="{half - 2}"'
                parts += [f'<circle class="{"d" if piece == "●" else "l"}" {at}/>'] if piece else []
                continue
            tint = "d" if (x + y) % 2 and len(rows) == len(row) == CHECKERED else "l"
            parts.append(f'<rect class="{tint}" x="{x * SQUARE}" y="{y * SQUARE}" width="40" height="40"/>')
            if piece:
                dark = piece in "♚♛♜♝♞♟" or piece in "xXbB#●"
                figure = laid.FILLED.get(piece, piece)
                at = f'x="{x * SQUARE + SQUARE // 2}" y="{y * SQUARE + 29}"'
                parts.append(f'<text class="{"d" if dark else "l"}" {at}>{shown_name(figure)}</text>')
    ranks = [f'<text x="-12" y="{y * SQUARE + 26}">{len(rows) - y}</text>' for y in range(len(rows))]
    names = laid.column_names(block)
    files = [
        f'<text x="{x * SQUARE + 20}" y="{tall + 18}">{names[x % len(names)]}</text>'
        for x in range(wide // SQUARE)
    ]
    return (
        f'<svg class="squares" viewBox="-24 0 {wide + 24} {tall + 24}" width="{wide + 24}" '
        f'height="{tall + 24}" role="img" aria-label="{shown("; ".join(block.rows))}">'
        f"{''.join(parts)}{''.join(ranks)}{''.join(files)}</svg>\n"
    )


def changes(source: str) -> str:
    """Return the lines of a unified diff, each as what it says of itself."""
    kinds = {"+": "added", "-": "gone", "@": "quiet"}
    lines = [
        f'<span class="{kinds[line[0]]}">{shown(line)}</span>' if line[:1] in kinds else shown(line)
        for line in source.split("\n")
    ]
    return f'<div class="said code diff">{chr(10).join(lines)}</div>\n'
