"""Views as HTML: what stands in a page, in the report and in a notebook's cell.

    Html(href).blocks(view.blocks)

`href` says where a medium has what a link leads to; what it has nowhere is text. Whatever players wrote is
escaped and made visible: no name, reply or reason becomes markup, steers the direction of text, or hides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from peerage.blocks import (
    Answer,
    Bar,
    Beside,
    Board,
    Choices,
    Column,
    Facts,
    Figure,
    Fold,
    Heading,
    Links,
    Notes,
    Private,
    Program,
    Quoted,
    Rows,
    ScoreLine,
    Section,
    Sentence,
    Small,
    Swatch,
    Table,
    Target,
    Task,
    ViewBlock,
)
from peerage.figures import DASH
from peerage.protocol import visible
from peerage.render import rows as laid

WIDTH = 200
"""Of a drawn interval, in pixels."""
BAR = 120
"""Of a drawn record, in pixels."""
MANY = 5
"""Rows of more than which a table that can be searched offers it."""

Href = Callable[[Target], str | None]


def nowhere(_: Target) -> None:
    """Have no address for anything."""


class Html:
    """Writes blocks for one place: `href` gives addresses as seen from there, `who` says who sat at a label.
    A `bare` place has no style sheet and no scripts of ours: nothing is drawn there, and nothing searched."""

    def __init__(
        self,
        href: Href = nowhere,
        anchor: Callable[[str], str] = str,
        who: Callable[[str], str] = str,
        *,
        bare: bool = False,
    ) -> None:
        self._bare = bare
        self._href = href
        self._anchor = anchor
        self._who = who

    def blocks(self, blocks: Iterable[ViewBlock], *, heads: bool = False) -> str:
        """Return blocks as markup; where they head a page, the first sentence of an answer is its title."""
        return "".join([self._block(block, heads=heads) for block in blocks])

    def _block(self, block: ViewBlock, *, heads: bool = False) -> str:
        match block:
            case Heading():
                anchor = f' id="{escape(block.anchor)}"' if block.anchor else ""
                return f"<h{block.level}{anchor}>{self.link(shown(block.text), block.to)}</h{block.level}>\n"
            case Sentence():
                tone = f' class="{block.tone}"' if block.tone else ""
                return f"<p{tone}>{coded(block.text)}</p>\n"
            case Task():
                return boxed([block.name, *map(self._who, block.by)], block.text, block.more)
            case Quoted() | Program():
                text = block.text if isinstance(block, Quoted) else block.source
                more = block.more if isinstance(block, Quoted) else 0
                return boxed([self._who(block.label), block.verdict, block.note], text, more, block.tone)
            case ScoreLine():
                worth = "unranked" if block.score is None else f"{block.score:.3g}"
                return f"<p>{shown(self._who(block.label))} <b>{worth}</b> {shown(block.why)}</p>\n"
            case Table():
                return self._rows(laid.of_table(block, cell))
            case Board():
                return f'<pre class="board">{shown(chr(10).join(block.rows))}</pre>\n'
            case Bar():
                most = block.most if block.most > 0 else 1.0
                meter = f'<meter min="0" max="{most:g}" value="{block.value:g}"></meter>'
                return f"<p>{meter} {block.value:g} {shown(block.caption)}</p>\n"
            case Swatch():
                return f"<p>{' '.join([_color(*color) for color in block.colors])}</p>\n"
            case Private():
                seen = " and ".join(map(self._who, block.labels))
                return f'<p class="quiet">seen by {shown(seen)} alone</p>\n' if seen and block.marked else ""
            case Section():
                return f'<section class="{block.kind}">\n{self.blocks(block.blocks)}</section>\n'
            case Beside():
                groups = "".join([f"<div>{self.blocks(group)}</div>" for group in block.groups])
                return f'<div class="pair">{groups}</div>\n'
            case Answer():
                return self._answer(block, heads=heads)
            case Facts():
                return facts(block)
            case Notes():
                lines = laid.sentences(block.lines, [{"player": name} for name in block.names])
                return f"<ul>{''.join([f'<li>{coded(line)}</li>' for line in lines])}</ul>\n"
            case Links():
                return self._links(block)
            case Choices():
                fields = [
                    f'<label>{shown(title)}<select name="{key}">{_options(values, chosen)}</select></label>'
                    for key, title, values, chosen in block.fields
                ]
                at = escape(self._href(block.to) or "")
                button = f"<button>{shown(block.button)}</button>"
                return f'<form class="controls" method="get" action="{at}">{"".join(fields)}{button}</form>\n'
            case Fold():
                inside = self.blocks(block.blocks)
                return folded(block.title, inside, block.anchor)
            case Rows():
                return self._rows(block)
            case Figure():
                return self._figure(block)
            case _:
                return ""

    def _answer(self, block: Answer, *, heads: bool) -> str:
        lines = []
        for place, line in enumerate(block.lines):
            tag = "h1" if heads and not place else "p"
            strong = "" if place else ' class="verdict"'
            lines.append(f"<{tag}{strong}>{coded(line)}</{tag}>\n")
        return f'<div class="answer">\n{"".join(lines)}</div>\n'

    def link(self, text: str, to: Target | None, more: str = "") -> str:
        """Return text that leads to its target, where that has an address."""
        at = None if to is None else self._href(to)
        more += " download" * (to is not None and to[0] == "file")
        return text if at is None else f'<a href="{escape(at)}"{more}>{text}</a>'

    def _links(self, block: Links) -> str:
        links = []
        for link in block.links:
            note = f' <span class="quiet">{shown(link.note)}</span>' if link.note else ""
            current = ' aria-current="page"' if link.current else ""
            links.append(self.link(f"{shown(link.text)}{note}", link.to, current))
        label = shown(block.title or f"{block.links[0].text} and others")
        inside = f'<nav class="tabs" aria-label="{label}">\n{chr(10).join(links)}\n</nav>\n'
        if not block.title:
            return inside
        return folded(block.title, inside)

    def _rows(self, block: Rows) -> str:
        columns, remarks = [column for column in laid.shown(block) if column.page], laid.remarks(block)
        intervals = [column for column in columns if column.draw == "interval"]
        scales = {column.key: Scale.over(map(column.of, block.rows)) for column in intervals}
        name = next((column for column in columns if not column.number), columns[0])
        picks = [column for column in block.columns if column.pick]
        head = "".join([_head(column) for column in columns])
        lines = []
        for row in block.rows:
            cells = [
                self._cell(column, row, scales, named=column is name, card=block.cards) for column in columns
            ]
            lines.append(f"<tr{self._about(block, row, picks)}>{''.join(cells)}</tr>\n")
        heat = any(column.shade for column in columns)
        kind = ' class="board"' if block.search else ' class="heat"' if heat else ""
        sorts = " data-sortable" if block.sorts and not self._bare else ""
        title = f"<caption>{shown(block.title)}</caption>" if block.title and not block.search else ""
        label = shown(block.title or block.name.capitalize() or name.title)
        table = (
            f'<div class="wide" tabindex="0" role="region" aria-label="{label}">\n'
            f"<table{kind}{sorts}>{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table>\n</div>\n"
        )
        notes = laid.sentences([*laid.hints(columns), *block.notes], block.rows)
        quiet = f'<p class="quiet">{" ".join([coded(note) for note in notes])}</p>\n' if notes else ""
        said = [*laid.sentences(remarks.shared, block.rows)]
        for row, marks in zip(block.rows, remarks.marks, strict=True):
            own = [note for note, mark in remarks.own.items() if mark in marks.split(",")]
            said += [f"{name.text(row)}: {note}" for note in own]
        below = f"<ul>{''.join([f'<li>{coded(line)}</li>' for line in said])}</ul>\n" if said else ""
        return self._controls(block, picks) + table + quiet + below

    def _about(self, block: Rows, row: Any, picks: Sequence[Column]) -> str:
        """Return the attributes of a row: its anchor, whom it is above, and what it can be picked by."""
        said = ""
        if block.anchor:
            said += f' id="{escape(self._anchor(block.anchor(row)))}"'
        if block.above and (above := block.above(row)):
            said += f' data-above="{escape(" ".join(map(self._anchor, above)))}"'
        if block.faint and block.faint(row):
            said += ' class="unranked"'
        for column in picks:
            if column.pick == "value" and (value := column.of(row)):
                said += f' data-{column.key}="{shown(value)}"'
        return said

    def _cell(self, column: Column, row: Any, scales: Mapping[str, Scale], *, named: bool, card: bool) -> str:
        value = column.of(row)
        text = shown(DASH) if value is None else coded(column.write(value))
        if named:
            text = breakable(column.text(row))
        if column.link:
            text = self.link(text, column.link(row))
        small = [_small(one) for one in (column.small(row) if column.small else ())]
        drawing = ""
        if column.draw and value is not None and not self._bare:
            drawing = _record(*value) if column.draw == "record" else scales[column.key].draw(value, text)
        if column.draw:
            text = f"<small>{text}</small>" if drawing else text
        body = f"{text}{''.join(small)}{drawing}"
        if named:
            return f'<th scope="row" class="player">{body}</th>'
        order = column.order(row) if column.order else value
        sort = f' data-v="{order}"' if isinstance(order, int | float) and not self._bare else ""
        if card and value is not None:
            sort += f' data-name="{shown(column.title.lower())}"'
        tip = f' title="{shown(column.tip(row))}"' if column.tip and value is not None else ""
        shade = _shade(column, row, value) if column.shade else ""
        return f'<td class="{_kind(column)}{shade}"{sort}{tip}>{body}</td>'

    def _controls(self, block: Rows, picks: Sequence[Column]) -> str:
        """Return the form that shows some rows only."""
        choices = {
            column.key: sorted({column.of(row) or "" for row in block.rows}, reverse=True)
            for column in picks
            if column.pick == "value"
        }
        several = any(len(kinds) > 1 for kinds in choices.values())
        if self._bare or not block.search or not (len(block.rows) > MANY or several):
            return ""
        parts = ['<label>Search players<input type="search" name="q"></label>']
        for column in picks:
            if column.pick == "value" and len(choices[column.key]) > 1:
                kinds = "".join(
                    [f"<option>{shown(kind or 'unknown')}</option>" for kind in choices[column.key]]
                )
                parts.append(
                    f'<label>{shown(column.title)}<select name="{column.key}"><option value="">any</option>'
                    f"{kinds}</select></label>"
                )
            elif column.pick == "most" and len([row for row in block.rows if column.of(row) is not None]) > 1:
                parts.append(
                    f"<label>At most, {shown(column.title)}"
                    '<input type="number" name="most" min="0" step="any"></label>'
                )
        return (
            '<form class="controls filters" role="search" aria-label="Players to show">\n'
            f'{"".join(parts)}<button type="button" hidden>Show all</button><output class="quiet"></output>\n'
            "</form>\n"
        )

    def _figure(self, block: Figure) -> str:
        from peerage.render.charts import draw

        chart = draw(block)
        whole = " whole" if chart.wide else ""
        phone = " phone" if chart.wide else ""
        wide = f'<div class="drawing page">{chart.wide}</div>\n' if chart.wide else ""
        key = "".join([f"<li>{breakable(name)} <b>{shown(value)}</b></li>" for name, value in chart.key])
        key = f'<ol class="key">{key}</ol>' if key else ""
        heads = "".join(
            [
                f'<th{" class=n" * bool(place)} scope="col">{shown(name)}</th>'
                for place, name in enumerate(chart.columns)
            ]
        )
        body = "".join(
            [
                f'<tr><th scope="row">{shown(first)}</th>'
                f"{''.join([f'<td class=n>{shown(value)}</td>' for value in rest])}</tr>"
                for first, *rest in chart.rows
            ]
        )
        more = (
            f"<p>The first {len(chart.rows)} of {chart.length} rows.</p>\n"
            if chart.length > len(chart.rows)
            else ""
        )
        data = ""
        if chart.name and (at := self._href(("file", f"data/{chart.name}.csv"))):
            data = f'<p><a href="{escape(at)}" download>All of it as CSV</a></p>\n'
        return (
            f'<figure class="chart{whole}">\n<figcaption>{shown(chart.title)} '
            f'<small class="quiet">{shown(chart.about)}</small></figcaption>\n'
            f'<div class="drawing{phone}">{chart.svg}</div>\n{wide}'
            f"{key}\n"
            '<details class="data"><summary>The same as a table</summary>\n'
            f'<div class="wide" tabindex="0" role="region" aria-label="{shown(chart.title)}: data">\n'
            f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table>\n</div>\n{more}{data}"
            "</details>\n</figure>\n"
        )


class Scale:
    """From values to places on a drawing of `WIDTH` pixels, the same for a whole column."""

    def __init__(self, low: float, high: float) -> None:
        self._low = low
        self._scale = (WIDTH - 8) / ((high - low) or 1.0)

    @classmethod
    def over(cls, values: Iterable[tuple[float, float, float] | None]) -> Scale:
        """Return the scale on which all intervals find room."""
        ends = [end for value in values if value for end in value]
        return cls(min(ends, default=0.0), max(ends, default=1.0))

    def draw(self, value: tuple[float, float, float], about: str) -> str:
        """Return an interval as a line with its ends and its middle."""
        low, at, high = [round(4 + (end - self._low) * self._scale, 1) for end in value]
        return (
            f'<svg class="whisker" width="{WIDTH}" height="14" viewBox="0 0 {WIDTH} 14" '
            f'preserveAspectRatio="none" role="img" aria-label="{about.replace("–", " to ")}">'
            f'<path d="M{low} 7H{high}M{low} 4v6M{high} 4v6"/><path class="at" d="M{at} 7h0"/></svg>'
        )


def _record(won: int, drawn: int, lost: int) -> str:
    """Return matches won, drawn and lost as a bar."""
    scale, parts, at = BAR / ((won + drawn + lost) or 1), "", 0.0
    for kind, count in (("w", won), ("d", drawn), ("l", lost)):
        parts += f'<rect class="{kind}" x="{at:.1f}" width="{count * scale:.1f}" height="10"/>'
        at += count * scale
    return f'<svg class="bar" width="{BAR}" height="10" aria-hidden="true">{parts}</svg>'


FOLD = 1_500
"""Characters of a text that stand open; the rest opens on demand."""


def boxed(about: Sequence[str], text: str, more: int = 0, tone: str = "") -> str:
    """Return what somebody wrote, in a box of its own; so many characters `more` are on record."""
    told = " · ".join([shown(part) for part in about if part])
    head = f'<p class="who {tone}">{told}</p>\n' if told else ""
    rest = f'<p class="quiet">… {more:,} more characters</p>' if more else ""
    if beyond := text[FOLD:]:
        title = f"<summary>{len(beyond):,} more characters</summary>"
        rest = f"<details>{title}{_pre(beyond)}</details>{rest}"
    return f'{head}<div class="said">{_pre(text[:FOLD] or "(nothing)")}{rest}</div>\n'


def _pre(text: str) -> str:
    return f'<pre tabindex="0">{shown(text)}</pre>'


def cell(value: Any) -> str:
    """Return a plain cell of a game's table."""
    return (
        f"{value:,.2f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def _options(values: Iterable[str], chosen: str) -> str:
    return "".join([f"<option{' selected' * (one == chosen)}>{shown(one)}</option>" for one in values])


def _color(caption: str, color: str) -> str:
    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    swatch = f'<span style="background:#{color};padding:0 1em"></span> ' if known else ""
    return f"{swatch}{shown(caption)} {shown(color)}"


STYLE = (
    ".peerage .n{text-align:right;font-variant-numeric:tabular-nums}.peerage th,.peerage td{text-align:left}"
    ".peerage small{display:block}.peerage .narrow{display:none}"
    ".peerage pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 .6em 1em;text-align:left}"
    ".peerage .verdict{font-weight:bold}.peerage .good{color:#2b7a4b}.peerage .bad{color:#b3261e}"
    ".peerage .quiet{opacity:.75}"
)


def notebook(blocks: Iterable[ViewBlock], who: Callable[[str], str] = str) -> str:
    """Return blocks for a notebook's cell, which has no style sheet of ours."""
    return f'<div class="peerage"><style>{STYLE}</style>{Html(who=who, bare=True).blocks(blocks)}</div>'


def folded(title: str, inside: str, anchor: str = "") -> str:
    """Return markup that opens on demand."""
    anchor = f' id="{escape(anchor)}"' if anchor else ""
    return f'<details class="narrower"{anchor}><summary>{coded(title)}</summary>\n{inside}</details>\n'


def facts(block: Facts) -> str:
    """Return numbers that stand alone."""
    parts = []
    for fact in block.facts:
        about = f'<small class="quiet">{coded(fact.about)}</small>' if fact.about else ""
        parts.append(f"<div><dt>{shown(fact.title)}</dt><dd>{shown(fact.value)}{about}</dd></div>\n")
    return f'<dl class="facts">\n{"".join(parts)}</dl>\n'


def _head(column: Column) -> str:
    sorts = " nosort" if column.draw else ""
    title = shown(column.title)
    if column.shade:
        title = f'<span title="{title}">{title}</span>'
    if column.hint:
        title = f'<span title="{shown(column.hint)}">{title}</span>'
    return f'<th class="{_kind(column)}{sorts}" scope="col">{title}</th>'


def _kind(column: Column) -> str:
    """Return the classes of a column's cells."""
    parts = [
        "n" if column.number and not column.draw else "",
        column.draw,
        "most" if column.pick == "most" else "",
    ]
    parts += ["broad" if column.spare > 2 else "spare" if column.spare else "", column.key]
    return " ".join(dict.fromkeys(filter(None, parts)))


def _shade(column: Column, row: Any, value: Any) -> str:
    """Return the class that colours a cell, from w0 (always lost) to w6 (always won)."""
    rate = column.shade(row) if column.shade and value is not None else None
    return " self" if rate is None else f" w{min(6, int(rate * 7))}"


def _small(one: Small) -> str:
    return f'<small class="{one.tone}{" narrow" if one.narrow else ""}">{shown(one.text)}</small>'


def shown(text: str) -> str:
    """Return text that no browser takes for anything else."""
    return escape(visible(text))


def coded(text: str) -> str:
    """Return a sentence in which what stands between backticks is code."""
    parts = [shown(part) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return shown(text)
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)


def breakable(name: str) -> str:
    """Return a long name that may be broken after its punctuation, but for a point within a number."""
    whole = visible(name)
    if len(whole) <= 12:
        return escape(whole)
    parts = re.split(r"(?<=[/:_-])|(?<=\.)(?!\d)", whole)
    return "<wbr>".join(map(escape, parts))
