"""A match in HTML: who said what, how that was asked for, and what it came to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from peerage.game.blocks import (
    Heading,
    Private,
    Quoted,
    SourceCode,
    TaskText,
)
from peerage.render.blocks import (
    Fold,
    Meeting,
    QuotedReply,
    Transcript,
    ViewBlock,
)
from peerage.render.html.prose import prose
from peerage.render.html.tables import Href, TableWriter, nowhere
from peerage.render.html.texts import shown, shown_name
from peerage.render.names import AS_THEY_ARE, Names

FOLD = 1_500
"""Characters of a text that stand open; the rest opens on demand."""
LONG = 6_000
"""Characters from which on a text scrolls in a frame of its own."""
_CHIPS = {"good": "chip yes", "bad": "chip no"}
BETWEEN = ' <span class="quiet">·</span> '
PROSE = '<div class="prose">'
SWITCH = '<p class="switch"><a href="#rendered">Rendered</a> <a href="#source">Source</a></p>\n'
"""The choice between Markdown as it is meant and as it stands: the page's address keeps it."""
_SAID = (Quoted, SourceCode, TaskText)


class MatchWriter(TableWriter):
    """Writes what stands `within` a match's transcript, which knows who sat at a label and what is on record
    of a reply; see `Html`."""

    def __init__(
        self,
        href: Href = nowhere,
        anchor: Callable[[str], str] = str,
        *,
        bare: bool = False,
        names: Names = AS_THEY_ARE,
        within: Transcript | None = None,
    ) -> None:
        super().__init__(href, anchor, bare=bare, names=names)
        self._within = within
        self._names: dict[str, str] = {}
        self._quoted: set[str] = set()
        self._asked: dict[tuple[str, Sequence[tuple[str, int]]], str] = {}

    def _block(self, block: ViewBlock, *, heads: bool = False) -> str:
        raise NotImplementedError

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
                parts.append(f'<div class="private" data-seen="{" ".join(map(shown_name, block.labels))}">\n')
                private = True
            parts.append('<div class="steps">\n' * (says and not said))
            said = says
            parts.append(self._block(block))
        return "".join(parts) + "</div>\n" * (said + private) + "</section>\n" * opened

    def _who(self, label: str) -> str:
        known = self._names.get(label)
        if known is None:
            name = self._within.names.get(label, "") if self._within else ""
            who, known = f"{self._name(name)} " if name else "", shown_name(label)
            if self._within:
                known = f'{who}<span class="label">{known}</span>'
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
                chip = f'<span class="{_CHIPS.get(block.tone, "chip")}">{shown_name(block.verdict)}</span>\n'
            if block.note:
                chip += f'<span class="quiet">{shown_name(block.note)}</span>\n'
        more = f'<p class="quiet">… {block.more:,} more characters</p>\n' if block.more else ""
        about = f'<p class="who">{who}</p>\n' if who else ""
        return f'<div class="step {kind}"{address}>\n{about}{chip}{text}{more}{below}</div>\n'

    def _text(self, block: TaskText | Quoted, about: str) -> str:
        return answered(block.text, about, bare=self._bare) if block.prose else written(block.text, about)

    def _address(self, place: int) -> str:
        return f"m{self._within.number}-{place}" if self._within else ""

    def _below(self, reply: QuotedReply) -> str:
        """Return how a reply was asked for, and what it took."""
        asked = self._asked.get((reply.form, reply.seeing))  # a panel sees the same few things
        if asked is None:
            seen = [
                f'<a href="#{self._address(place)}">{shown_name(label)}</a>' if place else shown_name(label)
                for label, place in reply.seeing
            ]
            at = self._href(("view", f"method.html#f{reply.form}")) if reply.form else None
            asked = f'asked <a href="{escape(at)}">like this</a>' if at else ""
            asked += f", seeing {', '.join(seen)}" if seen else ""
            self._asked[reply.form, reply.seeing] = asked
        told = " · ".join(filter(None, (asked, shown_name(reply.took))))
        return f'<p class="took">{told}</p>\n' if told else ""

    def _meeting(self, block: Meeting) -> str:
        seats = []
        best = max([met.score for met in block.seats if met.score is not None], default=None)
        for place, met, worth in block.places():
            before = f"<b>{place}.</b> " if place else ""
            tag = ("span", ' class="quiet"') if met.score is None else ("b", "")
            after = f" <{tag[0]}{tag[1]}>{worth}</{tag[0]}>" if worth else ""
            name = self.link(self._name(met.name), ("player", met.player))
            won = ' class="won"' if met.score is not None and met.score == best else ""
            seats.append(f"<span{won}>{before}{shown_name(met.label)} {name}{after}</span>\n")
        return f'<p class="score">\n{BETWEEN.join(seats)}</p>\n'


def answered(text: str, about: str, *, bare: bool = False) -> str:
    """Return what somebody wrote as Markdown, and as it stands, which a reader may choose; a `bare` place has
    no such choice."""
    made = prose(text)
    if not made:
        return written(text, about)
    if bare:
        return f"<div>{made}</div>\n"
    more = '<details class="tall"><summary>Show all</summary></details>\n' if len(text) > FOLD else ""
    source = f'<div class="source">{written(text, about)}</div>'
    return f'<div class="answered">\n{PROSE}{made}</div>\n{more}{source}\n</div>\n'


def written(text: str, about: str, kind: str = "said") -> str:
    """Return what somebody wrote; what is long folds, and scrolls where it is very long."""
    if len(text) <= FOLD:
        return f'<div class="{kind}">{shown(text)}</div>\n' if text else ""
    rest = text[FOLD:]
    frame = f' tabindex="0" role="group" aria-label="More of {shown_name(about)}"' if len(rest) > LONG else ""
    return (
        f'<div class="{kind}">{shown(text[:FOLD])}</div>\n<details><summary>{len(rest):,} more characters'
        f'</summary><div class="{kind}"{frame}>{shown(rest)}</div></details>\n'
    )


def color(caption: str, color: str) -> str:
    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    drawn = (
        f'<svg width="40" height="24" role="img" aria-label="{color}"><rect width="40" height="24" '
        f'rx="4" fill="#{color}"/></svg> '
        if known
        else ""
    )
    return f'<span class="swatch">{drawn}{shown(caption)} <code>{shown(color)}</code></span> '
