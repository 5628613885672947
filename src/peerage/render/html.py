"""Views as HTML: what stands in a page, in the report and in a notebook's cell.

    Html(href).blocks(view.blocks)

`href` says where a medium has what a link leads to; what it has nowhere is text. Whatever players wrote is
escaped and made visible: no name, reply or reason becomes markup, steers the direction of text, or hides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import Any

from peerage.game.blocks import (
    Bar,
    Board,
    Cell,
    Grid,
    Heading,
    Private,
    Quoted,
    ScoreLine,
    Sentence,
    SourceCode,
    Swatch,
    Target,
    TaskText,
)
from peerage.render import rows as laid
from peerage.render.blocks import (
    Answer,
    Beside,
    Choices,
    Column,
    Facts,
    Figure,
    Fold,
    Links,
    Meeting,
    Notes,
    Reply,
    Rows,
    Section,
    Small,
    Transcript,
    ViewBlock,
)
from peerage.values.figures import DASH, score
from peerage.values.texts import visible

WIDTH = 200
"""Of a drawn interval, in pixels."""
BAR = 120
"""Of a drawn record, in pixels."""
MANY = 5
"""Rows of more than which a table that can be searched offers it."""
FOLD = 1_500
"""Characters of a text that stand open; the rest opens on demand."""
LONG = 6_000
"""Characters from which on a text scrolls in a frame of its own."""
WORDY = 60
"""Characters from which on a cell of a game's table gets room to read it in."""
BRIEF = 14
"""Characters up to which a cell of a game's table may be as narrow as its longest word."""

_CHIPS = {"good": "chip yes", "bad": "chip no"}
_BETWEEN = ' <span class="quiet">·</span> '
_SAID = (Quoted, SourceCode, TaskText)
_PLAIN = bytes({*range(32, 127), 9, 10} - {*b"&<>\"'"})

Href = Callable[[Target], str | None]


def nowhere(_: Target) -> None:
    """Have no address for anything."""


