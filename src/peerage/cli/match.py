"""A match as text to read: who met, the blocks that tell it, what it came to; every request on demand.

As Markdown it can be pasted elsewhere: what players wrote stands in fences, where it is text alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import zip_longest
from textwrap import indent
from typing import Any, NamedTuple, TypeAlias

from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from peerage import blocks
from peerage.blocks import Block, Cell
from peerage.engine.driver import REPAIR, ROOM
from peerage.figures import counted, dollars, seconds
from peerage.protocol import AT, visible
from peerage.reading.matches import UNDER_WAY
from peerage.render.markdown import inert
from peerage.render.markdown import markdown as in_markdown
from peerage.render.rows import of_table
from peerage.render.terminal import cells, drawn
from peerage.tables.match_view import ExchangeView, MatchView

FOLD = 2_000
"""Characters of a reply that are shown unless everything is asked for."""
_STYLES = {"": "cyan", "good": "green", "bad": "red", "quiet": "dim"}


class Line(NamedTuple):
    """A paragraph: its text, a rich style, how far it is indented."""

    text: str
    style: str = ""
    indent: int = 0


Part: TypeAlias = Line | RenderableType


WIDE = 400
"""Characters of a line that a table may take where no terminal listens."""


def write(match: MatchView, unit: str, *, full: bool) -> None:
    """Write the whole match to standard output, costs of play in the arena's `unit`; `full` adds every
    request word for word, as its player saw it."""
    console = Console(width=None if sys.stdout.isatty() else WIDE, highlight=False)
    sys.stdout.write(text(match, console, full, unit))


def text(match: MatchView, console: Console, full: bool, unit: str = "dollars") -> str:
    """The whole match as a console writes it. Where no terminal listens, a line stays one line."""
    with console.capture() as captured:
        for part in rendered(match, unit, full=full):
            if not isinstance(part, Line):
                console.print(part)
                continue
            # No terminal obeys what players wrote; names and keys too, since the ledger may be a stranger's.
            said = visible(part.text)
            if console.is_terminal:
                console.print(Padding(Text(said, part.style), (0, 0, 0, part.indent)))
            else:
                console.print(Text(indent(said, " " * part.indent)), soft_wrap=True)
    return "\n".join([line.rstrip() for line in captured.get().split("\n")])


def rendered(match: MatchView, unit: str, *, full: bool) -> Iterator[Part]:
    """The match part by part, for a console."""
    yield from _head(match)
    exchanges = {one.key: one for one in match.exchanges}
    for block, following in zip_longest(match.blocks, match.blocks[1:]):
        yield from _block(block, match, exchanges, None if full else FOLD)
        if isinstance(block, blocks.Table) and following and not isinstance(following, blocks.Heading):
            yield Line("")
    yield from _result(match, unit)
    if full:
        for one in match.exchanges:
            yield from _exchange(one)


def _title(text: str) -> Iterator[Part]:
    yield Line("")
    yield Line(text, "bold")


def _head(match: MatchView) -> Iterator[Part]:
    names = " against ".join(
        f"{seat.name} ({seat.label})" for seat in match.seats if seat.role == "contestant"
    )
    topic = f", on {match.topic}" if match.topic else ""
    yield Line(f"Match {match.number}{': ' if names else ''}{names}{topic}", "bold")
    yield Line(f"round {match.round} · {match.game} version {match.version} · {match.status}", "dim")
    yield Line(match.verdict)
    if len(match.series) > 1:
        yield Line(f"in the series of matches {match.series[0]} to {match.series[-1]}", "dim")
    if match.note:
        yield Line(match.note, "yellow")
    roles: dict[str, list[str]] = {}
    for seat in match.seats:
        roles.setdefault(seat.role, []).append(f"{seat.name} {seat.raw:.0f}")
    for role, players in roles.items():
        yield Line(f"{role}: {', '.join(players)}", "dim")


def _block(
    block: Block, match: MatchView, exchanges: dict[str, ExchangeView], fold: int | None
) -> Iterator[Part]:
    match block:
        case blocks.Heading():
            yield from _title(block.text)
        case blocks.Sentence():
            yield Line(block.text, _STYLES[block.tone] if block.tone else "", 2)
        case blocks.Task():
            by = f"by {' and '.join(_who(label, match) for label in block.by)}" if block.by else ""
            if block.name or by:
                yield Line(" ".join(filter(None, (block.name, by))), "italic", 2)
            yield from _text(block.text, fold)
        case blocks.Quoted() | blocks.Program():
            said = Text("  ").append(visible(_who(block.label, match)), "italic")
            for text, style in ((block.verdict, _STYLES[block.tone]), (block.note, "dim")):
                said.append(f"  {visible(text)}" if text else "", style)
            yield said
            yield from _text(block.text if isinstance(block, blocks.Quoted) else block.source, fold)
            one = exchanges.get(block.key)
            if one is not None and one.role == "contestant":
                yield Line(_took(one), "dim", 4)
        case blocks.Table():
            yield Line("")
            yield Padding(_table(block), (0, 0, 0, 2))
        case blocks.ScoreLine():
            worth = "unranked" if block.score is None else f"score {block.score:.3g}"
            why = f": {block.why}" if block.why else ""
            yield Line(f"{_who(block.label, match)}  {worth}{why}", indent=2)
        case blocks.Swatch():
            yield Padding(Columns([_color(*color) for color in block.colors], padding=(0, 3)), (0, 0, 0, 4))
        case blocks.Board():
            yield from (Line(row, indent=4) for row in block.rows)
        case blocks.Private():
            if block.labels and block.marked:
                yield Line(
                    f"seen by {' and '.join(_who(label, match) for label in block.labels)} alone", "dim", 2
                )
        case blocks.Bar():
            share = max(0.0, min(1.0, block.value / block.most if block.most else 0.0))
            amount = f"{share:.0%}" if block.most == 1 else _cell(block.value)
            yield Line(f"{'█' * round(24 * share):·<24} {amount} {block.caption}", indent=2)


def _text(text: str, fold: int | None) -> Iterator[Part]:
    if fold is not None and len(text) > fold:
        yield Line(text[:fold] + "…", indent=4)
        yield Line(f"{len(text) - fold:,} more characters; --full shows them", "dim", 4)
    elif text:
        yield Line(text, indent=4)


def _who(label: str, match: MatchView) -> str:
    player = match.player(label)
    return label if player == label else f"{player} ({label})"


def _cell(value: Cell) -> str:
    return (
        f"{value:,.2f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def _table(block: blocks.Table) -> Any:
    from rich.console import Group

    grid = drawn(cells(of_table(block, _cell)))
    grid.show_edge = False
    return Group(Text(visible(block.title), style="italic"), grid) if block.title else grid


def _color(caption: str, color: str) -> Text:
    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    return Text.assemble(("      ", f"on #{color}" if known else ""), f" {visible(caption)} {visible(color)}")


def _took(one: ExchangeView) -> str:
    """What a reply took and cost."""
    parts = [
        "" if one.output_tokens is None else f"{one.output_tokens:,} tokens",
        f"{one.reasoning_tokens:,} of them to think" if one.reasoning_tokens else "",
        "" if one.latency_s is None else seconds(one.latency_s),
        visible(one.model) if AT in one.model else "",
        "cost unknown" if one.cost_usd is None else dollars(one.cost_usd),
        f"{one.attempts} attempts" if one.attempts > 1 else "",
        f"cut at its limit of {one.cut} tokens" if one.cut else "cut at its limit" * one.truncated,
        "asked again with more room" * one.key.endswith(ROOM),
        "repaired" * one.key.endswith(REPAIR),
    ]
    return " · ".join(filter(None, parts))


def _result(match: MatchView, unit: str) -> Iterator[Part]:
    failed = [one for one in match.exchanges if one.status == "void" and one.role != "contestant"]
    if failed:
        yield from _title("Failed calls")
    for one in failed:
        yield Line(f"{one.key}, {one.player}: {one.reason}", "red", 2)
    yield from _title("Result")
    yield Line(match.verdict, indent=2)
    if match.status == UNDER_WAY:
        return
    written = dollars if unit == "dollars" else "{:.6g}".format
    costs = [f"{label} {'unknown' if cost is None else written(cost)}" for label, cost in match.costs.items()]
    if costs:
        of = "" if unit == "dollars" else f", in {unit}"
        yield Line(f"cost of play{of}: {', '.join(costs)}", indent=2)
    contestants = {seat.player for seat in match.seats if seat.role == "contestant"}
    for track, moved in match.ratings.items():
        name, digits = ("TrueSkill, μ - 3σ", 1) if track == "trueskill" else (f"{track} Elo", 0)
        changes = [
            f"{player} {before:.{digits}f} → {after:.{digits}f}"
            for player, (before, after) in moved.items()
            if player in contestants
        ]
        others = len(moved) - len(changes)
        spread = f", and {counted(others, 'other')} by the rating spread to neighbours" if others else ""
        yield Line(f"{name}: {', '.join(changes)}{spread}", indent=2)
    calls = sum(total.calls for total in match.totals.values())
    spent = sum(total.cost_nano for total in match.totals.values()) / 1e9
    unknown = sum(total.unknown_costs for total in match.totals.values())
    sums = [f"{dollars(spent)} in all"] if spent or not unknown else []
    sums += [f"{counted(unknown, 'call')} of unknown cost"] * bool(unknown)
    yield Line(f"{counted(calls, 'call')}, {', and '.join(sums)}", indent=2)
    yield Line(f"record {match.digests.record} · replies {match.digests.root}", "dim", 2)


def _exchange(one: ExchangeView) -> Iterator[Part]:
    yield from _title(f"{one.key}: {one.player} as {one.label}")
    for speaker, text in one.request:
        yield Line(f"{speaker}:", "cyan", 2)
        yield Line(text, indent=4)
    yield Line("reply:", "cyan", 2)
    if one.reply:
        yield Line(one.reply, indent=2)
    if one.status != "ok":
        yield Line(f"[{one.status}] {one.reason}", "red", 2)
    elif one.reason:  # what was odd about a reply that counts
        yield Line(f"({one.reason})", "yellow", 2)
    yield Line(_took(one), "dim", 2)


def markdown(match: MatchView) -> str:
    """The match as Markdown: everything that tells it, in full, without the requests."""
    parts = [f"## {inert(match.title)}", inert(f"{match.game} · round {match.round} · {match.verdict}")]
    parts += [one for block in match.blocks for one in _in_markdown(block, match)]
    if match.digests.record:
        parts.append(f"Record `{match.digests.record}`")
    return "\n\n".join(parts) + "\n"


def _in_markdown(block: Block, match: MatchView) -> Iterator[str]:
    match block:
        case blocks.Heading():
            yield f"### {inert(block.text)}"
        case blocks.Task():
            yield from _quoted([block.name, *[_who(label, match) for label in block.by]], block.text)
        case blocks.Quoted():
            yield from _quoted([_who(block.label, match), block.verdict, block.note], block.text)
        case blocks.Program():
            yield from _quoted([_who(block.label, match), block.verdict, block.note], block.source)
        case blocks.Board():
            yield from _quoted([], "\n".join(block.rows))
        case blocks.Table():
            yield in_markdown([of_table(block, _cell)]).rstrip()
        case blocks.Swatch():
            yield inert(" · ".join(f"{caption} #{color}" for caption, color in block.colors))
        case _:
            # What is one line in a terminal is one here.
            yield from (inert(part.text) for part in _block(block, match, {}, None) if isinstance(part, Line))


def _quoted(about: list[str], text: str) -> Iterator[str]:
    """Whose words, and the words in a fence that they cannot close."""
    if told := " · ".join(filter(None, about)):
        yield f"**{inert(told)}**"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    if text:
        yield f"{fence}text\n{visible(text)}\n{fence}"
