"""Tables and charts in HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from peerage.game.blocks import Target
from peerage.render import rows as laid
from peerage.render.blocks import Column, Figure, Rows, Small
from peerage.render.html.texts import breakable, coded, shown
from peerage.render.names import AS_THEY_ARE, Names, ShortName
from peerage.values.figures import DASH, round_steps

WIDTH = 200
"""Of a drawn interval, in pixels."""
TICKS = 4
"""Of an axis above drawn intervals, about."""
BAR = 120
"""Of a drawn record, in pixels."""
SHOWN = 60
"""Rows of a chart's table that are in the page; all of them are in its file."""
MANY = 5
"""Rows of more than which a table that can be searched offers it."""
Href = Callable[[Target], str | None]


def nowhere(_: Target) -> None:
    """Have no address for anything."""


class TableWriter:
    """Writes tables and charts for one place; see `Html`."""

    def __init__(
        self,
        href: Href = nowhere,
        anchor: Callable[[str], str] = str,
        *,
        bare: bool = False,
        names: Names = AS_THEY_ARE,
    ) -> None:
        self._bare = bare
        self._short = names
        self._told: Rows | None = None
        """The table whose notes are on the heading before it."""
        self._href = href
        self._anchor = anchor

    def link(self, text: str, to: Target | None, more: str = "") -> str:
        """Return text that leads to its target, where that has an address."""
        at = None if to is None else self._href(to)
        more += " download" * (to is not None and to[0] == "file")
        return text if at is None else f'<a href="{escape(at)}"{more}>{text}</a>'

    def _words(self, text: str) -> str:
        """Return a sentence of ours, its names short."""
        return coded(self._short.in_text(text))

    def _name(self, name: str) -> str:
        """Return the name of a player short, the whole one on hover."""
        short = self._short.short(name)
        return shown(name) if short == name else f'<span title="{shown(name)}">{shown(short)}</span>'

    def _explained(self, block: Rows) -> list[str]:
        """Return what a reader of all rows may want to know."""
        hints = laid.hints(laid.shown(block, page=True))
        return laid.sentences([*hints, *block.notes, *laid.remarks(block).shared], block.rows)

    def _about(self, notes: Sequence[str], of: str) -> str:
        """Return what explains a heading, a table or a chart, behind a mark to be put next to its title."""
        if not notes:
            return ""
        lines = "".join([f"<p>{self._words(note)}</p>" for note in notes])
        mark = f'<summary aria-label="About {shown(self._short.in_text(of))}"><span>i</span></summary>'
        return f'<details class="about">{mark}<div>{lines}</div></details>'

    def _rows(self, block: Rows) -> str:
        columns, remarks = laid.shown(block, page=True), laid.remarks(block)
        intervals = [column for column in columns if column.draw == "interval"]
        scales = {column.key: Scale.over(map(column.of, block.rows)) for column in intervals}
        name = next((column for column in columns if not column.number), columns[0])
        picks = [column for column in block.columns if column.pick]
        head = "".join([self._head(column, scales) for column in columns])
        lines = []
        kinds = [(column, _kind(column)) for column in columns]
        for row in block.rows:
            cells = [
                self._named(column, row, scales)
                if column is name
                else self._cell(column, kind, row, scales, block)
                for column, kind in kinds
            ]
            lines.append(f"<tr{self._attributes(block, row, picks)}>{''.join(cells)}</tr>\n")
        heat = any(column.shade for column in columns)
        kind = ' class="board"' if block.search else ' class="heat"' if heat else ""
        sorts = " data-sortable" if block.sorts and not self._bare else ""
        title = f"<caption>{shown(block.title)}</caption>" if block.title and not block.search else ""
        label = shown(block.title or block.name.capitalize() or name.title)
        table = (
            f'<div class="wide" tabindex="0" role="region" aria-label="{label}">\n'
            f"<table{kind}{sorts}>{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table>\n</div>\n"
        )
        notes = [] if block is self._told else self._explained(block)
        about = self._about(notes, label) + "\n" * bool(notes)
        if self._bare:
            about = f'<p class="quiet">{" ".join(map(self._words, notes))}</p>\n' if notes else ""
        said = []
        for row, marks in zip(block.rows, remarks.marks, strict=True):
            own = [note for note, mark in remarks.own.items() if mark in marks.split(",")]
            said += [f"{name.text(row)}: {note}" for note in own]
        below = f"<ul>{''.join([f'<li>{self._words(line)}</li>' for line in said])}</ul>\n" if said else ""
        more = '<details class="wider"><summary>More columns</summary></details>\n'
        more *= block.search and not self._bare and any(column.spare > 2 for column in columns)
        return self._controls(block, picks) + table + more + about + below

    def _head(self, column: Column, scales: Mapping[str, Scale]) -> str:
        sorts = " nosort" if column.draw else ""
        title = shown(self._short.in_text(column.title))
        if column.shade:
            title = f'<span title="{shown(column.title)}">{title}</span>'
        if column.hint:
            title = f'<span title="{shown(column.hint)}">{title}</span>'
        if column.key in scales and not self._bare:
            title += scales[column.key].axis(column.write)
        return f'<th class="{_kind(column)}{sorts}" scope="col">{title}</th>'

    def _attributes(self, block: Rows, row: Any, picks: Sequence[Column]) -> str:
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
        name = column.text(row)
        short = ShortName(name) if column.quoted else self._short.of(name)
        whole = column.quoted or short.short != name
        text = breakable(short.short if whole else self._short.in_text(name))
        if short.short != name:
            text = f'<span title="{shown(name)}">{text}</span>'
        return f'<th scope="row" class="player">{self._inside(column, row, text, scales, short.maker)}</th>'

    def _cell(self, column: Column, kind: str, row: Any, scales: Mapping[str, Scale], block: Rows) -> str:
        value = column.of(row)
        if value is None:
            text, more = DASH, ""
        else:
            written = column.write(value)
            more = ""
            if column.quoted:
                text = shown(written)
            elif column.key == "model":
                text = coded(written)
            elif self._short.short(written) != written:
                text = self._name(written)
            else:
                text = self._words(written)
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

    def _inside(
        self, column: Column, row: Any, text: str, scales: Mapping[str, Scale], maker: str = ""
    ) -> str:
        if column.link:
            text = self.link(text, column.link(row))
        text += f' <small class="maker">{shown(maker)}</small>' if maker else ""
        drawing = ""
        if column.draw and not self._bare and (value := column.of(row)) is not None:
            drawing = _record(*value) if column.draw == "record" else scales[column.key].draw(value, text)
            text = f"<small>{text}</small>"
        if column.small:
            text += "".join([self._small(one) for one in column.small(row)])
        return text + drawing

    def _small(self, one: Small) -> str:
        text = shown(one.text if one.quoted else self._short.in_text(one.text))
        return f'<small class="{one.tone}{" narrow" if one.narrow else ""}">{text}</small>'

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
        parts = ['<label>Search players<input type="search" name="q" placeholder="Search players"></label>']
        for column in picks:
            if column.pick == "value" and len(choices[column.key]) > 1:
                kinds = [kind or "unknown" for kind in choices[column.key]]
                parts.append(self._field(column.key, column.title, ["", *kinds], "", 0))
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

    def _field(self, key: str, title: str, values: Sequence[str], chosen: str, most: int) -> str:
        """Return a field of a form: a text, chips for at most so many values, or a list."""
        title = shown(title)
        if not values:
            box = f'<input type="search" name="{key}" value="{shown(chosen)}" maxlength="200">'
            return f'<label class="text">{title}{box}</label>'
        named = [(shown(one), shown(self._short.short(one) or "any"), one == chosen) for one in values]
        if len(values) > most:
            options = [
                f'<option value="{value}"{" selected" * now}>{name}</option>' for value, name, now in named
            ]
            return f'<label>{title}<select name="{key}">{"".join(options)}</select></label>'
        chips = [
            f'<label><input type="radio" name="{key}" value="{value}"{" checked" * now}>'
            f"<span>{name}</span></label>"
            for value, name, now in named
        ]
        return f'<fieldset class="chips"><legend>{title}</legend>{"".join(chips)}</fieldset>'

    def _figure(self, block: Figure) -> str:
        from peerage.render.charts import draw
        from peerage.render.charts.planes import SEEN

        chart = draw(block, self._short)
        whole, phone = (" whole", " phone") if chart.wide else ("", "")
        wide = f'<div class="drawing page">{chart.wide}</div>\n' if chart.wide else ""
        named = [(self._name(name), shown(value)) for name, value in block.key]
        key = "".join([f"<li>{name} <b>{value}</b></li>" for name, value in named])
        key = f'<ol class="key">{key}</ol>' if key else ""
        if chart.legend:
            series = "".join(
                [
                    f'<label><input type="checkbox" autocomplete="off"{" checked" * (place < SEEN)}>'
                    f'<span class="drawing">{line}</span> {self._name(name)}</label>'
                    for place, (name, line) in enumerate(chart.legend)
                ]
            )
            key += f'<fieldset class="legend"><legend>95% bands of</legend>{series}</fieldset>\n'
        rows, length = block.rows[:SHOWN], len(block.rows)
        table = self._rows(Rows(rows, block.columns, name=f"{block.title}: data", sorts=False))
        more = f"<p>The first {SHOWN} of {length} rows.</p>\n" if length > SHOWN else ""
        data = ""
        if block.name and (at := self._href(("file", f"data/{block.name}.csv"))):
            data = f'<p><a href="{escape(at)}" download>All of it as CSV</a></p>\n'
        saved = [(kind.upper(), self._href(("picture", f"{block.name}.{kind}"))) for kind in ("svg", "png")]
        save = ", ".join([f'<a href="{escape(at)}" download>{kind}</a>' for kind, at in saved if at])
        save = f'<p class="save quiet">Save as {save}</p>\n' if block.name and save else ""
        return (
            f'<figure class="chart{whole}">\n<figcaption>{shown(block.title)} '
            f"{self._about(block.notes, block.title)}"
            f'<small class="quiet">{self._words(block.about)}</small></figcaption>\n'
            f'<div class="drawing{phone}">{chart.svg}</div>\n{wide}'
            f"{key}\n{save}"
            '<details class="data"><summary>The same as a table</summary>\n'
            f"{table}{more}{data}"
            "</details>\n</figure>\n"
        )


