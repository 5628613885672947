"""Tables and matches as HTML for a notebook's cell, which has no style sheet of ours.

What players wrote is hostile: each text passes through `shown`, and nothing here loads anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from peerage import blocks
from peerage.blocks import Block, Cell
from peerage.protocol import visible

FOLD = 1_500
"""Characters of a text that are open; the rest opens on demand."""

_WRITTEN = "white-space:pre-wrap;overflow-wrap:anywhere;text-align:left;margin:0 0 .6em 1em"
_LEFT, _RIGHT = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"
_TONES = {"good": "color:#2b7a4b", "bad": "color:#b3261e"}


def shown(text: str) -> str:
    """Text that no browser takes for anything else."""
    return escape(visible(text))


def table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """Rows of texts under headings, each with whether its column holds numbers."""
    sides = [_RIGHT if number else _LEFT for _, number in columns]
    caption = f'<caption style="{_LEFT}">{shown(title)}</caption>' if title else ""
    head = _cells("th", [name for name, _ in columns], sides)
    body = "".join([f"<tr>{_cells('td', row, sides)}</tr>" for row in rows])
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def lead(lines: Sequence[str]) -> str:
    """Sentences above a table, the first of them the answer."""
    return "".join(
        [f"<p>{shown(line) if place else f'<b>{shown(line)}</b>'}</p>" for place, line in enumerate(lines)]
    )


def _cells(tag: str, texts: Iterable[str], sides: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="{side}">{shown(text)}</{tag}>' for text, side in zip(texts, sides, strict=True)
    )


def match(title: str, about: str, told: Iterable[Block], who: Callable[[str], str]) -> str:
    """A match: its title, a line about it, the blocks that tell it; `who` says who sat at a label."""
    body = "".join([_block(block, who) for block in told])
    return f"<div><p><b>{shown(title)}</b><br><small>{shown(about)}</small></p>{body}</div>"


def _block(block: Block, who: Callable[[str], str]) -> str:
    match block:
        case blocks.Heading():
            return f"<h4>{shown(block.text)}</h4>"
        case blocks.Sentence():
            return f'<p style="{_TONES.get(block.tone, "")}">{shown(block.text)}</p>'
        case blocks.Task():
            return _said(_about([block.name, *[who(label) for label in block.by]]), block.text)
        case blocks.Quoted():
            about = [who(block.label), block.verdict, block.note]
            return _said(_about(about, block.tone), block.text)
        case blocks.Program():
            about = [who(block.label), block.verdict, block.note]
            return _said(_about(about, block.tone), block.source, "code")
        case blocks.Table():
            columns = [(name.lstrip(">"), name.startswith(">")) for name in block.columns]
            return table(columns, [[_value(value) for value in row] for row in block.rows], block.title)
        case blocks.ScoreLine():
            worth = "unranked" if block.score is None else f"<b>{block.score:.3g}</b>"
            return f"<p>{shown(who(block.label))}: {worth} {shown(block.why)}</p>"
        case blocks.Bar():
            most = block.most if block.most > 0 else 1.0
            return (
                f'<p><meter min="0" max="{most:g}" value="{block.value:g}"></meter> '
                f"{block.value:g} {shown(block.caption)}</p>"
            )
        case blocks.Board():
            return f"<pre>{shown(chr(10).join(block.rows))}</pre>"
        case blocks.Swatch():
            return f"<p>{' '.join(_color(*color) for color in block.colors)}</p>"
        case blocks.Private():
            seen = " and ".join(who(label) for label in block.labels)
            return f"<p><small>seen by {shown(seen)} alone</small></p>" if seen and block.marked else ""


def _about(parts: Iterable[str], tone: str = "") -> str:
    told = " · ".join(map(shown, filter(None, parts)))
    return f'<div style="{_TONES.get(tone, "")}"><small>{told}</small></div>' if told else ""


def _said(about: str, text: str, tag: str = "div") -> str:
    """What somebody wrote; what is long folds."""

    def written(part: str) -> str:
        body = shown(part)
        return f'<div style="{_WRITTEN}">{f"<code>{body}</code>" if tag == "code" else body}</div>'

    rest = text[FOLD:]
    more = f"<details><summary>{len(rest):,} more characters</summary>{written(rest)}</details>"
    return f"{about}{written(text[:FOLD]) if text else ''}{more if rest else ''}"


def _value(value: Cell) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value or "")


def _color(caption: str, color: str) -> str:
    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    swatch = f'<span style="background:#{color};padding:0 1em"></span> ' if known else ""
    return f"{swatch}{shown(caption)} {shown(color)}"


def arena(name: str, about: Iterable[str], found: str) -> str:
    """An arena in short: its name, a few facts, its leaderboard, which is markup already."""
    return f"<div><p><b>{shown(name)}</b><br><small>{shown(' · '.join(about))}</small></p>{found}</div>"
