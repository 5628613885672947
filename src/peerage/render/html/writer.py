"""Views as HTML: what stands in a page, in the report and in a notebook's cell.

    Html(href).blocks(view.blocks)

`href` says where a medium has what a link leads to; what it has nowhere is text. Whatever players wrote is
escaped and made visible: no name, reply or reason becomes markup, steers the direction of text, or hides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby

from msgspec.structs import replace

from peerage.game.blocks import (
    Bar,
    Board,
    Grid,
    Heading,
    Private,
    Quoted,
    ScoreLine,
    Sentence,
    SourceCode,
    State,
    Swatch,
    TaskText,
    VoteStrip,
)
from peerage.render import rows as laid
from peerage.render.blocks import (
    Beside,
    ChoiceForm,
    Conclusion,
    Facts,
    Figure,
    Fold,
    Links,
    Meeting,
    Notes,
    OtherViews,
    Rows,
    Section,
    Transcript,
    ViewBlock,
)
from peerage.render.html.match import BETWEEN, PROSE, SWITCH, MatchWriter, written
from peerage.render.html.pictures import bar, board, changes, grid, swatches
from peerage.render.html.texts import folded, shown, shown_name
from peerage.render.names import AS_THEY_ARE, Names
from peerage.values.figures import score


class Html(MatchWriter):
    """Writes blocks for one place: `href` gives addresses as seen from there. A `bare` place has no style
    sheet and no scripts of ours: nothing is drawn there, and nothing searched. `names` are written short.
    Blocks of a match are written `within` its transcript."""

    def blocks(self, blocks: Iterable[ViewBlock], *, heads: bool = False) -> str:
        """Return blocks as markup; where they head a page, the first sentence of an answer is its title."""
        parts = []
        for drawn, group in groupby(self._explaining(blocks), lambda block: isinstance(block, Figure)):
            inside = "".join([self._block(block, heads=heads) for block in group])
            parts.append(f'<div class="charts">\n{inside}</div>\n' if drawn else inside)
        return "".join(parts)

    def _explaining(self, blocks: Iterable[ViewBlock]) -> Iterator[ViewBlock]:
        """Yield blocks, what explains a table at the heading before it."""
        heading: Heading | None = None
        for block in blocks:
            if heading is not None:
                if isinstance(block, Rows) and not self._bare:
                    heading = replace(heading, notes=(*heading.notes, *self._explained(block)))
                    self._told = block
                yield heading
            heading = block if isinstance(block, Heading) else None
            if heading is None:
                yield block
        if heading is not None:
            yield heading

    def _block(self, block: ViewBlock, *, heads: bool = False) -> str:
        match block:
            case Heading():
                anchor = f' id="{escape(block.anchor)}"' if block.anchor else ""
                text, level = shown(self._short.in_text(block.text)), block.level
                title = f"<h{level}{anchor}>{self.link(text, block.to)}</h{level}>"
                about = self._about(block.notes, block.text)
                return f'<div class="titled">{title}{about}</div>\n' if about else f"{title}\n"
            case Sentence():
                tone = f' class="{block.tone}"' if block.tone else ""
                return f"<p{tone}>{self._words(block.text)}</p>\n"
            case Quoted():
                return self._said(block, "", self._who(block.label), self._text(block, block.label))
            case TaskText():
                who = BETWEEN.join([shown_name(block.name)] * bool(block.name) + [*map(self._who, block.by)])
                return self._said(block, "task", who, self._text(block, "The task"))
            case SourceCode():
                who = self._who(block.label) if block.label else ""
                text = (
                    changes(block.source)
                    if block.diff
                    else written(block.source, block.label or "The program", "said code")
                )
                return self._said(block, "program", who, text)
            case ScoreLine() if not block.pictured:
                worth = "unranked" if block.score is None else f"<b>{score(block.score)}</b>"
                why = f' <span class="quiet">{shown(block.why)}</span>' if block.why else ""
                return f'<p class="worth">{self._who(block.label)} {worth}{why}</p>\n'
            case Grid():
                return grid(block, self._who, links=self._within is not None and not self._bare)
            case Board():
                return board(block)
            case Bar():
                return f'<p class="worth">{bar(block)} {shown(laid.cell(block))}</p>\n'
            case Swatch():
                return swatches(block)
            case State():
                return f'<div class="state" hidden>\n{self._block(block.picture)}</div>\n'
            case Private():
                seen = " and ".join(map(self._who, block.labels))
                return f'<p class="quiet">seen by {seen} alone</p>\n' if seen and block.marked else ""
            case Meeting():
                return self._meeting(block)
            case VoteStrip():
                return self._votes(block)
            case Transcript():
                teller = Html(self._href, self._anchor, bare=self._bare, names=self._short, within=block)
                told = teller._stages(teller._explaining(block.blocks))
                plain = f'<p class="quiet">{self._words(block.plain)}</p>\n' if block.plain else ""
                head = block.head if self._bare else block.head[1:]  # a page says above which match it is
                return (
                    f'<article class="match" aria-label="Match {block.number}">\n'
                    f"{self.blocks(head)}{SWITCH * (PROSE in told)}{plain}{told}</article>\n"
                )
            case Section():
                return f'<section class="{block.kind}">\n{self.blocks(block.blocks)}</section>\n'
            case Beside():
                groups = "".join([f"<div>{self.blocks(group)}</div>" for group in block.groups])
                return f'<div class="pair">{groups}</div>\n'
            case Conclusion():
                return self._answer(block, heads=heads)
            case Facts():
                return self._facts(block)
            case Notes():
                lines = laid.sentences(block.lines, [{"player": name} for name in block.names])
                return f"<ul>{''.join([f'<li>{self._words(line)}</li>' for line in lines])}</ul>\n"
            case Links():
                return self._links(block)
            case OtherViews():
                return self._choice(block)
            case ChoiceForm():
                most = CHIPS if block.chips else 0
                fields = [self._field(*field, most) for field in block.fields]
                at = escape(self._href(block.to) or "") if block.to else ""
                kind = f'controls" method="get" action="{at}' if block.to else "controls scripted"
                button = f"<button>{shown(block.button)}</button>" if block.to else ""
                return f'<form class="{kind}">{"".join(fields)}{button}</form>\n'
            case Fold():
                if self._within:
                    inside = self._stages(block.blocks, parted=False)
                    return folded(block.title, inside, block.anchor, "stage rest")
                title = self._short.in_text(block.title)
                return folded(title, self.blocks(block.blocks), block.anchor)
            case Rows():
                return self._rows(block)
            case Figure():
                return self._figure(block)
            case _:
                return ""

    def _answer(self, block: Conclusion, *, heads: bool) -> str:
        lines = []
        for place, line in enumerate(block.lines):
            tag = "h1" if heads and not place else "p"
            strong = "" if place else ' class="verdict"'
            line = f"<{tag}{strong}>{self._words(line)}</{tag}>"
            if not place and block.notes and not self._bare:
                line = f'<div class="titled">{line}{self._about(block.notes, "the answer")}</div>'
            lines.append(f"{line}\n")
        lines += [f"<p>{self._words(note)}</p>\n" for note in block.notes if self._bare]
        return f'<div class="answer">\n{"".join(lines)}</div>\n'

    def _facts(self, block: Facts) -> str:
        parts = []
        for fact in block.facts:
            about = f'<small class="quiet">{self._words(fact.about)}</small>' if fact.about else ""
            value = shown(self._short.in_text(fact.value))
            parts.append(f"<div><dt>{shown(fact.title)}</dt><dd>{value}{about}</dd></div>\n")
        return f'<dl class="facts">\n{"".join(parts)}</dl>\n'

    def _choice(self, block: OtherViews) -> str:
        groups = []
        for title, links in block.groups:
            to = []
            for link in links:
                note = f" <small>{shown(link.note)}</small>" if link.note else ""
                current = ' aria-current="page"' * link.current
                to.append(self.link(f"<span>{shown(link.text)}</span>{note}", link.to, current))
            groups.append(f"<div><p>{shown(title)}</p>\n{chr(10).join(to)}\n</div>\n")
        inside = f'<nav aria-label="Other tables">\n{"".join(groups)}</nav>\n'
        return f'<details class="choice"><summary>{shown(block.current)}</summary>\n{inside}</details>\n'

    def _links(self, block: Links) -> str:
        links = []
        for link in block.links:
            note = f' <span class="quiet">{shown(link.note)}</span>' if link.note else ""
            links.append(self.link(f"{shown(self._short.in_text(link.text))}{note}", link.to))
        label = shown(block.title or f"{block.links[0].text} and others")
        inside = f'<nav class="tabs" aria-label="{label}">\n{chr(10).join(links)}\n</nav>\n'
        if not block.title:
            return inside
        return folded(self._short.in_text(block.title), inside)


CHIPS = 8
"""Values of which a form with chips shows all."""

STYLE = (
    ".peerage .n{text-align:right;font-variant-numeric:tabular-nums}.peerage th,.peerage td{text-align:left}"
    ".peerage small{display:block}.peerage .narrow{display:none}"
    ".peerage :is(pre,.said){white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 .6em 1em;text-align:left}"
    ".peerage .verdict{font-weight:bold}.peerage .good{color:#2b7a4b}.peerage .bad{color:#b3261e}"
    ".peerage :is(.quiet,.took){opacity:.75}"
)


def notebook(blocks: Iterable[ViewBlock], names: Names = AS_THEY_ARE) -> str:
    """Return blocks for a notebook's cell, which has no style sheet of ours."""
    return f'<div class="peerage"><style>{STYLE}</style>{Html(bare=True, names=names).blocks(blocks)}</div>'
