"""Views in a terminal: tables as wide as it is, nothing that it would obey.

In a pipe a table has at most 160 columns. What opens on demand, leads elsewhere or is drawn is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

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
    Tone,
    VoteStrip,
)
from peerage.game.media import worded
from peerage.render import rows as laid
from peerage.render.blocks import (
    Beside,
    Conclusion,
    Facts,
    Meeting,
    Notes,
    Rows,
    Section,
    Transcript,
    ViewBlock,
)
from peerage.render.cells import bar_of, cells, drawn, fit, named, of_grid, parts
from peerage.render.names import AS_THEY_ARE, Names
from peerage.values.figures import sentence
from peerage.values.texts import MARK_BEGINS, visible

if TYPE_CHECKING:
    from rich.console import Console

STYLES: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "quiet": "dim"}
MARGIN = "  | "
"""Stands before each line that a player wrote: what stands behind it is nobody else's."""
_PIPE = 160  # characters of a table in a pipe


def write(
    blocks: Iterable[ViewBlock], to: TextIO, *, split: bool = False, names: Names = AS_THEY_ARE
) -> None:
    """Write blocks to `to`. With `split` the columns for which a terminal is too narrow follow in further
    tables, in place of being left out; `names` are written short."""
    to.write(text(blocks, to, split=split, names=names))


def text(blocks: Iterable[ViewBlock], to: TextIO, *, split: bool = False, names: Names = AS_THEY_ARE) -> str:
    """Return blocks as `write` writes them to `to`."""
    from rich.console import Console

    width = None if to.isatty() else _PIPE
    # Rich would show by itself in a notebook what is written to nowhere.
    console = Console(file=to, width=width, highlight=False, force_jupyter=False)
    return on(console, blocks, split=split, names=names)


def on(
    console: Console, blocks: Iterable[ViewBlock], *, split: bool = False, names: Names = AS_THEY_ARE
) -> str:
    """Return blocks as a console writes them."""
    writer = _Writer(console, split=split, names=names)
    with console.capture() as captured:
        for place, block in enumerate(blocks):
            writer.write(block, first=not place)
        writer.say_where()
    lines = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    return re.sub("\n{3,}", "\n\n", lines).strip("\n") + "\n"