class Scale:
    """From values to places on a drawing of `WIDTH` pixels, the same for a whole column."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high
        self._scale = (WIDTH - 8) / ((high - low) or 1.0)
        ticks = round_steps(low, high, TICKS) if high > low else []
        self._ticks = [(4 + (tick - low) * self._scale, tick) for tick in ticks]
        self._grid = "".join([f"M{round(at, 1):g} 0v14" for at, _ in self._ticks])

    def axis(self, write: Callable[[Any], str]) -> str:
        """Return the axis for the head of the column, on which `write` writes intervals."""
        ticks = ""
        for at, tick in self._ticks:
            text = write((tick, tick, tick)).partition("–")[0].strip().removesuffix(".0")
            ticks += f'<text x="{at / WIDTH:.1%}" y="11">{shown(text)}</text>'
        return f'<svg class="axis" height="14" aria-hidden="true">{ticks}</svg>' if ticks else ""

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
            f'<path class="grid" d="{self._grid}"/>'
            f'<path d="M{low} 7H{high}M{low} 4v6M{high} 4v6"/><path class="at" d="M{at} 7h0"/></svg>'
        )


def _record(won: int, drawn: int, lost: int) -> str:
    """Return matches won, drawn and lost as a bar."""
    scale, parts, at = BAR / ((won + drawn + lost) or 1), "", 0.0
    for kind, count in (("w", won), ("d", drawn), ("l", lost)):
        parts += f'<rect class="{kind}" x="{at:.1f}" width="{count * scale:.1f}" height="10"/>'
        at += count * scale
    return f'<svg class="bar" width="{BAR}" height="10" aria-hidden="true">{parts}</svg>'


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
