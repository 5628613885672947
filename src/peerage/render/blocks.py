"""The blocks that views are made of, beside those that games show matches with. Pure.

    Rows(players, [*texts(player="Player"), *numbers(percent, best="Best")])

A column, a note, a number's format is declared here once; every medium of this room writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from peerage.game.blocks import Block, Target, Tone
from peerage.game.media import worded
from peerage.values.figures import DASH, score


class Link(Struct, frozen=True, gc=False, tag="link"):
    """A text that leads somewhere; `current` where that is the view it stands in, `note` follows it."""

    text: str
    to: Target
    current: bool = False
    note: str = ""


class Small(NamedTuple):
    """A small text under a value; `narrow` only where its columns are left out; `quoted`: others' words."""

    text: str
    tone: Tone = "quiet"
    narrow: bool = False
    quoted: bool = False


class Column(Struct, frozen=True):
    """A column of `Rows`, declared once for every medium.

    `key` names a field of the row (a key, where rows are mappings), unless `value` computes what is shown;
    None is a dash. `write` makes a text of a value, `hint` says what the column is, `link` where the text
    leads, `small` what stands under it. In a narrow place columns with a `spare` above 0 are left out, the
    highest first, equal ones together; one that is not for a `page` says what a page says elsewhere. `order`
    is what the column is sorted by where that is not its value.
    `draw` is an interval, its value (lower, middle, upper), or a record (won, drawn, lost), drawn where a
    medium can. `shade` colours a cell from 0, always lost, to 1, always won, None where too little is known;
    `tip` says more about it.
    `pick` lets a reader choose rows: by one of the column's values, or by numbers at most so large. What is
    `quoted` are others' words, in which no name is shortened.
    """

    key: str
    title: str
    write: Callable[[Any], str] = str
    number: bool = False
    spare: int = 0
    hint: str = ""
    value: Callable[[Any], Any] | None = None
    link: Callable[[Any], Target | None] | None = None
    small: Callable[[Any], Iterable[Small]] | None = None
    order: Callable[[Any], float | None] | None = None
    draw: Literal["", "interval", "record"] = ""
    shade: Callable[[Any], float | None] | None = None
    tip: Callable[[Any], str] | None = None
    pick: Literal["", "value", "most"] = ""
    page: bool = True
    shown: bool = True
    quoted: bool = False

    def of(self, row: Any) -> Any:
        """Return what the column holds of a row."""
        if self.value is not None:
            return self.value(row)
        return row.get(self.key) if isinstance(row, Mapping) else getattr(row, self.key)

    def text(self, row: Any) -> str:
        """Return what the column says of a row."""
        value = self.of(row)
        return DASH if value is None else worded(self.write(value))


def texts(write: Callable[[Any], str] = str, **titles: str) -> Iterator[Column]:
    """Columns of texts: titles by key, as `why="Why"`; `why="Why ~2"` may be spared."""
    for key, title in titles.items():
        title, _, spare = title.partition(" ~")
        yield Column(key, title, write, spare=int(spare or 0))


def numbers(write: Callable[[Any], str], **titles: str) -> Iterator[Column]:
    """Columns of numbers, written alike; else as `texts`."""
    return (replace(column, number=True) for column in texts(write, **titles))


def bounded(
    write: Callable[[Any], str], spare: int = 0, ends: str = "{}_", **titles: str
) -> Iterator[Column]:
    """Columns of numbers with 95% bounds, the fields `_lower` and `_upper` of their keys. A page has bounds
    under their number; other media have them in columns of their own, with a `spare` above 0."""
    for column in numbers(write, **titles):
        before = ends.format(column.key)
        yield replace(column, small=partial(_between, write, before))
        for end, title in (("lower", "from"), ("upper", "to")) if spare else ():
            yield Column(f"{before}{end}", title, write, number=True, spare=spare, page=False)


def _between(write: Callable[[Any], str], before: str, row: Any) -> Iterator[Small]:
    if (lower := getattr(row, f"{before}lower")) is not None:
        yield Small(f"{write(lower)} to {write(getattr(row, f'{before}upper'))}")


def explained(columns: Iterable[Column], **hints: str) -> list[Column]:
    """Return the columns, each with the hint under its key."""
    return [replace(column, hint=hints.get(column.key, column.hint)) for column in columns]


class Rows(Struct, frozen=True, tag="rows"):
    """Rows with named fields under declared columns, and notes on all of them: on a page behind a mark at the
    heading right before.

    `remarks` are notes on one row alone. `name` is what a medium for programs calls the rows by. `search`
    offers a search by name. `anchor` names a row that links lead to, `above` the anchors of rows that this
    one is proven to be better than, and `faint` rows that count less. In a narrow place each row of `cards`
    is a card, its values by name.
    """

    rows: Sequence[Any]
    columns: Sequence[Column]
    title: str = ""
    notes: Sequence[str] = ()
    remarks: Callable[[Any], Sequence[str]] | None = None
    name: str = ""
    search: bool = False
    sorts: bool = True
    cards: bool = False
    anchor: Callable[[Any], str] | None = None
    above: Callable[[Any], Sequence[str]] | None = None
    faint: Callable[[Any], bool] | None = None


class Conclusion(Struct, frozen=True, gc=False, tag="answer"):
    """A conclusion in sentences, the answer first; `notes` are the reasons, on a page behind a mark."""

    lines: Sequence[str]
    notes: Sequence[str] = ()