class Html:
    """Writes blocks for one place: `href` gives addresses as seen from there. A `bare` place has no style
    sheet and no scripts of ours: nothing is drawn there, and nothing searched. Blocks of a match are written
    `within` its transcript, which knows who sat at a label and what is on record of a reply."""

    def __init__(
        self,
        href: Href = nowhere,
        anchor: Callable[[str], str] = str,
        *,
        bare: bool = False,
        within: Transcript | None = None,
    ) -> None:
        self._bare = bare
        self._href = href
        self._anchor = anchor
        self._within = within
        self._names: dict[str, str] = {}
        self._quoted: set[str] = set()
        self._asked: dict[tuple[str, Sequence[tuple[str, int]]], str] = {}

    def blocks(self, blocks: Iterable[ViewBlock], *, heads: bool = False) -> str:
        """Return blocks as markup; where they head a page, the first sentence of an answer is its title."""
        parts = []
        for drawn, group in groupby(blocks, lambda block: isinstance(block, Figure)):
            inside = "".join([self._block(block, heads=heads) for block in group])
            parts.append(f'<div class="charts">\n{inside}</div>\n' if drawn else inside)
        return "".join(parts)

    def _block(self, block: ViewBlock, *, heads: bool = False) -> str:
        match block:
            case Heading():
                level = block.level + (self._within is not None)
                anchor = f' id="{escape(block.anchor)}"' if block.anchor else ""
                return f"<h{level}{anchor}>{self.link(shown(block.text), block.to)}</h{level}>\n"
            case Sentence():
                tone = f' class="{block.tone}"' if block.tone else ""
                return f"<p{tone}>{coded(block.text)}</p>\n"
            case Quoted():
                return self._said(block, "", self._who(block.label), written(block.text, block.label))
            case TaskText():
                who = _BETWEEN.join([_name(block.name)] * bool(block.name) + [*map(self._who, block.by)])
                return self._said(block, "task", who, written(block.text, "The task"))
            case SourceCode():
                who = self._who(block.label) if block.label else ""
                text = written(block.source, block.label or "The program", "said code")
                return self._said(block, "program", who, text)
            case ScoreLine():
                worth = "unranked" if block.score is None else f"<b>{score(block.score)}</b>"
                why = f' <span class="quiet">{shown(block.why)}</span>' if block.why else ""
                return f'<p class="worth">{self._who(block.label)} {worth}{why}</p>\n'
            case Grid():
                return _table(block)
            case Board():
                return f'<pre class="board">{shown(chr(10).join(block.rows))}</pre>\n'
            case Bar():
                most = block.most if block.most > 0 else 1.0
                meter = f'<meter min="0" max="{most:g}" value="{block.value:g}"></meter>'
                return f'<p class="worth">{meter} {laid.amount(block)} {shown(block.caption)}</p>\n'
            case Swatch():
                return f'<p class="swatches">{"".join([_color(*color) for color in block.colors])}</p>\n'
            case Private():
                seen = " and ".join(map(self._who, block.labels))
                return f'<p class="quiet">seen by {seen} alone</p>\n' if seen and block.marked else ""
            case Meeting():
                return self._meeting(block)
            case Transcript():
                told = Html(self._href, self._anchor, bare=self._bare, within=block)._stages(block.blocks)
                number = block.number
                return (
                    f'<article class="match" id="m{number}" aria-label="Match {number}">\n'
                    f"<header>\n{self.blocks(block.head)}</header>\n{told}</article>\n"
                )
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
                if self._within:
                    inside = self._stages(block.blocks, parted=False)
                    return folded(block.title, inside, block.anchor, "stage rest")
                return folded(block.title, self.blocks(block.blocks), block.anchor)
            case Rows():
                return self._rows(block)
            case Figure():
                return self._figure(block)
            case _:
                return ""

    def _stages(self, blocks: Iterable[ViewBlock], *, parted: bool = True) -> str:
        """Return the blocks of a match, `parted` into a section from each heading to the next: what was said
        stands side by side, what few could see in a frame."""
        parts: list[str] = []
        opened = said = private = False
        for block in blocks:
            begins, says = isinstance(block, Heading | Fold), isinstance(block, _SAID)
            parts.append("</div>\n" * (said and not says))
            if private and (begins or isinstance(block, Private)):
                parts.append("</div>\n")
                private = False
            if begins:
                parts.append("</section>\n" * opened)
                opened = False
            if parted and not opened and not isinstance(block, Fold):
                parts.append('<section class="stage">\n')
                opened = True
            if isinstance(block, Private) and block.labels:
                parts.append(f'<div class="private" data-seen="{" ".join(map(_name, block.labels))}">\n')
                private = True
            parts.append('<div class="steps">\n' * (says and not said))
            said = says
            parts.append(self._block(block))
        return "".join(parts) + "</div>\n" * (said + private) + "</section>\n" * opened

    def _who(self, label: str) -> str:
        known = self._names.get(label)
        if known is None:
            name = self._within.names.get(label) if self._within else None
            known = _name(label)
            if self._within:
                known = f'{f"{_name(name)} " if name else ""}<span class="label">{known}</span>'
            self._names[label] = known
        return known

    def _said(self, block: TaskText | Quoted | SourceCode, kind: str, who: str, text: str) -> str:
        """Return what somebody wrote: who it was, what it came to, the words, and how it was asked for."""
        reply = self._within.reply(block.key) if self._within and block.key else None
        address = below = chip = ""
        if reply is not None:
            kind = f"{kind} {reply.role}{' best' if reply.won else ''}".lstrip()
            if block.key not in self._quoted:
                self._quoted.add(block.key)
                address, below = f' id="{self._address(reply.place)}"', self._below(reply)
        if not isinstance(block, TaskText):
            if block.verdict:
                chip = f'<span class="{_CHIPS.get(block.tone, "chip")}">{_name(block.verdict)}</span>\n'
            if block.note:
                chip += f'<span class="quiet">{_name(block.note)}</span>\n'
        more = f'<p class="quiet">… {block.more:,} more characters</p>\n' if block.more else ""
        about = f'<p class="who">{who}</p>\n' if who else ""
        return f'<div class="step {kind}"{address}>\n{about}{chip}{text}{more}{below}</div>\n'

    def _address(self, place: int) -> str:
        return f"m{self._within.number}-{place}" if self._within else ""

    def _below(self, reply: Reply) -> str:
        """Return how a reply was asked for, and what it took."""
        asked = self._asked.get((reply.form, reply.seeing))  # a panel sees the same few things
        if asked is None:
            seen = [
                f'<a href="#{self._address(place)}">{_name(label)}</a>' if place else _name(label)
                for label, place in reply.seeing
            ]
            at = self._href(("view", f"method.html#f{reply.form}")) if reply.form else None
            asked = f'asked <a href="{escape(at)}">like this</a>' if at else ""
            asked += f", seeing {', '.join(seen)}" if seen else ""
            self._asked[reply.form, reply.seeing] = asked
        told = " · ".join(filter(None, (asked, _name(reply.took))))
        return f'<p class="took">{told}</p>\n' if told else ""

    def _meeting(self, block: Meeting) -> str:
        seats = []
        best = max([met.score for met in block.seats if met.score is not None], default=None)
        for place, met, worth in block.places():
            before = f"<b>{place}.</b> " if place else ""
            tag = ("span", ' class="quiet"') if met.score is None else ("b", "")
            after = f" <{tag[0]}{tag[1]}>{worth}</{tag[0]}>" if worth else ""
            name = self.link(_name(met.name), ("player", met.player))
            won = ' class="won"' if met.score is not None and met.score == best else ""
            seats.append(f"<span{won}>{before}{_name(met.label)} {name}{after}</span>\n")
        return f'<p class="score">\n{_BETWEEN.join(seats)}</p>\n'

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
            current = ' aria-current="page"' if link.current else " download" * (link.to[0] == "file")
            links.append(self.link(f"{shown(link.text)}{note}", link.to, current))
        label = shown(block.title or f"{block.links[0].text} and others")
        inside = f'<nav class="tabs" aria-label="{label}">\n{chr(10).join(links)}\n</nav>\n'
        if not block.title:
            return inside
        return folded(block.title, inside)

    def _rows(self, block: Rows) -> str:
        columns, remarks = laid.shown(block, page=True), laid.remarks(block)
        intervals = [column for column in columns if column.draw == "interval"]
        scales = {column.key: Scale.over(map(column.of, block.rows)) for column in intervals}
        name = next((column for column in columns if not column.number), columns[0])
        picks = [column for column in block.columns if column.pick]
        head = "".join([_head(column) for column in columns])
        lines = []
        kinds = [(column, _kind(column)) for column in columns]
        for row in block.rows:
            cells = [
                self._named(column, row, scales)
                if column is name
                else self._cell(column, kind, row, scales, block)
                for column, kind in kinds
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

    def _named(self, column: Column, row: Any, scales: Mapping[str, Scale]) -> str:
        text = breakable(column.text(row))
        return f'<th scope="row" class="player">{self._inside(column, row, text, scales)}</th>'

    def _cell(self, column: Column, kind: str, row: Any, scales: Mapping[str, Scale], block: Rows) -> str:
        value = column.of(row)
        if value is None:
            text, more = DASH, ""
        else:
            text, more = coded(column.write(value)), ""
            if block.cards:
                more = f' data-name="{shown(column.title.lower())}"'
            if column.tip:
                more += f' title="{shown(column.tip(row))}"'
        if block.sorts and not self._bare:
            order = column.order(row) if column.order else value
            more = f' data-v="{order}"{more}' if isinstance(order, int | float) else more
        if column.shade:
            kind += _shade(column, row, value)
        return f'<td class="{kind}"{more}>{self._inside(column, row, text, scales)}</td>'

    def _inside(self, column: Column, row: Any, text: str, scales: Mapping[str, Scale]) -> str:
        if column.link:
            text = self.link(text, column.link(row))
        drawing = ""
        if column.draw and not self._bare and (value := column.of(row)) is not None:
            drawing = _record(*value) if column.draw == "record" else scales[column.key].draw(value, text)
            text = f"<small>{text}</small>"
        if column.small:
            text += "".join([_small(one) for one in column.small(row)])
        return text + drawing

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


def written(text: str, about: str, kind: str = "said") -> str:
    """Return what somebody wrote; what is long folds, and scrolls where it is very long."""
    if len(text) <= FOLD:
        return f'<div class="{kind}">{shown(text)}</div>\n' if text else ""
    rest = text[FOLD:]
    frame = f' tabindex="0" role="group" aria-label="More of {_name(about)}"' if len(rest) > LONG else ""
    return (
        f'<div class="{kind}">{shown(text[:FOLD])}</div>\n<details><summary>{len(rest):,} more characters'
        f'</summary><div class="{kind}"{frame}>{shown(rest)}</div></details>\n'
    )


def _options(values: Iterable[str], chosen: str) -> str:
    return "".join([f"<option{' selected' * (one == chosen)}>{shown(one)}</option>" for one in values])


def _table(block: Grid) -> str:
    """Return a game's table, of which a page of transcripts has many."""
    numeric = [name.startswith(">") for name in block.columns]
    heads = [
        f'<th class="{"n" if number else "t"}" scope="col">{shown(name.lstrip(">"))}</th>'
        if name
        else "<td></td>"
        for name, number in zip(block.columns, numeric, strict=True)
    ]
    rows = []
    for row in block.rows:
        cells = [
            f'<td class="{"n" if number else _width(value)}">{shown(laid.cell(value))}</td>'
            for value, number in zip(row, numeric, strict=True)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    title = f"<caption>{shown(block.title)}</caption>\n" if block.title else ""
    about = shown(block.title or ", ".join(filter(None, [name.lstrip(">") for name in block.columns])))
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{about}">\n<table>\n{title}'
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n"
    )


def _width(value: Cell) -> str:
    chars = len(value) if isinstance(value, str) else 0
    return "t long" if chars > WORDY else "t name" if chars > BRIEF else "t"


def _color(caption: str, color: str) -> str:
    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    drawn = (
        f'<svg width="40" height="24" role="img" aria-label="{color}"><rect width="40" height="24" '
        f'rx="4" fill="#{color}"/></svg> '
        if known
        else ""
    )
    return f'<span class="swatch">{drawn}{shown(caption)} <code>{shown(color)}</code></span> '


STYLE = (
    ".peerage .n{text-align:right;font-variant-numeric:tabular-nums}.peerage th,.peerage td{text-align:left}"
    ".peerage small{display:block}.peerage .narrow{display:none}"
    ".peerage :is(pre,.said){white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 .6em 1em;text-align:left}"
    ".peerage .verdict{font-weight:bold}.peerage .good{color:#2b7a4b}.peerage .bad{color:#b3261e}"
    ".peerage :is(.quiet,.took){opacity:.75}"
)


def notebook(blocks: Iterable[ViewBlock]) -> str:
    """Return blocks for a notebook's cell, which has no style sheet of ours."""
    return f'<div class="peerage"><style>{STYLE}</style>{Html(bare=True).blocks(blocks)}</div>'


def folded(title: str, inside: str, anchor: str = "", kind: str = "narrower") -> str:
    """Return markup that opens on demand."""
    anchor = f' id="{escape(anchor)}"' if anchor else ""
    return f'<details class="{kind}"{anchor}><summary>{coded(title)}</summary>\n{inside}</details>\n'


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
    # Most texts need nothing, which one pass over their bytes finds out.
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    return escape(visible(text))


_name = lru_cache(maxsize=4096)(shown)


def coded(text: str) -> str:
    """Return a sentence in which what stands between backticks is code."""
    if "`" not in text:
        return shown(text)
    parts = [shown(part) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return shown(text)
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=4096)
def breakable(name: str) -> str:
    """Return a long name that may be broken after its punctuation, but for a point within a number."""
    whole = visible(name)
    if len(whole) <= 12:
        return escape(whole)
    parts = re.split(r"(?<=[/:_-])|(?<=\.)(?!\d)", whole)
    return "<wbr>".join(map(escape, parts))
