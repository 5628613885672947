"""A match as markup, from its blocks: nearly all of a page of transcripts, and a template would take five
times as long.

Whatever is written here passes through `shown`, as what a template writes passes through its environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

from markupsafe import Markup

from peerage import blocks
from peerage.blocks import Block, Cell, Private
from peerage.engine.driver import ROOM
from peerage.figures import DASH, dollars, moment, score, seconds, whole
from peerage.ledger.codec_requests import Part
from peerage.ledger.merkle import digest
from peerage.protocol import visible
from peerage.reading.matches import Match, Step
from peerage.render.html import coded
from peerage.site.addresses import player_page

FOLD = 1_500
"""Characters of a text that stand open; the rest opens on demand."""
LONG = 6_000
"""Characters from which on a text scrolls in a frame of its own."""
WORDY = 60
"""Characters from which on a cell of a table gets room to read it in."""
BRIEF = 14
"""Characters up to which a cell of a table may be as narrow as its longest word."""
REST = 300
"""Requests that are listed beside those which the game shows: a tournament has thousands."""

_CHIPS = {"good": "chip yes", "bad": "chip no"}
_SAID = (blocks.Quoted, blocks.Program, blocks.Task)
_BETWEEN = ' <span class="quiet">·</span> '
_PLAIN = bytes({*range(32, 127), 9, 10} - {*b"&<>\"'"})


def shown(text: str) -> str:
    """Text that no browser takes for anything else."""
    # Most texts need nothing, which one pass over their bytes finds out.
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    return escape(visible(text))


_name = lru_cache(maxsize=4096)(shown)


def article(match: Match, tracks: Mapping[str, str], proof: str = "") -> Markup:
    """A finished match: who met and what it came to, the blocks that tell it, every other request, costs and
    ratings (`tracks` are the tracks' names), the digests that it can be checked by, and the file of its
    `proof`, where a checkpoint covers it."""
    parts = _head(match), stages(match), _numbers(match, tracks), _proof(match, proof)
    return Markup(f"{''.join(parts)}</article>\n")


def stages(match: Match) -> str:
    """What a match is told with, and every request beside it."""
    told = _Telling(match)
    return told.blocks(match.blocks) + told.rest()


@lru_cache(maxsize=4096)
def _seat(label: str, player: str, name: str) -> str:
    return f'{shown(label)} <a href="../{shown(player_page(player))}">{shown(name)}</a>'


def _head(match: Match) -> str:
    outcome, fixture, number = match.outcome, match.fixture, match.number
    topic = f' <span class="quiet">{shown(fixture.topic)}</span>' if fixture.topic else ""
    seats, many = [], len(match.contestants) > 2
    for seat in match.contestants:
        got = outcome.scores.get(seat.label)
        won = ' class="won"' if got is not None and got == match.best else ""
        points = "" if got is None or many else f" <b>{score(got)}</b>"
        place = (
            f"<b>{1 + sum(one > got for one in outcome.scores.values())}.</b> "
            if many and got is not None
            else ""
        )
        if got is None and outcome.scores:
            points = ' <span class="quiet">unranked</span>'
        who = _seat(seat.label, seat.player, match.names[seat.label])
        seats.append(f"<span{won}>{place}{who}{points}</span>\n")
    series = f" · series of match {fixture.series}" if fixture.series else ""
    note = f'<p class="quiet">{shown(match.note)}</p>\n' if match.note else ""
    return (
        f'<article class="match" id="m{number}" aria-labelledby="h{number}">\n<header>\n'
        f'<h2 id="h{number}"><a href="#m{number}">Match {number}</a>{topic}</h2>\n'
        f'<p class="score">\n{_BETWEEN.join(seats)}</p>\n'
        f'<p class="quiet">{shown(match.verdict)} · {shown(fixture.game)} · round {fixture.round}{series} · '
        f"<time>{moment(match.finished.row.at_ms)}</time></p>\n{note}</header>\n"
    )


class _Telling:
    """Writes the blocks of one match; remembers which replies they quote."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self._asked = match.asked
        self._won = {label for label, score in match.outcome.scores.items() if score == match.best}
        self._names: dict[str, str] = {}
        self._places = {key: place for place, key in enumerate(match.asked, 1)}
        self._seen: dict[tuple[str, tuple[Part, ...]], str] = {}
        self._quoted: set[str] = set()

    def blocks(self, told: Sequence[Block]) -> str:
        parts: list[str] = []
        opened = said = private = False
        for block in told:
            heading, says = isinstance(block, blocks.Heading), isinstance(block, _SAID)
            if said and not says:
                parts.append("</div>\n")
            if private and (heading or isinstance(block, blocks.Private)):
                parts.append("</div>\n")
                private = False
            if heading or not opened:
                parts.append("</section>\n" * opened + '<section class="stage">\n')
                opened = True
            if says and not said:
                parts.append('<div class="steps">\n')
            said = says
            private = private or (isinstance(block, blocks.Private) and bool(block.labels))
            parts.append(self._block(block))
        return "".join(parts) + "</div>\n" * (said + private) + "</section>\n" * opened

    def _block(self, block: Block) -> str:
        match block:
            case blocks.Quoted():
                text = _text(block.text, block.label)
                return self._said(block.key, "", self._who(block.label), _chips(block), text)
            case blocks.Sentence():
                tone = f' class="{block.tone}"' if block.tone else ""
                said = coded(block.text) if "`" in block.text else shown(block.text)
                return f"<p{tone}>{said}</p>\n"
            case blocks.ScoreLine():
                got = "unranked" if block.score is None else f"<b>{score(block.score)}</b>"
                return (
                    f'<p class="worth">{self._who(block.label)} {got} '
                    f'<span class="quiet">{shown(block.why)}</span></p>\n'
                )
            case blocks.Bar():
                most = block.most if block.most > 0 else 1.0
                return (
                    f'<p class="worth"><meter min="0" max="{most:g}" value="{block.value:g}"></meter> '
                    f"{_amount(block)} {shown(block.caption)}</p>\n"
                )
            case blocks.Heading():
                return f"<h3>{shown(block.text)}</h3>\n"
            case blocks.Task():
                who = _BETWEEN.join([_name(block.name)] * bool(block.name) + [*map(self._who, block.by)])
                return self._said(block.key, "task", who, "", _text(block.text, "The task"))
            case blocks.Table():
                return _table(block)
            case blocks.Program():
                text = _text(block.source, block.label or "The program", "said code")
                who = self._who(block.label) if block.label else ""
                return self._said(block.key, "program", who, _chips(block), text)
            case blocks.Swatch():
                return f'<p class="swatches">{"".join([_swatch(*color) for color in block.colors])}</p>\n'
            case blocks.Private():
                return self._private(block) if block.labels else ""
            case blocks.Board():
                return f'<pre class="board">{shown(chr(10).join(block.rows))}</pre>\n'
            case _:
                return ""

    def _private(self, block: Private) -> str:
        seen, who = " ".join(map(_name, block.labels)), " and ".join(map(self._who, block.labels))
        told = f'<p class="quiet">seen by {who} alone</p>\n' if block.marked else ""
        return f'<div class="private" data-seen="{seen}">\n{told}'

    def _said(self, key: str, kind: str, who: str, chip: str, text: str) -> str:
        step, address, below = self._asked.get(key), "", ""
        if step is not None:
            kind = f"{kind} {step.role}{' best' if step.label in self._won else ''}".lstrip()
            if key not in self._quoted:
                self._quoted.add(key)
                address, below = f' id="{self._address(key)}"', self._below(step)
        about = f'<p class="who">{who}</p>\n' if who else ""
        return f'<div class="step {kind}"{address}>\n{about}{chip}{text}{below}</div>\n'

    def rest(self) -> str:
        """The requests that no block shows: of officials, of programs, replies that were asked for again."""
        others = [step for key, step in self._match.asked.items() if key not in self._quoted]
        if not others:
            return ""
        more = ""
        if len(others) > REST:
            more = (
                f'<p class="quiet">… and {len(others) - REST:,} more: <code>peerage match '
                f"{self._match.number} --full</code> and the ledger have them all.</p>\n"
            )
        steps = "".join([self._step(step) for step in others[:REST]])
        return (
            f'<details class="stage rest"><summary>{len(others):,} more '
            f"request{'s' * (len(others) > 1)} and replies</summary>\n"
            f'<div class="steps">\n{steps}</div>\n{more}</details>\n'
        )

    def _step(self, step: Step) -> str:
        chip = f'<span class="chip">{_name(step.choice)}</span>\n' if step.choice else ""
        if step.status != "ok":
            chip += (
                f'<span class="chip no">{_name(step.status)}</span> '
                f'<span class="quiet">{shown(step.reason)}</span>\n'
            )
        elif step.reason and step.role != "sandbox":  # what was odd about a reply that counts
            chip += f'<span class="quiet">{shown(step.reason)}</span>\n'
        text = _text(step.reply, step.label, "said code" if step.role == "sandbox" else "said")
        return (
            f'<div class="step {step.role}" id="{self._address(step.key)}">\n<p class="who">'
            f'{_name(step.player)} <span class="label">{_name(step.key)}</span></p>\n'
            f"{chip}{text}{self._below(step)}</div>\n"
        )

    def _who(self, label: str) -> str:
        if label not in self._names:
            player = self._match.names.get(label)
            name = f"{_name(player)} " if player is not None else ""
            self._names[label] = f'{name}<span class="label">{_name(label)}</span>'
        return self._names[label]

    def _address(self, key: str) -> str:
        return f"m{self._match.number}-{self._places[key]}"

    def _below(self, step: Step) -> str:
        """How a reply was asked for, and what it took."""
        if step.role == "sandbox":
            return ""
        asked = self._seen.get((step.form, step.parts))  # a panel sees the same few things
        if asked is None:
            form = _name(step.form[:12])
            asked = f'asked <a href="../method.html#f{form}">like this</a>{self._seeing(step.parts)}'
            self._seen[step.form, step.parts] = asked
        return f'<p class="took">{asked} · {_took(step, self._match.attempts[step.key])}</p>\n'

    def _seeing(self, parts: Sequence[Part]) -> str:
        """What was shown of what players, or the user, wrote."""
        seen = []
        for part in parts:
            if part.label is not None:
                label = _name(part.label)
                seen.append(
                    f'<a href="#{self._address(part.reply)}">{label}</a>'
                    if part.reply in self._places
                    else label
                )
        return f", seeing {', '.join(seen)}" if seen else ""


def _chips(block: blocks.Quoted | blocks.Program) -> str:
    chip = ""
    if block.verdict:
        chip = f'<span class="{_CHIPS.get(block.tone, "chip")}">{_name(block.verdict)}</span>\n'
    return f'{chip}<span class="quiet">{_name(block.note)}</span>\n' if block.note else chip


def _text(text: str, about: str, kind: str = "said") -> str:
    """What somebody wrote; what is long folds, and scrolls where it is very long."""
    if len(text) <= FOLD:
        return f'<div class="{kind}">{shown(text)}</div>\n' if text else ""
    rest = text[FOLD:]
    frame = f' tabindex="0" role="group" aria-label="More of {_name(about)}"' if len(rest) > LONG else ""
    return (
        f'<div class="{kind}">{shown(text[:FOLD])}</div>\n<details><summary>{len(rest):,} more characters'
        f'</summary><div class="{kind}"{frame}>{shown(rest)}</div></details>\n'
    )


def _cell(value: Cell) -> str:
    if value is None:
        return DASH
    if isinstance(value, str):
        return shown(value)
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _amount(bar: blocks.Bar) -> str:
    return f"{bar.value:.0%}" if bar.most == 1 else _cell(bar.value)


def _table(block: blocks.Table) -> str:
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
            f'<td class="{"n" if number else _width(value)}">{_cell(value)}</td>'
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


def _swatch(caption: str, color: str) -> str:
    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    drawn = (
        f'<svg width="40" height="24" role="img" aria-label="{color}"><rect width="40" height="24" '
        f'rx="4" fill="#{color}"/></svg> '
        if known
        else ""
    )
    return f'<span class="swatch">{drawn}{shown(caption)} <code>{shown(color)}</code></span> '


def _took(step: Step, attempts: int) -> str:
    said = step.said
    if said is None:
        return f"{DASH} · {DASH}" + (f" · {attempts} attempts" if attempts > 1 else "")
    took = "" if said.output_tokens is None else f"{said.output_tokens:,} tokens · "
    if said.reasoning_tokens:
        took += f"{said.reasoning_tokens:,} of them to think · "
    cost = dollars(None if said.cost_nano is None else said.cost_nano / 1e9)
    took += f"{seconds((step.row.latency_ms or 0) / 1e3)} · {cost}"
    if attempts > 1:
        took += f" · {attempts} attempts"
    if said.truncated:
        took += f" · cut at its limit of {said.cut:,} tokens" if said.cut else " · cut at its limit"
    if step.key.endswith(ROOM):
        took += " · asked again with more room"
    return f"{took} · {_name(said.model)}" if said.model else took


def _numbers(match: Match, tracks: Mapping[str, str]) -> str:
    """What a match cost each player, and what it moved; `tracks` are the tracks' names."""
    record = match.finished.record
    heads = [f'<th class="n" scope="col">{_name(tracks.get(track, track))}</th>' for track in record.ratings]
    rows = []
    for player, total in record.totals.items():
        cost = dollars(None if total.unknown_costs else total.cost_nano / 1e9)
        moved = [_moved(change.get(player)) for change in record.ratings.values()]
        rows.append(
            f'<tr><th scope="row">{_name(player)}</th><td class="n spare">{total.calls}</td>'
            f'<td class="n spare">{total.input_tokens:,}</td>'
            f'<td class="n spare">{total.output_tokens:,}</td>'
            f'<td class="n">{cost}</td>\n{"".join(moved)}</tr>\n'
        )
    return (
        '<section class="stage">\n<h3>What it cost and what it moved</h3>\n<div class="wide" tabindex="0" '
        f'role="group" aria-label="Costs and ratings of match {match.number}">\n<table>\n<thead><tr>'
        '<th scope="col">Player</th><th class="n spare" scope="col">Calls</th>'
        '<th class="n spare" scope="col">Tokens in</th><th class="n spare" scope="col">out</th>'
        f'<th class="n" scope="col">Cost</th>{"".join(heads)}</tr></thead>\n<tbody>\n'
        f"{''.join(rows)}</tbody>\n</table>\n</div>\n</section>\n"
    )


def _moved(change: tuple[float, float] | None) -> str:
    if change is None:
        return '<td class="n"></td>'
    before, after = change
    return f'<td class="n">{whole(after)} <span class="quiet">{after - before:+.1f}</span></td>'


def _proof(match: Match, file: str) -> str:
    """The digests that a match can be checked by."""
    record, row, before = match.finished
    link = (
        f'<p><a href="{shown(file)}" download>Proof of this match</a> and those next to it: everything that '
        f"was asked and replied, and how that is in a signed checkpoint.</p>\n"
        if file
        else ""
    )
    return (
        '<details class="proof">\n<summary>Proof</summary>\n<dl>\n'
        f"<dt>Fixture</dt><dd><code>{shown(record.fixture)}</code></dd>\n"
        f"<dt>Root of the {len(match.asked)} exchanges</dt>"
        f"<dd><code>{shown(record.root)}</code></dd>\n"
        f"<dt>This record</dt><dd><code>{digest(row.body)}</code></dd>\n"
        f"<dt>Chain before it</dt><dd><code>{before.hex()}</code></dd>\n"
        "<dt>Chain after it: SHA-256 of 02, the chain before it and this record</dt>"
        f"<dd><code>{row.chain.hex()}</code></dd>\n</dl>\n{link}</details>\n"
    )