class _Writer:
    """Writes blocks to a console, those of a match `within` its transcript."""

    def __init__(
        self, console: Console, *, split: bool, names: Names, within: Transcript | None = None
    ) -> None:
        self._console = console
        self._split = split
        self._names = names
        self._within = within
        self._pictured = False

    def say_where(self) -> None:
        """Write where the pictures and sounds are for which words stand, if any."""
        self._line(laid.WHERE * self._pictured, "dim")

    def write(self, block: ViewBlock, *, first: bool = False) -> None:
        match block:
            case Heading():
                if not first:
                    self._console.print()
                self._line(block.text, "bold")
            case Sentence():
                self._line(block.text, STYLES[block.tone], 2 if self._within else 0)
            case TaskText():
                by = f"by {self._who(*block.by)}" if block.by else ""
                self._line(" ".join(filter(None, (block.name, by))), "italic", 2)
                self._quoted(block.text, block.more, prose=block.prose)
            case Quoted() | SourceCode():
                self._said(block)
            case Section():
                self._all(block.blocks)
            case Beside():
                for group in block.groups:
                    self._all(group)
            case Conclusion():
                for place, words in enumerate([*block.lines, *block.notes]):
                    self._line(words, "" if place else "bold")
                self._console.print()
            case Facts():
                for fact in block.facts:
                    about = f" ({fact.about})" if fact.about else ""
                    self._line(f"{fact.title}: {fact.value}{about}")
            case Notes():
                for words in laid.sentences(block.lines, [{"player": name} for name in block.names]):
                    self._line(words, "dim", 1)
            case Rows():
                tables, notes = parts(block, self._console, split=self._split, names=self._names)
                for place, part in enumerate(tables):
                    self._console.print(drawn(part, "" if place else block.title))
                for words in notes:
                    self._line(words, "dim", 1)
            case _:
                self._of_match(block)

    def _of_match(self, block: ViewBlock) -> None:
        match block:
            case Transcript():
                self._all(block.head)
                writer = _Writer(self._console, split=self._split, names=self._names, within=block)
                writer._all(block.blocks)
                self._pictured |= writer._pictured
            case Meeting():
                self._line(laid.meeting(block), "bold")
                self._line(sentence(block.why, ()) if block.why else "")
            case VoteStrip():
                self._votes(block)
            case Grid():
                self._console.print()
                for place, part in enumerate(of_grid(block, self._who, self._console.width - 2)):
                    self._indented(drawn(part, "" if place else block.title), 2)
                self._console.print()
            case ScoreLine() if not block.pictured:
                self._line(laid.worth(block, self._who(block.label)), indent=2)
            case Swatch():
                for tile in laid.tiles(block):
                    self._indented(_color(*tile), 4)
            case Board():
                if block.squared and block.rows:
                    self._console.print(_squared(block))
                else:
                    for row in block.rows:
                        self._line(row, indent=4)
            case Private():
                if block.labels and block.marked:
                    self._line(f"seen by {self._who(*block.labels)} alone", "dim", 2)
            case Bar():
                self._line(f"{bar_of(block, 24)} {laid.cell(block)}", indent=2)
            case _:
                pass

    def _all(self, blocks: Iterable[ViewBlock]) -> None:
        for block in blocks:
            self.write(block)

    def _line(self, words: str, style: str = "", indent: int = 0) -> None:
        """Write words of ours, their names short."""
        if words:
            self._put(self._names.in_text(words), style, indent)

    def _worded(self, text: str) -> str:
        self._pictured |= MARK_BEGINS in text
        return worded(text)

    def _put(self, words: str, style: str = "", indent: int = 0) -> None:
        from rich.text import Text

        words = self._worded(words)
        # No terminal obeys what players wrote. Where none listens, a line stays one line.
        if self._console.is_terminal:
            self._indented(Text(visible(words), style), indent)
        else:
            spaces = " " * indent
            self._console.print(
                Text(f"{spaces}{visible(words).replace(chr(10), chr(10) + spaces)}", style), soft_wrap=True
            )

    def _indented(self, drawing: Any, by: int) -> None:
        from rich.padding import Padding

        self._console.print(Padding(drawing, (0, 0, 0, by)))

    def _who(self, *labels: str) -> str:
        who = map(self._within.who, labels) if self._within else labels
        return self._names.in_text(" and ".join(who))

    def _said(self, block: Quoted | SourceCode) -> None:
        from rich.text import Text

        about = Text("  ").append(visible(self._who(block.label)), "italic")
        for text, style in ((block.verdict, STYLES[block.tone] or "cyan"), (block.note, "dim")):
            about.append(f"  {visible(text)}" if text else "", style)
        reply = self._within.reply(block.key) if self._within and block.key else None
        about.append(f"  {visible(reply.took)}" if reply else "", "dim")
        self._console.print(about, soft_wrap=not self._console.is_terminal)
        if isinstance(block, Quoted):
            self._quoted(block.text, block.more, prose=block.prose)
        else:
            self._quoted(block.source, block.more, diff=block.diff)

    def _votes(self, strip: VoteStrip) -> None:
        several, width = len(strip.titles) > 1, self._console.width - 2
        known = self._within.names if self._within else {}
        names = {line.label: self._names.short(known.get(line.label, line.label)) for line in strip.votes}
        if several:
            rows = cells(laid.of_votes(strip, names.get))
            self._indented(drawn(named(fit(rows, width), width)), 2)
        for line in strip.votes:
            for title, given in zip(strip.titles, line.given, strict=True):
                if given and (given.text or given.note or not several):
                    about = f"{names[line.label]}{', ' * bool(title)}{title}: {given.choice}"
                    self._line("; ".join(filter(None, (about, given.note))), "italic", 2)
                    if given.text:
                        self._quoted(given.text, 0)

    def _quoted(self, words: str, more: int, *, prose: bool = False, diff: bool = False) -> None:
        words = self._worded(words)
        kinds = {"+": "green", "-": "red", "@": "dim"} if diff else {}
        if prose and self._console.is_terminal and laid.maybe_markdown(words):
            self._markdown(words + " …" * bool(more))
        else:
            for line in _quoted(words or "(nothing)", more, self._console):
                self._put(line, kinds.get(line[len(MARGIN) :][:1], ""))
        if more:
            self._line(f"{more:,} more characters", "dim", 2)

    def _markdown(self, words: str) -> None:
        """Write a text as its Markdown means it, behind the margin that no text of a player can leave."""
        from rich.markdown import Markdown
        from rich.segment import Segment, Segments

        room = max(20, self._console.width - len(MARGIN))
        meant = Markdown(visible(words), hyperlinks=False)
        for line in self._console.render_lines(meant, self._console.options.update(width=room), pad=False):
            self._console.print(Segments([Segment(MARGIN), *line, Segment.line()]), end="")


def _color(caption: str, color: str, same: Sequence[bool], right: str) -> Any:
    from rich.text import Text

    known = re.fullmatch("[0-9A-Fa-f]{6}", color)
    digits = zip(visible(color), ["bold green" if good else "dim" for good in same], strict=True)
    parts = digits if known and same else [(visible(color), "")]
    line = Text.assemble(("      ", f"on #{color}" if known else ""), f" {visible(caption)} ", *parts)
    return line.append(f"  {right}" if right else "", "dim")


def _squared(block: Board) -> Any:
    """Return a board whose squares differ in their ground, and in a point where nothing is coloured."""
    from rich.text import Text

    rows, lines = laid.squares(block), Text()
    for y, row in enumerate(rows):
        lines.append(f"    {len(rows) - y:>2} ", "dim")
        for x, piece in enumerate(row):
            lines.append(f" {visible(piece) or '·'} ", "on grey23" if (x + y) % 2 else "on grey35")
        lines.append("\n")
    files = "".join([f" {letter} " for letter, _ in zip(laid.column_names(block), rows[0], strict=False)])
    return lines.append(f"       {files}", "dim")


def _quoted(words: str, more: int, console: Console) -> Iterator[str]:
    """Yield a text with a margin before each line, those a terminal begins too; `…` marks an end cut off."""
    for whole in (visible(words) + " …" * bool(more)).split("\n"):
        parts = fitting(whole, console.width) if console.is_terminal else [whole]
        yield from (f"{MARGIN}{part}" for part in parts)


def fitting(line: str, width: int) -> list[str]:
    """Return a line in parts that fit beside the margin, whatever its characters."""
    from rich.cells import chop_cells

    room = max(20, width - len(MARGIN))
    return [piece for part in wrap(line, room) or [""] for piece in chop_cells(part, room) or [""]]
