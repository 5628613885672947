"""Views as Markdown, in which no text is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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
    Swatch,
    TaskText,
    VoteStrip,
)
from peerage.game.media import worded
from peerage.render import rows as laid
from peerage.render.blocks import Conclusion, Facts, Meeting, Notes, Rows, Transcript, ViewBlock
from peerage.values.figures import sentence
from peerage.values.texts import MARK_BEGINS, visible


def inert(text: str) -> str:
    """Return text that is nothing else in Markdown: no link, picture, markup or further column."""
    marks = r"([\\`*<>|\[\]~]|\b_|_\b|:(?=//)|(?<=www)\.|&(?=#?\w+;))"
    return re.sub(marks, r"\\\1", visible(text).replace("\n", " "))


def markdown(blocks: Iterable[ViewBlock]) -> str:
    """Return blocks as Markdown; those that open on demand, lead elsewhere or are drawn are left out, and
    words stand for pictures and sounds."""
    parts = [part for block in blocks for part in _block(block)]
    pictured = any(MARK_BEGINS in part for part in parts)
    return "\n\n".join([*map(worded, parts), *[laid.WHERE] * pictured]) + "\n"


def _block(block: ViewBlock, within: Transcript | None = None) -> Iterator[str]:
    def who(*labels: str) -> str:
        return " and ".join(map(within.who, labels) if within else labels)

    match block:
        case Transcript():
            for one in (*block.head, *block.blocks):
                yield from _block(one, block)
        case Meeting():
            yield f"**{inert(laid.meeting(block))}**"
            if block.why:
                yield inert(sentence(block.why, ()))
        case VoteStrip():
            yield from _rows(laid.of_votes(block, who))
            for vote in block.votes:
                for title, given in zip(block.titles, vote.given, strict=True):
                    if given:
                        yield from _quoted((who(vote.label), title, given.choice, given.note), given.text)
        case TaskText():
            yield from _quoted((block.name, who(*block.by)), block.text, block.more)
        case Quoted():
            yield from _quoted((who(block.label), block.verdict, block.note), block.text, block.more)
        case SourceCode():
            yield from _quoted((who(block.label), block.verdict, block.note), block.source, block.more)
        case Board():
            yield from _quoted((), "\n".join(block.rows))
        case Grid():
            yield from _rows(laid.of_table(block, who))
        case ScoreLine() if not block.pictured:
            yield inert(laid.worth(block, who(block.label)))
        case Bar():
            yield inert(laid.cell(block))
        case Swatch():
            parts = [f"{tile.caption} #{tile.color} {tile.right}".rstrip() for tile in laid.tiles(block)]
            yield inert(" · ".join(parts))
        case Private():
            if block.labels and block.marked:
                yield inert(f"seen by {who(*block.labels)} alone")
        case Heading():
            yield f"### {inert(block.text)}"
        case Sentence():
            yield inert(block.text)
        case Conclusion():
            for place, line in enumerate([*block.lines, *block.notes]):
                yield inert(line) if place else f"**{inert(line)}**"
        case Facts():
            for fact in block.facts:
                yield f"**{inert(fact.title)}**: {inert(', '.join(filter(None, (fact.value, fact.about))))}"
        case Notes():
            yield "\n".join(f"- {inert(line)}" for line in laid.sentences(block.lines, ()))
        case Rows():
            yield from _rows(block)
        case _:
            pass


def _quoted(about: Iterable[str], text: str, more: int = 0) -> Iterator[str]:
    """Yield whose words these are, and the words in a fence that they cannot close."""
    if told := " · ".join(filter(None, about)):
        yield f"**{inert(told)}**"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    if text:
        yield f"{fence}text\n{visible(text)}\n{fence}"
    if more:
        yield f"… {more:,} more characters"


def _rows(block: Rows) -> Iterator[str]:
    if block.title:
        yield f"**{inert(block.title)}**"
    columns, remarks = laid.shown(block), laid.remarks(block)
    lines = [
        [column.title for column in columns],
        *[[column.text(row) for column in columns] for row in block.rows],
    ]
    name = next((place for place, column in enumerate(columns) if not column.number), 0)
    for line, mark in zip(lines[1:], remarks.marks, strict=True):
        line[name] += mark
    written = [f"| {' | '.join(map(inert, line))} |" for line in lines]
    written.insert(1, f"|{'|'.join('--:' if column.number else '---' for column in columns)}|")
    yield "\n".join(written)
    own = [f"{mark} {note}" for note, mark in remarks.own.items()]
    notes = [*laid.hints(columns), *block.notes, *remarks.shared]
    yield from (inert(note) for note in [*laid.sentences(notes, block.rows), *own])
