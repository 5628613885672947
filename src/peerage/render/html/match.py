"""A match in HTML: who said what, how that was asked for, and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from itertools import zip_longest

from peerage.game.blocks import Heading, Private, Quoted, SourceCode, State, TaskText, VoteStrip
from peerage.game.media import worded
from peerage.render import rows as laid
from peerage.render.blocks import Fold, Meeting, QuotedReply, Transcript, ViewBlock
from peerage.render.html.media import with_media
from peerage.render.html.prose import prose
from peerage.render.html.tables import Href, TableWriter, nowhere
from peerage.render.html.texts import shown, shown_name
from peerage.render.names import AS_THEY_ARE, Names
from peerage.values.figures import begun, sentence

FOLD = 1_500
"""Characters of a text that stand open; the rest opens on demand."""
LONG = 6_000
"""Characters from which on a text scrolls in a frame of its own."""
_STEP = "step-"
"""Begins the address of a step of the match."""
_ABOUT = '<details class="about"><summary aria-label="About this reply"><span>i</span></summary><div>'
_MARKS = {"A": "a", "B": "b", "tie": "even", "approve": "yes", "object": "no"}
TEASER = 110
"""Characters of a task that say what opens."""
_CHIPS = {"good": "chip yes", "bad": "chip no"}
BETWEEN = ' <span class="quiet">·</span> '
PROSE = '<div class="prose">'
SWITCH = '<p class="switch"><a href="#rendered">Rendered</a> <a href="#source">Source</a></p>\n'
"""The choice between Markdown as it is meant and as it stands: the page's address keeps it."""
_SAID = (Quoted, SourceCode, TaskText, State)


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
        self._compared = False
        self._asked: dict[tuple[str, Sequence[tuple[str, int]]], str] = {}

    def _block(self, block: ViewBlock, *, heads: bool = False) -> str:
        raise NotImplementedError

    def _stages(self, blocks: Iterable[ViewBlock], *, parted: bool = True) -> str:
        """Return the blocks of a match, `parted` into a section from each heading to the next: what was said
        stands side by side, what few could see in a frame, and what is closed in a list that opens."""
        parts: list[str] = []
        closing, private, listed = "", False, False
        run: list[ViewBlock] = []
        for block, after in zip_longest(all_blocks := [*blocks], all_blocks[1:]):
            if isinstance(block, _SAID):
                run.append(block)
                if not isinstance(after, _SAID):
                    opens = parted and not closing
                    closing = "</section>\n" if opens else closing
                    parts.append('<section class="stage">\n' * opens + self._steps(run))
                    run = []
                continue
            begins = isinstance(block, Heading | Fold)
            closed = isinstance(block, Heading) and block.closed
            parts.append("</div>\n" * (private and (begins or isinstance(block, Private))))
            private = private and not (begins or isinstance(block, Private))
            if begins:
                parts.append(closing + "</div>\n" * (listed and not closed))
                closing = ""
            if isinstance(block, Heading) and closed:
                parts.append('<div class="list">\n' * (not listed) + self._closed(block, after))
                closing, listed = "</div>\n</details>\n", True
                continue
            listed = listed and not begins
            if parted and not closing and not isinstance(block, Fold):
                parts.append('<section class="stage">\n')
                closing = "</section>\n"
            if isinstance(block, Private) and block.labels:
                seen = " ".join(map(shown_name, block.labels)).strip()
                parts.append(f'<div class="private{"" if block.marked else " plain"}" data-seen="{seen}">\n')
                private = True
            parts.append(self._block(block))
        return "".join(parts) + "</div>\n" * private + closing + "</div>\n" * listed

    def _steps(self, run: Sequence[ViewBlock]) -> str:
        """Return what was said one after another, side by side."""
        steps = "".join(map(self._block, run))
        before, after = self._tabs(run)
        return f'{before}<div class="steps">\n{steps}</div>\n{after}'

    def _tabs(self, run: Sequence[ViewBlock]) -> tuple[str, str]:
        """Return what stands around two answers: where they have no room side by side, a choice of one."""
        answers = [block for block in run if isinstance(block, Quoted) and block.prose]
        if self._bare or self._compared or len(run) != 2 or len({block.label for block in answers}) != 2:
            return "", ""
        self._compared = True
        tabs = [
            f'<input type="radio" name="answer" id="answer-{place}"{" checked" * (place == 1)}>'
            f'<label for="answer-{place}">{self._who(block.label)}</label>\n'
            for place, block in enumerate(answers, 1)
        ]
        return f'<div class="answers">\n{"".join(tabs)}', "</div>\n"

    def _closed(self, block: Heading, after: ViewBlock | None) -> str:
        """Return the beginning of what opens on demand, up to which a mark leads: what it is, and the first
        words of the task in it."""
        first = after.text.split("\n")[0] if isinstance(after, TaskText) else ""
        teaser = f' <span class="first">{shown(begun(worded(first), TEASER))}</span>' if first else ""
        at = f' id="{escape(block.anchor)}"' if block.anchor else ""
        return (
            f'<details class="stage closed">\n<summary><h2>{shown(block.text)}</h2>{teaser}</summary>\n'
            f"<div{at}>\n"
        )

    def _who(self, label: str) -> str:
        known = self._names.get(label)
        if known is None:
            name = self._within.names.get(label, "") if self._within else ""
            who, known = f"{self._name(name)} " if name else "", self._name(label)
            if self._within:
                known = f'{who}<span class="label">{known}</span>'
            self._names[label] = known
        return known

    def _said(self, block: TaskText | Quoted | SourceCode, kind: str, who: str, text: str) -> str:
        """Return what somebody wrote: who it was, what it came to, the words, and how it was asked for."""
        reply = self._within.reply(block.key) if self._within and block.key else None
        address = chip = about = ""
        if reply is not None:
            kind = f"{kind} {reply.role}{' best' if reply.won else ''}".lstrip()
            address, about = self._first(block.key, reply)
        if not isinstance(block, TaskText):
            if block.verdict:
                chip = f'<span class="{_CHIPS.get(block.tone, "chip")}">{shown_name(block.verdict)}</span>\n'
            if block.note:
                chip += f'<span class="quiet">{shown_name(block.note)}</span>\n'
        more = f'<p class="quiet">… {block.more:,} more characters</p>\n' if block.more else ""
        if who or chip or about:
            about = f'<div class="who">{f"<b>{who}</b>" if who else ""}\n{chip}{about}</div>\n'
        return f'<div class="step {kind}"{address}>\n{about}{text}{more}</div>\n'

    def _first(self, key: str, reply: QuotedReply) -> tuple[str, str]:
        """Return the address of a step, and what is known of its reply, where it is shown first."""
        if key in self._quoted:
            return "", ""
        self._quoted.add(key)
        return f' id="{_STEP}{reply.place}"' if self._within and not self._bare else "", self._below(reply)

    def _votes(self, strip: VoteStrip) -> str:
        """Return votes, a line each that opens to the reasons."""
        heads = "".join([f'<span class="mark">{shown_name(title)}</span>' for title in strip.titles if title])
        lines = [
            f'<p class="voters" aria-hidden="true"><span>{shown_name(strip.name)}</span>{heads}</p>\n'
            if heads
            else ""
        ]
        for line in strip.votes:
            address, role, marks, reasons = "", "", [], []
            for title, given in zip(strip.titles, line.given, strict=True):
                if given is None:
                    marks.append('<span class="mark"></span>')
                    continue
                reply = self._within.reply(given.key) if self._within else None
                about = ""
                if reply is not None:
                    place, about = self._first(given.key, reply)
                    address, role = address or place, reply.role
                choice = shown_name(given.choice)
                sign, tone = laid.VERDICTS.get(given.choice, choice), _MARKS.get(given.choice, given.tone)
                said = f"{shown_name(title)}: " * bool(title) + choice
                sign = "–" if len(sign) > 1 else sign
                marks.append(f'<span class="mark {tone}" role="img" aria-label="{said}">{sign}</span>')
                note = f' <span class="quiet">{shown(given.note)}</span>' if given.note else ""
                text = written(given.text, line.label)
                reasons.append(f'<div class="who"><b>{said}</b>{note}{about}</div>\n{text}')
            name = self._name(self._within.names.get(line.label, line.label) if self._within else line.label)
            counts = f'<span class="counts">{shown_name(line.counts)}</span>' if len(marks) > 1 else ""
            weight = "" if line.weight is None else f'<span class="n">{line.weight:.0%}</span>'
            lines.append(
                f'<details class="step {role}"{address}><summary><b>{name}</b>'
                f"{''.join(marks)}{counts}{weight}</summary>\n{''.join(reasons)}</details>\n"
            )
        return f'<div class="votes">\n{"".join(lines)}</div>\n'

    def _text(self, block: TaskText | Quoted, about: str) -> str:
        if block.prose and not (self._within and self._within.plain):
            return self.said(block.text, about)
        return with_media(block.text, about, self._address, written)

    def said(self, text: str, about: str = "The text") -> str:
        """Return what somebody wrote as Markdown."""
        return with_media(text, about, self._address, partial(answered, bare=self._bare))

    def _address(self, file: str) -> str | None:
        return self._href(("media", file))

    def _below(self, reply: QuotedReply) -> str:
        """Return how a reply was asked for, and what it took."""
        asked = self._asked.get((reply.form, reply.seeing))  # a panel sees the same few things
        if asked is None:
            seen = [
                f'<a href="#{_STEP}{place}">{shown_name(label)}</a>' if place else shown_name(label)
                for label, place in reply.seeing
            ]
            at = self._href(("view", f"method.html#f{reply.form}")) if reply.form else None
            asked = f'asked <a href="{escape(at)}">like this</a>' if at else ""
            asked += f", seeing {', '.join(seen)}" if seen else ""
            self._asked[reply.form, reply.seeing] = asked
        told = " · ".join(filter(None, (asked, shown_name(reply.took))))
        if not told:
            return ""
        if self._bare:
            return f'<p class="took">{told}</p>\n'
        return f'{_ABOUT}<p class="took">{told}</p></div></details>\n'

    def _meeting(self, block: Meeting) -> str:
        first, rest = list[str](), list[str]()
        best = max([met.score for met in block.seats if met.score is not None], default=None)
        for place, met, worth in block.places():
            before = f"<b>{place}.</b> " if place else ""
            tag = ("span", ' class="quiet"') if met.score is None else ("b", "")
            after = f" <{tag[0]}{tag[1]}>{worth}</{tag[0]}>" if worth else ""
            name = self.link(self._name(met.player), ("player", met.player))
            won = ' class="won"' if met.score is not None and met.score == best else ""
            label = f'<span class="label">{shown_name(met.label)}</span>'
            # Of many the first stay in sight.
            seats = first if len(block.seats) == 2 or won or best is None else rest
            seats.append(f"<span{won}>{before}{name} {label}{after}</span>\n")
        title = "p" if self._bare else "h1"
        why = f'<p class="why">{self._words(sentence(block.why))}</p>\n' if block.why else ""
        others = f'<p class="others">\n{BETWEEN.join(rest)}</p>\n' if rest else ""
        head = f'<{title} class="score">\n{BETWEEN.join(first)}</{title}>\n{why}'
        return f'<div class="meet">\n{head}</div>\n{others}'


def answered(text: str, about: str, *, bare: bool = False) -> str:
    """Return what somebody wrote as Markdown and, for readers to choose, as it stands; `bare`: no choice."""
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