class LoneFigure(Struct, frozen=True, gc=False):
    """A number that stands alone, and what it is."""

    title: str
    value: str
    about: str = ""


def as_facts(block: Rows, row: Any, *without: str) -> Facts:
    """Return the numbers of one row that are known, each by itself, an interval with the one before it."""
    facts: list[LoneFigure] = []
    for column in block.columns:
        if not column.number or column.key in without or column.of(row) is None:
            continue
        small = [small.text for small in (column.small(row) if column.small else ()) if not small.narrow]
        about = [*small, column.tip(row) if column.tip else "", column.hint]
        if column.draw == "interval":
            facts[-1] = replace(facts[-1], about=f"{column.title}: {column.text(row)}")
        else:
            facts.append(LoneFigure(column.title, column.text(row), "; ".join(filter(None, about))))
    return Facts(facts)


class Beside(Struct, frozen=True, tag="beside"):
    """Groups of blocks that stand next to each other where there is room."""

    groups: Sequence[Sequence[Any]]


class Section(Struct, frozen=True, tag="section"):
    """Blocks that belong together, as a kind of thing that a medium may lay out in its own way."""

    kind: Literal["decision", "telling", "matches", "cards", "ranking"]
    blocks: Sequence[Any]


class Facts(Struct, frozen=True, gc=False, tag="facts"):
    """Numbers that stand alone, side by side."""

    facts: Sequence[LoneFigure]


class Notes(Struct, frozen=True, gc=False, tag="notes"):
    """A list of sentences that a reader must know; `names` are players, whose names stay as they are."""

    lines: Sequence[str]
    names: Sequence[str] = ()


class Links(Struct, frozen=True, gc=False, tag="links"):
    """Links to other views; `title` says what they are, and folds them where it is not empty."""

    links: Sequence[Link]
    title: str = ""


class OtherViews(Struct, frozen=True, tag="choice"):
    """Other views of a thing, links in groups with titles; `current` is this one. Nothing without links."""

    current: str
    groups: Sequence[tuple[str, Sequence[Link]]]


class ChoiceForm(Struct, frozen=True, tag="choices"):
    """A form that goes `to` a view with a value of each field: its key, title, values, and the one chosen; an
    empty value is any, and a field without values is a text. Of short lists `chips` shows all values. None
    to go to: the page's script acts on it. A medium without forms leaves it out."""

    to: Target | None
    fields: Sequence[tuple[str, str, Sequence[str], str]]
    button: str
    chips: bool = False


class Fold(Struct, frozen=True, tag="fold"):
    """Blocks that open on demand, which a terminal leaves out. `anchor` is what links lead to it by."""

    title: str
    blocks: Sequence[Any]
    anchor: str = ""


class Figure(Struct, frozen=True, tag="figure"):
    """A chart of `rows`: `options` are what its `kind` needs beside them (see `render.charts`), `columns` the
    chart's table, and `name` its file of data. `key` lists the names that numbers on the drawing stand for,
    from 1 on, each with its value; `notes` explain the chart. A medium that cannot draw leaves it out."""

    kind: Literal["frontier", "course", "spending", "intervals"]
    title: str
    about: str
    rows: Sequence[Any]
    columns: Sequence[Column]
    name: str = ""
    options: Mapping[str, Any] = {}
    key: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()


class MetContestant(NamedTuple):
    """A contestant who met others; without a score unranked, or the match has no result."""

    label: str
    player: str
    score: float | None


class Meeting(Struct, frozen=True, gc=False, tag="meeting"):
    """The contestants who met, best score first; of more than two the place counts. `why` is a phrase."""

    seats: Sequence[MetContestant]
    why: str = ""

    def places(self) -> Iterator[tuple[int, MetContestant, str]]:
        """Yield each with its place among more than two, else 0, and its score, or that it has none."""
        scores = [met.score for met in self.seats if met.score is not None]
        many = len(self.seats) > 2
        for met in self.seats:
            if met.score is None:
                yield 0, met, "unranked" if scores else ""
            else:
                place = 1 + sum(other > met.score for other in scores)
                yield (place, met, "") if many else (0, met, score(met.score))


class QuotedReply(Struct, frozen=True, gc=False):
    """A reply that a match quotes: the step of the match at which it stands (`place`, 0 where it stands
    nowhere), whose role it was, what it `took`; `won` where its seat came off best. `form` is what asked for
    it (hex), `seeing` names what that showed of others' words, each with its place, 0 where it has none."""

    place: int
    role: str
    took: str = ""
    won: bool = False
    form: str = ""
    seeing: Sequence[tuple[str, int]] = ()


class Transcript(Struct, frozen=True, tag="transcript"):
    """A match from beginning to end: `head` says who met, `blocks` tell it. `names` say who sat at a label,
    `reply` what is known of the one that stands under a key. `plain` says why Markdown stands as it was
    written, where it does."""

    number: int
    head: Sequence[Any]
    blocks: Sequence[Any]
    names: Mapping[str, str]
    reply: Callable[[str], QuotedReply | None]
    plain: str = ""

    def who(self, label: str) -> str:
        """Return who sits at `label`, and the label; the label alone where nobody does."""
        name = self.names.get(label, label)
        return label if name == label else f"{name} ({label})"


ViewBlock: TypeAlias = (
    Block
    | Rows
    | Conclusion
    | Beside
    | Section
    | Facts
    | Notes
    | Links
    | OtherViews
    | ChoiceForm
    | Fold
    | Figure
    | Meeting
    | Transcript
)
"""The blocks that views are made of."""
